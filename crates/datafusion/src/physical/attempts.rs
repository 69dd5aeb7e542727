//! Attempts at a work unit: how often, for how long, and what counts as lost.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use datafusion::{
    execution::TaskContext,
    physical_plan::{
        ExecutionPlan,
        metrics::{ExecutionPlanMetricsSet, MetricBuilder},
    },
};
use futures::{FutureExt, TryStreamExt};

use super::{
    outcome::{Failure, WorkOutcome},
    worker::worker_metric,
};
use crate::{
    error::{Error, ErrorKind, Result},
    executor::{SessionExecutor, WorkAttempt, panicked},
    settings::RunSettings,
};

/// Tries a unit on that executor until an attempt succeeds, fails for good, or was the last one.
pub(super) async fn run(
    executor: &SessionExecutor,
    attempt: &WorkAttempt,
    context: &Arc<TaskContext>,
) -> WorkOutcome {
    let settings = RunSettings::from_config(context.session_config().options());
    let unit = Unit { work_id: attempt.work.work_id(), rows: attempt.work.rows() };
    let attempts = |number| {
        // What an attempt before this one did is lost.
        attempt.progress.rows_done(0);
        executor.0.run(WorkAttempt { number, ..attempt.clone() }, context.clone())
    };
    unit.run(&settings, executor.0.name(), attempts).await
}

/// What is known of a unit before any attempt at it.
#[derive(Debug, Clone, Copy)]
struct Unit {
    work_id: u32,
    rows: u64,
}

impl Unit {
    /// `attempt` runs one, given its number, on the executor of that name.
    async fn run<F>(
        self,
        settings: &RunSettings,
        executor: &str,
        attempt: impl Fn(usize) -> F,
    ) -> WorkOutcome
    where
        F: Future<Output = Result<WorkOutcome>>,
    {
        let mut number = 0;
        let tried = (|| {
            number += 1;
            self.answer(number, settings.attempt_timeout, executor, attempt(number))
        })
        .retry(
            ExponentialBuilder::default()
                .with_min_delay(Duration::from_millis(50))
                .with_max_delay(Duration::from_secs(5))
                .with_jitter()
                .with_max_times(settings.max_attempts - 1),
        )
        .when(|outcome| outcome.result.as_ref().is_err_and(|failure| failure.retryable))
        .await;
        let Self { work_id, rows } = self;
        match tried {
            Ok(outcome) | Err(outcome) => WorkOutcome { work_id, rows, attempt: number, ..outcome },
        }
    }

    /// Runs one attempt. Whatever isn't the answer to it counts as a lost attempt.
    async fn answer(
        self,
        number: usize,
        timeout: Duration,
        executor: &str,
        attempt: impl Future<Output = Result<WorkOutcome>>,
    ) -> Result<WorkOutcome, WorkOutcome> {
        let lost = |message: String, elapsed| WorkOutcome {
            work_id: self.work_id,
            attempt: number,
            rows: self.rows,
            elapsed,
            result: Err(Failure::new(message, true)),
            worker: None,
        };
        let running = AssertUnwindSafe(attempt).catch_unwind();
        let answered = tokio::time::timeout(timeout, running).await;
        let answered =
            answered.map(|answered| answered.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))));
        match answered {
            Ok(Ok(outcome)) if outcome.work_id != self.work_id => Err(lost(
                format!("executor {executor} answered for unit {} instead", outcome.work_id),
                outcome.elapsed,
            )),
            Ok(Ok(outcome)) if outcome.result.is_err() => Err(outcome),
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(error)) => {
                Err(lost(format!("executor {executor} lost the attempt: {error}"), Duration::ZERO))
            }
            Err(_) => Err(lost(
                format!(
                    "the attempt took longer than {} s (lance_index.attempt_timeout_secs)",
                    timeout.as_secs()
                ),
                timeout,
            )),
        }
    }
}

/// Adds what is known of a unit to the metrics of its node.
pub(super) fn record(
    metrics: &ExecutionPlanMetricsSet,
    partition: usize,
    outcome: &WorkOutcome,
    bytes_read: Option<u64>,
    bytes_written: Option<u64>,
) {
    let unit = outcome.work_id;
    let count = |name: &str, value: usize| {
        let metric = MetricBuilder::new(metrics);
        metric.counter(format!("unit_{unit}_{name}"), partition).add(value);
    };
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    count("attempts", outcome.attempt);
    count("rows", size(outcome.rows));
    for (name, bytes) in [("bytes_read", bytes_read), ("bytes_written", bytes_written)] {
        if let Some(bytes) = bytes {
            count(name, size(bytes));
        }
    }
    let elapsed =
        MetricBuilder::new(metrics).subset_time(format!("unit_{unit}_elapsed"), partition);
    elapsed.add_duration(outcome.elapsed);
    if let Some(worker) = &outcome.worker {
        let metric = worker_metric(format!("unit_{unit}_worker"), worker.clone());
        MetricBuilder::new(metrics).with_partition(partition).build(metric);
    }
}

/// The outcome of the unit that a partition of a work node runs; `what` is that unit.
pub(super) async fn outcome_of(
    work: &dyn ExecutionPlan,
    partition: usize,
    context: Arc<TaskContext>,
    what: &str,
) -> Result<WorkOutcome> {
    let failed = |error| Error::failed(format!("running {what}"), error);
    let stream = work.execute(partition, context).map_err(failed)?;
    let batches: Vec<_> = stream.try_collect().await.map_err(failed)?;
    let mut outcomes = Vec::new();
    for batch in &batches {
        outcomes.extend(WorkOutcome::from_batch(batch)?);
    }
    match <[WorkOutcome; 1]>::try_from(outcomes) {
        Ok([outcome]) => Ok(outcome),
        Err(outcomes) => Err(Error::new(
            ErrorKind::Failed,
            format!(
                "{what} answered {} times instead of once; nothing was committed",
                outcomes.len()
            ),
        )),
    }
}
