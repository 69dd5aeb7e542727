//! The sets of fragments that maintenance is about, each by its name.
//!
//! | set | is |
//! |---|---|
//! | live | the fragments in the manifest |
//! | covered | the union of the segments' declared fragments, intersected with live |
//! | unindexed | live without covered: the work |
//! | declared | what a segment's manifest entry claims, dead fragments included |
//! | established | what a commit made of it, read back, intersected with live |

use std::fmt::Write;

use roaring::RoaringBitmap;

use crate::snapshot::{IndexSnapshot, SegmentSnapshot};

/// The live fragments that the segment answers for: declared, live, and not rewritten in place
/// since. Empty for a segment that declares nothing.
pub fn covered_by(segment: &SegmentSnapshot, live: &RoaringBitmap) -> RoaringBitmap {
    let declared = segment.declared.as_ref().map(|declared| declared & live);
    declared.unwrap_or_default() - &segment.rewritten
}

/// The live fragments that at least one segment answers for.
pub fn covered(snapshot: &IndexSnapshot) -> RoaringBitmap {
    let live = snapshot.live();
    let segments = snapshot.segments().iter();
    segments.fold(RoaringBitmap::new(), |all, segment| all | covered_by(segment, &live))
}

/// The live fragments that no segment answers for.
pub fn unindexed(snapshot: &IndexSnapshot) -> RoaringBitmap {
    snapshot.live() - covered(snapshot)
}

/// Fragment ids as ranges: `0-3,7`. The empty set prints as nothing.
pub fn format_ranges(fragments: &RoaringBitmap) -> String {
    let mut out = String::new();
    let mut ids = fragments.iter().peekable();
    while let Some(first) = ids.next() {
        let mut last = first;
        while let Some(next) = ids.next_if(|next| last.checked_add(1) == Some(*next)) {
            last = next;
        }
        let comma = if out.is_empty() { "" } else { "," };
        // Writing to a String can't fail.
        let _ = if first == last {
            write!(out, "{comma}{first}")
        } else {
            write!(out, "{comma}{first}-{last}")
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let print = |ids: &[u32]| format_ranges(&ids.iter().copied().collect());
        assert_eq!(print(&[]), "");
        assert_eq!(print(&[5]), "5");
        assert_eq!(print(&[0, 1, 2, 3, 7]), "0-3,7");
        assert_eq!(print(&[0, 2, 3, u32::MAX - 1, u32::MAX]), "0,2-3,4294967294-4294967295");
    }
}
