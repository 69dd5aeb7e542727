//! Recorded indexes whose columns other clients rename, put elsewhere and bring back.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, Int64Array, RecordBatch},
    util::pretty::pretty_format_batches,
};
use lance::dataset::{
    ColumnAlteration, InsertBuilder, NewColumnTransform, WriteMode, WriteParams, refs::Ref,
};
use lance_index::IndexType;

use crate::{
    catalog::{create, drop_index, listed, record, state},
    scripted::{Does, run, scripted},
    support::{Table, config, half_and_half, letters, nullable},
};

const REFRESH: &str = "ALTER TABLE t REFRESH INDEXES";
const VACUUM: &str = "VACUUM TABLE t WITH (older_than = '0 seconds')";

/// Twenty rows of the columns of these names: the value of each is the row's number times the place
/// of its name.
fn columns(names: &[&'static str]) -> RecordBatch {
    let column = |(place, name): (usize, &&'static str)| -> (&'static str, ArrayRef) {
        (name, Arc::new(Int64Array::from_iter_values((0..20).map(|row| row * (place as i64 + 1)))))
    };
    nullable(names.iter().enumerate().map(column).collect())
}

async fn rename(table: &Table, renames: &[(&str, &str)]) {
    let alterations = renames
        .iter()
        .map(|(from, to)| ColumnAlteration::new(from.to_string()).rename(to.to_string()));
    table.open().await.alter_columns(&alterations.collect::<Vec<_>>()).await.unwrap();
}

/// A table of the columns `a`, `b` and `c`, with the index `i` on `b`.
async fn table() -> Table {
    let table = Table::new(&[columns(&["a", "b", "c"])], false).await;
    table.sql("CREATE INDEX i ON t USING zonemap (b) WITH (rows_per_zone = 8)").await;
    table
}

/// What `SHOW INDEXES` says the index is on.
async fn column(table: &Table) -> String {
    let rows = table.print("SELECT fields FROM lance_indexes('t') WHERE name = 'i'").await;
    rows.lines().nth(3).unwrap().trim_matches(['|', ' ']).to_string()
}

#[tokio::test]
async fn a_renamed_column_is_followed_through_an_overwrite() {
    let table = table().await;
    rename(&table, &[("b", "x")]).await;
    rename(&table, &[("a", "b")]).await;
    rename(&table, &[("x", "a")]).await;
    // What was `b` is `a`, and has another place.
    table.overwrite(columns(&["c", "b", "a"])).await;
    let table = table.again(config()).await;
    assert_eq!(
        (state(&table, "i").await.as_str(), column(&table).await.as_str()),
        ("unbuilt", "a")
    );
    table.sql(REFRESH).await;
    assert_eq!(table.oracle("i", "a = 21").await, 1);
    assert_eq!(listed(&table, "i").await.unwrap()[..2], ["ready", "zonemap"]);
    // The record says so from now on.
    table.sql(VACUUM).await;
    table.overwrite(columns(&["a", "b", "c"])).await;
    let table = table.again(config()).await;
    assert_eq!(
        (state(&table, "i").await.as_str(), column(&table).await.as_str()),
        ("unbuilt", "a")
    );
}

#[tokio::test]
async fn a_column_that_an_overwrite_leaves_out_and_another_brings_back() {
    let table = table().await;
    table.overwrite(columns(&["a", "c"])).await;
    let table = table.again(config()).await;
    assert_eq!(state(&table, "i").await, "column changed");
    table.overwrite(columns(&["a", "c", "b"])).await;
    let table = table.again(config()).await;
    assert_eq!(state(&table, "i").await, "unbuilt");
    table.sql(REFRESH).await;
    assert_eq!(table.oracle("i", "b = 21").await, 1);
}

#[tokio::test]
async fn a_column_that_was_dropped_is_not_another_one_of_its_name_or_number() {
    let table = table().await;
    table.open().await.drop_columns(&["b"]).await.unwrap();
    let table = table.again(config()).await;
    assert_eq!(state(&table, "i").await, "column changed");
    let mut dataset = table.open().await;
    let new = NewColumnTransform::SqlExpressions(vec![("b".into(), "a".into())]);
    dataset.add_columns(new, None, None).await.unwrap();
    let table = table.again(config()).await;
    assert_eq!(state(&table, "i").await, "column changed");
    let failed = table.error("ALTER TABLE t REFRESH INDEX i").await;
    assert!(failed.contains("the column of index 'i', b, is gone or is another one"), "{failed}");
    assert!(table.error(REFRESH).await.contains("the column of index 'i', b"));
    table.overwrite(columns(&["a", "b", "c"])).await;
    assert_eq!(state(&table, "i").await, "column changed");
}

/// The segments tell which column it is, where the history doesn't.
#[tokio::test]
async fn a_renamed_column_after_a_cleanup() {
    for vacuum_first in [false, true] {
        let table = table().await;
        table.append(columns(&["a", "b", "c"])).await;
        if vacuum_first {
            table.sql(VACUUM).await;
        }
        rename(&table, &[("b", "x")]).await;
        rename(&table, &[("a", "b")]).await;
        rename(&table, &[("x", "a")]).await;
        table.sql(VACUUM).await;
        let table = table.again(config()).await;
        assert_eq!(column(&table).await, "a");
        assert_eq!(state(&table, "i").await, "refresh due");
        table.sql(REFRESH).await;
        assert_eq!(table.oracle("i", "a = 20").await, 2);
    }
}

/// The version before the overwrite tells, which the clean-up has left.
#[tokio::test]
async fn an_overwrite_after_a_cleanup() {
    let table = table().await;
    table.sql("CREATE INDEX j ON t (c)").await;
    table.append(columns(&["a", "b", "c"])).await;
    table.sql(REFRESH).await;
    table.append(columns(&["a", "b", "c"])).await;
    table.sql(VACUUM).await;
    table.overwrite(columns(&["c", "b", "a"])).await;
    let table = table.again(config()).await;
    for index in ["i", "j"] {
        assert_eq!(state(&table, index).await, "unbuilt");
    }
    table.sql(REFRESH).await;
    assert_eq!(table.oracle("i", "b = 2").await, 1);
    assert_eq!(table.oracle("j", "c = 7").await, 1);
}

/// Nothing tells any more what became of the index; it is looked for by its column's name.
#[tokio::test]
async fn an_overwrite_before_a_cleanup() {
    let table = table().await;
    table.overwrite(columns(&["b", "c"])).await;
    table.append(columns(&["b", "c"])).await;
    table.sql(VACUUM).await;
    let table = table.again(config()).await;
    assert_eq!(state(&table, "i").await, "gone");
    table.sql(REFRESH).await;
    assert!(table.segments("i").await.is_empty());
    table.sql("ALTER TABLE t REFRESH INDEX i").await;
    assert_eq!(table.oracle("i", "b = 7").await, 2);
    assert_eq!(listed(&table, "i").await.unwrap()[2..], ["{\"rows_per_zone\":8}", "v2"]);
}

/// Also if the process dies before it has recorded the new place of the column.
#[tokio::test]
async fn the_policy_outlives_an_overwrite_with_other_columns() {
    for crash in [false, true] {
        let table = table().await;
        table.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
        let id = record(&table, "i").await;
        table.overwrite(columns(&["b", "a"])).await;
        let table = table.again(config()).await;
        if crash {
            let only_segments = |n| if n == 0 { Does::Commit } else { Does::Fail };
            let session = scripted(&table, only_segments).await;
            run(&session, "ALTER TABLE t REFRESH INDEX i").await.unwrap();
            assert_eq!(record(&table, "i").await, id);
        }
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        let listing = ["ready", "zonemap", "{\"rows_per_zone\":8}", "v2"];
        assert_eq!(listed(&table, "i").await.unwrap(), listing);
        let shown = table.print("SHOW CREATE INDEX i ON t").await;
        assert!(shown.contains("SET (target_rows_per_segment = 10)"), "{shown}");
        assert_eq!(table.oracle("i", "b = 7").await, 1);
    }
}

/// The column of a record whose segments are still those of the index that it is to replace.
#[tokio::test]
async fn a_replacement_that_was_cut_short_before_renames_and_a_cleanup() {
    let table = table().await;
    let session = scripted(&table, |n| if n == 0 { Does::Commit } else { Does::Fail }).await;
    run(&session, "CREATE OR REPLACE INDEX i ON t USING bitmap (c)").await.unwrap_err();
    rename(&table, &[("c", "x")]).await;
    rename(&table, &[("a", "c")]).await;
    rename(&table, &[("x", "a")]).await;
    table.sql(VACUUM).await;
    let table = table.again(config()).await;
    assert_eq!(
        (state(&table, "i").await.as_str(), column(&table).await.as_str()),
        ("unbuilt", "a")
    );
    table.sql(REFRESH).await;
    assert_eq!(table.oracle("i", "a = 21").await, 1);
    assert_eq!(listed(&table, "i").await.unwrap()[1], "bitmap");
}

#[tokio::test]
async fn a_renamed_column_after_a_cleanup_and_a_drop() {
    let table = table().await;
    rename(&table, &[("b", "x")]).await;
    rename(&table, &[("a", "b")]).await;
    table.sql(VACUUM).await;
    drop_index(&table, "i").await;
    let table = table.again(config()).await;
    let shown = (state(&table, "i").await, column(&table).await);
    assert_eq!((shown.0.as_str(), shown.1.as_str()), ("dropped elsewhere", "x"));
    table.sql("ALTER TABLE t REFRESH INDEX i").await;
    assert_eq!(table.oracle("i", "x = 14").await, 1);
}

/// The version that a restore made is left, where those that it restored are not.
#[tokio::test]
async fn a_restore_and_a_cleanup_after_renames() {
    let table = table().await;
    rename(&table, &[("b", "x")]).await;
    rename(&table, &[("a", "b")]).await;
    let version = table.version().await;
    table.delete("c = 3").await;
    let dataset = table.open().await;
    dataset.checkout_version(version).await.unwrap().restore().await.unwrap();
    table.sql(VACUUM).await;
    let table = table.again(config()).await;
    assert_eq!((state(&table, "i").await.as_str(), column(&table).await.as_str()), ("ready", "x"));
    assert_eq!(table.oracle("i", "x = 14").await, 1);
}

/// A cleanup doesn't make it the recorded one.
#[tokio::test]
async fn an_index_of_another_client_on_another_column_of_the_name() {
    let table = table().await;
    table.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
    drop_index(&table, "i").await;
    rename(&table, &[("b", "x")]).await;
    rename(&table, &[("a", "b")]).await;
    create(&table, "i", "b", IndexType::ZoneMap, "{\"rows_per_zone\": 8}").await;
    let table = table.again(config()).await;
    for _ in 0..2 {
        assert_eq!(listed(&table, "i").await.unwrap()[3], "inferred (v2 is of an earlier index)");
        table.sql(VACUUM).await;
    }
    // A refresh of it doesn't either: its policy is its own.
    table.append(columns(&["b", "x", "c"])).await;
    table.sql(REFRESH).await;
    assert_eq!(column(&table).await, "b");
    assert!(!table.print("SHOW CREATE INDEX i ON t").await.contains("SET"));
}

#[tokio::test]
async fn an_overwrite_of_a_branch() {
    let table = table().await;
    let version = table.version().await;
    let mut dataset = table.open().await;
    let branch = dataset.create_branch("side", Ref::from(version), None).await.unwrap();
    let overwrite = WriteParams { mode: WriteMode::Overwrite, ..Default::default() };
    let rows = vec![columns(&["c", "b"])];
    let into = InsertBuilder::new(Arc::new(branch)).with_params(&overwrite).execute(rows).await;
    into.unwrap();
    table
        .sql(&format!(
            "CREATE EXTERNAL TABLE side STORED AS LANCE LOCATION '{}' OPTIONS (branch 'side')",
            table.uri
        ))
        .await;
    let state = async || {
        let state = "SELECT state FROM lance_indexes('side') WHERE name = 'i'";
        pretty_format_batches(&table.sql(state).await).unwrap().to_string()
    };
    assert!(state().await.contains("unbuilt"));
    table.sql("ALTER TABLE side REFRESH INDEXES").await;
    assert!(state().await.contains("ready"));
    let count = "SELECT count(*) FROM side WHERE b = 14";
    assert_eq!(table.number(count).await, 1);
    let plan = table.print(&format!("EXPLAIN {count}")).await;
    assert!(plan.contains("ScalarIndexQuery"), "{plan}");
    assert_eq!(table.version().await, version);
}

/// What happened before the branch is in the history of what it is a branch of.
#[tokio::test]
async fn a_branch_of_what_was_overwritten_dropped_or_renamed() {
    for (what, expected) in
        [("overwrite", "unbuilt"), ("drop", "dropped elsewhere"), ("rename", "ready")]
    {
        let table = table().await;
        match what {
            "overwrite" => table.overwrite(columns(&["c", "b"])).await,
            "drop" => drop_index(&table, "i").await,
            _ => rename(&table, &[("b", "x")]).await,
        }
        let version = table.version().await;
        let mut dataset = table.open().await;
        dataset.create_branch("side", Ref::from(version), None).await.unwrap();
        let side = format!(
            "CREATE EXTERNAL TABLE side STORED AS LANCE LOCATION '{}' OPTIONS (branch 'side')",
            table.uri
        );
        table.sql(&side).await;
        let state = "SELECT state FROM lance_indexes('side') WHERE name = 'i'";
        let state = pretty_format_batches(&table.sql(state).await).unwrap().to_string();
        assert!(state.contains(expected), "{what}: {state}");
    }
}

/// The last client to say what the index is to be is right, also after an overwrite.
#[tokio::test]
async fn an_index_that_another_client_replaced_before_an_overwrite() {
    for (json, again) in
        [("{\"rows_per_zone\": 16}", "dropped elsewhere"), ("{\"rows_per_zone\": 8}", "unbuilt")]
    {
        for drop_first in [false, true] {
            let table = table().await;
            if drop_first {
                drop_index(&table, "i").await;
            }
            create(&table, "i", "b", IndexType::ZoneMap, json).await;
            table.overwrite(columns(&["a", "c", "b"])).await;
            let table = table.again(config()).await;
            assert_eq!(state(&table, "i").await, again, "{json}");
            table.sql(REFRESH).await;
            assert_eq!(table.segments("i").await.is_empty(), again != "unbuilt", "{json}");
        }
    }
}

/// A name and a place that now belong to another column say nothing of an index which another
/// client makes there.
#[tokio::test]
async fn an_index_that_another_client_makes_after_an_overwrite() {
    let table = table().await;
    table.overwrite(columns(&["b", "a", "c"])).await;
    let table = table.again(config()).await;
    create(&table, "i", "a", IndexType::ZoneMap, "{\"rows_per_zone\": 8}").await;
    assert_eq!(column(&table).await, "a");
    assert_eq!(listed(&table, "i").await.unwrap()[3], "inferred (v2 is of an earlier index)");
    table.append(columns(&["b", "a", "c"])).await;
    table.sql(REFRESH).await;
    assert_eq!(table.oracle("i", "a = 14").await, 2);
    assert_eq!(listed(&table, "i").await.unwrap()[3], "v2");
}

#[tokio::test]
async fn an_index_that_is_built_again_while_there_are_no_rows() {
    for (method, column) in [("zonemap", "id"), ("btree", "id"), ("fts", "txt")] {
        let table = Table::new(&[half_and_half()], false).await;
        table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
        drop_index(&table, "i").await;
        table.sql("DELETE FROM t WHERE true").await;
        assert_eq!(state(&table, "i").await, "dropped elsewhere");
        let build = match method {
            "btree" => "ALTER TABLE t OPTIMIZE INDEX i",
            _ => "ALTER TABLE t REFRESH INDEX i",
        };
        table.sql(build).await;
        assert_eq!(state(&table, "i").await, "ready");
        let version = table.version().await;
        table.sql(REFRESH).await;
        assert_eq!(table.version().await, version);
        table.append(letters(0..10, |_| "A")).await;
        table.sql(REFRESH).await;
        assert_eq!(table.segments("i").await.len(), 1);
    }
}
