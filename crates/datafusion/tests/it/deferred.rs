//! What compactions of other clients leave that defer the remapping of indexes.

use std::sync::Arc;

use futures::FutureExt;
use lance::dataset::optimize::{CompactionOptions, compact_files};

use crate::{
    scripted::{Does, run, run_after, scripted},
    support::{Table, answering, letters},
};

/// A method, a column for it, a predicate that all rows satisfy, and whether Lance loses the rows
/// after another compaction.
const METHODS: [(&str, &str, &str, bool); 8] = [
    ("btree", "cat", "cat = 'A'", true),
    ("bitmap", "cat", "cat = 'A'", false),
    ("label_list", "tags", "array_has(tags, 'A')", false),
    ("ngram", "txt", "contains(txt, 'Apple')", true),
    ("zonemap", "id", "id >= 0", false),
    ("bloomfilter", "cat", "cat = 'A'", false),
    ("fts", "txt", "contains_tokens(txt, 'common')", true),
    // A REFRESH is due in any case.
    ("fm", "txt", "contains(txt, 'Apple')", true),
];

pub async fn compact(table: &Table, target_rows_per_fragment: usize, defer_index_remap: bool) {
    compact_but(table, &[], target_rows_per_fragment, defer_index_remap).await;
}

async fn compact_but(
    table: &Table,
    excluded: &[u32],
    target_rows_per_fragment: usize,
    defer_index_remap: bool,
) {
    let options = CompactionOptions {
        target_rows_per_fragment,
        defer_index_remap,
        excluded_fragment_ids: excluded.to_vec(),
        ..Default::default()
    };
    compact_files(&mut table.open().await, options, None).await.unwrap();
}

/// A table whose index covers six fragments, which a deferred compaction has put into three.
async fn deferred(method: &str, column: &str) -> Table {
    let fragments: Vec<_> = (0..6).map(|at| letters(at * 10..at * 10 + 10, |_| "A")).collect();
    let table = Table::new(&fragments, false).await;
    let with = answering(method);
    table.sql(&format!("CREATE INDEX i ON t USING {method} ({column}){with}")).await;
    table.append(letters(100..101, |_| "A")).await;
    compact(&table, 20, true).await;
    assert_eq!(table.open().await.get_fragments().len(), 4);
    table
}

/// Rows are lost by two compactions of Lance's, and none by a REFRESH between them.
#[tokio::test]
async fn refresh_builds_anew_what_another_compaction_would_break() {
    for (method, column, predicate, breaks) in METHODS {
        let table = deferred(method, column).await;
        compact(&table, 1000, false).await;
        let mut scan = table.open().await.scan();
        let found = scan.filter(predicate).unwrap().try_into_batch().await.unwrap().num_rows();
        // An fm index loses its coverage.
        assert_eq!(found < 61, breaks && method != "fm", "{method}: {found}");
        assert_eq!(table.same_rows(predicate).await, 61, "{method}");
        let search = "SELECT id FROM lance_fts('t', 'txt', 'common')";
        if method == "fts" {
            let error = table.error(search).await;
            assert!(error.contains("index 'i' has lost rows"), "{error}");
        }
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.oracle("i", predicate).await, 61, "{method}");
        if method == "fts" {
            let found = table.sql(search).await;
            assert_eq!(found.iter().map(|batch| batch.num_rows()).sum::<usize>(), 61);
        }

        let table = deferred(method, column).await;
        assert_eq!(table.same_rows(predicate).await, 61, "{method}");
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.oracle("i", predicate).await, 61, "{method}");
        for defer_index_remap in [false, true, false] {
            compact(&table, 1000, defer_index_remap).await;
            assert_eq!(table.same_rows(predicate).await, 61, "{method}");
            table.append(letters(200..203, |_| "B")).await;
            table.sql("ALTER TABLE t REFRESH INDEXES; DELETE FROM t WHERE id >= 200").await;
            assert_eq!(table.same_rows(predicate).await, 61, "{method}");
        }
    }
}

/// Two more compactions: of the first two of the three fragments, and of all.
#[tokio::test]
async fn no_row_is_missed_after_two_more() {
    for (method, column, predicate, _) in METHODS {
        // A compaction takes the coverage of some.
        let keeps_coverage = !["zonemap", "bloomfilter", "fm"].contains(&method);
        for deferred_too in [[false, false], [false, true], [true, false], [true, true]] {
            let table = deferred(method, column).await;
            let context = format!("{method}, {deferred_too:?}");
            for (excluded, defer_index_remap) in [&[9][..], &[]].into_iter().zip(deferred_too) {
                let version = table.version().await;
                compact_but(&table, excluded, 1000, defer_index_remap).await;
                let compacted = table.version().await > version;
                assert!(compacted || !keeps_coverage, "{context}: nothing was compacted");
                assert_eq!(table.same_rows(predicate).await, 61, "{context}");
            }
            let mut scan = table.open().await.scan();
            let found = scan.filter(predicate).unwrap().try_into_batch().await.unwrap().num_rows();
            let misses =
                deferred_too != [true, true] && ["btree", "ngram", "fts"].contains(&method);
            assert!((found < 61) == misses || method == "fm", "{context}: Lance finds {found}");
            table.sql("ALTER TABLE t REFRESH INDEXES").await;
            assert_eq!(table.oracle("i", predicate).await, 61, "{context}");
        }
    }
}

#[tokio::test]
async fn optimize_table_waits_for_a_refresh() {
    for (method, column, predicate, breaks) in METHODS {
        let table = deferred(method, column).await;
        let version = table.version().await;
        for statement in ["EXPLAIN OPTIMIZE TABLE t", "OPTIMIZE TABLE t"] {
            if breaks {
                let error = table.error(statement).await;
                assert!(error.contains("index 'i' would lose rows"), "{method}: {error}");
                assert!(error.contains("REFRESH INDEXES"), "{method}: {error}");
                assert_eq!(table.version().await, version, "{method}");
            } else {
                table.sql(statement).await;
            }
        }
        table.sql("ALTER TABLE t REFRESH INDEXES; OPTIMIZE TABLE t").await;
        assert_eq!(table.same_rows(predicate).await, 61, "{method}");
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.oracle("i", predicate).await, 61, "{method}");
    }
}

/// A deferred compaction of other fragments, once OPTIMIZE TABLE is planned: it is seen where it comes
/// before the last look at the table; after that, no query misses a row.
#[tokio::test]
async fn one_beside_optimize_table() {
    const OPTIMIZE: &str = "OPTIMIZE TABLE t WITH (target_rows_per_fragment = 20)";
    for (method, column, predicate, breaks) in METHODS {
        for is_planned in [true, false] {
            let rows = [0..10, 10..20, 20..50, 50..80];
            let fragments = rows.map(|ids| letters(ids, |_| "A"));
            let table = Arc::new(Table::new(&fragments, false).await);
            let with = answering(method);
            table.sql(&format!("CREATE INDEX i ON t USING {method} ({column}){with}")).await;
            let other = table.clone();
            let act = async move { compact_but(&other, &[0, 1], 1000, true).await };
            let ran = if is_planned {
                run_after(&scripted(&table, |_| Does::Commit).await, OPTIMIZE, act).await
            } else {
                let act = std::sync::Mutex::new(Some(act));
                let script = move |_| match act.lock().unwrap().take() {
                    Some(act) => Does::ComeSecond(act.boxed()),
                    None => Does::Commit,
                };
                run(&scripted(&table, script).await, OPTIMIZE).await
            };
            let context = format!("{method}, {is_planned}: {ran:?}");
            assert_eq!(ran.is_err(), is_planned && breaks, "{context}");
            if let Err(error) = &ran {
                assert!(error.contains("index 'i' would lose rows"), "{context}");
            }
            let fragments = table.open().await.get_fragments().len();
            assert_eq!(fragments, if ran.is_err() { 3 } else { 2 }, "{context}");
            assert_eq!(table.same_rows(predicate).await, 80, "{context}");
            table.sql("ALTER TABLE t REFRESH INDEXES").await;
            assert_eq!(table.oracle("i", predicate).await, 80, "{context}");
        }
    }
}
