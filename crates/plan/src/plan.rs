//! Plans: which segments to build, and which existing ones they supersede.

use std::fmt;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    accept::SegmentOutcome,
    coverage::{covered_by, format_ranges, unindexed},
    error::PlanError,
    runs::split_runs,
    snapshot::{Index, IndexDefinition, IndexSnapshot, SegmentSnapshot},
    stale::stale_for,
    work::WorkUnit,
};

/// A run gets about this many rows where the statement doesn't say how many segments it wants.
pub const DEFAULT_ROWS_PER_SEGMENT: u64 = 1_000_000;

/// What a statement does to one index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MaintenancePlan {
    /// The table version that the plan was made from, and that its units read.
    pub read_version: u64,
    /// Which statement it is for.
    pub action: Action,
    /// What the new segments are made to be.
    pub definition: IndexDefinition,
    /// The segments that the index had at `read_version`: by them it is known again later.
    pub segments: Vec<Uuid>,
    /// The segments to build, in order of their ids.
    pub units: Vec<WorkUnit>,
    /// Existing segments whose live rows the units index anew, each with its reason.
    pub superseded: Vec<Superseded>,
    /// Existing segments with no live fragment left, to be removed beside an addition.
    pub retired: Vec<Uuid>,
}

/// The statement that a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// `CREATE INDEX`: there must be no index of that name when it is published.
    Create,
    /// `CREATE OR REPLACE INDEX`: every segment of that name is replaced.
    Replace,
    /// `REFRESH INDEX`: cover what is unindexed.
    Refresh,
}

/// An existing segment that is built anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Superseded {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// Why it can't stay.
    pub reason: Reason,
}

/// Why an existing segment is built anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reason {
    /// `CREATE OR REPLACE`.
    Replaced,
    /// It may hold postings of rows that are now in these unindexed fragments, with another value.
    Stale {
        /// Unindexed fragments that hold rows which the segment indexed before they changed.
        fragments: RoaringBitmap,
    },
    /// Its on-disk format is not the one that new segments get, and the two can't stand beside
    /// each other.
    OtherFormat {
        /// The format of the segment.
        found: String,
        /// The format of a new segment.
        expected: String,
    },
    /// It doesn't say which fragments it covers.
    Untracked,
    /// Another segment of the index has to be replaced, and that takes all of them.
    WithOthers,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced => write!(f, "the index is replaced"),
            Self::Stale { fragments } => write!(
                f,
                "stale: may hold earlier values of rows now in fragments [{}]",
                format_ranges(fragments)
            ),
            Self::OtherFormat { found, expected } => {
                write!(f, "its format {found} can't stand beside {expected}")
            }
            Self::Untracked => write!(f, "it doesn't say which fragments it covers"),
            Self::WithOthers => write!(f, "the whole index is rebuilt"),
        }
    }
}

/// How many segments a statement builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// As many as the statement asks for, at least one; `None` leaves it to the number of rows.
    pub num_segments: Option<u32>,
    /// At most this many where the statement doesn't ask.
    pub target_partitions: usize,
}

impl MaintenancePlan {
    /// Whether the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Every fragment that the units index.
    pub fn fragments(&self) -> RoaringBitmap {
        self.units.iter().fold(RoaringBitmap::new(), |all, unit| all | &unit.fragments)
    }

    /// Whether the plan supersedes the segment.
    pub fn supersedes(&self, uuid: Uuid) -> bool {
        self.superseded.iter().any(|superseded| superseded.uuid == uuid)
    }
}

/// Plans `CREATE INDEX`: segments over every live fragment, or, with `train` off or on a table
/// without fragments, one segment that only records the definition.
///
/// # Errors
/// [`PlanError::AlreadyExists`] where the index exists and `replace` is off.
pub fn plan_create(
    snapshot: &IndexSnapshot,
    definition: IndexDefinition,
    replace: bool,
    train: bool,
    parallelism: Parallelism,
) -> Result<MaintenancePlan, PlanError> {
    if snapshot.index.is_some() && !replace {
        return Err(PlanError::AlreadyExists(definition.name));
    }
    let mut units = Vec::new();
    if train {
        units = split(snapshot, &snapshot.live(), parallelism);
    }
    if units.is_empty() {
        units.push(WorkUnit { work_id: 0, fragments: RoaringBitmap::new(), rows: 0 });
    }
    let superseded = snapshot
        .segments()
        .iter()
        .map(|segment| Superseded { uuid: segment.uuid, reason: Reason::Replaced });
    Ok(MaintenancePlan {
        read_version: snapshot.version,
        action: if replace { Action::Replace } else { Action::Create },
        definition,
        segments: uuids(snapshot.segments()),
        units,
        superseded: superseded.collect(),
        retired: Vec::new(),
    })
}

/// Plans `REFRESH INDEX`: segments over the unindexed fragments and over the live fragments of
/// those segments that can't stay beside them. Nothing unindexed: no units.
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
    let (work, superseded) = match whole_rebuild(index) {
        Some(superseded) => (snapshot.live(), superseded),
        None => with_stale(snapshot, index),
    };
    let live = snapshot.live();
    let retired = index.segments.iter().filter(|segment| {
        segment.is_retired(&live) && !superseded.iter().any(|other| other.uuid == segment.uuid)
    });
    Ok(MaintenancePlan {
        read_version: snapshot.version,
        action: Action::Refresh,
        definition: index.definition.clone(),
        segments: uuids(&index.segments),
        units: split(snapshot, &work, parallelism),
        retired: retired.map(|segment| segment.uuid).collect(),
        superseded,
    })
}

/// Takes out of a new plan what outcomes of an earlier one for the same statement have already
/// built, and answers which of them the plan counts on.
///
/// An outcome is of use if all its live fragments are among those that the plan indexes, and it
/// isn't stale for any of them. The
/// units that remain are split anew and numbered on from the outcomes' work ids.
pub fn build_on(
    plan: &mut MaintenancePlan,
    snapshot: &IndexSnapshot,
    outcomes: &[SegmentOutcome],
    parallelism: Parallelism,
) -> Vec<Uuid> {
    let (live, all) = (snapshot.live(), plan.fragments());
    let mut rest = all.clone();
    let mut used = Vec::new();
    for outcome in outcomes {
        let fragments = outcome.segment.declared.clone().unwrap_or_default() & &live;
        let stays = stale_for(&outcome.segment, &all, snapshot).is_empty();
        if !fragments.is_empty() && fragments.is_subset(&rest) && stays {
            rest -= fragments;
            used.push(outcome.segment.uuid);
        }
    }
    if !used.is_empty() {
        let next = outcomes.iter().map(|outcome| outcome.work_id + 1).max().unwrap_or(0);
        let built = u32::try_from(used.len()).unwrap_or(u32::MAX);
        let num_segments = parallelism.num_segments.map(|n| n.saturating_sub(built).max(1));
        plan.units = split(snapshot, &rest, Parallelism { num_segments, ..parallelism });
        for unit in &mut plan.units {
            unit.work_id += next;
        }
    }
    used
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

/// The unindexed fragments with the live fragments of the segments that are stale for them, and
/// these segments.
///
/// Fragments that are covered already are no reason: what a segment holds of them shows in
/// queries today, and indexing them anew changes nothing about it.
fn with_stale(snapshot: &IndexSnapshot, index: &Index) -> (RoaringBitmap, Vec<Superseded>) {
    let live = snapshot.live();
    let unindexed = unindexed(snapshot);
    let mut work = unindexed.clone();
    let mut superseded = Vec::new();
    for segment in &index.segments {
        let fragments = stale_for(segment, &unindexed, snapshot);
        if !fragments.is_empty() {
            work |= covered_by(segment, &live);
            let reason = Reason::Stale { fragments };
            superseded.push(Superseded { uuid: segment.uuid, reason });
        }
    }
    (work, superseded)
}

fn split(
    snapshot: &IndexSnapshot,
    fragments: &RoaringBitmap,
    parallelism: Parallelism,
) -> Vec<WorkUnit> {
    let chosen: Vec<_> =
        snapshot.fragments.iter().filter(|fragment| fragments.contains(fragment.id)).collect();
    let rows: Vec<u64> = chosen.iter().map(|fragment| fragment.live_rows).collect();
    let by_rows = || {
        let total: u64 = rows.iter().sum();
        usize::try_from(total.div_ceil(DEFAULT_ROWS_PER_SEGMENT))
            .unwrap_or(usize::MAX)
            .clamp(1, parallelism.target_partitions.max(1))
    };
    let n =
        parallelism.num_segments.map_or_else(by_rows, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let runs = split_runs(&rows, n).into_iter();
    runs.zip(0..)
        .map(|(run, work_id)| WorkUnit {
            work_id,
            fragments: chosen[run.clone()].iter().map(|fragment| fragment.id).collect(),
            rows: rows[run].iter().sum(),
        })
        .collect()
}

fn uuids(segments: &[SegmentSnapshot]) -> Vec<Uuid> {
    segments.iter().map(|segment| segment.uuid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::testing::{changed, definition, fragment, segment, snapshot};
    use proptest::prelude::*;

    const ONE: Parallelism = Parallelism { num_segments: None, target_partitions: 4 };

    fn three() -> Vec<crate::snapshot::FragmentSnapshot> {
        vec![fragment(0, 10), fragment(1, 10), fragment(2, 10)]
    }

    fn ids(plan: &MaintenancePlan) -> Vec<String> {
        plan.units.iter().map(|unit| format_ranges(&unit.fragments)).collect()
    }

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
    fn create() {
        let mut table = snapshot(three(), vec![segment(1, &[0])]);
        let taken = plan_create(&table, definition(), false, true, ONE).unwrap_err();
        assert_eq!(taken, PlanError::AlreadyExists("i".to_string()));
        let replaced = plan_create(&table, definition(), true, true, ONE).unwrap();
        assert_eq!(replaced.superseded[0].reason, Reason::Replaced);
        table.index = None;
        let created = plan_create(&table, definition(), false, true, ONE).unwrap();
        assert_eq!(ids(&created), ["0-2"]);
        let deferred = plan_create(&table, definition(), false, false, ONE).unwrap();
        assert_eq!(ids(&deferred), [""]);
        table.fragments.clear();
        let empty = plan_create(&table, definition(), false, true, ONE).unwrap();
        assert_eq!(ids(&empty), [""]);
    }

    #[test]
    fn a_second_plan_builds_on_what_the_first_one_built() {
        let table = snapshot(three(), vec![segment(1, &[0])]);
        let mut plan = plan_refresh(&table, "i", ONE).unwrap();
        let built = |work_id, uuid, fragments: &[u32]| SegmentOutcome {
            work_id,
            segment: segment(uuid, fragments),
            field_id: 0,
            field_files: Default::default(),
        };
        // Fragment 9 has died since; fragment 0 is no longer work.
        let outcomes = [built(0, 20, &[1, 9]), built(1, 21, &[0])];
        let used = build_on(&mut plan, &table, &outcomes, ONE);
        assert_eq!(used, [Uuid::from_u128(20)]);
        assert_eq!(ids(&plan), ["2"]);
        assert_eq!(plan.units[0].work_id, 2);
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
                    prop_assert!(stale_for(segment, &unindexed(&table), &table).is_empty());
                    seen |= own;
                }
            }
            prop_assert_eq!(seen, live);
        }
    }
}
