use roaring::RoaringBitmap;

use super::{Action, MaintenancePlan, Parallelism, Reason, Superseded, uuids};
use crate::{
    error::PlanError,
    snapshot::{IndexDefinition, IndexSnapshot},
    work::{Work, WorkUnit},
};

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
        units = parallelism.split(snapshot, &snapshot.live());
    }
    if units.is_empty() {
        units.push(definition_only());
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
        skipped: Vec::new(),
    })
}

/// A segment over nothing, which only records the definition.
pub(super) fn definition_only() -> WorkUnit {
    WorkUnit {
        work_id: 0,
        work: Work::BuildCoverage,
        fragments: RoaringBitmap::new(),
        rows: 0,
        bytes: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::testing::{ONE, ids, three},
        snapshot::testing::{definition, segment, snapshot},
    };

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
}
