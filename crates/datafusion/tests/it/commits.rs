//! Commits that conflict, fail, or whose answer is lost.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    scripted::{Does, run, scripted},
    support::{Table, config, half_and_half, letters},
};

const CREATE: &str = "CREATE INDEX i ON t (id)";

pub fn index_directories(table: &Table) -> usize {
    std::fs::read_dir(format!("{}/_indices", table.uri)).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_commit_that_fails_changes_nothing() {
    let table = Table::new(&[half_and_half()], false).await;
    let version = table.version().await;
    let session = scripted(&table, |_| Does::Fail).await;
    let error = run(&session, CREATE).await.unwrap_err();
    assert!(error.contains("no version up to"), "{error}");
    assert!(error.contains("the network is down"), "{error}");
    assert_eq!(table.version().await, version);
    // The commit may have been on its way all the same: its files are left to cleanup.
    assert_eq!(index_directories(&table), 1);
    table.sql(CREATE).await;
    table.oracle("i", "id = 7").await;
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_found_again() {
    let table = Table::new(&[half_and_half()], false).await;
    let version = table.version().await;
    let session = scripted(&table, |_| Does::LoseAnswer).await;
    run(&session, CREATE).await.unwrap();
    assert_eq!(table.version().await, version + 2);
    assert_eq!(table.segments("i").await, [vec![0]]);
    table.oracle("i", "id = 7").await;
}

/// A new fragment, covered by a statement of another session.
fn append_and_refresh(table: &Arc<Table>, at: usize) -> BoxFuture<'static, ()> {
    let table = table.clone();
    async move {
        let first = 1000 + 10 * at as i64;
        table.append(letters(first..first + 10, |_| "A")).await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
    }
    .boxed()
}

async fn due() -> Arc<Table> {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    table.sql(CREATE).await;
    table.append(letters(100..200, |_| "C")).await;
    table
}

#[tokio::test]
async fn a_statement_gives_way_as_often_as_it_takes() {
    // The other writer covers our fragment first, then its own new ones.
    let table = due().await;
    let other = table.clone();
    let session = scripted(&table, move |n| match n {
        0..3 => Does::ComeSecond(append_and_refresh(&other, n)),
        _ => Does::Commit,
    })
    .await;
    run(&session, "ALTER TABLE t REFRESH INDEX i").await.unwrap();
    let mut covered = table.segments("i").await.concat();
    covered.sort();
    let fragments = table.open().await.get_fragments().len() as u32;
    assert_eq!(covered, (0..fragments).collect::<Vec<_>>());
    assert_eq!(table.oracle("i", "id = 150").await, 1);
    assert_eq!(table.oracle("i", "id = 1000").await, 1);
}

#[tokio::test]
async fn a_statement_gives_way_only_so_often() {
    let table = due().await;
    let other = table.clone();
    // Appends that our index doesn't cover, and a second index under the same name's nose: each
    // commit of ours comes second to one of the same name.
    let session = scripted(&table, move |n| {
        let other = other.clone();
        Does::ComeSecond(
            async move {
                other.append(letters(2000 + n as i64..2001 + n as i64, |_| "A")).await;
                let replace = "CREATE OR REPLACE INDEX i ON t USING bitmap (id)";
                other.sql(replace).await;
            }
            .boxed(),
        )
    })
    .await;
    run(&session, "SET lance_index.commit_retries = 2").await.unwrap();
    let before = table.segments("i").await;
    let error = run(&session, "CREATE OR REPLACE INDEX i ON t (id)").await.unwrap_err();
    assert!(error.contains("other writers were faster 3 times"), "{error}");
    assert!(error.contains("nothing was committed"), "{error}");
    assert_ne!(table.segments("i").await, before);
    assert_eq!(table.same_rows("id = 150").await, 1);
}

/// Lance lets our commit pass beside one that drops the column, and every filtered scan of such a
/// table would fail.
#[tokio::test]
async fn the_column_is_dropped_while_the_commit_is_under_way() {
    let table = due().await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        let drop = async move { other.open().await.drop_columns(&["id"]).await.unwrap() };
        if n == 0 { Does::ComeSecond(drop.boxed()) } else { Does::Commit }
    })
    .await;
    let error = run(&session, "ALTER TABLE t REFRESH INDEX i").await.unwrap_err();
    assert!(error.contains("index 'i'"), "{error}");
    assert!(table.segments("i").await.is_empty());
    let table = table.again(config()).await;
    assert_eq!(table.same_rows("cat = 'C'").await, 100);
}

/// The same with an in-place rewrite of the indexed column.
#[tokio::test]
async fn the_column_is_rewritten_while_the_commit_is_under_way() {
    let table = Arc::new(Table::new(&[half_and_half(), half_and_half()], false).await);
    table.sql("CREATE INDEX i ON t (cat)").await;
    table.append(letters(100..200, |_| "A")).await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        let rewrite = async move {
            crate::stale::rewrite_in_place(&other, 2, "cat", 100..150, "B").await;
        };
        if n == 0 { Does::ComeSecond(rewrite.boxed()) } else { Does::Commit }
    })
    .await;
    // Lance withdraws the fragment from our segment.
    run(&session, "ALTER TABLE t REFRESH INDEX i").await.unwrap();
    assert_eq!(table.same_rows("cat = 'A'").await, 150);
    table.sql("ALTER TABLE t REFRESH INDEX i").await;
    assert_eq!(table.oracle("i", "cat = 'A'").await, 150);
    assert_eq!(table.oracle("i", "cat = 'B'").await, 150);
}

/// Dropped in the middle of its commit, a statement still puts right what the commit met.
#[tokio::test]
async fn a_statement_dropped_while_it_commits() {
    let table = due().await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        let slowly = async move {
            tokio::time::sleep(Duration::from_millis(500)).await;
            other.open().await.drop_columns(&["id"]).await.unwrap();
        };
        if n == 0 { Does::ComeSecond(slowly.boxed()) } else { Does::Commit }
    })
    .await;
    let version = table.version().await;
    // Waits for the commit to begin; the build takes a few milliseconds.
    let statement = run(&session, "ALTER TABLE t REFRESH INDEX i");
    assert!(tokio::time::timeout(Duration::from_millis(400), statement).await.is_err());
    // The column is dropped, the segment committed and removed again.
    for _ in 0..100 {
        if table.version().await >= version + 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(table.version().await, version + 3);
    assert!(table.segments("i").await.is_empty());
    let table = table.again(config()).await;
    assert_eq!(table.same_rows("cat = 'C'").await, 100);
}
