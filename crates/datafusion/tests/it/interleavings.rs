//! Every statement about indexes, with what another client does at every point between its planning
//! and its commits.

use std::{
    fmt,
    sync::{Arc, Mutex},
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
    scripted::{Does, run, run_after, scripted},
    support::{Table, answering, config, fresh_seed, half_and_half, letters},
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
    /// Its first commit is made, and the second is about to be: of segments after their record, of a
    /// compaction after the numbers of its fragments.
    Announced,
}

const POINTS: [Point; 4] = [Point::Planned, Point::Built, Point::Publishing, Point::Announced];

const STATEMENTS: [&str; 6] = [
    "CREATE INDEX j ON t USING {method} ({column}){with}",
    "CREATE OR REPLACE INDEX i ON t USING {method} ({column}){with}",
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
    /// Once the other client has done it, the segments that `i` then has.
    acted: Mutex<Option<Vec<String>>>,
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
        let statement = self.statement.replace("{with}", answering(method));
        statement.replace("{method}", method).replace("{column}", column)
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
        let with = answering(method);
        table.sql(&format!("CREATE INDEX i ON t USING {method} ({column}){with}")).await;
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
        let parameters = match method {
            "fts" => "{\"stem\": false, \"max_token_length\": null}",
            _ => "{}",
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
                    create(table, "i", column, index_type, parameters).await;
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
                    *case.acted.lock().unwrap() = Some(table.uuids("i").await);
                }
                .boxed()
            }
        };
        match self.point {
            Point::Planned => run_after(&scripted(table, |_| Does::Commit).await, sql, act()).await,
            Point::Built => race(table, sql, move |_| act()).await.map(drop),
            Point::Publishing | Point::Announced => {
                let at = usize::from(self.point == Point::Announced);
                let script = move |n| if n == at { Does::ComeSecond(act()) } else { Does::Commit };
                run(&scripted(table, script).await, sql).await
            }
        }
    }

    /// The errors by which the statement may give way.
    fn known(&self) -> Vec<&'static str> {
        let about_table = self.statement == "OPTIMIZE TABLE t";
        let mut known = match self.act {
            Act::Append
            | Act::Delete
            | Act::Update
            | Act::UpdateAnotherColumn
            | Act::RewriteColumn
            | Act::Optimize => vec![],
            Act::Compact if self.continues() => vec!["nothing was committed"],
            Act::CompactDeferred if self.continues() => vec!["nothing was committed"],
            Act::CompactDeferred if about_table => vec!["would lose rows"],
            Act::Compact | Act::CompactDeferred => vec![],
            Act::Drop | Act::DropAndMakeAgain | Act::DropAndMakeAnother if about_table => vec![],
            Act::Drop | Act::DropAndMakeAgain | Act::DropAndMakeAnother => {
                vec!["nothing was committed", "there is no index 'i'"]
            }
            Act::Overwrite | Act::Restore => vec!["nothing was committed"],
            Act::Cleanup => vec!["was removed by cleanup", "was removed by a cleanup meanwhile"],
        };
        if self.at_once > 1 {
            known.push("nothing was committed");
            known.extend(match self.statement.split(' ').next() {
                Some("CREATE") => vec!["already exists", "was created by another client"],
                Some("DROP") => vec!["there is no index 'i'"],
                _ => vec![],
            });
        }
        known
    }

    async fn check(&self, table: &Table) {
        for predicate in METHODS[self.method].2.iter().chain(&["other = 0", "id = 7"]) {
            table.same_rows(predicate).await;
        }
        table.check_overlap(self).await;
    }

    async fn try_out(self) {
        let case = Arc::new(self);
        let _told = Told(case.to_string());
        let table = case.table().await;
        let (before, content) = (table.segments("k").await.concat(), table.same_rows("true").await);
        let errors: Vec<String> =
            case.run(&table).await.into_iter().filter_map(Result::err).collect();
        for error in &errors {
            let is_known = case.known().iter().any(|known| error.contains(known));
            assert!(is_known, "{error}");
        }
        case.check(&table).await;
        // Among many, another one may have left nothing to do.
        let acted = case.acted.lock().unwrap().clone();
        assert!(acted.is_some() || case.at_once > 1, "the point isn't reached");
        // No statement about one index takes anything from another, or from the rows.
        if acted.is_some() && case.act == Act::Append && !case.statement.contains("OPTIMIZE TABLE")
        {
            assert_eq!(table.segments("k").await.concat(), before);
            assert_eq!(table.same_rows("true").await, content + 10);
        }
        // What was dropped while an index was maintained stays dropped, and what was made is as it
        // was.
        let drops = [Act::Drop, Act::DropAndMakeAgain, Act::DropAndMakeAnother];
        if drops.contains(&case.act) && case.continues() {
            assert!(!errors.is_empty());
            assert_eq!(Some(table.uuids("i").await), acted);
        }
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        case.check(&table).await;
        let version = table.version().await;
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.version().await, version, "work is left");
        let (healthy, gone) =
            (["ready", "optimize due"], ["not there", "dropped elsewhere", "gone"]);
        let drops = drops.contains(&case.act) || case.statement.starts_with("DROP");
        // Half replaced by one, maintained by another, then overwritten: docs/catalog.md.
        let looks_dropped =
            case.at_once > 1 && case.act == Act::Overwrite && case.statement.contains("OR REPLACE");
        for (index, may_be_gone) in [("i", drops || looks_dropped), ("j", true), ("k", false)] {
            let state = state(&table, index).await;
            let expected =
                healthy.contains(&state.as_str()) || may_be_gone && gone.contains(&state.as_str());
            assert!(expected, "{index} is {state}");
        }
    }
}

/// Tells which case it is, should a test fail in it.
struct Told(String);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

/// Whether there was something to drop.
async fn dropped(table: &Table) -> bool {
    let there = !table.segments("i").await.is_empty();
    if there {
        drop_index(table, "i").await;
    }
    there
}

/// The columns that [`rewrite`] can rewrite.
const REWRITTEN: [&str; 2] = ["cat", "txt"];

/// Rewrites the column of the second fragment in place.
async fn rewrite(table: &Table, column: &str) {
    if table.open().await.get_fragment(1).is_some() {
        crate::stale::rewrite_in_place(table, 1, column, 100..120, "Dpple common").await;
    }
}

/// How many cases there are of each statement, point and act.
const ROUNDS: usize = METHODS.len() * 2;

/// Each statement, point and act, in the rounds with each method and kind of row ids, and with the
/// numbers of statements in turn; of these, each `share`th from the `first`.
async fn cases(first: usize, share: usize) -> usize {
    let mut number = 0;
    let mut tried = 0;
    for statement in STATEMENTS {
        for point in POINTS {
            for act in ACTS {
                let round = first / share;
                number += 1;
                let method = (number + round) % METHODS.len();
                // With stable row ids, Lance builds no index over what a deferred compaction left.
                let stable_row_ids =
                    act != Act::CompactDeferred && (number + round / METHODS.len()) % 2 == 1;
                let is_none = match point {
                    Point::Announced => statement.contains(" INDEX i WITH ("),
                    Point::Built => statement.starts_with("DROP"),
                    Point::Planned | Point::Publishing => false,
                };
                let is_none =
                    is_none || act == Act::RewriteColumn && !REWRITTEN.contains(&METHODS[method].1);
                if is_none || number % share != first % share {
                    continue;
                }
                // Among many, the other client would have to try again.
                let at_once = match act {
                    Act::Append | Act::Delete | Act::Update | Act::Overwrite | Act::Cleanup => {
                        [1, 2, 8][(number / ROUNDS + round) % 3]
                    }
                    _ => 1,
                };
                let acted = Mutex::new(None);
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
    eprintln!("from {first}");
    eprintln!("{} cases", cases(first, 6).await);
}

#[tokio::test]
#[ignore = "takes many minutes"]
async fn all_of_them() {
    let mut tried = 0;
    for round in 0..ROUNDS {
        tried += cases(round, 1).await;
        eprintln!("{tried} cases, round {round} of {ROUNDS}");
    }
}
