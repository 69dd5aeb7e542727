//! Compaction: what each task rewrites, and whether what it wrote may still be committed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use roaring::RoaringBitmap;
use uuid::Uuid;

use crate::coverage::format_ranges;

/// What a compaction consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionPlan {
    /// The table version whose fragments are rewritten.
    pub read_version: u64,
    /// The tasks, independent of each other.
    pub tasks: Vec<CompactionTask>,
}

/// One group of fragments that become one, or a few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionTask {
    /// The ordinal of the task in its statement.
    pub work_id: u32,
    /// The fragments, as they were when it was planned.
    pub fragments: BTreeMap<u32, FragmentState>,
    /// Rows that are written.
    pub rows: u64,
    /// Deleted rows that are left out.
    pub deleted_rows: u64,
}

/// Everything about a fragment that a rewrite of it depends on: where this is equal in two
/// versions, the rows are, and so is what remapping the indexes needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentState {
    /// Its data files, the fields they hold, its overlays and its deletion file.
    pub files: Arc<str>,
    /// The index segments that declare it, in order.
    pub segments: Vec<Uuid>,
}

impl CompactionTask {
    /// Whether each of its fragments is in that version what it was: if not, another writer's rows
    /// would be undone by committing it.
    pub fn holds(&self, now: &BTreeMap<u32, FragmentState>) -> bool {
        self.fragments.iter().all(|(id, state)| now.get(id) == Some(state))
    }

    /// The ids of its fragments.
    pub fn ids(&self) -> RoaringBitmap {
        self.fragments.keys().collect()
    }
}

/// Small fragments that stay beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptApart {
    /// The fragments.
    pub fragments: RoaringBitmap,
    /// The index segments that cover one neighbour and not the other.
    pub segments: BTreeSet<Uuid>,
}

/// The small fragments that would be put together with a neighbour if the same segments covered
/// both; `None` if there are none. `live` are all fragments, in order.
pub fn kept_apart(live: &[u32], small: &BTreeMap<u32, &FragmentState>) -> Option<KeptApart> {
    let (mut fragments, mut segments) = (RoaringBitmap::new(), BTreeSet::new());
    for pair in live.windows(2) {
        let [one, other] = pair else { continue };
        let (Some(first), Some(second)) = (small.get(one), small.get(other)) else { continue };
        if first.segments == second.segments {
            continue;
        }
        let first: BTreeSet<Uuid> = first.segments.iter().copied().collect();
        let second: BTreeSet<Uuid> = second.segments.iter().copied().collect();
        segments.extend(first.symmetric_difference(&second));
        fragments.extend([*one, *other]);
    }
    (!fragments.is_empty()).then_some(KeptApart { fragments, segments })
}

/// `CompactFragments unit=0 fragments=[0-3] rows=1200 deleted=7`
impl fmt::Display for CompactionTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work_id, rows, deleted_rows, .. } = self;
        let fragments = format_ranges(&self.ids());
        write!(f, "CompactFragments unit={work_id} fragments=[{fragments}] rows={rows}")?;
        if *deleted_rows > 0 {
            write!(f, " deleted={deleted_rows}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(files: &str, segments: &[u128]) -> FragmentState {
        let segments = segments.iter().map(|id| Uuid::from_u128(*id)).collect();
        FragmentState { files: files.into(), segments }
    }

    fn task() -> CompactionTask {
        CompactionTask {
            work_id: 0,
            fragments: [(1, state("a", &[7])), (2, state("b", &[7]))].into(),
            rows: 10,
            deleted_rows: 0,
        }
    }

    #[test]
    fn what_others_do_to_other_fragments_is_no_matter() {
        let mut now = task().fragments;
        now.insert(0, state("x", &[]));
        now.insert(3, state("y", &[8]));
        assert!(task().holds(&now));
    }

    #[test]
    fn a_fragment_that_changed_or_is_gone() {
        for changed in [state("a deleted", &[7]), state("a", &[]), state("a", &[7, 8])] {
            let mut now = task().fragments;
            now.insert(1, changed);
            assert!(!task().holds(&now));
        }
        let mut now = task().fragments;
        now.remove(&2);
        assert!(!task().holds(&now));
    }

    #[test]
    fn neighbours_of_different_segments() {
        let states = [state("a", &[7]), state("b", &[8]), state("c", &[8, 9]), state("d", &[])];
        let small: BTreeMap<u32, _> = (0..).zip(&states).collect();
        let apart = |live: &[u32]| {
            let apart = kept_apart(live, &small)?;
            let segments: Vec<_> = apart.segments.iter().map(Uuid::as_u128).collect();
            Some((apart.fragments.iter().collect::<Vec<_>>(), segments))
        };
        assert_eq!(apart(&[0, 1]), Some((vec![0, 1], vec![7, 8])));
        assert_eq!(apart(&[0, 1, 2, 3]), Some((vec![0, 1, 2, 3], vec![7, 8, 9])));
        assert_eq!(apart(&[1, 2]), Some((vec![1, 2], vec![9])));
        // A large one is between them.
        assert_eq!(apart(&[0, 10, 1]), None);
        assert_eq!(apart(&[1]), None);
    }

    #[test]
    fn print() {
        let printed = "CompactFragments unit=0 fragments=[1-2] rows=10";
        assert_eq!(task().to_string(), printed);
        let task = CompactionTask { deleted_rows: 3, ..task() };
        assert_eq!(task.to_string(), format!("{printed} deleted=3"));
    }
}
