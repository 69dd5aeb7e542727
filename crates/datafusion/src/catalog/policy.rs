//! The maintenance policy that is stored with an index.

use std::fmt;

use lance_index_plan::tiers::{MergePolicy, PolicyError};

use super::messages::MaintenancePolicy;

/// The options of `ALTER INDEX ... SET`, as far as they are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PolicyOptions {
    pub target_rows_per_segment: Option<u64>,
    pub target_bytes_per_segment: Option<u64>,
    pub merge_factor: Option<u64>,
}

/// One of [`PolicyOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyOption {
    TargetRows,
    TargetBytes,
    MergeFactor,
}

impl PolicyOption {
    pub(crate) const ALL: [Self; 3] = [Self::TargetRows, Self::TargetBytes, Self::MergeFactor];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TargetRows => "target_rows_per_segment",
            Self::TargetBytes => "target_bytes_per_segment",
            Self::MergeFactor => "merge_factor",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|option| option.name() == name)
    }
}

impl PolicyOptions {
    pub(crate) fn get(&self, option: PolicyOption) -> Option<u64> {
        match option {
            PolicyOption::TargetRows => self.target_rows_per_segment,
            PolicyOption::TargetBytes => self.target_bytes_per_segment,
            PolicyOption::MergeFactor => self.merge_factor,
        }
    }

    /// The same with one option set, or without it.
    pub(crate) fn with(mut self, option: PolicyOption, value: Option<u64>) -> Self {
        match option {
            PolicyOption::TargetRows => self.target_rows_per_segment = value,
            PolicyOption::TargetBytes => self.target_bytes_per_segment = value,
            PolicyOption::MergeFactor => self.merge_factor = value,
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The policy that they make.
    ///
    /// # Errors
    /// They make none: a merge factor without a target, or a value out of range.
    pub(crate) fn to_policy(self) -> Result<MergePolicy, PolicyError> {
        let factor = self.merge_factor.unwrap_or(MergePolicy::DEFAULT_MERGE_FACTOR);
        MergePolicy::new(self.target_rows_per_segment, self.target_bytes_per_segment, factor)
    }
}

/// As in the parentheses of a `SET`.
impl fmt::Display for PolicyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = PolicyOption::ALL.into_iter().filter_map(|option| {
            let value = self.get(option)?;
            Some(format!("{} = {value}", option.name()))
        });
        f.write_str(&set.collect::<Vec<_>>().join(", "))
    }
}

impl From<MaintenancePolicy> for PolicyOptions {
    fn from(message: MaintenancePolicy) -> Self {
        Self {
            target_rows_per_segment: message.target_rows_per_segment,
            target_bytes_per_segment: message.target_bytes_per_segment,
            merge_factor: message.merge_factor,
        }
    }
}

impl From<PolicyOptions> for MaintenancePolicy {
    fn from(options: PolicyOptions) -> Self {
        Self {
            target_rows_per_segment: options.target_rows_per_segment,
            target_bytes_per_segment: options.target_bytes_per_segment,
            merge_factor: options.merge_factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_printed() {
        let set = PolicyOptions::default().with(PolicyOption::MergeFactor, Some(4));
        let set = set.with(PolicyOption::TargetRows, Some(10));
        assert_eq!(set.to_string(), "target_rows_per_segment = 10, merge_factor = 4");
        assert!(set.to_policy().is_ok());
        let alone = set.with(PolicyOption::TargetRows, None);
        assert_eq!(alone.to_policy(), Err(PolicyError::NoTarget));
        assert!(alone.with(PolicyOption::MergeFactor, None).is_empty());
    }
}
