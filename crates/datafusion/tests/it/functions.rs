//! The table functions, in sessions that can't be given our statements.

use std::{collections::HashMap, sync::Arc};

use arrow::{
    array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray},
    datatypes::{DataType, Field, Schema},
    util::pretty::pretty_format_batches,
};
use datafusion::{
    physical_plan::{collect, displayable},
    prelude::{SessionConfig, SessionContext},
};
use datafusion_lance_index::{functions, session::SessionContextExt, table::LanceTable};

use crate::support::{Table, config, half_and_half, letters, nullable};

/// A stock session that was given the functions and a table, and nothing else.
async fn stock(table: &Table, config: SessionConfig) -> SessionContext {
    let session = SessionContext::new_with_config(config);
    for function in functions::table_functions() {
        session.register_udtf(function.name(), function.function().clone());
    }
    let opened = LanceTable::open(&table.uri, HashMap::new()).await.unwrap();
    session.register_table("t", Arc::new(opened)).unwrap();
    session
}

async fn try_sql(session: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>, String> {
    let collected = match session.sql(sql).await {
        Ok(frame) => frame.collect().await,
        Err(error) => Err(error),
    };
    collected.map_err(|error| error.strip_backtrace())
}

async fn sql(session: &SessionContext, sql: &str) -> Vec<RecordBatch> {
    try_sql(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

async fn print(session: &SessionContext, text: &str) -> String {
    pretty_format_batches(&sql(session, text).await).unwrap().to_string()
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

/// Each time it acts, it commits once.
const ACT: &str = "lance_create_index('t', 'i', 'id', 'or_replace=true')";

/// How often the query acts, and how many rows it answers.
async fn acts(table: &Table, session: &SessionContext, query: &str) -> (u64, usize) {
    let before = table.version().await;
    let found = sql(session, &query.replace("{f}", ACT)).await;
    (table.version().await - before, rows(&found))
}

#[tokio::test]
async fn each_function_is_its_statement() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = stock(&table, config()).await;
    let created = print(&session, "SELECT * FROM lance_create_index('t', 'i', 'id')").await;
    assert_eq!(
        created,
        "+------------+-------------------+----------------+---------+\n\
         | index_name | fragments_indexed | segments_added | version |\n\
         +------------+-------------------+----------------+---------+\n\
         | i          | 1                 | 1              | 3       |\n\
         +------------+-------------------+----------------+---------+"
    );
    sql(&session, "SELECT * FROM lance_create_index('t', 'j', 'cat', 'bitmap', 'train=true')")
        .await;
    sql(
        &session,
        "SELECT * FROM lance_create_index('t', 'k', 'cat', 'zonemap', 'rows_per_zone=16')",
    )
    .await;
    table.append(letters(100..120, |_| "A")).await;
    table.append(letters(120..140, |_| "B")).await;
    let refreshed =
        print(&session, "SELECT * FROM lance_refresh_index('t', 'i', 'num_segments=2')").await;
    assert_eq!(
        refreshed,
        "+------------+-------------------+----------------+--------------------+---------+\n\
         | index_name | fragments_indexed | segments_added | segments_rewritten | version |\n\
         +------------+-------------------+----------------+--------------------+---------+\n\
         | i          | 2                 | 2              | 0                  | 10      |\n\
         +------------+-------------------+----------------+--------------------+---------+"
    );
    let others = sql(&session, "SELECT * FROM lance_refresh_indexes('t', 'num_segments=1')").await;
    assert_eq!(rows(&others), 3);
    for index in ["i", "j", "k"] {
        let covered: usize = table.segments(index).await.iter().map(Vec::len).sum();
        assert_eq!(covered, 3, "{index}");
    }
    for (function, statement) in [
        ("lance_indexes('t')", "SHOW INDEXES IN t"),
        ("lance_index_segments('t')", "SHOW INDEX SEGMENTS IN t"),
        ("lance_index_segments('t', 'i')", "SHOW INDEX SEGMENTS IN t INDEX i"),
        ("lance_show_create_index('t', 'k')", "SHOW CREATE INDEX k ON t"),
    ] {
        let listed = print(&session, &format!("SELECT * FROM {function}")).await;
        assert_eq!(listed, table.print(statement).await);
    }
    let options = "'target_rows_per_segment=10, merge_factor=4', 'target_bytes_per_segment=20'";
    let set = format!("SELECT * FROM lance_alter_index_set('t', 'k', {options})");
    assert!(print(&session, &set).await.contains("| k          | 13 "));
    let reset = "SELECT * FROM lance_alter_index_reset('t', 'k', 'merge_factor', \
                 'target_bytes_per_segment')";
    assert!(print(&session, reset).await.contains("| k          | 14 "));
    let shown = table.print("SHOW CREATE INDEX k ON t").await;
    assert!(shown.contains("SET (target_rows_per_segment = 10) "), "{shown}");
    let ready = "SELECT name FROM lance_indexes('t') WHERE state = 'ready' ORDER BY name DESC";
    assert!(print(&session, ready).await.ends_with("| k    |\n| j    |\n| i    |\n+------+"));
    let dropped = print(&session, "SELECT * FROM lance_drop_index('t', 'k')").await;
    assert!(dropped.contains("| k          | 2                | "), "{dropped}");
    let none = "SELECT segments_removed FROM lance_drop_index('t', 'k', 'if_exists=true')";
    assert!(print(&session, none).await.contains("| 0 "));
    assert_eq!(table.oracle("i", "id BETWEEN 90 AND 130").await, 41);
}

#[tokio::test]
async fn names_are_written_as_in_sql() {
    let lang: ArrayRef = Arc::new(StringArray::from(vec!["de", "en", "de"]));
    let field = Arc::new(Field::new("lang", DataType::Utf8, true));
    let batch = nullable(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("meta", Arc::new(StructArray::from(vec![(field, lang)]))),
        ("my-column", Arc::new(Int64Array::from(vec![1, 2, 3]))),
    ]);
    let table = Table::new(&[batch], false).await;
    let session = stock(&table, config()).await;
    let opened = LanceTable::open(&table.uri, HashMap::new()).await.unwrap();
    session.register_table("\"My T\"", Arc::new(opened)).unwrap();
    for (call, index) in [
        ("lance_create_index('datafusion.public.t', 'Id_Idx', 'ID')", "id_idx"),
        ("lance_create_index('public.\"My T\"', '\"Id_Idx\"', '\"id\"')", "Id_Idx"),
        ("lance_create_index('My T', 'my-index', 'my-column')", "my-index"),
        ("lance_create_index('t', 'a.b', 'meta.lang', '''Bitmap''')", "a.b"),
    ] {
        sql(&session, &format!("SELECT * FROM {call}")).await;
        assert_eq!(table.segments(index).await, [[0]], "{call}");
    }
    // The only name that differs just in case; and the exact one.
    sql(&session, "SELECT * FROM lance_drop_index('t', 'MY-INDEX', 'if_exists=true')").await;
    assert_eq!(table.segments("my-index").await.len(), 1);
    sql(&session, "SELECT * FROM lance_drop_index('t', 'my-index')").await;
    assert_eq!(table.segments("my-index").await.len(), 0);
    // Constants are strings too.
    sql(&session, "SELECT * FROM lance_drop_index(lower('T'), concat('ID_', 'Idx'))").await;
    assert_eq!(table.segments("id_idx").await.len(), 0);
}

#[tokio::test]
async fn wrong_calls() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = stock(&table, config()).await;
    sql(&session, "SELECT * FROM lance_create_index('t', 'i', 'id')").await;
    sql(&session, "CREATE TABLE m AS SELECT 1 AS id").await;
    let version = table.version().await;
    for (call, wrong) in [
        (
            "lance_refresh_index('t')",
            "lance_refresh_index: the name of an index is missing; write \
             lance_refresh_index('table', 'index' [, 'option=value', ...]), or \
             lance_refresh_indexes('table' [, 'option=value', ...]) for all indexes of the table",
        ),
        ("lance_indexes()", "lance_indexes: the name of a table is missing; write"),
        ("lance_indexes('')", "lance_indexes: argument 1, the name of a table, is empty; write"),
        ("lance_indexes('t', 'i')", "lance_indexes: argument 2, 'i', is one too many; write"),
        ("lance_indexes(5)", "lance_indexes: argument 1 is 5 and not a string; write"),
        ("lance_indexes(NULL)", "lance_indexes: argument 1 is NULL and not a string; write"),
        ("lance_indexes('a.b.c.d')", "lance_indexes: the name of a table has at most three parts"),
        ("lance_indexes('none')", "lance_indexes: there is no table 'none'"),
        ("lance_indexes('m')", "lance_indexes: table 'm' is not a Lance table"),
        (
            "lance_refresh_index('t', 'i', 'num_segments')",
            "lance_refresh_index: argument 3, 'num_segments', is no option: Expected: '=', found: EOF",
        ),
        (
            "lance_refresh_index('t', 'i', 'num_segments=2', 'num_segments=3')",
            "lance_refresh_index: Option `num_segments` is given more than once; write",
        ),
        (
            "lance_refresh_index('t', 'i', 'num_segment=2')",
            "lance_refresh_index: REFRESH of a btree index has no option 'num_segment' \
             (did you mean num_segments? the options are num_segments, zone_size)",
        ),
        (
            "lance_refresh_index('t', 'i', 'num_segments=0')",
            "lance_refresh_index: option 'num_segments' can't be 0 (it takes a whole number from 1",
        ),
        (
            "lance_refresh_index('t', 'j')",
            "lance_refresh_index: there is no index 'j' on table t (there is: i)",
        ),
        ("lance_create_index('t', 'i', 'id')", "lance_create_index: index 'i' already exists"),
        ("lance_create_index('t', 'j', 'it')", "lance_create_index: there is no column 'it'"),
        (
            "lance_create_index('t', 'j', 'id', 'gin')",
            "lance_create_index: there is no index method 'gin'",
        ),
        (
            "lance_create_index('t', 'j', 'id', 'method=btree')",
            "lance_create_index: `method` is a part of the statement and not an option; write \
             lance_create_index('table', 'index', 'column' [, 'method'] [, 'option=value', ...])",
        ),
        (
            "lance_create_index('t', 'i', 'id', 'or_replace=1')",
            "lance_create_index: 'or_replace' takes true or false, not 1",
        ),
        (
            "lance_create_index('t', 'i', 'id', 'or_replace=true, if_not_exists=true')",
            "lance_create_index: OR REPLACE and IF NOT EXISTS exclude each other",
        ),
        (
            "lance_drop_index('t', 'i', 'cascade=true')",
            "lance_drop_index: there is no option 'cascade'; write",
        ),
    ] {
        let error = try_sql(&session, &format!("SELECT * FROM {call}")).await.unwrap_err();
        assert!(error.contains(wrong), "{call}: {error}");
        assert!(!error.contains("Line:"), "{call}: {error}");
    }
    assert_eq!(table.version().await, version);
}

#[tokio::test]
async fn a_query_acts_once() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    const CTE: &str = "WITH c AS (SELECT * FROM {f})";
    for partitions in [1, 4] {
        let config = SessionConfig::new().with_target_partitions(partitions);
        let session = stock(&table, config).await;
        for (query, answered) in [
            ("SELECT * FROM {f}", 1),
            ("SELECT * FROM {f} LIMIT 1", 1),
            ("SELECT * FROM {f} LIMIT 1 OFFSET 1", 0),
            ("SELECT * FROM {f} ORDER BY version", 1),
            ("SELECT * FROM {f} ORDER BY version DESC LIMIT 1", 1),
            ("SELECT * FROM {f} WHERE segments_added > 100", 0),
            ("SELECT * FROM {f} WHERE index_name = 'i'", 1),
            ("SELECT count(*) FROM {f}", 1),
            ("SELECT max(version), count(*) FROM {f} GROUP BY index_name", 1),
            ("SELECT DISTINCT version FROM {f}", 1),
            ("SELECT version FROM {f}", 1),
            ("SELECT version, index_name, version + 1 FROM {f}", 1),
            ("SELECT 1 FROM {f}", 1),
            ("SELECT rank() OVER (ORDER BY version) FROM {f}", 1),
            // Hash joins, of either side.
            ("SELECT * FROM t JOIN {f} ON id = segments_added", 1),
            ("SELECT * FROM {f} JOIN t ON id = segments_added", 1),
            ("SELECT * FROM t LEFT JOIN {f} ON id = segments_added", 100),
            ("SELECT * FROM {f} LEFT JOIN t ON id = segments_added", 1),
            ("SELECT * FROM t FULL JOIN {f} ON id = -segments_added", 101),
            // Cross joins and nested loops, of either side.
            ("SELECT * FROM t, {f}", 100),
            ("SELECT * FROM {f}, t", 100),
            ("SELECT * FROM t JOIN {f} ON id < segments_added", 1),
            ("SELECT * FROM {f} JOIN t ON id < segments_added", 1),
            ("SELECT * FROM {f} RIGHT JOIN t ON id < segments_added", 100),
            // Subqueries.
            ("SELECT * FROM (SELECT version AS v FROM {f}) WHERE v > 0", 1),
            ("SELECT * FROM t WHERE id IN (SELECT segments_added FROM {f})", 1),
            ("SELECT * FROM t WHERE id NOT IN (SELECT segments_added FROM {f})", 99),
            ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM {f})", 100),
            ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM {f} WHERE segments_added = id)", 1),
            ("SELECT * FROM t WHERE id = (SELECT segments_added FROM {f})", 1),
            ("SELECT id, (SELECT version FROM {f}) FROM t", 100),
            // Several times in the plan.
            ("{c} SELECT * FROM c a JOIN c b ON a.version = b.version", 1),
            ("{c} SELECT * FROM c a, c b", 1),
            ("{c} SELECT * FROM c a JOIN c b ON a.version <= b.version", 1),
            ("{c} SELECT * FROM c UNION ALL SELECT * FROM c", 2),
            ("{c} SELECT * FROM c UNION SELECT * FROM c", 1),
            ("{c} SELECT * FROM c EXCEPT SELECT * FROM c", 0),
            ("{c} SELECT * FROM (SELECT * FROM c UNION ALL SELECT * FROM c) LIMIT 1", 1),
            ("{c} SELECT version FROM c UNION ALL SELECT count(*) FROM c, t", 2),
            (
                "{c} SELECT * FROM t WHERE id = (SELECT segments_added FROM c) \
              AND id IN (SELECT segments_added FROM c)",
                1,
            ),
            (
                "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL \
                 SELECT n + segments_added FROM r, {f} WHERE n < 5) SELECT * FROM r",
                5,
            ),
        ] {
            let query = query.replace("{c}", CTE);
            let done = acts(&table, &session, &query).await;
            assert_eq!(done, (1, answered), "{query}, {partitions} partitions");
        }
        // Two calls are two statements.
        let twice = "SELECT * FROM {f} UNION ALL SELECT * FROM {f}";
        assert_eq!(acts(&table, &session, twice).await, (2, 2));
    }
}

#[tokio::test]
async fn explain_is_a_dry_run() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let session = stock(&table, config()).await;
    for explain in ["", "VERBOSE ", "FORMAT TREE "] {
        let query = format!("EXPLAIN {explain}SELECT * FROM {{f}} LIMIT 1");
        assert_eq!(acts(&table, &session, &query).await.0, 0, "{query}");
    }
    let plan = print(&session, &format!("EXPLAIN SELECT version FROM {ACT}")).await;
    for part in [
        "OnceExec: lance_create_index, MaintainIndex: CREATE OR REPLACE INDEX ON t; \
         Index: i USING btree (id), read version 3; BuildCoverage unit=0 fragments=[0] rows=100",
        "  IndexCommitExec: CREATE OR REPLACE INDEX ON t",
        "    IndexWorkExec: index=i, executor=local, units=[BuildCoverage unit=0",
    ] {
        assert!(plan.contains(part), "{plan}");
    }
    let (acted, _) = acts(&table, &session, "EXPLAIN ANALYZE SELECT * FROM {f}").await;
    assert_eq!(acted, 1);
    let analyzed = format!("EXPLAIN ANALYZE SELECT * FROM {ACT}");
    let analyzed = print(&session, &analyzed).await;
    assert!(analyzed.contains("unit_0_rows=100"), "{analyzed}");
}

#[tokio::test]
async fn a_query_without_need_of_the_rows_does_not_act() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = stock(&table, config()).await;
    for query in [
        "SELECT * FROM {f} LIMIT 0",
        "SELECT * FROM {f} WHERE false",
        "SELECT * FROM t WHERE id IN (SELECT version FROM {f} LIMIT 0)",
    ] {
        assert_eq!(acts(&table, &session, query).await, (0, 0), "{query}");
    }
    // Planned, and begun, but never asked for a row.
    let frame = session.sql(&format!("SELECT * FROM {ACT}")).await.unwrap();
    drop(frame.clone().create_physical_plan().await.unwrap());
    drop(frame.execute_stream().await.unwrap());
    assert_eq!(table.version().await, 1);
}

#[tokio::test]
async fn a_limit_bounds_the_rows_and_not_the_work() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = stock(&table, config()).await;
    for (index, column) in [("a", "id"), ("b", "cat"), ("c", "other")] {
        let create = format!("SELECT * FROM lance_create_index('t', '{index}', '{column}')");
        sql(&session, &create).await;
    }
    table.append(half_and_half()).await;
    let found = sql(&session, "SELECT * FROM lance_refresh_indexes('t') LIMIT 1").await;
    assert_eq!(rows(&found), 1);
    for index in ["a", "b", "c"] {
        assert_eq!(table.segments(index).await, [[0], [1]], "{index}");
    }
}

#[tokio::test]
async fn every_query_acts() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let session = stock(&table, config()).await;
    // A view holds the call; each query of it is another.
    sql(&session, &format!("CREATE VIEW v AS SELECT * FROM {ACT}")).await;
    assert_eq!(table.version().await, 3);
    for query in [
        "SELECT * FROM v",
        "SELECT * FROM v",
        "SELECT count(*) FROM v",
        "SELECT * FROM v a JOIN v b ON a.version = b.version",
        "SELECT * FROM v UNION ALL SELECT * FROM v",
    ] {
        assert_eq!(acts(&table, &session, query).await.0, 1, "{query}");
    }
    assert_eq!(acts(&table, &session, "EXPLAIN SELECT * FROM v").await.0, 0);

    // As an INSERT does.
    let frame = session.sql(&format!("SELECT * FROM {ACT}")).await.unwrap();
    let before = table.version().await;
    let (first, second) = tokio::join!(frame.clone().collect(), frame.clone().collect());
    assert_eq!((rows(&first.unwrap()), rows(&second.unwrap())), (1, 1));
    frame.clone().collect().await.unwrap();
    assert_eq!(table.version().await - before, 3);

    // One plan, executed for two queries.
    let plan = frame.create_physical_plan().await.unwrap();
    for _ in 0..2 {
        collect(plan.clone(), session.task_ctx()).await.unwrap();
    }
    assert_eq!(table.version().await - before, 5);

    let prepared = format!("PREPARE p AS SELECT * FROM {ACT}");
    sql(&session, &prepared).await;
    assert_eq!(acts(&table, &session, "EXECUTE p").await, (1, 1));
    assert_eq!(acts(&table, &session, "EXECUTE p").await, (1, 1));
    let create = "CREATE TABLE done AS SELECT * FROM {f}";
    assert_eq!(acts(&table, &session, create).await.0, 1);
    assert_eq!(rows(&sql(&session, "SELECT * FROM done").await), 1);
}

#[tokio::test]
async fn an_error_is_every_readers() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = stock(&table, config()).await;
    sql(&session, "SELECT * FROM lance_create_index('t', 'i', 'id')").await;
    let twice = "WITH c AS (SELECT * FROM lance_drop_index('t', 'i')) \
                 SELECT * FROM c UNION ALL SELECT * FROM c";
    let plan = session.sql(twice).await.unwrap().create_physical_plan().await.unwrap();
    assert_eq!(displayable(plan.as_ref()).indent(false).to_string().matches("OnceExec").count(), 2);
    table.sql("DROP INDEX i ON t").await;
    let error = collect(plan, session.task_ctx()).await.unwrap_err().strip_backtrace();
    assert!(error.contains("there is no index 'i' any more"), "{error}");
}

#[tokio::test]
async fn a_session_that_is_there_already() {
    let table = Table::new(&[half_and_half()], false).await;
    let session = SessionContext::new_with_config(config().with_information_schema(true));
    sql(&session, "CREATE TABLE before AS SELECT 1 AS one").await;
    sql(&session, "SET datafusion.execution.batch_size = 7").await;
    let (id, catalog) =
        (session.session_id(), "datafusion.catalog.create_default_catalog_and_schema");
    let shown = print(&session, &format!("SHOW {catalog}")).await;
    let clone = session.clone();
    session.register_lance_index();
    session.register_lance_index();

    assert_eq!(session.session_id(), id);
    assert_eq!(session.task_ctx().session_id(), id);
    assert_eq!(print(&session, &format!("SHOW {catalog}")).await, shown);
    assert_eq!(session.task_ctx().session_config().batch_size(), 7);
    assert_eq!(rows(&sql(&session, "SELECT * FROM before").await), 1);
    sql(&session, "SET lance_index.max_attempts = 2").await;
    let external = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{}'", table.uri);
    // Clones are the same session.
    sql(&clone, &external).await;
    sql(&session, "SELECT * FROM lance_create_index('t', 'i', 'id')").await;
    session.lance_sql("DROP INDEX i ON t").await.unwrap().collect().await.unwrap();
    assert_eq!(table.segments("i").await.len(), 0);
    sql(&session, "CREATE VIEW v AS SELECT * FROM t WHERE id < 10").await;
    assert_eq!(rows(&sql(&session, "SELECT * FROM v").await), 10);
}

#[tokio::test]
async fn functions_of_json_columns() {
    let json = [("ARROW:extension:name".to_string(), "arrow.json".to_string())];
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("doc", DataType::Utf8, true).with_metadata(HashMap::from(json)),
    ]);
    let docs = [r#"{"a": "x", "n": 1}"#, r#"{"a": "y", "n": 2, "l": [1, 2]}"#];
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from(vec![1, 2])), Arc::new(StringArray::from(docs.to_vec()))];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let table = Table::new(&[batch], false).await;
    for (query, answer) in [
        ("SELECT id FROM t WHERE json_get_string(doc, 'a') = 'y'", "| 2  |"),
        ("SELECT id FROM t WHERE json_get_int(doc, 'n') < 2", "| 1  |"),
        ("SELECT id FROM t WHERE json_exists(doc, '$.l')", "| 2  |"),
        ("SELECT id FROM t WHERE json_array_length(doc, '$.l') = 2", "| 2  |"),
        ("SELECT json_get_string(doc, 'a') AS a FROM t WHERE id = 1", "| x |"),
        ("SELECT json_extract(doc, '$.a') AS a FROM t WHERE id = 1", "| \"x\" |"),
    ] {
        let found = table.print(query).await;
        assert!(found.contains(answer), "{query}: {found}");
    }
}
