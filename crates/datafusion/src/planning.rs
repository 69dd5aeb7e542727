//! Takes a snapshot, asks for a plan, and completes what only the index's files know.

use lance_index_plan::{
    coverage::unindexed,
    plan::{
        MaintenancePlan, Parallelism, Reason, Superseded, plan_create, plan_optimize, plan_refresh,
    },
    snapshot::{IndexDefinition, IndexSnapshot, SegmentSnapshot},
    tiers::MergePolicy,
};
use roaring::RoaringBitmap;
use serde_json::{Map, Value};

use crate::{
    catalog::{Catalog, Recorded},
    error::{Error, ErrorKind, Result},
    index_type::IndexType,
    store::{
        definition, mergeable, parameters,
        snapshot::{self, Subject},
        version::TableVersion,
    },
};

/// What the plan's index is like in that version. `known` are the fragments that all new segments
/// know, if there are any and it matters.
pub(crate) async fn snapshot(
    plan: &MaintenancePlan,
    table: &TableVersion,
    known: Option<&RoaringBitmap>,
) -> Result<IndexSnapshot> {
    let IndexDefinition { name, field, .. } = &plan.definition;
    if !plan.action.continues() {
        return snapshot::read_to_replace(table, name, Some(field.id)).await;
    }
    let recorded = match recorded(table, name).await {
        // Its segments tell what has become of it.
        Err(error) if error.kind() == ErrorKind::Invalid => None,
        recorded => recorded?,
    };
    let (field_id, recorded, known) = (Some(field.id), recorded.as_ref(), known);
    snapshot::read(table, Subject { name, field_id, format: None, recorded, known }).await
}

/// What is known of new segments that an earlier plan for the same statement has made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct New<'a> {
    /// The format that they have turned out to get, if it isn't the one that was expected.
    pub format: Option<&'a str>,
    /// The fragments that all of them know, if there are any.
    pub known: Option<&'a RoaringBitmap>,
}

impl<'a> New<'a> {
    fn subject(new: Option<Self>, name: &'a str, recorded: Option<&'a Recorded>) -> Subject<'a> {
        let (format, known) = (new.and_then(|new| new.format), new.and_then(|new| new.known));
        Subject { name, field_id: None, format, recorded, known }
    }
}

/// The plan of a `REFRESH` of one index, and the snapshot it was made from.
///
/// The index's files are opened only where something is to be built, for the parameters of an index
/// without a record.
pub(crate) async fn refresh(
    table: &TableVersion,
    name: &str,
    new: Option<New<'_>>,
    parallelism: Parallelism,
) -> Result<(MaintenancePlan, IndexSnapshot)> {
    let recorded = recorded(table, name).await?;
    let subject = New::subject(new, name, recorded.as_ref());
    let snapshot = snapshot::read(table, subject).await?;
    let mut plan = plan_refresh(&snapshot, name, parallelism)?;
    complete(&mut plan, table, subject.format).await?;
    Ok((plan, snapshot))
}

/// The plan of an `OPTIMIZE` of one index by size tiers, and the snapshot it was made from.
///
/// The index's files are opened as for a REFRESH, and where segments are to be merged, for the
/// parameters of those that may be.
pub(crate) async fn optimize(
    table: &TableVersion,
    name: &str,
    new: Option<New<'_>>,
    policy: &MergePolicy,
) -> Result<(MaintenancePlan, IndexSnapshot)> {
    let recorded = recorded(table, name).await?;
    let subject = New::subject(new, name, recorded.as_ref());
    let mut snapshot = snapshot::read(table, subject).await?;
    let mut plan = plan_optimize(&snapshot, name, policy)?;
    if plan.superseded.iter().any(|segment| segment.reason.is_merge()) {
        let may_be_merged = |segment: &SegmentSnapshot| {
            let skipped = plan.skipped.iter().find(|skipped| skipped.uuid == segment.uuid);
            skipped.is_none_or(|skipped| skipped.reason.is_for_want_of_others())
        };
        mergeable::look_closer(table, &mut snapshot, may_be_merged).await?;
        plan = plan_optimize(&snapshot, name, policy)?;
    }
    complete(&mut plan, table, subject.format).await?;
    Ok((plan, snapshot))
}

/// What a REFRESH would do to an index that Lance's own optimization is to maintain, and its
/// unindexed fragments; it may be of any type.
///
/// # Errors
/// A segment that Lance would turn into wrong rows or into an index that can't be listed, unless
/// `retrain` makes it anew.
pub(crate) async fn delegate(
    table: &TableVersion,
    name: &str,
    retrain: bool,
) -> Result<(MaintenancePlan, RoaringBitmap)> {
    let snapshot = snapshot::read_any_type(table, name).await?;
    if snapshot.index.is_none() {
        return Err(Error::invalid(format!(
            "index '{name}' has no segments that Lance could optimize; REFRESH INDEX builds it"
        )));
    }
    let plan = plan_refresh(&snapshot, name, ONE_RUN)?;
    let ours = IndexType::by_name(&plan.definition.index_type).is_some();
    let harmful = |reason: &Reason| ours || matches!(reason, Reason::Stale { .. });
    match plan.superseded.iter().find(|it| harmful(&it.reason)) {
        Some(Superseded { uuid, reason }) if !retrain => {
            let way_out = match ours {
                true => "REFRESH INDEX mends that",
                false => "retrain = true makes the index anew",
            };
            Err(Error::invalid(format!(
                "index '{name}' can't be left to Lance's own optimization: segment {uuid}: \
                 {reason}; {way_out}"
            )))
        }
        _ => Ok((plan, unindexed(&snapshot))),
    }
}

/// Where only the fragments of a plan are of interest.
const ONE_RUN: Parallelism = Parallelism { num_segments: Some(1), target_partitions: 1 };

/// Adds to a plan that builds anything, for an index without a record, its parameters and the
/// format that follows from them.
async fn complete(
    plan: &mut MaintenancePlan,
    table: &TableVersion,
    format: Option<&str>,
) -> Result<()> {
    if plan.is_empty() || plan.definition.record.is_some() {
        return Ok(());
    }
    let parameters = parameters::inherited(table, &plan.definition).await?;
    if format.is_none() {
        let index_type = IndexType::of(&plan.definition)?;
        plan.definition.format =
            definition::format_of_new(index_type, &parameters, table.stable_row_ids())?;
    }
    plan.definition.parameters = Value::Object(parameters).to_string();
    Ok(())
}

/// The index as its record defines it; `None` if it is known by its segments.
pub(crate) async fn recorded(table: &TableVersion, name: &str) -> Result<Option<Recorded>> {
    Catalog::read(table).await?.recorded(name).await
}

/// What the index is, complete: without a record, files of its newest segment are opened.
///
/// # Errors
/// This version can't maintain it.
pub(crate) async fn definition(table: &TableVersion, name: &str) -> Result<IndexDefinition> {
    match recorded(table, name).await? {
        Some(recorded) => Ok(recorded.definition),
        None => parameters::inferred(table, name).await,
    }
}

/// The build parameters of the index that a plan is for: those of its record, or else of the files
/// of its newest segment.
pub(crate) async fn parameters(
    table: &TableVersion,
    definition: &IndexDefinition,
) -> Result<Map<String, Value>> {
    if definition.record.is_none() {
        return parameters::inherited(table, definition).await;
    }
    serde_json::from_str(&definition.parameters)
        .map_err(|error| Error::internal(format!("parameters that are no JSON: {error}")))
}

/// The plan of a `CREATE`, and the snapshot it was made from.
pub(crate) async fn create(
    table: &TableVersion,
    definition: IndexDefinition,
    replace: bool,
    train: bool,
    parallelism: Parallelism,
) -> Result<(MaintenancePlan, IndexSnapshot)> {
    let field_id = Some(definition.field.id);
    let snapshot = snapshot::read_to_replace(table, &definition.name, field_id).await?;
    let plan = plan_create(&snapshot, definition, replace, train, parallelism)?;
    Ok((plan, snapshot))
}
