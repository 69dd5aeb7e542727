//! Whether an index is still the one that a plan was made for.

use std::collections::BTreeSet;

use uuid::Uuid;

/// What one committed version did to the segments of one index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEvent {
    /// The version that the commit made.
    pub version: u64,
    /// The segments that it removed.
    pub removed: Vec<Uuid>,
    /// The segments that it added.
    pub added: Vec<Uuid>,
    /// Segments that it moved to a new UUID, old and new: compaction does that, to segments of any
    /// index.
    pub moved: Vec<(Uuid, Uuid)>,
    /// It replaced the whole table (an overwrite or a restore), indexes included.
    pub cleared: bool,
}

/// Whether the chain of segments from those of the plan to today's is unbroken: no commit in
/// between left the index without any segment.
///
/// A drop does that, and an index which is created later under the same name is another one, even
/// with the same type on the same column. Maintenance by others, which removes segments only
/// beside new ones, doesn't.
///
/// `events` is `None` where the commits in between can't all be read; `now` are today's segments.
pub fn is_same_index(planned: &[Uuid], events: Option<&[IndexEvent]>, now: &[Uuid]) -> bool {
    let Some(events) = events else {
        // Without history, a segment of the plan that is still there vouches for it.
        return now.iter().any(|uuid| planned.contains(uuid));
    };
    let mut segments: BTreeSet<Uuid> = planned.iter().copied().collect();
    events.iter().all(|event| {
        // One that isn't built has no segment to lose.
        let was_built = !segments.is_empty();
        segments.retain(|uuid| !event.cleared && !event.removed.contains(uuid));
        for (from, to) in &event.moved {
            if segments.remove(from) {
                segments.insert(*to);
            }
        }
        segments.extend(&event.added);
        !was_built || !segments.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuids(ids: &[u128]) -> Vec<Uuid> {
        ids.iter().copied().map(Uuid::from_u128).collect()
    }

    fn event(removed: &[u128], added: &[u128]) -> IndexEvent {
        IndexEvent {
            version: 0,
            removed: uuids(removed),
            added: uuids(added),
            moved: vec![],
            cleared: false,
        }
    }

    fn same(planned: &[u128], events: &[IndexEvent]) -> bool {
        is_same_index(&uuids(planned), Some(events), &[])
    }

    #[test]
    fn without_history_a_segment_that_is_still_there_tells() {
        assert!(is_same_index(&uuids(&[1, 2]), None, &uuids(&[2, 3])));
        assert!(!is_same_index(&uuids(&[1, 2]), None, &uuids(&[3])));
    }

    #[test]
    fn maintenance_keeps_the_index() {
        assert!(same(&[1], &[]));
        let events = [event(&[], &[2]), event(&[1, 2], &[3])];
        assert!(same(&[1], &events));
        let mut compacted = event(&[], &[]);
        compacted.moved = vec![(Uuid::from_u128(1), Uuid::from_u128(4))];
        let mut events = vec![compacted, event(&[4], &[])];
        assert!(!same(&[1], &events));
        // Another index's segments don't keep this one.
        events[0].moved.push((Uuid::from_u128(8), Uuid::from_u128(9)));
        assert!(!same(&[1], &events));
    }

    /// An index that isn't built is known by its record; only what is built can be dropped.
    #[test]
    fn without_segments_there_is_nothing_to_lose() {
        assert!(same(&[], &[event(&[], &[]), IndexEvent { cleared: true, ..event(&[], &[]) }]));
        assert!(same(&[], &[event(&[], &[1]), event(&[1], &[2])]));
        assert!(!same(&[], &[event(&[], &[1]), event(&[1], &[])]));
    }

    #[test]
    fn a_drop_ends_it_whatever_comes_later() {
        let events = [event(&[1, 2], &[]), event(&[], &[3])];
        assert!(!same(&[1, 2], &events));
        let overwritten = IndexEvent { cleared: true, ..event(&[], &[]) };
        assert!(!same(&[1], &[overwritten]));
    }
}
