//! What compactions of other clients leave that defer the remapping of indexes.

use lance::dataset::optimize::{CompactionOptions, compact_files};

use crate::support::{Table, letters};

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

async fn compact(table: &Table, target_rows_per_fragment: usize, defer_index_remap: bool) {
    let options =
        CompactionOptions { target_rows_per_fragment, defer_index_remap, ..Default::default() };
    compact_files(&mut table.open().await, options, None).await.unwrap();
}

/// A table whose index covers six fragments, which a deferred compaction has put into three.
async fn deferred(method: &str, column: &str) -> Table {
    let fragments: Vec<_> = (0..6).map(|at| letters(at * 10..at * 10 + 10, |_| "A")).collect();
    let table = Table::new(&fragments, false).await;
    table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
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
        // Lance scans for the words of a text; an fm index loses its coverage.
        assert_eq!(found < 61, breaks && method != "fts" && method != "fm", "{method}: {found}");
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
