use std::{fmt, sync::Arc, time::Instant};

use datafusion::{
    common::{Result as DataFusionResult, internal_err},
    execution::{SendableRecordBatchStream, TaskContext},
    physical_expr::EquivalenceProperties,
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
        execution_plan::{Boundedness, EmissionType, SchedulingType},
        metrics::{ExecutionPlanMetricsSet, MetricsSet},
        stream::RecordBatchStreamAdapter,
    },
};
use lance_index_plan::compaction::CompactionTask;

use crate::{
    error::{Error, ErrorKind, Result},
    executor::in_a_task,
    physical::{
        attempts::{Unit, record},
        outcome::{self, WorkOutcome},
    },
    progress::{UnitProgress, UnitSize, count_units},
    settings::RunSettings,
    store::compact::{self, Compaction, Rewritten},
    table::Target,
};

/// Rewrites fragments, one task of a compaction a partition: attempts, retries and deadlines. A
/// partition's stream is the one row of the attempt that succeeded, or of the last one that failed.
#[derive(Debug)]
pub(super) struct CompactionWorkExec {
    target: Arc<Target>,
    compaction: Arc<Compaction>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl CompactionWorkExec {
    pub(super) fn new(target: Arc<Target>, compaction: Arc<Compaction>) -> Self {
        let tasks = &compaction.plan.tasks;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(outcome::schema()),
            Partitioning::UnknownPartitioning(tasks.len()),
            EmissionType::Final,
            Boundedness::Bounded,
        )
        // A partition is one row that takes long: there is nothing to yield between.
        .with_scheduling_type(SchedulingType::Cooperative);
        let metrics = ExecutionPlanMetricsSet::new();
        count_units(&metrics, tasks.iter().map(size));
        Self { target, compaction, metrics, properties: Arc::new(properties) }
    }
}

impl DisplayAs for CompactionWorkExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = &self.compaction.plan.tasks;
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "CompactionWorkExec: units=[")?;
                for (at, task) in tasks.iter().enumerate() {
                    write!(f, "{}{task}", if at == 0 { "" } else { "; " })?;
                }
                write!(f, "]")
            }
            DisplayFormatType::TreeRender => write!(f, "units={}", tasks.len()),
        }
    }
}

impl ExecutionPlan for CompactionWorkExec {
    fn name(&self) -> &'static str {
        "CompactionWorkExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DataFusionResult<SendableRecordBatchStream> {
        let Some(task) = self.compaction.plan.tasks.get(partition) else {
            return internal_err!("there is no compaction task for partition {partition}");
        };
        let unit = Unit { work_id: task.work_id, rows: task.rows };
        let settings = RunSettings::from_config(context.session_config().options());
        let (target, compaction) = (self.target.clone(), self.compaction.clone());
        let metrics = self.metrics.clone();
        let progress = UnitProgress::new(&metrics, partition, size(task));
        let row = futures::stream::once(async move {
            let attempt =
                |number| attempt(target.clone(), compaction.clone(), partition, unit, number);
            let outcome = unit.run(&settings, "local", attempt).await;
            let rewritten = outcome.result.as_ref().ok().map(|bytes| Rewritten::decode(bytes));
            let bytes = rewritten.and_then(Result::ok).map(|rewritten| rewritten.bytes());
            record(&metrics, partition, &outcome, None, bytes);
            if outcome.result.is_ok() {
                progress.finish();
            }
            Ok(outcome.to_batch()?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(outcome::schema(), row)))
    }
}

fn size(task: &CompactionTask) -> UnitSize {
    UnitSize { rows: task.rows, segments: 0 }
}

async fn attempt(
    target: Arc<Target>,
    compaction: Arc<Compaction>,
    task: usize,
    unit: Unit,
    number: usize,
) -> Result<WorkOutcome> {
    let started = Instant::now();
    let rewritten =
        in_a_task(
            async move { compact::rewrite(target.table(), &compaction, task).await?.encode() },
        )
        .await;
    Ok(WorkOutcome {
        work_id: unit.work_id,
        attempt: number,
        rows: unit.rows,
        elapsed: started.elapsed(),
        result: rewritten.map_err(Into::into),
    })
}

/// What the task wrote, or the statement's failure.
pub(super) fn rewritten_of(outcome: &WorkOutcome) -> Result<Rewritten> {
    match &outcome.result {
        Ok(bytes) => Rewritten::decode(bytes),
        Err(failure) => {
            let message = format!(
                "compaction task {} failed in attempt {}: {}; nothing was committed",
                outcome.work_id, outcome.attempt, failure.message
            );
            let kind = if failure.retryable { ErrorKind::Failed } else { ErrorKind::Invalid };
            Err(Error::new(kind, message))
        }
    }
}
