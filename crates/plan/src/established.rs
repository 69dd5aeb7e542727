//! What a commit made of what was accepted.

use roaring::RoaringBitmap;

use crate::{
    accept::{Acceptance, SegmentOutcome},
    plan::MaintenancePlan,
    snapshot::IndexSnapshot,
};

/// The live fragments that the new segments cover in `after`, the version that the commit made.
///
/// `None` if the indexed field is gone or of another type there, or its values were rewritten in
/// one of these fragments since they were indexed: commits that Lance lets pass beside ours did
/// that between acceptance and commit, and the new segments must not stay.
pub fn established(
    plan: &MaintenancePlan,
    outcomes: &[SegmentOutcome],
    accepted: &Acceptance,
    after: &IndexSnapshot,
) -> Option<RoaringBitmap> {
    let live = after.live();
    let mut established = RoaringBitmap::new();
    for (uuid, declared) in &accepted.added {
        let segment = after.segments().iter().find(|segment| segment.uuid == *uuid);
        let declares = segment.and_then(|segment| segment.declared.clone());
        established |= declares.unwrap_or_default() & declared & &live;
    }
    let unchanged = |id| {
        let files = outcomes.iter().find_map(|outcome| outcome.field_files.get(&id));
        after.fragment(id).map(|fragment| &fragment.field_files) == files
    };
    let planned = &plan.definition.field;
    let same_field = after
        .field
        .as_ref()
        .is_some_and(|field| field.id == planned.id && field.data_type == planned.data_type);
    (same_field && established.iter().all(unchanged)).then_some(established)
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
    fn of(after: &IndexSnapshot) -> Option<RoaringBitmap> {
        let before = snapshot((0..3).map(|id| fragment(id, 10)).collect(), vec![segment(1, &[0])]);
        let one = Parallelism { num_segments: Some(1), target_partitions: 1 };
        let plan = plan_refresh(&before, "i", one).unwrap();
        let outcome = SegmentOutcome {
            work_id: 0,
            segment: segment(7, &[1, 2]),
            field_id: 0,
            field_files: [1, 2].map(|id| (id, fragment(id, 10).field_files)).into(),
        };
        let added = vec![(Uuid::from_u128(7), RoaringBitmap::from([1, 2]))];
        let accepted = Acceptance { added, ..Default::default() };
        established(&plan, &[outcome], &accepted, after)
    }

    fn after() -> IndexSnapshot {
        let segments = vec![segment(1, &[0]), segment(7, &[1, 2])];
        snapshot((0..3).map(|id| fragment(id, 10)).collect(), segments)
    }

    #[test]
    fn all_of_it() {
        assert_eq!(of(&after()), Some(RoaringBitmap::from([1, 2])));
    }

    #[test]
    fn without_what_others_retired_or_withdrew() {
        let mut now = after();
        now.fragments.retain(|fragment| fragment.id != 2);
        assert_eq!(of(&now), Some(RoaringBitmap::from([1])));
        let mut now = after();
        now.index.as_mut().unwrap().segments[1].declared = Some(RoaringBitmap::from([2]));
        assert_eq!(of(&now), Some(RoaringBitmap::from([2])));
    }

    #[test]
    fn nothing_that_can_stay() {
        let mut now = after();
        now.field = None;
        assert_eq!(of(&now), None);
        let mut now = after();
        now.fragments[1].field_files = "rewritten.lance".into();
        assert_eq!(of(&now), None);
    }
}
