use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use datafusion::{common::runtime::SpawnedTask, execution::TaskContext};
use lance_index_plan::work::Work;

use super::{AttemptWork, SegmentWork, WorkAttempt, WorkExecutor};
use crate::{
    error::{Error, Result},
    physical::outcome::WorkOutcome,
    progress::AttemptProgress,
    store::{build, compact, merge, version::TableVersion},
};

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
        let WorkAttempt { target, work, number, progress } = attempt;
        let (work_id, rows) = (work.work_id(), work.rows());
        let written = in_a_task(async move { write(target.table(), work, progress).await }).await;
        Ok(WorkOutcome {
            work_id,
            attempt: number,
            rows,
            elapsed: started.elapsed(),
            result: written.map_err(Into::into),
            worker: None,
        })
    }
}

/// Writes what the work asks for, and answers what a commit needs to know of it.
async fn write(
    table: &TableVersion,
    work: AttemptWork,
    progress: AttemptProgress,
) -> Result<Vec<u8>> {
    let SegmentWork { read_version, definition, unit } = match work {
        AttemptWork::Segment(segment) => segment,
        AttemptWork::Compaction(work) => return compact::rewrite(table, &work).await?.encode(),
    };
    let segment = match &unit.work {
        Work::BuildCoverage => {
            build::build(table, read_version, &definition, &unit, progress).await?
        }
        Work::MergeSegments { inputs, .. } => {
            merge::merge(table, read_version, &definition, &unit, inputs).await?
        }
    };
    Ok(segment.encode())
}

/// Runs the work of an attempt as a task of its own, which ends where the caller does.
async fn in_a_task<T: Send + 'static>(
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
