//! Build parameters: complete, as a record has them, and as far as they are worth showing.

use lance_index::scalar::{
    bloomfilter::BloomFilterIndexBuilderParams, btree::DEFAULT_BTREE_BATCH_SIZE,
    inverted::tokenizer::InvertedIndexParams, zonemap::ZoneMapIndexBuilderParams,
};
use lance_index_plan::snapshot::IndexDefinition;
use lance_table::format::IndexMetadata;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    definition::{
        canonical, fts_details, inherited_parameters, rows_per_zone, type_of, without_defaults,
    },
    indexes::Indexes,
    snapshot::define,
    version::TableVersion,
};
use crate::{
    catalog::{record::type_id, resolve::SegmentFacts},
    error::{Error, Result},
    index_type::{IndexType, name_of_unknown},
};

/// The given parameters with what this version of Lance takes for those that are left out: another
/// version may take something else.
pub(crate) fn complete(
    index_type: &IndexType,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let mut complete = match index_type.lance_name {
        "BTREE" => {
            let mut complete = given.clone();
            let zone_size = complete.entry("zone_size").or_insert(Value::Null);
            if zone_size.is_null() {
                *zone_size = Value::from(DEFAULT_BTREE_BATCH_SIZE);
            }
            complete
        }
        "ZONEMAP" => {
            let mut complete = through::<ZoneMapIndexBuilderParams>(given)?;
            complete.retain(|_, value| !value.is_null());
            complete
        }
        "BLOOMFILTER" => through::<BloomFilterIndexBuilderParams>(given)?,
        "INVERTED" => {
            let params = serde_json::from_value::<InvertedIndexParams>(given.clone().into());
            let details =
                params.map_err(lance::Error::from).and_then(|params| (&params).try_into());
            match details.and_then(|details| canonical(&details)).map_err(unusable)? {
                Value::Object(complete) => complete,
                _ => Map::new(),
            }
        }
        _ => Map::new(),
    };
    for (name, value) in given {
        complete.entry(name).or_insert_with(|| value.clone());
    }
    // Without a value, Lance goes by the type of the column.
    complete.retain(|name, value| name != "lance_tokenizer" || !value.is_null());
    Ok(complete)
}

fn through<P: Serialize + DeserializeOwned>(
    given: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let complete = serde_json::from_value::<P>(given.clone().into()).and_then(serde_json::to_value);
    match complete.map_err(unusable)? {
        Value::Object(complete) => Ok(complete),
        _ => Ok(Map::new()),
    }
}

fn unusable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::failed("completing the parameters of an index", error)
}

/// Those of them that SQL has options for; of full-text settings, those that aren't the default.
pub(crate) fn shown(index_type: &IndexType, parameters: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = parameters.clone();
    shown.retain(|name, _| index_type.parameters.iter().any(|known| known.name == name));
    if index_type.lance_name != "INVERTED" {
        return shown;
    }
    match without_defaults(Value::Object(shown)) {
        Value::Object(shown) => shown,
        _ => Map::new(),
    }
}

/// The definition of an index that has no record: its parameters are read from the files of its
/// newest segment.
///
/// # Errors
/// It has no segment, or is one that this version can't maintain.
pub(crate) async fn inferred(table: &TableVersion, name: &str) -> Result<IndexDefinition> {
    let indexes = Indexes::read(table).await?;
    let metadata = indexes.segments(name);
    let newest = metadata.last().filter(|_| !indexes.hidden.contains_key(name));
    let newest = newest
        .ok_or_else(|| Error::invalid(format!("index '{name}' has no segment that can be read")))?;
    let mut definition = define(table, metadata, newest, None)?;
    let parameters = inherited_parameters(table, &definition).await?;
    definition.parameters = Value::Object(parameters).to_string();
    Ok(definition)
}

/// What the manifest says of a segment.
pub(crate) fn facts(segment: &IndexMetadata) -> SegmentFacts {
    let name = match (type_of(segment), &segment.index_details) {
        (Some(index_type), _) => index_type.name.to_string(),
        (None, Some(details)) => name_of_unknown(&details.type_url),
        (None, None) => String::new(),
    };
    SegmentFacts {
        uuid: segment.uuid,
        type_id: type_id(&name),
        field_ids: segment.fields.clone(),
        parameters: in_manifest(segment),
        built_at: segment.dataset_version,
    }
}

fn in_manifest(segment: &IndexMetadata) -> Map<String, Value> {
    if let Some(Some(Value::Object(settings))) = fts_details(segment) {
        return settings;
    }
    let rows = rows_per_zone(segment);
    rows.map(|rows| ("rows_per_zone".to_string(), Value::from(rows))).into_iter().collect()
}
