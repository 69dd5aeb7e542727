//! What planning may know: one version of a table, and one of its indexes.

use std::sync::Arc;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::tiers::Ineligible;

/// One version of a table as the maintenance of one index sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSnapshot {
    /// The table version.
    pub version: u64,
    /// The live fragments, ascending by id.
    pub fragments: Vec<FragmentSnapshot>,
    /// The index, or `None` where the table has none of that name.
    pub index: Option<Index>,
    /// The field that the statement is about, as this version's schema has it; `None` where it
    /// is gone.
    pub field: Option<IndexedField>,
}

/// One live fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentSnapshot {
    /// The fragment id.
    pub id: u32,
    /// Rows that are not deleted.
    pub live_rows: u64,
    /// The data files (and overlays) that hold the indexed field's values: two snapshots with
    /// equal files hold equal values. Empty where the indexed field is not known yet.
    pub field_files: Arc<str>,
    /// Where its rows come from; `None` where that is of no interest.
    pub rows: Option<RowOrigins>,
}

/// Where the rows of a fragment come from, in a table with stable row ids: an update moves a row
/// to a new fragment under its old row id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowOrigins {
    /// The smallest and the largest row id, `None` if they can't be read.
    pub row_ids: Option<(u64, u64)>,
    /// The oldest version in which a row of the fragment was created; 0 if that isn't recorded.
    pub oldest_created: u64,
    /// The newest version in which a row of the fragment was changed after it had been created;
    /// 0 if there is none.
    pub newest_changed: u64,
}

/// What was there in a version that a segment was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceVersion {
    /// The row id that the next new row was to get.
    pub next_row_id: u64,
    /// The live fragments.
    pub fragments: RoaringBitmap,
}

/// The field an index is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedField {
    /// The field id in the Lance schema.
    pub id: i32,
    /// The path from the top-level column to the field, as Lance writes it: names joined by
    /// `.`, a name that needs it in back-ticks.
    pub path: String,
    /// The same path as SQL writes it.
    pub column: String,
    /// The Arrow data type, printed.
    pub data_type: String,
}

/// What an index is, apart from its segments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDefinition {
    /// The index name.
    pub name: String,
    /// The indexed field.
    pub field: IndexedField,
    /// The name of the index type, such as `btree`.
    pub index_type: String,
    /// The build parameters, as JSON.
    pub parameters: String,
    /// The on-disk format of a segment that is built now: two segments may stand beside each
    /// other only with equal formats.
    pub format: String,
    /// The id of the index's record, where it has one: what has another is another index.
    pub record: Option<Uuid>,
}

/// An index and its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// What the index is; the parameters are those of its newest segment.
    pub definition: IndexDefinition,
    /// The segments in manifest order.
    pub segments: Vec<SegmentSnapshot>,
}

/// One segment of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentSnapshot {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// The fragments that the manifest says it covers, dead ones included. `None` for a segment
    /// from before Lance tracked coverage.
    pub declared: Option<RoaringBitmap>,
    /// The on-disk format; see [`IndexDefinition::format`].
    pub format: String,
    /// Only segments of equal kind are merged: format, index version and build parameters, as far
    /// as they are known.
    pub kind: String,
    /// Whether it can be merged with others.
    pub merging: Merging,
    /// The oldest table version that any of its postings were read from.
    pub built_at: u64,
    /// The size of its files in bytes, `None` if any of them is unknown.
    pub bytes: Option<u64>,
    /// Its postings name rows by stable row id, and are trusted without a look at the data: such
    /// a posting follows its row wherever an update moves it.
    pub follows_rows: bool,
    /// What was there at `built_at`; `None` if cleanup has removed that version, or if that is of
    /// no interest.
    pub source: Option<Arc<SourceVersion>>,
    /// Live fragments for which its postings may have been made from values that an in-place
    /// rewrite of the indexed column has replaced since.
    pub rewritten: RoaringBitmap,
}

/// Whether a segment can be merged with others of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merging {
    /// Lance merges its postings.
    Exact,
    /// Lance doesn't: to merge it, its rows are indexed anew.
    FromRows {
        /// Why.
        why: String,
    },
    /// It stays alone.
    Never(Ineligible),
}

impl IndexedField {
    /// Whether it is the same field, with values of the same type; it may have been renamed.
    pub fn is_same(&self, other: &Self) -> bool {
        self.id == other.id && self.data_type == other.data_type
    }
}

impl SegmentSnapshot {
    /// Whether none of the fragments that it declares is live any more. One that declares nothing
    /// may hold any row, and isn't retired.
    pub fn is_retired(&self, live: &RoaringBitmap) -> bool {
        self.declared.as_ref().is_some_and(|declared| declared.is_disjoint(live))
    }
}

impl IndexSnapshot {
    /// The ids of the live fragments.
    pub fn live(&self) -> RoaringBitmap {
        self.fragments.iter().map(|fragment| fragment.id).collect()
    }

    /// The live fragment of that id.
    pub fn fragment(&self, id: u32) -> Option<&FragmentSnapshot> {
        let at = self.fragments.binary_search_by_key(&id, |fragment| fragment.id).ok()?;
        self.fragments.get(at)
    }

    /// The live rows of the given fragments; dead ones count nothing.
    pub fn rows(&self, fragments: &RoaringBitmap) -> u64 {
        self.fragments
            .iter()
            .filter(|fragment| fragments.contains(fragment.id))
            .map(|fragment| fragment.live_rows)
            .sum()
    }

    /// The segments of the index, none where there is no index.
    pub fn segments(&self) -> &[SegmentSnapshot] {
        self.index.as_ref().map_or(&[], |index| &index.segments)
    }
}

/// Small snapshots for this crate's tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    pub(crate) fn fragment(id: u32, live_rows: u64) -> FragmentSnapshot {
        FragmentSnapshot { id, live_rows, field_files: format!("{id}.lance").into(), rows: None }
    }

    /// A fragment of new rows, one of which was changed in that version; 0 for none.
    pub(crate) fn changed(id: u32, newest_changed: u64) -> FragmentSnapshot {
        let rows = RowOrigins { row_ids: None, oldest_created: u64::MAX, newest_changed };
        FragmentSnapshot { rows: Some(rows), ..fragment(id, 10) }
    }

    pub(crate) fn segment(uuid: u128, declared: &[u32]) -> SegmentSnapshot {
        SegmentSnapshot {
            uuid: Uuid::from_u128(uuid),
            declared: Some(declared.iter().copied().collect()),
            format: "btree".to_string(),
            kind: "btree".to_string(),
            merging: Merging::Exact,
            built_at: 1,
            bytes: Some(100),
            follows_rows: false,
            source: None,
            rewritten: RoaringBitmap::new(),
        }
    }

    pub(crate) fn field() -> IndexedField {
        IndexedField {
            id: 0,
            path: "x".to_string(),
            column: "x".to_string(),
            data_type: "Int64".to_string(),
        }
    }

    pub(crate) fn definition() -> IndexDefinition {
        IndexDefinition {
            name: "i".to_string(),
            field: field(),
            index_type: "btree".to_string(),
            parameters: "{}".to_string(),
            format: "btree".to_string(),
            record: None,
        }
    }

    pub(crate) fn snapshot(
        fragments: Vec<FragmentSnapshot>,
        segments: Vec<SegmentSnapshot>,
    ) -> IndexSnapshot {
        IndexSnapshot {
            version: 10,
            fragments,
            index: Some(Index { definition: definition(), segments }),
            field: Some(field()),
        }
    }
}
