//! Which segments of an index Lance merges with which.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt};
use lance::index::DatasetIndexExt;
use lance_index_plan::{
    snapshot::{IndexDefinition, IndexSnapshot, Merging, SegmentSnapshot},
    tiers::Ineligible,
};
use lance_table::{
    format::{Fragment, IndexMetadata},
    system_index::frag_reuse::FRAG_REUSE_INDEX_NAME,
};
use roaring::RoaringBitmap;
use serde_json::Value;
use uuid::Uuid;

use super::{
    definition,
    indexes::Indexes,
    lineage::{self, CONCURRENT_READS},
    parameters,
    version::TableVersion,
};
use crate::{
    error::{Error, Result},
    index_type::Merge,
};

const DELETED_ROWS: &str = "it may count deleted rows in its scores";

/// What of a table decides whether segments can be merged.
#[derive(Debug)]
pub(super) struct Mergeable {
    live: RoaringBitmap,
    /// The version at which rows of a fragment were last deleted.
    deleted_at: BTreeMap<u32, u64>,
    /// Live fragments with data overlays. Lance tells by the version of a segment whether it knows
    /// an overlay, and a merged segment has but one.
    overlaid: RoaringBitmap,
    /// A compaction has left it to readers to find the new places of rows.
    deferred_compaction: bool,
}

impl Mergeable {
    pub(super) async fn of(table: &TableVersion) -> Result<Self> {
        let failed = |error| Error::failed("reading the table's list of indexes", error);
        let indexes = table.dataset.load_indices().await.map_err(failed)?;
        let fragments = table.dataset.fragments().iter();
        let overlaid = fragments.clone().filter(|fragment| !fragment.overlays.is_empty());
        let deleted = |fragment: &Fragment| {
            Some((fragment.id as u32, fragment.deletion_file.as_ref()?.read_version))
        };
        Ok(Self {
            live: table.fragments(),
            deleted_at: fragments.filter_map(deleted).collect(),
            overlaid: overlaid.map(|fragment| fragment.id as u32).collect(),
            deferred_compaction: indexes.iter().any(|it| it.name == FRAG_REUSE_INDEX_NAME),
        })
    }

    /// Whether the segment can be merged with others of its kind.
    pub(super) fn merging(&self, segment: &IndexMetadata) -> Merging {
        let declared = segment.fragment_bitmap.clone().unwrap_or_default();
        let overlaid = &declared & &self.overlaid;
        if segment.base_id.is_some() {
            return Merging::Never(Ineligible::OtherBase);
        }
        if self.deferred_compaction {
            let why = "a deferred compaction of the table isn't carried out in its indexes; \
                       num_indices_to_merge leaves it to Lance"
                .to_string();
            return Merging::Never(Ineligible::Unsupported { why });
        }
        if !overlaid.is_empty() {
            return Merging::Never(Ineligible::Overlaid { fragments: overlaid });
        }
        let gone = || !declared.is_subset(&self.live);
        let deleted_since = |id| self.deleted_at.get(&id) >= Some(&segment.dataset_version);
        let why = match definition::type_of(segment).map(|index_type| index_type.merge) {
            Some(Merge::OfLiveFragments | Merge::KeepsDeleted) if gone() => {
                "it covers fragments that are gone"
            }
            Some(Merge::KeepsDeleted) if declared.iter().any(deleted_since) => DELETED_ROWS,
            Some(Merge::Rebuild) => "its type is merged so",
            _ => return Merging::Exact,
        };
        Merging::FromRows { why: why.to_string() }
    }

    /// Why the segment is merged with no other, as far as the manifest tells.
    pub(super) fn ineligible(&self, segment: &IndexMetadata) -> Option<Ineligible> {
        match self.merging(segment) {
            _ if segment.fragment_bitmap.is_none() => Some(Ineligible::Untracked),
            _ if definition::type_of(segment).is_none() => {
                let why = "Lance alone maintains its type".to_string();
                Some(Ineligible::Unsupported { why })
            }
            Merging::Never(why) => Some(why),
            Merging::Exact | Merging::FromRows { .. } => None,
        }
    }
}

/// [`SegmentSnapshot::kind`], as far as the manifest tells.
pub(super) fn kind(segment: &IndexMetadata, stable_row_ids: bool) -> String {
    let format = definition::format_of(segment, stable_row_ids);
    let version = segment.index_version;
    let parameters = parameters::in_manifest(segment).unwrap_or_default();
    let apart = definition::storage_of(segment).merged_apart(segment).unwrap_or_default();
    format!("{format} {version} {parameters} {apart}")
}

/// Adds to a snapshot what only other versions of the table and the segments' files tell of whether
/// the chosen segments can be merged.
pub(crate) async fn look_closer(
    table: &TableVersion,
    snapshot: &mut IndexSnapshot,
    is_chosen: impl Fn(&SegmentSnapshot) -> bool,
) -> Result<()> {
    let Some(index) = &mut snapshot.index else { return Ok(()) };
    let IndexDefinition { name, field, .. } = &index.definition;
    let indexes = Indexes::read(table).await?;
    let chosen: BTreeSet<Uuid> =
        index.segments.iter().filter(|it| is_chosen(it)).map(|it| it.uuid).collect();
    let chosen: Vec<&IndexMetadata> =
        indexes.segments(name).iter().filter(|it| chosen.contains(&it.uuid)).collect();

    let has_any = |segment: &IndexMetadata| {
        definition::type_of(segment).is_some_and(|index_type| !index_type.parameters.is_empty())
    };
    let in_files = chosen
        .iter()
        .filter(|segment| has_any(segment) && parameters::in_manifest(segment).is_none());
    let reading: Vec<_> = in_files
        .map(async |segment| {
            let found = parameters::of_segment(table, field, segment).await?;
            Ok::<_, Error>((segment.uuid, Value::Object(found).to_string()))
        })
        .collect();
    let reading = futures::stream::iter(reading).buffered(CONCURRENT_READS);
    let found: BTreeMap<Uuid, String> = reading.try_collect().await?;
    let keeping = keep_deleted(table, &chosen).await?;

    for segment in &mut index.segments {
        if let Some(parameters) = found.get(&segment.uuid) {
            segment.kind += parameters;
        }
        if segment.merging == Merging::Exact && keeping.contains(&segment.uuid) {
            segment.merging = Merging::FromRows { why: DELETED_ROWS.to_string() };
        }
    }
    Ok(())
}

/// Those of the segments whose merge may keep rows that were deleted, and that don't show it: with
/// stable row ids, a compaction of what they cover leaves them as they are.
async fn keep_deleted(table: &TableVersion, segments: &[&IndexMetadata]) -> Result<BTreeSet<Uuid>> {
    let keeps = |segment: &&&IndexMetadata| {
        let index_type = definition::type_of(segment);
        index_type.is_some_and(|index_type| index_type.merge == Merge::KeepsDeleted)
    };
    if !table.stable_row_ids() {
        return Ok(BTreeSet::new());
    }
    let segments: Vec<_> = segments.iter().filter(keeps).collect();
    let versions = segments.iter().map(|segment| segment.dataset_version);
    let sources = lineage::sources(table, versions).await?;
    let were_there = |segment: &IndexMetadata| {
        let source = sources.get(&segment.dataset_version);
        let declared = segment.fragment_bitmap.as_ref();
        source.zip(declared).is_some_and(|(then, now)| now.is_subset(&then.fragments))
    };
    let keeping = segments.iter().filter(|segment| !were_there(segment));
    Ok(keeping.map(|segment| segment.uuid).collect())
}
