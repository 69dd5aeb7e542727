//! Full-text search, and the filter that full-text indexes answer.

use std::sync::Arc;

use arrow::{
    array::{
        ArrayRef, Float32Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
        StructArray,
    },
    datatypes::{DataType, Field},
};

use crate::support::{Table, nullable};

/// Words by which few, some and all rows are found, in texts of various lengths.
fn texts(ids: std::ops::Range<i64>) -> RecordBatch {
    let text = |id: i64| {
        let often = format!("w{} ", id % 7).repeat(usize::try_from(id % 3 + 1).unwrap());
        let fill = "filler ".repeat(usize::try_from(id % 5).unwrap());
        format!("{often}v{} {fill}the Common", id % 11)
    };
    nullable(vec![
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        ("n", Arc::new(Int64Array::from_iter_values(ids.clone().map(|id| id % 4)))),
        ("txt", Arc::new(StringArray::from_iter(ids.map(|id| (id % 13 > 0).then(|| text(id)))))),
    ])
}

const CREATE: &str = "CREATE OR REPLACE INDEX i ON t USING fts (txt) \
                      WITH (stem = false, max_token_length = NULL, with_position = true)";

/// The ids and scores that a query answers, in its order.
async fn scores(table: &Table, sql: &str) -> Vec<(i64, f32)> {
    let mut scores = Vec::new();
    for batch in table.sql(sql).await {
        let ids = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
        let found = batch.column(1).as_any().downcast_ref::<Float32Array>().unwrap();
        scores.extend(ids.values().iter().copied().zip(found.values().iter().copied()));
    }
    scores
}

/// All that a search finds, best first.
pub async fn search(table: &Table, query: &str, filter: &str) -> Vec<(i64, f32)> {
    let fts = format!("SELECT id, _score FROM lance_fts('t', 'txt', '{query}')");
    scores(table, &format!("{fts} {filter} ORDER BY _score DESC, id")).await
}

fn ids(found: &[(i64, f32)]) -> Vec<i64> {
    let mut ids: Vec<i64> = found.iter().map(|(id, _)| *id).collect();
    ids.sort();
    ids
}

/// The ids of the rows for which a predicate holds, by a full scan.
async fn scanned(table: &Table, predicate: &str) -> Vec<i64> {
    let rows = table.sql(&format!("SELECT id FROM scan WHERE {predicate} ORDER BY id")).await;
    let ids = |batch: &RecordBatch| {
        batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
    };
    rows.iter().flat_map(ids).collect()
}

const QUERIES: [(&str, &str); 6] = [
    ("w3", "contains_tokens(txt, 'w3')"),
    ("W3 v5!", "contains_tokens(txt, 'w3') OR contains_tokens(txt, 'v5')"),
    ("common", "contains_tokens(txt, 'Common')"),
    ("nowhere", "false"),
    ("{\"match\": {\"terms\": \"w3 v5\", \"operator\": \"And\"}}", "contains_tokens(txt, 'w3 v5')"),
    (
        "{\"boolean\": {\"must\": [{\"match\": {\"terms\": \"w3\"}}], \
          \"must_not\": [{\"match\": {\"column\": \"txt\", \"terms\": \"filler\"}}]}}",
        "contains_tokens(txt, 'w3') AND NOT contains_tokens(txt, 'filler')",
    ),
];

/// What each of the queries finds, once it is what a scan finds.
async fn found(table: &Table) -> Vec<Vec<(i64, f32)>> {
    let mut all = Vec::new();
    for (query, predicate) in QUERIES {
        let found = search(table, query, "").await;
        assert_eq!(ids(&found), scanned(table, predicate).await, "{query}");
        assert!(found.iter().all(|(_, score)| *score > 0.0), "{query}");
        all.push(found);
    }
    all
}

#[tokio::test]
async fn the_rows_of_a_search_are_those_of_the_scan() {
    let table = Table::new(&[texts(0..1000), texts(1000..1500)], false).await;
    table.sql(CREATE).await;
    table.append(texts(1500..1800)).await;
    table.append(texts(1800..2000)).await;
    let before = found(&table).await;
    table.sql("ALTER TABLE t REFRESH INDEX i WITH (num_segments = 2)").await;
    let refreshed = found(&table).await;
    table.sql(CREATE).await;
    let of_one_segment = found(&table).await;
    // Scores are made of counts over all segments: of three they are those of one.
    assert!(refreshed == of_one_segment);
    // Rows without an index don't count for those that have one.
    assert!(before[0].len() == refreshed[0].len() && before[0] != refreshed[0]);

    // Deleted rows aren't found, but go on being counted until the index is built anew.
    table.delete("id BETWEEN 1400 AND 1600").await;
    let counted = found(&table).await;
    table.sql(CREATE).await;
    assert!(found(&table).await[0] != counted[0]);
}

#[tokio::test]
async fn filters_choose_rows_and_not_scores() {
    let table = Table::new(&[texts(0..1000)], false).await;
    table.sql(CREATE).await;
    table.append(texts(1000..2000)).await;
    for stage in ["", "ALTER TABLE t REFRESH INDEX i"] {
        if !stage.is_empty() {
            table.sql(stage).await;
        }
        let all = search(&table, "w3 v5", "").await;
        for (filter, holds) in [
            ("n = 1", Box::new(|id: i64, _| id % 4 == 1) as Box<dyn Fn(i64, f32) -> bool>),
            ("n = 1 AND id > 900", Box::new(|id, _| id % 4 == 1 && id > 900)),
            ("_score > 4", Box::new(|_, score| score > 4.0)),
            ("_score > 4 AND n < 2", Box::new(|id, score| score > 4.0 && id % 4 < 2)),
            ("_score > n", Box::new(|id, score| score > (id % 4) as f32)),
            ("contains_tokens(txt, ''filler'')", Box::new(|id, _| id % 5 > 0)),
        ] {
            let filter = filter.replace("''", "'");
            let truth: Vec<_> = all.iter().copied().filter(|(id, s)| holds(*id, *s)).collect();
            assert!(!truth.is_empty(), "{filter}");
            let found = search(&table, "w3 v5", &format!("WHERE {filter}")).await;
            assert_eq!(found, truth, "{filter} after '{stage}'");
            // The best of them, in order.
            let fts = "SELECT id, _score FROM lance_fts('t', 'txt', 'w3 v5') WHERE";
            let best = format!("{fts} {filter} ORDER BY _score DESC, id LIMIT 5");
            assert_eq!(scores(&table, &best).await, truth[..5], "{filter} after '{stage}'");
            // Any of them.
            let some = scores(&table, &format!("{fts} {filter} LIMIT 5")).await;
            assert_eq!(some.len(), 5, "{filter} after '{stage}'");
            assert!(some.iter().all(|one| truth.contains(one)), "{filter}: {some:?}");
            // Which, where all rows are indexed, are the best.
            if !stage.is_empty() && !filter.contains("_score") {
                assert!(some.iter().all(|(_, score)| *score >= truth[4].1), "{filter}: {some:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_search_is_a_table() {
    let table = Table::new(&[texts(0..100)], false).await;
    table.sql(CREATE).await;
    let columns = table.sql("SELECT * FROM lance_fts('t', 'txt', 'w3') LIMIT 1").await;
    let names: Vec<_> = columns[0].schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["id", "n", "txt", "_score"]);
    let truth = scanned(&table, "contains_tokens(txt, 'w3')").await.len() as i64;
    for count in [
        "SELECT count(*) FROM lance_fts('t', 'txt', 'w3')",
        "SELECT count(id) FROM lance_fts('t', 'txt', 'w3')",
        "SELECT count(_score) FROM lance_fts('t', 'txt', 'w3')",
        "SELECT count(*) FROM lance_fts('t', 'txt', 'w3') f JOIN t USING (id)",
        "WITH f AS (SELECT * FROM lance_fts('t', 'txt', 'w3')) \
         SELECT count(*) FROM f a JOIN f b ON a.id = b.id AND a._score = b._score",
    ] {
        assert_eq!(table.number(count).await, truth, "{count}");
    }
    // It follows the table.
    let count = "SELECT count(*) FROM lance_fts('t', 'txt', 'w3')";
    table.sql(&format!("CREATE VIEW v AS {count}")).await;
    table.append(texts(100..200)).await;
    let now = scanned(&table, "contains_tokens(txt, 'w3')").await.len() as i64;
    assert!(now > truth);
    assert_eq!(table.number("SELECT * FROM v").await, now);
    table.delete("true").await;
    assert_eq!(table.number("SELECT * FROM v").await, 0);
}

#[tokio::test]
async fn updated_rows_are_found_by_what_they_hold() {
    for stable_row_ids in [false, true] {
        let table = Table::new(&[texts(0..100), texts(100..200)], stable_row_ids).await;
        table.sql(CREATE).await;
        table.update("n = 1", "txt", "'fresh words'").await;
        for stage in ["", "ALTER TABLE t REFRESH INDEX i"] {
            if !stage.is_empty() {
                table.sql(stage).await;
            }
            for word in ["w3", "fresh"] {
                let found = ids(&search(&table, word, "").await);
                let truth = scanned(&table, &format!("contains_tokens(txt, '{word}')")).await;
                assert_eq!(found, truth, "{word} after '{stage}', {stable_row_ids}");
            }
        }
    }
}

#[tokio::test]
async fn columns_of_any_name_and_of_lists() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["red fox", "blue dog", "red dog"]));
    let mut lists = ListBuilder::new(StringBuilder::new());
    for list in [vec!["red fox", "one"], vec![], vec!["two", "a dog"]] {
        list.iter().for_each(|text| lists.values().append_value(text));
        lists.append(true);
    }
    let field = Arc::new(Field::new("text", DataType::Utf8, true));
    let batch = nullable(vec![
        ("id", ids),
        ("My-Text", words.clone()),
        ("meta", Arc::new(StructArray::from(vec![(field, words)]))),
        ("list", Arc::new(lists.finish())),
    ]);
    let table = Table::new(std::slice::from_ref(&batch), false).await;
    for (index, column) in [("x", "\"My-Text\""), ("z", "meta.text"), ("l", "list")] {
        table.sql(&format!("CREATE INDEX {index} ON t USING fts ({column})")).await;
    }
    table.append(batch).await;
    for stage in ["", "ALTER TABLE t REFRESH INDEXES"] {
        if !stage.is_empty() {
            table.sql(stage).await;
        }
        for (column, word, truth) in [
            ("My-Text", "red", 4),
            ("\"My-Text\"", "red", 4),
            ("meta.text", "red", 4),
            ("list", "red", 2),
            ("list", "dog", 2),
            ("list", "one", 2),
        ] {
            let count = format!("SELECT count(*) FROM lance_fts('t', '{column}', '{word}')");
            assert_eq!(table.number(&count).await, truth, "{column}: {word} after '{stage}'");
        }
    }
}

#[tokio::test]
async fn contains_tokens_by_the_index() {
    let table = Table::new(&[texts(0..3000)], false).await;
    table.sql(CREATE).await;
    table.append(texts(3000..4000)).await;
    let count = |holds: fn(i64) -> bool| (0..4000).filter(|id| id % 13 > 0 && holds(*id)).count();
    for stage in ["", "ALTER TABLE t REFRESH INDEX i"] {
        if !stage.is_empty() {
            table.sql(stage).await;
        }
        for (text, rows) in [
            ("w3", count(|id| id % 7 == 3)),
            ("w3 v5", count(|id| id % 7 == 3 && id % 11 == 5)),
            ("v5, w3.", count(|id| id % 7 == 3 && id % 11 == 5)),
            ("Common", count(|_| true)),
            ("common", 0),
            ("the Common", count(|_| true)),
        ] {
            let predicate = format!("contains_tokens(txt, '{text}')");
            assert_eq!(table.oracle("i", &predicate).await, rows, "{text}, '{stage}'");
        }
        // The index has no token to look for: a scan finds them.
        for (text, rows) in
            [("the", count(|_| true)), ("The", 0), ("", count(|_| true)), (" .", count(|_| true))]
        {
            let predicate = format!("contains_tokens(txt, '{text}')");
            assert_eq!(table.same_rows(&predicate).await, rows, "{text}, '{stage}'");
        }
        table.same_rows("NOT contains_tokens(txt, 'w3')").await;
        table.same_rows("contains_tokens(txt, 'the') OR contains_tokens(txt, 'w3')").await;
        table.same_rows("contains_tokens(concat(txt, ' x'), 'x')").await;
    }
}
