//! What manifests and row lineage say about rows that were changed after they had been indexed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt, TryStreamExt};
use lance::dataset::rowids::{RowVersionKind, load_row_id_sequence, load_row_version_sequence};
use lance_index_plan::{
    snapshot::{RowOrigins, SourceVersion},
    stale::{FragmentPast, Origin},
};
use lance_table::format::{Fragment, IndexMetadata};
use roaring::RoaringBitmap;

use super::{fields, history::Makers, version::TableVersion};
use crate::error::{Error, Result};

/// Manifests that are read at the same time.
pub(super) const CONCURRENT_READS: usize = 8;

/// Where the rows of the fragment come from. What a fragment doesn't record, or isn't asked for, is
/// answered so that it makes nothing look newer than it may be.
///
/// With `versions`, the versions that each row was created and changed in are read as well.
pub(crate) async fn row_origins(
    table: &TableVersion,
    fragment: &Fragment,
    versions: bool,
) -> Result<RowOrigins> {
    let failed =
        |error| Error::failed(format!("reading row lineage of fragment {}", fragment.id), error);
    let row_ids = match fragment.row_id_meta {
        Some(_) => {
            let sequence = load_row_id_sequence(&table.dataset, fragment).await.map_err(failed)?;
            sequence.row_id_range().map(|range| (*range.start(), *range.end()))
        }
        None => None,
    };
    if !versions {
        return Ok(RowOrigins { row_ids, oldest_created: 0, newest_changed: 0 });
    }
    let load = |kind| load_row_version_sequence(&table.dataset, fragment, kind);
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
    table: &TableVersion,
    versions: impl IntoIterator<Item = u64>,
) -> Result<BTreeMap<u64, Arc<SourceVersion>>> {
    let versions: BTreeSet<u64> = versions.into_iter().collect();
    let then = at_versions(table, versions).await?;
    Ok(then.iter().map(|then| (then.number(), Arc::new(source(then)))).collect())
}

/// The table at each of the versions that are still there.
async fn at_versions(table: &TableVersion, versions: BTreeSet<u64>) -> Result<Vec<TableVersion>> {
    let opening: Vec<_> =
        versions.into_iter().map(|version| table.if_still_there(version)).collect();
    let opened: Vec<_> =
        futures::stream::iter(opening).buffered(CONCURRENT_READS).try_collect().await?;
    Ok(opened.into_iter().flatten().collect())
}

/// What is there in that version of the table.
pub(crate) fn source(table: &TableVersion) -> SourceVersion {
    SourceVersion {
        next_row_id: table.dataset.manifest().next_row_id,
        fragments: table.fragments(),
    }
}

/// For each segment, the live fragments for which it may hold postings of values that an in-place
/// rewrite of the column has replaced since; see
/// [`SegmentSnapshot::rewritten`](lance_index_plan::snapshot::SegmentSnapshot::rewritten).
/// `uncovered` are the live fragments that no segment declares.
///
/// Reads the commits that made the uncovered fragments, and, where these were compacted or are
/// older than a segment, the manifests that segments were built at.
pub(crate) async fn rewritten(
    table: &TableVersion,
    field_id: i32,
    segments: &[IndexMetadata],
    uncovered: &RoaringBitmap,
) -> Result<Vec<RoaringBitmap>> {
    let (uncovered, covered): (Vec<&Fragment>, Vec<&Fragment>) =
        table.dataset.fragments().iter().partition(|f| uncovered.contains(f.id as u32));
    let versions: BTreeSet<u64> = segments.iter().map(|segment| segment.dataset_version).collect();
    let (Some(oldest), Some(newest)) = (versions.first().copied(), versions.last().copied()) else {
        return Ok(Vec::new());
    };
    // Lance withdraws a rewritten fragment from the segments that cover it, but for nested columns.
    let doubtful = match fields::is_nested(table.dataset.schema(), field_id) {
        true => covered,
        false => Vec::new(),
    };
    if uncovered.is_empty() && doubtful.is_empty() {
        return Ok(vec![RoaringBitmap::new(); segments.len()]);
    }

    let at_newest = match doubtful.is_empty() {
        true => None,
        false => table.if_still_there(newest).await?,
    };
    let was_there = |fragment: &&&Fragment| {
        at_newest.as_ref().is_some_and(|then| then.fragments().contains(fragment.id as u32))
    };
    let unknown = uncovered.iter().chain(doubtful.iter().filter(|f| !was_there(f)));
    let makers = Makers::read(table, oldest, unknown.copied()).await;
    let is_new = |fragment: &&Fragment| {
        makers.of(fragment).is_some_and(|made| made.version > newest && made.from.is_empty())
    };
    let history: BTreeMap<u64, BTreeMap<u32, Arc<str>>> =
        if doubtful.is_empty() && uncovered.iter().all(is_new) {
            BTreeMap::new()
        } else {
            let then = at_versions(table, versions).await?;
            then.iter().map(|then| (then.number(), files_by_fragment(then, field_id))).collect()
        };

    let ids = fields::related_ids(table.dataset.schema(), field_id);
    let found = segments.iter().map(|segment| {
        let version = segment.dataset_version;
        let past =
            |fragment: &&&Fragment| past(fragment, version, history.get(&version), &makers, &ids);
        let rewritten = uncovered.iter().filter(|fragment| past(fragment).may_be_rewritten());
        // One that it covers is taken as Lance takes it, unless more is known.
        let declares = |fragment: &&&Fragment| {
            let declared = segment.fragment_bitmap.as_ref();
            declared.is_some_and(|declared| declared.contains(fragment.id as u32))
        };
        let outdated = doubtful.iter().filter(declares).filter(|f| past(f).is_known_rewritten());
        rewritten.chain(outdated).map(|fragment| fragment.id as u32).collect()
    });
    Ok(found.collect())
}

/// What is known of the fragment, for a segment that was built at `version`, when fragments had
/// the files `then`.
fn past(
    fragment: &Fragment,
    version: u64,
    then: Option<&BTreeMap<u32, Arc<str>>>,
    makers: &Makers,
    ids: &BTreeSet<i32>,
) -> FragmentPast {
    let origin = if let Some(files) = then.and_then(|then| then.get(&(fragment.id as u32))) {
        Origin::Known(files.clone())
    } else if let Some(made) = makers.of(fragment) {
        let from = made.from.iter().filter(|_| made.version > version);
        Origin::Made {
            files: fields::files_of(&made.fragment, ids),
            from: from.map(|old| past(old, version, then, makers, ids)).collect(),
        }
    } else {
        Origin::Unknown
    };
    FragmentPast { files: fields::files_of(fragment, ids), origin }
}

/// The files that hold the field's values, by fragment.
pub(crate) fn files_by_fragment(table: &TableVersion, field_id: i32) -> BTreeMap<u32, Arc<str>> {
    let ids = fields::related_ids(table.dataset.schema(), field_id);
    let fragments = table.dataset.fragments().iter();
    fragments.map(|fragment| (fragment.id as u32, fields::files_of(fragment, &ids))).collect()
}
