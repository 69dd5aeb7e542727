//! Every statement about indexes, with what another client does at every point between its planning
//! and its commits.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use lance::index::DatasetIndexExt;
use lance_index::{IndexType, optimize::OptimizeOptions};

use crate::{
    catalog::{create, drop_index, state},
    deferred::compact,
    races::race,
    scripted::{Does, run, scripted},
    support::{Table, config, fresh_seed, half_and_half, letters},
};

/// Where the other client comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// The statement is planned and not executed.
    Planned,
    /// Its first segment is built.
    Built,
    /// What was built is accepted, and about to be committed; of a CREATE, its record is.
    Publishing,
    /// Its record is committed, and its segments are about to be.
    Announced,
}

const POINTS: [Point; 4] = [Point::Planned, Point::Built, Point::Publishing, Point::Announced];

const STATEMENTS: [&str; 6] = [
    "CREATE INDEX j ON t USING {method} ({column})",
    "CREATE OR REPLACE INDEX i ON t USING {method} ({column})",
    "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 2)",
    "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 2)",
    "DROP INDEX i ON t",
    "OPTIMIZE TABLE t",
];

/// What another client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Append,
    Delete,
    Update,
    UpdateAnotherColumn,
    RewriteColumn,
    Compact,
    CompactDeferred,
    Drop,
    DropAndMakeAgain,
    DropAndMakeAnother,
    Optimize,
    Overwrite,
    Restore,
    Cleanup,
}

const ACTS: [Act; 14] = [
    Act::Append,
    Act::Delete,
    Act::Update,
    Act::UpdateAnotherColumn,
    Act::RewriteColumn,
    Act::Compact,
    Act::CompactDeferred,
    Act::Drop,
    Act::DropAndMakeAgain,
    Act::DropAndMakeAnother,
    Act::Optimize,
    Act::Overwrite,
    Act::Restore,
    Act::Cleanup,
];

/// A method, a column for it, and predicates that such an index answers.
const METHODS: [(&str, &str, [&str; 3]); 8] = [
    ("btree", "cat", ["cat = 'A'", "cat = 'B'", "cat = 'D'"]),
    ("bitmap", "cat", ["cat = 'A'", "cat = 'B'", "cat = 'D'"]),
    (
        "label_list",
        "tags",
        ["array_has(tags, 'A')", "array_has(tags, 'B')", "array_has(tags, 'C')"],
    ),
    ("ngram", "txt", ["contains(txt, 'Apple')", "contains(txt, 'Bpple')", "contains(txt, 'Dpp')"]),
    ("zonemap", "id", ["id < 20", "id = 150", "id >= 190"]),
    ("bloomfilter", "cat", ["cat = 'A'", "cat = 'B'", "cat = 'D'"]),
    (
        "fts",
        "txt",
        [
            "contains_tokens(txt, 'apple')",
            "contains_tokens(txt, 'bpple')",
            "contains_tokens(txt, 'common')",
        ],
    ),
    ("fm", "txt", ["contains(txt, 'Apple')", "contains(txt, 'Bpple')", "contains(txt, 'Dpp')"]),
];

struct Case {
    statement: &'static str,
    point: Point,
    act: Act,
    method: usize,
    stable_row_ids: bool,
    /// How many such statements run at once.
    at_once: usize,
    /// Whether the other client has done it.
    acted: AtomicBool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, act, stable_row_ids, at_once, .. } = self;
        let (method, ..) = METHODS[self.method];
        let statement = self.sql();
        write!(
            f,
            "{statement} ({method}), {point:?}, {act:?}, {at_once} at once, stable row ids \
             {stable_row_ids}"
        )
    }
}

impl Case {
    fn sql(&self) -> String {
        let (method, column, _) = METHODS[self.method];
        self.statement.replace("{method}", method).replace("{column}", column)
    }

    fn continues(&self) -> bool {
        self.statement.contains("REFRESH") || self.statement.contains("OPTIMIZE INDEX")
    }

    /// The value of a row is changed as this column has it.
    fn changed(&self) -> (&'static str, &'static str) {
        match METHODS[self.method].1 {
            "tags" => ("tags", "make_array('C', 'all')"),
            "txt" => ("txt", "'Dpple common'"),
            "id" => ("id", "id + 1000"),
            _ => ("cat", "'D'"),
        }
    }

    async fn table(&self) -> Arc<Table> {
        let (method, column, _) = METHODS[self.method];
        let table = Table::new(&[half_and_half()], self.stable_row_ids).await;
        table.sql("CREATE INDEX k ON t USING zonemap (other)").await;
        // An index that is replaced by its like needs no new record.
        let (method, column) = match self.statement.contains("REPLACE") {
            true => ("zonemap", "note"),
            false => (method, column),
        };
        table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
        for at in 1..5 {
            if at == 3 {
                table.sql("ALTER TABLE t REFRESH INDEXES").await;
            }
            table
                .append(letters(
                    at * 20 + 80..at * 20 + 100,
                    |id| if id % 2 == 0 { "A" } else { "B" },
                ))
                .await;
        }
        Arc::new(table)
    }

    async fn act(&self, table: &Table) {
        let (method, column, _) = METHODS[self.method];
        let (changed, value) = self.changed();
        let index_type = match method {
            "fts" => IndexType::Inverted,
            "bitmap" => IndexType::Bitmap,
            "btree" => IndexType::BTree,
            "label_list" => IndexType::LabelList,
            "ngram" => IndexType::NGram,
            "bloomfilter" => IndexType::BloomFilter,
            "fm" => IndexType::Fm,
            _ => IndexType::ZoneMap,
        };
        match self.act {
            Act::Append => table.append(letters(300..310, |_| "A")).await,
            Act::Delete => table.delete("id % 4 = 1").await,
            Act::Update => table.update("id % 4 = 2", changed, value).await,
            Act::UpdateAnotherColumn => table.update("id % 4 = 2", "other", "7").await,
            Act::RewriteColumn => rewrite(table, column).await,
            Act::Compact => table.compact().await,
            Act::CompactDeferred => compact(table, 1000, true).await,
            Act::Drop => drop(dropped(table).await),
            Act::DropAndMakeAgain => {
                if dropped(table).await {
                    create(table, "i", column, index_type, "{}").await;
                }
            }
            Act::DropAndMakeAnother => {
                if dropped(table).await {
                    create(table, "i", "id", IndexType::BTree, "{}").await;
                }
            }
            Act::Optimize => {
                let append = OptimizeOptions::append();
                table.open().await.optimize_indices(&append).await.unwrap();
            }
            Act::Overwrite => table.overwrite(half_and_half()).await,
            Act::Restore => {
                let dataset = table.open().await;
                let before = dataset.version().version - 1;
                dataset.checkout_version(before).await.unwrap().restore().await.unwrap();
            }
            Act::Cleanup => {
                let dataset = table.open().await;
                dataset.cleanup_old_versions(chrono::Duration::zero(), None, None).await.unwrap();
            }
        }
    }

    /// Runs the statement; what it says where it fails.
    async fn run(self: &Arc<Self>, table: &Arc<Table>) -> Vec<Result<(), String>> {
        let sql = self.sql();
        let others = (1..self.at_once).map(|_| async {
            let session = table.again(config()).await;
            session.try_sql(&sql).await.map(drop).map_err(|error| error.strip_backtrace())
        });
        let (first, mut others) = futures::join!(self.interleaved(table, &sql), join_all(others));
        others.push(first);
        others
    }

    async fn interleaved(self: &Arc<Self>, table: &Arc<Table>, sql: &str) -> Result<(), String> {
        let act = {
            let (case, table) = (self.clone(), table.clone());
            move || -> BoxFuture<'static, ()> {
                let (case, table) = (case.clone(), table.clone());
                async move {
                    case.act(&table).await;
                    case.acted.store(true, Ordering::SeqCst);
                }
                .boxed()
            }
        };
        match self.point {
            Point::Planned => {
                let session = scripted(table, |_| Does::Commit).await;
                use datafusion_lance_index::session::SessionContextExt;
                let planned = session.lance_sql(sql).await;
                let planned = planned.map_err(|error| error.strip_backtrace())?;
                act().await;
                planned.collect().await.map(drop).map_err(|error| error.strip_backtrace())
            }
            Point::Built => race(table, sql, move |_| act()).await.map(drop),
            Point::Publishing | Point::Announced => {
                let at = usize::from(self.point == Point::Announced);
                let script = move |n| if n == at { Does::ComeSecond(act()) } else { Does::Commit };
                run(&scripted(table, script).await, sql).await
            }
        }
    }

    async fn check(&self, table: &Table) {
        for predicate in METHODS[self.method].2.iter().chain(&["other = 0", "id = 7"]) {
            table.same_rows(predicate).await;
        }
        for index in ["i", "j", "k"] {
            let covered = table.segments(index).await.concat();
            let distinct: BTreeSet<u32> = covered.iter().copied().collect();
            assert_eq!(distinct.len(), covered.len(), "segments of {index} overlap: {self}");
        }
    }

    async fn try_out(self) {
        let case = Arc::new(self);
        let table = case.table().await;
        let (before, content) = (table.segments("k").await.concat(), table.same_rows("true").await);
        let errors: Vec<String> =
            case.run(&table).await.into_iter().filter_map(Result::err).collect();
        for error in &errors {
            let known = KNOWN.iter().any(|known| error.contains(known));
            assert!(known, "{case}: {error}");
        }
        case.check(&table).await;
        // Among many, another one may have left nothing to do.
        let acted = case.acted.load(Ordering::SeqCst);
        assert!(acted || case.at_once > 1, "{case}: the point isn't reached");
        // No statement about one index takes anything from another, or from the rows.
        if acted && case.act == Act::Append && !case.statement.contains("OPTIMIZE TABLE") {
            assert_eq!(table.segments("k").await.concat(), before, "{case}");
            assert_eq!(table.same_rows("true").await, content + 10, "{case}");
        }
        // What was dropped while an index was maintained stays dropped.
        if case.act == Act::Drop && case.continues() && case.at_once == 1 {
            assert!(!errors.is_empty(), "{case}");
            assert!(table.segments("i").await.is_empty(), "{case}");
        }
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        case.check(&table).await;
        let version = table.version().await;
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.version().await, version, "{case}: work is left");
        for index in ["i", "j", "k"] {
            let state = state(&table, index).await;
            let expected = ["ready", "optimize due", "not there", "dropped elsewhere", "gone"];
            assert!(expected.contains(&state.as_str()), "{index} is {state}: {case}");
        }
    }
}

/// The ways in which a statement gives way.
const KNOWN: [&str; 8] = [
    "nothing was committed",
    "would lose rows",
    "there is no index 'i'",
    "index 'i' already exists",
    "index 'j' already exists",
    "was created by another client",
    "was removed by cleanup",
    "was removed by a cleanup meanwhile",
];

/// Whether there was something to drop.
async fn dropped(table: &Table) -> bool {
    let there = !table.segments("i").await.is_empty();
    if there {
        drop_index(table, "i").await;
    }
    there
}

/// Rewrites the column of the second fragment in place, where a test can.
async fn rewrite(table: &Table, column: &str) {
    if let ("cat" | "txt", Some(_)) = (column, table.open().await.get_fragment(1)) {
        crate::stale::rewrite_in_place(table, 1, column, 100..120, "Dpple common").await;
    }
}

/// Each statement, point and act, with the methods, kinds of row ids and numbers of statements in
/// turn; of these, each `share`th from the `first`.
async fn cases(first: usize, share: usize) -> usize {
    let mut number = 0;
    let mut tried = 0;
    for statement in STATEMENTS {
        for point in POINTS {
            for act in ACTS {
                let by = first / share;
                number += 1;
                let announces = statement.starts_with("CREATE") || statement.starts_with("DROP");
                let builds = announces != statement.starts_with("DROP")
                    || statement.contains("INDEX i WITH");
                let is_none = match point {
                    Point::Announced => !announces,
                    Point::Built => !builds,
                    Point::Planned | Point::Publishing => false,
                };
                if is_none || number % share != first % share {
                    continue;
                }
                let method = (number + by) % METHODS.len();
                // With stable row ids, Lance builds no index over what a deferred compaction left.
                let stable_row_ids =
                    act != Act::CompactDeferred && (number / METHODS.len() + by).is_multiple_of(2);
                // Among many, the other client would have to try again.
                let at_once = match act {
                    Act::Append | Act::Delete | Act::Update | Act::Overwrite | Act::Cleanup => {
                        [1, 2, 8][(number / 16 + by) % 3]
                    }
                    _ => 1,
                };
                let acted = AtomicBool::new(false);
                let case = Case { statement, point, act, method, stable_row_ids, at_once, acted };
                case.try_out().await;
                tried += 1;
            }
        }
    }
    tried
}

#[tokio::test]
async fn some_of_them() {
    let first = fresh_seed() as usize % 10_000;
    eprintln!("{} cases from {first}", cases(first, 6).await);
}

#[tokio::test]
#[ignore = "takes many minutes"]
async fn all_of_them() {
    let rounds = METHODS.len() * 2;
    let mut tried = 0;
    for first in 0..rounds {
        tried += cases(first, 1).await;
        eprintln!("{tried} cases, round {first} of {rounds}");
    }
}
