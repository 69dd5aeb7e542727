//! What a commit made of what was accepted.

use roaring::RoaringBitmap;

use crate::{
    accept::{Acceptance, SegmentOutcome},
    plan::MaintenancePlan,
    snapshot::IndexSnapshot,
};

/// What a commit made of what was accepted, read back from the version that it made.
#[derive(Debug, Clone, PartialEq)]
pub struct Established {
    /// The live fragments that the new segments cover.
    pub fragments: RoaringBitmap,
    /// Live fragments that they cover, but with values that were rewritten since they were read:
    /// a commit that Lance lets pass beside ours came between acceptance and commit. They have to
    /// be withdrawn.
    pub rewritten: RoaringBitmap,
}

/// Compares what was accepted with `after`, the version that the commit made. `None` if the indexed
/// field is gone there, or of another type: the new segments must not stay.
pub fn established(
    plan: &MaintenancePlan,
    outcomes: &[SegmentOutcome],
    accepted: &Acceptance,
    after: &IndexSnapshot,
) -> Option<Established> {
    after.field.as_ref().filter(|field| field.is_same(&plan.definition.field))?;
    let live = after.live();
    let mut covered = RoaringBitmap::new();
    for (uuid, declared) in &accepted.added {
        let segment = after.segments().iter().find(|segment| segment.uuid == *uuid);
        let declares = segment.and_then(|segment| segment.declared.clone());
        covered |= declares.unwrap_or_default() & declared & &live;
    }
    let was_rewritten = |id: &u32| {
        let files = outcomes.iter().find_map(|outcome| outcome.field_files.get(id));
        after.fragment(*id).map(|fragment| &fragment.field_files) != files
    };
    let rewritten: RoaringBitmap = covered.iter().filter(was_rewritten).collect();
    Some(Established { fragments: covered - &rewritten, rewritten })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        plan::{Parallelism, plan_refresh},
        snapshot::testing::{fragment, segment, snapshot},
    };

    /// Fragments 1 and 2 were indexed by segment 7 and accepted; what the commit made of it.
    fn of(after: &IndexSnapshot) -> Option<(Vec<u32>, Vec<u32>)> {
        let before = snapshot((0..3).map(|id| fragment(id, 10)).collect(), vec![segment(1, &[0])]);
        let one = Parallelism { num_segments: Some(1), target_partitions: 1 };
        let plan = plan_refresh(&before, "i", one).unwrap();
        let outcome = SegmentOutcome {
            work_id: 0,
            segment: segment(7, &[1, 2]),
            inputs: Vec::new(),
            field_id: 0,
            field_files: [1, 2].map(|id| (id, fragment(id, 10).field_files)).into(),
        };
        let added = vec![(Uuid::from_u128(7), RoaringBitmap::from([1, 2]))];
        let accepted = Acceptance { added, ..Default::default() };
        let Established { fragments, rewritten } =
            established(&plan, &[outcome], &accepted, after)?;
        Some((fragments.iter().collect(), rewritten.iter().collect()))
    }

    fn after() -> IndexSnapshot {
        let segments = vec![segment(1, &[0]), segment(7, &[1, 2])];
        snapshot((0..3).map(|id| fragment(id, 10)).collect(), segments)
    }

    #[test]
    fn all_of_it() {
        assert_eq!(of(&after()), Some((vec![1, 2], vec![])));
    }

    #[test]
    fn without_what_others_retired_or_withdrew() {
        let mut now = after();
        now.fragments.retain(|fragment| fragment.id != 2);
        assert_eq!(of(&now), Some((vec![1], vec![])));
        let mut now = after();
        now.index.as_mut().unwrap().segments[1].declared = Some(RoaringBitmap::from([2]));
        assert_eq!(of(&now), Some((vec![2], vec![])));
    }

    #[test]
    fn what_has_to_go() {
        let mut now = after();
        now.field = None;
        assert_eq!(of(&now), None);
        let mut now = after();
        now.fragments[1].field_files = "rewritten.lance".into();
        assert_eq!(of(&now), Some((vec![2], vec![1])));
    }
}
