use std::collections::BTreeSet;

use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{MaintenancePlan, Reason, Sizing, Superseded};
use crate::{
    accept::SegmentOutcome,
    coverage::covered_by,
    snapshot::IndexSnapshot,
    stale::{Added, stale_for},
};

/// Takes out of a new plan what outcomes of an earlier one for the same statement have already
/// built, and answers which of them the plan counts on.
///
/// A merge is of use if all its inputs are what they were; the plan's own merges of them give way.
/// Another outcome is, if all its live fragments are among those that the plan indexes from rows.
/// None may be stale for any fragment of the plan. The units that remain are divided anew and
/// numbered on from the outcomes' work ids.
pub fn build_on(
    plan: &mut MaintenancePlan,
    snapshot: &IndexSnapshot,
    outcomes: &[SegmentOutcome],
    sizing: &Sizing,
) -> Vec<Uuid> {
    let (live, all) = (snapshot.live(), Added::new(&plan.fragments(), snapshot));
    let fresh =
        |outcome: &&SegmentOutcome| stale_for(&outcome.segment, &all, snapshot, &live).is_empty();
    let (merges, builds): (Vec<_>, Vec<_>) =
        outcomes.iter().filter(fresh).partition(|outcome| !outcome.inputs.is_empty());

    let mut used = Vec::new();
    for outcome in merges {
        if are_unchanged(outcome, snapshot, &live) && take_merge(plan, outcome, snapshot, &live) {
            used.push(outcome.segment.uuid);
        }
    }

    let from_rows = plan.units.iter().filter(|unit| unit.reads_rows());
    let mut rest = from_rows.fold(RoaringBitmap::new(), |all, unit| all | &unit.fragments);
    let merged = used.len();
    for outcome in builds {
        let fragments = outcome.segment.declared.clone().unwrap_or_default() & &live;
        if !fragments.is_empty() && fragments.is_subset(&rest) {
            rest -= fragments;
            used.push(outcome.segment.uuid);
        }
    }
    if used.len() > merged {
        plan.units.retain(|unit| !unit.reads_rows());
        let units = sizing.divide(snapshot, &rest, used.len() - merged);
        plan.units.splice(0..0, units);
    }
    if !used.is_empty() {
        let next = outcomes.iter().map(|outcome| outcome.work_id + 1).max().unwrap_or(0);
        for (unit, work_id) in plan.units.iter_mut().zip(next..) {
            unit.work_id = work_id;
        }
    }
    used
}

/// Whether what the outcome was merged from is still there, and covers what it did.
pub(crate) fn are_unchanged(
    outcome: &SegmentOutcome,
    snapshot: &IndexSnapshot,
    live: &RoaringBitmap,
) -> bool {
    outcome.inputs.iter().all(|input| {
        let segment = snapshot.segments().iter().find(|segment| segment.uuid == input.uuid);
        segment.is_some_and(|segment| covered_by(segment, live) == &input.fragments & live)
    })
}

/// Has the plan count on a merge that is done. Not if it has to index any of the inputs anew.
fn take_merge(
    plan: &mut MaintenancePlan,
    outcome: &SegmentOutcome,
    snapshot: &IndexSnapshot,
    live: &RoaringBitmap,
) -> bool {
    let inputs: BTreeSet<Uuid> = outcome.inputs.iter().map(|input| input.uuid).collect();
    let goes = |segment: &Superseded| inputs.contains(&segment.uuid) && !segment.reason.is_merge();
    if plan.superseded.iter().any(goes) {
        return false;
    }
    let covered = outcome.segment.declared.clone().unwrap_or_default() & live;
    let mut given_up = RoaringBitmap::new();
    plan.units.retain(|unit| {
        let stays = unit.fragments.is_disjoint(&covered);
        if !stays {
            given_up |= &unit.fragments;
        }
        stays
    });
    let segments = snapshot.segments().iter();
    let given_up: BTreeSet<Uuid> = segments
        .filter(|segment| !covered_by(segment, live).is_disjoint(&given_up))
        .map(|segment| segment.uuid)
        .collect();
    plan.superseded.retain(|segment| !given_up.contains(&segment.uuid));
    plan.skipped.retain(|segment| !inputs.contains(&segment.uuid));
    plan.superseded
        .extend(inputs.into_iter().map(|uuid| Superseded { uuid, reason: Reason::Merged }));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::{
            plan_optimize, plan_refresh,
            testing::{ONE, ids, three},
        },
        snapshot::testing::{fragment, segment, snapshot},
        tiers::MergePolicy,
        work::MergeInput,
    };

    fn built(work_id: u32, uuid: u128, fragments: &[u32]) -> SegmentOutcome {
        SegmentOutcome {
            work_id,
            segment: segment(uuid, fragments),
            inputs: Vec::new(),
            field_id: 0,
            field_files: Default::default(),
        }
    }

    #[test]
    fn a_second_plan_builds_on_what_the_first_one_built() {
        let table = snapshot(three(), vec![segment(1, &[0])]);
        let mut plan = plan_refresh(&table, "i", ONE).unwrap();
        // Fragment 9 has died since; fragment 0 is no longer work.
        let outcomes = [built(0, 20, &[1, 9]), built(1, 21, &[0])];
        let used = build_on(&mut plan, &table, &outcomes, &Sizing::Parallel(ONE));
        assert_eq!(used, [Uuid::from_u128(20)]);
        assert_eq!(ids(&plan), ["2"]);
        assert_eq!(plan.units[0].work_id, 2);
    }

    /// Segments 1 to 4 over a fragment each, the last of which is new; fragment 4 is unindexed.
    fn tiers() -> (IndexSnapshot, Sizing, MergePolicy) {
        let segments = (0..4).map(|id| segment(u128::from(id) + 1, &[id])).collect();
        let table = snapshot((0..5).map(|id| fragment(id, 20_000)).collect(), segments);
        let policy = MergePolicy::new(Some(1_000_000), None, 2).unwrap();
        (table, Sizing::Tiered(policy.clone()), policy)
    }

    fn merged(uuid: u128, inputs: &[u128]) -> SegmentOutcome {
        let fragments: Vec<u32> = inputs.iter().map(|uuid| *uuid as u32 - 1).collect();
        let input = |uuid: &u128| MergeInput {
            uuid: Uuid::from_u128(*uuid),
            fragments: RoaringBitmap::from([*uuid as u32 - 1]),
        };
        SegmentOutcome { inputs: inputs.iter().map(input).collect(), ..built(7, uuid, &fragments) }
    }

    #[test]
    fn a_merge_that_is_done_takes_the_place_of_others() {
        let (table, sizing, policy) = tiers();
        let mut plan = plan_optimize(&table, "i", &policy).unwrap();
        assert_eq!(ids(&plan), ["4", "0-1", "2-3"]);
        // Segments 2 and 3 were merged; 1 and 4 are left for another time.
        let used = build_on(&mut plan, &table, &[merged(20, &[2, 3])], &sizing);
        assert_eq!(used, [Uuid::from_u128(20)]);
        assert_eq!(ids(&plan), ["4"]);
        assert_eq!(plan.units[0].work_id, 8);
        let superseded: Vec<_> = plan.superseded.iter().map(|it| it.uuid.as_u128()).collect();
        assert_eq!(superseded, [2, 3]);
    }

    #[test]
    fn both_kinds_of_outcomes() {
        let (table, sizing, policy) = tiers();
        let mut plan = plan_optimize(&table, "i", &policy).unwrap();
        let outcomes = [built(3, 21, &[4]), merged(20, &[1, 2])];
        assert_eq!(build_on(&mut plan, &table, &outcomes, &sizing).len(), 2);
        assert_eq!(ids(&plan), ["2-3"]);
        assert_eq!(plan.superseded.len(), 4);
    }

    #[test]
    fn a_merge_of_what_has_changed_is_of_no_use() {
        let (mut table, sizing, policy) = tiers();
        let grown = Some(RoaringBitmap::from([1, 4]));
        table.index.as_mut().unwrap().segments[1].declared = grown;
        let mut plan = plan_optimize(&table, "i", &policy).unwrap();
        let before = plan.clone();
        assert!(build_on(&mut plan, &table, &[merged(20, &[1, 2])], &sizing).is_empty());
        assert!(build_on(&mut plan, &table, &[merged(20, &[1, 9])], &sizing).is_empty());
        assert_eq!(plan, before);
    }
}
