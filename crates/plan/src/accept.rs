//! Decides what of the outcomes may be committed to the table as it is by now.

use std::{collections::BTreeMap, fmt, sync::Arc};

use roaring::RoaringBitmap;
use uuid::Uuid;

use crate::{
    coverage::{covered_by, format_ranges, unindexed},
    dispose::{Disposition, dispose},
    history::{IndexEvent, is_same_index},
    plan::{Action, MaintenancePlan},
    record::is_same_record,
    snapshot::{IndexSnapshot, SegmentSnapshot},
    stale::stale_for,
};

/// A segment that an attempt has written, not yet part of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentOutcome {
    /// The unit it was built for.
    pub work_id: u32,
    /// The segment as it would stand in the manifest.
    pub segment: SegmentSnapshot,
    /// The id of the field that it indexes.
    pub field_id: i32,
    /// For each of its fragments, [`field_files`](crate::snapshot::FragmentSnapshot::field_files)
    /// at the version that it was built from.
    pub field_files: BTreeMap<u32, Arc<str>>,
}

/// What to commit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Acceptance {
    /// The new segments, each with the fragments to declare.
    pub added: Vec<(Uuid, RoaringBitmap)>,
    /// The existing segments to remove.
    pub removed: Vec<Uuid>,
    /// Fragments that were indexed, and retired by others meanwhile; no segment declares them.
    pub retired: RoaringBitmap,
}

/// Why the outcomes can't be committed as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// Every reason found, at least one.
    pub rejections: Vec<Rejection>,
    /// The outcomes that no rejection is about: they may be used by a new plan.
    pub holds: Vec<Uuid>,
}

/// One reason why outcomes can't be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The index is gone, or what bears its name is another index.
    Dropped,
    /// `CREATE INDEX`, and an index of that name has come into being meanwhile.
    NameTaken,
    /// The index is of another type, or on another field, than it was.
    Redefined,
    /// The indexed field is gone, or has another type.
    FieldChanged,
    /// A unit has no outcome, or more than one, or one that covers other fragments than asked.
    BadOutcome {
        /// The unit.
        work_id: u32,
    },
    /// All fragments of the statement were retired by others.
    AllRetired,
    /// An outcome can't stand beside the segments that the index has now.
    OtherFormat {
        /// The outcome.
        uuid: Uuid,
    },
    /// The indexed column was rewritten in these fragments after they were read.
    Rewritten {
        /// The outcome.
        uuid: Uuid,
        /// The fragments.
        fragments: RoaringBitmap,
    },
    /// A segment, new or existing, may hold earlier values of rows in fragments that another one
    /// of the index covers.
    Stale {
        /// The segment.
        uuid: Uuid,
        /// Where the rows are now.
        fragments: RoaringBitmap,
    },
    /// An existing segment that the plan supersedes covers more by now than the outcomes do.
    Torn {
        /// The existing segment.
        uuid: Uuid,
        /// What only it covers.
        fragments: RoaringBitmap,
    },
    /// An existing segment that the plan doesn't supersede covers fragments of an outcome.
    Overlap {
        /// The outcome.
        uuid: Uuid,
        /// What both cover.
        fragments: RoaringBitmap,
    },
}

impl Rejection {
    /// Whether a new plan can get past it; otherwise the statement fails.
    pub fn can_replan(&self) -> bool {
        match self {
            Self::Dropped
            | Self::NameTaken
            | Self::Redefined
            | Self::FieldChanged
            | Self::BadOutcome { .. }
            | Self::AllRetired => false,
            Self::OtherFormat { .. }
            | Self::Rewritten { .. }
            | Self::Stale { .. }
            | Self::Torn { .. }
            | Self::Overlap { .. } => true,
        }
    }

    /// The outcome or existing segment that it is about.
    fn uuid(&self) -> Option<Uuid> {
        match self {
            Self::OtherFormat { uuid }
            | Self::Rewritten { uuid, .. }
            | Self::Stale { uuid, .. }
            | Self::Overlap { uuid, .. } => Some(*uuid),
            _ => None,
        }
    }
}

/// What happened, to be put after the index's name: `index i ...`.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = format_ranges;
        match self {
            Self::Dropped => write!(f, "was dropped while the statement ran"),
            Self::NameTaken => write!(f, "was created by another client while the statement ran"),
            Self::Redefined => {
                write!(f, "was replaced by one of another type or column while the statement ran")
            }
            Self::FieldChanged => {
                write!(f, "lost its column, or the column's type changed, while the statement ran")
            }
            Self::BadOutcome { work_id } => {
                write!(f, "got no single, complete segment from unit {work_id}")
            }
            Self::AllRetired => {
                write!(f, "got segments only for fragments that others have since replaced")
            }
            Self::OtherFormat { uuid } => {
                write!(f, "has segments beside which the new segment {uuid} can't stand")
            }
            Self::Rewritten { uuid, fragments } => write!(
                f,
                "got segment {uuid}, but its column was rewritten in fragments [{}]",
                ranges(fragments)
            ),
            Self::Stale { uuid, fragments } => write!(
                f,
                "has segment {uuid}, which may hold earlier values of rows in fragments [{}]",
                ranges(fragments)
            ),
            Self::Torn { uuid, fragments } => write!(
                f,
                "has segment {uuid}, which has come to cover fragments [{}] as well",
                ranges(fragments)
            ),
            Self::Overlap { uuid, fragments } => write!(
                f,
                "got segment {uuid}, but fragments [{}] are covered by another one",
                ranges(fragments)
            ),
        }
    }
}

/// What the checks look at.
struct Case<'a> {
    plan: &'a MaintenancePlan,
    outcomes: &'a [SegmentOutcome],
    now: &'a IndexSnapshot,
    events: Option<&'a [IndexEvent]>,
    live: RoaringBitmap,
    /// The live fragments that the outcomes declare.
    declared: RoaringBitmap,
}

/// Checks the outcomes of a plan against the table as it is now.
///
/// `outcomes` holds the one outcome of each unit of the plan, and any that were kept from an
/// earlier plan for the same statement (their work ids are not among the plan's). `events` are
/// the commits between the plan's read version and now that touched the index; `None` where that
/// history can't be read.
///
/// # Errors
/// [`Rejected`] lists every check that failed and the outcomes that none of them is about. A
/// statement goes on with a new plan if all rejections
/// [can be planned around](Rejection::can_replan).
pub fn accept(
    plan: &MaintenancePlan,
    outcomes: &[SegmentOutcome],
    now: &IndexSnapshot,
    events: Option<&[IndexEvent]>,
) -> Result<Acceptance, Rejected> {
    let live = now.live();
    let declared = outcomes
        .iter()
        .fold(RoaringBitmap::new(), |all, outcome| all | declared_by(outcome) & &live);
    let case = Case { plan, outcomes, now, events, live, declared };
    let checks: [fn(&Case<'_>) -> Vec<Rejection>; 10] = [
        check_index,
        check_field,
        check_units,
        check_retired,
        check_formats,
        check_rewritten,
        check_stale_segments,
        check_stale_outcomes,
        check_torn,
        check_overlap,
    ];
    let rejections: Vec<Rejection> = checks.iter().flat_map(|check| check(&case)).collect();
    if rejections.is_empty() {
        return Ok(acceptance(&case));
    }
    let blamed = |uuid| rejections.iter().any(|rejection| rejection.uuid() == Some(uuid));
    let holds = outcomes.iter().map(|outcome| outcome.segment.uuid);
    let holds = holds.filter(|uuid| !blamed(*uuid)).collect();
    Err(Rejected { rejections, holds })
}

fn declared_by(outcome: &SegmentOutcome) -> RoaringBitmap {
    outcome.segment.declared.clone().unwrap_or_default()
}

fn acceptance(case: &Case<'_>) -> Acceptance {
    let mut accepted = Acceptance::default();
    for outcome in case.outcomes {
        let declared = declared_by(outcome);
        let alive = &declared & &case.live;
        accepted.retired |= &declared - &case.live;
        // A segment that has lost all its fragments would only be a burden.
        if !alive.is_empty() || declared.is_empty() {
            accepted.added.push((outcome.segment.uuid, alive));
        }
    }
    let removed = case.now.segments().iter().filter(|segment| match case.plan.action {
        Action::Create | Action::Replace => true,
        Action::Refresh => matches!(
            dispose(segment, &case.declared, &case.live),
            Disposition::Superseded | Disposition::Retired
        ),
    });
    accepted.removed = removed.map(|segment| segment.uuid).collect();
    accepted
}

/// The existing segments that stay beside the outcomes.
fn kept<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a SegmentSnapshot> + use<'a> {
    let (plan, live) = (case.plan, case.live.clone());
    case.now.segments().iter().filter(move |segment| {
        plan.action == Action::Refresh
            && !plan.supersedes(segment.uuid)
            && !segment.is_retired(&live)
    })
}

fn check_index(case: &Case<'_>) -> Vec<Rejection> {
    let planned = &case.plan.definition;
    match (case.plan.action, &case.now.index) {
        (Action::Create, Some(_)) => vec![Rejection::NameTaken],
        (Action::Create | Action::Replace, _) => vec![],
        (Action::Refresh, None) => vec![Rejection::Dropped],
        (Action::Refresh, Some(index)) => {
            let now = &index.definition;
            let segments: Vec<Uuid> = index.segments.iter().map(|segment| segment.uuid).collect();
            let has_segments = !segments.is_empty();
            if !is_same_index(&case.plan.segments, case.events, &segments)
                || !is_same_record(planned.record, now.record, has_segments)
            {
                vec![Rejection::Dropped]
            } else if now.field.id != planned.field.id || now.index_type != planned.index_type {
                vec![Rejection::Redefined]
            } else {
                vec![]
            }
        }
    }
}

fn check_field(case: &Case<'_>) -> Vec<Rejection> {
    let planned = &case.plan.definition.field;
    let unchanged = case.now.field.as_ref().is_some_and(|now| now.is_same(planned));
    let meant = case.outcomes.iter().all(|outcome| outcome.field_id == planned.id);
    if unchanged && meant { vec![] } else { vec![Rejection::FieldChanged] }
}

fn check_units(case: &Case<'_>) -> Vec<Rejection> {
    let complete = |work_id, fragments: &RoaringBitmap| {
        let mut its = case.outcomes.iter().filter(|outcome| outcome.work_id == work_id);
        its.next().is_some_and(|outcome| outcome.segment.declared.as_ref() == Some(fragments))
            && its.next().is_none()
    };
    let units = case.plan.units.iter();
    units
        .filter(|unit| !complete(unit.work_id, &unit.fragments))
        .map(|unit| Rejection::BadOutcome { work_id: unit.work_id })
        .collect()
}

fn check_retired(case: &Case<'_>) -> Vec<Rejection> {
    let asked = case.outcomes.iter().any(|outcome| !declared_by(outcome).is_empty());
    if asked && case.declared.is_empty() { vec![Rejection::AllRetired] } else { vec![] }
}

fn check_formats(case: &Case<'_>) -> Vec<Rejection> {
    let formats: Vec<&str> = kept(case).map(|segment| segment.format.as_str()).collect();
    let differs = |outcome: &&SegmentOutcome| {
        let format = &outcome.segment.format;
        *format != case.plan.definition.format || formats.iter().any(|other| other != format)
    };
    let outcomes = case.outcomes.iter().filter(differs);
    outcomes.map(|outcome| Rejection::OtherFormat { uuid: outcome.segment.uuid }).collect()
}

fn check_rewritten(case: &Case<'_>) -> Vec<Rejection> {
    let rewritten = |outcome: &SegmentOutcome| -> RoaringBitmap {
        let fragments = declared_by(outcome) & &case.live;
        let differs = |id: &u32| {
            case.now.fragment(*id).map(|now| &now.field_files) != outcome.field_files.get(id)
        };
        fragments.iter().filter(differs).collect()
    };
    let outcomes = case.outcomes.iter().map(|outcome| (outcome, rewritten(outcome)));
    outcomes
        .filter(|(_, fragments)| !fragments.is_empty())
        .map(|(outcome, fragments)| Rejection::Rewritten { uuid: outcome.segment.uuid, fragments })
        .collect()
}

fn check_stale_segments(case: &Case<'_>) -> Vec<Rejection> {
    let added = &case.declared & unindexed(case.now);
    let stale = kept(case).map(|segment| (segment.uuid, stale_for(segment, &added, case.now)));
    stale
        .filter(|(_, fragments)| !fragments.is_empty())
        .map(|(uuid, fragments)| Rejection::Stale { uuid, fragments })
        .collect()
}

fn check_stale_outcomes(case: &Case<'_>) -> Vec<Rejection> {
    let beside = kept(case)
        .fold(case.declared.clone(), |all, segment| all | covered_by(segment, &case.live));
    let stale = case
        .outcomes
        .iter()
        .map(|outcome| (outcome.segment.uuid, stale_for(&outcome.segment, &beside, case.now)));
    stale
        .filter(|(_, fragments)| !fragments.is_empty())
        .map(|(uuid, fragments)| Rejection::Stale { uuid, fragments })
        .collect()
}

fn check_torn(case: &Case<'_>) -> Vec<Rejection> {
    if case.plan.action != Action::Refresh {
        return vec![];
    }
    let named = case.now.segments().iter().filter(|s| case.plan.supersedes(s.uuid));
    let torn = named.filter(|segment| {
        let fate = dispose(segment, &case.declared, &case.live);
        matches!(fate, Disposition::Torn | Disposition::Kept)
    });
    torn.map(|segment| Rejection::Torn {
        uuid: segment.uuid,
        fragments: covered_by(segment, &case.live) - &case.declared,
    })
    .collect()
}

/// Live segments may not overlap, dead fragments of their bitmaps included: Lance computes with
/// the raw bitmaps.
fn check_overlap(case: &Case<'_>) -> Vec<Rejection> {
    let mut taken = kept(case)
        .filter_map(|segment| segment.declared.as_ref())
        .fold(RoaringBitmap::new(), |all, declared| all | declared);
    let mut rejections = Vec::new();
    for outcome in case.outcomes {
        let declared = declared_by(outcome) & &case.live;
        let fragments = &declared & &taken;
        if !fragments.is_empty() {
            rejections.push(Rejection::Overlap { uuid: outcome.segment.uuid, fragments });
        }
        taken |= declared;
    }
    rejections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::{Parallelism, plan_create, plan_refresh},
        snapshot::testing::{changed, definition, field, fragment, segment, snapshot},
    };
    use proptest::prelude::*;

    const THREE: Parallelism = Parallelism { num_segments: Some(3), target_partitions: 1 };

    /// Fragments 0 and 1 covered by segment 1; 2, 3, 4 unindexed.
    fn table() -> IndexSnapshot {
        snapshot((0..5).map(|id| fragment(id, 10)).collect(), vec![segment(1, &[0, 1])])
    }

    fn outcome(work_id: u32, uuid: u128, fragments: &[u32]) -> SegmentOutcome {
        let at_plan = table();
        SegmentOutcome {
            work_id,
            segment: SegmentSnapshot { built_at: 10, ..segment(uuid, fragments) },
            field_id: 0,
            field_files: fragments
                .iter()
                .map(|id| (*id, at_plan.fragment(*id).unwrap().field_files.clone()))
                .collect(),
        }
    }

    fn outcomes() -> Vec<SegmentOutcome> {
        vec![outcome(0, 20, &[2]), outcome(1, 21, &[3]), outcome(2, 22, &[4])]
    }

    fn uuid(id: u128) -> Uuid {
        Uuid::from_u128(id)
    }

    fn set(ids: &[u32]) -> RoaringBitmap {
        ids.iter().copied().collect()
    }

    fn refresh(outcomes: &[SegmentOutcome], now: &IndexSnapshot) -> Result<Acceptance, Rejected> {
        accept(&plan_refresh(&table(), "i", THREE).unwrap(), outcomes, now, Some(&[]))
    }

    fn only(result: Result<Acceptance, Rejected>) -> Rejection {
        let mut rejected = result.unwrap_err();
        assert_eq!(rejected.rejections.len(), 1, "{rejected:?}");
        rejected.rejections.remove(0)
    }

    #[test]
    fn an_unchanged_table_takes_everything() {
        let accepted = refresh(&outcomes(), &table()).unwrap();
        let added: Vec<_> = accepted.added.iter().map(|(uuid, _)| *uuid).collect();
        assert_eq!(added, [uuid(20), uuid(21), uuid(22)]);
        assert!(accepted.removed.is_empty());
        assert!(accepted.retired.is_empty());
    }

    #[test]
    fn a_dropped_index() {
        let mut now = table();
        now.index = None;
        assert_eq!(only(refresh(&outcomes(), &now)), Rejection::Dropped);
    }

    #[test]
    fn an_index_dropped_and_created_again_is_another_one() {
        let plan = plan_refresh(&table(), "i", THREE).unwrap();
        let mut now = table();
        now.index.as_mut().unwrap().segments[0].uuid = uuid(9);
        let events = [
            IndexEvent {
                version: 11,
                removed: vec![uuid(1)],
                added: vec![],
                moved: vec![],
                cleared: false,
            },
            IndexEvent {
                version: 12,
                removed: vec![],
                added: vec![uuid(9)],
                moved: vec![],
                cleared: false,
            },
        ];
        let result = accept(&plan, &outcomes(), &now, Some(&events));
        assert_eq!(only(result), Rejection::Dropped);
        // Without history, no segment of the plan vouches for it.
        assert_eq!(only(accept(&plan, &outcomes(), &now, None)), Rejection::Dropped);
        assert!(accept(&plan, &outcomes(), &table(), None).is_ok());
    }

    #[test]
    fn an_index_of_another_type() {
        let mut now = table();
        now.index.as_mut().unwrap().definition.index_type = "bitmap".to_string();
        assert_eq!(only(refresh(&outcomes(), &now)), Rejection::Redefined);
    }

    #[test]
    fn a_name_taken_meanwhile() {
        let mut before = table();
        before.index = None;
        let plan = plan_create(&before, definition(), false, true, THREE).unwrap();
        let outcomes: Vec<_> = plan
            .units
            .iter()
            .map(|unit| {
                let fragments: Vec<u32> = unit.fragments.iter().collect();
                outcome(unit.work_id, u128::from(unit.work_id) + 20, &fragments)
            })
            .collect();
        assert!(accept(&plan, &outcomes, &before, Some(&[])).is_ok());
        assert_eq!(only(accept(&plan, &outcomes, &table(), Some(&[]))), Rejection::NameTaken);
    }

    #[test]
    fn a_column_dropped_or_retyped() {
        let mut now = table();
        now.field = None;
        assert_eq!(only(refresh(&outcomes(), &now)), Rejection::FieldChanged);
        now.field = Some(crate::snapshot::IndexedField { data_type: "Utf8".into(), ..field() });
        assert_eq!(only(refresh(&outcomes(), &now)), Rejection::FieldChanged);
    }

    #[test]
    fn missing_double_and_wrong_outcomes() {
        let bad = Rejection::BadOutcome { work_id: 2 };
        assert_eq!(only(refresh(&outcomes()[..2], &table())), bad);
        let mut wrong = outcomes();
        wrong[2] = outcome(2, 22, &[]);
        assert_eq!(only(refresh(&wrong, &table())), bad);
        let mut double = outcomes();
        double.push(outcome(2, 23, &[4]));
        let rejected = refresh(&double, &table()).unwrap_err();
        assert!(rejected.rejections.contains(&bad));
    }

    #[test]
    fn retired_fragments_are_left_out_and_named() {
        let mut now = table();
        now.fragments.retain(|fragment| fragment.id != 3);
        let accepted = refresh(&outcomes(), &now).unwrap();
        assert_eq!(accepted.added.len(), 2);
        assert_eq!(accepted.retired, set(&[3]));
        now.fragments.truncate(2);
        assert_eq!(only(refresh(&outcomes(), &now)), Rejection::AllRetired);
    }

    #[test]
    fn a_segment_of_another_format_joined_meanwhile() {
        let mut now = table();
        let joined = SegmentSnapshot { format: "other".into(), ..segment(7, &[]) };
        let joined = SegmentSnapshot { declared: Some(set(&[5])), ..joined };
        now.fragments.push(fragment(5, 1));
        now.index.as_mut().unwrap().segments.push(joined);
        let rejected = refresh(&outcomes(), &now).unwrap_err();
        assert!(rejected.rejections.contains(&Rejection::OtherFormat { uuid: uuid(20) }));
        assert!(rejected.holds.is_empty());
    }

    #[test]
    fn a_column_rewritten_under_an_outcome_lets_the_others_hold() {
        let mut now = table();
        now.fragments[3].field_files = "new.lance".into();
        let rejected = refresh(&outcomes(), &now).unwrap_err();
        let expected = Rejection::Rewritten { uuid: uuid(21), fragments: set(&[3]) };
        assert_eq!(rejected.rejections, [expected]);
        assert_eq!(rejected.holds, [uuid(20), uuid(22)]);
    }

    #[test]
    fn an_older_segment_that_became_stale() {
        let mut now = table();
        let old = &mut now.index.as_mut().unwrap().segments[0];
        old.follows_rows = true;
        old.built_at = 3;
        now.fragments[2] = changed(2, 4);
        now.fragments[3] = changed(3, 0);
        now.fragments[4] = changed(4, 0);
        let expected = Rejection::Stale { uuid: uuid(1), fragments: set(&[2]) };
        assert_eq!(only(refresh(&outcomes(), &now)), expected);
    }

    #[test]
    fn an_outcome_that_is_stale_for_what_another_covers_by_now() {
        let mut now = table();
        now.fragments.push(changed(5, 11));
        for id in [0, 1, 3, 4] {
            now.fragments[id as usize] = changed(id, 0);
        }
        let mut built = outcomes();
        built[0].segment.follows_rows = true;
        // While the new place of the row is unindexed, nothing is wrong.
        assert!(refresh(&built, &now).is_ok());
        now.index.as_mut().unwrap().segments.push(segment(7, &[5]));
        let expected = Rejection::Stale { uuid: uuid(20), fragments: set(&[5]) };
        assert_eq!(only(refresh(&built, &now)), expected);
    }

    #[test]
    fn what_another_statement_covered_meanwhile() {
        let mut now = table();
        now.index.as_mut().unwrap().segments.push(segment(7, &[3]));
        let expected = Rejection::Overlap { uuid: uuid(21), fragments: set(&[3]) };
        assert_eq!(only(refresh(&outcomes(), &now)), expected);
    }

    #[test]
    fn a_superseded_segment_that_has_grown() {
        let mut before = table();
        before.fragments[2] = changed(2, 4);
        before.index.as_mut().unwrap().segments[0].follows_rows = true;
        let plan = plan_refresh(&before, "i", THREE).unwrap();
        assert!(plan.supersedes(uuid(1)));
        let outcomes: Vec<_> = plan
            .units
            .iter()
            .map(|unit| {
                let fragments: Vec<u32> = unit.fragments.iter().collect();
                outcome(unit.work_id, u128::from(unit.work_id) + 20, &fragments)
            })
            .collect();
        let accepted = accept(&plan, &outcomes, &before, Some(&[])).unwrap();
        assert_eq!(accepted.removed, [uuid(1)]);
        before.fragments.push(fragment(5, 1));
        before.index.as_mut().unwrap().segments[0].declared = Some(set(&[0, 1, 5]));
        let expected = Rejection::Torn { uuid: uuid(1), fragments: set(&[5]) };
        assert_eq!(only(accept(&plan, &outcomes, &before, Some(&[]))), expected);
    }

    proptest! {
        #[test]
        fn order_does_not_matter(order in Just(vec![0usize, 1, 2]).prop_shuffle()) {
            let shuffled: Vec<_> = order.iter().map(|at| outcomes()[*at].clone()).collect();
            let mut accepted = refresh(&shuffled, &table()).unwrap();
            accepted.added.sort_by_key(|(uuid, _)| *uuid);
            prop_assert_eq!(accepted, refresh(&outcomes(), &table()).unwrap());
        }
    }
}
