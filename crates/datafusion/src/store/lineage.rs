//! What manifests and row lineage say about rows that were changed after they had been indexed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt, TryStreamExt};
use lance::{
    Dataset,
    dataset::rowids::{RowVersionKind, load_row_id_sequence, load_row_version_sequence},
};
use lance_index_plan::{
    snapshot::{RowOrigins, SourceVersion},
    stale::innocent_by_looks,
};
use lance_table::format::{Fragment, IndexMetadata};
use roaring::RoaringBitmap;

use super::{fields, versions};
use crate::error::{Error, Result};

/// Manifests that are read at the same time.
const CONCURRENT_READS: usize = 8;

/// Where the rows of the fragment come from. What a fragment doesn't record is answered so that
/// it makes nothing look newer than it may be.
pub(crate) async fn row_origins(dataset: &Dataset, fragment: &Fragment) -> Result<RowOrigins> {
    let failed =
        |error| Error::failed(format!("reading row lineage of fragment {}", fragment.id), error);
    let row_ids = match fragment.row_id_meta {
        Some(_) => {
            let sequence = load_row_id_sequence(dataset, fragment).await.map_err(failed)?;
            sequence.row_id_range().map(|range| (*range.start(), *range.end()))
        }
        None => None,
    };
    let load = |kind| load_row_version_sequence(dataset, fragment, kind);
    let created = load(RowVersionKind::CreatedAt).await.map_err(failed)?;
    let updated = load(RowVersionKind::LastUpdatedAt).await.map_err(failed)?;
    let oldest_created = created.as_ref().and_then(|created| created.versions().min());
    let newest_changed = match (&created, &updated) {
        (Some(created), Some(updated)) => {
            let rows = created.versions().zip(updated.versions());
            let changed = rows.filter(|(created, updated)| updated > created);
            changed.map(|(_, updated)| updated).max().unwrap_or(0)
        }
        _ => 0,
    };
    Ok(RowOrigins { row_ids, oldest_created: oldest_created.unwrap_or(0), newest_changed })
}

/// What was there in each of the versions; versions that cleanup has removed are missing.
pub(crate) async fn sources(
    dataset: &Dataset,
    versions: impl IntoIterator<Item = u64>,
) -> Result<BTreeMap<u64, Arc<SourceVersion>>> {
    let versions: BTreeSet<u64> = versions.into_iter().collect();
    let then = at_versions(dataset, versions).await?;
    Ok(then.iter().map(|then| (then.manifest().version, Arc::new(source(then)))).collect())
}

/// The table at each of the versions that are still there.
async fn at_versions(dataset: &Dataset, versions: BTreeSet<u64>) -> Result<Vec<Dataset>> {
    let opening: Vec<_> =
        versions.into_iter().map(|version| versions::if_still_there(dataset, version)).collect();
    let opened: Vec<_> =
        futures::stream::iter(opening).buffered(CONCURRENT_READS).try_collect().await?;
    Ok(opened.into_iter().flatten().collect())
}

/// What is there in the version that `dataset` is at.
pub(crate) fn source(dataset: &Dataset) -> SourceVersion {
    SourceVersion {
        next_row_id: dataset.manifest().next_row_id,
        fragments: dataset.fragment_bitmap().as_ref().clone(),
    }
}

/// For each segment, the live fragments for which it may hold postings of values that an in-place
/// rewrite of the column has replaced since; see
/// [`SegmentSnapshot::rewritten`](lance_index_plan::snapshot::SegmentSnapshot::rewritten).
///
/// Reads, at most once each, the manifests that segments were built at, and only where a fragment
/// doesn't look as if it had never been touched.
pub(crate) async fn rewritten(
    dataset: &Dataset,
    field_id: i32,
    segments: &[&IndexMetadata],
) -> Result<Vec<RoaringBitmap>> {
    let schema = dataset.schema();
    let ids = fields::related_ids(schema, field_id);
    // Lance withdraws a rewritten fragment from the segments that cover it, but for nested columns.
    let check_covered = fields::is_nested(schema, field_id);
    let covered = segments
        .iter()
        .filter_map(|segment| segment.fragment_bitmap.as_ref())
        .fold(RoaringBitmap::new(), |all, declared| all | declared);
    let suspects = |segment: &IndexMetadata| -> Vec<(&Fragment, bool)> {
        let Some(declared) = segment.fragment_bitmap.as_ref() else {
            return Vec::new();
        };
        let suspicious = |fragment: &&Fragment| {
            let id = fragment.id as u32;
            let untouched = fields::as_first_written(fragment);
            if declared.contains(id) {
                check_covered && !untouched
            } else {
                !covered.contains(id) && !innocent_by_looks(id, untouched, declared)
            }
        };
        let fragments = dataset.fragments().iter().filter(suspicious);
        fragments.map(|fragment| (fragment, declared.contains(fragment.id as u32))).collect()
    };
    let suspects: Vec<_> = segments.iter().map(|segment| suspects(segment)).collect();

    let wanted: BTreeSet<u64> = segments
        .iter()
        .zip(&suspects)
        .filter(|(_, suspects)| !suspects.is_empty())
        .map(|(segment, _)| segment.dataset_version)
        .collect();
    let history: BTreeMap<u64, BTreeMap<u32, Arc<str>>> = at_versions(dataset, wanted)
        .await?
        .iter()
        .map(|then| (then.manifest().version, files_by_fragment(then, field_id)))
        .collect();

    let found = segments.iter().zip(suspects).map(|(segment, suspects)| {
        let then = history.get(&segment.dataset_version);
        let differs = |(fragment, is_covered): &(&Fragment, bool)| {
            let before = then.and_then(|then| then.get(&(fragment.id as u32)));
            match before {
                Some(before) => *before != fields::files_of(fragment, &ids),
                // Of a fragment that it doesn't cover, the segment may know anything; one that it
                // covers is taken as Lance takes it.
                None => !is_covered,
            }
        };
        suspects.into_iter().filter(differs).map(|(fragment, _)| fragment.id as u32).collect()
    });
    Ok(found.collect())
}

fn files_by_fragment(dataset: &Dataset, field_id: i32) -> BTreeMap<u32, Arc<str>> {
    let ids = fields::related_ids(dataset.schema(), field_id);
    let fragments = dataset.fragments().iter();
    fragments.map(|fragment| (fragment.id as u32, fields::files_of(fragment, &ids))).collect()
}
