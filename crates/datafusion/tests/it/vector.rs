//! Vector indexes, which other clients make and Lance maintains.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, FixedSizeListArray, Float32Array, Int64Array, RecordBatch},
    datatypes::Float32Type,
};
use lance::{
    Dataset,
    index::{DatasetIndexExt, vector::VectorIndexParams},
};
use lance_index::IndexType;

use crate::{
    catalog::{listed, record, state},
    support::{Table, nullable},
};

/// Vectors `[id, 0]`.
fn vectors(ids: std::ops::Range<i64>) -> RecordBatch {
    let vectors = ids.clone().map(|id| Some([Some(id as f32), Some(0.0)]));
    let vectors = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vectors, 2);
    let columns: Vec<(&str, ArrayRef)> =
        vec![("id", Arc::new(Int64Array::from_iter_values(ids))), ("vector", Arc::new(vectors))];
    nullable(columns)
}

async fn create_vector_index(dataset: &mut Dataset) {
    let params = VectorIndexParams::ivf_flat(2, "l2".try_into().unwrap());
    let name = Some("v".to_string());
    dataset.create_index(&["vector"], IndexType::Vector, name, &params, true).await.unwrap();
}

/// The row nearest to `[id, 0]`.
async fn nearest(table: &Table, id: i64) -> i64 {
    let dataset = table.open().await;
    let mut scan = dataset.scan();
    scan.nearest("vector", &Float32Array::from(vec![id as f32, 0.0]), 1).unwrap();
    scan.nprobes(2).project(&["id"]).unwrap();
    let rows = scan.try_into_batch().await.unwrap();
    let ids = rows.column_by_name("id").unwrap();
    ids.as_any().downcast_ref::<Int64Array>().unwrap().value(0)
}

#[tokio::test]
async fn vector_indexes_are_left_to_lance() {
    let table = Table::new(&[vectors(0..300)], false).await;
    create_vector_index(&mut table.open().await).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    for at in 3..5 {
        table.append(vectors(at * 100..at * 100 + 100)).await;
        let indexed = table.reported("ALTER TABLE t OPTIMIZE INDEX v", "fragments_indexed").await;
        assert_eq!(indexed, 1);
    }
    assert_eq!(table.segments("v").await.concat().len(), 3);
    let version = table.version().await;
    table.sql("ALTER TABLE t OPTIMIZE INDEX v WITH (num_indices_to_merge = 0)").await;
    assert_eq!(table.version().await, version);
    let merged = "ALTER TABLE t OPTIMIZE INDEX v WITH (num_indices_to_merge = 3)";
    table.sql(merged).await;
    assert_eq!(table.segments("v").await, [vec![0, 1, 2]]);
    for id in [7, 350, 499] {
        assert_eq!(nearest(&table, id).await, id);
    }

    let sized = "OPTIMIZE INDEX v WITH (target_rows_per_segment = 100000, merge_factor = 2)";
    let error = table.error(&format!("ALTER TABLE t {sized}")).await;
    assert!(error.contains("target_rows_per_segment can't be used for index 'v'"), "{error}");
    let plan = table.print("EXPLAIN ALTER TABLE t OPTIMIZE INDEXES").await;
    assert!(plan.contains("OptimizeIndices (of Lance)"), "{plan}");
    table.append(vectors(500..600)).await;
    let rows = table.sql("ALTER TABLE t OPTIMIZE INDEXES").await;
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
    assert_eq!(nearest(&table, 555).await, 555);
    let all = sized.replace("INDEX v", "INDEXES");
    assert!(
        table.print(&format!("EXPLAIN ALTER TABLE t {all}")).await.contains("Index: v, skipped")
    );
    table.sql("ALTER TABLE t OPTIMIZE INDEX v WITH (retrain = true)").await;
    assert_eq!(table.segments("v").await.len(), 1);
    assert_eq!(nearest(&table, 555).await, 555);
    let listed = table.print("SHOW INDEX SEGMENTS FROM t INDEX v").await;
    assert!(listed.contains("| v "), "{listed}");
}

/// With stable row ids, an update leaves the old vector's posting behind; Lance doesn't find it.
#[tokio::test]
async fn vectors_that_were_updated() {
    for options in ["", "WITH (num_indices_to_merge = 1)", "WITH (num_indices_to_merge = 5)"] {
        let table = Table::new(&[vectors(0..300)], true).await;
        create_vector_index(&mut table.open().await).await;
        table.append(vectors(300..400)).await;
        let optimize = format!("ALTER TABLE t OPTIMIZE INDEX v {options}");
        table.sql(&optimize).await;
        table.sql("UPDATE t SET vector = [2000.0, 0.0] WHERE id = 8 OR id = 308").await;
        table.sql("UPDATE t SET id = 1007 WHERE id = 7").await;
        for _ in 0..2 {
            table.sql(&optimize).await;
            assert!([8, 308].contains(&nearest(&table, 2000).await), "{options}");
            for id in [8, 308] {
                assert!([id - 1, id + 1, 1007].contains(&nearest(&table, id).await), "{options}");
            }
            assert_eq!(nearest(&table, 7).await, 1007, "{options}");
        }
        let version = table.version().await;
        if !options.is_empty() && table.segments("v").await.len() == 1 {
            table.sql(&optimize).await;
            assert_eq!(table.version().await, version, "nothing to do");
        }
    }
}

/// What it is shows from the manifest, and outlives its segments once it is recorded.
#[tokio::test]
async fn what_a_vector_index_is() {
    let table = Table::new(&[vectors(0..300)], false).await;
    let params = VectorIndexParams::ivf_pq(2, 8, 1, "cosine".try_into().unwrap(), 10);
    let name = Some("v".to_string());
    let mut dataset = table.open().await;
    dataset.create_index(&["vector"], IndexType::Vector, name, &params, true).await.unwrap();
    let parameters = "{\"metric_type\":\"COSINE\",\"num_bits\":8,\"num_sub_vectors\":1}";
    assert_eq!(listed(&table, "v").await.unwrap(), ["ready", "ivf_pq", parameters, "inferred"]);
    for (statement, expected) in [
        ("SHOW CREATE INDEX v ON t", "SHOW INDEXES has its parameters"),
        ("ALTER TABLE t ALTER INDEX v SET (target_rows_per_segment = 1)", "it has no policy"),
        ("ALTER TABLE t REFRESH INDEX v", "is of type ivf_pq; REFRESH maintains"),
    ] {
        let error = table.error(statement).await;
        assert!(error.contains(expected), "{error}");
    }
    table.append(vectors(300..400)).await;
    let version = table.reported("ALTER TABLE t OPTIMIZE INDEX v", "version").await;
    assert_eq!(table.version().await as i64, version);
    let v2 = ["ready", "ivf_pq", parameters, "v2"];
    assert_eq!(listed(&table, "v").await.unwrap(), v2);
    let kept = record(&table, "v").await;
    table.sql("INSERT OVERWRITE t SELECT * FROM t WHERE id < 300").await;
    assert_eq!(state(&table, "v").await, "unbuilt");
    table.sql("ALTER TABLE t OPTIMIZE INDEXES").await;
    assert_eq!(listed(&table, "v").await.unwrap(), v2);
    table.overwrite(vectors(0..300)).await;
    assert_eq!(listed(&table, "v").await.unwrap(), ["unbuilt", "ivf_pq", parameters, "v2"]);
    for statement in ["REFRESH INDEX v", "OPTIMIZE INDEX v"] {
        let error = table.error(&format!("ALTER TABLE t {statement}")).await;
        assert!(error.contains("only Lance's own create_index makes some"), "{error}");
    }
    table.sql("ALTER TABLE t REFRESH INDEXES; ALTER TABLE t OPTIMIZE INDEXES").await;
    // Made again, it is the recorded one; as something else, it isn't.
    let name = || Some("v".to_string());
    let mut dataset = table.open().await;
    dataset.create_index(&["vector"], IndexType::Vector, name(), &params, true).await.unwrap();
    assert_eq!(listed(&table, "v").await.unwrap(), v2);
    assert_eq!(record(&table, "v").await, kept);
    create_vector_index(&mut dataset).await;
    let [_, index_type, _, source] = listed(&table, "v").await.unwrap();
    assert_eq!(
        [index_type.as_str(), &source],
        ["ivf_flat", "inferred (v2 is of an earlier index)"]
    );
    table.sql("DROP INDEX v ON t").await;
    assert_eq!(state(&table, "v").await, "not there");
}
