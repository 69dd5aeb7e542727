//! What the history since an index was recorded says of it.

use uuid::Uuid;

use crate::history::IndexEvent;

/// Why an index that is recorded has no segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// It was never built, or its table was overwritten.
    Unbuilt,
    /// Another client, which knows nothing of the record, dropped it.
    Dropped,
    /// The history can't be read.
    Unknown,
}

/// Reads the history of an index that has no segment backwards, until it tells why.
#[derive(Debug, Default)]
pub struct AbsenceReader {
    cleared: bool,
}

impl AbsenceReader {
    /// Looks at the commit before those that were looked at; `None` if it can't be read. `ours` is one
    /// of a statement that knows of the record. Answers once it is clear.
    pub fn read(&mut self, event: Option<&IndexEvent>, ours: bool) -> Option<Absence> {
        let Some(event) = event else { return Some(Absence::Unknown) };
        if event.cleared {
            self.cleared = true;
            return None;
        }
        match (event.added.is_empty(), event.removed.is_empty()) {
            // Whatever took these away later was no drop.
            (false, _) if ours => Some(Absence::Unbuilt),
            // Unless the index was dropped before, they were of this one.
            (false, _) => None,
            // An overwrite of a table whose index was dropped before doesn't undo the drop.
            (true, false) => Some(Absence::Dropped),
            (true, true) => None,
        }
    }

    /// What it was, if all commits since the record were looked at.
    pub fn finish(self) -> Absence {
        Absence::Unbuilt
    }

    /// Whether the table was overwritten since: its fields may have other ids than then.
    pub fn was_cleared(&self) -> bool {
        self.cleared
    }
}

/// A segment that is not what the record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differing {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// The oldest table version that it was built from.
    pub built_at: u64,
}

/// Whether the index is another one than was recorded in `written_on`: segments that differ from
/// the record are of another client, if they came after it. Older ones are what the statement that
/// wrote the record was about to replace.
///
/// `events` are what happened to the index since; `None` where that can't be read.
pub fn is_overtaken(
    differing: &[Differing],
    written_on: u64,
    events: Option<&[IndexEvent]>,
) -> bool {
    differing.iter().any(|segment| match events {
        Some(events) => was_added(segment.uuid, events),
        None => segment.built_at > written_on,
    })
}

fn was_added(uuid: Uuid, events: &[IndexEvent]) -> bool {
    let mut uuid = uuid;
    events.iter().rev().any(|event| {
        if let Some((from, _)) = event.moved.iter().find(|(_, to)| *to == uuid) {
            uuid = *from;
        }
        event.added.contains(&uuid)
    })
}

/// Whether a recorded index is the one that a plan was made for, by the ids of both records.
///
/// A record that came or went says nothing while segments vouch for the index: it is written after
/// the first refresh, and removed before a drop.
pub fn is_same_record(planned: Option<Uuid>, now: Option<Uuid>, has_segments: bool) -> bool {
    match (planned, now) {
        (Some(planned), Some(now)) => planned == now,
        (Some(_), None) => has_segments,
        (None, _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(removed: &[u128], added: &[u128]) -> IndexEvent {
        let uuids = |ids: &[u128]| ids.iter().copied().map(Uuid::from_u128).collect();
        IndexEvent {
            version: 0,
            removed: uuids(removed),
            added: uuids(added),
            moved: vec![],
            cleared: false,
        }
    }

    fn overwrite() -> IndexEvent {
        IndexEvent { cleared: true, ..event(&[], &[]) }
    }

    /// The events are in the order in which they happened.
    fn absence(events: &[Option<IndexEvent>], ours: bool) -> (Absence, bool) {
        let mut reader = AbsenceReader::default();
        let told = events.iter().rev().find_map(|event| reader.read(event.as_ref(), ours));
        let cleared = reader.was_cleared();
        (told.unwrap_or_else(|| reader.finish()), cleared)
    }

    #[test]
    fn why_there_is_no_segment() {
        let (add, drop) = (event(&[], &[1]), event(&[1], &[]));
        let cases = vec![
            (vec![], (Absence::Unbuilt, false)),
            (vec![Some(event(&[], &[]))], (Absence::Unbuilt, false)),
            (vec![Some(add.clone()), Some(overwrite())], (Absence::Unbuilt, true)),
            (vec![Some(overwrite())], (Absence::Unbuilt, true)),
            (vec![Some(add.clone()), Some(drop.clone())], (Absence::Dropped, false)),
            // What was dropped stays dropped.
            (vec![Some(drop.clone()), Some(overwrite())], (Absence::Dropped, true)),
            // ... until it is built again.
            (
                vec![Some(drop.clone()), Some(add.clone()), Some(overwrite())],
                (Absence::Unbuilt, true),
            ),
            (vec![None, Some(overwrite())], (Absence::Unknown, true)),
            (vec![None, Some(event(&[], &[]))], (Absence::Unknown, false)),
            (vec![None, Some(drop)], (Absence::Dropped, false)),
            (vec![None, Some(event(&[1], &[2])), Some(overwrite())], (Absence::Unbuilt, true)),
        ];
        for (events, expected) in cases {
            assert_eq!(absence(&events, true), expected, "{events:?}");
        }
        // What another client made after a drop is an index of its own.
        let again = [Some(event(&[1], &[])), Some(event(&[], &[2])), Some(overwrite())];
        assert_eq!(absence(&again, false), (Absence::Dropped, true));
        let more = [Some(event(&[], &[2])), Some(overwrite())];
        assert_eq!(absence(&more, false), (Absence::Unbuilt, true));
        let unread = [None, Some(event(&[], &[2])), Some(overwrite())];
        assert_eq!(absence(&unread, false), (Absence::Unknown, true));
    }

    #[test]
    fn later_segments_that_differ_overtake_the_record() {
        let differing = [Differing { uuid: Uuid::from_u128(1), built_at: 5 }];
        let of = |written_on, events: Option<&[IndexEvent]>| {
            is_overtaken(&differing, written_on, events)
        };
        assert!(of(9, Some(&[event(&[8], &[]), event(&[], &[1])])));
        assert!(!of(4, Some(&[event(&[8], &[9])])));
        assert!(!is_overtaken(&[], 0, None));
        // Compaction renames segments of any age.
        let mut moved = event(&[], &[]);
        moved.moved = vec![(Uuid::from_u128(7), Uuid::from_u128(1))];
        assert!(!of(4, Some(&[moved.clone()])));
        assert!(of(4, Some(&[event(&[], &[7]), moved])));
        // Without history, what they were built from tells.
        assert!(of(4, None) && !of(5, None));
    }

    #[test]
    fn identity() {
        let [a, b] = [1, 2].map(|id| Some(Uuid::from_u128(id)));
        assert!(is_same_record(a, a, false) && is_same_record(None, a, true));
        assert!(!is_same_record(a, b, true));
        assert!(is_same_record(a, None, true) && !is_same_record(a, None, false));
    }
}
