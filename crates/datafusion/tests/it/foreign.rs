//! Tables and indexes made by other Lance clients, old ones among them.

use arrow::{array::AsArray, datatypes::Int64Type};
use futures::TryStreamExt;
use lance_index::scalar::FullTextSearchQuery;

use crate::support::Table;

/// The `id` of the rows whose text has the word, found by the full-text index.
pub async fn full_text(table: &Table, column: &str, word: &str) -> Vec<i64> {
    let dataset = table.open().await;
    let query = FullTextSearchQuery::new(word.to_string());
    let query = query.with_column(column.to_string()).unwrap();
    let mut scan = dataset.scan();
    scan.full_text_search(query).unwrap().project(&["id"]).unwrap();
    let batches: Vec<_> = scan.try_into_stream().await.unwrap().try_collect().await.unwrap();
    let ids = batches.iter().flat_map(|batch| {
        batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec()
    });
    let mut ids: Vec<i64> = ids.collect();
    ids.sort();
    ids
}

const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "drift", "ember", "flint", "grotto", "heron", "inlet", "knoll",
    "lotus", "maroon", "north", "otter", "quartz", "raven",
];

/// Whether row `i` of the fixtures has the word in `txt`; see the rule in their README.
fn has_word(i: usize, word: &str) -> bool {
    (0..3 + i % 4).any(|k| WORDS[(7 * i + 5 * k + i / 11) % 16] == word)
}

/// The versions of pylance that there are fixtures of.
const VERSIONS: [&str; 9] =
    ["0.20.0", "0.26.1", "0.30.0", "0.36.0", "0.39.0", "1.0.4", "4.0.2", "9.0.1", "14.0.2"];

/// Checks what those of a fixture's indexes answer that are listed: rows, and by the index.
async fn check_answers(table: &Table, listed: &str, version: &str) {
    for (index, predicate) in [
        ("id_btree", "id >= 50 AND id < 130"),
        ("id_btree", "id = 150"),
        ("cat_bitmap", "cat = 'alpha'"),
        ("cat_bitmap", "cat IN ('beta', 'delta')"),
        ("tags_labels", "array_has(tags, 't2')"),
        ("tags_labels", "NOT array_has(tags, 't2')"),
        ("name_ngram", "contains(name, 'amber')"),
        ("ts_zonemap", "ts > '2020-09-16T00:00:00'"),
        ("x_bloom", "x = 9.25"),
    ] {
        if listed.contains(index) {
            let rows = table.oracle(index, predicate).await;
            assert!(rows > 0, "{version} {predicate}");
        }
    }
}

#[tokio::test]
async fn indexes_of_every_client_are_refreshed_with_their_own_parameters() {
    for version in VERSIONS {
        let table = Table::fixture(&format!("pylance-{version}")).await;
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        let due = "SHOW INDEXES FROM t";
        let listed = table.print(due).await;
        assert!(!listed.contains("refresh due"), "{version}\n{listed}");
        check_answers(&table, &listed, version).await;
        for word in ["otter", "amber"] {
            let truth: Vec<i64> =
                (0..180).filter(|i| has_word(*i, word)).map(|i| i as i64).collect();
            assert_eq!(full_text(&table, "txt", word).await, truth, "{version} {word}");
        }
        if listed.contains("ts_zonemap") {
            let stated = "ALTER TABLE t REFRESH INDEX ts_zonemap WITH (rows_per_zone = 16)";
            table.sql(stated).await;
            let other = "ALTER TABLE t REFRESH INDEX ts_zonemap WITH (rows_per_zone = 17)";
            let error = table.error(other).await;
            assert!(error.contains("was built with rows_per_zone = 16, not 17"), "{error}");
        }
        let stated =
            "ALTER TABLE t REFRESH INDEX txt_fts WITH (base_tokenizer = whitespace, stem = false)";
        table.sql(stated).await;
        let version_before = table.version().await;
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.version().await, version_before, "{version}");
    }
}

#[tokio::test]
async fn segments_of_every_client_are_merged() {
    for version in VERSIONS {
        let table = Table::fixture(&format!("pylance-{version}")).await;
        let optimize = "ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 10000, merge_factor = 2)";
        // The first may have to build an old index anew.
        for _ in 0..4 {
            table.sql(optimize).await;
            let listed = table.print("SHOW INDEXES FROM t").await;
            assert!(!listed.contains("due"), "{version}\n{listed}");
            check_answers(&table, &listed, version).await;
            let truth: Vec<i64> =
                (0..180).filter(|i| has_word(*i, "otter")).map(|i| i as i64).collect();
            assert_eq!(full_text(&table, "txt", "otter").await, truth, "{version}");
        }
        let version_before = table.version().await;
        table.sql(optimize).await;
        assert_eq!(table.version().await, version_before, "{version}");
    }
}

#[tokio::test]
async fn a_segment_of_another_format_takes_the_whole_index_and_explain_says_why() {
    let table = Table::fixture("pylance-0.36.0").await;
    let plan = table.print("EXPLAIN ALTER TABLE t REFRESH INDEX id_btree").await;
    assert!(
        plan.contains("its format /lance.index.pb.BTreeIndexDetails can't stand beside"),
        "{plan}"
    );
    let rewritten =
        table.reported("ALTER TABLE t REFRESH INDEX id_btree", "segments_rewritten").await;
    assert_eq!(rewritten, 1);
    assert_eq!(table.segments("id_btree").await, [vec![0, 1, 2]]);
}

/// A segment of a version that this Lance can't read, beside one that it can.
#[tokio::test]
async fn an_index_that_a_newer_client_has_extended() {
    use lance::dataset::{
        CommitBuilder,
        transaction::{Operation, Transaction},
    };
    let table = Table::new(&[crate::support::half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t USING bitmap (cat); CREATE INDEX j ON t (id)").await;
    table.append(crate::support::half_and_half()).await;
    let dataset = table.open().await;
    let indexes = lance::index::DatasetIndexExt::load_indices(&dataset).await.unwrap();
    let mut newer = indexes.iter().find(|index| index.name == "i").unwrap().clone();
    newer.uuid = "00000000-0000-4000-8000-000000000000".parse().unwrap();
    newer.index_version = 99;
    newer.fragment_bitmap = Some([1].into_iter().collect());
    let operation = Operation::CreateIndex { new_indices: vec![newer], removed_indices: vec![] };
    let transaction = Transaction::new(dataset.version().version, operation, None);
    CommitBuilder::new(std::sync::Arc::new(dataset)).execute(transaction).await.unwrap();

    let listed = table.print("SHOW INDEXES FROM t").await;
    assert!(listed.contains("unreadable") && listed.contains("refresh due"), "{listed}");
    let error = table.error("ALTER TABLE t REFRESH INDEX i").await;
    assert!(error.contains("segments that this version of Lance can't read"), "{error}");
    // The other one is done all the same.
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert_eq!(table.segments("j").await, [vec![0], vec![1]]);
    table.sql("CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await;
    assert_eq!(table.oracle("i", "cat = 'A'").await, 100);
    assert_eq!(table.reported("DROP INDEX i ON t", "segments_removed").await, 1);
}
