//! Decides what of the outcomes may be committed to the table as it is by now.

mod checks;
mod rejection;

use std::{collections::BTreeMap, sync::Arc};

use roaring::RoaringBitmap;
use uuid::Uuid;

use checks::{CHECKS, Case};
pub use rejection::Rejection;

use crate::{
    dispose::{Disposition, dispose},
    history::IndexEvent,
    plan::{Action, MaintenancePlan},
    snapshot::{IndexSnapshot, SegmentSnapshot},
    work::MergeInput,
};

/// A segment that an attempt has written, not yet part of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentOutcome {
    /// The unit it was built for.
    pub work_id: u32,
    /// The segment as it would stand in the manifest.
    pub segment: SegmentSnapshot,
    /// What it was merged from, as it was at the plan's version; nothing if it was built from rows.
    pub inputs: Vec<MergeInput>,
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
    let superseded = plan.superseded.iter().map(|segment| segment.uuid).collect();
    let case = Case { plan, outcomes, now, events, live, declared, superseded };
    let rejections: Vec<Rejection> = CHECKS.iter().flat_map(|check| check(&case)).collect();
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
        Action::Refresh | Action::Optimize => matches!(
            dispose(segment, &case.declared, &case.live),
            Disposition::Superseded | Disposition::Retired
        ),
    });
    accepted.removed = removed.map(|segment| segment.uuid).collect();
    accepted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::IndexEvent,
        plan::{Parallelism, plan_create, plan_optimize, plan_refresh},
        snapshot::testing::{changed, definition, field, fragment, segment, snapshot},
        tiers::MergePolicy,
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
            inputs: Vec::new(),
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

    /// Segments 1, 2 and 3 over fragments 0, 1 and 2, of which 1 and 2 are merged into 20.
    fn merge() -> (IndexSnapshot, MaintenancePlan, Vec<SegmentOutcome>) {
        let mut before = table();
        before.fragments.truncate(3);
        before.index.as_mut().unwrap().segments =
            (0..3).map(|id| segment(u128::from(id) + 1, &[id])).collect();
        let policy = MergePolicy::new(Some(1_000_000), None, 2).unwrap();
        let plan = plan_optimize(&before, "i", &policy).unwrap();
        let inputs = plan.units[0].inputs().to_vec();
        let merged = SegmentOutcome { inputs, ..outcome(0, 20, &[0, 1]) };
        (before, plan, vec![merged])
    }

    #[test]
    fn a_merge_replaces_its_inputs_and_nothing_else() {
        let (now, plan, outcomes) = merge();
        let accepted = accept(&plan, &outcomes, &now, Some(&[])).unwrap();
        assert_eq!(accepted.added, [(uuid(20), set(&[0, 1]))]);
        assert_eq!(accepted.removed, [uuid(1), uuid(2)]);
    }

    #[test]
    fn a_merge_whose_inputs_have_changed() {
        let changed = Rejection::InputsChanged { uuid: uuid(20) };
        let (mut now, plan, outcomes) = merge();
        // Another client merged one of them.
        now.index.as_mut().unwrap().segments[1].uuid = uuid(9);
        let rejected = accept(&plan, &outcomes, &now, Some(&[])).unwrap_err();
        assert!(rejected.rejections.contains(&changed));
        assert!(rejected.holds.is_empty());
        // An update of another column moved rows to a new fragment.
        let (mut now, plan, outcomes) = merge();
        now.fragments.push(fragment(5, 1));
        now.index.as_mut().unwrap().segments[1].declared = Some(set(&[1, 5]));
        let rejected = accept(&plan, &outcomes, &now, Some(&[])).unwrap_err();
        assert!(rejected.rejections.contains(&changed));
        // A rewrite of the column has taken a fragment from it.
        let (mut now, plan, outcomes) = merge();
        now.index.as_mut().unwrap().segments[1].declared = Some(set(&[]));
        let rejected = accept(&plan, &outcomes, &now, Some(&[])).unwrap_err();
        assert!(rejected.rejections.contains(&changed));
    }

    #[test]
    fn fragments_that_a_merge_covered_and_others_retired() {
        let (mut now, plan, outcomes) = merge();
        now.fragments.remove(0);
        let accepted = accept(&plan, &outcomes, &now, Some(&[])).unwrap();
        assert_eq!(accepted.added, [(uuid(20), set(&[1]))]);
        assert_eq!(accepted.removed, [uuid(1), uuid(2)]);
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
