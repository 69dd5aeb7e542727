use std::{sync::Arc, time::Instant};

use datafusion::execution::TaskContext;
use serde::{Deserialize, Serialize};

use super::{AttemptWork, LocalExecutor, WorkAttempt, WorkExecutor};
use crate::{
    error::Result, physical::outcome::WorkOutcome, progress::AttemptProgress,
    store::address::TableAddress, table::Target,
};

/// An attempt as plain data: all that a process needs to run it that shares nothing with the driver
/// but the storage.
///
/// There are no credentials in it: the process brings its own. And nothing in it can ask for a
/// commit: [`AttemptWork`] has no such kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RemoteAttempt {
    table: TableAddress,
    work: AttemptWork,
    number: usize,
}

impl RemoteAttempt {
    /// The attempt as plain data.
    ///
    /// # Errors
    /// The table is where no other process finds it.
    pub fn try_new(attempt: &WorkAttempt) -> Result<Self> {
        let table = TableAddress::try_of(attempt.target.table())?;
        Ok(Self { table, work: attempt.work.clone(), number: attempt.number })
    }

    /// Where the table is.
    pub fn uri(&self) -> &str {
        self.table.uri()
    }

    /// What there is to do.
    pub fn work(&self) -> &AttemptWork {
        &self.work
    }

    /// 1 for the first attempt.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Opens the table and runs the attempt as a task of this process. Dropping the future stops it.
    pub async fn run(self) -> WorkOutcome {
        let started = Instant::now();
        let (work_id, rows, number) = (self.work.work_id(), self.work.rows(), self.number);
        match self.run_locally().await {
            Ok(outcome) => outcome,
            Err(error) => WorkOutcome {
                work_id,
                attempt: number,
                rows,
                elapsed: started.elapsed(),
                result: Err(error.into()),
                worker: None,
            },
        }
    }

    async fn run_locally(self) -> Result<WorkOutcome> {
        let table = self.table.open(self.work.read_version()).await?;
        let target = Arc::new(Target::new(self.table.uri(), table.into_dataset()));
        let (work, number) = (self.work, self.number);
        let attempt = WorkAttempt { target, work, number, progress: AttemptProgress::default() };
        LocalExecutor.run(attempt, Arc::new(TaskContext::default())).await
    }
}
