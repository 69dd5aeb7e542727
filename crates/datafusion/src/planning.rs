//! Takes a snapshot, asks for a plan, and completes what only the index's files know.

use lance_index_plan::{
    plan::{Action, MaintenancePlan, Parallelism, plan_create, plan_refresh},
    snapshot::{IndexDefinition, IndexSnapshot},
};
use serde_json::Value;

use crate::{
    error::{Error, Result},
    index_type::IndexType,
    store::{
        definition,
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
            snapshot::read(table, Subject { name, field_id: Some(field.id), format: None }).await
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
    let snapshot = snapshot::read(table, Subject { name, field_id: None, format }).await?;
    let mut plan = plan_refresh(&snapshot, name, parallelism)?;
    if !plan.is_empty() {
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
