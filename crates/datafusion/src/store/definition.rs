//! What an index is: its type and its build parameters, as far as Lance has written them down.

use lance_index::registry::IndexPluginRegistry;
use lance_index_plan::snapshot::{IndexDefinition, IndexedField, Merging, SegmentSnapshot};
use lance_table::format::IndexMetadata;
use roaring::RoaringBitmap;
use serde_json::{Map, Value};

use super::{
    mergeable,
    types::{self, storage::Storage},
    version::TableVersion,
};
use crate::{
    error::{Error, Result},
    index_type::{IndexType, LANCE, Postings, id_of_unknown},
};

/// The type of the index that the segment belongs to; `None` where it is not one of ours.
pub(crate) fn type_of(segment: &IndexMetadata) -> Option<&'static IndexType> {
    IndexType::by_type_url(&segment.index_details.as_ref()?.type_url)
}

/// The name of the segment's index type, as Lance calls it if it is not one of ours.
pub(crate) fn type_name(segment: &IndexMetadata) -> String {
    let parameters = storage_of(segment).parameters_in_manifest(segment).unwrap_or_default();
    let name = types::name(&type_id(segment), &parameters);
    name.strip_prefix(LANCE).map(str::to_string).unwrap_or(name)
}

/// The id of the segment's index type.
pub(crate) fn type_id(segment: &IndexMetadata) -> String {
    match (type_of(segment), &segment.index_details) {
        (Some(index_type), _) => index_type.id.to_string(),
        (None, Some(details)) => id_of_unknown(&details.type_url),
        (None, None) => format!("{LANCE}unknown"),
    }
}

/// What is particular to the segment's type; nothing, where nobody here knows it.
pub(crate) fn storage_of(segment: &IndexMetadata) -> &'static dyn Storage {
    types::storage(&type_id(segment))
}

/// The on-disk format of a segment: segments of equal format can stand beside each other.
pub(crate) fn format_of(segment: &IndexMetadata, stable_row_ids: bool) -> String {
    let Some(details) = segment.index_details.as_ref() else {
        return "(no details)".to_string();
    };
    format(&details.type_url, storage_of(segment).variant(segment, stable_row_ids))
}

/// The format that a segment gets which is built now, by this version of Lance, to stand beside
/// `newest` with the same parameters.
pub(crate) fn format_beside(
    index_type: &IndexType,
    newest: &IndexMetadata,
    stable_row_ids: bool,
) -> String {
    format(index_type.type_url, index_type.storage.variant_beside(newest, stable_row_ids))
}

/// The format that a segment built now by this version of Lance has, for an index of that type
/// with those parameters.
pub(crate) fn format_of_new(
    index_type: &IndexType,
    parameters: &Map<String, Value>,
    stable_row_ids: bool,
) -> Result<String> {
    let variant = index_type.storage.variant_of_new(parameters, stable_row_ids)?;
    Ok(format(index_type.type_url, variant))
}

fn format(type_url: &str, variant: Option<String>) -> String {
    match variant {
        Some(variant) => format!("{type_url} {variant}"),
        None => type_url.to_string(),
    }
}

/// Asks Lance whether an index of that type, with those parameters, can be on that column.
///
/// # Errors
/// Lance's reason if it can't.
pub(crate) fn check_supported(table: &TableVersion, definition: &IndexDefinition) -> Result<()> {
    let index_type = IndexType::of(definition)?;
    let Some(field) = table.dataset.schema().field_by_id(definition.field.id) else {
        return Err(Error::internal(format!("no field {}", definition.field.id)));
    };
    // Lance makes some types of index on it, and then they find nothing.
    if field.data_type().is_null() {
        return Err(Error::invalid(format!(
            "column {} is of type Null and holds no value to index",
            definition.field.column
        )));
    }
    let registry = IndexPluginRegistry::with_default_plugins();
    let plugin = registry.get_plugin_by_name(&index_type.lance_name.to_lowercase());
    let checked = plugin.and_then(|plugin| match plugin.basic_trainer() {
        Some(trainer) => {
            trainer.new_training_request(&definition.parameters, &field.into()).map(|_| ())
        }
        None => Ok(()),
    });
    checked.map_err(|error| {
        let IndexedField { column, data_type, .. } = &definition.field;
        let what = format!("an index of type {} on column {column}", index_type.name);
        Error::refused(format!("{what} of type {data_type} can't be created"), &error)
    })
}

/// Whether, in a table with stable row ids, the type's postings follow their rows.
pub(crate) fn follows_rows(segment: &IndexMetadata, stable_row_ids: bool) -> bool {
    stable_row_ids
        && !types::is_vector(segment)
        && type_of(segment).is_none_or(|index_type| match index_type.postings {
            Postings::RowIds => true,
            Postings::Addresses => !segment.results_are_row_addrs(),
            Postings::Candidates => false,
        })
}

/// One segment, as planning sees it, without what takes a look at other versions.
pub(crate) fn segment(metadata: &IndexMetadata, stable_row_ids: bool) -> SegmentSnapshot {
    SegmentSnapshot {
        uuid: metadata.uuid,
        declared: metadata.fragment_bitmap.clone(),
        format: format_of(metadata, stable_row_ids),
        kind: mergeable::kind(metadata, stable_row_ids),
        merging: Merging::Exact,
        built_at: metadata.dataset_version,
        bytes: metadata.total_size_bytes(),
        follows_rows: follows_rows(metadata, stable_row_ids),
        source: None,
        rewritten: RoaringBitmap::new(),
    }
}

/// The definition that a CREATE statement asks for.
pub(crate) fn requested(
    table: &TableVersion,
    name: &str,
    field: IndexedField,
    index_type: &IndexType,
    parameters: &Map<String, Value>,
) -> Result<IndexDefinition> {
    Ok(IndexDefinition {
        name: name.to_string(),
        field,
        index_type: index_type.name.to_string(),
        format: format_of_new(index_type, parameters, table.stable_row_ids())?,
        parameters: Value::Object(parameters.clone()).to_string(),
        record: None,
    })
}
