//! What a commit does to a segment that is already there.

use roaring::RoaringBitmap;

use crate::{coverage::covered_by, snapshot::SegmentSnapshot};

/// The fate of an existing segment under a commit that declares some fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// None of its fragments is live any more: removed, beside an addition.
    Retired,
    /// It shares no live fragment with the commit: kept, UUID for UUID.
    Kept,
    /// The commit declares every live fragment it covers: removed.
    Superseded,
    /// The commit declares some of its live fragments: no such commit may be made.
    Torn,
}

/// What becomes of `segment` under a commit that declares the fragments `declared`.
///
/// A segment that declares nothing (from before coverage tracking) may hold any row, so only a
/// commit that declares every live fragment supersedes it.
pub fn dispose(
    segment: &SegmentSnapshot,
    declared: &RoaringBitmap,
    live: &RoaringBitmap,
) -> Disposition {
    let its = match &segment.declared {
        Some(declared) => declared & live,
        None if live.is_subset(declared) => return Disposition::Superseded,
        None => return Disposition::Torn,
    };
    if its.is_empty() {
        Disposition::Retired
    } else if its.is_disjoint(declared) {
        Disposition::Kept
    } else if its.is_subset(declared) || covered_by(segment, live).is_subset(declared) {
        Disposition::Superseded
    } else {
        Disposition::Torn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::testing::segment;

    fn set(ids: &[u32]) -> RoaringBitmap {
        ids.iter().copied().collect()
    }

    #[test]
    fn dead_fragments_only() {
        let disposition = dispose(&segment(1, &[0, 1]), &set(&[5]), &set(&[2, 5]));
        assert_eq!(disposition, Disposition::Retired);
    }

    #[test]
    fn apart_from_the_commit() {
        let disposition = dispose(&segment(1, &[0, 1]), &set(&[5]), &set(&[0, 1, 5]));
        assert_eq!(disposition, Disposition::Kept);
    }

    #[test]
    fn within_the_commit() {
        let disposition = dispose(&segment(1, &[0, 1]), &set(&[1, 5]), &set(&[1, 5]));
        assert_eq!(disposition, Disposition::Superseded);
    }

    #[test]
    fn across_the_commit() {
        let disposition = dispose(&segment(1, &[0, 1]), &set(&[1, 5]), &set(&[0, 1, 5]));
        assert_eq!(disposition, Disposition::Torn);
    }

    #[test]
    fn a_segment_without_coverage_takes_a_full_replacement() {
        let mut untracked = segment(1, &[]);
        untracked.declared = None;
        let live = set(&[0, 1]);
        assert_eq!(dispose(&untracked, &set(&[0, 1]), &live), Disposition::Superseded);
        assert_eq!(dispose(&untracked, &set(&[1]), &live), Disposition::Torn);
    }
}
