//! One check each for everything that may have come between a plan and its commit.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{Rejection, SegmentOutcome, declared_by};
use crate::{
    coverage::{covered_by, unindexed},
    dispose::{Disposition, dispose},
    history::{IndexEvent, is_same_index},
    plan::{Action, MaintenancePlan, are_unchanged},
    record::is_same_record,
    snapshot::{IndexSnapshot, SegmentSnapshot},
    stale::{Added, stale_for},
};

/// What the checks look at.
pub(super) struct Case<'a> {
    pub plan: &'a MaintenancePlan,
    pub outcomes: &'a [SegmentOutcome],
    pub now: &'a IndexSnapshot,
    pub events: Option<&'a [IndexEvent]>,
    pub live: RoaringBitmap,
    /// The live fragments that the outcomes declare.
    pub declared: RoaringBitmap,
    /// The segments that the plan supersedes.
    pub superseded: BTreeSet<Uuid>,
}

/// Every check.
pub(super) const CHECKS: [fn(&Case<'_>) -> Vec<Rejection>; 11] = [
    check_index,
    check_field,
    check_units,
    check_retired,
    check_formats,
    check_inputs,
    check_rewritten,
    check_stale_segments,
    check_stale_outcomes,
    check_torn,
    check_overlap,
];

/// The existing segments that stay beside the outcomes.
fn kept<'a>(case: &'a Case<'a>) -> impl Iterator<Item = &'a SegmentSnapshot> {
    case.now.segments().iter().filter(|segment| {
        case.plan.action.continues()
            && !case.superseded.contains(&segment.uuid)
            && !segment.is_retired(&case.live)
    })
}

fn check_index(case: &Case<'_>) -> Vec<Rejection> {
    let planned = &case.plan.definition;
    match (case.plan.action, &case.now.index) {
        (Action::Create, Some(_)) => vec![Rejection::NameTaken],
        (Action::Create | Action::Replace, _) => vec![],
        (Action::Refresh | Action::Optimize, None) => vec![Rejection::Dropped],
        (Action::Refresh | Action::Optimize, Some(index)) => {
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

/// An update of another column may have a segment cover more under the same UUID.
fn check_inputs(case: &Case<'_>) -> Vec<Rejection> {
    let changed = case.outcomes.iter().filter(|it| !are_unchanged(it, case.now, &case.live));
    changed.map(|outcome| Rejection::InputsChanged { uuid: outcome.segment.uuid }).collect()
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
    let added = Added::new(&(&case.declared & unindexed(case.now)), case.now);
    let stale =
        kept(case).map(|segment| (segment.uuid, stale_for(segment, &added, case.now, &case.live)));
    stale
        .filter(|(_, fragments)| !fragments.is_empty())
        .map(|(uuid, fragments)| Rejection::Stale { uuid, fragments })
        .collect()
}

fn check_stale_outcomes(case: &Case<'_>) -> Vec<Rejection> {
    let beside = kept(case)
        .fold(case.declared.clone(), |all, segment| all | covered_by(segment, &case.live));
    let beside = Added::new(&beside, case.now);
    let stale = case.outcomes.iter().map(|outcome| {
        (outcome.segment.uuid, stale_for(&outcome.segment, &beside, case.now, &case.live))
    });
    stale
        .filter(|(_, fragments)| !fragments.is_empty())
        .map(|(uuid, fragments)| Rejection::Stale { uuid, fragments })
        .collect()
}

fn check_torn(case: &Case<'_>) -> Vec<Rejection> {
    if !case.plan.action.continues() {
        return vec![];
    }
    let named = case.now.segments().iter().filter(|s| case.superseded.contains(&s.uuid));
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
