use lance_index_plan::tiers::MergePolicy;
use lance_index_sql::{WithOption, WithOptions};
use serde_json::Value;

use super::{Parameter, Values, at, check, find};
use crate::error::{Error, Result};

const TARGET: Values = Values::Integer { min: 1, max: i64::MAX as u64 };

const TARGET_ROWS_PER_SEGMENT: Parameter =
    Parameter { name: "target_rows_per_segment", values: TARGET };
const TARGET_BYTES_PER_SEGMENT: Parameter =
    Parameter { name: "target_bytes_per_segment", values: TARGET };
const MERGE_FACTOR: Parameter =
    Parameter { name: "merge_factor", values: Values::Integer { min: 2, max: 1000 } };
const NUM_INDICES_TO_MERGE: Parameter = Parameter {
    name: "num_indices_to_merge",
    values: Values::Integer { min: 0, max: u32::MAX as u64 },
};
const RETRAIN: Parameter = Parameter { name: "retrain", values: Values::Boolean };

/// The options of `OPTIMIZE INDEX`.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimizeIndexOptions {
    /// What the statement asks for, and the option that does, for errors; `None` if it leaves that to
    /// the index.
    asked: Option<(Strategy, WithOption)>,
}

/// Who chooses what is merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Strategy {
    /// Size tiers, by this policy.
    Tiered(MergePolicy),
    /// Lance's own optimization of an index.
    Core(CoreOptimize),
}

/// What Lance's own optimization of an index is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoreOptimize {
    /// How many of the latest segments become one with the unindexed rows; `None` leaves it to
    /// Lance.
    pub num_indices_to_merge: Option<u32>,
    /// Whether to train a vector index anew.
    pub retrain: bool,
}

impl CoreOptimize {
    /// Whether it asks for nothing, of an index of so many segments that covers every row.
    pub(crate) fn is_idle(self, segments: u64) -> bool {
        let merged = self.num_indices_to_merge.map(|number| u64::from(number).min(segments));
        !self.retrain && merged.is_some_and(|merged| merged < 2)
    }
}

impl OptimizeIndexOptions {
    /// Checks the options of an `OPTIMIZE INDEX`.
    ///
    /// # Errors
    /// An unknown name, a value of the wrong type or out of range, or options that exclude each
    /// other or lack one; the error points at it.
    pub fn try_new(options: &WithOptions) -> Result<Self> {
        let known = [
            TARGET_ROWS_PER_SEGMENT,
            TARGET_BYTES_PER_SEGMENT,
            MERGE_FACTOR,
            NUM_INDICES_TO_MERGE,
            RETRAIN,
        ];
        let (mut rows, mut bytes, mut merge_factor) = (None, None, None);
        let mut core = CoreOptimize::default();
        let (mut sizes, mut cores) = (Vec::new(), Vec::new());
        for option in options {
            let parameter = find(option, &known, "OPTIMIZE INDEX")?;
            let value = check(option, parameter)?;
            if parameter == RETRAIN && value == Value::Bool(false) {
                continue;
            }
            let of_core = parameter == NUM_INDICES_TO_MERGE || parameter == RETRAIN;
            if of_core { &mut cores } else { &mut sizes }.push(option);
            if parameter == TARGET_ROWS_PER_SEGMENT {
                rows = value.as_u64();
            } else if parameter == TARGET_BYTES_PER_SEGMENT {
                bytes = value.as_u64();
            } else if parameter == MERGE_FACTOR {
                merge_factor = value.as_u64();
            } else if parameter == RETRAIN {
                core.retrain = true;
            } else {
                core.num_indices_to_merge = super::number(&value);
            }
        }
        if let (Some(size), Some(core)) = (sizes.first(), cores.first()) {
            let what = format!("{} and {} exclude each other", size.name, core.name);
            let hint = "size options merge by size tiers; num_indices_to_merge and retrain leave \
                        the index to Lance's own optimization";
            return Err(at(core, what, hint));
        }
        if let ([_, second], true) = (&cores[..], core.retrain) {
            let what = "retrain = true makes one segment of all: num_indices_to_merge says nothing";
            return Err(at(second, what.to_string(), "leave out one of them"));
        }
        if let (Some(option), None, None) = (sizes.first(), rows, bytes) {
            let what = format!("{} needs a size to merge up to", option.name);
            return Err(at(
                option,
                what,
                "add target_rows_per_segment or target_bytes_per_segment",
            ));
        }
        let retrain = cores.iter().find(|option| option.name.as_str() == RETRAIN.name);
        let asked = match (sizes.first(), retrain.or(cores.first())) {
            (Some(option), _) => {
                let merge_factor = merge_factor.unwrap_or(MergePolicy::DEFAULT_MERGE_FACTOR);
                let policy = MergePolicy::new(rows, bytes, merge_factor);
                let policy = policy.map_err(|error| Error::invalid(error.to_string()))?;
                Some((Strategy::Tiered(policy), (*option).clone()))
            }
            (None, Some(option)) => Some((Strategy::Core(core), (*option).clone())),
            (None, None) => None,
        };
        Ok(Self { asked })
    }

    /// What is to be done to an index of one of the types that are maintained here, and whose own
    /// policy is the one given.
    ///
    /// # Errors
    /// An option for vector indexes; the error points at it.
    pub fn for_index(&self, index: &str, index_type: &str, own: MergePolicy) -> Result<Strategy> {
        match &self.asked {
            None => Ok(Strategy::Tiered(own)),
            Some((Strategy::Core(core), option)) if core.retrain => {
                let what =
                    format!("retrain is for vector indexes; index '{index}' is a {index_type}");
                Err(at(option, what, "CREATE OR REPLACE INDEX builds an index anew"))
            }
            Some((strategy, _)) => Ok(strategy.clone()),
        }
    }

    /// What Lance is to do to an index of another type.
    ///
    /// # Errors
    /// A size option; the error points at it.
    pub fn for_foreign_index(&self, index: &str, index_type: &str) -> Result<CoreOptimize> {
        match &self.asked {
            None => Ok(CoreOptimize::default()),
            Some((Strategy::Core(core), _)) => Ok(*core),
            Some((Strategy::Tiered(_), option)) => {
                let what = format!(
                    "{} can't be used for index '{index}': Lance itself maintains indexes of type \
                     {index_type}",
                    option.name
                );
                let hint = "leave it out, or use num_indices_to_merge or retrain";
                Err(at(option, what, hint))
            }
        }
    }
}
