//! Which segments of an index Lance merges with which.

use std::collections::BTreeMap;

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

use super::{definition, indexes::Indexes, version::TableVersion};
use crate::{
    error::{Error, Result},
    index_type::DeletedRows,
};

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
        let why = match definition::type_of(segment).map(|index_type| index_type.deleted_rows) {
            Some(DeletedRows::Refused | DeletedRows::Counted) if gone() => {
                "it covers fragments that are gone"
            }
            Some(DeletedRows::Counted) if declared.iter().any(deleted_since) => {
                "it counts deleted rows in its scores"
            }
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
    let parameters = definition::parameters_in_manifest(segment).unwrap_or_default();
    // Posting lists of two formats can stand beside each other, but not be merged.
    let postings = definition::posting_format(segment);
    format!("{format} {version} {parameters} {postings:?}")
}

/// Adds to the kinds of the chosen segments the build parameters that only their files have.
pub(crate) async fn add_parameters(
    table: &TableVersion,
    snapshot: &mut IndexSnapshot,
    is_chosen: impl Fn(&SegmentSnapshot) -> bool,
) -> Result<()> {
    let Some(index) = &mut snapshot.index else { return Ok(()) };
    let IndexDefinition { name, field, .. } = &index.definition;
    let indexes = Indexes::read(table).await?;
    for metadata in indexes.segments(name) {
        let segment = index.segments.iter_mut().find(|it| it.uuid == metadata.uuid);
        let has_any = definition::type_of(metadata).is_some_and(|it| !it.parameters.is_empty());
        let in_files = has_any && definition::parameters_in_manifest(metadata).is_none();
        if let Some(segment) = segment.filter(|segment| in_files && is_chosen(segment)) {
            let parameters = definition::parameters_of(table, field, metadata).await?;
            segment.kind += &Value::Object(parameters).to_string();
        }
    }
    Ok(())
}
