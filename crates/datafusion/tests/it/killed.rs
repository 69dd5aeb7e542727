//! Processes that are killed (SIGKILL): once a statement is planned, once something is built, between
//! any two commits, and at random.

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt;
use lance::index::DatasetIndexExt;
use lance_table::io::deletion::relative_deletion_file_path;
use rand::{Rng, SeedableRng, rngs::StdRng};
use tempfile::TempDir;

use crate::{
    catalog::{drop_index, listed},
    races::race,
    scripted::{Does, run, run_after, scripted_at},
    support::{Table, config, fresh_seed, half_and_half, letters},
};

const TABLE: &str = "LANCE_INDEX_KILLED_TABLE";
const STATEMENT: &str = "LANCE_INDEX_KILLED_STATEMENT";
/// The [`Point`] at which the process waits to be killed.
const AT: &str = "LANCE_INDEX_KILLED_AT";
/// The file by which it says that it waits. If it isn't to wait: that it has begun; another one, by
/// the name of [`ended`], that the statement has come to its end.
const SIGN: &str = "LANCE_INDEX_KILLED_SIGN";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// The statement is planned and not executed.
    Planned,
    /// The first of its units is built: of an index, or a task of a compaction.
    Built,
    /// So many of its commits are made, and one is about to be.
    Before(usize),
    /// So many of its commits are made, one of them just now.
    After(usize),
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planned => write!(f, "planned"),
            Self::Built => write!(f, "built"),
            Self::Before(commits) => write!(f, "before {commits}"),
            Self::After(commits) => write!(f, "after {commits}"),
        }
    }
}

impl Point {
    fn read(text: &str) -> Self {
        match text.split_once(' ') {
            Some(("before", commits)) => Self::Before(commits.parse().unwrap()),
            Some(("after", commits)) => Self::After(commits.parse().unwrap()),
            None if text == "planned" => Self::Planned,
            None if text == "built" => Self::Built,
            _ => panic!("{text}"),
        }
    }

    fn commits(self) -> usize {
        match self {
            Self::Planned | Self::Built => 0,
            Self::Before(commits) | Self::After(commits) => commits,
        }
    }
}

#[tokio::test]
#[ignore = "the process that the other tests kill"]
async fn victim() {
    let given = |name: &str| std::env::var(name).unwrap();
    let (uri, statement, file) = (given(TABLE), given(STATEMENT), PathBuf::from(given(SIGN)));
    let end = ended(&file);
    let sign = move || fs::write(&file, "").unwrap();
    let Ok(point) = std::env::var(AT) else {
        let session = scripted_at(&uri, |_| Does::Commit).await;
        sign();
        run(&session, &statement).await.unwrap();
        return fs::write(end, "").unwrap();
    };
    let point = Point::read(&point);
    let halt = move || {
        sign();
        std::future::pending::<()>()
    };
    match point {
        Point::Planned => {
            let session = scripted_at(&uri, |_| Does::Commit).await;
            run_after(&session, &statement, halt()).await.unwrap();
        }
        Point::Built => {
            let table = Arc::new(Table::at(&uri, config()).await);
            race(&table, &statement, move |_| halt()).await.unwrap();
        }
        Point::Before(commits) | Point::After(commits) => {
            let halt = move || {
                let halt = halt.clone();
                async move { halt().await }.boxed()
            };
            let script = move |made: usize| match point {
                Point::Before(_) if made == commits => Does::ComeSecond(halt()),
                Point::After(_) if made + 1 == commits => Does::BeFollowedBy(halt()),
                _ => Does::Commit,
            };
            run(&scripted_at(&uri, script).await, &statement).await.unwrap();
        }
    }
}

fn ended(sign: &Path) -> PathBuf {
    sign.with_extension("end")
}

fn start(table: &Table, statement: &str, point: Option<Point>, sign: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "killed::victim"])
        .env(TABLE, &table.uri)
        .env(STATEMENT, statement)
        .env(SIGN, sign)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(point) = point {
        command.env(AT, point.to_string());
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

/// A process that runs the statement is killed at that point. False if it came to its end before.
async fn killed_at(table: &Table, statement: &str, point: Point) -> bool {
    let dir = TempDir::new().unwrap();
    let sign = dir.path().join("sign");
    let mut child = start(table, statement, Some(point), &sign);
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
    table.check_overlap(&context).await;
}

/// The files of indexes, rows and deletions that are there, and those that the manifest names.
async fn files(table: &Table) -> (BTreeSet<String>, BTreeSet<String>) {
    let there = ["_indices", "data", "_deletions"].into_iter().flat_map(|directory| {
        let files = fs::read_dir(format!("{}/{directory}", table.uri)).into_iter().flatten();
        files.map(move |file| {
            format!("{directory}/{}", file.unwrap().file_name().into_string().unwrap())
        })
    });
    let dataset = table.open().await;
    let segments = dataset.load_indices().await.unwrap();
    let mut named: BTreeSet<String> =
        segments.iter().map(|segment| format!("_indices/{}", segment.uuid)).collect();
    for fragment in dataset.fragments().iter() {
        named.extend(fragment.files.iter().map(|file| format!("data/{}", file.path)));
        let deletions = fragment.deletion_file.iter();
        named.extend(deletions.map(|file| relative_deletion_file_path(fragment.id, file)));
    }
    (there.collect(), named)
}

/// The next run finishes the work, no index is lost, and VACUUM takes what the killed one has left.
async fn check_what_follows(table: &Table, statement: &str, context: &str) {
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    let due = "SELECT count(*) FROM lance_indexes('t') WHERE state IN ('unbuilt', 'refresh due')";
    assert_eq!(table.number(due).await, 0, "{context}");
    let kept: &[&str] = match statement.split(' ').next() {
        Some("DROP") => &["c"],
        // Of indexes that other clients made, it keeps none.
        Some("INSERT") if statement.contains("OVERWRITE") => &["i"],
        _ => &["c", "i"],
    };
    for index in kept {
        assert!(table.is_covered(index).await, "{context}: {index} doesn't cover all rows");
    }
    check(table, context).await;
    let vacuum = "VACUUM TABLE t WITH (older_than = '0 seconds', delete_unverified = true)";
    table.sql(vacuum).await;
    let (there, named) = files(table).await;
    assert_eq!(there, named, "{context}: left-over files");
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
const STATEMENTS: [(&str, &str, &[&str]); 13] = [
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
    // Lance commits the numbers of new fragments first.
    ("OPTIMIZE TABLE t", "i", &["refresh due, zonemap, v2"; 3]),
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
async fn at_every_point() {
    for (statement, index, states) in STATEMENTS {
        let commits = states.len() - 1;
        let builds = ["CREATE", "REFRESH", "OPTIMIZE"].iter().any(|it| statement.contains(it));
        let mut points = vec![Point::Planned];
        points.extend(builds.then_some(Point::Built));
        points.extend((0..commits).flat_map(|at| [Point::Before(at), Point::After(at + 1)]));
        let done = table(false).await;
        let before = done.content().await;
        assert!(!killed_at(&done, statement, Point::Before(commits)).await, "{statement}");
        assert_eq!(shown(&done, index).await, states[commits], "{statement}");
        let after = done.content().await;
        for point in points {
            let context = format!("{statement}, killed {point}");
            let table = table(false).await;
            let version = table.version().await;
            assert!(killed_at(&table, statement, point).await, "{context}: not killed");
            let made = point.commits();
            assert_eq!(table.version().await, version + made as u64, "{context}");
            assert_eq!(shown(&table, index).await, states[made], "{context}");
            // Rows change with the last of the commits.
            let rows = if made == commits { &after } else { &before };
            assert_eq!(&table.content().await, rows, "{context}");
            check(&table, &context).await;
            check_what_follows(&table, statement, &context).await;
        }
    }
}

/// What another client dropped doesn't come back by a statement that was killed.
#[tokio::test]
async fn an_index_that_was_dropped_stays_dropped() {
    let table = table(false).await;
    assert!(killed_at(&table, "ALTER TABLE t REFRESH INDEX i", Point::Before(0)).await);
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

/// How long the statement takes a process that nobody kills, and the rows before and after it.
async fn undisturbed(statement: &str) -> (Duration, [Vec<String>; 2]) {
    let table = table(false).await;
    let before = table.content().await;
    let dir = TempDir::new().unwrap();
    let sign = dir.path().join("sign");
    let mut child = start(&table, statement, None, &sign);
    assert!(has_signed(&mut child, &sign).await, "{statement}");
    let begun = Instant::now();
    assert!(child.wait().unwrap().success(), "{statement}");
    (begun.elapsed(), [before, table.content().await])
}

/// Kills processes at random moments until so many have died in their statement.
async fn at_random(kills: usize, seed: u64) {
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut all = Vec::new();
    for statement in AT_RANDOM {
        all.push((statement, undisturbed(statement).await));
    }
    let (mut killed, mut died) = (0, 0);
    while died < kills {
        let (statement, (longest, rows)) = &all[killed % all.len()];
        let table = table(killed % 2 == 1).await;
        let dir = TempDir::new().unwrap();
        let sign = dir.path().join("sign");
        let mut child = start(&table, statement, None, &sign);
        assert!(has_signed(&mut child, &sign).await, "{statement}");
        let wait = longest.mul_f64(random.random());
        tokio::time::sleep(wait).await;
        child.kill().unwrap();
        child.wait().unwrap();
        died += usize::from(!ended(&sign).exists());
        killed += 1;
        let context = format!("seed {seed}, kill {killed}, {statement}, after {wait:?}");
        assert!(rows.contains(&table.content().await), "{context}: neither before nor after");
        check(&table, &context).await;
        check_what_follows(&table, statement, &context).await;
        assert!(killed < 20 * kills, "{died} of {killed} processes died in their statement");
    }
    eprintln!("{killed} processes killed, {died} of them in their statement; seed {seed}");
}

#[tokio::test]
async fn at_random_moments() {
    at_random(8, fresh_seed()).await;
}

#[tokio::test]
#[ignore = "kills some 300 processes, which takes minutes"]
async fn at_200_random_moments() {
    at_random(200, fresh_seed()).await;
}
