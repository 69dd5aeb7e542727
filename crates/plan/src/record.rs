//! What the history since an index was recorded says of it.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::history::IndexEvent;

/// A field of a schema: the one that an index was recorded for, or one that is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFacts {
    /// Its id in the schema.
    pub id: i32,
    /// The names from the top-level column to it, as Lance writes them.
    pub path: String,
    /// Its data type, as Lance's schema has it: `int64`, `list<string>`.
    pub data_type: String,
}

/// The fields of a schema that a commit made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    /// All fields, each before those that it contains: the item of a list has the path of the list.
    pub fields: Vec<FieldFacts>,
    /// The commit overwrote the table and gave ids to its fields anew. Otherwise a field that stays
    /// keeps its id, under whatever name.
    pub overwritten: bool,
}

/// What `field` has become after those changes, the oldest first; `None` where it is gone or has
/// another data type.
///
/// `known` is whether it is the field of that id before the first of them. If not, since what came
/// before can't be read, its path tells.
pub fn trace(field: &FieldFacts, known: bool, changes: &[SchemaChange]) -> Option<FieldFacts> {
    let mut field = field.clone();
    // Whether its id tells, and whether it is there.
    let (mut by_id, mut is_there) = (known, true);
    for change in changes {
        let by_path = change.overwritten || !by_id;
        let is_it = |other: &&FieldFacts| {
            other.data_type == field.data_type
                && if by_path { other.path == field.path } else { other.id == field.id }
        };
        match change.fields.iter().find(is_it) {
            // What an overwrite left out comes back by another one.
            Some(found) if is_there || change.overwritten => {
                field = found.clone();
                (by_id, is_there) = (true, true);
            }
            _ if change.overwritten || !is_there => is_there = false,
            // It was dropped. Another field may get its name or its id.
            _ => return None,
        }
    }
    is_there.then_some(field)
}

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

/// Why an index has no segment, if the latest of the commits that changed its segments tells; else
/// the one before it may. `agree` is whether the segments that it added are what the record says.
///
/// Where no commit since the index was recorded tells, it is unbuilt; or unknown, if not all of them
/// can be read.
pub fn why_absent(event: &IndexEvent, agree: bool) -> Option<Absence> {
    match (event.added.is_empty(), event.removed.is_empty()) {
        // Whatever took these away later was no drop.
        (false, _) if agree => Some(Absence::Unbuilt),
        // Another client made another index of it.
        (false, _) => Some(Absence::Dropped),
        // An overwrite of a table whose index was dropped before doesn't undo the drop.
        (true, false) => Some(Absence::Dropped),
        (true, true) => None,
    }
}

/// A segment that is not what the record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// The oldest table version that it was built from.
    pub built_at: u64,
    /// How it differs.
    pub how: String,
}

/// Whether the index is another one than was recorded in `written_on`: segments that differ from
/// the record are of another client, if they came after it, unless they came beside or in place of
/// some that differ in the same way. Those from before are what the statement that wrote the record
/// was about to replace, and other clients may have maintained them since.
///
/// `differing` are today's segments that differ, and `past` those which came or went since; `events`
/// are what happened to the index since, and `None` where that can't be read.
pub fn is_overtaken(
    differing: &[Differing],
    past: &[Differing],
    written_on: u64,
    events: Option<&[IndexEvent]>,
) -> bool {
    let Some(events) = events else {
        return differing.iter().any(|segment| segment.built_at > written_on);
    };
    let all = || differing.iter().chain(past);
    let came = |uuid: &Uuid| {
        events
            .iter()
            .any(|event| event.added.contains(uuid) || event.moved.iter().any(|(_, to)| to == uuid))
    };
    // How those differ that are not of another client.
    let mut older: BTreeMap<Uuid, &str> = all()
        .filter(|segment| !came(&segment.uuid))
        .map(|segment| (segment.uuid, segment.how.as_str()))
        .collect();
    for event in events {
        let added = all().filter(|segment| event.added.contains(&segment.uuid));
        let alike: Vec<_> = added
            .filter(|segment| older.values().any(|how| *how == segment.how))
            .map(|segment| (segment.uuid, segment.how.as_str()))
            .collect();
        older.retain(|uuid, _| !event.cleared && !event.removed.contains(uuid));
        older.extend(alike);
        for (from, to) in &event.moved {
            if let Some(how) = older.remove(from) {
                older.insert(*to, how);
            }
        }
    }
    differing.iter().any(|segment| !older.contains_key(&segment.uuid))
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

    #[test]
    fn what_has_become_of_a_field() {
        let field = |id, path: &str, data_type: &str| FieldFacts {
            id,
            path: path.to_string(),
            data_type: data_type.to_string(),
        };
        let kept =
            |fields: &[FieldFacts]| SchemaChange { fields: fields.to_vec(), overwritten: false };
        let overwritten =
            |fields: &[FieldFacts]| SchemaChange { fields: fields.to_vec(), overwritten: true };
        let (a, b) = (field(3, "a", "int64"), field(3, "b", "int64"));
        let other = field(5, "a", "int64");
        let of = |known, changes: &[SchemaChange]| {
            trace(&a, known, changes).map(|field| (field.id, field.path))
        };
        let is = |id, path: &str| Some((id, path.to_string()));
        assert_eq!(of(true, &[]), is(3, "a"));
        assert_eq!(of(true, &[kept(&[b.clone(), other.clone()])]), is(3, "b"));
        // Swapped by renames, then overwritten in another order.
        let swapped = kept(&[b.clone(), field(4, "a", "int64")]);
        let again = overwritten(&[field(0, "a", "int64"), field(1, "b", "int64")]);
        assert_eq!(of(true, &[swapped.clone(), again.clone()]), is(1, "b"));
        assert_eq!(of(true, std::slice::from_ref(&again)), is(0, "a"));
        // Of another type, or another column of the name, or of the id.
        assert_eq!(of(true, &[kept(&[field(3, "a", "string")])]), None);
        assert_eq!(of(true, &[overwritten(&[field(3, "a", "string")])]), None);
        assert_eq!(of(true, &[kept(std::slice::from_ref(&other))]), None);
        assert_eq!(of(true, &[kept(&[]), kept(std::slice::from_ref(&b))]), None);
        assert_eq!(of(true, &[kept(&[]), again.clone()]), None);
        // What an overwrite left out, another one brings back by its name.
        assert_eq!(of(true, &[overwritten(&[]), again.clone()]), is(0, "a"));
        assert_eq!(of(true, &[overwritten(&[]), kept(&[]), again.clone()]), is(0, "a"));
        assert_eq!(of(true, &[overwritten(&[]), kept(std::slice::from_ref(&other))]), None);
        // Without what came before, the name tells.
        assert_eq!(of(false, &[kept(&[b.clone(), other])]), is(5, "a"));
        assert_eq!(of(false, &[swapped, again]), is(0, "a"));
        assert_eq!(of(false, &[kept(&[b])]), None);
    }

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

    #[test]
    fn why_there_is_no_segment() {
        use Absence::{Dropped, Unbuilt};
        // The events are in the order in which they happened.
        let why = |events: &[IndexEvent], agree: bool| {
            events.iter().rev().find_map(|event| why_absent(event, agree))
        };
        let (add, drop, merge) = (event(&[], &[1]), event(&[1], &[]), event(&[1], &[2]));
        let overwrite = IndexEvent { cleared: true, ..event(&[], &[]) };
        let cases = vec![
            (vec![], None),
            (vec![event(&[], &[])], None),
            (vec![overwrite.clone()], None),
            (vec![add.clone(), overwrite.clone()], Some(Unbuilt)),
            (vec![merge, overwrite.clone()], Some(Unbuilt)),
            (vec![add.clone(), drop.clone()], Some(Dropped)),
            // What was dropped stays dropped.
            (vec![drop.clone(), overwrite.clone()], Some(Dropped)),
            // ... until it is built again.
            (vec![drop.clone(), add.clone(), overwrite.clone()], Some(Unbuilt)),
        ];
        for (events, expected) in cases {
            assert_eq!(why(&events, true), expected, "{events:?}");
        }
        // What another client made otherwise is an index of its own.
        assert_eq!(why(&[drop, add.clone(), overwrite.clone()], false), Some(Dropped));
        assert_eq!(why(&[add, overwrite], false), Some(Dropped));
    }

    #[test]
    fn later_segments_that_differ_overtake_the_record() {
        let segment = |id, how: &str| Differing {
            uuid: Uuid::from_u128(id),
            built_at: 5,
            how: how.to_string(),
        };
        let differing = [segment(1, "a")];
        let of = |past: &[Differing], events: &[IndexEvent]| {
            is_overtaken(&differing, past, 9, Some(events))
        };
        assert!(!of(&[], &[]) && !of(&[], &[event(&[8], &[9])]));
        assert!(!is_overtaken(&[], &[], 9, None));
        // Dropped and made anew, by something else or by its like; or made in its place.
        let (alike, other) = (segment(8, "a"), segment(8, "b"));
        assert!(of(std::slice::from_ref(&alike), &[event(&[8], &[]), event(&[], &[1])]));
        assert!(of(std::slice::from_ref(&other), &[event(&[8], &[1])]));
        assert!(of(&[], &[event(&[], &[1])]));
        // Maintained: merged, extended, moved.
        assert!(!of(std::slice::from_ref(&alike), &[event(&[8], &[1])]));
        let steps = [event(&[], &[7]), event(&[7, 8], &[1])];
        assert!(!of(&[alike.clone(), segment(7, "a")], &steps));
        let extended = [segment(1, "a"), segment(2, "a")];
        assert!(!is_overtaken(&extended, &[], 9, Some(&[event(&[], &[2])])));
        let mut moved = event(&[], &[]);
        moved.moved = vec![(Uuid::from_u128(7), Uuid::from_u128(1))];
        assert!(!of(&[segment(7, "a")], std::slice::from_ref(&moved)));
        assert!(of(&[segment(7, "a")], &[event(&[], &[7]), moved]));
        // Without history, what they were built from tells.
        assert!(is_overtaken(&differing, &[], 4, None));
        assert!(!is_overtaken(&differing, &[], 5, None));
    }

    #[test]
    fn identity() {
        let [a, b] = [1, 2].map(|id| Some(Uuid::from_u128(id)));
        assert!(is_same_record(a, a, false) && is_same_record(None, a, true));
        assert!(!is_same_record(a, b, true));
        assert!(is_same_record(a, None, true) && !is_same_record(a, None, false));
    }
}
