use lance::dataset::builder::DatasetBuilder;

/// Which state of a dataset a table shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum At {
    /// The latest one of the main branch.
    #[default]
    Latest,
    /// One version of the main branch.
    Version(u64),
    /// The version that the tag names.
    Tag(String),
    /// The latest one of a branch.
    Branch(String),
    /// One version of a branch.
    BranchVersion(String, u64),
}

impl At {
    /// The builder of that state, and what the state is called, as in "version 12".
    pub(super) fn of(&self, builder: DatasetBuilder) -> (DatasetBuilder, String) {
        match self {
            Self::Latest => (builder, "latest version".to_string()),
            Self::Version(version) => {
                (builder.with_version(*version), format!("version {version}"))
            }
            Self::Tag(tag) => (builder.with_tag(tag), format!("tag '{tag}'")),
            Self::Branch(branch) => {
                (builder.with_branch(branch, None), format!("branch '{branch}'"))
            }
            Self::BranchVersion(branch, version) => (
                builder.with_branch(branch, Some(*version)),
                format!("version {version} of branch '{branch}'"),
            ),
        }
    }

    /// Whether it is one version for good, which can only be read.
    pub(super) fn is_pinned(&self) -> bool {
        !matches!(self, Self::Latest | Self::Branch(_))
    }
}
