//! What a crash between the writes of a statement leaves, and writers that come between.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use lance::index::DatasetIndexExt;
use lance_index::{IndexType, optimize::OptimizeOptions};

use crate::{
    catalog::{create, drop_index, listed, state},
    races::race,
    scripted::{Does, run, scripted},
    support::{Table, half_and_half, letters},
};

/// The first `commits` commits of the statement are made, and nothing after them.
async fn crash(table: &Table, sql: &str, commits: usize) -> String {
    let session =
        scripted(table, move |n| if n < commits { Does::Commit } else { Does::Fail }).await;
    let version = table.version().await;
    let error = run(&session, sql).await.unwrap_err();
    assert_eq!(table.version().await, version + commits as u64, "{error}");
    error
}

const CREATE: &str = "CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8)";

#[tokio::test]
async fn a_create_that_crashes() {
    let table = Table::new(&[half_and_half()], false).await;
    crash(&table, CREATE, 0).await;
    assert_eq!(state(&table, "i").await, "not there");
    // Recorded, not built.
    crash(&table, CREATE, 1).await;
    assert_eq!(
        listed(&table, "i").await.unwrap(),
        ["unbuilt", "zonemap", "{\"rows_per_zone\":8}", "v2"]
    );
    assert_eq!(table.same_rows("id = 7").await, 1);
    let error = table.error(CREATE).await;
    assert!(error.contains("index 'i' already exists"), "{error}");
    table.sql(&CREATE.replace("INDEX", "INDEX IF NOT EXISTS")).await;
    assert_eq!(state(&table, "i").await, "unbuilt");
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert_eq!(state(&table, "i").await, "ready");
    assert_eq!(table.oracle("i", "id = 7").await, 1);
    table.sql("DROP INDEX i ON t").await;
    crash(&table, CREATE, 1).await;
    assert_eq!(table.reported("DROP INDEX i ON t", "segments_removed").await, 0);
    assert_eq!(state(&table, "i").await, "not there");
    table.sql(CREATE).await;
    assert_eq!(table.oracle("i", "id = 7").await, 1);
}

#[tokio::test]
async fn a_create_that_fails_takes_its_record_back() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = scripted(&table, |n| if n == 1 { Does::Fail } else { Does::Commit }).await;
    run(&session, CREATE).await.unwrap_err();
    assert_eq!(state(&table, "i").await, "not there");
    // As it was before.
    table.sql(CREATE).await;
    let before = listed(&table, "i").await;
    let session = scripted(&table, |n| if n == 1 { Does::Fail } else { Does::Commit }).await;
    run(&session, "CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await.unwrap_err();
    assert_eq!(listed(&table, "i").await, before);
    assert_eq!(table.oracle("i", "id = 7").await, 1);
}

#[tokio::test]
async fn a_replacement_that_crashes() {
    for (replace, listing, predicate) in [
        ("USING bitmap (cat)", ["bitmap", "{}"], "cat = 'A'"),
        ("USING zonemap (other)", ["zonemap", "{\"rows_per_zone\":8192}"], "other = 0"),
        (
            "USING zonemap (id) WITH (rows_per_zone = 32)",
            ["zonemap", "{\"rows_per_zone\":32}"],
            "id = 7",
        ),
    ] {
        let table = Table::new(&[half_and_half()], false).await;
        table.sql(CREATE).await;
        crash(&table, &format!("CREATE OR REPLACE INDEX i ON t {replace}"), 1).await;
        // What is there is not what the index is to be; it goes on working.
        let [state, index_type, config, source] = listed(&table, "i").await.unwrap();
        assert_eq!(state, "unbuilt");
        assert_eq!([index_type.as_str(), &config], listing);
        assert!(source.starts_with("v2 (1 of 1 segments "), "{source}");
        assert_eq!(table.oracle("i", "id = 7").await, 1);
        table.append(letters(100..110, |_| "A")).await;
        let plan = table.print("EXPLAIN ALTER TABLE t REFRESH INDEX i").await;
        assert!(plan.contains("unlike the index's record"), "{plan}");
        let refresh = "ALTER TABLE t REFRESH INDEXES";
        assert_eq!(table.reported(refresh, "segments_rewritten").await, 1);
        let [state, index_type, config, source] = listed(&table, "i").await.unwrap();
        assert_eq!([state.as_str(), &source], ["ready", "v2"]);
        assert_eq!([index_type.as_str(), &config], listing);
        assert!(table.oracle("i", predicate).await > 0);
        assert_eq!(table.segments("i").await, [vec![0, 1]]);
        assert_eq!(table.reported(refresh, "segments_rewritten").await, 0);
    }
}

/// What a crashed replacement was about to replace stays that, whoever maintains it meanwhile.
#[tokio::test]
async fn a_replacement_that_crashes_before_other_clients_maintain_the_index() {
    for options in [OptimizeOptions::append(), OptimizeOptions::merge(10)] {
        for (replace, predicate) in
            [("bitmap (cat)", "cat = 'A'"), ("zonemap (id) WITH (rows_per_zone = 32)", "id = 7")]
        {
            let table = Table::new(&[half_and_half()], false).await;
            table.sql(CREATE).await;
            crash(&table, &format!("CREATE OR REPLACE INDEX i ON t USING {replace}"), 1).await;
            for at in 1..3 {
                table.append(letters(at * 100..at * 100 + 100, |_| "A")).await;
                table.open().await.optimize_indices(&options).await.unwrap();
            }
            assert_eq!(state(&table, "i").await, "unbuilt");
            table.sql("ALTER TABLE t REFRESH INDEXES").await;
            assert_eq!(listed(&table, "i").await.unwrap()[3], "v2");
            assert!(table.oracle("i", predicate).await > 0);
            assert!(table.print("SHOW CREATE INDEX i ON t").await.contains(replace));
            assert_eq!(table.segments("i").await, [vec![0, 1, 2]]);
        }
    }
}

/// As after a crash there.
#[tokio::test]
async fn a_restore_to_between_the_commits_of_a_replacement() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql(CREATE).await;
    let before = table.version().await;
    table.sql("CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await;
    let dataset = table.open().await;
    dataset.checkout_version(before + 1).await.unwrap().restore().await.unwrap();
    let [state, index_type, _, source] = listed(&table, "i").await.unwrap();
    assert_eq!([state.as_str(), &index_type], ["unbuilt", "bitmap"]);
    assert!(source.starts_with("v2 (1 of 1 segments "), "{source}");
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert!(table.oracle("i", "cat = 'A'").await > 0);
}

#[tokio::test]
async fn a_drop_that_crashes() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql(CREATE).await;
    table.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
    crash(&table, "DROP INDEX i ON t", 1).await;
    assert_eq!(
        listed(&table, "i").await.unwrap(),
        ["ready", "zonemap", "{\"rows_per_zone\":8}", "inferred"]
    );
    assert_eq!(table.oracle("i", "id = 7").await, 1);
    assert_eq!(table.reported("DROP INDEX i ON t", "segments_removed").await, 1);
    assert_eq!(state(&table, "i").await, "not there");
}

#[tokio::test]
async fn a_refresh_whose_record_is_not_written() {
    let table = Table::new(&[half_and_half()], false).await;
    create(&table, "i", "id", IndexType::ZoneMap, "{\"rows_per_zone\": 8}").await;
    table.append(letters(100..110, |_| "C")).await;
    let session = scripted(&table, |n| if n == 0 { Does::Commit } else { Does::Fail }).await;
    run(&session, "ALTER TABLE t REFRESH INDEX i").await.unwrap();
    assert_eq!(listed(&table, "i").await.unwrap()[3], "inferred");
    assert_eq!(table.oracle("i", "id = 105").await, 1);
    table.append(letters(110..120, |_| "C")).await;
    table.sql("ALTER TABLE t REFRESH INDEX i").await;
    assert_eq!(listed(&table, "i").await.unwrap()[3], "v2");
}

#[tokio::test]
async fn answers_that_are_lost() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = scripted(&table, |_| Does::LoseAnswer).await;
    run(&session, CREATE).await.unwrap();
    assert_eq!(listed(&table, "i").await.unwrap()[0], "ready");
    let set = "ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)";
    run(&session, set).await.unwrap();
    assert!(table.print("SHOW CREATE INDEX i ON t").await.contains("= 10"));
    run(&session, "DROP INDEX i ON t").await.unwrap();
    assert_eq!(state(&table, "i").await, "not there");
}

fn act(table: &Arc<Table>, sql: &'static str) -> BoxFuture<'static, ()> {
    let table = table.clone();
    async move {
        table.sql(sql).await;
    }
    .boxed()
}

/// At each of the commits of one statement, another one comes first.
#[tokio::test]
async fn two_creates_of_one_name() {
    for at in 0..2 {
        let table = Arc::new(Table::new(&[half_and_half()], false).await);
        let other = table.clone();
        let session = scripted(&table, move |n| {
            if n != at {
                return Does::Commit;
            }
            let other = other.clone();
            Does::ComeSecond(
                async move {
                    // At the second, the name is taken by the record of the first.
                    let _ = other.try_sql("CREATE INDEX i ON t USING bitmap (cat)").await;
                }
                .boxed(),
            )
        })
        .await;
        let done = run(&session, CREATE).await;
        assert_eq!(done.is_ok(), at == 1, "{done:?}");
        let expected = if at == 1 { "zonemap" } else { "bitmap" };
        let [state, index_type, _, source] = listed(&table, "i").await.unwrap();
        assert_eq!([state.as_str(), &index_type, &source], ["ready", expected, "v2"]);
        assert_eq!(table.segments("i").await, [vec![0]]);
    }
}

/// Another client takes the name between the record and the segments.
#[tokio::test]
async fn another_client_takes_the_name() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        let theirs = async move { create(&other, "i", "cat", IndexType::Bitmap, "{}").await };
        if n == 1 { Does::ComeSecond(theirs.boxed()) } else { Does::Commit }
    })
    .await;
    let error = run(&session, CREATE).await.unwrap_err();
    assert!(error.contains("nothing was committed"), "{error}");
    let [state, index_type, _, source] = listed(&table, "i").await.unwrap();
    assert_eq!([state.as_str(), &index_type, &source], ["ready", "bitmap", "inferred"]);
}

#[tokio::test]
async fn two_policies_at_once() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    table.sql(CREATE).await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let set = "ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)";
        if n == 0 { Does::ComeSecond(act(&other, set)) } else { Does::Commit }
    })
    .await;
    let set = "ALTER TABLE t ALTER INDEX i SET (target_bytes_per_segment = 20)";
    run(&session, set).await.unwrap();
    let shown = table.print("SHOW CREATE INDEX i ON t").await;
    let both = "(target_rows_per_segment = 10, target_bytes_per_segment = 20)";
    assert!(shown.contains(both), "{shown}");
    // Policies of several indexes don't meet.
    table.sql("CREATE INDEX j ON t (id)").await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let set = "ALTER TABLE t ALTER INDEX j SET (target_rows_per_segment = 10)";
        if n == 0 { Does::ComeSecond(act(&other, set)) } else { Does::Commit }
    })
    .await;
    run(&session, "SET lance_index.commit_retries = 0").await.unwrap();
    run(&session, set.replace("20", "30").as_str()).await.unwrap();
}

#[tokio::test]
async fn a_policy_of_an_index_that_is_replaced_meanwhile() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    table.sql(CREATE).await;
    table.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let anew = "DROP INDEX i ON t; CREATE INDEX i ON t USING bitmap (cat)";
        if n == 0 { Does::ComeSecond(act(&other, anew)) } else { Does::Commit }
    })
    .await;
    let set = "ALTER TABLE t ALTER INDEX i SET (merge_factor = 4)";
    let error = run(&session, set).await.unwrap_err();
    assert!(error.contains("was dropped or replaced while the statement ran"), "{error}");
    assert!(!table.print("SHOW CREATE INDEX i ON t").await.contains("merge_factor"));
}

/// Fragment 0 is indexed by `i`, 1 is not.
async fn due() -> Arc<Table> {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql(CREATE).await;
    table.append(letters(100..200, |_| "A")).await;
    Arc::new(table)
}

const REFRESH: &str = "ALTER TABLE t REFRESH INDEX i";

/// C47, C56: clients that leave the record as it is.
#[tokio::test]
async fn another_client_makes_the_index_anew_while_it_is_refreshed() {
    for (column, index_type, json) in [
        ("id", IndexType::ZoneMap, "{\"rows_per_zone\": 8}"),
        ("id", IndexType::ZoneMap, "{\"rows_per_zone\": 16}"),
        ("cat", IndexType::Bitmap, "{}"),
    ] {
        let table = due().await;
        let error = race(&table, REFRESH, move |other| async move {
            drop_index(&other, "i").await;
            create(&other, "i", column, index_type, json).await;
        })
        .await
        .unwrap_err();
        assert!(error.contains("nothing was committed"), "{error}");
        assert_eq!(table.segments("i").await, [vec![0, 1]]);
    }
}

/// With the same fields and an unbroken chain of segments, only the record tells.
#[tokio::test]
async fn the_index_is_replaced_while_it_is_refreshed() {
    let table = due().await;
    let error = race(&table, REFRESH, async |other| {
        let replace = "CREATE OR REPLACE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 16)";
        other.sql(replace).await;
    })
    .await
    .unwrap_err();
    assert!(error.contains("nothing was committed"), "{error}");
    assert_eq!(table.segments("i").await, [vec![0, 1]]);
}

/// An index without segments has nothing but its record to be known by.
#[tokio::test]
async fn an_unbuilt_index_is_dropped_while_it_is_refreshed() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    table.sql(CREATE).await;
    table.overwrite(half_and_half()).await;
    let error = race(&table, REFRESH, async |other| {
        other.sql("DROP INDEX i ON t").await;
    })
    .await
    .unwrap_err();
    assert!(error.contains("was dropped while the statement ran"), "{error}");
    assert_eq!(state(&table, "i").await, "not there");
    table.sql(CREATE).await;
    table.overwrite(half_and_half()).await;
    let error = race(&table, REFRESH, async |other| {
        other.sql("DROP INDEX i ON t").await;
        other.sql(CREATE).await;
    })
    .await
    .unwrap_err();
    assert!(error.contains("was dropped while the statement ran"), "{error}");
    assert_eq!(state(&table, "i").await, "ready");
}

/// A first record of the same index is no reason to give up.
#[tokio::test]
async fn the_index_is_recorded_while_it_is_refreshed() {
    let table = Table::new(&[half_and_half()], false).await;
    create(&table, "i", "id", IndexType::ZoneMap, "{\"rows_per_zone\": 8}").await;
    table.append(letters(100..200, |_| "A")).await;
    let table = Arc::new(table);
    race(&table, REFRESH, async |other| {
        other.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
    })
    .await
    .unwrap();
    assert_eq!(table.segments("i").await, [vec![0], vec![1]]);
    assert!(table.print("SHOW CREATE INDEX i ON t").await.contains("= 10"));
}

/// A statement that is dropped between its record and its segments goes on to its end.
#[tokio::test]
async fn a_create_that_is_dropped_between_its_commits() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    let session = scripted(&table, |n| match n {
        1 => Does::ComeSecond(tokio::time::sleep(std::time::Duration::from_millis(500)).boxed()),
        _ => Does::Commit,
    })
    .await;
    let done = tokio::time::timeout(std::time::Duration::from_millis(400), run(&session, CREATE));
    assert!(done.await.is_err());
    for _ in 0..100 {
        if state(&table, "i").await == "ready" {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the index was never built");
}

/// A policy goes with its index, also where it is set while the index is dropped.
#[tokio::test]
async fn a_policy_that_is_set_while_its_index_is_dropped() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    table.sql(CREATE).await;
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        match n {
            0 => {
                Does::ComeSecond(async move { drop(other.sql("DROP INDEX i ON t").await) }.boxed())
            }
            _ => Does::Commit,
        }
    })
    .await;
    let set = "ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)";
    let error = run(&session, set).await.unwrap_err();
    assert!(error.contains("nothing was committed"), "{error}");
    assert!(!table.open().await.metadata().contains_key("lance_index.policy/i"));
}

/// One that was left over is nobody's.
#[tokio::test]
async fn a_policy_of_an_earlier_index() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql(CREATE).await;
    table.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
    let has_policy = async || table.open().await.metadata().contains_key("lance_index.policy/i");
    drop_index(&table, "i").await;
    create(&table, "i", "cat", IndexType::Bitmap, "{}").await;
    assert!(has_policy().await);
    table.sql("CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await;
    assert!(!has_policy().await);
}
