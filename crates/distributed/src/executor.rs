//! The driver's side: an executor whose attempts run on workers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use datafusion::execution::TaskContext;
use datafusion_lance_index::{
    Failure, WorkOutcome,
    error::{Error, Result},
    executor::{ExecutorFactory, RemoteAttempt, WorkAttempt, WorkExecutor},
};

use crate::{
    engine::{Engine, plain},
    security::DriverSecurity,
    wire,
    workers::Workers,
};

/// What EXPLAIN calls the executor, and `SET lance_index.executor` chooses it by.
const NAME: &str = "distributed";

/// Attempts that a driver keeps with one worker on average. More than it has units for wait there.
const SLOTS: usize = 4;

/// Runs attempts on workers.
///
/// An attempt that is lost is lost for good: its unit's next attempt goes to another worker, and
/// the one that lost it rests for half a minute.
#[derive(Debug)]
pub struct DistributedExecutor {
    workers: Workers,
    engine: Engine,
}

impl DistributedExecutor {
    /// An executor of these workers, in the spelling of `lance_index.workers`:
    /// `http://a:50051,https://b:50051`, or `dns+https://name:50051` for every address of a name.
    ///
    /// # Errors
    /// That isn't how workers are named, or no way to talk to them.
    pub fn try_new(workers: &str, security: DriverSecurity) -> Result<Self> {
        let workers = Workers::parse(workers, security.insecure)?;
        let engine = Engine::try_new(security).map_err(|error| Error::invalid(plain(&error)))?;
        Ok(Self { workers, engine })
    }
}

#[async_trait]
impl WorkExecutor for DistributedExecutor {
    fn name(&self) -> &str {
        NAME
    }

    fn slots(&self) -> usize {
        self.workers.len().saturating_mul(SLOTS)
    }

    async fn run(&self, attempt: WorkAttempt, _context: Arc<TaskContext>) -> Result<WorkOutcome> {
        let message = RemoteAttempt::try_new(&attempt).and_then(|remote| {
            wire::encode(&remote).map_err(|error| Error::lost(format!("writing it down: {error}")))
        });
        let message = match message {
            Ok(message) => message,
            // No worker could run it.
            Err(error) => return Ok(failed(&attempt, Failure::new(error.to_string(), false))),
        };
        let worker = self.workers.choose().await?;
        let name = worker.address().name().to_string();
        let outcome = self.engine.run(worker.address(), message).await;
        let outcome = outcome.map_err(|error| {
            let (unit, error) = (attempt.work.work_id(), plain(&error));
            tracing::warn!("worker {name} lost an attempt at unit {unit}: {error}");
            Error::lost(format!("worker {name}: {error}"))
        })?;
        if outcome.attempt != attempt.number {
            let answered = outcome.attempt;
            return Err(Error::lost(format!("worker {name} answered for attempt {answered}")));
        }
        // What may go better in another attempt may be up to the worker.
        if !outcome.result.as_ref().is_err_and(|failure| failure.retryable) {
            worker.answered();
        }
        Ok(WorkOutcome { worker: Some(name), ..outcome })
    }
}

fn failed(attempt: &WorkAttempt, failure: Failure) -> WorkOutcome {
    WorkOutcome {
        work_id: attempt.work.work_id(),
        attempt: attempt.number,
        rows: attempt.work.rows(),
        elapsed: std::time::Duration::ZERO,
        result: Err(failure),
        worker: None,
    }
}

/// Lets a session choose workers: `SET lance_index.executor = 'distributed'`.
///
/// Keeps the connections, and what is known of the workers, from statement to statement.
#[derive(Debug)]
pub struct DistributedExecutors {
    security: DriverSecurity,
    made: Mutex<HashMap<String, Arc<DistributedExecutor>>>,
}

impl DistributedExecutors {
    /// Executors that talk to their workers in that way.
    pub fn new(security: DriverSecurity) -> Self {
        Self { security, made: Mutex::default() }
    }
}

impl ExecutorFactory for DistributedExecutors {
    fn name(&self) -> &str {
        NAME
    }

    fn executor(&self, workers: &str) -> Result<Arc<dyn WorkExecutor>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executor) = made.get(workers) {
            return Ok(executor.clone());
        }
        let executor = DistributedExecutor::try_new(workers, self.security.clone())?;
        let executor = Arc::new(executor);
        made.insert(workers.to_string(), executor.clone());
        Ok(executor)
    }
}
