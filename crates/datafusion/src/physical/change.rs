//! INSERT, DELETE and UPDATE: written against a version of the table and committed once; after a
//! conflict, again.

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

use super::{answer::single_row, conflicts::Conflicts};
use crate::{
    error::{Error, ErrorKind, Result},
    settings::RunSettings,
    store::{
        change::{self, Inserted, Staged},
        commit::Committed,
        version::TableVersion,
    },
    table::{RowsQuery, Target},
};

/// A DELETE or UPDATE.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub target: Arc<Target>,
    /// The table's columns as the statement knows them.
    pub schema: SchemaRef,
    /// The columns that get new values; `None` to delete rows.
    pub assigned: Option<Vec<String>>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.target.name();
        match &self.assigned {
            None => write!(f, "DELETE FROM {table}"),
            Some(columns) => write!(f, "UPDATE {table} SET {}", columns.join(", ")),
        }
    }
}

/// The rows that a statement is about: what [`change::delete`] and [`change::update`] read.
#[derive(Debug, Clone)]
pub(crate) struct ChangedRows {
    /// Plans the query again.
    pub query: RowsQuery,
    /// The version that `plan` reads.
    pub version: u64,
    pub plan: Arc<dyn ExecutionPlan>,
}

/// `count: UInt64`, as DataFusion's own sinks answer.
pub(crate) fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]))
}

/// Carries out a DELETE or UPDATE; answers how many rows it was about.
#[derive(Debug)]
pub(crate) struct ChangeExec {
    change: Change,
    /// `None`: all rows of the table.
    rows: Option<ChangedRows>,
    properties: Arc<PlanProperties>,
}

impl ChangeExec {
    pub(crate) fn new(change: Change, rows: Option<ChangedRows>) -> Self {
        Self { change, rows, properties: single_row(count_schema()) }
    }
}

/// The number of rows that were changed.
async fn run(change: Change, rows: Option<ChangedRows>, context: Arc<TaskContext>) -> Result<u64> {
    let Change { target, schema, assigned } = change;
    let settings = RunSettings::from_config(context.session_config().options());
    let mut conflicts =
        Conflicts::new(format!("table '{}'", target.name()), settings.commit_retries);
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
        let staged = match (&assigned, found) {
            (None, found) => change::delete(&latest, found).await?,
            (Some(assigned), Some(found)) => change::update(&latest, assigned, found).await?,
            (Some(_), None) => return Err(Error::internal("an UPDATE has no rows to read")),
        };
        let Some(staged) = staged else { return Ok(0) };
        let rows = staged.rows;
        if commit(staged, latest).await? {
            return Ok(rows);
        }
        conflicts.next().await?;
    }
}

/// Commits rows that are written already; answers how many there are.
pub(crate) async fn insert(
    mut table: TableVersion,
    schema: &SchemaRef,
    inserted: Inserted,
    settings: &RunSettings,
) -> Result<u64> {
    let name = table.uri().to_string();
    let mut conflicts = Conflicts::new(format!("table '{name}'"), settings.commit_retries);
    loop {
        let staged = inserted.staged_on(&table);
        let rows = staged.rows;
        if commit(staged, table.clone()).await? {
            return Ok(rows);
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

impl DisplayAs for ChangeExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => write!(f, "{}", self.change),
            _ => write!(f, "ChangeExec: {}", self.change),
        }
    }
}

impl ExecutionPlan for ChangeExec {
    fn name(&self) -> &'static str {
        "ChangeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.rows.iter().map(|rows| &rows.plan).collect()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.children().len()]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        if children.len() != self.children().len() {
            return internal_err!("ChangeExec reads one plan or none");
        }
        let mut rows = self.rows.clone();
        if let (Some(rows), Some(plan)) = (&mut rows, children.pop()) {
            rows.plan = plan;
        }
        Ok(Arc::new(Self::new(self.change.clone(), rows)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DataFusionResult<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("ChangeExec has one partition");
        }
        let (change, rows) = (self.change.clone(), self.rows.clone());
        let row = futures::stream::once(async move {
            let rows = run(change, rows, context).await?;
            let count = Arc::new(UInt64Array::from(vec![rows])) as ArrayRef;
            Ok(RecordBatch::try_new(count_schema(), vec![count])?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(count_schema(), row)))
    }
}
