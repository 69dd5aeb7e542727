//! Takes a snapshot, asks for a plan, and completes what only the index's files know.

use lance::Dataset;
use lance_index_plan::{
    plan::{MaintenancePlan, Parallelism, plan_create, plan_refresh},
    snapshot::{IndexDefinition, IndexSnapshot},
};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    index_type::IndexType,
    store::{
        definition,
        indexes::Indexes,
        snapshot::{self, Subject},
    },
};

/// The plan of a `REFRESH` of one index, and the snapshot it was made from.
///
/// The index's files are opened only where something is to be built, for its parameters.
pub(crate) async fn refresh(
    dataset: &Dataset,
    name: &str,
    format: Option<&str>,
    parallelism: Parallelism,
) -> Result<(MaintenancePlan, IndexSnapshot)> {
    let snapshot = snapshot::read(dataset, Subject { name, field_id: None, format }).await?;
    let mut plan = plan_refresh(&snapshot, name, parallelism)?;
    if !plan.is_empty() {
        let parameters = parameters(dataset, &plan.definition).await?;
        let index_type = index_type(&plan.definition)?;
        if format.is_none() {
            let stable_row_ids = dataset.manifest().uses_stable_row_ids();
            plan.definition.format =
                definition::format_of_new(index_type, &parameters, stable_row_ids)?;
        }
        plan.definition.parameters = Value::Object(parameters).to_string();
    }
    Ok((plan, snapshot))
}

/// The build parameters of an index, read from the files of its newest segment.
pub(crate) async fn parameters(
    dataset: &Dataset,
    definition: &IndexDefinition,
) -> Result<Map<String, Value>> {
    let indexes = Indexes::read(dataset).await?;
    match indexes.segments(&definition.name).last() {
        Some(newest) => definition::inherited_parameters(dataset, &definition.field, newest).await,
        None => Err(Error::conflict(format!("index '{}' is gone", definition.name))),
    }
}

/// The plan of a `CREATE`, and the snapshot it was made from.
pub(crate) async fn create(
    dataset: &Dataset,
    definition: IndexDefinition,
    replace: bool,
    train: bool,
    parallelism: Parallelism,
) -> Result<(MaintenancePlan, IndexSnapshot)> {
    let field_id = Some(definition.field.id);
    let snapshot = snapshot::read_to_replace(dataset, &definition.name, field_id).await?;
    let plan = plan_create(&snapshot, definition, replace, train, parallelism)?;
    Ok((plan, snapshot))
}

fn index_type(definition: &IndexDefinition) -> Result<&'static IndexType> {
    let found = IndexType::by_name(&definition.index_type);
    found.ok_or_else(|| Error::internal(format!("no index type {}", definition.index_type)))
}
