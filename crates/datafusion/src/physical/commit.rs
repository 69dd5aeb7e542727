use std::{fmt, sync::Arc};

use datafusion::{
    common::{Result, internal_err},
    error::DataFusionError,
    execution::{SendableRecordBatchStream, TaskContext},
    physical_expr::EquivalenceProperties,
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
        execution_plan::{Boundedness, EmissionType},
        stream::RecordBatchStreamAdapter,
    },
};
use futures::{FutureExt, StreamExt, TryStreamExt, future::BoxFuture};

use super::{
    drive::Driver,
    report::{self, MaintenanceReport},
    work::IndexWorkExec,
};
use crate::{
    error::Error,
    executor::SessionExecutor,
    logical::{IndexJob, Maintain},
    settings::RunSettings,
};

/// What is being done to one index.
type Running = BoxFuture<'static, Result<MaintenanceReport, Error>>;

/// Drives a statement: for each index, runs its work units (the children), decides what of their
/// outcomes may be committed, and commits it once.
///
/// Answers one row per index. An index that fails doesn't keep the others from being done; the
/// stream ends in an error that lists those that failed.
#[derive(Debug)]
pub(crate) struct IndexCommitExec {
    maintain: Maintain,
    executor: SessionExecutor,
    /// The work of each job that has any, in order of the jobs.
    work: Vec<Arc<dyn ExecutionPlan>>,
    properties: Arc<PlanProperties>,
}

impl IndexCommitExec {
    pub(crate) fn new(maintain: Maintain, executor: SessionExecutor) -> Self {
        let runs = maintain.jobs.iter().filter_map(|job| match job {
            IndexJob::Run { plan, .. } => Some(plan),
            IndexJob::Delegate(_) | IndexJob::Skipped { .. } | IndexJob::Unplannable { .. } => None,
        });
        let work = runs.map(|plan| {
            let (target, plan) = (maintain.target.clone(), plan.clone());
            let work = IndexWorkExec::new(target, plan, executor.clone());
            Arc::new(work) as Arc<dyn ExecutionPlan>
        });
        let work = work.collect();
        Self::with_work(maintain, executor, work)
    }

    fn with_work(
        maintain: Maintain,
        executor: SessionExecutor,
        work: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(report::maintenance_schema(maintain.action)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { maintain, executor, work, properties: Arc::new(properties) }
    }
}

impl DisplayAs for IndexCommitExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "IndexCommitExec: {}", self.maintain.title())?;
                for job in &self.maintain.jobs {
                    match job {
                        IndexJob::Run { .. } => {}
                        IndexJob::Delegate(delegate) => {
                            let index = &delegate.plan.definition.name;
                            write!(f, ", {index} by Lance's optimize_indices")?;
                        }
                        IndexJob::Skipped { index, reason } => {
                            write!(f, ", skipped {index}: {reason}")?;
                        }
                        IndexJob::Unplannable { index, reason } => {
                            write!(f, ", {index} fails: {reason}")?;
                        }
                    }
                }
                Ok(())
            }
            DisplayFormatType::TreeRender => write!(f, "statement={}", self.maintain.title()),
        }
    }
}

impl ExecutionPlan for IndexCommitExec {
    fn name(&self) -> &'static str {
        "IndexCommitExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.work.iter().collect()
    }

    // Each child has its own number of partitions, and all of them are driven from here.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.work.len()]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.len() != self.work.len() {
            return internal_err!("IndexCommitExec has one child per index");
        }
        Ok(Arc::new(Self::with_work(self.maintain.clone(), self.executor.clone(), children)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("IndexCommitExec has one partition");
        }
        let action = self.maintain.action;
        let settings = RunSettings::from_config(context.session_config().options());
        let mut work = self.work.iter();
        let mut running: Vec<(String, Running)> = Vec::new();
        for job in &self.maintain.jobs {
            let target = self.maintain.target.clone();
            running.push(match job {
                IndexJob::Run { plan, sizing } => {
                    let Some(work) = work.next() else {
                        return internal_err!("an index has no work node");
                    };
                    let driver = Driver {
                        target,
                        plan: plan.clone(),
                        sizing: sizing.clone(),
                        work: work.clone(),
                        executor: self.executor.clone(),
                        if_not_exists: self.maintain.if_not_exists,
                        settings: settings.clone(),
                        context: context.clone(),
                    };
                    (plan.definition.name.clone(), driver.run().boxed())
                }
                IndexJob::Delegate(delegate) => {
                    let (delegate, settings) = (delegate.clone(), settings.clone());
                    let index = delegate.plan.definition.name.clone();
                    (index, async move { delegate.run(&target, &settings).await }.boxed())
                }
                IndexJob::Skipped { reason, .. } => {
                    tracing::warn!("skipped: {reason}");
                    continue;
                }
                IndexJob::Unplannable { index, reason } => {
                    let error = Error::invalid(reason.clone());
                    (index.clone(), futures::future::ready(Err(error)).boxed())
                }
            });
        }
        let several = running.len() > 1;
        let failures = Arc::new(std::sync::Mutex::new(Vec::<(String, Error)>::new()));
        let failed = failures.clone();
        let rows = futures::stream::iter(running).filter_map(move |(index, running)| {
            let failures = failures.clone();
            async move {
                match running.await.and_then(|report| report.to_batch(action)) {
                    Ok(row) => Some(Ok(row)),
                    Err(error) if !several => Some(Err(DataFusionError::from(error))),
                    Err(error) => {
                        let mut failures =
                            failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        failures.push((index, error));
                        None
                    }
                }
            }
        });
        let end = futures::stream::once(async move {
            let failures = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match Error::of_several(&failures) {
                Some(error) => Err(DataFusionError::from(error)),
                None => Ok(None),
            }
        });
        let rows = rows.chain(end.try_filter_map(async |none| Ok(none)));
        let schema = report::maintenance_schema(action);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
