//! What Lance gets wrong about fm indexes, and this library's queries don't.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use lance::dataset::optimize::{CompactionOptions, compact_files};

use crate::{
    catalog::state,
    support::{Table, letters, nullable},
};

/// How many rows Lance itself finds.
async fn found_by_lance(table: &Table, predicate: &str) -> usize {
    let mut scan = table.open().await.scan();
    scan.filter(predicate).unwrap();
    scan.try_into_batch().await.unwrap().num_rows()
}

/// Lance takes the fragments for covered that a compaction with deferred remapping has made, and
/// looks for their rows where they were before.
#[tokio::test]
async fn rows_that_a_deferred_compaction_moved_are_scanned_until_a_refresh() {
    let table = Table::new(&[letters(0..50, |_| "A"), letters(50..100, |_| "A")], false).await;
    table.sql("CREATE INDEX i ON t USING fm (txt)").await;
    table.delete("id < 10").await;
    let options = CompactionOptions { defer_index_remap: true, ..Default::default() };
    compact_files(&mut table.open().await, options, None).await.unwrap();

    let predicate = "contains(txt, 'Apple')";
    assert!(found_by_lance(&table, predicate).await < 90, "Lance has mended it");
    assert_eq!(table.same_rows(predicate).await, 90);
    assert_eq!(state(&table, "i").await, "unbuilt");
    for _ in 0..2 {
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        assert_eq!(table.uuids("i").await.len(), 1);
        assert_eq!(table.oracle("i", predicate).await, 90);
        assert_eq!(found_by_lance(&table, predicate).await, 90);
        assert_eq!(state(&table, "i").await, "ready");
    }
    let version = table.version().await;
    table.sql("ALTER TABLE t OPTIMIZE INDEX i; ALTER TABLE t REFRESH INDEXES").await;
    assert_eq!(table.version().await, version);
}

#[tokio::test]
async fn a_negated_predicate_finds_no_nulls() {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("Apple"), None, Some("pear")]));
    let table = Table::new(&[nullable(vec![("id", ids), ("txt", texts)])], false).await;
    table.sql("CREATE INDEX i ON t USING fm (txt)").await;
    assert_eq!(found_by_lance(&table, "NOT contains(txt, 'App')").await, 2, "Lance has mended it");
    for predicate in [
        "NOT contains(txt, 'App')",
        "NOT contains(txt, 'App') AND id > 0",
        "contains(txt, 'App') = false",
        "contains(txt, 'App') IS NOT TRUE",
        "NOT (id = 5 OR contains(txt, 'App'))",
    ] {
        table.same_rows(predicate).await;
    }
    assert_eq!(table.oracle("i", "contains(txt, 'App')").await, 1);
}
