//! Puts together what the metadata and the segments say of an index.

use std::collections::BTreeMap;

use lance_index_plan::record::Differing;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    encoding::Damage,
    record::{IndexRecord, index_of_key, is_equal, policy_key},
};

/// What a table's metadata has for the name of an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    Record(Box<IndexRecord>),
    /// It can't be read. The segments of the index, if it has any, are as good as without it.
    Damaged(Damage),
}

/// The entries of all indexes. None of them keeps the others from being read.
pub(crate) fn entries<'a>(
    metadata: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<String, Entry> {
    let metadata: BTreeMap<&str, &str> = metadata.into_iter().collect();
    let entry = |(key, text): (&&str, &&str)| {
        let name = index_of_key(key)?;
        let policy = metadata.get(policy_key(name).as_str()).copied();
        let entry = match IndexRecord::decode(name, text, policy) {
            Ok(record) => Entry::Record(Box::new(record)),
            Err(damage) => Entry::Damaged(damage),
        };
        Some((name.to_string(), entry))
    };
    metadata.iter().filter_map(entry).collect()
}

/// What the manifest says of a segment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SegmentFacts {
    pub uuid: Uuid,
    pub type_id: String,
    pub field_ids: Vec<i32>,
    /// The build parameters, as far as the manifest has them.
    pub parameters: Map<String, Value>,
    /// The oldest table version that it was built from.
    pub built_at: u64,
}

/// The segments that differ from the record, whose fields have these ids today.
pub(crate) fn differences(
    record: &IndexRecord,
    field_ids: &[i32],
    segments: &[SegmentFacts],
) -> Vec<Differing> {
    let difference = |segment: &SegmentFacts| {
        let how = difference(record, field_ids, segment)?;
        let SegmentFacts { uuid, built_at, .. } = *segment;
        Some(Differing { uuid, built_at, how })
    };
    segments.iter().filter_map(difference).collect()
}

fn difference(record: &IndexRecord, field_ids: &[i32], segment: &SegmentFacts) -> Option<String> {
    if segment.type_id != record.type_id {
        return Some(format!("of type {}", segment.type_id));
    }
    if segment.field_ids != field_ids {
        return Some(format!("on field {:?}", segment.field_ids));
    }
    // What one of them doesn't say is up to the version of Lance that wrote it.
    let differs = |(name, value): &(&String, &Value)| {
        record.parameters.get(*name).is_some_and(|recorded| !is_equal(recorded, value))
    };
    let (name, value) = segment.parameters.iter().find(differs)?;
    Some(format!("with {name} = {value}"))
}

#[cfg(test)]
mod tests {
    use super::{super::record::tests::record, *};

    fn segment() -> SegmentFacts {
        SegmentFacts {
            uuid: Uuid::from_u128(1),
            type_id: "lance:zonemap".to_string(),
            field_ids: vec![3],
            parameters: record().parameters,
            built_at: 7,
        }
    }

    fn how(segment: SegmentFacts) -> Option<String> {
        let found = differences(&record(), &record().field_ids(), &[segment]);
        found.first().map(|difference| difference.how.clone())
    }

    #[test]
    fn segments_that_agree() {
        assert_eq!(how(segment()), None);
        let unknown = SegmentFacts { parameters: Map::new(), ..segment() };
        assert_eq!(how(unknown), None);
        let mut written_otherwise = segment();
        written_otherwise.parameters.insert("rows_per_zone".to_string(), Value::from(32.0));
        written_otherwise.parameters.insert("new".to_string(), Value::from(1));
        assert_eq!(how(written_otherwise), None);
    }

    #[test]
    fn segments_that_differ() {
        let bitmap = SegmentFacts { type_id: "lance:bitmap".to_string(), ..segment() };
        assert_eq!(how(bitmap).as_deref(), Some("of type lance:bitmap"));
        let elsewhere = SegmentFacts { field_ids: vec![4], ..segment() };
        assert_eq!(how(elsewhere).as_deref(), Some("on field [4]"));
        let two = SegmentFacts { field_ids: vec![3, 4], ..segment() };
        assert_eq!(how(two).as_deref(), Some("on field [3, 4]"));
        let mut smaller = segment();
        smaller.parameters.insert("rows_per_zone".to_string(), Value::from(16));
        assert_eq!(how(smaller).as_deref(), Some("with rows_per_zone = 16"));
    }

    #[test]
    fn a_damaged_record_is_its_own_trouble() {
        let (good, policy) = (record().encode().unwrap(), "CAE=");
        let found = entries([
            ("lance_index.v2/by id", good.as_str()),
            ("lance_index.v2/bad", "?"),
            ("lance_index.policy/by id", policy),
            ("lance_index.policy/orphan", policy),
            ("unrelated", "x"),
        ]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["bad", "by id"]);
        assert!(matches!(found["bad"], Entry::Damaged(_)));
        let Entry::Record(read) = &found["by id"] else { panic!() };
        assert_eq!(read.policy.options().target_rows_per_segment, Some(1));
    }
}
