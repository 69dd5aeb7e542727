//! Takes a snapshot, asks for a plan, and completes what only the index's files know.

use lance_index_plan::{
    plan::{Action, MaintenancePlan, Parallelism, plan_create, plan_refresh},
    snapshot::{IndexDefinition, IndexSnapshot},
};
use serde_json::{Map, Value};

use crate::{
    catalog::{Catalog, Recorded},
    error::{Error, ErrorKind, Result},
    index_type::IndexType,
    store::{
        definition, parameters,
        snapshot::{self, Subject},
        version::TableVersion,
    },
};

/// What the plan's index is like in that version.
pub(crate) async fn snapshot(
    plan: &MaintenancePlan,
    table: &TableVersion,
) -> Result<IndexSnapshot> {
    let IndexDefinition { name, field, .. } = &plan.definition;
    match plan.action {
        Action::Refresh => {
            let recorded = match recorded(table, name).await {
                // Its segments tell what has become of it.
                Err(error) if error.kind() == ErrorKind::Invalid => None,
                recorded => recorded?,
            };
            let (field_id, recorded) = (Some(field.id), recorded.as_ref());
            snapshot::read(table, Subject { name, field_id, format: None, recorded }).await
        }
        Action::Create | Action::Replace => {
            snapshot::read_to_replace(table, name, Some(field.id)).await
        }
    }
}

/// The plan of a `REFRESH` of one index, and the snapshot it was made from.
///
/// The index's files are opened only where something is to be built, for its parameters.
/// `format` is the one that new segments have turned out to get, where that is known.
pub(crate) async fn refresh(
    table: &TableVersion,
    name: &str,
    format: Option<&str>,
    parallelism: Parallelism,
) -> Result<(MaintenancePlan, IndexSnapshot)> {
    let recorded = recorded(table, name).await?;
    let subject = Subject { name, field_id: None, format, recorded: recorded.as_ref() };
    let snapshot = snapshot::read(table, subject).await?;
    let mut plan = plan_refresh(&snapshot, name, parallelism)?;
    if !plan.is_empty() && recorded.is_none() {
        let parameters = definition::inherited_parameters(table, &plan.definition).await?;
        if format.is_none() {
            let index_type = IndexType::by_name(&plan.definition.index_type).ok_or_else(|| {
                Error::internal(format!("no index type {}", plan.definition.index_type))
            })?;
            plan.definition.format =
                definition::format_of_new(index_type, &parameters, table.stable_row_ids())?;
        }
        plan.definition.parameters = Value::Object(parameters).to_string();
    }
    Ok((plan, snapshot))
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
        return definition::inherited_parameters(table, definition).await;
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
