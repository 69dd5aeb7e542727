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
use lance_index_plan::{plan::MaintenancePlan, work::WorkUnit};

use super::{
    attempts::{record, run},
    outcome::{self, WorkOutcome},
};
use crate::{
    error::{Error, ErrorKind, Result},
    executor::{AttemptWork, SegmentWork, SessionExecutor, WorkAttempt},
    progress::{UnitProgress, UnitSize, count_units},
    store::built::BuiltSegment,
    table::Target,
};

/// Runs work units, one a partition: attempts, retries and deadlines. A partition's stream is the
/// one row of the attempt that succeeded, or of the last one that failed.
#[derive(Debug)]
pub(crate) struct IndexWorkExec {
    target: Arc<Target>,
    plan: Arc<MaintenancePlan>,
    executor: SessionExecutor,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl IndexWorkExec {
    pub(crate) fn new(
        target: Arc<Target>,
        plan: Arc<MaintenancePlan>,
        executor: SessionExecutor,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(outcome::schema()),
            Partitioning::UnknownPartitioning(plan.units.len()),
            EmissionType::Final,
            Boundedness::Bounded,
        )
        // A partition is one row that takes long: there is nothing to yield between.
        .with_scheduling_type(SchedulingType::Cooperative);
        let metrics = ExecutionPlanMetricsSet::new();
        count_units(&metrics, plan.units.iter().map(size));
        Self { target, plan, executor, metrics, properties: Arc::new(properties) }
    }
}

impl DisplayAs for IndexWorkExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, executor) = (&self.plan.definition.name, self.executor.0.name());
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "IndexWorkExec: index={index}, executor={executor}, units=[")?;
                for (at, unit) in self.plan.units.iter().enumerate() {
                    write!(f, "{}{unit}", if at == 0 { "" } else { "; " })?;
                }
                write!(f, "]")
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "index={index}")?;
                writeln!(f, "executor={executor}")?;
                write!(f, "units={}", self.plan.units.len())
            }
        }
    }
}

impl ExecutionPlan for IndexWorkExec {
    fn name(&self) -> &'static str {
        "IndexWorkExec"
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
        let Some(unit) = self.plan.units.get(partition) else {
            return internal_err!("there is no work unit for partition {partition}");
        };
        let unit = unit.clone();
        let progress = UnitProgress::new(&self.metrics, partition, size(&unit));
        let attempt = WorkAttempt {
            target: self.target.clone(),
            work: AttemptWork::Segment(SegmentWork {
                read_version: self.plan.read_version,
                definition: self.plan.definition.clone(),
                unit: unit.clone(),
            }),
            number: 0,
            progress: progress.of_attempts(),
        };
        let (executor, metrics) = (self.executor.clone(), self.metrics.clone());
        let row = futures::stream::once(async move {
            let outcome = run(&executor, &attempt, &context).await;
            let built = outcome.result.as_ref().ok().map(|bytes| BuiltSegment::decode(bytes));
            let bytes_written = built.and_then(Result::ok).and_then(|segment| segment.bytes());
            // The size of what it merges; of rows, the manifest doesn't tell.
            let bytes_read = unit.bytes.filter(|_| !unit.reads_rows());
            record(&metrics, partition, &outcome, bytes_read, bytes_written);
            if outcome.result.is_ok() {
                progress.finish();
            }
            Ok(outcome.to_batch()?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(outcome::schema(), row)))
    }
}

/// What the unit has to do.
fn size(unit: &WorkUnit) -> UnitSize {
    let rows = if unit.reads_rows() { unit.rows } else { 0 };
    UnitSize { rows, segments: unit.inputs().len() }
}

/// The segment of a unit's outcome, or the statement's failure.
pub(crate) fn segment_of(index: &str, outcome: &WorkOutcome) -> Result<Vec<u8>> {
    outcome.result.clone().map_err(|failure| {
        let message = format!(
            "index '{index}': work unit {} failed in attempt {}{}: {}; nothing was committed",
            outcome.work_id,
            outcome.attempt,
            outcome.place(),
            failure.message
        );
        let kind = if failure.retryable { ErrorKind::Failed } else { ErrorKind::Invalid };
        Error::new(kind, message)
    })
}
