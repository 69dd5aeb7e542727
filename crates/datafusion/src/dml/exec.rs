use std::{fmt, sync::Arc};

use arrow::{
    array::{ArrayRef, RecordBatch, UInt64Array},
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use datafusion::{
    common::{Result as DataFusionResult, internal_err},
    execution::{SendableRecordBatchStream, TaskContext},
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, execute_stream,
        stream::RecordBatchStreamAdapter,
    },
};

use super::query::{RowsQuery, Verb};
use crate::{
    error::{Error, ErrorKind, Result},
    physical::{answer::single_row, conflicts::Conflicts},
    settings::RunSettings,
    store::{
        change::{self, Appended, Staged},
        commit::Committed,
        version::TableVersion,
    },
    table::Target,
};

/// A statement that changes rows.
#[derive(Debug, Clone)]
pub(super) struct Dml {
    /// What EXPLAIN calls it.
    pub title: String,
    pub target: Arc<Target>,
    /// The table's columns as the statement knows them.
    pub schema: SchemaRef,
    pub verb: Verb,
}

/// The rows that a statement is about.
#[derive(Debug, Clone)]
pub(super) struct DmlRows {
    /// Plans the query again.
    pub query: RowsQuery,
    /// The version that `plan` reads.
    pub version: u64,
    pub plan: Arc<dyn ExecutionPlan>,
}

/// `count: UInt64`, as DataFusion's own sinks answer.
pub(super) fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]))
}

/// Carries out a statement; answers how many rows it was about.
#[derive(Debug)]
pub(super) struct DmlExec {
    dml: Dml,
    /// `None`: all rows of the table.
    rows: Option<DmlRows>,
    properties: Arc<PlanProperties>,
}

impl DmlExec {
    pub(super) fn new(dml: Dml, rows: Option<DmlRows>) -> Self {
        Self { dml, rows, properties: single_row(count_schema()) }
    }
}

/// The number of rows that were changed. After a conflict all of it is done again, on the version
/// that there is then.
async fn run(dml: Dml, rows: Option<DmlRows>, context: Arc<TaskContext>) -> Result<u64> {
    let Dml { target, schema, verb, .. } = dml;
    let settings = RunSettings::from_config(context.session_config().options());
    let table = format!("table '{}'", target.name());
    let mut conflicts = Conflicts::new(table, settings.commit_retries);
    loop {
        let latest = target.table().latest().await?;
        check_columns(&latest, &schema, target.name())?;
        let failed = |error| Error::failed("looking for the rows", error);
        let found = match &rows {
            None => None,
            Some(rows) => {
                let plan = match rows.version == latest.number() {
                    true => rows.plan.clone(),
                    false => rows.query.plan(&latest).await.map_err(failed)?,
                };
                Some(execute_stream(plan, context.clone()).map_err(failed)?)
            }
        };
        let staged = match (&verb, found) {
            (Verb::Delete, found) => change::delete(&latest, found).await?,
            (Verb::Update { assigned }, Some(found)) => {
                change::update(&latest, assigned, found).await?
            }
            (Verb::Overwrite, Some(found)) => change::overwrite(&latest, found).await?,
            (_, None) => return Err(Error::internal("there are no rows to read")),
        };
        let Some(staged) = staged else { return Ok(0) };
        let count = staged.rows();
        if commit(staged, latest).await? {
            return Ok(count);
        }
        conflicts.next().await?;
    }
}

/// Commits rows that are written already; answers how many there are.
pub(super) async fn append(
    mut table: TableVersion,
    schema: &SchemaRef,
    appended: Appended,
    settings: &RunSettings,
) -> Result<u64> {
    let name = table.uri().to_string();
    let mut conflicts = Conflicts::new(format!("table '{name}'"), settings.commit_retries);
    loop {
        let staged = appended.staged();
        if commit(staged, table.clone()).await? {
            return Ok(appended.rows());
        }
        conflicts.next().await?;
        table = table.latest().await?;
        check_columns(&table, schema, &name)?;
    }
}

fn check_columns(table: &TableVersion, known: &SchemaRef, name: &str) -> Result<()> {
    if table.arrow_schema() != *known {
        return Err(Error::conflict(format!(
            "the columns of table '{name}' were changed by another writer; nothing was done: run \
             the statement again"
        )));
    }
    Ok(())
}

/// Whether it was committed; if not, another writer's commit stands in the way. Runs in a task of
/// its own, which goes on when the statement is dropped.
async fn commit(staged: Staged, anchor: TableVersion) -> Result<bool> {
    let sent = tokio::spawn(async move { staged.commit(&anchor).await }).await;
    let sent = sent.map_err(|error| {
        Error::new(ErrorKind::OutcomeUnknown, format!("the commit was cut short: {error}"))
    })?;
    match sent? {
        Committed::Done(_) => Ok(true),
        Committed::Conflict(error) => {
            tracing::debug!(%error, "another writer was faster");
            Ok(false)
        }
        Committed::Unknown(unknown) => {
            Err(unknown.into_error("the rows of the table tell whether it happened"))
        }
    }
}

impl DisplayAs for DmlExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => write!(f, "{}", self.dml.title),
            _ => write!(f, "DmlExec: {}", self.dml.title),
        }
    }
}

impl ExecutionPlan for DmlExec {
    fn name(&self) -> &'static str {
        "DmlExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.rows.iter().map(|rows| &rows.plan).collect()
    }

    // The query is planned to its end: optimised with the statement once more, it would hand out
    // rows in another order than they have in the table.
    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DataFusionResult<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("DmlExec has one partition");
        }
        let (dml, rows) = (self.dml.clone(), self.rows.clone());
        let row = futures::stream::once(async move {
            let rows = run(dml, rows, context).await?;
            let count = Arc::new(UInt64Array::from(vec![rows])) as ArrayRef;
            Ok(RecordBatch::try_new(count_schema(), vec![count])?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(count_schema(), row)))
    }
}
