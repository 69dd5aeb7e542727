//! Where attempts at work units run.

mod local;
mod registered;
mod remote;

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use datafusion::execution::TaskContext;
use lance_index_plan::{
    snapshot::IndexDefinition,
    work::{Work, WorkUnit},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::Result, physical::outcome::WorkOutcome, progress::AttemptProgress, table::Target,
};

pub use self::{local::LocalExecutor, remote::RemoteAttempt};
pub use crate::store::{compact::CompactionWork, version::lance_version};
pub(crate) use local::panicked;
pub(crate) use registered::{ExecutorFactories, SessionExecutor};

/// Runs one attempt somewhere. `Ok`: the worker answered, perhaps with a failure. `Err`: the
/// engine lost it.
///
/// Dropping the future stops the attempt. A host sets its own with
/// [`SessionConfigExt::with_work_executor`](crate::session::SessionConfigExt::with_work_executor).
#[async_trait]
pub trait WorkExecutor: Debug + Send + Sync + 'static {
    /// What EXPLAIN calls it.
    fn name(&self) -> &str;

    /// Attempts that the driver keeps in flight at the most. Where
    /// `lance_index.max_concurrent_units` is 0 it keeps so many; `usize::MAX` leaves it to
    /// `datafusion.execution.target_partitions`.
    fn slots(&self) -> usize;

    /// Runs one attempt.
    ///
    /// # Errors
    /// The attempt was lost: nobody knows how it ended.
    async fn run(&self, attempt: WorkAttempt, context: Arc<TaskContext>) -> Result<WorkOutcome>;
}

/// Makes the executor that `SET lance_index.executor = 'name'` chooses. A host registers it with
/// [`SessionConfigExt::with_executor_factory`](crate::session::SessionConfigExt::with_executor_factory).
pub trait ExecutorFactory: Debug + Send + Sync + 'static {
    /// The name that chooses it.
    fn name(&self) -> &str;

    /// The executor for that value of `lance_index.workers`. It is asked for with every statement,
    /// so what is to outlast one, such as connections, has to be kept here.
    ///
    /// # Errors
    /// The value names no workers.
    fn executor(&self, workers: &str) -> Result<Arc<dyn WorkExecutor>>;
}

/// One attempt at a work unit.
#[derive(Debug, Clone)]
pub struct WorkAttempt {
    /// The table.
    pub target: Arc<Target>,
    /// What there is to do.
    pub work: AttemptWork,
    /// 1 for the first attempt.
    pub number: usize,
    /// Where to tell how far it is.
    pub progress: AttemptProgress,
}

/// What an attempt does: it writes files that no manifest names yet. None of it is a commit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AttemptWork {
    /// Writes a segment of an index.
    Segment(SegmentWork),
    /// Writes fragments anew.
    Compaction(CompactionWork),
}

/// A segment to be written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SegmentWork {
    /// The table version whose rows or segments are read.
    pub read_version: u64,
    /// What the segment is made to be.
    pub definition: IndexDefinition,
    /// The unit.
    pub unit: WorkUnit,
}

impl AttemptWork {
    /// The ordinal of the unit in its statement.
    pub fn work_id(&self) -> u32 {
        match self {
            Self::Segment(segment) => segment.unit.work_id,
            Self::Compaction(compaction) => compaction.work_id(),
        }
    }

    /// Rows of the unit.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Segment(segment) => segment.unit.rows,
            Self::Compaction(compaction) => compaction.rows(),
        }
    }

    /// The table version that is read.
    pub fn read_version(&self) -> u64 {
        match self {
            Self::Segment(segment) => segment.read_version,
            Self::Compaction(compaction) => compaction.read_version(),
        }
    }

    /// The kind of unit, as EXPLAIN calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Segment(segment) => match segment.unit.work {
                Work::BuildCoverage => "BuildCoverage",
                Work::MergeSegments { .. } => "MergeSegments",
            },
            Self::Compaction(_) => "CompactFragments",
        }
    }
}
