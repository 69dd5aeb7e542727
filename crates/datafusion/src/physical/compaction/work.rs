use std::{fmt, sync::Arc};

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
    executor::{AttemptWork, CompactionWork, SessionExecutor, WorkAttempt},
    physical::{
        attempts::{record, run},
        outcome::{self, WorkOutcome},
    },
    progress::{UnitProgress, UnitSize, count_units},
    store::compact::{Compaction, Rewritten},
    table::Target,
};

/// Rewrites fragments, one task of a compaction a partition: attempts, retries and deadlines. A
/// partition's stream is the one row of the attempt that succeeded, or of the last one that failed.
#[derive(Debug)]
pub(super) struct CompactionWorkExec {
    target: Arc<Target>,
    compaction: Arc<Compaction>,
    /// What each task does, in their order.
    works: Vec<CompactionWork>,
    executor: SessionExecutor,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl CompactionWorkExec {
    pub(super) fn new(
        target: Arc<Target>,
        compaction: Arc<Compaction>,
        executor: SessionExecutor,
    ) -> Self {
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
        let (works, properties) = (CompactionWork::of(&compaction), Arc::new(properties));
        Self { target, compaction, works, executor, metrics, properties }
    }
}

impl DisplayAs for CompactionWorkExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, executor) = (&self.compaction.plan.tasks, self.executor.0.name());
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "CompactionWorkExec: executor={executor}, units=[")?;
                for (at, task) in tasks.iter().enumerate() {
                    write!(f, "{}{task}", if at == 0 { "" } else { "; " })?;
                }
                write!(f, "]")
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "executor={executor}")?;
                write!(f, "units={}", tasks.len())
            }
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
        let (tasks, works) = (&self.compaction.plan.tasks, &self.works);
        let (Some(task), Some(work)) = (tasks.get(partition), works.get(partition)) else {
            return internal_err!("there is no compaction task for partition {partition}");
        };
        let (executor, metrics) = (self.executor.clone(), self.metrics.clone());
        let progress = UnitProgress::new(&metrics, partition, size(task));
        let attempt = WorkAttempt {
            target: self.target.clone(),
            work: AttemptWork::Compaction(work.clone()),
            number: 0,
            progress: progress.of_attempts(),
        };
        let row = futures::stream::once(async move {
            let outcome = run(&executor, &attempt, &context).await;
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

/// What the task wrote, or the statement's failure.
pub(super) fn rewritten_of(outcome: &WorkOutcome) -> Result<Rewritten> {
    match &outcome.result {
        Ok(bytes) => Rewritten::decode(bytes),
        Err(failure) => {
            let message = format!(
                "compaction task {} failed in attempt {}{}: {}; nothing was committed",
                outcome.work_id,
                outcome.attempt,
                outcome.place(),
                failure.message
            );
            let kind = if failure.retryable { ErrorKind::Failed } else { ErrorKind::Invalid };
            Err(Error::new(kind, message))
        }
    }
}
