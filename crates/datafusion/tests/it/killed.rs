//! Processes that are killed (SIGKILL), between any two commits of a statement and at random.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use futures::FutureExt;
use lance::index::DatasetIndexExt;
use rand::{Rng, SeedableRng, rngs::StdRng};
use tempfile::TempDir;

use crate::{
    catalog::{drop_index, listed},
    scripted::{Does, run, scripted_at},
    support::{Table, fresh_seed, half_and_half, letters},
};

const TABLE: &str = "LANCE_INDEX_KILLED_TABLE";
const STATEMENT: &str = "LANCE_INDEX_KILLED_STATEMENT";
/// The commit at which the process waits to be killed, and whether that is after it.
const AT: &str = "LANCE_INDEX_KILLED_AT";
/// The file by which it says that it waits; that it has begun, if it isn't to wait.
const SIGN: &str = "LANCE_INDEX_KILLED_SIGN";

#[tokio::test]
#[ignore = "the process that the other tests kill"]
async fn victim() {
    let given = |name: &str| std::env::var(name).unwrap();
    let sign = PathBuf::from(given(SIGN));
    let session = match std::env::var(AT) {
        Ok(at) => {
            let at: usize = at.parse().unwrap();
            let halt = move || {
                let sign = sign.clone();
                async move {
                    std::fs::write(&sign, "").unwrap();
                    std::future::pending().await
                }
                .boxed()
            };
            let script = move |n: usize| match at {
                at if at == 2 * n => Does::ComeSecond(halt()),
                at if at == 2 * n + 1 => Does::BeFollowedBy(halt()),
                _ => Does::Commit,
            };
            scripted_at(&given(TABLE), script).await
        }
        Err(_) => {
            let session = scripted_at(&given(TABLE), |_| Does::Commit).await;
            std::fs::write(&sign, "").unwrap();
            session
        }
    };
    run(&session, &given(STATEMENT)).await.unwrap();
}

fn start(table: &Table, statement: &str, at: Option<usize>, sign: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "killed::victim"])
        .env(TABLE, &table.uri)
        .env(STATEMENT, statement)
        .env(SIGN, sign)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(at) = at {
        command.env(AT, at.to_string());
    }
    command.spawn().unwrap()
}

/// Waits for the sign; false if the process ended without it.
async fn has_signed(child: &mut Child, sign: &Path) -> bool {
    let begun = Instant::now();
    while !sign.exists() {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return false;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "the process hangs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// A process that runs the statement is killed right before its commit number `at / 2`, or right
/// after it, if `at` is odd. False if it came to its end before that.
async fn killed_at(table: &Table, statement: &str, at: usize) -> bool {
    let dir = TempDir::new().unwrap();
    let sign = dir.path().join("sign");
    let mut child = start(table, statement, Some(at), &sign);
    let signed = has_signed(&mut child, &sign).await;
    child.kill().unwrap();
    child.wait().unwrap();
    signed
}

/// 100 rows that the zone map `i` covers, with a policy, and 20 that it doesn't; the bitmap `c` of
/// another client covers the first.
async fn table(stable_row_ids: bool) -> Table {
    let table = Table::new(&[half_and_half()], stable_row_ids).await;
    table
        .sql(
            "CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8);
             ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 1000)",
        )
        .await;
    let bitmap = lance_index::IndexType::Bitmap;
    crate::catalog::create(&table, "c", "cat", bitmap, "{}").await;
    table.append(letters(100..110, |_| "A")).await;
    table.append(letters(110..120, |_| "C")).await;
    table
}

const PREDICATES: [&str; 6] =
    ["id = 7", "id > 95", "id = 105", "cat = 'A'", "cat = 'C'", "cat IN ('B', 'C')"];

/// What must hold after any statement, finished or not: every query finds what a scan does, no
/// fragment is covered twice, and another client opens the table.
async fn check(table: &Table, context: &str) {
    for predicate in PREDICATES {
        table.same_rows(predicate).await;
    }
    let segments = table.open().await.load_indices().await.unwrap();
    let names: BTreeSet<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
    for name in names {
        let mut covered = table.segments(name).await.concat();
        let all = covered.len();
        covered.sort();
        covered.dedup();
        assert_eq!(covered.len(), all, "{context}: segments of {name} overlap");
    }
}

/// The index directories that are there, and those that the manifest names.
async fn directories(table: &Table) -> (BTreeSet<String>, BTreeSet<String>) {
    let there = std::fs::read_dir(format!("{}/_indices", table.uri)).unwrap();
    let there = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let segments = table.open().await.load_indices().await.unwrap();
    (there.collect(), segments.iter().map(|segment| segment.uuid.to_string()).collect())
}

/// The next run finishes the work, and VACUUM takes what the killed one has left.
async fn check_what_follows(table: &Table, context: &str) {
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    let due = "SELECT count(*) FROM lance_indexes('t') WHERE state IN ('unbuilt', 'refresh due')";
    assert_eq!(table.number(due).await, 0, "{context}");
    check(table, context).await;
    let vacuum = "VACUUM TABLE t WITH (older_than = '0 seconds', delete_unverified = true)";
    table.sql(vacuum).await;
    let (there, named) = directories(table).await;
    assert_eq!(there, named, "{context}: left-over directories");
    check(table, context).await;
}

/// The `state`, `index_type` and `source` of the index.
async fn shown(table: &Table, index: &str) -> String {
    match listed(table, index).await {
        Some([state, index_type, _, source]) => format!("{state}, {index_type}, {source}"),
        None => "not there".to_string(),
    }
}

/// Each statement, with what SHOW INDEXES says of the index after so many of its commits.
const STATEMENTS: [(&str, &str, &[&str]); 12] = [
    (
        "CREATE INDEX j ON t USING btree (id)",
        "j",
        &["not there", "unbuilt, btree, v2", "ready, btree, v2"],
    ),
    (
        "CREATE OR REPLACE INDEX i ON t USING btree (id)",
        "i",
        &[
            "refresh due, zonemap, v2",
            "unbuilt, btree, v2 (1 of 1 segments of type lance:zonemap)",
            "ready, btree, v2",
        ],
    ),
    (
        "DROP INDEX i ON t",
        "i",
        &["refresh due, zonemap, v2", "refresh due, zonemap, inferred", "not there"],
    ),
    (
        "ALTER TABLE t ALTER INDEX i SET (merge_factor = 3)",
        "i",
        &["refresh due, zonemap, v2", "refresh due, zonemap, v2"],
    ),
    (
        "ALTER TABLE t ALTER INDEX i RESET (target_rows_per_segment)",
        "i",
        &["refresh due, zonemap, v2", "refresh due, zonemap, v2"],
    ),
    ("ALTER TABLE t REFRESH INDEX i", "i", &["refresh due, zonemap, v2", "ready, zonemap, v2"]),
    (
        "ALTER TABLE t REFRESH INDEX c",
        "c",
        &["refresh due, bitmap, inferred", "ready, bitmap, inferred", "ready, bitmap, v2"],
    ),
    (
        "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 2)",
        "i",
        &["refresh due, zonemap, v2", "ready, zonemap, v2"],
    ),
    ("DELETE FROM t WHERE id < 10", "i", &["refresh due, zonemap, v2"; 2]),
    ("UPDATE t SET cat = 'C' WHERE id < 10", "i", &["refresh due, zonemap, v2"; 2]),
    (
        "INSERT OVERWRITE t SELECT * FROM t WHERE id < 50",
        "i",
        &["refresh due, zonemap, v2", "unbuilt, zonemap, v2"],
    ),
    (
        "INSERT INTO t SELECT * FROM t WHERE id < 50",
        "i",
        &["refresh due, zonemap, v2", "refresh due, zonemap, v2"],
    ),
];

#[tokio::test]
async fn between_any_two_commits() {
    for (statement, index, states) in STATEMENTS {
        for at in 0..2 * (states.len() - 1) {
            let context = format!("{statement}, killed at {at}");
            let table = table(false).await;
            let version = table.version().await;
            assert!(killed_at(&table, statement, at).await, "{context}: not killed");
            let committed = at.div_ceil(2);
            assert_eq!(table.version().await, version + committed as u64, "{context}");
            assert_eq!(shown(&table, index).await, states[committed], "{context}");
            check(&table, &context).await;
            check_what_follows(&table, &context).await;
        }
        let table = table(false).await;
        assert!(!killed_at(&table, statement, 2 * (states.len() - 1)).await, "{statement}");
        assert_eq!(shown(&table, index).await, states[states.len() - 1], "{statement}");
    }
}

/// What another client dropped doesn't come back by a statement that was killed.
#[tokio::test]
async fn an_index_that_was_dropped_stays_dropped() {
    let table = table(false).await;
    assert!(killed_at(&table, "ALTER TABLE t REFRESH INDEX i", 0).await);
    drop_index(&table, "i").await;
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert_eq!(shown(&table, "i").await, "dropped elsewhere, zonemap, v2");
    assert!(table.segments("i").await.is_empty());
}

const AT_RANDOM: [&str; 8] = [
    "CREATE OR REPLACE INDEX i ON t USING btree (id)",
    "ALTER TABLE t REFRESH INDEXES",
    "ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2)",
    "DROP INDEX i ON t",
    "OPTIMIZE TABLE t",
    "VACUUM TABLE t WITH (older_than = '0 seconds')",
    "UPDATE t SET cat = 'C' WHERE id % 7 = 0",
    "INSERT OVERWRITE t SELECT * FROM t WHERE id % 3 > 0",
];

/// Kills so many processes at random moments; prints how many died in their statement.
async fn at_random(kills: usize, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let mut died = 0;
    for n in 0..kills {
        let statement = AT_RANDOM[n % AT_RANDOM.len()];
        let table = table(n % 2 == 1).await;
        let dir = TempDir::new().unwrap();
        let sign = dir.path().join("sign");
        let mut child = start(&table, statement, None, &sign);
        assert!(has_signed(&mut child, &sign).await, "{statement}");
        let wait = Duration::from_micros(random.random_range(0..400_000));
        tokio::time::sleep(wait).await;
        died += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let context = format!("seed {seed}, kill {n}, {statement}, after {wait:?}");
        check(&table, &context).await;
        check_what_follows(&table, &context).await;
    }
    eprintln!("{kills} processes killed, {died} of them in their statement; seed {seed}");
}

#[tokio::test]
async fn at_random_moments() {
    at_random(8, fresh_seed()).await;
}

#[tokio::test]
#[ignore = "kills 200 processes, which takes minutes"]
async fn at_200_random_moments() {
    at_random(200, fresh_seed()).await;
}
