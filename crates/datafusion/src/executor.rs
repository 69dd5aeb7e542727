//! Where attempts at work units run.

use std::{fmt::Debug, sync::Arc, time::Instant};

use async_trait::async_trait;
use datafusion::{common::runtime::SpawnedTask, execution::TaskContext};
use lance_index_plan::{
    snapshot::IndexDefinition,
    work::{Work, WorkUnit},
};

use crate::{
    error::{Error, Result},
    physical::outcome::WorkOutcome,
    progress::AttemptProgress,
    store::{build, merge},
    table::Target,
};

/// Runs one attempt somewhere. `Ok`: the worker answered, perhaps with a failure. `Err`: the
/// engine lost it.
///
/// Dropping the future stops the attempt. A host sets its own with
/// [`SessionConfigExt::with_work_executor`](crate::session::SessionConfigExt::with_work_executor).
#[async_trait]
pub trait WorkExecutor: Debug + Send + Sync + 'static {
    /// What EXPLAIN calls it.
    fn name(&self) -> &str;

    /// Attempts that the driver keeps in flight at the most.
    fn slots(&self) -> usize;

    /// Runs one attempt.
    ///
    /// # Errors
    /// The attempt was lost: nobody knows how it ended.
    async fn run(&self, attempt: WorkAttempt, context: Arc<TaskContext>) -> Result<WorkOutcome>;
}

/// One attempt at a work unit.
#[derive(Debug, Clone)]
pub struct WorkAttempt {
    /// The table.
    pub target: Arc<Target>,
    /// The table version whose rows are indexed.
    pub read_version: u64,
    /// What the segment is made to be.
    pub definition: Arc<IndexDefinition>,
    /// The unit.
    pub unit: WorkUnit,
    /// 1 for the first attempt.
    pub number: usize,
    /// Where to tell how far it is.
    pub progress: AttemptProgress,
}

/// The executor of a session, as it stands in the session's configuration.
#[derive(Debug, Clone)]
pub(crate) struct SessionExecutor(pub Arc<dyn WorkExecutor>);

impl Default for SessionExecutor {
    fn default() -> Self {
        Self(Arc::new(LocalExecutor))
    }
}

/// Runs attempts as tasks of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalExecutor;

#[async_trait]
impl WorkExecutor for LocalExecutor {
    fn name(&self) -> &str {
        "local"
    }

    fn slots(&self) -> usize {
        usize::MAX
    }

    async fn run(&self, attempt: WorkAttempt, _context: Arc<TaskContext>) -> Result<WorkOutcome> {
        let started = Instant::now();
        let WorkAttempt { target, read_version, definition, unit, number, progress } = attempt;
        let (work_id, rows) = (unit.work_id, unit.rows);
        let built = in_a_task(async move {
            let table = target.table();
            match &unit.work {
                Work::BuildCoverage => {
                    build::build(table, read_version, &definition, &unit, progress).await
                }
                Work::MergeSegments { inputs, .. } => {
                    merge::merge(table, read_version, &definition, &unit, inputs).await
                }
            }
        })
        .await;
        Ok(WorkOutcome {
            work_id,
            attempt: number,
            rows,
            elapsed: started.elapsed(),
            result: built.map(|segment| segment.encode()).map_err(Into::into),
        })
    }
}

/// Runs the work of an attempt as a task of its own, which ends where the caller does.
pub(crate) async fn in_a_task<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match SpawnedTask::spawn(work).join().await {
        Ok(done) => done,
        Err(error) if error.is_panic() => Err(panicked(error.into_panic().as_ref())),
        Err(error) => Err(Error::failed("running a work unit", error)),
    }
}

/// What a caught panic had to say.
pub(crate) fn panicked(payload: &(dyn std::any::Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Error::internal(format!("a work unit panicked: {}", text.unwrap_or_default()))
}
