//! Runs attempts in a worker.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use datafusion::{arrow::array::RecordBatch, common::runtime::SpawnedTask, error::Result};
use datafusion_lance_index::{Failure, WorkOutcome, executor::RemoteAttempt};
use futures::future::BoxFuture;
use tokio::{
    runtime::{Builder, Runtime},
    sync::Semaphore,
};

/// Plans are deep, and so are the futures that carry them out, above all in a debug build.
const STACK: usize = 16 << 20;

/// What has become of the units that a worker was sent.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub waiting: AtomicU64,
    pub running: AtomicU64,
    pub done: AtomicU64,
    pub failed: AtomicU64,
    pub stopped: AtomicU64,
}

/// Carries out an attempt.
type Run = dyn Fn(RemoteAttempt) -> BoxFuture<'static, WorkOutcome> + Send + Sync;

/// Runs attempts, a bounded number at a time, on threads of their own: on those of the server they
/// would keep it from answering pings, and healthy attempts would count as lost.
#[derive(Clone)]
pub(crate) struct Units(Arc<Inner>);

struct Inner {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    slots: Semaphore,
    counters: Arc<Counters>,
    run: Box<Run>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Waiting for its threads would block one of the server's.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Units").field("counters", &self.0.counters).finish_non_exhaustive()
    }
}

impl Units {
    /// `slots` attempts run at a time, the others wait.
    pub(crate) fn try_new(slots: usize) -> std::io::Result<Self> {
        Self::with_run(slots, |attempt| Box::pin(attempt.run()))
    }

    pub(crate) fn with_run(
        slots: usize,
        run: impl Fn(RemoteAttempt) -> BoxFuture<'static, WorkOutcome> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.thread_name("unit").thread_stack_size(STACK).enable_all().build()?;
        Ok(Self(Arc::new(Inner {
            runtime: Some(runtime),
            slots: Semaphore::new(slots.max(1)),
            counters: Arc::default(),
            run: Box::new(run),
        })))
    }

    pub(crate) fn counters(&self) -> Arc<Counters> {
        self.0.counters.clone()
    }

    /// The row of the attempt's outcome. Dropping the future stops the attempt.
    pub(crate) async fn run(&self, attempt: RemoteAttempt) -> Result<RecordBatch> {
        let outcome = self.outcome(attempt).await;
        Ok(outcome.to_batch()?)
    }

    async fn outcome(&self, attempt: RemoteAttempt) -> WorkOutcome {
        let mut log = Log::begin(&self.0.counters, &attempt);
        let permit = self.0.slots.acquire().await;
        log.start();
        let failed = |message: String| WorkOutcome {
            work_id: log.work_id,
            attempt: log.attempt,
            rows: log.rows,
            elapsed: log.began.elapsed(),
            result: Err(Failure::new(message, true)),
            worker: None,
        };
        let outcome = match (&self.0.runtime, permit) {
            (Some(runtime), Ok(_permit)) => {
                let run = (self.0.run)(attempt);
                let task = {
                    let _on_threads_for_units = runtime.enter();
                    SpawnedTask::spawn(run)
                };
                let ended = task.join().await;
                ended.unwrap_or_else(|error| failed(format!("a work unit panicked: {error}")))
            }
            _ => failed("the worker shuts down".to_string()),
        };
        log.end(&outcome);
        outcome
    }
}

/// One line per attempt, however it ends, and the counters.
struct Log {
    counters: Arc<Counters>,
    table: String,
    kind: &'static str,
    work_id: u32,
    attempt: usize,
    rows: u64,
    began: Instant,
    phase: Phase,
}

#[derive(PartialEq)]
enum Phase {
    Waiting,
    Running,
    Ended,
}

impl Log {
    fn begin(counters: &Arc<Counters>, attempt: &RemoteAttempt) -> Self {
        counters.waiting.fetch_add(1, Ordering::Relaxed);
        let work = attempt.work();
        Self {
            counters: counters.clone(),
            table: attempt.uri().to_string(),
            kind: work.kind(),
            work_id: work.work_id(),
            attempt: attempt.number(),
            rows: work.rows(),
            began: Instant::now(),
            phase: Phase::Waiting,
        }
    }

    fn start(&mut self) {
        self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
        self.counters.running.fetch_add(1, Ordering::Relaxed);
        self.phase = Phase::Running;
    }

    fn end(mut self, outcome: &WorkOutcome) {
        self.counters.running.fetch_sub(1, Ordering::Relaxed);
        self.phase = Phase::Ended;
        let Self { table, kind, work_id, attempt, rows, .. } = &self;
        let elapsed_ms = self.elapsed_ms();
        match &outcome.result {
            Ok(_) => {
                self.counters.done.fetch_add(1, Ordering::Relaxed);
                tracing::info!(kind, table, work_id, attempt, rows, elapsed_ms, "done");
            }
            Err(failure) => {
                self.counters.failed.fetch_add(1, Ordering::Relaxed);
                let error = &failure.message;
                tracing::warn!(kind, table, work_id, attempt, rows, elapsed_ms, error, "failed");
            }
        }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let counter = match self.phase {
            Phase::Waiting => &self.counters.waiting,
            Phase::Running => &self.counters.running,
            Phase::Ended => return,
        };
        counter.fetch_sub(1, Ordering::Relaxed);
        self.counters.stopped.fetch_add(1, Ordering::Relaxed);
        let Self { table, kind, work_id, attempt, rows, .. } = &*self;
        let elapsed_ms = self.elapsed_ms();
        tracing::warn!(kind, table, work_id, attempt, rows, elapsed_ms, "stopped: nobody waits");
    }
}
