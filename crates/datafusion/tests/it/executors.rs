//! Executors that lose, repeat, delay and panic, and what the driver makes of it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use datafusion::{execution::TaskContext, physical_plan::collect};
use datafusion_lance_index::{
    Failure, WorkOutcome,
    error::{Error, Result},
    executor::{AttemptWork, LocalExecutor, WorkAttempt, WorkExecutor},
    progress::Progress,
    session::{SessionConfigExt, SessionContextExt},
};
use tokio::sync::Barrier;

use crate::support::{Table, config, half_and_half, letters};

/// What an executor does with an attempt, given how many there have been before.
enum Does {
    Work,
    Lose,
    Panic,
    PanicInside,
    FailForGood,
    AnswerForAnother,
    TakeForever,
}

struct Scripted {
    attempts: AtomicUsize,
    script: fn(usize) -> Does,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scripted")
    }
}

#[async_trait]
impl WorkExecutor for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn slots(&self) -> usize {
        8
    }

    async fn run(&self, attempt: WorkAttempt, context: Arc<TaskContext>) -> Result<WorkOutcome> {
        let failed = |message: &str| WorkOutcome {
            work_id: attempt.work.work_id(),
            attempt: attempt.number,
            rows: attempt.work.rows(),
            elapsed: Duration::ZERO,
            result: Err(Failure::new(message, false)),
            worker: None,
        };
        match (self.script)(self.attempts.fetch_add(1, Ordering::SeqCst)) {
            Does::Work => LocalExecutor.run(attempt, context).await,
            Does::Lose => Err(Error::lost("the machine is gone")),
            Does::Panic => panic!("a bug of the engine"),
            Does::PanicInside => {
                let mut attempt = attempt;
                if let AttemptWork::Segment(segment) = &mut attempt.work {
                    // No such column: building panics or fails, which is the same to the driver.
                    segment.definition.field.path = "nope".to_string();
                }
                LocalExecutor.run(attempt, context).await
            }
            Does::FailForGood => Ok(failed("the disk is full")),
            Does::AnswerForAnother => {
                let outcome = LocalExecutor.run(attempt, context).await?;
                Ok(WorkOutcome { work_id: outcome.work_id + 1, ..outcome })
            }
            Does::TakeForever => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Err(Error::lost("never answered"))
            }
        }
    }
}

async fn table_with(script: fn(usize) -> Does) -> Table {
    let executor = Arc::new(Scripted { attempts: AtomicUsize::new(0), script });
    let fragments = [half_and_half(), letters(100..200, |_| "C")];
    Table::with_config(&fragments, false, config().with_work_executor(executor)).await
}

const CREATE: &str = "CREATE INDEX i ON t (id) WITH (num_segments = 2)";

#[tokio::test]
async fn lost_attempts_run_again() {
    for script in [
        (|n| if n < 2 { Does::Lose } else { Does::Work }) as fn(usize) -> Does,
        |n| if n < 2 { Does::AnswerForAnother } else { Does::Work },
        |n| if n < 2 { Does::PanicInside } else { Does::Work },
    ] {
        let table = table_with(script).await;
        table.sql(CREATE).await;
        assert_eq!(table.segments("i").await, [vec![0], vec![1]]);
        assert_eq!(table.oracle("i", "id = 150").await, 1);
    }
}

const OPTIMIZE: &str =
    "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 100000, merge_factor = 2)";

#[tokio::test]
async fn merges_are_tried_again_or_fail_the_statement() {
    for script in [
        (|n| if (2..4).contains(&n) { Does::Lose } else { Does::Work }) as fn(usize) -> Does,
        |n| if (2..4).contains(&n) { Does::Panic } else { Does::Work },
        |n| if (2..4).contains(&n) { Does::AnswerForAnother } else { Does::Work },
    ] {
        let table = table_with(script).await;
        table.sql(CREATE).await;
        table.append(letters(200..210, |_| "D")).await;
        table.sql(OPTIMIZE).await;
        assert_eq!(table.segments("i").await, [vec![0, 1], vec![2]]);
        assert_eq!(table.oracle("i", "id = 150").await, 1);
    }
    let table = table_with(|n| if n < 2 { Does::Work } else { Does::FailForGood }).await;
    table.sql(CREATE).await;
    let version = table.version().await;
    let error = table.error(OPTIMIZE).await;
    assert!(error.contains("the disk is full; nothing was committed"), "{error}");
    assert_eq!(table.version().await, version);
}

#[tokio::test]
async fn a_unit_that_fails_for_good_fails_the_statement() {
    let table = table_with(|_| Does::FailForGood).await;
    let version = table.version().await;
    let error = table.error(CREATE).await;
    assert!(error.contains("the disk is full; nothing was committed"), "{error}");
    assert!(error.contains("attempt 1"), "{error}");
    assert_eq!(table.version().await, version);
}

#[tokio::test]
async fn attempts_are_bounded() {
    let table = table_with(|_| Does::Lose).await;
    table.sql("SET lance_index.max_attempts = 2").await;
    let error = table.error(CREATE).await;
    assert!(error.contains("failed in attempt 2"), "{error}");
    assert!(error.contains("the machine is gone"), "{error}");
}

#[tokio::test]
async fn a_silent_attempt_is_given_up() {
    let table = table_with(|n| if n == 0 { Does::TakeForever } else { Does::Work }).await;
    table.sql("SET lance_index.attempt_timeout_secs = 1").await;
    table.sql(CREATE).await;
    assert_eq!(table.segments("i").await, [vec![0], vec![1]]);
    let table = table_with(|_| Does::TakeForever).await;
    table.sql("SET lance_index.attempt_timeout_secs = 1").await;
    table.sql("SET lance_index.max_attempts = 1").await;
    let error = table.error(CREATE).await;
    assert!(error.contains("took longer than 1 s"), "{error}");
}

#[tokio::test]
async fn a_panicking_executor_fails_the_statement_only() {
    let table = table_with(|_| Does::Panic).await;
    let version = table.version().await;
    let error = table.error(CREATE).await;
    assert!(error.contains("a bug of the engine"), "{error}");
    assert_eq!(table.version().await, version);
}

/// Finishes no attempt before `k` of them are in flight.
#[derive(Debug)]
struct Together(Barrier);

#[async_trait]
impl WorkExecutor for Together {
    fn name(&self) -> &str {
        "together"
    }

    fn slots(&self) -> usize {
        64
    }

    async fn run(&self, attempt: WorkAttempt, context: Arc<TaskContext>) -> Result<WorkOutcome> {
        self.0.wait().await;
        LocalExecutor.run(attempt, context).await
    }
}

#[tokio::test]
async fn units_run_at_the_same_time() {
    let fragments: Vec<_> = (0..4).map(|i| letters(i * 10..i * 10 + 10, |_| "A")).collect();
    let config = config().with_work_executor(Arc::new(Together(Barrier::new(4))));
    let table = Table::with_config(&fragments, false, config).await;
    let create = table.sql("CREATE INDEX i ON t (id) WITH (num_segments = 4)");
    tokio::time::timeout(Duration::from_secs(60), create).await.unwrap();
    assert_eq!(table.segments("i").await.len(), 4);
}

#[tokio::test]
async fn explain_names_the_executor_and_analyze_tells_of_each_unit() {
    let table = table_with(|_| Does::Work).await;
    let version = table.version().await;
    for _ in 0..10 {
        let plan = table.print(&format!("EXPLAIN {CREATE}")).await;
        assert!(plan.contains("BuildCoverage unit=1 fragments=[1] rows=100"), "{plan}");
        assert!(plan.contains("executor=scripted"), "{plan}");
    }
    assert_eq!(table.version().await, version);
    let plan = table.print(&format!("EXPLAIN ANALYZE {CREATE}")).await;
    for metric in
        ["unit_0_attempts=1", "unit_1_rows=100", "unit_1_bytes_written=", "unit_0_elapsed="]
    {
        assert!(plan.contains(metric), "{metric}: {plan}");
    }
    assert_eq!(table.version().await, version + 2);
}

/// Tells of each attempt that it did some rows; only then lets it be looked at, and go on.
#[derive(Debug)]
struct Telling {
    rows: [u64; 3],
    told: AtomicUsize,
    pause: Barrier,
}

#[async_trait]
impl WorkExecutor for Telling {
    fn name(&self) -> &str {
        "telling"
    }

    fn slots(&self) -> usize {
        1
    }

    async fn run(&self, attempt: WorkAttempt, context: Arc<TaskContext>) -> Result<WorkOutcome> {
        let told = self.told.fetch_add(1, Ordering::SeqCst);
        attempt.progress.rows_done(self.rows[told]);
        self.pause.wait().await;
        self.pause.wait().await;
        if told == 0 { Err(Error::lost("gone")) } else { LocalExecutor.run(attempt, context).await }
    }
}

#[tokio::test]
async fn a_running_plan_tells_how_far_it_is() {
    // The first attempt is lost with its rows; the last one tells of more than there are.
    let executor =
        Arc::new(Telling { rows: [40, 60, 1000], told: 0.into(), pause: Barrier::new(2) });
    let fragments = [half_and_half(), letters(100..200, |_| "C")];
    let config = config().with_work_executor(executor.clone());
    let table = Table::with_config(&fragments, false, config).await;

    let query = table.session.lance_sql("SELECT * FROM t").await.unwrap();
    let query = query.create_physical_plan().await.unwrap();
    assert_eq!(Progress::of(query.as_ref()), None);

    let create = table.session.lance_sql(CREATE).await.unwrap();
    let context = Arc::new(create.task_ctx());
    let plan = create.create_physical_plan().await.unwrap();
    let progress = |units_done, rows_done| {
        let now = Progress::of(plan.as_ref()).unwrap();
        assert_eq!(
            now,
            Progress { units: 2, units_done, rows: 200, rows_done, ..Progress::default() }
        );
    };
    progress(0, 0);
    let run = tokio::spawn(collect(plan.clone(), context));
    for (units_done, rows_done) in [(0, 40), (0, 60), (1, 200)] {
        executor.pause.wait().await;
        progress(units_done, rows_done);
        executor.pause.wait().await;
    }
    run.await.unwrap().unwrap();
    progress(2, 200);
}

/// Says how many of its attempts have begun, and how many have been dropped.
#[derive(Debug, Default)]
struct Watched {
    begun: AtomicUsize,
    dropped: Arc<AtomicUsize>,
}

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl WorkExecutor for Watched {
    fn name(&self) -> &str {
        "watched"
    }

    fn slots(&self) -> usize {
        8
    }

    async fn run(&self, _: WorkAttempt, _: Arc<TaskContext>) -> Result<WorkOutcome> {
        let _guard = Guard(self.dropped.clone());
        self.begun.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_dropped_statement_stops_its_units_and_commits_nothing() {
    let executor = Arc::new(Watched::default());
    let fragments = [half_and_half(), letters(100..200, |_| "C")];
    let config = config().with_work_executor(executor.clone());
    let table = Table::with_config(&fragments, false, config).await;
    let version = table.version().await;
    let statement = table.sql(CREATE);
    assert!(tokio::time::timeout(Duration::from_secs(1), statement).await.is_err());
    assert_eq!(executor.begun.load(Ordering::SeqCst), 2);
    assert_eq!(executor.dropped.load(Ordering::SeqCst), 2);
    assert_eq!(table.version().await, version);
}
