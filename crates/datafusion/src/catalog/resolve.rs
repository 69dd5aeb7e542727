//! Puts together what the metadata and the segments say of an index.

use std::collections::BTreeMap;

use lance_index_plan::record::Differing;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    encoding::Damage,
    record::{FieldFacts, IndexRecord, index_of_key, is_equal, policy_key},
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

/// A segment that isn't what the record says, and how it differs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    pub segment: Differing,
    pub how: String,
}

/// The segments that differ from the record.
pub(crate) fn differences(record: &IndexRecord, segments: &[SegmentFacts]) -> Vec<Difference> {
    let difference = |segment: &SegmentFacts| {
        let how = difference(record, segment)?;
        let SegmentFacts { uuid, built_at, .. } = *segment;
        Some(Difference { segment: Differing { uuid, built_at }, how })
    };
    segments.iter().filter_map(difference).collect()
}

fn difference(record: &IndexRecord, segment: &SegmentFacts) -> Option<String> {
    if segment.type_id != record.type_id {
        return Some(format!("of type {}", segment.type_id));
    }
    if !segment.field_ids.iter().eq(record.fields.iter().map(|field| &field.id)) {
        return Some(format!("on field {:?}", segment.field_ids));
    }
    // What one of them doesn't say is up to the version of Lance that wrote it.
    let differs = |(name, value): &(&String, &Value)| {
        record.parameters.get(*name).is_some_and(|recorded| !is_equal(recorded, value))
    };
    let (name, value) = segment.parameters.iter().find(differs)?;
    Some(format!("with {name} = {value}"))
}

/// Which field of today's schema the record is about; `None` where there is another column in its
/// place, or none.
///
/// With segments it is the field of that id: Lance removes segments with their field, so a field
/// of another name has been renamed. Without, the id may have been given to another column by an
/// overwrite, which `cleared` tells, and then the name counts.
pub(crate) fn field_of(
    record: &FieldFacts,
    by_id: Option<FieldFacts>,
    by_path: Option<FieldFacts>,
    has_segments: bool,
    cleared: bool,
) -> Option<FieldFacts> {
    let of_type = |field: &FieldFacts| field.data_type == record.data_type;
    let by_id = by_id.filter(|field| of_type(field) && (has_segments || field.path == record.path));
    by_id.or_else(|| by_path.filter(|field| !has_segments && cleared && of_type(field)))
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
        let found = differences(&record(), &[segment]);
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

    #[test]
    fn the_field_today() {
        let field = |id, path: &str, data_type: &str| FieldFacts {
            id,
            path: path.to_string(),
            data_type: data_type.to_string(),
        };
        let then = field(3, "a", "int64");
        let of = |by_id: Option<&FieldFacts>, by_path: Option<&FieldFacts>, segments, cleared| {
            field_of(&then, by_id.cloned(), by_path.cloned(), segments, cleared).map(|f| f.id)
        };
        assert_eq!(of(Some(&then), Some(&then), true, false), Some(3));
        assert_eq!(of(Some(&then), Some(&then), false, true), Some(3));
        // Renamed.
        let renamed = field(3, "b", "int64");
        assert_eq!(of(Some(&renamed), None, true, false), Some(3));
        // Another column took its id, or its name.
        assert_eq!(of(Some(&renamed), None, false, true), None);
        let again = field(5, "a", "int64");
        assert_eq!(of(None, Some(&again), false, false), None);
        // An overwrite put the columns in another order.
        assert_eq!(of(Some(&renamed), Some(&again), false, true), Some(5));
        // Of another type.
        let text = field(3, "a", "string");
        assert_eq!(of(Some(&text), Some(&text), false, true), None);
        assert_eq!(of(Some(&text), Some(&text), true, false), None);
    }
}
