//! Merges segments into one, from their postings.

use lance::index::DatasetIndexExt;
use lance_index_plan::{
    coverage::format_ranges,
    snapshot::IndexDefinition,
    work::{MergeInput, WorkUnit},
};
use roaring::RoaringBitmap;

use super::{built::BuiltSegment, indexes::Indexes, version::TableVersion};
use crate::error::{Error, Result};

/// Merges the unit's segments, as they are at `version`.
///
/// # Errors
/// Whatever Lance says, such as that it merges no such segments. Files that were written by then
/// are left to Lance's cleanup.
pub(crate) async fn merge(
    table: &TableVersion,
    version: u64,
    definition: &IndexDefinition,
    unit: &WorkUnit,
    inputs: &[MergeInput],
) -> Result<BuiltSegment> {
    let table = table.at(version).await?;
    let name = &definition.name;
    let indexes = Indexes::read(&table).await?;
    let mut segments = Vec::with_capacity(inputs.len());
    for input in inputs {
        let segment = indexes.segments(name).iter().find(|segment| segment.uuid == input.uuid);
        segments.push(segment.cloned().ok_or_else(|| {
            Error::internal(format!("index '{name}' has no segment {}", input.uuid))
        })?);
    }
    let merged = table.dataset.merge_existing_index_segments(segments).await;
    let mut merged = merged.map_err(|error| {
        Error::lance(format!("merging segments of index '{name}' (unit {})", unit.work_id), error)
    })?;
    // Of full-text segments it has the fragments that are gone, too.
    let covered: RoaringBitmap = merged.fragment_bitmap.unwrap_or_default() & table.fragments();
    if covered != unit.fragments {
        return Err(Error::internal(format!(
            "merging segments of index '{name}' made one over fragments [{}] instead of [{}]",
            format_ranges(&covered),
            format_ranges(&unit.fragments)
        )));
    }
    merged.name.clone_from(name);
    merged.fragment_bitmap = Some(covered);
    // Lance has the oldest version of the inputs here, which cleanup may have removed. None of
    // their postings is untrue at this one, or they would not have been chosen.
    merged.dataset_version = version;
    Ok(BuiltSegment { metadata: merged })
}
