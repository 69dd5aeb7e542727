//! Statements over a store that fails, is slow, and breaks reads off, at random.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use object_store::{Result, path::Path};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    scripted::run,
    store::{Operation, Watch, broken, watched},
    support::{Table, answering, fresh_seed, half_and_half, letters},
};

/// Fails one in `rate` operations, and is slow in as many; never at the PUT of a manifest, which is
/// the commit.
#[derive(Debug)]
struct Faults {
    random: Mutex<StdRng>,
    /// Not before the table is open.
    has_begun: AtomicBool,
    rate: u32,
    injected: Mutex<usize>,
}

impl Faults {
    fn strikes(&self, operation: Operation, path: &Path) -> bool {
        let commits = operation == Operation::Put && path.as_ref().contains("_versions");
        let begun = self.has_begun.load(Ordering::SeqCst);
        let strikes = begun && !commits && self.random.lock().unwrap().random_ratio(1, self.rate);
        *self.injected.lock().unwrap() += usize::from(strikes);
        strikes
    }
}

#[async_trait]
impl Watch for Faults {
    async fn before(&self, operation: Operation, path: &Path) -> Result<()> {
        if self.random.lock().unwrap().random_ratio(1, self.rate) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if self.strikes(operation, path) { Err(broken()) } else { Ok(()) }
    }

    fn breaks_off(&self, path: &Path) -> bool {
        self.strikes(Operation::Get, path)
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
    /// Of those, the ones that faults struck.
    survived: usize,
    failed: usize,
    injected: usize,
}

/// Statements, with the index that covers all rows after each, if one is to.
const STATEMENTS: [(&str, Option<&str>); 10] = [
    ("ALTER TABLE t REFRESH INDEX i", Some("i")),
    (
        "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 2)",
        Some("i"),
    ),
    ("UPDATE t SET other = 1 WHERE id % 5 = 0", None),
    ("CREATE OR REPLACE INDEX j ON t (cat)", Some("j")),
    ("DELETE FROM t WHERE id % 10 = 3", None),
    ("OPTIMIZE TABLE t", None),
    ("ALTER TABLE t REFRESH INDEXES", Some("i")),
    ("DROP INDEX IF EXISTS j ON t", None),
    ("INSERT OVERWRITE t SELECT * FROM t WHERE id > 20", None),
    ("ALTER TABLE t REFRESH INDEXES", Some("i")),
];

async fn table(method: &str, column: &str, stable_row_ids: bool) -> Table {
    let table = Table::new(&[half_and_half()], stable_row_ids).await;
    let with = answering(method);
    table.sql(&format!("CREATE INDEX i ON t USING {method} ({column}){with}")).await;
    for at in 0..3 {
        table.append(letters(100 + 10 * at..110 + 10 * at, |_| "C")).await;
        if at == 1 {
            table.sql("ALTER TABLE t REFRESH INDEX i").await;
        }
    }
    table
}

/// Statements on a table with an index of the method. After each, the table is as after it, or as
/// before it; then it succeeds without faults.
async fn statements(method: usize, rate: u32, seed: u64, counts: &mut Counts) {
    let (method, column, predicate) = METHODS[method];
    let stable_row_ids = seed.is_multiple_of(2);
    let twin = table(method, column, stable_row_ids).await;
    let table = table(method, column, stable_row_ids).await;
    let (random, injected) = (Mutex::new(StdRng::seed_from_u64(seed)), Mutex::new(0));
    let has_begun = AtomicBool::new(false);
    let faults = Arc::new(Faults { random, has_begun, rate, injected });
    for (statement, covers) in STATEMENTS {
        let context = format!("{statement} ({method}), seed {seed}, 1 in {rate}");
        let before = twin.content().await;
        twin.sql(statement).await;
        let after = twin.content().await;
        let session = watched(&table, faults.clone()).await;
        let injected = || *faults.injected.lock().unwrap();
        let already = injected();
        faults.has_begun.store(true, Ordering::SeqCst);
        let ran = run(&session, statement).await;
        faults.has_begun.store(false, Ordering::SeqCst);
        let content = table.content().await;
        match ran {
            Ok(()) => {
                counts.done += 1;
                counts.survived += usize::from(injected() > already);
                assert_eq!(content, after, "{context}");
            }
            Err(error) => {
                counts.failed += 1;
                assert!(!error.contains("panicked"), "{context}: {error}");
                let known = ["connection was reset", "not found", "exhausted"];
                let is_known = known.iter().any(|known| error.contains(known));
                assert!(is_known, "{context}: {error}");
                let committed = ["was committed", "is unknown"].iter().any(|it| error.contains(it));
                assert!(content == before || committed && content == after, "{context}: {error}");
                if content != after || before == after {
                    table.sql(statement).await;
                    assert_eq!(table.content().await, after, "{context}");
                }
            }
        }
        for predicate in [predicate, "cat = 'A'", "id < 30"] {
            table.same_rows(predicate).await;
        }
        table.check_overlap(&context).await;
        if let Some(index) = covers {
            assert!(table.is_covered(index).await, "{context}: not covered");
        }
        if statement.starts_with("DROP") {
            assert!(table.segments("j").await.is_empty(), "{context}");
        }
    }
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
    assert!(counts.done > 20 && counts.survived > 0 && counts.failed > 5, "{counts:?}");
    assert!(counts.injected > 50, "{counts:?}");
}
