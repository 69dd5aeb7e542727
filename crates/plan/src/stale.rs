//! Which segments hold postings that new coverage would turn into wrong rows.
//!
//! A query over an index with several segments takes the union of their hits: a segment is not
//! masked to its own fragments. So a segment may hold postings of rows that have moved or
//! changed since, and they stay hidden only for as long as the place where the row is now is
//! unindexed. Before a commit covers such a place, the segment has to be superseded.
//!
//! Both rules below go by what the manifests say; what they can't tell counts as stale.

use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::{
    coverage::covered_by,
    snapshot::{FragmentSnapshot, IndexSnapshot, RowOrigins, SegmentSnapshot},
};

/// Whether `segment` may hold an untrue posting for a row that is now in `fragment`, which it
/// doesn't cover: a row that the segment indexed elsewhere, and that was changed since.
///
/// An update of a table with stable row ids moves a row to a new fragment under its old row id.
/// A fragment that was there when the segment was built has had no row moved into it since. In a
/// younger one, a row id below the next new one of that time gives the row away, whatever became
/// of it on the way: a deletion file on a covered fragment is no test (an update of a whole
/// fragment, or one that compaction followed, leaves none; a plain DELETE leaves one), and the
/// versions that a fragment records for its rows miss some rewrites that compaction followed.
///
/// Those versions are consulted too, since a segment may have been merged from younger sources
/// than `built_at`, and alone where the version it was built from is gone. A merged segment
/// covers rows that were made after `built_at`, so the largest row id it covers counts as well.
fn moved_into(
    fragment: &FragmentSnapshot,
    segment: &SegmentSnapshot,
    largest_covered: Option<u64>,
) -> bool {
    if let Some(source) = &segment.source
        && source.fragments.contains(fragment.id)
    {
        return false;
    }
    fragment.rows.is_none_or(|rows| are_moved(rows, segment, largest_covered))
}

/// The same of rows of these origins, in fragments that are younger than the segment.
fn are_moved(rows: RowOrigins, segment: &SegmentSnapshot, largest_covered: Option<u64>) -> bool {
    if rows.newest_changed > segment.built_at {
        return true;
    }
    match (&segment.source, rows.row_ids) {
        (Some(source), Some((smallest, _))) => {
            smallest < source.next_row_id
                || largest_covered.is_some_and(|largest| smallest <= largest)
        }
        _ => rows.oldest_created <= segment.built_at,
    }
}

/// Fragments that are to be covered, and what is known of their rows in all.
#[derive(Debug, Clone)]
pub struct Added {
    fragments: RoaringBitmap,
    /// The bounds of the origins of all of them; `None` where anything is unknown.
    rows: Option<RowOrigins>,
}

impl Added {
    /// These fragments of the snapshot.
    pub fn new(fragments: &RoaringBitmap, snapshot: &IndexSnapshot) -> Self {
        let none = RowOrigins {
            row_ids: Some((u64::MAX, 0)),
            oldest_created: u64::MAX,
            newest_changed: 0,
        };
        let rows = fragments.iter().filter_map(|id| snapshot.fragment(id)).try_fold(
            none,
            |all, fragment| {
                let rows = fragment.rows?;
                let ((smallest, largest), (other_smallest, other_largest)) =
                    (all.row_ids?, rows.row_ids?);
                Some(RowOrigins {
                    row_ids: Some((smallest.min(other_smallest), largest.max(other_largest))),
                    oldest_created: all.oldest_created.min(rows.oldest_created),
                    newest_changed: all.newest_changed.max(rows.newest_changed),
                })
            },
        );
        Self { fragments: fragments.clone(), rows }
    }

    /// Whether no row of any of them can have been moved there since the segment was built.
    fn is_new_to(&self, segment: &SegmentSnapshot, largest_covered: Option<u64>) -> bool {
        self.rows.is_some_and(|rows| !are_moved(rows, segment, largest_covered))
    }
}

/// The fragments among `added` for which `segment` may hold postings that are no longer true:
/// rows were moved into them, or the indexed column was rewritten in them. `live` are those of the
/// snapshot.
///
/// Takes O(fragments of the segment), and O(`added`) more only if a look at all of `added` doesn't
/// clear the segment; next to nothing for a type whose postings don't follow rows.
pub fn stale_for(
    segment: &SegmentSnapshot,
    added: &Added,
    snapshot: &IndexSnapshot,
    live: &RoaringBitmap,
) -> RoaringBitmap {
    if segment.rewritten.is_empty() && !segment.follows_rows {
        return RoaringBitmap::new();
    }
    let own = covered_by(segment, live);
    let mut stale = (&segment.rewritten & &added.fragments) - &own;
    if !segment.follows_rows {
        return stale;
    }
    let known = |id| snapshot.fragment(id);
    let largest_covered = own
        .iter()
        .filter_map(known)
        .filter_map(|fragment| fragment.rows?.row_ids.map(|(_, largest)| largest))
        .max();
    if !added.is_new_to(segment, largest_covered) {
        let fragments = &added.fragments - &own;
        let fragments = fragments.iter().filter_map(known);
        let fragments = fragments.filter(|it| moved_into(it, segment, largest_covered));
        stale.extend(fragments.map(|fragment| fragment.id));
    }
    stale
}

/// What is known of a fragment that a segment doesn't cover, as to whether the segment may hold
/// postings of values that an in-place rewrite of the indexed column has replaced since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentPast {
    /// The files that hold the column's values: now, or, of a fragment that compaction has
    /// replaced, at the time.
    pub files: Arc<str>,
    /// Where the fragment comes from.
    pub origin: Origin,
}

/// Where a fragment comes from, as a segment sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It was there in the version that the segment was built from, with its values in these files.
    Known(Arc<str>),
    /// It was made with its values in these files.
    Made {
        /// The files it was made with.
        files: Arc<str>,
        /// The fragments that compaction made it from after the segment was built. Compaction
        /// rewrites the addresses in whole segments, untrue postings included.
        from: Vec<FragmentPast>,
    },
    /// The versions and commits that would tell are gone.
    Unknown,
}

impl FragmentPast {
    /// Whether the segment may hold postings of values that the fragment no longer has: its files
    /// aren't those that the segment saw or that it was made with, or that is so of a fragment it
    /// was compacted from, or nothing tells.
    ///
    /// A fragment that looks untouched, in one data file and younger than all that the segment
    /// declares, proves nothing: the output of compaction looks so, and so does a fragment all of
    /// whose columns were rewritten.
    pub fn may_be_rewritten(&self) -> bool {
        self.is_rewritten_if(true)
    }

    /// Whether it is known that the segment holds such postings.
    pub fn is_known_rewritten(&self) -> bool {
        self.is_rewritten_if(false)
    }

    fn is_rewritten_if(&self, unknown: bool) -> bool {
        match &self.origin {
            Origin::Known(then) => *then != self.files,
            Origin::Made { files, from } => {
                *files != self.files || from.iter().any(|old| old.is_rewritten_if(unknown))
            }
            Origin::Unknown => unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{
        SourceVersion,
        testing::{fragment, segment, snapshot},
    };

    fn set(ids: &[u32]) -> RoaringBitmap {
        ids.iter().copied().collect()
    }

    fn stale(segment: &SegmentSnapshot, added: &[u32], table: &IndexSnapshot) -> RoaringBitmap {
        stale_for(segment, &Added::new(&set(added), table), table, &table.live())
    }

    fn bitmap(built_at: u64, declared: &[u32]) -> SegmentSnapshot {
        SegmentSnapshot { follows_rows: true, built_at, ..segment(1, declared) }
    }

    /// A fragment whose rows have these ids, created and last changed in these versions.
    fn with_rows(id: u32, row_ids: (u64, u64), created: u64, changed: u64) -> FragmentSnapshot {
        let rows = crate::snapshot::RowOrigins {
            row_ids: Some(row_ids),
            oldest_created: created,
            newest_changed: changed,
        };
        FragmentSnapshot { rows: Some(rows), ..fragment(id, 10) }
    }

    fn source(next_row_id: u64, fragments: &[u32]) -> Option<std::sync::Arc<SourceVersion>> {
        Some(std::sync::Arc::new(SourceVersion { next_row_id, fragments: set(fragments) }))
    }

    #[test]
    fn an_old_row_in_a_new_fragment_is_stale() {
        // Rows 0..10 were in fragment 0; some are in fragment 1 now. Compaction has hidden that.
        let table = snapshot(vec![with_rows(0, (0, 9), 1, 0), with_rows(1, (3, 5), 9, 0)], vec![]);
        let built = SegmentSnapshot { source: source(10, &[0]), ..bitmap(2, &[0]) };
        assert_eq!(stale(&built, &[1], &table), set(&[1]));
        // A type whose postings are addresses points at the old copy, which is deleted.
        assert_eq!(stale(&segment(1, &[0]), &[1], &table), set(&[]));
        // Fragment 1 was there already when the segment was built.
        let later = SegmentSnapshot { source: source(10, &[0, 1]), ..bitmap(2, &[0]) };
        assert_eq!(stale(&later, &[1], &table), set(&[]));
    }

    #[test]
    fn appended_rows_are_never_stale() {
        let table =
            snapshot(vec![with_rows(0, (0, 9), 1, 0), with_rows(1, (10, 19), 3, 0)], vec![]);
        let built = SegmentSnapshot { source: source(10, &[0]), ..bitmap(2, &[0]) };
        assert_eq!(stale(&built, &[1], &table), set(&[]));
        // Nor is it when cleanup has removed the version that the segment was built from.
        assert_eq!(stale(&bitmap(2, &[0]), &[1], &table), set(&[]));
    }

    #[test]
    fn without_the_version_it_was_built_from_lineage_tells() {
        let moved = snapshot(vec![with_rows(0, (0, 9), 1, 0), with_rows(1, (3, 5), 1, 4)], vec![]);
        assert_eq!(stale(&bitmap(3, &[0]), &[1], &moved), set(&[1]));
        let unknown = snapshot(vec![fragment(0, 10), fragment(1, 10)], vec![]);
        assert_eq!(stale(&bitmap(3, &[0]), &[1], &unknown), set(&[1]));
    }

    #[test]
    fn a_merged_segment_has_rows_that_are_younger_than_its_oldest_source() {
        // Merged from version 2 (rows 0..10) and version 4 (rows 10..20); row 12 moved since.
        let table = snapshot(
            vec![
                with_rows(0, (0, 9), 1, 0),
                with_rows(1, (10, 19), 3, 0),
                with_rows(2, (12, 12), 3, 5),
            ],
            vec![],
        );
        let merged = SegmentSnapshot { source: source(10, &[0]), ..bitmap(2, &[0, 1]) };
        assert_eq!(stale(&merged, &[2], &table), set(&[2]));
        // Even if its lineage doesn't say that it moved.
        let mut silent = table.clone();
        silent.fragments[2] = with_rows(2, (12, 12), 3, 0);
        assert_eq!(stale(&merged, &[2], &silent), set(&[2]));
    }

    #[test]
    fn its_own_fragments_are_never_stale() {
        let table = snapshot(vec![with_rows(0, (0, 9), 1, 9)], vec![]);
        assert_eq!(stale(&bitmap(3, &[0]), &[0], &table), set(&[]));
    }

    #[test]
    fn a_rewritten_fragment_is_stale_for_any_type() {
        let mut rewritten = segment(1, &[0, 1]);
        rewritten.rewritten = set(&[1]);
        let table = snapshot(vec![fragment(0, 10), fragment(1, 10)], vec![]);
        assert_eq!(stale(&rewritten, &[1], &table), set(&[1]));
    }

    #[test]
    fn signs_of_a_rewrite() {
        let past = |files: &str, origin| FragmentPast { files: files.into(), origin };
        assert!(!past("a", Origin::Known("a".into())).may_be_rewritten());
        assert!(past("b", Origin::Known("a".into())).may_be_rewritten());
        assert!(past("a", Origin::Unknown).may_be_rewritten());
        assert!(!past("a", Origin::Unknown).is_known_rewritten());
        assert!(past("b", Origin::Known("a".into())).is_known_rewritten());
        let made = |files: &str, from| Origin::Made { files: files.into(), from };
        assert!(!past("a", made("a", vec![])).may_be_rewritten());
        assert!(past("b", made("a", vec![])).may_be_rewritten());
        // Compacted from one that was as the segment had seen it, and one that wasn't.
        let seen = past("x", Origin::Known("x".into()));
        let rewritten = past("y", Origin::Known("x".into()));
        assert!(!past("a", made("a", vec![seen.clone()])).may_be_rewritten());
        assert!(past("a", made("a", vec![seen, rewritten])).may_be_rewritten());
    }
}
