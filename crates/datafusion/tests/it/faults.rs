//! Statements over a store that fails, is slow, and breaks reads off, at random.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use object_store::{Result, path::Path};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    scripted::run,
    store::{Operation, Watch, broken, watched},
    support::{Table, fresh_seed, half_and_half, letters},
};

/// Fails one in `rate` operations, and is slow in as many; never at a manifest, whose PUT is the
/// commit.
#[derive(Debug)]
struct Faults {
    random: Mutex<StdRng>,
    rate: u32,
    injected: Mutex<usize>,
}

impl Faults {
    fn strikes(&self, path: &Path) -> bool {
        let strikes = !path.as_ref().contains("_versions")
            && self.random.lock().unwrap().random_ratio(1, self.rate);
        *self.injected.lock().unwrap() += usize::from(strikes);
        strikes
    }
}

#[async_trait]
impl Watch for Faults {
    async fn before(&self, _operation: Operation, path: &Path) -> Result<()> {
        if self.random.lock().unwrap().random_ratio(1, self.rate) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if self.strikes(path) { Err(broken()) } else { Ok(()) }
    }

    fn breaks_off(&self, path: &Path) -> bool {
        self.strikes(path)
    }
}

const METHODS: [(&str, &str, &str); 8] = [
    ("btree", "id", "id = 105"),
    ("bitmap", "cat", "cat = 'A'"),
    ("label_list", "tags", "array_has(tags, 'C')"),
    ("ngram", "txt", "contains(txt, 'Cpple')"),
    ("zonemap", "id", "id > 95"),
    ("bloomfilter", "id", "id = 105"),
    ("fts", "txt", "contains_tokens(txt, 'apple')"),
    ("fm", "txt", "contains(txt, 'Apple')"),
];

/// What came of statements.
#[derive(Debug, Default)]
struct Counts {
    done: usize,
    failed: usize,
    injected: usize,
}

/// Statements on a table with an index of the method; after each, the table is as it should be.
async fn statements(method: usize, rate: u32, seed: u64, counts: &mut Counts) {
    let (method, column, predicate) = METHODS[method];
    let table = Table::new(&[half_and_half()], seed.is_multiple_of(2)).await;
    table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
    for at in 0..3 {
        table.append(letters(100 + 10 * at..110 + 10 * at, |_| "C")).await;
        if at == 1 {
            table.sql("ALTER TABLE t REFRESH INDEX i").await;
        }
    }
    let (random, injected) = (Mutex::new(StdRng::seed_from_u64(seed)), Mutex::new(0));
    let faults = Arc::new(Faults { random, rate, injected });
    for statement in [
        "ALTER TABLE t REFRESH INDEX i",
        "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 2)",
        "UPDATE t SET other = 1 WHERE id % 5 = 0",
        "CREATE OR REPLACE INDEX j ON t (cat)",
        "DELETE FROM t WHERE id % 10 = 3",
        "OPTIMIZE TABLE t",
        "ALTER TABLE t REFRESH INDEXES",
        "DROP INDEX j ON t",
        "INSERT OVERWRITE t SELECT * FROM t WHERE id > 20",
        "ALTER TABLE t REFRESH INDEXES",
    ] {
        let context = format!("{statement} ({method}), seed {seed}, 1 in {rate}");
        let before = table.same_rows("true").await;
        let session = watched(&table, faults.clone()).await;
        match run(&session, statement).await {
            Ok(()) => counts.done += 1,
            Err(error) => {
                counts.failed += 1;
                assert!(!error.contains("panicked"), "{context}: {error}");
                let is_known =
                    ["connection was reset", "there is no index", "not found", "exhausted"];
                assert!(is_known.iter().any(|known| error.contains(known)), "{context}: {error}");
                // Rows are changed whole, or not at all.
                if !error.contains("version") {
                    assert_eq!(table.same_rows("true").await, before, "{context}: {error}");
                }
            }
        }
        for predicate in [predicate, "cat = 'A'", "id < 30"] {
            table.same_rows(predicate).await;
        }
        for index in ["i", "j"] {
            let covered = table.segments(index).await.concat();
            let distinct: BTreeSet<u32> = covered.iter().copied().collect();
            assert_eq!(distinct.len(), covered.len(), "{context}: segments of {index} overlap");
        }
    }
    // Without faults, the next run finishes the work.
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    table.oracle("i", predicate).await;
    counts.injected += *faults.injected.lock().unwrap();
}

#[tokio::test]
async fn statements_succeed_or_fail_clean() {
    let seed = fresh_seed();
    let mut counts = Counts::default();
    for method in 0..METHODS.len() {
        // Rare faults are survived, frequent ones are not.
        let rate = [100, 6][(method + seed as usize) % 2];
        statements(method, rate, seed + method as u64, &mut counts).await;
    }
    eprintln!("{counts:?}, seed {seed}");
    assert!(counts.done > 20 && counts.failed > 5 && counts.injected > 50, "{counts:?}");
}
