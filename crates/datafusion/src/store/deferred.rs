//! What compactions have left that defer the remapping of indexes: Lance's fragment reuse index, by
//! which readers find the new addresses of rows.

use std::sync::Arc;

use lance::{
    Dataset,
    index::{DatasetIndexExt, frag_reuse::load_frag_reuse_index_details},
};
use lance_table::{format::IndexMetadata, system_index::frag_reuse::FRAG_REUSE_INDEX_NAME};
use roaring::{MultiOps, RoaringBitmap};

use super::{definition, indexes::is_system, types::storage::MovedRows};
use crate::error::{Error, Result};

/// The deferred compactions that a version tells of, and the segments that it lists.
#[derive(Debug)]
pub(crate) struct Deferred {
    compactions: Vec<Compaction>,
    live: RoaringBitmap,
    pub segments: Arc<Vec<IndexMetadata>>,
}

#[derive(Debug)]
struct Compaction {
    /// The version that it was committed on. Segments built from it hold the rows' old addresses.
    committed_on: u64,
    old: RoaringBitmap,
    new: RoaringBitmap,
}

impl Deferred {
    /// Reads the fragment reuse index, if there is one.
    pub(crate) async fn read(dataset: &Dataset) -> Result<Self> {
        let failed = |error| Error::failed("reading the table's list of indexes", error);
        let segments = dataset.load_indices().await.map_err(failed)?;
        let live = dataset.fragment_bitmap().as_ref().clone();
        // In its next version, Lance tells itself which types can't be read by it.
        let is_it = |it: &&IndexMetadata| it.name == FRAG_REUSE_INDEX_NAME && it.index_version == 0;
        let Some(reuse) = segments.iter().find(is_it) else {
            return Ok(Self { compactions: Vec::new(), live, segments });
        };
        let details = load_frag_reuse_index_details(dataset, reuse).await;
        let details = details
            .map_err(|error| Error::failed("reading what a deferred compaction left", error))?;
        let compactions = details.versions.iter().map(|version| {
            let old = version.groups.iter().flat_map(|group| &group.old_frags);
            let new = version.groups.iter().flat_map(|group| &group.new_frags);
            Compaction {
                committed_on: version.dataset_version,
                old: old.map(|fragment| fragment.id as u32).collect(),
                new: new.map(|fragment| fragment.id as u32).collect(),
            }
        });
        Ok(Self { compactions: compactions.collect(), live, segments })
    }

    /// Whether queries with the segment miss rows. Lance takes them for covered all the same.
    pub(crate) fn misses_rows(&self, segment: &IndexMetadata) -> bool {
        let moved_rows = || definition::storage_of(segment).moved_rows();
        match self.moved(segment) {
            Moved::No => false,
            Moved::Deferred => moved_rows() == MovedRows::Lost,
            Moved::Again => moved_rows() != MovedRows::Found,
        }
    }

    /// Whether queries with the segment miss rows, or will after a compaction that isn't deferred.
    pub(crate) fn must_be_rebuilt(&self, segment: &IndexMetadata) -> bool {
        self.moved(segment) != Moved::No
            && definition::storage_of(segment).moved_rows() != MovedRows::Found
    }

    fn moved(&self, segment: &IndexMetadata) -> Moved {
        let Some(covered) = segment.fragment_bitmap.as_ref().filter(|_| !is_system(segment)) else {
            return Moved::No;
        };
        let since =
            || self.compactions.iter().filter(|it| it.committed_on >= segment.dataset_version);
        let (old, new) = (since().map(|it| &it.old).union(), since().map(|it| &it.new).union());
        // Where readers are sent, and rows are no more. What they were put into has higher numbers,
        // and so has all that comes of that.
        let abandoned = &new - &self.live - old;
        match (abandoned.min(), covered.max()) {
            (Some(abandoned), Some(covered)) if covered > abandoned => Moved::Again,
            _ if !new.is_disjoint(covered) => Moved::Deferred,
            _ => Moved::No,
        }
    }
}

/// How compactions may have moved rows of a segment since it was built.
#[derive(PartialEq, Eq)]
enum Moved {
    No,
    /// So that readers find them.
    Deferred,
    /// By one that wasn't deferred, from where another one had sent the readers.
    Again,
}
