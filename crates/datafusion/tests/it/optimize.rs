//! OPTIMIZE INDEX: what becomes of segments, also while others write.

use std::sync::Arc;

use lance::{
    dataset::{
        CommitBuilder,
        transaction::{Operation, Transaction},
    },
    index::DatasetIndexExt,
};
use lance_index::{
    IndexType,
    scalar::{BuiltinIndexType, ScalarIndexParams},
};

use crate::{
    commits::index_directories,
    foreign::full_text,
    fts::search,
    races::race,
    stale::{INDEXES, move_to_b, rewrite_in_place},
    support::{Table, config, half_and_half, letters},
};

/// Merges two and two of small segments.
const OPTIMIZE: &str =
    "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 100000, merge_factor = 2)";

/// Fragments 0 to 3 of 100 rows each, with a segment each; fragment 4 is unindexed. 50 rows are B,
/// the others A.
async fn due(method: &str, column: &str, stable_row_ids: bool) -> Arc<Table> {
    let table = Table::new(&[half_and_half()], stable_row_ids).await;
    table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
    for at in 1..5 {
        table.append(letters(at * 100..at * 100 + 100, |_| "A")).await;
        if at < 4 {
            table.sql("ALTER TABLE t REFRESH INDEX i").await;
        }
    }
    Arc::new(table)
}

async fn covered(table: &Table) -> Vec<u32> {
    let mut covered = table.segments("i").await.concat();
    covered.sort();
    covered
}

#[tokio::test]
async fn one_commit_and_what_was_not_chosen_stays_as_it_is() {
    for (method, column, is_a) in INDEXES {
        let table = due(method, column, false).await;
        let (version, before) = (table.version().await, table.uuids("i").await);
        let three = OPTIMIZE.replace("merge_factor = 2", "merge_factor = 3");
        table.sql(&three).await;
        assert_eq!(table.version().await, version + 1);
        let expected = [vec![0, 1, 2], vec![3], vec![4]];
        assert_eq!(table.segments("i").await, expected, "{method}");
        assert!(table.uuids("i").await.contains(&before[3]), "{method}");
        assert_eq!(table.oracle("i", is_a).await, 450, "{method}");
    }
}

#[tokio::test]
async fn c39_updated_rows_are_found_once_before_and_after() {
    for stable_row_ids in [true, false] {
        for (method, column, is_a) in INDEXES {
            let table = due(method, column, stable_row_ids).await;
            move_to_b(&table, "id < 25 OR id = 250").await;
            assert_eq!(table.oracle("i", is_a).await, 424, "{method}");
            for _ in 0..3 {
                table.sql(OPTIMIZE).await;
                assert_eq!(table.oracle("i", is_a).await, 424, "{method}");
            }
            assert_eq!(covered(&table).await, [0, 1, 2, 3, 4, 5], "{method}");
        }
    }
}

#[tokio::test]
async fn updates_of_full_text() {
    for stable_row_ids in [true, false] {
        let table = due("fts", "txt", stable_row_ids).await;
        move_to_b(&table, "id < 25 OR id = 250").await;
        for _ in 0..3 {
            assert_eq!(full_text(&table, "txt", "Apple").await.len(), 424);
            assert_eq!(full_text(&table, "txt", "Bpple").await.len(), 76);
            table.sql(OPTIMIZE).await;
        }
        assert_eq!(full_text(&table, "txt", "Apple").await.len(), 424);
        assert_eq!(covered(&table).await, [0, 1, 2, 3, 4, 5]);
    }
}

#[tokio::test]
async fn an_in_place_rewrite_is_built_anew() {
    for (method, column, is_a) in INDEXES.into_iter().filter(|it| it.1 != "tags") {
        let table = due(method, column, false).await;
        let value = if column == "txt" { "Bpple" } else { "B" };
        rewrite_in_place(&table, 1, column, 100..125, value).await;
        assert_eq!(table.same_rows(is_a).await, 425, "{method}");
        for _ in 0..3 {
            table.sql(OPTIMIZE).await;
            assert_eq!(table.oracle("i", is_a).await, 425, "{method}");
        }
        assert_eq!(covered(&table).await, [0, 1, 2, 3, 4], "{method}");
    }
}

/// Merged segments give the rows and scores of one that is built at once, whatever became of rows
/// that were deleted after they had been indexed.
#[tokio::test]
async fn c34_scores_of_merged_segments_are_those_of_one() {
    for (stable_row_ids, compacted) in [(false, false), (false, true), (true, false), (true, true)]
    {
        let table = due("fts", "txt", stable_row_ids).await;
        table.delete("id >= 40 AND id < 60").await;
        if compacted {
            table.compact().await;
        }
        table.append(letters(500..520, |id| if id % 2 == 0 { "B" } else { "C" })).await;
        for _ in 0..4 {
            table.sql(OPTIMIZE).await;
        }
        assert_eq!(table.segments("i").await.len(), 1);
        let queries = ["Bpple", "common", "Apple common", "Cpple Bpple"];
        let mut merged = Vec::new();
        for query in queries {
            merged.push(search(&table, query, "").await);
        }
        table.sql("CREATE OR REPLACE INDEX i ON t USING fts (txt)").await;
        for (query, merged) in queries.iter().zip(merged) {
            let built = search(&table, query, "").await;
            assert_eq!(merged.len(), built.len(), "{query} {stable_row_ids} {compacted}");
            for (merged, built) in merged.iter().zip(built) {
                assert_eq!(merged.0, built.0, "{query}");
                assert!((merged.1 - built.1).abs() < 1e-5, "{query}: {merged:?} {built:?}");
            }
        }
    }
}

/// Another client can have segments of different parameters stand beside each other.
#[tokio::test]
async fn c32_segments_of_other_parameters_are_not_merged() {
    for (method, parameters) in [
        (BuiltinIndexType::ZoneMap, ["{\"rows_per_zone\": 2048}", "{\"rows_per_zone\": 8192}"]),
        (BuiltinIndexType::BTree, ["{\"zone_size\": 1024}", "{\"zone_size\": 4096}"]),
        (
            BuiltinIndexType::BloomFilter,
            ["{\"number_of_items\": 100}", "{\"number_of_items\": 8192}"],
        ),
    ] {
        let fragments = (0..4).map(|at| letters(at * 10..at * 10 + 10, |_| "A"));
        let table = Table::new(&fragments.collect::<Vec<_>>(), false).await;
        let mut segments = Vec::new();
        for (fragment, parameters) in [0, 1, 0, 1].iter().map(|at| parameters[*at]).enumerate() {
            let params = ScalarIndexParams {
                index_type: ScalarIndexParams::for_builtin(method.clone()).index_type,
                params: Some(parameters.to_string()),
            };
            let mut dataset = table.open().await;
            let segment = dataset
                .create_index_builder(&["id"], IndexType::Scalar, &params)
                .name("i".to_string())
                .fragments(vec![fragment as u32])
                .execute_uncommitted()
                .await
                .unwrap();
            segments.push(segment);
        }
        let version = table.version().await;
        let create = Operation::CreateIndex { new_indices: segments, removed_indices: vec![] };
        let dataset = CommitBuilder::new(Arc::new(table.open().await));
        dataset.execute(Transaction::new(version, create, None)).await.unwrap();
        let three = OPTIMIZE.replace("merge_factor = 2", "merge_factor = 3");
        let plan = table.print(&format!("EXPLAIN {three}")).await;
        assert!(plan.contains("have another type, version or parameters"), "{method:?}: {plan}");
        assert_eq!(table.reported(&three, "segments_merged").await, 0, "{method:?}");
        table.sql(OPTIMIZE).await;
        assert_eq!(table.segments("i").await, [vec![0, 2], vec![1, 3]], "{method:?}");
        assert_eq!(table.oracle("i", "id = 15").await, 1, "{method:?}");
    }
}

/// An index that fails doesn't keep the others from being done; the rows of these come first.
#[tokio::test]
async fn optimize_indexes_ends_in_the_failures() {
    let table = due("btree", "id", false).await;
    table.sql("CREATE INDEX broken ON t (other); CREATE INDEX z ON t USING zonemap (id)").await;
    let uuid = table.uuids("broken").await.remove(0);
    for at in 0..2 {
        table.append(letters(600 + at..601 + at, |_| "A")).await;
        table.sql("ALTER TABLE t REFRESH INDEX broken").await;
    }
    std::fs::remove_dir_all(format!("{}/_indices/{uuid}", table.uri)).unwrap();
    let table = table.again(config()).await;
    let all = OPTIMIZE.replace("INDEX i", "INDEXES");
    let error = table.error(&all).await;
    assert!(error.contains("1 of the table's indexes failed"), "{error}");
    assert!(error.contains("broken"), "{error}");
    assert_eq!(table.segments("i").await.len(), 3);
    assert_eq!(table.segments("z").await.len(), 2);
}

#[tokio::test]
async fn c46_c47_c56_drop_between_merge_and_commit() {
    for (act, left) in [
        ("DROP INDEX i ON t", 0),
        ("DROP INDEX i ON t; CREATE INDEX i ON t (other)", 1),
        ("DROP INDEX i ON t; CREATE INDEX i ON t (id)", 1),
    ] {
        let table = due("btree", "id", false).await;
        let error = race(&table, OPTIMIZE, async move |other| {
            other.sql(act).await;
        })
        .await
        .unwrap_err();
        assert!(error.contains("nothing was committed"), "{error}");
        assert_eq!(table.segments("i").await.len(), left);
        table.same_rows("id = 150").await;
        table.same_rows("other = 0").await;
    }
}

#[tokio::test]
async fn c48_another_refresh_was_faster() {
    for (method, column, is_a) in INDEXES {
        let table = due(method, column, true).await;
        race(&table, OPTIMIZE, async |other| {
            other.sql("ALTER TABLE t REFRESH INDEX i").await;
        })
        .await
        .unwrap();
        // The merges are of use all the same.
        assert_eq!(table.segments("i").await, [vec![0, 1], vec![2, 3], vec![4]], "{method}");
        assert_eq!(table.oracle("i", is_a).await, 450, "{method}");
        // The five that there were, the two merges, and the other statement's.
        assert_eq!(index_directories(&table), 4 + 2 + 1, "{method}");
    }
}

#[tokio::test]
async fn c48_another_optimize_was_faster() {
    for (method, column, is_a) in INDEXES {
        let table = due(method, column, true).await;
        race(&table, OPTIMIZE, async |other| {
            other.sql(&OPTIMIZE.replace("merge_factor = 2", "merge_factor = 3")).await;
        })
        .await
        .unwrap();
        assert_eq!(covered(&table).await, [0, 1, 2, 3, 4], "{method}");
        assert_eq!(table.oracle("i", is_a).await, 450, "{method}");
    }
}

#[tokio::test]
async fn many_at_once() {
    let table = due("bitmap", "cat", true).await;
    let mut statements = Vec::new();
    for at in 0..6 {
        let session = table.again(config()).await;
        let sql = if at % 3 == 0 { "ALTER TABLE t REFRESH INDEX i" } else { OPTIMIZE };
        statements.push(async move { session.try_sql(sql).await });
    }
    for done in futures::future::join_all(statements).await {
        if let Err(error) = done {
            assert!(error.to_string().contains("nothing was committed"), "{error}");
        }
    }
    assert_eq!(covered(&table).await, [0, 1, 2, 3, 4]);
    assert_eq!(table.oracle("i", "cat = 'A'").await, 450);
}

#[tokio::test]
async fn c50_compaction_during_the_statement() {
    for stable_row_ids in [true, false] {
        for (method, column, is_a) in INDEXES {
            let table = due(method, column, stable_row_ids).await;
            table.delete("id >= 90 AND id < 110").await;
            race(&table, OPTIMIZE, async |other| other.compact().await).await.unwrap();
            let fragments = table.open().await.get_fragments().len();
            assert_eq!(covered(&table).await.len(), fragments, "{method}");
            assert_eq!(table.oracle("i", is_a).await, 440, "{method}");
            table.sql(OPTIMIZE).await;
            assert_eq!(table.oracle("i", is_a).await, 440, "{method}");
        }
    }
}

/// A compaction of all that the statement is about: there is work left, at other fragments.
#[tokio::test]
async fn c50_compaction_of_everything_that_was_merged() {
    for (method, column, _) in INDEXES {
        let table = Table::new(&[half_and_half()], false).await;
        table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
        table.append(letters(100..200, |_| "A")).await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        table.delete("id % 4 = 0").await;
        let table = Arc::new(table);
        race(&table, OPTIMIZE, async |other| other.compact().await).await.unwrap();
        assert_eq!(covered(&table).await.len(), table.open().await.get_fragments().len());
        assert_eq!(table.same_rows("id >= 40 AND id < 60").await, 15, "{method}");
        for id in [7, 149] {
            assert_eq!(table.same_rows(&format!("id = {id}")).await, 1);
        }
    }
}

/// What another statement appends and covers meanwhile is of no matter to the merges.
#[tokio::test]
async fn c48_merges_hold_beside_new_coverage() {
    for (method, column, is_a) in INDEXES {
        let table = due(method, column, true).await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        let before = index_directories(&table);
        race(&table, OPTIMIZE, async |other| {
            other.append(letters(500..520, |_| "A")).await;
            other.sql("ALTER TABLE t REFRESH INDEX i").await;
        })
        .await
        .unwrap();
        assert_eq!(covered(&table).await, [0, 1, 2, 3, 4, 5], "{method}");
        assert_eq!(table.oracle("i", is_a).await, 470, "{method}");
        // No merge was thrown away: two of them, and the other statement's segment.
        assert_eq!(table.segments("i").await.len(), 4, "{method}");
        assert_eq!(index_directories(&table), before + 3, "{method}");
    }
}

#[tokio::test]
async fn c54_update_over_what_was_just_merged() {
    for stable_row_ids in [true, false] {
        for (method, column, is_a) in INDEXES {
            let table = due(method, column, stable_row_ids).await;
            race(&table, OPTIMIZE, async |other| {
                move_to_b(&other, "id >= 90 AND id < 120").await;
            })
            .await
            .unwrap();
            assert_eq!(table.oracle("i", is_a).await, 430, "{method}");
            // And when the rows' new place is covered.
            for _ in 0..2 {
                table.sql(OPTIMIZE).await;
                assert_eq!(table.oracle("i", is_a).await, 430, "{method}");
            }
        }
    }
}

#[tokio::test]
async fn c37_in_place_rewrite_of_what_was_just_merged() {
    for (method, column, is_a) in INDEXES.into_iter().filter(|it| it.1 == "cat") {
        let table = due(method, column, false).await;
        race(&table, OPTIMIZE, async |other| {
            rewrite_in_place(&other, 1, "cat", 100..125, "B").await;
        })
        .await
        .unwrap();
        assert_eq!(table.same_rows(is_a).await, 425, "{method}");
        table.sql(OPTIMIZE).await;
        assert_eq!(table.oracle("i", is_a).await, 425, "{method}");
    }
}

#[tokio::test]
async fn c55_update_of_another_column_does_not_shrink_the_coverage() {
    for (method, column, is_a) in INDEXES {
        let table = due(method, column, true).await;
        race(&table, OPTIMIZE, async |other| {
            other.update("id < 20", "other", "7").await;
        })
        .await
        .unwrap();
        assert_eq!(table.oracle("i", is_a).await, 450, "{method}");
        table.sql(OPTIMIZE).await;
        assert_eq!(covered(&table).await, [0, 1, 2, 3, 4, 5], "{method}");
        assert_eq!(table.oracle("i", is_a).await, 450, "{method}");
    }
}

#[tokio::test]
async fn whole_fragments_deleted_meanwhile() {
    for (method, column, is_a) in INDEXES {
        let table = due(method, column, false).await;
        race(&table, OPTIMIZE, async |other| {
            other.delete("id >= 100 AND id < 200").await;
        })
        .await
        .unwrap();
        assert_eq!(covered(&table).await, [0, 2, 3, 4], "{method}");
        assert_eq!(table.oracle("i", is_a).await, 350, "{method}");
        table.sql(OPTIMIZE).await;
        table.sql(OPTIMIZE).await;
        assert_eq!(table.oracle("i", is_a).await, 350, "{method}");
    }
}
