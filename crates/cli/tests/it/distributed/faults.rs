//! Workers and drivers that die, and workers that fall silent.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::cluster::{Driver, Worker, run, until};

const CREATE: &str = "CREATE INDEX i ON t (id) WITH (num_segments = 2)";
const SLOW: &str = "CREATE INDEX f ON t USING fts (words) \
                    WITH (num_segments = 2, stem = false, max_token_length = NULL)";

#[test]
fn a_worker_that_dies_idle() {
    run(async {
        let (mut one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 100).await;
        driver.sql(CREATE).await;
        one.kill();
        let before = driver.segments("i").await;
        driver.insert(200, 100).await;
        driver.sql("ALTER TABLE t REFRESH INDEX i").await;
        assert_eq!(driver.oracle("i", "id >= 190").await, 110);
        let after = driver.segments("i").await;
        assert!(before.iter().all(|segment| after.contains(segment)), "{before:?} {after:?}");
    });
}

#[test]
fn a_worker_that_dies_in_a_unit() {
    run(async {
        let (mut one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 20_000).await;
        let version = driver.version();
        let create = {
            let driver = driver.clone();
            tokio::spawn(async move { driver.print(&format!("EXPLAIN ANALYZE {SLOW}")).await })
        };
        until("it is in a unit", || one.units("running") > 0).await;
        one.kill();
        let plan = create.await.unwrap();
        assert!(plan.contains("attempts=2"), "{plan}");
        assert!(!plan.contains(&format!("worker={}", one.url)), "{plan}");
        assert_eq!(driver.segments("f").await.len(), 2);
        // The record of the index, and its segments: the commits of one machine.
        assert_eq!(driver.version(), version + 2);
    });
}

#[test]
fn a_worker_that_dies_after_its_unit() {
    run(async {
        let (mut one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 1000).await;
        other.signal("STOP");
        let create = {
            let driver = driver.clone();
            tokio::spawn(async move { driver.print(&format!("EXPLAIN ANALYZE {CREATE}")).await })
        };
        until("its unit is done", || one.units("done_total") == 1).await;
        // The answer is on its way.
        tokio::time::sleep(Duration::from_millis(300)).await;
        one.kill();
        other.signal("CONT");
        let plan = create.await.unwrap();
        assert!(plan.contains(&format!("worker={}", one.url)), "{plan}");
        assert_eq!(driver.segments("i").await.len(), 2);
        assert_eq!(driver.oracle("i", "id BETWEEN 990 AND 1010").await, 21);
    });
}

#[test]
fn a_silent_worker_that_wakes_up_later() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 20_000).await;
        let create = {
            let driver = driver.clone();
            tokio::spawn(async move { driver.print(&format!("EXPLAIN ANALYZE {SLOW}")).await })
        };
        until("it is in a unit", || one.units("running") > 0).await;
        one.signal("STOP");
        let began = Instant::now();
        let plan = create.await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
        assert!(plan.contains("attempts=2"), "{plan}");
        let (version, segments) = (driver.version(), driver.segments("f").await);
        assert_eq!(segments.len(), 2);
        one.signal("CONT");
        until("it has given up, or is done", || one.units("running") == 0).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!((driver.version(), driver.segments("f").await), (version, segments));
        // It takes units again.
        driver.use_workers(&[&one.url]).await;
        driver.sql(CREATE).await;
        assert_eq!(driver.oracle("i", "id < 10").await, 10);
    });
}

#[test]
fn no_worker_left() {
    run(async {
        let (mut one, mut other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 100).await;
        let version = driver.version();
        one.kill();
        other.kill();
        let began = Instant::now();
        let error = driver.error(CREATE).await;
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(error.contains(&one.url) || error.contains(&other.url), "{error}");
        assert!(error.contains("Connection refused"), "{error}");
        assert!(error.contains("nothing was committed"), "{error}");
        assert_eq!(driver.version(), version);
    });
}

#[test]
fn silent_workers_and_a_deadline() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 100).await;
        let version = driver.version();
        one.signal("STOP");
        other.signal("STOP");
        driver.sql("SET lance_index.attempt_timeout_secs = 2").await;
        let began = Instant::now();
        let error = driver.error(CREATE).await;
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        assert!(error.contains("took longer than 2 s"), "{error}");
        assert_eq!(driver.version(), version);
    });
}

#[test]
fn a_driver_that_dies() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 2, 20_000).await;
        let version = driver.version();
        let mut shell = Command::new(env!("CARGO_BIN_EXE_lance-sql"))
            .current_dir(driver.path())
            .env("HOME", driver.path())
            .args(["-q", "--table=t=t.lance", "-c"])
            .arg(format!("SET lance_index.workers = '{},{}'", one.url, other.url))
            .args(["-c", "SET lance_index.executor = 'distributed'", "-c", SLOW])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let running = || one.units("running") + other.units("running");
        until("its units run", || running() == 2).await;
        shell.kill().unwrap();
        shell.wait().unwrap();
        until("they have stopped", || running() == 0).await;
        assert_eq!(one.units("stopped_total") + other.units("stopped_total"), 2);
        assert!(one.log().contains("stopped"), "{}", one.log());
        assert_eq!(driver.version(), version);
        driver.sql(SLOW).await;
        assert_eq!(driver.segments("f").await.len(), 2);
        assert!(driver.oracle("f", "contains_tokens(words, '777')").await > 0);
    });
}

#[test]
fn a_worker_told_to_end_ends_its_units_first() {
    run(async {
        let mut one = Worker::start();
        let driver = Driver::new(&[&one.url], 2, 20_000).await;
        let create = {
            let driver = driver.clone();
            tokio::spawn(async move { driver.print(&format!("EXPLAIN ANALYZE {SLOW}")).await })
        };
        until("both units run", || one.units("running") == 2).await;
        one.signal("TERM");
        let plan = create.await.unwrap();
        assert!(plan.contains("unit_0_attempts=1") && plan.contains("unit_1_attempts=1"), "{plan}");
        assert!(one.wait().success());
    });
}
