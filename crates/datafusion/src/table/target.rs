//! The table that a statement is about.

use lance::Dataset;

use crate::store::version::TableVersion;

/// The table that a statement is about: its name in the session, and where it is.
#[derive(Debug)]
pub struct Target {
    name: String,
    table: TableVersion,
}

impl Target {
    /// The table of that name, at a version that the statement has seen.
    pub fn new(name: impl Into<String>, dataset: Dataset) -> Self {
        Self { name: name.into(), table: TableVersion::new(dataset) }
    }

    /// The table's name, as the statement spells it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The table's URI. It holds no credentials.
    pub fn uri(&self) -> &str {
        self.table.uri()
    }

    /// The table at the version that the statement has seen.
    pub(crate) fn table(&self) -> &TableVersion {
        &self.table
    }
}
