//! The options of each statement, checked once, into types that can't be wrong afterwards.

use lance_index_sql::{OptionValue, SyntaxError, WithOption, WithOptions, suggest};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    index_type::{INDEX_TYPES, IndexType, Parameter, Values},
};

/// The most segments that a statement may ask for.
const MAX_SEGMENTS: u64 = 100_000;

const NUM_SEGMENTS: Parameter =
    Parameter { name: "num_segments", values: Values::Integer { min: 1, max: MAX_SEGMENTS } };
const TRAIN: Parameter = Parameter { name: "train", values: Values::Boolean };

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
                created.num_segments = segments(&value);
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
                refresh.num_segments = segments(&value);
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

fn check(option: &WithOption, parameter: Parameter) -> Result<Value> {
    let value = match (&option.value, parameter.values) {
        (
            OptionValue::Number(written),
            Values::Integer { min, max } | Values::Limit { min, max },
        ) => written
            .parse::<u64>()
            .ok()
            .filter(|number| (min..=max).contains(number))
            .map(Value::from),
        (OptionValue::Null, Values::Limit { .. }) => Some(Value::Null),
        (OptionValue::Number(written), Values::Between { above, below }) => written
            .parse::<f64>()
            .ok()
            .filter(|number| above < *number && *number < below)
            .map(Value::from),
        (OptionValue::Boolean(value), Values::Boolean) => Some(Value::from(*value)),
        (OptionValue::String(value), Values::Text) => Some(Value::from(value.as_str())),
        _ => None,
    };
    value.ok_or_else(|| {
        let what = format!("option '{}' can't be {}", parameter.name, option.value);
        at(option, what, format!("it takes {}", parameter.values))
    })
}

fn segments(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn at(option: &WithOption, what: String, hint: impl Into<String>) -> Error {
    SyntaxError { what, hint: Some(hint.into()), span: option.value_span }.into()
}
