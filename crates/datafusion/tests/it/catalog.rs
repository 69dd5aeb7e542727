//! Recorded indexes beside clients of Lance that know nothing of records.

use std::{collections::HashMap, sync::Arc};

use arrow::{
    array::{ArrayRef, Int64Array, StringArray},
    util::pretty::pretty_format_batches,
};
use datafusion_lance_index::{catalog::logical_indexes, table::LanceTable};
use lance::index::DatasetIndexExt;
use lance_index::{IndexType, optimize::OptimizeOptions, scalar::ScalarIndexParams};

use crate::support::{Table, half_and_half, letters, nullable};

/// `state, index_type, config, source` of the index; `None` if it isn't listed.
pub async fn listed(table: &Table, index: &str) -> Option<[String; 4]> {
    let rows = table
        .sql(&format!(
            "SELECT state, index_type, coalesce(config, '-'), source FROM lance_indexes('t') \
             WHERE name = '{index}'"
        ))
        .await;
    let row = rows.iter().find(|batch| batch.num_rows() > 0)?;
    Some([0, 1, 2, 3].map(|column| {
        let column = row.column(column);
        arrow::util::display::array_value_to_string(column, 0).unwrap()
    }))
}

pub async fn state(table: &Table, index: &str) -> String {
    listed(table, index).await.map_or("not there".to_string(), |[state, ..]| state)
}

async fn source(table: &Table, index: &str) -> String {
    listed(table, index).await.map_or("not there".to_string(), |[.., source]| source)
}

/// Another client makes an index.
pub async fn create(table: &Table, name: &str, column: &str, index_type: IndexType, json: &str) {
    let params = match index_type {
        IndexType::Bitmap => ScalarIndexParams::default(),
        _ => {
            let params = ScalarIndexParams::new(index_type.to_string().to_lowercase());
            params.with_params(&serde_json::from_str::<serde_json::Value>(json).unwrap())
        }
    };
    let mut dataset = table.open().await;
    dataset
        .create_index(&[column], index_type, Some(name.to_string()), &params, true)
        .await
        .unwrap();
}

pub async fn drop_index(table: &Table, name: &str) {
    table.open().await.drop_index(name).await.unwrap();
}

async fn refreshed(table: &Table, index: &str) -> i64 {
    let refresh = format!("ALTER TABLE t REFRESH INDEX {index}");
    table.reported(&refresh, "fragments_indexed").await
}

/// The record's text in the table's metadata.
pub async fn record(table: &Table, index: &str) -> Option<String> {
    table.open().await.metadata().get(&format!("lance_index.v2/{index}")).cloned()
}

pub async fn set_record(table: &Table, index: &str, text: &str) {
    let key = format!("lance_index.v2/{index}");
    table.open().await.update_metadata([(key.as_str(), text)]).await.unwrap();
}

/// An index of each method: its column, an option, and a predicate that it answers.
const METHODS: [(&str, &str, &str, &str); 8] = [
    ("btree", "id", "zone_size = 16", "id = 7"),
    ("zonemap", "id", "rows_per_zone = 16", "id = 7"),
    ("bloomfilter", "id", "number_of_items = 100", "id = 7"),
    ("bitmap", "cat", "num_segments = 1", "cat = 'A'"),
    ("label_list", "tags", "num_segments = 1", "array_has(tags, 'A')"),
    ("ngram", "txt", "num_segments = 1", "contains(txt, 'Apple')"),
    ("fts", "txt", "stem = false, max_token_length = NULL", "contains_tokens(txt, 'common')"),
    ("fm", "txt", "num_segments = 1", "contains(txt, 'Apple')"),
];

#[tokio::test]
async fn an_overwrite_by_another_client() {
    for (method, column, option, predicate) in METHODS {
        let table = Table::new(&[half_and_half()], false).await;
        let create = format!("CREATE INDEX i ON t USING {method} ({column}) WITH ({option})");
        table.sql(&create).await;
        let before = listed(&table, "i").await.unwrap();
        assert_eq!([&before[0], &before[3]], ["ready", "v2"], "{method}");
        table.overwrite(letters(0..40, |_| "A")).await;
        assert!(table.segments("i").await.is_empty());
        let after = listed(&table, "i").await.unwrap();
        assert_eq!(after[0], "unbuilt", "{method}");
        assert_eq!(after[1..], before[1..], "{method}");
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(listed(&table, "i").await.unwrap(), before, "{method}");
        assert!(table.oracle("i", predicate).await > 0, "{method}");
        if option != "num_segments = 1" {
            table.sql(&format!("ALTER TABLE t REFRESH INDEX i WITH ({option})")).await;
        }
        let version = table.version().await;
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(table.version().await, version, "{method}");
    }
}

fn reordered() -> Vec<(&'static str, ArrayRef)> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20));
    let other: ArrayRef = Arc::new(Int64Array::from_iter_values((0..20).map(|id| id % 3)));
    vec![("other", other), ("id", ids)]
}

#[tokio::test]
async fn an_overwrite_with_other_columns() {
    let table = Table::new(&[half_and_half()], false).await;
    table
        .sql(
            "CREATE INDEX by_id ON t USING zonemap (id) WITH (rows_per_zone = 8);
             CREATE INDEX by_cat ON t USING bitmap (cat)",
        )
        .await;
    // What was `id` is `other` now, by the number of the field.
    table.overwrite(nullable(reordered())).await;
    let table = table.again(crate::support::config()).await;
    assert_eq!(state(&table, "by_id").await, "unbuilt");
    assert_eq!(state(&table, "by_cat").await, "column changed");
    assert_eq!(refreshed(&table, "by_id").await, 1);
    assert_eq!(table.oracle("by_id", "id = 7").await, 1);
    assert_eq!(
        listed(&table, "by_id").await.unwrap(),
        ["ready", "zonemap", "{\"rows_per_zone\":8}", "v2"]
    );
    let error = table.error("ALTER TABLE t REFRESH INDEX by_cat").await;
    assert!(error.contains("the column of index 'by_cat', cat, is gone"), "{error}");
    assert!(error.contains("CREATE OR REPLACE INDEX"), "{error}");
    // Of the same name and another type.
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    table.overwrite(nullable(vec![("id", text)])).await;
    let table = table.again(crate::support::config()).await;
    assert_eq!(state(&table, "by_id").await, "column changed");
    table.sql("DROP INDEX by_cat ON t; CREATE OR REPLACE INDEX by_id ON t (id)").await;
    assert_eq!(table.oracle("by_id", "id = 'a'").await, 1);
}

#[tokio::test]
async fn a_column_that_was_renamed() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8)").await;
    let renamed = lance::dataset::ColumnAlteration::new("id".into()).rename("number".into());
    table.open().await.alter_columns(&[renamed]).await.unwrap();
    let table = table.again(crate::support::config()).await;
    assert_eq!(state(&table, "i").await, "ready");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(500..510));
    let batch = half_and_half().slice(0, 10);
    let names = ["number", "cat", "txt", "tags", "other", "note"];
    let mut columns: Vec<_> = names.into_iter().zip(batch.columns().to_vec()).collect();
    columns[0].1 = ids;
    table.append(nullable(columns)).await;
    assert_eq!(refreshed(&table, "i").await, 1);
    assert_eq!(table.oracle("i", "number = 505").await, 1);
    let shown = table.print("SHOW CREATE INDEX i ON t").await;
    assert!(shown.contains("USING zonemap (number) WITH (rows_per_zone = 8)"), "{shown}");
}

#[tokio::test]
async fn an_index_that_another_client_dropped() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8)").await;
    table.sql("CREATE INDEX j ON t (id)").await;
    drop_index(&table, "i").await;
    assert_eq!(state(&table, "i").await, "dropped elsewhere");
    // Nothing brings it back by the way, not even an overwrite.
    table.append(letters(100..200, |_| "C")).await;
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert!(table.segments("i").await.is_empty());
    table.overwrite(half_and_half()).await;
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert!(table.segments("i").await.is_empty());
    assert_eq!(state(&table, "i").await, "dropped elsewhere");
    assert_eq!(state(&table, "j").await, "ready");
    // By its name, it is built again.
    assert_eq!(refreshed(&table, "i").await, 1);
    assert_eq!(
        listed(&table, "i").await.unwrap(),
        ["ready", "zonemap", "{\"rows_per_zone\":8}", "v2"]
    );
    assert_eq!(table.same_rows("id = 7").await, 1);
    table.overwrite(half_and_half()).await;
    assert_eq!(state(&table, "i").await, "unbuilt");
    // And DROP ends it.
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    drop_index(&table, "j").await;
    assert_eq!(table.reported("DROP INDEX j ON t", "segments_removed").await, 0);
    assert_eq!(state(&table, "j").await, "not there");
    let error = table.error("DROP INDEX j ON t").await;
    assert!(error.contains("there is no index 'j'"), "{error}");
}

#[tokio::test]
async fn an_index_whose_history_is_gone() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    drop_index(&table, "i").await;
    table.append(letters(100..110, |_| "C")).await;
    table.sql("VACUUM TABLE t WITH (older_than = '0 seconds')").await;
    assert_eq!(state(&table, "i").await, "gone");
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    assert!(table.segments("i").await.is_empty());
    assert_eq!(refreshed(&table, "i").await, 2);
    assert_eq!(table.oracle("i", "id = 7").await, 1);
    // What is known since is enough.
    table.overwrite(half_and_half()).await;
    assert_eq!(state(&table, "i").await, "unbuilt");
}

/// The last to say what the index is to be is right.
#[tokio::test]
async fn an_index_that_another_client_dropped_and_made_anew() {
    let table = Table::new(&[half_and_half()], false).await;
    let ours = "CREATE OR REPLACE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8)";
    for (column, index_type, json, listing, predicate) in [
        ("cat", IndexType::Bitmap, "{}", ["bitmap", "-"], "cat = 'A'"),
        ("other", IndexType::BTree, "{}", ["btree", "-"], "other = 0"),
        (
            "id",
            IndexType::ZoneMap,
            "{\"rows_per_zone\": 32}",
            ["zonemap", "{\"rows_per_zone\":32}"],
            "id = 7",
        ),
    ] {
        table.sql(ours).await;
        table.sql("ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)").await;
        drop_index(&table, "i").await;
        create(&table, "i", column, index_type, json).await;
        let of_an_earlier = "inferred (v2 is of an earlier index)".to_string();
        let [state, index_type, config, source] = listed(&table, "i").await.unwrap();
        assert_eq!([state.as_str(), &source], ["ready", &of_an_earlier]);
        assert_eq!([index_type.as_str(), &config], listing);
        // No refresh makes ours of it; the first one that commits records theirs.
        table.append(letters(100..110, |_| "C")).await;
        let refresh = "ALTER TABLE t REFRESH INDEX i";
        assert_eq!(table.reported(refresh, "segments_rewritten").await, 0);
        assert!(table.oracle("i", predicate).await > 0);
        let [state, index_type, _, source] = listed(&table, "i").await.unwrap();
        assert_eq!([state.as_str(), &source], ["ready", "v2"]);
        assert_eq!(index_type, listing[0]);
        let shown = table.print("SHOW CREATE INDEX i ON t").await;
        assert!(!shown.contains("target_rows_per_segment"), "{shown}");
    }
    // One that is just as ours was is ours.
    table.sql(ours).await;
    drop_index(&table, "i").await;
    create(&table, "i", "id", IndexType::ZoneMap, "{\"rows_per_zone\": 8}").await;
    assert_eq!(source(&table, "i").await, "v2");
    assert_eq!(state(&table, "i").await, "ready");
}

#[tokio::test]
async fn an_index_of_another_client_is_recorded_by_a_refresh_that_commits() {
    let table = Table::new(&[half_and_half()], false).await;
    let zones = "{\"rows_per_zone\": 32}";
    create(&table, "i", "id", IndexType::ZoneMap, zones).await;
    assert_eq!(source(&table, "i").await, "inferred");
    let version = table.version().await;
    assert_eq!(refreshed(&table, "i").await, 0);
    assert_eq!(table.version().await, version, "a record alone is no reason for a version");
    table.append(letters(100..110, |_| "C")).await;
    table.sql("SET lance_index.write_v2 = false").await;
    assert_eq!(refreshed(&table, "i").await, 1);
    assert_eq!(source(&table, "i").await, "inferred");
    table.sql("SET lance_index.write_v2 = true").await;
    table.append(letters(110..120, |_| "C")).await;
    let reported = table.reported("ALTER TABLE t REFRESH INDEX i", "version").await;
    assert_eq!(reported, table.version().await as i64);
    assert_eq!(
        listed(&table, "i").await.unwrap(),
        ["ready", "zonemap", "{\"rows_per_zone\":32}", "v2"]
    );
    let text = record(&table, "i").await;
    table.append(letters(120..130, |_| "C")).await;
    assert_eq!(refreshed(&table, "i").await, 1);
    assert_eq!(record(&table, "i").await, text, "it is written once");
    assert_eq!(table.segments("i").await.len(), 4);
}

#[tokio::test]
async fn without_records() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    table.sql("SET lance_index.write_v2 = false").await;
    let version = table.version().await;
    table.sql("CREATE INDEX j ON t (id)").await;
    assert_eq!(table.version().await, version + 1);
    assert_eq!(source(&table, "j").await, "inferred");
    // A record that would be wrong of what comes goes first.
    table.sql("CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await;
    assert_eq!(record(&table, "i").await, None);
    assert_eq!(listed(&table, "i").await.unwrap(), ["ready", "bitmap", "-", "inferred"]);
}

/// What other clients build from our segments is what the record says.
#[tokio::test]
async fn another_client_optimizes_and_extends() {
    for (method, column, option, predicate) in METHODS {
        let table = Table::new(&[half_and_half()], false).await;
        let create = format!("CREATE INDEX i ON t USING {method} ({column}) WITH ({option})");
        table.sql(&create).await;
        let before = listed(&table, "i").await;
        for optimize in [OptimizeOptions::append(), OptimizeOptions::merge(10)] {
            table.append(letters(100..110, |_| "A")).await;
            table.open().await.optimize_indices(&optimize).await.unwrap();
            assert_eq!(listed(&table, "i").await, before, "{method}");
        }
        table.compact().await;
        table.append(letters(110..120, |_| "A")).await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        assert_eq!(listed(&table, "i").await, before, "{method}");
        assert!(table.oracle("i", predicate).await > 0, "{method}");
        let version = table.version().await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        assert_eq!(table.version().await, version, "{method}");
    }
}

#[tokio::test]
async fn a_restore_brings_the_record_of_its_version() {
    let table = Table::new(&[half_and_half()], false).await;
    let before = table.version().await;
    table.sql("CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8)").await;
    let created = table.version().await;
    table.sql("CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await;
    let restore = async |version| {
        let dataset = table.open().await;
        dataset.checkout_version(version).await.unwrap().restore().await.unwrap();
    };
    restore(created).await;
    let zonemap = ["ready", "zonemap", "{\"rows_per_zone\":8}", "v2"];
    assert_eq!(listed(&table, "i").await.unwrap(), zonemap);
    // The record without the segments, and what happened between is as if it hadn't.
    restore(created - 1).await;
    assert_eq!(state(&table, "i").await, "unbuilt");
    assert_eq!(refreshed(&table, "i").await, 1);
    assert_eq!(listed(&table, "i").await.unwrap(), zonemap);
    restore(before).await;
    assert_eq!(state(&table, "i").await, "not there");
}

#[tokio::test]
async fn a_damaged_record_is_one_indexs_trouble() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id); CREATE INDEX j ON t (id)").await;
    let other = record(&table, "j").await.unwrap();
    for (text, what) in [
        ("*", "not base64"),
        ("AAAA", "not the message"),
        (other.as_str(), "the record of an index 'j'"),
        (&"A".repeat(70_000), "more than the 65536"),
    ] {
        set_record(&table, "i", text).await;
        let source = source(&table, "i").await;
        assert!(source.starts_with("inferred (damaged v2") && source.contains(what), "{source}");
        assert_eq!(state(&table, "i").await, "ready");
        assert_eq!(listed(&table, "j").await.unwrap()[3], "v2");
        table.append(letters(100..110, |_| "C")).await;
        table.sql("ALTER TABLE t REFRESH INDEXES").await;
        assert_eq!(record(&table, "i").await.as_deref(), Some(text));
        let set = "ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)";
        let error = table.error(set).await;
        assert!(error.contains("the record of index 'i' is damaged"), "{error}");
        table.sql("CREATE OR REPLACE INDEX i ON t (id)").await;
        assert_eq!(listed(&table, "i").await.unwrap()[3], "v2");
    }
    // Without segments there is nothing to infer from.
    set_record(&table, "k", "*").await;
    assert_eq!(state(&table, "k").await, "unreadable");
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    let error = table.error("ALTER TABLE t REFRESH INDEX k").await;
    assert!(error.contains("damaged, and it has no segments"), "{error}");
    table.sql("DROP INDEX k ON t").await;
    assert_eq!(state(&table, "k").await, "not there");
}

#[tokio::test]
async fn a_record_of_a_later_version_is_read_and_never_rewritten() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 8)").await;
    let mut bytes = STANDARD.decode(record(&table, "i").await.unwrap()).unwrap();
    bytes.extend([0x3a, 0x01, 0x00]);
    let later = STANDARD.encode(bytes);
    set_record(&table, "i", &later).await;
    assert_eq!(
        listed(&table, "i").await.unwrap(),
        ["ready", "zonemap", "{\"rows_per_zone\":8}", "v2 (of a later version)"]
    );
    table.overwrite(nullable(reordered())).await;
    let table = table.again(crate::support::config()).await;
    assert_eq!(refreshed(&table, "i").await, 1);
    assert_eq!(record(&table, "i").await.as_deref(), Some(later.as_str()));
    let set = "ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10)";
    let error = table.error(set).await;
    assert!(error.contains("recorded by a later version"), "{error}");
    table.sql("DROP INDEX i ON t").await;
    assert_eq!(record(&table, "i").await, None);
}

/// Lance's own form stays complete, and both say the same.
#[tokio::test]
async fn both_forms_agree() {
    let table = Table::new(&[half_and_half(), letters(100..150, |_| "C")], false).await;
    for (method, column) in [
        ("btree", "id"),
        ("bitmap", "cat"),
        ("label_list", "tags"),
        ("ngram", "txt"),
        ("zonemap", "id"),
        ("bloomfilter", "id"),
        ("fts", "txt"),
        ("fm", "txt"),
    ] {
        let create = format!("CREATE INDEX \"by {method}\" ON t USING {method} ({column})");
        table.sql(&create).await;
    }
    table.append(letters(150..160, |_| "D")).await;
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    table.delete("id < 100").await;
    let dataset = table.open().await;
    let live = dataset.fragment_bitmap().as_ref().clone();
    let segments = dataset.load_indices().await.unwrap();
    let provider = LanceTable::open(&table.uri, HashMap::new()).await.unwrap();
    let indexes = logical_indexes(&provider).await.unwrap();
    assert_eq!(indexes.len(), 8);
    for index in indexes {
        let of_name = segments.iter().filter(|segment| segment.name == index.name);
        let of_name: Vec<_> = of_name.collect();
        assert_eq!(index.files.len(), of_name.len());
        for (file, segment) in index.files.iter().zip(of_name) {
            assert_eq!(file.id, segment.uuid.as_bytes());
            assert_eq!(file.file_size as u64, segment.total_size_bytes().unwrap());
            let covered = roaring::RoaringBitmap::deserialize_from(&file.fragment_bitmap[..]);
            let declared = segment.fragment_bitmap.clone().unwrap() & &live;
            assert_eq!(covered.unwrap(), declared);
            assert_eq!(index.field_ids, segment.fields);
        }
    }
}

#[tokio::test]
async fn policies() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let text = record(&table, "i").await;
    let shown = async || {
        let rows = table.sql("SELECT statement FROM lance_show_create_index('t', 'i')").await;
        pretty_format_batches(&rows).unwrap().to_string()
    };
    let version = table.version().await;
    let alter = "ALTER TABLE t ALTER INDEX i";
    table.sql(&format!("EXPLAIN {alter} SET (target_rows_per_segment = 10)")).await;
    table.sql(&format!("{alter} RESET (merge_factor)")).await;
    assert_eq!(table.version().await, version);
    table.sql(&format!("{alter} SET (target_rows_per_segment = 10, merge_factor = 4)")).await;
    assert!(
        shown()
            .await
            .contains("ALTER INDEX i SET (target_rows_per_segment = 10, merge_factor = 4)")
    );
    assert_eq!(table.version().await, version + 1);
    assert_eq!(record(&table, "i").await, text, "the index is the same one");
    // Nothing changes, nothing is committed.
    table.sql(&format!("{alter} SET (merge_factor = 4)")).await;
    assert_eq!(table.version().await, version + 1);
    table.sql(&format!("{alter} SET (target_bytes_per_segment = 1000)")).await;
    table.sql(&format!("{alter} RESET (target_rows_per_segment)")).await;
    assert!(shown().await.contains("(target_bytes_per_segment = 1000, merge_factor = 4)"));
    let error = table.error(&format!("{alter} RESET (target_bytes_per_segment)")).await;
    assert!(error.contains("reset merge_factor as well"), "{error}");
    // It outlives the replacement of its index, and an overwrite, and goes with a drop.
    table.sql("CREATE OR REPLACE INDEX i ON t USING bitmap (cat)").await;
    assert!(shown().await.contains("target_bytes_per_segment"));
    assert_ne!(record(&table, "i").await, text);
    table.overwrite(half_and_half()).await;
    assert!(shown().await.contains("target_bytes_per_segment"));
    table.sql("DROP INDEX i ON t; CREATE INDEX i ON t (id)").await;
    assert!(!shown().await.contains("SET"));
    // Of an index without a record, it makes one.
    create(&table, "j", "id", IndexType::ZoneMap, "{\"rows_per_zone\": 8}").await;
    table.sql("ALTER TABLE t ALTER INDEX j SET (target_rows_per_segment = 10)").await;
    assert_eq!(source(&table, "j").await, "v2");
    table.sql(&format!("{alter} SET (target_rows_per_segment = 10)")).await;
    table.sql(&format!("{alter} RESET (target_rows_per_segment, merge_factor)")).await;
    assert!(!table.open().await.metadata().contains_key("lance_index.policy/i"));
}

/// A parameter that a statement leaves out counts as much as one that it has.
#[tokio::test]
async fn an_index_that_is_replaced_by_one_with_fewer_parameters() {
    let table = Table::new(&[half_and_half()], false).await;
    let config = async || listed(&table, "i").await.unwrap()[2].clone();
    let replace = "CREATE OR REPLACE INDEX i ON t USING fts (txt)";
    table.sql(replace).await;
    let plain = record(&table, "i").await;
    table.sql(&format!("{replace} WITH (lance_tokenizer = 'text')")).await;
    assert_eq!(config().await, "{\"lance_tokenizer\":\"text\"}");
    assert_ne!(record(&table, "i").await, plain);
    table.sql(replace).await;
    assert_eq!(config().await, "{}");
}

/// What follows from the column is no parameter: it isn't recorded.
#[tokio::test]
async fn a_full_text_index_of_another_client_keeps_its_config() {
    let table = Table::new(&[half_and_half()], false).await;
    create(&table, "i", "txt", IndexType::Inverted, "{\"stem\": false}").await;
    let before = listed(&table, "i").await.unwrap();
    let shown = table.print("SHOW CREATE INDEX i ON t").await;
    assert!(shown.contains("USING fts (txt) WITH (stem = false)"), "{shown}");
    table.append(letters(100..110, |_| "C")).await;
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    let after = listed(&table, "i").await.unwrap();
    assert_eq!((&after[2], after[3].as_str()), (&before[2], "v2"));
}
