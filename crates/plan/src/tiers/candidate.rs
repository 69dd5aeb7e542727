//! What the choice of merges has to know of a segment.

use std::fmt;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    coverage::{covered_by, format_ranges},
    snapshot::{FragmentSnapshot, IndexSnapshot, Merging, SegmentSnapshot},
};

/// A segment that may be merged with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// The live fragments that it covers.
    pub fragments: RoaringBitmap,
    /// Live rows of these fragments.
    pub rows: u64,
    /// The size of its files in bytes, `None` if unknown.
    pub bytes: Option<u64>,
    /// Only segments of equal kind can be merged: index type, index version and parameters.
    pub kind: String,
    /// Why it can't be merged at all, if so.
    pub ineligible: Option<Ineligible>,
}

/// Why a segment is merged with no other, whatever its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ineligible {
    /// It may hold postings that are no longer true for rows in these fragments; a merge would
    /// carry them on.
    Stale {
        /// The fragments.
        fragments: RoaringBitmap,
    },
    /// It doesn't say which fragments it covers.
    Untracked,
    /// None of the fragments that it covers is live any more.
    Retired,
    /// Its files are in another base path than the table's own.
    OtherBase,
    /// It covers fragments with data overlays, which are told from older values by the age of the
    /// segment.
    Overlaid {
        /// The fragments.
        fragments: RoaringBitmap,
    },
    /// Lance can't merge segments such as this one.
    Unsupported {
        /// Why not.
        why: String,
    },
}

impl fmt::Display for Ineligible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { fragments } => write!(
                f,
                "stale: may hold earlier values of rows in fragments [{}]",
                format_ranges(fragments)
            ),
            Self::Untracked => write!(f, "it doesn't say which fragments it covers"),
            Self::Retired => write!(f, "none of its fragments is live"),
            Self::OtherBase => write!(f, "its files are in another base path"),
            Self::Overlaid { fragments } => {
                write!(f, "its fragments [{}] have data overlays", format_ranges(fragments))
            }
            Self::Unsupported { why } => write!(f, "it can't be merged: {why}"),
        }
    }
}

impl Candidate {
    /// The segments of the snapshot's index, in manifest order.
    ///
    /// What depends on the rest of the statement (rows that an update moved into fragments which it
    /// is to cover) is for the caller to add.
    ///
    /// Takes O(declared fragments x log(live fragments)).
    pub fn of(snapshot: &IndexSnapshot) -> Vec<Self> {
        let live = snapshot.live();
        let ineligible = |segment: &SegmentSnapshot| {
            if segment.declared.is_none() {
                Some(Ineligible::Untracked)
            } else if segment.is_retired(&live) {
                Some(Ineligible::Retired)
            } else if !segment.rewritten.is_empty() {
                Some(Ineligible::Stale { fragments: segment.rewritten.clone() })
            } else if let Merging::Never(why) = &segment.merging {
                Some(why.clone())
            } else {
                None
            }
        };
        let candidate = |segment: &SegmentSnapshot| {
            let fragments = covered_by(segment, &live);
            Self {
                uuid: segment.uuid,
                rows: rows_of(&snapshot.fragments, &fragments),
                fragments,
                bytes: segment.bytes,
                kind: segment.kind.clone(),
                ineligible: ineligible(segment),
            }
        };
        snapshot.segments().iter().map(candidate).collect()
    }
}

/// The live rows of some of the fragments, which are in order of their ids. Segments mostly cover
/// neighbours, so the next place is tried before a search.
fn rows_of(all: &[FragmentSnapshot], ids: &RoaringBitmap) -> u64 {
    let (mut rows, mut rest) = (0u64, all);
    for id in ids {
        if rest.first().is_none_or(|fragment| fragment.id != id) {
            rest = &rest[rest.partition_point(|fragment| fragment.id < id)..];
        }
        if let Some((fragment, behind)) = rest.split_first().filter(|(it, _)| it.id == id) {
            rows = rows.saturating_add(fragment.live_rows);
            rest = behind;
        }
    }
    rows
}

/// Small candidates for this crate's tests.
#[cfg(test)]
pub(super) mod testing {
    use std::ops::Range;

    use super::*;

    pub(in super::super) fn candidate(uuid: u128, fragments: Range<u32>, rows: u64) -> Candidate {
        Candidate {
            uuid: Uuid::from_u128(uuid),
            fragments: fragments.collect(),
            rows,
            bytes: None,
            kind: "btree".to_string(),
            ineligible: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::testing::{fragment, segment, snapshot};

    #[test]
    fn from_a_snapshot() {
        let mut untracked = segment(1, &[]);
        untracked.declared = None;
        let mut stale = segment(2, &[1, 2]);
        stale.rewritten = RoaringBitmap::from([2]);
        let segments = vec![untracked, stale, segment(3, &[8, 9]), segment(4, &[3, 4, 9])];
        let table = snapshot((0..5).map(|id| fragment(id, 10)).collect(), segments);
        let found = Candidate::of(&table);
        let stale = Ineligible::Stale { fragments: RoaringBitmap::from([2]) };
        let reasons = [Some(Ineligible::Untracked), Some(stale), Some(Ineligible::Retired), None];
        assert_eq!(found.iter().map(|it| it.ineligible.clone()).collect::<Vec<_>>(), reasons);
        let expected = Candidate {
            fragments: RoaringBitmap::from([3, 4]),
            bytes: Some(100),
            ..testing::candidate(4, 3..5, 20)
        };
        assert_eq!(found[3], expected);
    }

    #[test]
    fn reasons_print() {
        let stale = Ineligible::Stale { fragments: RoaringBitmap::from([1, 2]) };
        let text = "stale: may hold earlier values of rows in fragments [1-2]";
        assert_eq!(stale.to_string(), text);
        let unsupported = Ineligible::Unsupported { why: "rtree".to_string() };
        assert_eq!(unsupported.to_string(), "it can't be merged: rtree");
    }
}
