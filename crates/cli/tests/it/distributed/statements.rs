//! What statements do with workers that do their work.

use std::time::{Duration, Instant};

use super::cluster::{Driver, Worker, run, until};

#[test]
fn both_workers_build_and_merge_and_leave_other_segments_alone() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 4, 1000).await;
        driver.sql("CREATE INDEX i ON t (id) WITH (num_segments = 4)").await;
        assert!(one.units("done_total") > 0 && other.units("done_total") > 0);
        assert_eq!(one.units("done_total") + other.units("done_total"), 4);
        assert_eq!(driver.oracle("i", "id BETWEEN 900 AND 1100").await, 201);
        let before = driver.segments("i").await;

        driver.insert(4000, 10).await;
        driver.sql("ALTER TABLE t REFRESH INDEX i").await;
        let after = driver.segments("i").await;
        assert_eq!(after.len(), 5);
        assert!(before.iter().all(|segment| after.contains(segment)), "{before:?} {after:?}");

        let merge = "ALTER TABLE t OPTIMIZE INDEX i \
                     WITH (target_rows_per_segment = 3000, merge_factor = 4)";
        let plan = driver.print(&format!("EXPLAIN {merge}")).await;
        assert!(plan.contains("MergeSegments") && plan.contains("executor=distributed"), "{plan}");
        driver.sql(merge).await;
        let merged = driver.segments("i").await;
        let is_kept = |segment: &&String| plan.contains(&format!("Skip segment={segment}"));
        let kept: Vec<_> = after.iter().filter(is_kept).collect();
        assert!(!kept.is_empty(), "{plan}");
        assert!(kept.iter().all(|segment| merged.contains(segment)), "{kept:?} {merged:?}");
        assert!(merged.len() < after.len(), "{merged:?}");
        assert_eq!(driver.oracle("i", "id >= 3995").await, 15);
        let done = one.units("done_total") + other.units("done_total");
        assert_eq!(done, 5 + plan.matches("MergeSegments").count() as u64 / 2);
    });
}

#[test]
fn both_workers_are_busy_at_the_same_moment() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 4, 10_000).await;
        let create = tokio::spawn(async move {
            driver.sql("CREATE INDEX f ON t USING fts (words) WITH (num_segments = 4)").await;
        });
        until("both are busy", || one.units("running") > 0 && other.units("running") > 0).await;
        create.await.unwrap();
    });
}

#[test]
fn compaction_runs_on_workers() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 4, 500).await;
        driver.sql("DELETE FROM t WHERE id % 5 = 0").await;
        driver.sql("CREATE INDEX i ON t (id)").await;
        let built = one.units("done_total") + other.units("done_total");
        let optimize = "OPTIMIZE TABLE t WITH (target_rows_per_fragment = 800)";
        let plan = driver.print(&format!("EXPLAIN {optimize}")).await;
        assert!(plan.contains("CompactionWorkExec: executor=distributed"), "{plan}");
        driver.sql(optimize).await;
        let done = one.units("done_total") + other.units("done_total");
        assert_eq!(done - built, plan.matches("CompactFragments").count() as u64 / 2);
        assert!(done > built, "{plan}");
        assert_eq!(driver.oracle("i", "id < 1000").await, 800);
        assert!(one.log().contains("CompactFragments") || other.log().contains("CompactFragments"));
    });
}

#[test]
fn a_conflict_is_planned_anew() {
    run(async {
        let (one, other) = (Worker::start(), Worker::start());
        let driver = Driver::new(&[&one.url, &other.url], 1, 1000).await;
        driver.sql("CREATE INDEX i ON t (id)").await;
        driver.insert(1000, 1000).await;
        driver.insert(2000, 1000).await;
        for worker in [&one, &other] {
            worker.signal("STOP");
        }
        let refresh = {
            let driver = driver.clone();
            let refresh = "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 2)";
            tokio::spawn(async move { driver.sql(refresh).await })
        };
        // The units are with the workers by now, and no further. Another driver is faster, and
        // leaves one more fragment to be indexed.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let another = driver.another().await;
        another.sql("ALTER TABLE t REFRESH INDEX i").await;
        another.insert(3000, 1000).await;
        for worker in [&one, &other] {
            worker.signal("CONT");
        }
        refresh.await.unwrap();
        assert_eq!(one.units("done_total") + other.units("done_total"), 4);
        assert_eq!(driver.segments("i").await.len(), 3);
        assert_eq!(driver.oracle("i", "id >= 990").await, 3010);
    });
}

#[test]
fn analyze_names_the_worker_of_each_unit() {
    run(async {
        let worker = Worker::start();
        let driver = Driver::new(&[&worker.url], 2, 100).await;
        let create = "CREATE INDEX i ON t (id) WITH (num_segments = 2)";
        let plan = driver.print(&format!("EXPLAIN ANALYZE {create}")).await;
        for unit in [0, 1] {
            let worker = format!("unit_{unit}_worker={}", worker.url);
            assert!(plan.contains(&worker), "{worker}: {plan}");
            for metric in ["attempts=1", "rows=100", "bytes_written=", "elapsed="] {
                assert!(plan.contains(&format!("unit_{unit}_{metric}")), "{metric}: {plan}");
            }
        }
        assert!(worker.get("/health").unwrap().starts_with("HTTP/1.1 200"));
        let log = worker.log();
        let lines: Vec<_> = log.lines().filter(|line| line.contains("done")).collect();
        assert_eq!(lines.len(), 2, "{log}");
        let told = ["kind=\"BuildCoverage\"", "attempt=1", "rows=100", "elapsed_ms=", "t.lance"];
        for what in told {
            assert!(lines.iter().all(|line| line.contains(what)), "{what}: {log}");
        }
    });
}

/// Of 16 runs, with two workers of one unit each: at most 1.15 times what it takes in this process,
/// two at a time.
#[test]
#[ignore = "measures time, which other tests take"]
fn as_fast_as_in_this_process() {
    run(async {
        let (one, other) = (Worker::with_units(1), Worker::with_units(1));
        let mut times = [Duration::MAX; 2];
        for _ in 0..3 {
            for (at, executor) in ["local", "distributed"].into_iter().enumerate() {
                let driver = Driver::new(&[&one.url, &other.url], 1, 10).await;
                driver.sql("CREATE INDEX i ON t (words)").await;
                for run in 1..=16 {
                    driver.insert(run * 20_000, 20_000).await;
                }
                driver.sql(&format!("SET lance_index.executor = '{executor}'")).await;
                let began = Instant::now();
                driver.sql("ALTER TABLE t REFRESH INDEX i WITH (num_segments = 16)").await;
                times[at] = times[at].min(began.elapsed());
            }
        }
        println!("local {:?}, distributed {:?}", times[0], times[1]);
        assert!(times[1].as_secs_f64() <= 1.15 * times[0].as_secs_f64(), "{times:?}");
    });
}
