//! Build parameters as a `google.protobuf.Struct`, which tools that know nothing of this crate read
//! as well.

use prost::Message;
use prost_types::{Any, ListValue, Struct, value::Kind};
use serde_json::{Map, Number, Value};

use super::encoding::Damage;

const TYPE_URL: &str = "type.googleapis.com/google.protobuf.Struct";

/// The largest whole number up to which doubles have every one.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

pub(crate) fn encode(parameters: &Map<String, Value>) -> Any {
    Any { type_url: TYPE_URL.to_string(), value: to_struct(parameters).encode_to_vec() }
}

pub(crate) fn decode(config: &Any) -> Result<Map<String, Value>, Damage> {
    if config.type_url != TYPE_URL {
        let what = format!("its parameters are of the unknown type {}", config.type_url);
        return Err(Damage::Content(what));
    }
    let decoded = Struct::decode(config.value.as_slice());
    Ok(from_struct(decoded.map_err(|error| Damage::Protobuf(error.to_string()))?))
}

fn to_struct(map: &Map<String, Value>) -> Struct {
    Struct { fields: map.iter().map(|(name, value)| (name.clone(), to_value(value))).collect() }
}

fn to_value(value: &Value) -> prost_types::Value {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(value) => Kind::BoolValue(*value),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(values) => {
            Kind::ListValue(ListValue { values: values.iter().map(to_value).collect() })
        }
        Value::Object(map) => Kind::StructValue(to_struct(map)),
    };
    prost_types::Value { kind: Some(kind) }
}

fn from_struct(parameters: Struct) -> Map<String, Value> {
    parameters.fields.into_iter().map(|(name, value)| (name, from_value(value))).collect()
}

fn from_value(value: prost_types::Value) -> Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(value)) => Value::Bool(value),
        // Lance takes `8.0` for no whole number.
        Some(Kind::NumberValue(number)) if number.fract() == 0.0 && number.abs() <= MOST_WHOLE => {
            Value::from(number as i64)
        }
        Some(Kind::NumberValue(number)) => {
            Number::from_f64(number).map_or(Value::Null, Value::from)
        }
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(from_value).collect(),
        Some(Kind::StructValue(map)) => Value::Object(from_struct(map)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_round_trip() {
        let json = serde_json::json!({
            "rows_per_zone": 32, "most": u32::MAX, "probability": 0.00057, "stem": false,
            "max_token_length": null, "language": "Deutsch \u{1f5fa}", "stop": ["a", 1], "in": {"x": -1}
        });
        let Value::Object(parameters) = json else { panic!() };
        assert_eq!(decode(&encode(&parameters)).unwrap(), parameters);
    }

    #[test]
    fn parameters_of_another_kind() {
        let any = Any { type_url: "type.googleapis.com/x.Y".to_string(), value: vec![] };
        assert!(decode(&any).unwrap_err().to_string().contains("x.Y"));
    }
}
