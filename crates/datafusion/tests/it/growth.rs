//! What an index is like after hundreds of appends, each followed by maintenance.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arrow::{
    array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray},
    datatypes::Int64Type,
};

use crate::support::{Table, nullable};

const ROWS: i64 = 2_000;

/// Ids that are new, in an order of their own, and texts of a few frequent and many rare words.
fn batch(at: i64) -> RecordBatch {
    let ids: Vec<i64> = (0..ROWS).map(|i| at * ROWS + (i * 7919) % ROWS).collect();
    let text = ids.iter().map(|id| {
        let words = [id % 7, id % 61, id % 997, (id * 31) % 9973].map(|n| format!("w{n}"));
        words.join(" ")
    });
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("txt", Arc::new(StringArray::from_iter_values(text))),
        ("id", Arc::new(Int64Array::from(ids))),
    ];
    nullable(columns)
}

struct Segment {
    fragments: String,
    bytes: i64,
}

/// What `SHOW INDEX SEGMENTS` says.
async fn segments(table: &Table, index: &str) -> Vec<Segment> {
    let rows = table.sql(&format!("SHOW INDEX SEGMENTS FROM t INDEX {index}")).await;
    let mut segments = Vec::new();
    for rows in &rows {
        let fragments = rows.column_by_name("fragments").unwrap().as_string::<i32>();
        let bytes = rows.column_by_name("size_bytes").unwrap().as_primitive::<Int64Type>();
        segments.extend((0..rows.num_rows()).map(|at| Segment {
            fragments: fragments.value(at).to_string(),
            bytes: bytes.value(at),
        }));
    }
    segments
}

/// The median time of a query in each of two tables, run in turns after both are warm.
async fn compare(rounds: usize, query: &str, table: &Table, other: &Table) -> (Duration, Duration) {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds + 2 {
        for (at, table) in [table, other].into_iter().enumerate() {
            let start = Instant::now();
            table.sql(query).await;
            if round >= 2 {
                times[at].push(start.elapsed());
            }
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    (median(&mut times[0]), median(&mut times[1]))
}

/// Checks that the query takes at most so many times as long in the first table as in the second.
/// Other programs run too, so the best of a few comparisons counts.
async fn at_most(times: f64, query: &str, table: &Table, other: &Table) {
    let rounds = if query == POINT { 21 } else { 3 };
    let mut seen = Vec::new();
    for _ in 0..5 {
        let (took, than) = compare(rounds, query, table, other).await;
        let ratio = took.as_secs_f64() / than.as_secs_f64();
        if ratio <= times {
            return;
        }
        seen.push(ratio);
    }
    panic!("{query}: {seen:?} times");
}

const POINT: &str = "SELECT id FROM t WHERE id = 23457";
const BEST: &str =
    "SELECT id, _score FROM lance_fts('t', 'txt', 'w3 w17') ORDER BY _score DESC, id LIMIT 10";

/// A table of so many batches, with so many segments of equal size in each index.
async fn built_at_once(batches: i64, segments: [usize; 3]) -> Table {
    let table = Table::new(&[batch(0)], false).await;
    for at in 1..batches {
        table.append(batch(at)).await;
    }
    for ((index, segments), method) in INDEXES.iter().zip(segments).zip(METHODS) {
        let options = format!("WITH (num_segments = {segments})");
        table.sql(&format!("CREATE INDEX {index} ON t USING {method} {options}")).await;
    }
    table
}

const INDEXES: [&str; 3] = ["b", "z", "f"];
const METHODS: [&str; 3] = ["btree (id)", "zonemap (id)", "fts (txt)"];
const OPTIMIZE: &str = "ALTER TABLE t OPTIMIZE INDEXES \
     WITH (target_rows_per_segment = 1000000, merge_factor = 8)";

/// Bytes of each index that OPTIMIZE has written, and those of them that were built from rows.
#[derive(Default)]
struct Written {
    all: [i64; 3],
    built: [i64; 3],
}

async fn append_and_optimize(table: &Table, at: i64, bytes: &mut Written) {
    table.append(batch(at)).await;
    for rows in table.sql(OPTIMIZE).await {
        let written = rows.column_by_name("bytes_written").unwrap().as_primitive::<Int64Type>();
        for (row, name) in rows.column(0).as_string::<i32>().iter().enumerate() {
            let index = INDEXES.iter().position(|it| Some(*it) == name).unwrap();
            bytes.all[index] += written.value(row);
        }
    }
    for (index, name) in INDEXES.iter().enumerate() {
        let newest = segments(table, name).await.into_iter();
        let newest = newest.filter(|segment| segment.fragments == at.to_string());
        bytes.built[index] += newest.map(|segment| segment.bytes).sum::<i64>();
    }
}

async fn counts(table: &Table) -> [usize; 3] {
    let mut counts = [0; 3];
    for (count, index) in counts.iter_mut().zip(INDEXES) {
        *count = segments(table, index).await.len();
    }
    counts
}

/// The same in less time; the bounds are on the safe side.
#[tokio::test]
async fn fewer_appends_each_followed_by_optimize() {
    grow(48).await;
}

#[tokio::test]
#[ignore = "takes about ten minutes"]
async fn appends_each_followed_by_optimize() {
    grow(256).await;
}

async fn grow(appends: i64) {
    let table = built_at_once(1, [1; 3]).await;
    let mut bytes = Written::default();
    for at in 1..appends {
        append_and_optimize(&table, at, &mut bytes).await;
        if at % 32 == 0 {
            table.oracle("b", &format!("id >= {} AND id < {}", at * 500, at * 500 + 3000)).await;
        }
    }
    let after_one_less = counts(&table).await;
    let append_only = built_at_once(appends, after_one_less).await;
    for query in [POINT, BEST] {
        at_most(1.25, query, &table, &append_only).await;
    }
    drop(append_only);

    append_and_optimize(&table, appends, &mut bytes).await;
    let after_all = counts(&table).await;
    for (index, name) in INDEXES.iter().enumerate() {
        let factor = bytes.all[index] as f64 / bytes.built[index] as f64;
        let segments = after_all[index];
        assert!(segments <= 21, "{name}: {segments}");
        assert!(factor <= 4.0 || *name == "z", "{name}: {factor}");
    }
    assert_eq!(table.oracle("b", "id = 23457").await, 1);
    let one = built_at_once(appends + 1, [1; 3]).await;
    for query in [POINT, BEST] {
        at_most(2.0, query, &table, &one).await;
    }
}
