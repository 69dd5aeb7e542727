//! One attempt at one work unit: writes a segment that no manifest names yet.

use lance::{
    Dataset,
    index::{CreateIndexBuilder, DatasetIndexExt},
};
use lance_index::scalar::ScalarIndexParams;
use lance_index_plan::{snapshot::IndexDefinition, work::WorkUnit};
use lance_table::format::{IndexMetadata, pb};
use prost::Message;
use uuid::Uuid;

use super::versions;
use crate::{
    error::{Error, Result},
    index_type::IndexType,
};

/// Builds the unit's segment from the rows that its fragments have at `version`.
///
/// # Errors
/// Whatever Lance says. Files that were written by then are left to Lance's cleanup.
pub(crate) async fn build(
    dataset: &Dataset,
    version: u64,
    definition: &IndexDefinition,
    unit: &WorkUnit,
) -> Result<IndexMetadata> {
    let mut dataset = versions::at(dataset, version).await?;
    let Some(index_type) = IndexType::by_name(&definition.index_type) else {
        return Err(Error::internal(format!("no index type {}", definition.index_type)));
    };
    let failed =
        |error| Error::failed(format!("building index '{}' ({unit})", definition.name), error);
    let lance_type = lance_index::IndexType::try_from(index_type.lance_name).map_err(failed)?;
    let params = ScalarIndexParams {
        index_type: index_type.lance_name.to_lowercase(),
        params: Some(definition.parameters.clone()),
    };
    let columns = [definition.field.path.as_str()];
    // Lance checks the name against the indexes that are there, so none of them may have it; the
    // segment gets its index's name below.
    let mut builder = CreateIndexBuilder::new(&mut dataset, &columns, lance_type, &params)
        .name(Uuid::new_v4().to_string())
        .replace(true);
    builder = if unit.fragments.is_empty() {
        builder.train(false)
    } else {
        builder.fragments(unit.fragments.iter().collect())
    };
    let mut segment = builder.execute_uncommitted().await.map_err(failed)?;
    if lance_type == lance_index::IndexType::Inverted && !unit.fragments.is_empty() {
        // A full-text segment over chosen fragments is only staged; this finishes it.
        segment = dataset.merge_existing_index_segments(vec![segment]).await.map_err(failed)?;
    }
    segment.name = definition.name.clone();
    segment.fragment_bitmap = Some(unit.fragments.clone());
    Ok(segment)
}

/// The segment's manifest entry as protobuf bytes.
pub(crate) fn encode(segment: &IndexMetadata) -> Vec<u8> {
    pb::IndexMetadata::from(segment).encode_to_vec()
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(bytes: &[u8]) -> Result<IndexMetadata> {
    let message = pb::IndexMetadata::decode(bytes)
        .map_err(|error| Error::failed("reading the outcome of a work unit", error))?;
    let mut segment = IndexMetadata::try_from(message)
        .map_err(|error| Error::failed("reading the outcome of a work unit", error))?;
    // An empty bitmap is bytes too, so no bytes would mean that coverage isn't tracked.
    segment.fragment_bitmap.get_or_insert_default();
    Ok(segment)
}
