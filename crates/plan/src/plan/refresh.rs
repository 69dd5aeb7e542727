use std::collections::BTreeSet;

use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{
    Action, MaintenancePlan, Parallelism, Reason, Superseded, create::definition_only, uuids,
};
use crate::{
    coverage::{covered_by, unindexed},
    error::PlanError,
    snapshot::{Index, IndexSnapshot, SegmentSnapshot},
    stale::{Added, stale_for},
    work::WorkUnit,
};

/// Plans `REFRESH INDEX`: segments over the unindexed fragments and over the live fragments of
/// those segments that can't stay beside them. Nothing unindexed: no units, but for an index without
/// segments of a table without rows, which gets one that only records the definition.
///
/// # Errors
/// [`PlanError::NoSuchIndex`] where the snapshot has no index; `name` is what was asked for.
pub fn plan_refresh(
    snapshot: &IndexSnapshot,
    name: &str,
    parallelism: Parallelism,
) -> Result<MaintenancePlan, PlanError> {
    let Some(index) = &snapshot.index else {
        return Err(PlanError::NoSuchIndex(name.to_string()));
    };
    let live = snapshot.live();
    let Due { fragments, superseded } = due(snapshot, index, &live);
    let mut units = parallelism.split(snapshot, &fragments);
    if index.segments.is_empty() && live.is_empty() {
        units.push(definition_only());
    }
    Ok(MaintenancePlan {
        read_version: snapshot.version,
        action: Action::Refresh,
        definition: index.definition.clone(),
        segments: uuids(&index.segments),
        retired: retired(index, &units, &superseded, &live),
        units,
        superseded,
        skipped: Vec::new(),
    })
}

/// What has to be indexed so that every live fragment is.
pub(super) struct Due {
    /// The unindexed fragments, and those of the segments that can't stay.
    pub fragments: RoaringBitmap,
    /// The segments that can't stay.
    pub superseded: Vec<Superseded>,
}

/// The unindexed fragments with the live fragments of the segments that can't stay beside their
/// new ones: all segments, where one of them can stand beside no new one, or those that are stale
/// for the unindexed fragments.
///
/// Fragments that are covered already are no reason: what a segment holds of them shows in
/// queries today, and indexing them anew changes nothing about it.
pub(super) fn due(snapshot: &IndexSnapshot, index: &Index, live: &RoaringBitmap) -> Due {
    if let Some(superseded) = whole_rebuild(index) {
        return Due { fragments: live.clone(), superseded };
    }
    let unindexed = unindexed(snapshot);
    let mut due = Due { fragments: unindexed.clone(), superseded: Vec::new() };
    let added = Added::new(&unindexed, snapshot);
    for segment in &index.segments {
        let fragments = stale_for(segment, &added, snapshot, live);
        if !fragments.is_empty() {
            due.fragments |= covered_by(segment, live);
            let reason = Reason::Stale { fragments };
            due.superseded.push(Superseded { uuid: segment.uuid, reason });
        }
    }
    due
}

/// The segments without a live fragment, but for those that go anyway; none where there are no
/// units to remove them beside.
pub(super) fn retired(
    index: &Index,
    units: &[WorkUnit],
    superseded: &[Superseded],
    live: &RoaringBitmap,
) -> Vec<Uuid> {
    if units.is_empty() {
        return Vec::new();
    }
    let superseded: BTreeSet<Uuid> = superseded.iter().map(|segment| segment.uuid).collect();
    let retired = index.segments.iter().filter(|segment| segment.is_retired(live));
    retired.map(|segment| segment.uuid).filter(|uuid| !superseded.contains(uuid)).collect()
}

/// Every segment with the reason why it goes, if one of them is such that a new segment can't
/// stand beside it.
fn whole_rebuild(index: &Index) -> Option<Vec<Superseded>> {
    let expected = &index.definition.format;
    let reason = |segment: &SegmentSnapshot| {
        if segment.declared.is_none() {
            Reason::Untracked
        } else if segment.format != *expected {
            Reason::OtherFormat { found: segment.format.clone(), expected: expected.clone() }
        } else {
            Reason::WithOthers
        }
    };
    let reasons: Vec<Superseded> = index
        .segments
        .iter()
        .map(|segment| Superseded { uuid: segment.uuid, reason: reason(segment) })
        .collect();
    let blocked = reasons.iter().any(|superseded| superseded.reason != Reason::WithOthers);
    blocked.then_some(reasons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::testing::{ONE, ids, three},
        snapshot::testing::{changed, fragment, segment, snapshot},
    };
    use proptest::prelude::*;

    #[test]
    fn refresh_covers_what_is_unindexed() {
        let table = snapshot(three(), vec![segment(1, &[0])]);
        let plan = plan_refresh(&table, "i", ONE).unwrap();
        assert_eq!(ids(&plan), ["1-2"]);
        assert_eq!(plan.superseded, []);
        assert_eq!(plan.units[0].to_string(), "BuildCoverage unit=0 fragments=[1-2] rows=20");
    }

    #[test]
    fn refresh_with_nothing_unindexed_is_empty() {
        let table = snapshot(three(), vec![segment(1, &[0, 1, 2])]);
        assert!(plan_refresh(&table, "i", ONE).unwrap().is_empty());
    }

    #[test]
    fn refresh_without_the_index() {
        let mut table = snapshot(three(), vec![]);
        table.index = None;
        let error = plan_refresh(&table, "nope", ONE).unwrap_err();
        assert_eq!(error, PlanError::NoSuchIndex("nope".to_string()));
    }

    #[test]
    fn dead_fragments_are_neither_claimed_nor_counted() {
        let table = snapshot(vec![fragment(2, 10)], vec![segment(1, &[0, 1])]);
        let plan = plan_refresh(&table, "i", ONE).unwrap();
        assert_eq!(ids(&plan), ["2"]);
        assert_eq!(plan.retired, [Uuid::from_u128(1)]);
    }

    #[test]
    fn a_definition_without_rows_is_retired_by_the_first_build() {
        let table = snapshot(three(), vec![segment(1, &[])]);
        let plan = plan_refresh(&table, "i", ONE).unwrap();
        assert_eq!((ids(&plan), plan.retired), (vec!["0-2".to_string()], vec![Uuid::from_u128(1)]));
    }

    #[test]
    fn a_stale_segment_is_built_anew_and_another_is_not() {
        let mut fragments = three();
        fragments[2] = changed(2, 5);
        let old = SegmentSnapshot { follows_rows: true, built_at: 3, ..segment(1, &[0]) };
        let new = SegmentSnapshot { follows_rows: true, built_at: 6, ..segment(2, &[1]) };
        let plan = plan_refresh(&snapshot(fragments, vec![old, new]), "i", ONE).unwrap();
        assert_eq!(ids(&plan), ["0,2"]);
        assert_eq!(plan.superseded.len(), 1);
        assert_eq!(
            plan.superseded[0].reason.to_string(),
            "stale: may hold earlier values of rows now in fragments [2]"
        );
    }

    #[test]
    fn a_foreign_format_rebuilds_the_whole_index() {
        let foreign = SegmentSnapshot { format: "btree 0".to_string(), ..segment(1, &[0]) };
        let table = snapshot(three(), vec![foreign, segment(2, &[1])]);
        let plan = plan_refresh(&table, "i", ONE).unwrap();
        assert_eq!(ids(&plan), ["0-2"]);
        let reasons: Vec<_> = plan.superseded.iter().map(|s| s.reason.to_string()).collect();
        assert_eq!(
            reasons,
            ["its format btree 0 can't stand beside btree", "the whole index is rebuilt"]
        );
    }

    #[test]
    fn an_untracked_segment_rebuilds_the_whole_index() {
        let untracked = SegmentSnapshot { declared: None, ..segment(1, &[]) };
        let plan = plan_refresh(&snapshot(three(), vec![untracked]), "i", ONE).unwrap();
        assert_eq!(ids(&plan), ["0-2"]);
        assert_eq!(plan.superseded[0].reason, Reason::Untracked);
    }

    #[test]
    fn num_segments_is_clamped_to_the_fragments() {
        let table = snapshot(three(), vec![segment(1, &[0])]);
        let asked = Parallelism { num_segments: Some(99), target_partitions: 1 };
        assert_eq!(ids(&plan_refresh(&table, "i", asked).unwrap()), ["1", "2"]);
    }

    #[test]
    fn the_default_is_one_segment_a_million_rows_up_to_the_partitions() {
        let fragments = (0..16).map(|id| fragment(id, 400_000)).collect();
        let table = snapshot(fragments, vec![]);
        assert_eq!(plan_refresh(&table, "i", ONE).unwrap().units.len(), 4);
        let wide = Parallelism { num_segments: None, target_partitions: 64 };
        assert_eq!(plan_refresh(&table, "i", wide).unwrap().units.len(), 7);
    }

    #[test]
    fn a_plan_is_serialisable() {
        let table = snapshot(three(), vec![segment(1, &[0])]);
        let plan = plan_refresh(&table, "i", ONE).unwrap();
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<MaintenancePlan>(&json).unwrap(), plan);
    }

    proptest! {
        /// Whatever the table and its segments look like: the units are disjoint, live, and
        /// together with the kept segments cover every live fragment once.
        #[test]
        fn every_live_fragment_is_covered_once(
            owners in prop::collection::vec(0u8..5, 1..20),
            dead in prop::collection::vec(any::<bool>(), 20),
            moved in prop::collection::vec(0u64..6, 20),
            built in prop::collection::vec(0u64..6, 4),
            n in 1u32..5,
        ) {
            // owners[id] is the segment that covers the fragment; 4: none.
            let mut fragments = Vec::new();
            for id in 0..owners.len() as u32 {
                if !dead[id as usize] {
                    fragments.push(changed(id, moved[id as usize]));
                }
            }
            let segments: Vec<_> = (0..4u8)
                .map(|owner| {
                    let declared: Vec<u32> = (0..owners.len() as u32)
                        .filter(|id| owners[*id as usize] == owner)
                        .collect();
                    SegmentSnapshot {
                        follows_rows: true,
                        built_at: built[owner as usize],
                        ..segment(u128::from(owner), &declared)
                    }
                })
                .collect();
            let table = snapshot(fragments, segments);
            let asked = Parallelism { num_segments: Some(n), target_partitions: 1 };
            let plan = plan_refresh(&table, "i", asked).unwrap();
            let live = table.live();
            let mut seen = RoaringBitmap::new();
            for unit in &plan.units {
                prop_assert!(seen.is_disjoint(&unit.fragments));
                prop_assert!(unit.fragments.is_subset(&live));
                seen |= &unit.fragments;
            }
            for segment in table.segments() {
                let kept = !plan.supersedes(segment.uuid);
                if kept {
                    let own = covered_by(segment, &live);
                    prop_assert!(seen.is_disjoint(&own));
                    prop_assert!(stale_for(segment, &Added::new(&unindexed(&table), &table), &table, &live).is_empty());
                    seen |= own;
                }
            }
            prop_assert_eq!(seen, live);
        }
    }
}
