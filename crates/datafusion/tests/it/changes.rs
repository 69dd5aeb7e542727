//! DELETE, UPDATE and INSERT beside other writers, and in sessions that can't have them.

use std::{collections::HashMap, sync::Arc};

use datafusion::prelude::SessionContext;
use datafusion_lance_index::{session::SessionContextExt, table::LanceTable};
use futures::FutureExt;

use crate::{
    scripted::{Does, run, scripted},
    support::{Table, half_and_half, letters},
};

/// A table of 100 rows whose ids and letters are indexed.
async fn indexed(stable_row_ids: bool) -> Arc<Table> {
    let table = Table::new(&[half_and_half()], stable_row_ids).await;
    table.sql("CREATE INDEX by_id ON t (id); CREATE INDEX by_cat ON t USING bitmap (cat)").await;
    Arc::new(table)
}

/// The indexes find what a scan finds, before and after they are refreshed.
async fn check(table: &Table) {
    for _ in 0..2 {
        for predicate in ["id < 40", "id >= 40", "cat = 'A'", "cat = 'B'", "cat = 'C'"] {
            table.same_rows(predicate).await;
        }
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
    }
}

/// A session in which another one's statement is committed just before the first commit.
async fn after(table: &Arc<Table>, other: &'static str) -> SessionContext {
    let theirs = table.clone();
    scripted(table, move |commits| {
        let table = theirs.clone();
        match commits {
            0 => Does::ComeSecond(async move { drop(table.sql(other).await) }.boxed()),
            _ => Does::Commit,
        }
    })
    .await
}

const OTHERS: [&str; 6] = [
    "DELETE FROM t WHERE id BETWEEN 5 AND 14",
    "UPDATE t SET cat = 'C' WHERE id BETWEEN 5 AND 14",
    "UPDATE t SET other = other + 1",
    "INSERT INTO t (id, cat, other) VALUES (7, 'A', 0), (1000, 'C', 0)",
    "CREATE OR REPLACE INDEX by_cat ON t USING bitmap (cat)",
    "INSERT OVERWRITE t SELECT * FROM t WHERE id % 2 = 0",
];

#[tokio::test]
async fn a_delete_gives_way_to_other_writers() {
    for stable_row_ids in [false, true] {
        for other in OTHERS {
            let table = indexed(stable_row_ids).await;
            let session = after(&table, other).await;
            run(&session, "DELETE FROM t WHERE id < 10").await.unwrap();
            // An appended row may come before the delete or after it.
            let left = table.number("SELECT count(*) FROM scan WHERE id < 10").await;
            let appended = i64::from(other.starts_with("INSERT INTO"));
            assert!(left == 0 || left == appended, "{other}: {left} rows are left");
            check(&table).await;
        }
    }
}

#[tokio::test]
async fn an_update_gives_way_to_other_writers() {
    for stable_row_ids in [false, true] {
        for other in OTHERS {
            let table = indexed(stable_row_ids).await;
            let session = after(&table, other).await;
            run(&session, "UPDATE t SET other = other + 10, cat = 'C' WHERE id < 10")
                .await
                .unwrap();
            let wrong =
                "SELECT count(*) FROM scan WHERE id < 10 AND NOT (cat = 'C' AND other >= 10)";
            let appended = i64::from(other.starts_with("INSERT INTO"));
            let wrong = table.number(wrong).await;
            assert!(wrong <= appended, "{other}: {wrong} rows weren't updated");
            let once = "SELECT count(*) FROM scan WHERE other > 11";
            assert_eq!(table.number(once).await, 0, "{other}: updated twice");
            if other.contains("other + 1") {
                let both = "SELECT count(*) FROM scan WHERE other = 11";
                assert_eq!(table.number(both).await, 10, "{other}");
            }
            check(&table).await;
        }
    }
}

#[tokio::test]
async fn an_overwrite_gives_way_to_other_writers() {
    for other in OTHERS {
        let table = indexed(false).await;
        let session = after(&table, other).await;
        let overwrite = "INSERT OVERWRITE t (id, cat) SELECT value, 'B' FROM generate_series(1, 5)";
        run(&session, overwrite).await.unwrap();
        let appended = if other.starts_with("INSERT INTO") { 2 } else { 0 };
        let rows = table.number("SELECT count(*) FROM scan").await;
        assert!(rows == 5 || rows == 5 + appended, "{other}: {rows} rows");
        check(&table).await;
    }
}

/// Who overwrites a table from itself loses nothing that another writer did meanwhile.
#[tokio::test]
async fn an_overwrite_reads_what_it_replaces() {
    for stable_row_ids in [false, true] {
        for other in OTHERS {
            let table = indexed(stable_row_ids).await;
            let session = after(&table, other).await;
            run(&session, "INSERT OVERWRITE t SELECT * FROM t WHERE id >= 10").await.unwrap();
            let count = async |what: &str| {
                table.number(&format!("SELECT count(*) FROM scan WHERE {what}")).await
            };
            let (rows, changed) = match other {
                _ if other.starts_with("DELETE") => (85, 0),
                _ if other.contains("SET cat = 'C'") => (90, 5),
                _ if other.contains("other + 1") => (90, 90),
                // What was appended comes after the overwrite.
                _ if other.starts_with("INSERT INTO") => (92, 1),
                _ if other.starts_with("INSERT OVERWRITE") => (45, 0),
                _ => (90, 0),
            };
            assert_eq!(count("true").await, rows, "{other}");
            assert_eq!(count("cat = 'C' OR other = 1").await, changed, "{other}");
            check(&table).await;
        }
    }
}

/// Lance sees no conflict between two overwrites of nothing.
#[tokio::test]
async fn overwrites_of_an_empty_table() {
    const OVERWRITE: &str = "INSERT OVERWRITE t (id) SELECT value FROM generate_series(1, 5)";
    let table = indexed(false).await;
    table.sql("TRUNCATE TABLE t").await;
    let version = table.version().await;
    let session = after(&table, OVERWRITE).await;
    let error = run(&session, OVERWRITE).await.unwrap_err();
    assert!(error.contains("both are there"), "{error}");
    assert_eq!(table.version().await, version + 2);
    table.sql("TRUNCATE TABLE t").await;
    let both = (0..2).map(|_| {
        let table = table.clone();
        tokio::spawn(async move { table.try_sql(OVERWRITE).await.is_ok() })
    });
    let mut done = 0;
    for overwrite in both.collect::<Vec<_>>() {
        done += usize::from(overwrite.await.unwrap());
    }
    if done == 2 {
        assert_eq!(table.number("SELECT count(*) FROM scan").await, 5);
    }
    check(&table).await;
}

/// Nothing is left of files that were written for a commit that didn't come about.
#[tokio::test]
async fn files_of_a_change_that_gave_way_are_removed() {
    let table = indexed(false).await;
    let session = after(&table, "DELETE FROM t WHERE id = 5; OPTIMIZE TABLE t").await;
    run(&session, "UPDATE t SET other = 7 WHERE id < 10").await.unwrap();
    let files = std::fs::read_dir(format!("{}/data", table.uri)).unwrap().count();
    // The first one, what compaction may have made of it, and that of the update.
    assert!(files <= 3, "{files} files");
    assert_eq!(table.number("SELECT count(*) FROM scan WHERE other = 7").await, 9);
}

/// DataFusion optimises what it prepares, and moves predicates into scans.
#[tokio::test]
async fn prepared_statements() {
    let table = indexed(true).await;
    let sql = "PREPARE gone AS DELETE FROM t WHERE id = $1 AND other = 0;
               EXECUTE gone(7);
               EXECUTE gone(8);
               PREPARE other(BIGINT) AS UPDATE t SET other = $1 WHERE id < 10;
               EXECUTE other(3)";
    table.sql(sql).await;
    assert_eq!(table.number("SELECT count(*) FROM scan").await, 98);
    assert_eq!(table.number("SELECT count(*) FROM scan WHERE other = 3").await, 8);
    for (prepared, rows) in [
        ("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE id < 5)", 98),
        ("DELETE FROM t WHERE false", 98),
    ] {
        let error = table.error(&format!("PREPARE p AS {prepared}; EXECUTE p")).await;
        assert!(error.contains("where it is prepared"), "{prepared}: {error}");
        table.sql("DEALLOCATE p").await;
        assert_eq!(table.number("SELECT count(*) FROM scan").await, rows);
    }
    check(&table).await;
}

/// A statement that was planned with columns that have changed is refused once, not for ever.
#[tokio::test]
async fn columns_that_another_writer_adds() {
    let table = indexed(false).await;
    let delete =
        async || table.session.sql("DELETE FROM t WHERE id = 1").await.unwrap().collect().await;
    let mut dataset = table.open().await;
    let added = lance::dataset::NewColumnTransform::SqlExpressions(vec![(
        "added".to_string(),
        "id + 1".to_string(),
    )]);
    dataset.add_columns(added, None, None).await.unwrap();
    let error = delete().await.unwrap_err().strip_backtrace();
    assert!(error.contains("run the statement again"), "{error}");
    delete().await.unwrap();
    assert_eq!(table.number("SELECT count(*) FROM scan").await, 99);
}

/// The ids of many rows take little room in the manifest.
#[tokio::test]
async fn an_update_of_many_rows_keeps_ids_in_ranges() {
    let rows = letters(0..40_000, |id| if id % 2 == 0 { "A" } else { "B" });
    let table = Table::new(&[rows], true).await;
    let frame = "UPDATE t SET other = other + id % 7 WHERE cat IN (SELECT cat FROM t WHERE id < 2)";
    table.sql(frame).await;
    let manifest = std::fs::read_dir(format!("{}/_versions", table.uri))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .max()
        .unwrap();
    assert!(manifest < 20_000, "{manifest} bytes");
    assert_eq!(table.number("SELECT count(*) FROM scan WHERE other = id % 7").await, 40_000);
}

#[tokio::test]
async fn an_update_whose_answer_is_lost_happens_once() {
    let table = indexed(true).await;
    let session = scripted(&table, |_| Does::LoseAnswer).await;
    run(&session, "UPDATE t SET other = other + 1").await.unwrap();
    run(&session, "INSERT INTO t (id, other) VALUES (1000, 1)").await.unwrap();
    assert_eq!(table.number("SELECT count(*) FROM scan WHERE other = 1").await, 101);
    run(&session, "DELETE FROM t WHERE id = 1000").await.unwrap();
    assert_eq!(table.number("SELECT count(*) FROM scan").await, 100);
    check(&table).await;
}

#[tokio::test]
async fn a_change_that_fails_changes_nothing() {
    let table = indexed(false).await;
    let version = table.version().await;
    let session = scripted(&table, |_| Does::Fail).await;
    for change in ["DELETE FROM t", "UPDATE t SET other = 1", "INSERT OVERWRITE t SELECT * FROM t"]
    {
        let error = run(&session, change).await.unwrap_err();
        assert!(error.contains("no version up to"), "{change}: {error}");
        assert_eq!(table.version().await, version, "{change}");
    }
}

#[tokio::test]
async fn updates_at_the_same_time_are_all_done() {
    for stable_row_ids in [false, true] {
        let table = indexed(stable_row_ids).await;
        let updates = (0..4).map(|_| {
            let table = table.clone();
            tokio::spawn(async move {
                table.sql("SET lance_index.commit_retries = 50").await;
                for _ in 0..3 {
                    table.sql("UPDATE t SET other = other + 1 WHERE id % 3 = 0").await;
                }
            })
        });
        for update in updates.collect::<Vec<_>>() {
            update.await.unwrap();
        }
        let rows = table.number("SELECT count(*) FROM scan WHERE id % 3 = 0 AND other = 12").await;
        assert_eq!(rows, 34);
        check(&table).await;
    }
}

/// Rows that move in a table where they keep their ids.
#[tokio::test]
async fn what_is_inserted_overwritten_and_updated_keeps_its_ids_apart() {
    let table = indexed(true).await;
    table.append(letters(100..120, |_| "C")).await;
    table.sql("UPDATE t SET cat = 'C' WHERE id < 5").await;
    let twice = "SELECT count(*) - count(DISTINCT id) FROM scan";
    assert_eq!(table.number(twice).await, 0);
    check(&table).await;
    table.sql("INSERT OVERWRITE t SELECT * FROM t WHERE cat = 'C'").await;
    assert_eq!(table.number("SELECT count(*) FROM scan").await, 25);
    check(&table).await;
    table.compact().await;
    check(&table).await;
}

/// In a session without this crate's rule, the WHERE clause may have lost a part by the time the
/// table gets it.
#[tokio::test]
async fn a_session_without_the_rule_refuses() {
    let table = indexed(false).await;
    let session = SessionContext::new();
    let open = LanceTable::open(&table.uri, HashMap::new()).await.unwrap();
    session.register_table("t", Arc::new(open)).unwrap();
    for change in ["DELETE FROM t WHERE id = 1", "UPDATE t SET other = 1", "TRUNCATE TABLE t"] {
        let done = session.sql(change).await.unwrap().collect().await;
        let error = done.unwrap_err().strip_backtrace();
        assert!(error.contains("needs a session that with_lance_index"), "{change}: {error}");
    }
    assert_eq!(table.number("SELECT count(*) FROM scan").await, 100);
    // A stock session can be taught, even one that has the table already.
    session.register_lance_index();
    for change in ["DELETE FROM t WHERE id IN (SELECT 7)", "UPDATE t SET other = 1 WHERE id < 5"] {
        session.sql(change).await.unwrap().collect().await.unwrap();
    }
    assert_eq!(table.number("SELECT count(*) FROM scan").await, 99);
    assert_eq!(table.number("SELECT count(*) FROM scan WHERE other = 1").await, 5);
}
