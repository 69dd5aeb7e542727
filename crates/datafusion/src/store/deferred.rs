//! What a compaction has left that defers the remapping of indexes: Lance's fragment reuse index, by
//! which readers find the new addresses of rows.

use lance::{Dataset, index::frag_reuse::load_frag_reuse_index_details};
use lance_table::{format::IndexMetadata, system_index::frag_reuse::FRAG_REUSE_INDEX_NAME};
use roaring::{MultiOps, RoaringBitmap};

use super::{definition, indexes::is_system, types::storage::MovedRows};
use crate::error::{Error, Result};

/// The compactions, in no order.
#[derive(Debug, Default)]
pub(crate) struct Deferred(Vec<Compaction>);

#[derive(Debug)]
struct Compaction {
    /// The version that it read.
    read_version: u64,
    made: RoaringBitmap,
}

impl Deferred {
    /// Those that the indexes of the dataset tell of; reads at most one file.
    pub(crate) async fn read(dataset: &Dataset, indexes: &[IndexMetadata]) -> Result<Self> {
        // In its next version, Lance tells itself which types can't be read by it.
        let is_it = |it: &&IndexMetadata| it.name == FRAG_REUSE_INDEX_NAME && it.index_version == 0;
        let Some(reuse) = indexes.iter().find(is_it) else { return Ok(Self::default()) };
        let details = load_frag_reuse_index_details(dataset, reuse).await;
        let details = details
            .map_err(|error| Error::failed("reading what a deferred compaction left", error))?;
        let compactions = details.versions.iter().map(|version| {
            let groups = version.groups.iter();
            let made = groups.flat_map(|group| &group.new_frags).map(|fragment| fragment.id as u32);
            Compaction { read_version: version.dataset_version, made: made.collect() }
        });
        Ok(Self(compactions.collect()))
    }

    /// The name of an index with which queries miss rows. Lance takes them for covered all the same.
    pub(crate) fn losing<'a>(
        &self,
        mut segments: impl Iterator<Item = &'a IndexMetadata>,
    ) -> Option<&'a str> {
        let losing = segments.find(|segment| {
            let moved_rows = || definition::storage_of(segment).moved_rows();
            match self.moved(segment) {
                Moved::No => false,
                Moved::Once => moved_rows() == MovedRows::Lost,
                Moved::Again => moved_rows() != MovedRows::Found,
            }
        });
        Some(losing?.name.as_str())
    }

    /// Whether queries miss rows of the segment, or will after another compaction of any kind.
    pub(crate) fn will_lose_rows(&self, segment: &IndexMetadata) -> bool {
        self.moved(segment) != Moved::No
            && definition::storage_of(segment).moved_rows() != MovedRows::Found
    }

    fn moved(&self, segment: &IndexMetadata) -> Moved {
        let Some(covered) = segment.fragment_bitmap.as_ref().filter(|_| !is_system(segment)) else {
            return Moved::No;
        };
        let since = self.0.iter().filter(|it| it.read_version >= segment.dataset_version);
        let made = since.map(|compaction| &compaction.made).union();
        match (made.max(), covered.max()) {
            // It can't have been built over fragments that are younger still.
            (Some(made), Some(covered)) if covered > made => Moved::Again,
            _ if !made.is_disjoint(covered) => Moved::Once,
            _ => Moved::No,
        }
    }
}

/// Whether compactions have moved rows of a segment since it was built.
#[derive(PartialEq, Eq)]
enum Moved {
    No,
    /// One that left it to readers to find them.
    Once,
    /// And another one after it.
    Again,
}
