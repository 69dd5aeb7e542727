//! Workers that die time and again while one statement runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::cluster::{Driver, Worker, run};

const SEED: u64 = 20;

/// The next number of a sequence that looks random.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn twenty_kills_in_one_statement_of_forty_units() {
    run(async {
        let mut workers = [Worker::start(), Worker::start()];
        let urls = workers.each_ref().map(|worker| worker.url.as_str());
        let driver = Driver::new(&urls, 80, 1500).await;
        driver.sql("SET lance_index.executor = 'local'").await;
        driver
            .sql(
                "CREATE INDEX f ON t USING fts (words) \
                  WITH (num_segments = 80, stem = false, max_token_length = NULL)",
            )
            .await;
        driver.sql("SET lance_index.executor = 'distributed'").await;
        driver.sql("SET lance_index.max_attempts = 50").await;
        // One unit at a time on each worker, so that the statement is long.
        driver.sql("SET lance_index.max_concurrent_units = 2").await;
        let optimize = "ALTER TABLE t OPTIMIZE INDEX f \
                        WITH (target_rows_per_segment = 3000, merge_factor = 2)";
        let plan = driver.print(&format!("EXPLAIN {optimize}")).await;
        // Each stands in the logical plan and in the physical one.
        assert_eq!(plan.matches(" unit=").count(), 2 * 40, "{plan}");
        let version = driver.version();
        let ended = Arc::new(AtomicBool::new(false));
        let statement = {
            let (driver, ended) = (driver.clone(), ended.clone());
            tokio::spawn(async move {
                let done = driver.try_sql(optimize).await;
                ended.store(true, Ordering::Relaxed);
                done
            })
        };
        let (mut state, mut kills) = (SEED, 0);
        while kills < 20 {
            tokio::time::sleep(Duration::from_millis(5 + next(&mut state) % 50)).await;
            assert!(!ended.load(Ordering::Relaxed), "it was done after {kills} kills");
            let at = next(&mut state) as usize % workers.len();
            let listen = workers[at].url.strip_prefix("http://").unwrap().to_string();
            workers[at].kill();
            kills += 1;
            workers[at] = Worker::start_on(&listen, |command| command);
        }
        statement.await.unwrap().unwrap();
        assert_eq!(driver.segments("f").await.len(), 40);
        // One commit.
        assert_eq!(driver.version(), version + 1);
        for (word, least) in [("row", 120_000), ("777", 100), ("12", 9000), ("nowhere", 0)] {
            let found = driver.oracle("f", &format!("contains_tokens(words, '{word}')")).await;
            assert!(found >= least, "{word}: {found}");
        }
    });
}
