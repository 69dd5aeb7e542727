//! Indexes of a type that this version doesn't know.

use base64::{Engine, engine::general_purpose::STANDARD};
use datafusion_lance_index::catalog::{IndexV2, RecordedField};
use prost::Message;
use prost_types::{Any, Struct, Value, value::Kind};

use crate::{
    catalog::{listed, record, set_record, state},
    support::{Table, half_and_half},
};

/// Records index `i` of the table as one of type `acme:geo`; answers the record.
async fn record_geo(table: &Table) -> String {
    let cells = Value { kind: Some(Kind::NumberValue(8.0)) };
    let parameters = Struct { fields: [("cells".to_string(), cells)].into() };
    let config = Any {
        type_url: "type.googleapis.com/google.protobuf.Struct".to_string(),
        value: parameters.encode_to_vec(),
    };
    let index = IndexV2 {
        id: vec![7; 16],
        name: "i".to_string(),
        field_ids: vec![0],
        index_type_id: "acme:geo".to_string(),
        index_config: Some(config),
        fields: vec![RecordedField { path: "id".to_string(), data_type: "int64".to_string() }],
        written_on: table.version().await,
        ..Default::default()
    };
    let text = STANDARD.encode(index.encode_to_vec());
    set_record(table, "i", &text).await;
    text
}

/// No statement but DROP changes the table.
async fn check_refused(table: &Table, text: &str) {
    let version = table.version().await;
    for statement in [
        "ALTER TABLE t REFRESH INDEX i",
        "ALTER TABLE t OPTIMIZE INDEX i",
        "ALTER TABLE t OPTIMIZE INDEX i WITH (num_indices_to_merge = 2)",
        "SHOW CREATE INDEX i ON t",
    ] {
        let error = table.error(statement).await;
        assert!(error.contains("of type acme:geo, which this version doesn't know"), "{error}");
    }
    table.sql("ALTER TABLE t REFRESH INDEXES").await;
    table.sql("ALTER TABLE t OPTIMIZE INDEXES").await;
    assert_eq!(table.version().await, version);
    assert_eq!(record(table, "i").await.as_deref(), Some(text));
    table.sql("DROP INDEX i ON t").await;
    assert_eq!(state(table, "i").await, "not there");
}

#[tokio::test]
async fn a_record_alone_is_shown_and_kept() {
    let table = Table::new(&[half_and_half()], false).await;
    let text = record_geo(&table).await;
    let shown = ["unbuilt", "acme:geo", "{\"cells\":8}", "v2"];
    assert_eq!(listed(&table, "i").await.unwrap(), shown);
    check_refused(&table, &text).await;
}

#[tokio::test]
async fn a_record_beside_segments_of_a_known_type_is_shown_and_kept() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let text = record_geo(&table).await;
    let source = "v2 (1 of 1 segments of type lance:btree)";
    let shown = ["unbuilt", "acme:geo", "{\"cells\":8}", source];
    assert_eq!(listed(&table, "i").await.unwrap(), shown);
    check_refused(&table, &text).await;
}
