//! All index types on all column types that they take, each with nulls.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array,
    Int64Array, LargeStringArray, ListBuilder, RecordBatch, StringArray, StringBuilder,
    StructArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field};

use crate::support::{Table, nullable};

fn some<T>(i: i64, value: T) -> Option<T> {
    (i % 11 != 10).then_some(value)
}

/// Rows `ids`; every value is a function of the id, and every eleventh is null.
fn rows(ids: std::ops::Range<i64>) -> RecordBatch {
    let ids: Vec<i64> = ids.collect();
    let mut labels = ListBuilder::new(StringBuilder::new());
    for i in &ids {
        for k in 0..i % 4 {
            labels.values().append_value(format!("l{}", (i + k) % 5));
        }
        labels.append(i % 11 != 10);
    }
    let double = |i: i64| match i % 9 {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f64::INFINITY,
        _ => i as f64 / 4.0,
    };
    let text = |i: i64| format!("text-{:03}-é{}", i % 40, i % 7);
    let leaf: ArrayRef =
        Arc::new(StringArray::from_iter(ids.iter().map(|i| some(*i, format!("v{}", i % 6)))));
    let nested =
        StructArray::from(vec![(Arc::new(Field::new("lang", DataType::Utf8, true)), leaf)]);
    let decimals = ids.iter().map(|i| some(*i, i128::from(i % 30) * 25));
    let decimals = Decimal128Array::from_iter(decimals).with_precision_and_scale(12, 2).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(ids.clone()))),
        ("int", Arc::new(Int32Array::from_iter(ids.iter().map(|i| some(*i, (i % 50) as i32))))),
        ("bigint", Arc::new(Int64Array::from_iter(ids.iter().map(|i| some(*i, i % 50))))),
        ("dbl", Arc::new(Float64Array::from_iter(ids.iter().map(|i| some(*i, double(*i)))))),
        ("dec", Arc::new(decimals)),
        ("utf8", Arc::new(StringArray::from_iter(ids.iter().map(|i| some(*i, text(*i)))))),
        ("large", Arc::new(LargeStringArray::from_iter(ids.iter().map(|i| some(*i, text(*i)))))),
        ("day", Arc::new(Date32Array::from_iter(ids.iter().map(|i| some(*i, (i % 50) as i32))))),
        (
            "ts",
            Arc::new(TimestampMicrosecondArray::from_iter(
                ids.iter().map(|i| some(*i, (i % 50) * 1_000_000)),
            )),
        ),
        (
            "bin",
            Arc::new(BinaryArray::from_iter(ids.iter().map(|i| some(*i, text(*i).into_bytes())))),
        ),
        ("flag", Arc::new(BooleanArray::from_iter(ids.iter().map(|i| some(*i, i % 2 == 0))))),
        ("meta", Arc::new(nested)),
        ("labels", Arc::new(labels.finish())),
    ];
    nullable(columns)
}

/// A column, and predicates that an index on it may answer.
const COLUMNS: [(&str, &[&str]); 12] = [
    ("int", &["int = 7", "int < 5", "int BETWEEN 20 AND 22", "int IN (1, 49)", "int IS NULL"]),
    ("bigint", &["bigint = 7", "bigint >= 45", "bigint IN (3, 4)", "bigint IS NULL"]),
    ("dbl", &["dbl = 0.0", "dbl = 2.5", "dbl IS NULL", "dbl IN (1.0, 2.5)"]),
    ("dec", &["dec = 2.50", "dec > 6.00", "dec IS NULL"]),
    ("utf8", &["utf8 = 'text-007-é0'", "utf8 < 'text-003'", "utf8 IS NULL"]),
    ("large", &["large = 'text-007-é0'", "large IS NULL"]),
    ("day", &["day = DATE '1970-01-08'", "day > DATE '1970-02-10'", "day IS NULL"]),
    ("ts", &["ts = TIMESTAMP '1970-01-01T00:00:07'", "ts IS NULL"]),
    ("bin", &["bin = X'746578742d3030372dc3a930'", "bin IS NULL"]),
    ("flag", &["flag = true", "flag = false", "flag IS NULL"]),
    ("meta.lang", &["meta['lang'] = 'v2'", "meta['lang'] IS NULL"]),
    ("labels", &["array_has(labels, 'l1')", "array_has_any(labels, ['l0', 'l4'])"]),
];

async fn check(table: &Table, predicates: &[&str]) -> usize {
    let mut rows = 0;
    for predicate in predicates {
        rows += table.same_rows(predicate).await;
    }
    rows
}

/// Creates, appends, refreshes; the oracle after each. Answers false, having checked that nothing
/// is left behind, where Lance refuses the type.
async fn life(method: &str, column: &str, predicates: &[&str], stable_row_ids: bool) -> bool {
    let table = Table::new(&[rows(0..100), rows(100..160)], stable_row_ids).await;
    let version = table.version().await;
    let created = table.try_sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
    if let Err(error) = created {
        assert!(error.to_string().contains("can't be created"), "{method} on {column}: {error}");
        assert_eq!(table.version().await, version);
        assert!(!std::path::Path::new(&table.uri).join("_indices").exists());
        return false;
    }
    assert_eq!(table.segments("i").await, [vec![0, 1]], "{method} on {column}");
    check(&table, predicates).await;
    table.append(rows(160..200)).await;
    table.append(rows(200..230)).await;
    check(&table, predicates).await;
    let refreshed = table.reported("ALTER TABLE t REFRESH INDEX i", "fragments_indexed").await;
    assert_eq!(refreshed, 2, "{method} on {column}");
    assert_eq!(table.segments("i").await, [vec![0, 1], vec![2, 3]], "{method} on {column}");
    let rows = check(&table, predicates).await;
    assert!(rows > 0, "{method} on {column}");
    true
}

#[tokio::test]
async fn every_type_on_every_column() {
    let mut taken = Vec::new();
    for method in ["btree", "bitmap", "label_list", "ngram", "zonemap", "bloomfilter", "fts", "fm"]
    {
        for (column, predicates) in COLUMNS {
            if life(method, column, predicates, false).await {
                taken.push(format!("{method} {column}"));
            }
        }
    }
    let count = |method: &str| taken.iter().filter(|t| t.starts_with(method)).count();
    let counts = ["btree", "bitmap", "label_list", "ngram", "zonemap", "bloomfilter", "fts", "fm "]
        .map(|method| (method, count(method)));
    assert_eq!(
        counts,
        [
            ("btree", 11),
            ("bitmap", 11),
            ("label_list", 1),
            ("ngram", 3),
            ("zonemap", 12),
            ("bloomfilter", 9),
            ("fts", 4),
            ("fm ", 4),
        ],
        "{taken:?}"
    );
}

#[tokio::test]
async fn every_type_on_stable_row_ids() {
    for (method, column) in [
        ("btree", "bigint"),
        ("bitmap", "utf8"),
        ("label_list", "labels"),
        ("ngram", "utf8"),
        ("zonemap", "ts"),
        ("bloomfilter", "int"),
        ("fts", "utf8"),
        ("fm", "utf8"),
    ] {
        let (_, predicates) = COLUMNS.iter().find(|(name, _)| *name == column).unwrap();
        assert!(life(method, column, predicates, true).await, "{method}");
    }
}

#[tokio::test]
async fn plans_name_the_index() {
    let table = Table::new(&[rows(0..100)], false).await;
    for (method, column, predicate) in [
        ("btree", "bigint", "bigint = 7"),
        ("bitmap", "flag", "flag = true"),
        ("label_list", "labels", "array_has(labels, 'l1')"),
        ("ngram", "utf8", "contains(utf8, 'text-007')"),
        ("zonemap", "ts", "ts = TIMESTAMP '1970-01-01T00:00:07'"),
        ("bloomfilter", "int", "int = 7"),
        ("fm", "large", "contains(large, 'text-007')"),
        ("btree", "meta.lang", "meta['lang'] = 'v2'"),
    ] {
        table.sql(&format!("CREATE OR REPLACE INDEX i ON t USING {method} ({column})")).await;
        table.append(rows(100..120)).await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        assert!(table.oracle("i", predicate).await > 0, "{method}");
    }
}

#[tokio::test]
async fn runs_are_contiguous_and_minimal() {
    let sizes = [10, 100, 60, 30, 10, 40, 40, 20];
    let mut fragments = Vec::new();
    let mut next = 0;
    for size in sizes {
        fragments.push(rows(next..next + size));
        next += size;
    }
    let table = Table::new(&fragments[..1], false).await;
    table.sql("CREATE INDEX i ON t (bigint)").await;
    for fragment in &fragments[1..] {
        table.append(fragment.clone()).await;
    }
    let added = table
        .reported("ALTER TABLE t REFRESH INDEX i WITH (num_segments = 3)", "segments_added")
        .await;
    assert_eq!(added, 3);
    assert_eq!(table.segments("i").await, [vec![0], vec![1], vec![2, 3, 4], vec![5, 6, 7]]);
    table.oracle("i", "bigint = 7").await;
}

#[tokio::test]
async fn c52_parallel_builds_in_bounded_concurrency() {
    let fragments: Vec<RecordBatch> = (0..8).map(|i| rows(i * 500..i * 500 + 500)).collect();
    let table = Table::new(&fragments, false).await;
    table.sql("SET lance_index.max_concurrent_units = 2").await;
    table.sql("CREATE INDEX i ON t (utf8) WITH (num_segments = 8)").await;
    assert_eq!(table.segments("i").await.len(), 8);
    table.oracle("i", "utf8 = 'text-007-é0'").await;
}
