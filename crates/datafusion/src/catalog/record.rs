//! What the table's metadata says of one index.

use lance_index_plan::record::FieldFacts;
use prost_types::Any;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    encoding::{self, Damage},
    messages::{IndexV2, MaintenancePolicy, RecordedField},
    policy::PolicyOptions,
};
use crate::{
    index_type::{IndexType, Parameter},
    store::{parameters, types},
};

const RECORD_KEY: &str = "lance_index.v2/";
const POLICY_KEY: &str = "lance_index.policy/";

/// The key of an index's record in the table's metadata.
pub(crate) fn record_key(index: &str) -> String {
    format!("{RECORD_KEY}{index}")
}

/// The key of an index's maintenance policy.
pub(crate) fn policy_key(index: &str) -> String {
    format!("{POLICY_KEY}{index}")
}

/// The index whose record has that key.
pub(super) fn index_of_key(key: &str) -> Option<&str> {
    key.strip_prefix(RECORD_KEY)
}

/// What an index is, apart from its files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexRecord {
    /// Identifies the index across time.
    pub id: Uuid,
    pub name: String,
    pub type_id: String,
    pub fields: Vec<FieldFacts>,
    /// Build parameters, by Lance's names.
    pub parameters: Map<String, Value>,
    /// The version of the table that the record was written to.
    pub written_on: u64,
    /// It has fields that this version doesn't know, and so must not be rewritten by it.
    pub is_later: bool,
    pub policy: StoredPolicy,
}

/// The policy under the key beside a record's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum StoredPolicy {
    #[default]
    None,
    Set(PolicyOptions),
    /// It has fields that this version doesn't know.
    Later(PolicyOptions),
    Damaged(Damage),
}

impl StoredPolicy {
    pub(crate) fn read(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::None };
        match encoding::decode::<MaintenancePolicy>(text) {
            Ok((message, is_later)) => {
                let options = PolicyOptions::from(message);
                match options.to_policy() {
                    Err(error) => Self::Damaged(Damage::Content(error.to_string())),
                    Ok(_) if is_later => Self::Later(options),
                    Ok(_) => Self::Set(options),
                }
            }
            Err(damage) => Self::Damaged(damage),
        }
    }

    /// The options that it sets; none, if it can't be read.
    pub(crate) fn options(&self) -> PolicyOptions {
        match self {
            Self::Set(options) | Self::Later(options) => *options,
            Self::None | Self::Damaged(_) => PolicyOptions::default(),
        }
    }
}

/// The policy that is stored with an index, for statements that don't state one.
pub(crate) fn stored_policy(record: &IndexRecord) -> Option<PolicyOptions> {
    match &record.policy {
        StoredPolicy::Set(options) | StoredPolicy::Later(options) => Some(*options),
        StoredPolicy::None | StoredPolicy::Damaged(_) => None,
    }
}

/// Whether two parameters are equal: whole numbers are, however they are written.
pub(super) fn is_equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

impl IndexRecord {
    /// The record of an index as a statement defines it; `parameters` are complete.
    pub(crate) fn new(
        id: Uuid,
        name: &str,
        type_id: &str,
        field: FieldFacts,
        parameters: Map<String, Value>,
        written_on: u64,
    ) -> Self {
        Self {
            id,
            name: name.to_string(),
            type_id: type_id.to_string(),
            fields: vec![field],
            parameters,
            written_on,
            is_later: false,
            policy: StoredPolicy::None,
        }
    }

    /// The type, if this version maintains it.
    pub(crate) fn index_type(&self) -> Option<&'static IndexType> {
        IndexType::by_id(&self.type_id)
    }

    pub(crate) fn field_ids(&self) -> Vec<i32> {
        self.fields.iter().map(|field| field.id).collect()
    }

    /// What the type is called; one that nobody here knows, by its id.
    pub(crate) fn type_name(&self) -> String {
        types::name(&self.type_id, &self.parameters)
    }

    /// The build parameters that are worth showing.
    pub(crate) fn shown(&self) -> Map<String, Value> {
        match self.index_type() {
            Some(index_type) => parameters::shown(index_type, &self.parameters),
            None => types::storage(&self.type_id).worth_showing(self.parameters.clone()),
        }
    }

    /// Whether both are the same index: of one type with the same parameters on the same field.
    /// A parameter that only one of them has, and that nobody can state, is what Lance made of the
    /// others.
    pub(crate) fn defines_same(&self, other: &Self) -> bool {
        let can_be_stated = |name: &str| {
            let known = self.index_type().map_or(&[][..], |index_type| index_type.parameters);
            known.iter().any(|parameter| parameter.name == name)
        };
        let mut names = self.parameters.keys().chain(other.parameters.keys());
        let is_same = |name: &String| match (self.parameters.get(name), other.parameters.get(name))
        {
            (Some(a), Some(b)) => is_equal(a, b),
            _ => !can_be_stated(name),
        };
        self.type_id == other.type_id && self.fields == other.fields && names.all(is_same)
    }

    /// The record as a message without files.
    pub(crate) fn to_message(&self) -> IndexV2 {
        IndexV2 {
            id: self.id.as_bytes().to_vec(),
            name: self.name.clone(),
            field_ids: self.field_ids(),
            index_type_id: self.type_id.clone(),
            index_config: Some(types::storage(&self.type_id).encode(&self.parameters)),
            files: Vec::new(),
            fields: self
                .fields
                .iter()
                .map(|field| RecordedField {
                    path: field.path.clone(),
                    data_type: field.data_type.clone(),
                })
                .collect(),
            written_on: self.written_on,
        }
    }

    /// The record as a text.
    pub(crate) fn encode(&self) -> Result<String, Damage> {
        encoding::encode(&self.to_message())
    }

    /// Reads the record of the index of that name, and its policy.
    pub(crate) fn decode(name: &str, text: &str, policy: Option<&str>) -> Result<Self, Damage> {
        let (message, is_later) = encoding::decode::<IndexV2>(text)?;
        let content = |what: &str| Damage::Content(what.to_string());
        let id = Uuid::from_slice(&message.id).map_err(|_| content("its id is no UUID"))?;
        if message.name != name {
            let what = format!("it is the record of an index '{}'", message.name);
            return Err(Damage::Content(what));
        }
        if message.index_type_id.is_empty() {
            return Err(content("it has no index type"));
        }
        if message.field_ids.is_empty() || message.field_ids.len() != message.fields.len() {
            return Err(content("it doesn't describe its fields"));
        }
        let fields = message.field_ids.iter().zip(message.fields);
        let fields = fields.map(|(id, field)| FieldFacts {
            id: *id,
            path: field.path,
            data_type: field.data_type,
        });
        let fields = fields.collect();
        let parameters = decode_parameters(&message.index_type_id, message.index_config.as_ref())?;
        Ok(Self {
            id,
            name: message.name,
            type_id: message.index_type_id,
            fields,
            parameters,
            written_on: message.written_on,
            is_later,
            policy: StoredPolicy::read(policy),
        })
    }
}

/// The build parameters of an index of that type.
fn decode_parameters(type_id: &str, config: Option<&Any>) -> Result<Map<String, Value>, Damage> {
    let Some(config) = config else { return Ok(Map::new()) };
    let decoded = types::storage(type_id).decode(config);
    // How a type that nobody here knows is configured is its own business.
    let Some(index_type) = IndexType::by_id(type_id) else {
        return Ok(decoded.unwrap_or_default());
    };
    let parameters = decoded?;
    for parameter in index_type.parameters {
        let value = parameters.get(parameter.name).unwrap_or(&Value::Null);
        if !value.is_null() && !parameter.values.have(value) {
            let Parameter { name, values } = parameter;
            return Err(Damage::Content(format!("its {name} is {value}, and not {values}")));
        }
    }
    Ok(parameters)
}

#[cfg(test)]
pub(super) mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    pub(in crate::catalog) fn record() -> IndexRecord {
        let mut parameters = Map::new();
        parameters.insert("rows_per_zone".to_string(), Value::from(32));
        IndexRecord {
            id: Uuid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10),
            name: "by id".to_string(),
            type_id: "lance:zonemap".to_string(),
            fields: vec![FieldFacts {
                id: 3,
                path: "a.b".to_string(),
                data_type: "int64".to_string(),
            }],
            parameters,
            written_on: 300,
            is_later: false,
            policy: StoredPolicy::None,
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn decoded(record: &IndexRecord) -> Result<IndexRecord, Damage> {
        IndexRecord::decode(&record.name, &record.encode()?, None)
    }

    /// The bytes that tables hold: they never change.
    #[test]
    fn golden_record() {
        let expected = [
            // id
            "0a10",
            "0102030405060708090a0b0c0d0e0f10",
            // name
            "1205",
            "6279206964",
            // field_ids
            "1a0103",
            // index_type_id
            "220d",
            "6c616e63653a7a6f6e656d6170",
            // index_config: type_url, value
            "2a4a",
            "0a2a",
            "747970652e676f6f676c65617069732e636f6d2f676f6f676c652e70726f746f6275662e537472756374",
            "121c",
            "0a1a0a0d726f77735f7065725f7a6f6e6512091100000000000040",
            "40",
            // fields
            "ca3e0c",
            "0a03612e62",
            "1205696e743634",
            // written_on
            "d03eac02",
        ];
        assert_eq!(hex(&record().to_message().encode_to_vec()), expected.concat());
        assert_eq!(decoded(&record()), Ok(record()));
    }

    #[test]
    fn golden_policy() {
        let policy = MaintenancePolicy {
            target_rows_per_segment: Some(1),
            target_bytes_per_segment: Some(1 << 28),
            merge_factor: None,
        };
        assert_eq!(hex(&policy.encode_to_vec()), "08011080808080 01".replace(' ', ""));
        let text = encoding::encode(&policy).unwrap();
        assert_eq!(text, "CAEQgICAgAE=");
        assert_eq!(StoredPolicy::read(Some(&text)), StoredPolicy::Set(policy.into()));
    }

    #[test]
    fn names_of_any_characters() {
        for name in ["", "a/b", "lance_index.v2/", "\u{0}", "\"'\u{1f5fa}\n", " "] {
            let record = IndexRecord { name: name.to_string(), ..record() };
            assert_eq!(decoded(&record), Ok(record.clone()));
            assert_eq!(index_of_key(&record_key(name)), Some(name));
        }
    }

    #[test]
    fn fields_of_later_versions_are_noticed() {
        let mut bytes = record().to_message().encode_to_vec();
        bytes.extend([0x3a, 0x01, 0x00]);
        let read = IndexRecord::decode("by id", &STANDARD.encode(&bytes), None).unwrap();
        assert_eq!(read, IndexRecord { is_later: true, ..record() });
    }

    #[test]
    fn damage() {
        let of = |text: &str| IndexRecord::decode("by id", text, None).unwrap_err().to_string();
        assert!(of("***").contains("not base64"));
        assert!(of("AAAA").contains("not the message"));
        assert!(of("").contains("no UUID"));
        assert!(of(&"A".repeat(MOST + 4)).contains("more than"));
        let other = IndexRecord { name: "other".to_string(), ..record() };
        assert!(of(&other.encode().unwrap()).contains("of an index 'other'"));
        let nothing = IndexRecord { fields: vec![], ..record() };
        assert!(of(&nothing.encode().unwrap()).contains("its fields"));
        let untyped = IndexRecord { type_id: String::new(), ..record() };
        assert!(of(&untyped.encode().unwrap()).contains("no index type"));
        let with = |value: Value| {
            let mut changed = record();
            changed.parameters.insert("rows_per_zone".to_string(), value);
            changed.encode().unwrap()
        };
        for value in [Value::from(-5), Value::from(0), Value::from(0.5), Value::from("32")] {
            assert!(of(&with(value)).contains("and not a whole number from 1"));
        }
        let mut large = record();
        large.parameters.insert("x".to_string(), Value::from("x".repeat(MOST)));
        assert!(matches!(large.encode(), Err(Damage::TooLong(_))));
    }

    #[test]
    fn what_defines_the_same_index() {
        let with = |name: &str, value: Value| {
            let mut changed = record();
            changed.id = Uuid::from_u128(1);
            changed.parameters.insert(name.to_string(), value);
            changed.defines_same(&record()) && record().defines_same(&changed)
        };
        assert!(with("rows_per_zone", Value::from(32.0)) && with("use_seeds", Value::from(true)));
        assert!(!with("rows_per_zone", Value::from(33)));
        let silent = IndexRecord { parameters: Map::new(), ..record() };
        assert!(!silent.defines_same(&record()) && !record().defines_same(&silent));
        let other = IndexRecord { type_id: "lance:bitmap".to_string(), ..record() };
        assert!(!other.defines_same(&record()));
    }

    const MOST: usize = encoding::MOST_BYTES;

    #[test]
    fn a_policy_that_is_none() {
        let text =
            encoding::encode(&MaintenancePolicy { merge_factor: Some(4), ..Default::default() });
        assert!(matches!(StoredPolicy::read(text.ok().as_deref()), StoredPolicy::Damaged(_)));
        assert!(matches!(StoredPolicy::read(Some("?")), StoredPolicy::Damaged(_)));
    }

    #[test]
    fn types() {
        assert_eq!(record().type_name(), "zonemap");
        let other = IndexRecord { type_id: "acme:hash".to_string(), ..record() };
        assert_eq!((other.index_type(), other.type_name().as_str()), (None, "acme:hash"));
        let later = IndexRecord { type_id: "lance:hash".to_string(), ..record() };
        assert_eq!((later.index_type(), later.type_name().as_str()), (None, "lance:hash"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_record_or_is_damaged(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            for text in [text, STANDARD.encode(bytes)] {
                let _ = IndexRecord::decode("by id", &text, Some(&text));
            }
        }

        /// What can be read of a record that was changed somewhere is what is written of it.
        #[test]
        fn a_record_that_was_changed_somewhere(
            at in any::<prop::sample::Index>(),
            removed in 0..3_usize,
            added in prop::collection::vec(any::<u8>(), 0..3),
        ) {
            let mut bytes = record().to_message().encode_to_vec();
            let at = at.index(bytes.len());
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, added);
            if let Ok(read) = IndexRecord::decode("by id", &STANDARD.encode(bytes), None) {
                let again = IndexRecord { is_later: false, ..read };
                prop_assert_eq!(decoded(&again), Ok(again));
            }
        }
    }
}
