//! Build parameters: complete, as a record has them, and as far as they are worth showing.

use lance_index_plan::snapshot::{IndexDefinition, IndexedField};
use lance_table::format::IndexMetadata;
use serde_json::{Map, Value};

use super::{
    definition::{storage_of, type_id},
    indexes::Indexes,
    snapshot::define,
    types::storage::object,
    version::TableVersion,
};
use crate::{
    catalog::resolve::SegmentFacts,
    error::{Error, Result},
    index_type::IndexType,
};

/// Those of the parameters that SQL has options for, and that are worth showing.
pub(crate) fn shown(index_type: &IndexType, parameters: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = parameters.clone();
    shown.retain(|name, _| index_type.parameters.iter().any(|known| known.name == name));
    index_type.storage.worth_showing(shown)
}

/// The build parameters that the manifest has for the segment, for display; `None` where they are
/// only in its files.
pub(crate) fn in_manifest(segment: &IndexMetadata) -> Option<String> {
    let storage = storage_of(segment);
    let parameters = storage.parameters_in_manifest(segment)?;
    Some(Value::Object(storage.worth_showing(parameters)).to_string())
}

/// The build parameters of one segment, read from its files.
pub(super) async fn of_segment(
    table: &TableVersion,
    field: &IndexedField,
    segment: &IndexMetadata,
) -> Result<Map<String, Value>> {
    let read = storage_of(segment).parameters_in_files(&table.dataset, &field.path, segment).await;
    read.map(object).map_err(|error| {
        Error::failed(format!("reading the parameters of index '{}'", segment.name), error)
    })
}

/// The build parameters of an index, read from the files of its newest segment.
pub(crate) async fn inherited(
    table: &TableVersion,
    definition: &IndexDefinition,
) -> Result<Map<String, Value>> {
    let indexes = Indexes::read(table).await?;
    match indexes.segments(&definition.name).last() {
        Some(newest) => of_segment(table, &definition.field, newest).await,
        None => Err(Error::conflict(format!("index '{}' is gone", definition.name))),
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
    let parameters = inherited(table, &definition).await?;
    definition.parameters = Value::Object(parameters).to_string();
    Ok(definition)
}

/// What the manifest says of a segment.
pub(crate) fn facts(segment: &IndexMetadata) -> SegmentFacts {
    SegmentFacts {
        uuid: segment.uuid,
        type_id: type_id(segment),
        field_ids: segment.fields.clone(),
        parameters: storage_of(segment).parameters_in_manifest(segment).unwrap_or_default(),
        built_at: segment.dataset_version,
    }
}
