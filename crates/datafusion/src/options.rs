//! The options of each statement, checked once, into types that can't be wrong afterwards.

use std::time::Duration;

use arrow::compute::kernels::cast_utils::{IntervalUnit, parse_interval_month_day_nano};
use lance_index_sql::{OptionValue, SyntaxError, WithOption, WithOptions, suggest};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    index_type::{INDEX_TYPES, IndexType, Parameter, Values},
};

mod optimize_index;

pub use optimize_index::{CoreOptimize, OptimizeIndexOptions, Strategy};

/// The most segments that a statement may ask for.
const MAX_SEGMENTS: u64 = 100_000;

const NUM_SEGMENTS: Parameter =
    Parameter { name: "num_segments", values: Values::Integer { min: 1, max: MAX_SEGMENTS } };
const TRAIN: Parameter = Parameter { name: "train", values: Values::Boolean };

const ROWS: Values = Values::Integer { min: 1, max: u32::MAX as u64 };

const TARGET_ROWS_PER_FRAGMENT: Parameter =
    Parameter { name: "target_rows_per_fragment", values: ROWS };
const MAX_BYTES_PER_FILE: Parameter = Parameter {
    name: "max_bytes_per_file",
    values: Values::Integer { min: 1, max: i64::MAX as u64 },
};
const MATERIALIZE_DELETIONS: Parameter =
    Parameter { name: "materialize_deletions", values: Values::Boolean };
const MATERIALIZE_DELETIONS_THRESHOLD: Parameter =
    Parameter { name: "materialize_deletions_threshold", values: Values::Fraction };
const BATCH_SIZE: Parameter = Parameter { name: "batch_size", values: ROWS };

const OLDER_THAN: Parameter = Parameter { name: "older_than", values: Values::Duration };
const RETAIN_VERSIONS: Parameter = Parameter { name: "retain_versions", values: ROWS };
const DELETE_UNVERIFIED: Parameter =
    Parameter { name: "delete_unverified", values: Values::Boolean };

/// The options of `CREATE INDEX`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateOptions {
    /// How many segments to build; `None` leaves it to the number of rows.
    pub num_segments: Option<u32>,
    /// Whether to index the rows that are there. If not, only the index's definition is recorded.
    pub train: bool,
    /// Build parameters, by Lance's names.
    pub parameters: Map<String, Value>,
}

/// The options of `REFRESH INDEX`.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshOptions {
    /// How many segments to build; `None` leaves it to the number of rows.
    pub num_segments: Option<u32>,
    /// What the statement says of the index's build parameters, each with its place in the text.
    stated: Vec<(WithOption, Value)>,
}

impl CreateOptions {
    /// Checks the options of a `CREATE INDEX` of that type.
    ///
    /// # Errors
    /// An unknown name, or a value of the wrong type or out of range; the error points at it.
    pub fn try_new(options: &WithOptions, index_type: &IndexType) -> Result<Self> {
        let context = format!("CREATE INDEX ... USING {}", index_type.name);
        let known = known(&[NUM_SEGMENTS, TRAIN], index_type.parameters);
        let mut created = Self { num_segments: None, train: true, parameters: Map::new() };
        for option in options {
            let parameter = find(option, &known, &context)?;
            let value = check(option, parameter)?;
            if parameter == NUM_SEGMENTS {
                created.num_segments = number(&value);
            } else if parameter == TRAIN {
                created.train = value != Value::Bool(false);
            } else {
                created.parameters.insert(parameter.name.to_string(), value);
            }
        }
        Ok(created)
    }
}

impl RefreshOptions {
    /// Checks the options of a `REFRESH INDEX` of an index of that type.
    ///
    /// # Errors
    /// An unknown name, or a value of the wrong type or out of range; the error points at it.
    pub fn try_new(options: &WithOptions, index_type: &IndexType) -> Result<Self> {
        let context = format!("REFRESH of a {} index", index_type.name);
        let known = known(&[NUM_SEGMENTS], index_type.parameters);
        let mut refresh = Self { num_segments: None, stated: Vec::new() };
        for option in options {
            let parameter = find(option, &known, &context)?;
            let value = check(option, parameter)?;
            if parameter == NUM_SEGMENTS {
                refresh.num_segments = number(&value);
            } else {
                refresh.stated.push((option.clone(), value));
            }
        }
        Ok(refresh)
    }

    /// Checks the options where there is no index that they could be about.
    ///
    /// # Errors
    /// A name that no index type has, or a value that it doesn't take; the error points at it.
    pub fn check_names(options: &WithOptions) -> Result<()> {
        let parameters = INDEX_TYPES.iter().flat_map(|index_type| index_type.parameters);
        let known: Vec<Parameter> = [NUM_SEGMENTS].iter().chain(parameters).copied().collect();
        for option in options {
            check(option, find(option, &known, "REFRESH")?)?;
        }
        Ok(())
    }

    /// Whether the statement states any build parameter of the index.
    pub fn states_parameters(&self) -> bool {
        !self.stated.is_empty()
    }

    /// Checks that the index has the build parameters that the statement says it has.
    ///
    /// # Errors
    /// A parameter that differs; the error points at it.
    pub fn check_stated(&self, index: &str, parameters: &Map<String, Value>) -> Result<()> {
        for (option, stated) in &self.stated {
            let name = option.name.as_str();
            let actual = parameters.get(name).unwrap_or(&Value::Null);
            let same = match (stated.as_f64(), actual.as_f64()) {
                (Some(stated), Some(actual)) => stated == actual,
                _ => stated == actual,
            };
            if !same {
                let what =
                    format!("index '{index}' was built with {name} = {actual}, not {stated}");
                let hint =
                    "REFRESH keeps an index's parameters; CREATE OR REPLACE INDEX changes them";
                return Err(at(option, what, hint));
            }
        }
        Ok(())
    }
}

/// The options of `OPTIMIZE TABLE`. What is `None` is up to the table's own `lance.compaction.*`, or
/// else to Lance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptimizeTableOptions {
    /// Fragments of fewer rows are put together, up to about so many.
    pub target_rows_per_fragment: Option<u64>,
    /// The size at which a new file is closed, whatever the number of its rows.
    pub max_bytes_per_file: Option<u64>,
    /// Whether fragments with many deleted rows are written anew without them.
    pub materialize_deletions: Option<bool>,
    /// The fraction of deleted rows above which that is done.
    pub materialize_deletions_threshold: Option<f32>,
    /// Rows that are read at a time.
    pub batch_size: Option<u64>,
}

impl OptimizeTableOptions {
    /// Checks the options of an `OPTIMIZE TABLE`.
    ///
    /// # Errors
    /// An unknown name, or a value of the wrong type or out of range; the error points at it.
    pub fn try_new(options: &WithOptions) -> Result<Self> {
        let known = [
            TARGET_ROWS_PER_FRAGMENT,
            MAX_BYTES_PER_FILE,
            MATERIALIZE_DELETIONS,
            MATERIALIZE_DELETIONS_THRESHOLD,
            BATCH_SIZE,
        ];
        let mut optimize = Self::default();
        for option in options {
            let parameter = find(option, &known, "OPTIMIZE TABLE")?;
            let value = check(option, parameter)?;
            if parameter == TARGET_ROWS_PER_FRAGMENT {
                optimize.target_rows_per_fragment = value.as_u64();
            } else if parameter == MAX_BYTES_PER_FILE {
                optimize.max_bytes_per_file = value.as_u64();
            } else if parameter == MATERIALIZE_DELETIONS {
                optimize.materialize_deletions = value.as_bool();
            } else if parameter == MATERIALIZE_DELETIONS_THRESHOLD {
                optimize.materialize_deletions_threshold = value.as_f64().map(|value| value as f32);
            } else {
                optimize.batch_size = value.as_u64();
            }
        }
        let threshold = options.get(MATERIALIZE_DELETIONS_THRESHOLD.name);
        if let (Some(option), Some(false)) = (threshold, optimize.materialize_deletions) {
            let what = format!(
                "{} says nothing beside {} = false",
                MATERIALIZE_DELETIONS_THRESHOLD.name, MATERIALIZE_DELETIONS.name
            );
            return Err(at(option, what, "leave out one of them"));
        }
        Ok(optimize)
    }
}

/// The options of `VACUUM TABLE`. A version is removed if it is old by all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VacuumTableOptions {
    /// The age above which a version is old.
    pub older_than: Duration,
    /// How many of the latest versions are never old.
    pub retain_versions: Option<u32>,
    /// Whether to remove also files that no version names, however young: they may be those of a
    /// statement that still runs.
    pub delete_unverified: bool,
}

impl Default for VacuumTableOptions {
    fn default() -> Self {
        Self {
            older_than: Duration::from_secs(7 * 24 * 60 * 60),
            retain_versions: None,
            delete_unverified: false,
        }
    }
}

impl VacuumTableOptions {
    /// Checks the options of a `VACUUM TABLE`.
    ///
    /// # Errors
    /// An unknown name, or a value of the wrong type or out of range; the error points at it.
    pub fn try_new(options: &WithOptions) -> Result<Self> {
        let known = [OLDER_THAN, RETAIN_VERSIONS, DELETE_UNVERIFIED];
        let mut vacuum = Self::default();
        for option in options {
            let parameter = find(option, &known, "VACUUM TABLE")?;
            let value = check(option, parameter)?;
            if parameter == OLDER_THAN {
                vacuum.older_than = value.as_u64().map_or(vacuum.older_than, Duration::from_millis);
            } else if parameter == RETAIN_VERSIONS {
                vacuum.retain_versions = number(&value);
            } else {
                vacuum.delete_unverified = value == Value::Bool(true);
            }
        }
        Ok(vacuum)
    }
}

fn known(own: &[Parameter], parameters: &[Parameter]) -> Vec<Parameter> {
    own.iter().chain(parameters).copied().collect()
}

fn find(option: &WithOption, known: &[Parameter], context: &str) -> Result<Parameter> {
    let name = option.name.as_str();
    if let Some(parameter) = known.iter().find(|parameter| parameter.name == name) {
        return Ok(*parameter);
    }
    let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
    let nearest = suggest(name, &names).map(|nearest| format!("did you mean {nearest}? "));
    Err(SyntaxError {
        what: format!("{context} has no option '{name}'"),
        hint: Some(format!("{}the options are {}", nearest.unwrap_or_default(), names.join(", "))),
        span: option.name.span(),
    }
    .into())
}

pub(crate) fn check(option: &WithOption, parameter: Parameter) -> Result<Value> {
    let value = match (&option.value, parameter.values) {
        (OptionValue::Number(written), Values::Integer { .. } | Values::Limit { .. }) => {
            written.parse::<u64>().ok().map(Value::from)
        }
        (OptionValue::Number(written), Values::Between { .. } | Values::Fraction) => {
            written.parse::<f64>().ok().map(Value::from)
        }
        (OptionValue::String(written), Values::Duration) => duration(written)
            .and_then(|duration| u64::try_from(duration.as_millis()).ok())
            .map(Value::from),
        (OptionValue::String(written), Values::Text) => Some(Value::from(written.as_str())),
        (OptionValue::Boolean(value), Values::Boolean) => Some(Value::from(*value)),
        (OptionValue::Null, Values::Limit { .. }) => Some(Value::Null),
        _ => None,
    };
    let value = value.filter(|value| parameter.values.have(value));
    value.ok_or_else(|| {
        let what = format!("option '{}' can't be {}", parameter.name, option.value);
        at(option, what, format!("it takes {}", parameter.values))
    })
}

/// The length of time that an interval stands for; `None` if it isn't one, is negative, or has a
/// unit of no fixed length.
fn duration(interval: &str) -> Option<Duration> {
    let fixed = |unit: &str| {
        let unit: Result<IntervalUnit, _> = unit.parse();
        unit.is_ok_and(|unit| {
            use IntervalUnit::{Century, Decade, Month, Year};
            !matches!(unit, Century | Decade | Year | Month)
        })
    };
    let mut units = interval.split(|c: char| !c.is_ascii_alphabetic()).filter(|u| !u.is_empty());
    // Without a unit it would be months.
    if interval.contains('-')
        || interval.trim_end().ends_with(|c: char| c.is_ascii_digit())
        || !units.all(fixed)
    {
        return None;
    }
    let words: Vec<&str> = interval.split_whitespace().collect();
    let parsed = parse_interval_month_day_nano(&words.join(" ")).ok()?;
    let days = Duration::from_secs(u64::try_from(parsed.days).ok()?.checked_mul(24 * 60 * 60)?);
    let rest = Duration::from_nanos(u64::try_from(parsed.nanoseconds).ok()?);
    (parsed.months == 0).then(|| days.checked_add(rest)).flatten()
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn at(option: &WithOption, what: String, hint: impl Into<String>) -> Error {
    SyntaxError { what, hint: Some(hint.into()), span: option.value_span }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let seconds = |text| duration(text).map(|duration| duration.as_secs_f64());
        assert_eq!(seconds("7 days"), Some(604_800.0));
        assert_eq!(seconds("0 seconds"), Some(0.0));
        assert_eq!(seconds("12 hours"), Some(43_200.0));
        assert_eq!(seconds(" 1 DAY  2 hours "), Some(93_600.0));
        assert_eq!(seconds("1w"), Some(604_800.0));
        assert_eq!(seconds("1.5 days"), Some(129_600.0));
        assert_eq!(seconds("250 ms"), Some(0.25));
        assert_eq!(seconds("1000000 days"), Some(86_400_000_000.0));
    }

    #[test]
    fn what_is_no_duration() {
        for text in [
            "",
            " ",
            "7",
            "1 day 7",
            "days",
            "7 dayz",
            "soon",
            "1 month",
            "1 mon",
            "0 months",
            "0.001 months",
            "1 year",
            "1 year 2 days",
            "-1 days",
            "2 days -1 hour",
            "- 1 day",
            "1 day 1 day",
            "99999999999999999999 days",
            "9999999999 days",
            "1e3 days",
            "NaN days",
            "inf days",
            "7 d\u{e4}ys",
        ] {
            assert_eq!(duration(text), None, "{text:?}");
        }
    }
}
