//! What an index is: its type and its build parameters, as far as Lance has written them down.

use lance::index::{DatasetIndexInternalExt, scalar::load_segment_params};
use lance_index::{
    metrics::NoOpMetricsCollector,
    pbold,
    registry::IndexPluginRegistry,
    scalar::inverted::{query::try_collect_query_tokens, tokenizer::InvertedIndexParams},
};
use lance_index_plan::snapshot::{IndexDefinition, IndexedField, Merging, SegmentSnapshot};
use lance_table::format::IndexMetadata;
use prost::Message;
use roaring::RoaringBitmap;
use serde_json::{Map, Value};

use super::{indexes::Indexes, mergeable, version::TableVersion};
use crate::{
    error::{Error, Result},
    index_type::{IndexType, Postings},
};

/// The type of the index that the segment belongs to; `None` where it is not one of ours.
pub(crate) fn type_of(segment: &IndexMetadata) -> Option<&'static IndexType> {
    IndexType::by_type_url(&segment.index_details.as_ref()?.type_url)
}

/// The on-disk format of a segment: segments of equal format can stand beside each other.
pub(crate) fn format_of(segment: &IndexMetadata, stable_row_ids: bool) -> String {
    let Some(details) = segment.index_details.as_ref() else {
        return "(no details)".to_string();
    };
    let url = details.type_url.as_str();
    if is_btree(url) && stable_row_ids {
        return btree_format(url, segment.results_are_row_addrs());
    }
    match fts_details(segment) {
        Some(Some(params)) => format!("{url} {params}"),
        Some(None) => format!("{url} (settings unknown)"),
        // Before its version 1, a label list knew no null lists.
        None if url.ends_with("LabelListIndexDetails") && segment.index_version == 0 => {
            format!("{url} (without nulls)")
        }
        None => url.to_string(),
    }
}

/// The format that a segment gets which is built now, by this version of Lance, to stand beside
/// `newest` with the same parameters.
pub(crate) fn format_beside(
    index_type: &IndexType,
    newest: &IndexMetadata,
    stable_row_ids: bool,
) -> String {
    let url = index_type.type_url;
    match fts_details(newest) {
        Some(Some(params)) => format!("{url} {params}"),
        // Its files have them, but nothing says that they are those of the other segments.
        Some(None) => format!("{url} (settings of segment {})", newest.uuid),
        None if is_btree(url) && stable_row_ids => btree_format(url, true),
        None => url.to_string(),
    }
}

/// The format that a segment built now by this version of Lance has, for an index of that type
/// with those parameters.
pub(crate) fn format_of_new(
    index_type: &IndexType,
    parameters: &Map<String, Value>,
    stable_row_ids: bool,
) -> Result<String> {
    let url = index_type.type_url;
    if is_btree(url) && stable_row_ids {
        return Ok(btree_format(url, true));
    }
    if !is_fts(url) {
        return Ok(url.to_string());
    }
    let json = Value::Object(parameters.clone());
    let params = serde_json::from_value::<InvertedIndexParams>(json).map_err(lance::Error::from);
    let checked = params.and_then(|params| {
        // Finds a tokenizer that isn't there.
        params.build()?;
        canonical(&(&params).try_into()?)
    });
    match checked {
        Ok(params) => Ok(format!("{url} {params}")),
        Err(error) => {
            Err(Error::refused("these full-text settings can't be used".to_string(), &error))
        }
    }
}

fn is_btree(type_url: &str) -> bool {
    type_url.ends_with("BTreeIndexDetails")
}

fn is_fts(type_url: &str) -> bool {
    type_url.ends_with("InvertedIndexDetails")
}

fn btree_format(type_url: &str, addresses: bool) -> String {
    format!("{type_url} (row {})", if addresses { "addresses" } else { "ids" })
}

/// The settings of a full-text segment; `Some(None)` where its manifest entry doesn't have them,
/// as those of old versions don't; `None` if it is of another type.
pub(super) fn fts_details(segment: &IndexMetadata) -> Option<Option<Value>> {
    let details = segment.index_details.as_ref().filter(|details| is_fts(&details.type_url))?;
    let details = pbold::InvertedIndexDetails::decode(details.value.as_slice()).ok();
    let details = details.filter(|details| details.base_tokenizer.is_some());
    Some(details.and_then(|details| canonical(&details).ok()))
}

/// The version of the format in which a full-text segment keeps its postings, if the manifest has
/// it.
pub(super) fn posting_format(segment: &IndexMetadata) -> Option<u32> {
    let details = segment.index_details.as_ref().filter(|details| is_fts(&details.type_url))?;
    let details = pbold::InvertedIndexDetails::decode(details.value.as_slice()).ok()?;
    details.posting_format_version
}

/// How many tokens of a text a full-text segment looks for: stop words are none. `None` if it is of
/// another type, or its manifest entry doesn't say how it splits texts.
pub(crate) fn tokens_in(segment: &IndexMetadata, text: &str) -> Option<usize> {
    let details = segment.index_details.as_ref().filter(|details| is_fts(&details.type_url))?;
    let details = pbold::InvertedIndexDetails::decode(details.value.as_slice()).ok()?;
    let mut tokenizer = InvertedIndexParams::try_from(&details).ok()?.build().ok()?;
    let tokens = try_collect_query_tokens(text, &mut tokenizer).ok()?;
    Some(tokens.len())
}

/// The settings with defaults filled in. Where the postings are kept in another version of the
/// posting format, segments still go together.
pub(super) fn canonical(details: &pbold::InvertedIndexDetails) -> lance::Result<Value> {
    let mut details = details.clone();
    details.posting_format_version = None;
    let mut json = InvertedIndexParams::try_from(&details)?.to_training_json()?;
    if let Some(object) = json.as_object_mut() {
        object.remove("format_version");
        // Inferred from the column when it isn't set, and then not kept in the details.
        object.remove("lance_tokenizer");
    }
    Ok(json)
}

/// The build parameters that the manifest has for the segment, for display; `None` where they are
/// only in its files.
pub(crate) fn parameters_in_manifest(segment: &IndexMetadata) -> Option<String> {
    if let Some(params) = fts_details(segment) {
        return params.map(|params| without_defaults(params).to_string());
    }
    let rows = rows_per_zone(segment)?;
    Some(serde_json::json!({ "rows_per_zone": rows }).to_string())
}

/// The parameter of a zone map; `None` if it is of another type, or the manifest doesn't have it.
pub(super) fn rows_per_zone(segment: &IndexMetadata) -> Option<u64> {
    let details = segment.index_details.as_ref()?;
    if !details.type_url.ends_with("ZoneMapIndexDetails") {
        return None;
    }
    pbold::ZoneMapIndexDetails::decode(details.value.as_slice()).ok()?.rows_per_zone
}

/// The full-text settings that aren't the default.
pub(super) fn without_defaults(mut params: Value) -> Value {
    let defaults = InvertedIndexParams::default();
    let defaults = (&defaults).try_into().and_then(|details| canonical(&details));
    if let (Some(params), Ok(Value::Object(defaults))) = (params.as_object_mut(), defaults) {
        params.retain(|name, value| defaults.get(name) != Some(value));
    }
    params
}

/// The build parameters of an index, read from the files of its newest segment.
pub(crate) async fn inherited_parameters(
    table: &TableVersion,
    definition: &IndexDefinition,
) -> Result<Map<String, Value>> {
    let indexes = Indexes::read(table).await?;
    match indexes.segments(&definition.name).last() {
        Some(newest) => parameters_of(table, &definition.field, newest).await,
        None => Err(Error::conflict(format!("index '{}' is gone", definition.name))),
    }
}

/// The build parameters of one segment, read from its files.
pub(super) async fn parameters_of(
    table: &TableVersion,
    field: &IndexedField,
    segment: &IndexMetadata,
) -> Result<Map<String, Value>> {
    let failed = |error| {
        let name = &segment.name;
        Error::failed(format!("reading the parameters of index '{name}'"), error)
    };
    let json = if fts_details(segment).is_some() {
        let params = load_segment_params(&table.dataset, segment).await.map_err(failed)?;
        params.to_training_json().map_err(|error| failed(error.into()))?
    } else {
        let opened = table
            .dataset
            .open_scalar_index(&field.path, &segment.uuid, &NoOpMetricsCollector)
            .await;
        let params = opened.and_then(|index| index.derive_index_params()).map_err(failed)?;
        let json = params.params.unwrap_or_else(|| "{}".to_string());
        serde_json::from_str(&json).map_err(|error| failed(error.into()))?
    };
    match json {
        Value::Object(parameters) => Ok(parameters),
        _ => Ok(Map::new()),
    }
}

/// Asks Lance whether an index of that type, with those parameters, can be on that column.
///
/// # Errors
/// Lance's reason if it can't.
pub(crate) fn check_supported(table: &TableVersion, definition: &IndexDefinition) -> Result<()> {
    let Some(index_type) = IndexType::by_name(&definition.index_type) else {
        return Err(Error::internal(format!("no index type {}", definition.index_type)));
    };
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

/// Whether it is a segment of a vector index. Of these alone, Lance takes for each query, and for a
/// merge, only the rows of the fragments that they cover: none of their postings is ever untrue.
pub(super) fn is_vector(segment: &IndexMetadata) -> bool {
    let details = segment.index_details.as_ref();
    details.is_some_and(|details| details.type_url.ends_with("VectorIndexDetails"))
}

/// Whether, in a table with stable row ids, the type's postings follow their rows.
pub(crate) fn follows_rows(segment: &IndexMetadata, stable_row_ids: bool) -> bool {
    stable_row_ids
        && !is_vector(segment)
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
