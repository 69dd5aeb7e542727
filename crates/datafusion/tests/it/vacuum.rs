//! `VACUUM TABLE`: what goes, and what has to stay.

use crate::support::{Table, half_and_half, letters};

const EVERYTHING: &str = "VACUUM TABLE t WITH (older_than = '0 seconds')";

#[tokio::test]
async fn a_tag_keeps_its_version() {
    let table = Table::new(&[half_and_half()], false).await;
    let tagged = table.version().await;
    table.open().await.tags().create("kept", tagged).await.unwrap();
    table.sql("CREATE INDEX i ON t (id)").await;
    table.append(letters(100..200, |_| "A")).await;
    table.sql("OPTIMIZE TABLE t").await;
    let removed = table.reported(EVERYTHING, "versions_removed").await;
    assert_eq!(removed as u64, table.version().await - 2);
    let kept = table.open().await.checkout_version("kept").await.unwrap();
    assert_eq!(kept.count_rows(Some("id < 50".to_string())).await.unwrap(), 50);
    table.same_rows("id = 150").await;
}

/// A branch reads files of the versions that it started from.
#[tokio::test]
async fn a_branch_stays_whole() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let from = table.version().await;
    table.open().await.create_branch("b", from, None).await.unwrap();
    table.append(letters(100..200, |_| "A")).await;
    table.sql("OPTIMIZE TABLE t; ALTER TABLE t REFRESH INDEXES").await;
    let shown = table.print(&format!("EXPLAIN {EVERYTHING}")).await;
    assert!(shown.contains("Keep what branch b reads"), "{shown}");
    assert!(table.reported(EVERYTHING, "versions_removed").await > 0);
    let branch = table.open().await.checkout_branch("b").await.unwrap();
    assert_eq!(branch.count_rows(Some("id = 7".to_string())).await.unwrap(), 1);
    assert_eq!(branch.count_rows(None).await.unwrap(), 100);
    assert_eq!(table.oracle("i", "id = 150").await, 1);
}

/// Files that no version names may be those of a statement that still runs.
#[tokio::test]
async fn unverified_files() {
    let table = Table::new(&[half_and_half()], false).await;
    let stray = format!("{}/data/0123456789.lance", table.uri);
    std::fs::write(&stray, "stray").unwrap();
    table.sql(EVERYTHING).await;
    assert!(std::fs::exists(&stray).unwrap());
    let removed = "VACUUM TABLE t WITH (delete_unverified = true)";
    assert_eq!(table.reported(removed, "files_removed").await, 1);
    assert!(!std::fs::exists(&stray).unwrap());
    table.same_rows("id = 7").await;
}

/// What EXPLAIN says is what is then removed.
#[tokio::test]
async fn the_dry_run_is_right() {
    let table = Table::new(&[half_and_half(), letters(100..200, |_| "A")], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    table.delete("id < 10").await;
    table.sql("OPTIMIZE TABLE t WITH (materialize_deletions_threshold = 0)").await;
    let version = table.version().await;
    let shown = table.print(&format!("EXPLAIN {EVERYTHING}")).await;
    assert_eq!(table.version().await, version);
    let rows = table.sql(EVERYTHING).await;
    let count = |at: usize| {
        let column = rows[0].column(at).as_any().downcast_ref::<arrow::array::Int64Array>();
        column.unwrap().value(0)
    };
    let said = format!("Remove versions={} files={} bytes={} ", count(0), count(1), count(2));
    assert!(shown.contains(said.trim()), "{said}: {shown}");
    assert_eq!(count(0), version as i64 - 1);
    assert_eq!(count(3), version as i64);
    assert_eq!(table.oracle("i", "id < 20").await, 10);
}
