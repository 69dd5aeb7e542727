use std::{fmt, sync::Arc};

use arrow::array::RecordBatch;
use datafusion::{
    common::{Result, internal_err},
    execution::{SendableRecordBatchStream, TaskContext},
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
        stream::RecordBatchStreamAdapter,
    },
};

use super::{
    drive::{CompactionReport, Driver},
    work::CompactionWorkExec,
};
use crate::{
    error,
    executor::SessionExecutor,
    options::OptimizeTableOptions,
    physical::{answer::single_row, report},
    settings::RunSettings,
    store::compact::{Compacted, Compaction},
    table::Target,
};

/// `OPTIMIZE TABLE`: what is to be rewritten.
#[derive(Debug, Clone)]
pub(crate) struct Compact {
    pub target: Arc<Target>,
    /// For the plans that come after this one, should there have to be any.
    pub options: OptimizeTableOptions,
    pub compaction: Arc<Compaction>,
}

/// One line per task, and one for what is kept apart.
impl fmt::Display for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.compaction.plan;
        write!(f, "{}, read version {}", self.target.name(), plan.read_version)?;
        if plan.tasks.is_empty() {
            write!(f, "\n  nothing to do")?;
        }
        plan.tasks.iter().try_for_each(|task| write!(f, "\n  {task}"))?;
        self.compaction.apart.iter().try_for_each(|apart| write!(f, "\n  {apart}"))
    }
}

/// Drives a compaction: runs its tasks (the child), and commits what they wrote once.
#[derive(Debug)]
pub(crate) struct CompactionCommitExec {
    compact: Compact,
    executor: SessionExecutor,
    work: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl CompactionCommitExec {
    pub(crate) fn new(compact: Compact, executor: SessionExecutor) -> Self {
        let (target, compaction) = (compact.target.clone(), compact.compaction.clone());
        let work = CompactionWorkExec::new(target, compaction, executor.clone());
        Self::with_work(compact, executor, Arc::new(work))
    }

    fn with_work(
        compact: Compact,
        executor: SessionExecutor,
        work: Arc<dyn ExecutionPlan>,
    ) -> Self {
        let properties = single_row(report::compaction_schema());
        Self { compact, executor, work, properties }
    }
}

impl DisplayAs for CompactionCommitExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.compact.target.name();
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "CompactionCommitExec: {table}")
            }
            DisplayFormatType::TreeRender => write!(f, "table={table}"),
        }
    }
}

impl ExecutionPlan for CompactionCommitExec {
    fn name(&self) -> &'static str {
        "CompactionCommitExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.work]
    }

    // All partitions of the child are driven from here.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([work]) => {
                let (compact, executor) = (self.compact.clone(), self.executor.clone());
                Ok(Arc::new(Self::with_work(compact, executor, work)))
            }
            Err(_) => internal_err!("CompactionCommitExec has one child"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("CompactionCommitExec has one partition");
        }
        let driver = Driver {
            target: self.compact.target.clone(),
            options: self.compact.options.clone(),
            compaction: self.compact.compaction.clone(),
            work: self.work.clone(),
            executor: self.executor.clone(),
            settings: RunSettings::from_config(context.session_config().options()),
            context,
        };
        let row = futures::stream::once(async move { Ok(to_batch(driver.run().await?)?) });
        Ok(Box::pin(RecordBatchStreamAdapter::new(report::compaction_schema(), row)))
    }
}

fn to_batch(CompactionReport { done, version }: CompactionReport) -> error::Result<RecordBatch> {
    let Compacted { fragments_removed, fragments_added, files_removed, files_added } = done;
    let counts = [fragments_removed, fragments_added, files_removed, files_added];
    let counts: Vec<u64> = counts.iter().map(|count| *count as u64).chain([version]).collect();
    report::row_of_counts(report::compaction_schema(), &counts)
}
