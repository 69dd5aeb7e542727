use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{
    Action, MaintenancePlan, Reason, Superseded,
    create::definition_only,
    refresh::{Due, due, retired},
    sizing::cut,
    uuids,
};
use crate::{
    error::PlanError,
    snapshot::{IndexSnapshot, Merging, SegmentSnapshot},
    tiers::{Candidate, MergeGroup, MergePolicy},
    work::{MergeInput, Work, WorkUnit},
};

/// Plans `OPTIMIZE INDEX`: all that a REFRESH does, in segments of at most the policy's target, and
/// merges of existing segments that the policy chooses. Neither: no units.
///
/// Segments that can't stay beside the new ones are indexed anew and take part in no merge; nor do
/// the new ones.
///
/// # Errors
/// [`PlanError::NoSuchIndex`] where the snapshot has no index; `name` is what was asked for.
pub fn plan_optimize(
    snapshot: &IndexSnapshot,
    name: &str,
    policy: &MergePolicy,
) -> Result<MaintenancePlan, PlanError> {
    let Some(index) = &snapshot.index else {
        return Err(PlanError::NoSuchIndex(name.to_string()));
    };
    let live = snapshot.live();
    let Due { fragments, mut superseded } = due(snapshot, index, &live);
    let goes: BTreeSet<Uuid> = superseded.iter().map(|segment| segment.uuid).collect();
    let mut candidates = Candidate::of(snapshot);
    candidates.retain(|candidate| !goes.contains(&candidate.uuid));
    let selection = policy.select(&candidates, &live);

    let mut units = cut(policy, snapshot, &fragments, &candidates);
    if index.segments.is_empty() && live.is_empty() {
        units.push(definition_only());
    }
    let segments: BTreeMap<Uuid, (&SegmentSnapshot, &Candidate)> = {
        let by_uuid: BTreeMap<Uuid, &Candidate> =
            candidates.iter().map(|candidate| (candidate.uuid, candidate)).collect();
        let segments = index.segments.iter();
        segments.filter_map(|it| Some((it.uuid, (it, *by_uuid.get(&it.uuid)?)))).collect()
    };
    for (group, work_id) in selection.groups.into_iter().zip(units.len()..) {
        let inputs: Vec<_> =
            group.inputs.iter().filter_map(|uuid| segments.get(uuid).copied()).collect();
        superseded.extend(inputs.iter().map(|(segment, _)| Superseded {
            uuid: segment.uuid,
            reason: reason(segment, &inputs),
        }));
        units.push(unit(u32::try_from(work_id).unwrap_or(u32::MAX), group, &inputs));
    }
    let retired = retired(index, &units, &superseded, &live);
    let mut skipped = selection.skipped;
    skipped.retain(|segment| !retired.contains(&segment.uuid));
    Ok(MaintenancePlan {
        read_version: snapshot.version,
        action: Action::Optimize,
        definition: index.definition.clone(),
        segments: uuids(&index.segments),
        units,
        superseded,
        retired,
        skipped,
    })
}

fn unit(work_id: u32, group: MergeGroup, inputs: &[(&SegmentSnapshot, &Candidate)]) -> WorkUnit {
    let MergeGroup { tier, fragments, rows, bytes, .. } = group;
    let work = if inputs.iter().any(|(segment, _)| segment.merging != Merging::Exact) {
        Work::BuildCoverage
    } else {
        let input = |(_, candidate): &(&SegmentSnapshot, &Candidate)| MergeInput {
            uuid: candidate.uuid,
            fragments: candidate.fragments.clone(),
        };
        Work::MergeSegments { tier, inputs: inputs.iter().map(input).collect() }
    };
    WorkUnit { work_id, work, fragments, rows, bytes }
}

fn reason(segment: &SegmentSnapshot, group: &[(&SegmentSnapshot, &Candidate)]) -> Reason {
    match &segment.merging {
        Merging::FromRows { why } => Reason::MergedFromRows { why: Some(why.clone()) },
        _ if group.iter().all(|(other, _)| other.merging == Merging::Exact) => Reason::Merged,
        _ => Reason::MergedFromRows { why: None },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roaring::RoaringBitmap;

    use super::*;
    use crate::{
        coverage::{covered_by, unindexed},
        plan::testing::{ids, three},
        snapshot::{
            FragmentSnapshot,
            testing::{changed, fragment, segment, snapshot},
        },
        stale::{Added, stale_for},
        tiers::{Ineligible, Skip},
    };

    fn policy(merge_factor: u64) -> MergePolicy {
        MergePolicy::new(Some(1_000_000), None, merge_factor).unwrap()
    }

    /// So many fragments of 20,000 rows, each with a segment of its own but for the last ones.
    fn table(fragments: u32, unindexed: u32) -> IndexSnapshot {
        let segments = (0..fragments - unindexed).map(|id| segment(u128::from(id) + 1, &[id]));
        snapshot((0..fragments).map(|id| fragment(id, 20_000)).collect(), segments.collect())
    }

    fn units(plan: &MaintenancePlan) -> Vec<String> {
        plan.units.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn covers_and_merges_at_once() {
        let plan = plan_optimize(&table(6, 1), "i", &policy(3)).unwrap();
        assert_eq!(
            units(&plan),
            [
                "BuildCoverage unit=0 fragments=[5] rows=20000 bytes~100",
                "MergeSegments unit=1 tier=4 segments=[00000000-0000-0000-0000-000000000001,\
                 00000000-0000-0000-0000-000000000002,00000000-0000-0000-0000-000000000003] \
                 fragments=[0-2] rows=60000 bytes~300",
            ]
        );
        let superseded: Vec<_> = plan.superseded.iter().map(|it| it.uuid.as_u128()).collect();
        assert_eq!(superseded, [1, 2, 3]);
        let skipped: Vec<_> = plan.skipped.iter().map(|it| it.uuid.as_u128()).collect();
        assert_eq!(skipped, [4, 5]);
        assert_eq!(plan.skipped[0].reason, Skip::TooFew { found: 2, needed: 3 });
    }

    #[test]
    fn nothing_to_do() {
        let plan = plan_optimize(&table(2, 0), "i", &policy(3)).unwrap();
        assert!(plan.is_empty() && plan.superseded.is_empty());
        assert_eq!(plan.skipped.len(), 2);
    }

    #[test]
    fn stale_segments_are_built_anew_and_not_merged() {
        let mut table = table(5, 1);
        table.fragments[4] = changed(4, 5);
        for segment in &mut table.index.as_mut().unwrap().segments {
            segment.follows_rows = true;
            segment.built_at = 6;
        }
        table.index.as_mut().unwrap().segments[1].built_at = 3;
        let plan = plan_optimize(&table, "i", &policy(3)).unwrap();
        assert_eq!(ids(&plan), ["1,4", "0,2-3"]);
        assert!(plan.units[0].reads_rows() && !plan.units[1].reads_rows());
    }

    #[test]
    fn what_lance_cannot_merge_is_merged_from_rows() {
        let mut table = table(3, 0);
        let why = "it covers fragments that are gone".to_string();
        table.index.as_mut().unwrap().segments[1].merging = Merging::FromRows { why };
        let plan = plan_optimize(&table, "i", &policy(3)).unwrap();
        assert_eq!(units(&plan), ["BuildCoverage unit=0 fragments=[0-2] rows=60000 bytes~300"]);
        let reasons: Vec<_> = plan.superseded.iter().map(|it| it.reason.to_string()).collect();
        assert_eq!(
            reasons,
            [
                "merged from rows, with others",
                "merged from rows: it covers fragments that are gone",
                "merged from rows, with others"
            ]
        );
    }

    #[test]
    fn what_no_merge_may_have() {
        let mut table = table(4, 0);
        let elsewhere = Merging::Never(Ineligible::OtherBase);
        table.index.as_mut().unwrap().segments[1].merging = elsewhere;
        let plan = plan_optimize(&table, "i", &policy(3)).unwrap();
        assert_eq!(ids(&plan), ["0,2-3"]);
        assert_eq!(plan.skipped[0].reason, Skip::Ineligible(Ineligible::OtherBase));
    }

    #[test]
    fn an_index_that_has_to_be_rebuilt_is_cut_to_the_target() {
        let mut table = table(4, 0);
        table.index.as_mut().unwrap().segments[1].format = "other".to_string();
        let target = MergePolicy::new(Some(40_000), None, 2).unwrap();
        let plan = plan_optimize(&table, "i", &target).unwrap();
        assert_eq!(ids(&plan), ["0-1", "2-3"]);
        assert_eq!(plan.superseded.len(), 4);
    }

    #[test]
    fn dead_segments_go_beside_an_addition_only() {
        let mut table = snapshot(three(), vec![segment(1, &[0, 1, 2]), segment(2, &[9])]);
        let plan = plan_optimize(&table, "i", &policy(2)).unwrap();
        assert!(plan.is_empty());
        assert_eq!(plan.skipped[0].reason, Skip::Ineligible(Ineligible::Retired));
        table.fragments.push(fragment(10, 1));
        let plan = plan_optimize(&table, "i", &policy(2)).unwrap();
        assert_eq!((ids(&plan), plan.retired.len()), (vec!["10".to_string()], 1));
        assert_eq!(plan.skipped.len(), 1);
    }

    #[test]
    fn without_the_index() {
        let mut table = table(1, 0);
        table.index = None;
        let error = plan_optimize(&table, "nope", &policy(2)).unwrap_err();
        assert_eq!(error, PlanError::NoSuchIndex("nope".to_string()));
    }

    proptest! {
        /// Whatever the table and its segments look like: each segment has one fate, and the new
        /// segments cover, together with those that stay, every live fragment once.
        #[test]
        fn every_live_fragment_is_covered_once(
            owners in prop::collection::vec(0u8..12, 1..40),
            dead in prop::collection::vec(any::<bool>(), 40),
            rows in prop::collection::vec(0u64..40_000, 40),
            moved in prop::collection::vec(0u64..6, 40),
            built in prop::collection::vec(3u64..9, 10),
            mergeable in prop::collection::vec(0u8..8, 10),
            merge_factor in 2u64..5,
        ) {
            // owners[id] is the segment that covers the fragment; 10 and 11: none.
            let mut fragments = Vec::new();
            for id in 0..owners.len() as u32 {
                if !dead[id as usize] {
                    let live_rows = rows[id as usize];
                    fragments.push(FragmentSnapshot { live_rows, ..changed(id, moved[id as usize]) });
                }
            }
            let segments: Vec<_> = (0..10u8)
                .map(|owner| {
                    let declared: Vec<u32> = (0..owners.len() as u32)
                        .filter(|id| owners[*id as usize] == owner)
                        .collect();
                    let merging = match mergeable[owner as usize] {
                        0 => Merging::Never(Ineligible::OtherBase),
                        1 => Merging::FromRows { why: "so it is".to_string() },
                        _ => Merging::Exact,
                    };
                    SegmentSnapshot {
                        follows_rows: true,
                        built_at: built[owner as usize],
                        merging,
                        ..segment(u128::from(owner), &declared)
                    }
                })
                .collect();
            let table = snapshot(fragments, segments);
            let plan = plan_optimize(&table, "i", &policy(merge_factor)).unwrap();
            let live = table.live();
            let mut seen = RoaringBitmap::new();
            for unit in &plan.units {
                prop_assert!(seen.is_disjoint(&unit.fragments));
                prop_assert!(unit.fragments.is_subset(&live));
                prop_assert!(unit.inputs().len() != 1 && unit.inputs().len() as u64 <= merge_factor);
                seen |= &unit.fragments;
            }
            for segment in table.segments() {
                let own = covered_by(segment, &live);
                let fates = [
                    plan.supersedes(segment.uuid),
                    plan.retired.contains(&segment.uuid),
                    plan.skipped.iter().any(|skipped| skipped.uuid == segment.uuid),
                ];
                prop_assert_eq!(fates.iter().filter(|fate| **fate).count(), 1);
                if fates[0] {
                    prop_assert!(own.is_subset(&seen));
                } else {
                    prop_assert!(seen.is_disjoint(&own));
                    let added = Added::new(&unindexed(&table), &table);
                    prop_assert!(stale_for(segment, &added, &table, &live).is_empty());
                }
            }
            for segment in table.segments().iter().filter(|it| !plan.supersedes(it.uuid)) {
                seen |= covered_by(segment, &live);
            }
            prop_assert_eq!(seen, live);
        }
    }
}
