use datafusion_sql::parser::DFParser;
use datafusion_sql::sqlparser::dialect::dialect_from_str;
use lance_index_sql::{LanceIndexDialect, ParsedStatement};

use crate::{BASES, items};

/// Near ours, or what is easily broken by a wrapper.
const ORDINARY: &[&str] = &[
    "SELECT 1",
    "SELECT a.b, \"c d\", t.* FROM t JOIN u USING (id) WHERE a > 1.5e3 ORDER BY 1 LIMIT 3",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "VALUES (1, 'a'), (2, NULL)",
    "(SELECT 1) UNION ALL SELECT 2",
    "INSERT INTO t (a) VALUES (1)",
    "INSERT OVERWRITE t SELECT * FROM u",
    "DELETE FROM t WHERE a = 1",
    "UPDATE t SET a = 1 WHERE b",
    "CREATE TABLE t (a INT NOT NULL, b TEXT)",
    "CREATE OR REPLACE TABLE t AS SELECT 1",
    "CREATE VIEW v AS SELECT 1",
    "CREATE OR REPLACE VIEW v AS SELECT 1",
    "CREATE SCHEMA s",
    "CREATE FUNCTION f(INT) RETURNS INT RETURN $1 + 1",
    "CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION 'uri' OPTIONS ('a' '1')",
    "CREATE OR REPLACE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'x'",
    "COPY t TO 'x.parquet' STORED AS PARQUET OPTIONS (compression zstd)",
    "DROP TABLE t",
    "DROP TABLE IF EXISTS index",
    "DROP VIEW v",
    "ALTER TABLE t RENAME TO x",
    "ALTER TABLE t ADD COLUMN index INT",
    "ALTER TABLE t DROP COLUMN index",
    "ALTER TABLE t ALTER index SET DEFAULT 1",
    "ALTER TABLE t ALTER index DROP NOT NULL",
    "ALTER TABLE t ALTER COLUMN a TYPE INT",
    "ALTER TABLE refresh ADD COLUMN a INT",
    "SHOW TABLES",
    "SHOW COLUMNS FROM t",
    "SHOW CREATE TABLE t",
    "SHOW index.something",
    "SHOW ALL",
    "SHOW",
    "SHOW datafusion.execution.batch_size",
    "SHOW FUNCTIONS",
    "SET datafusion.execution.batch_size = 1",
    "SET lance_index.max_attempts = 5",
    "RESET datafusion.execution.batch_size",
    "CALL foo()",
    "CALL foo(a => 1)",
    "CALL lance_index()",
    "CALL a.lance_index.b()",
    "OPTIMIZE TABLE t FINAL",
    "OPTIMIZE TABLE t PARTITION p",
    "OPTIMIZE TABLE t ZORDER BY (a)",
    "VACUUM t",
    "VACUUM FULL t",
    "VACUUM table TO 75 PERCENT",
    "ANALYZE TABLE t",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE VERBOSE SELECT 1",
    "EXPLAIN FORMAT tree SELECT 1",
    "EXPLAIN CREATE TABLE t (a INT)",
    "EXPLAIN EXPLAIN SELECT 1",
    "DESCRIBE t",
    "PREPARE p AS SELECT $1",
    "EXECUTE p(1)",
    "BEGIN",
    "COMMIT",
    "USE s",
    "SELECT 1; SELECT 2;; SELECT 3;",
];

#[test]
fn other_statements_are_as_datafusion_reads_them() {
    for text in ORDINARY {
        let expected = DFParser::parse_sql(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let found: Vec<_> = items(text)
            .into_iter()
            .map(|item| match item.unwrap().statement {
                ParsedStatement::Other(statement) => *statement,
                ours => panic!("{text}: {ours:?}"),
            })
            .collect();
        assert_eq!(found, Vec::from(expected), "{text}");
    }
}

#[test]
fn their_errors_are_datafusions() {
    for text in [
        "nonsense",
        "SELECT FROM",
        "SELECT 1 SELECT 2",
        "SELECT 1;\n SELECT 2 3",
        "SELECT 'oops",
        "\"oops",
        "CREATE",
        "CREATE nonsense",
        "CREATE OR REPLACE nonsense",
        "CREATE EXTERNAL TABLE t",
        "CREATE EXTERNAL TABLE t STORED AS x nonsense",
        "DROP nonsense",
        "ALTER TABLE t nonsense",
        "ALTER TABLE t ALTER index SET nonsense",
        "ALTER TABLE",
        "ALTER nonsense",
        "ALTER TABLE 1 REFRESH INDEX i",
        "ALTER TABLE t. REFRESH INDEX i",
        "SHOW CREATE nonsense",
        "EXPLAIN",
        "EXPLAIN nonsense",
        "EXPLAIN FORMAT",
        "EXPLAIN FORMAT 1 SELECT 1",
        "OPTIMIZE t nonsense",
        "OPTIMIZE TABLE",
        "RESET",
        "RESET INDEX;)",
        "COPY t",
        "COPY t TO",
        "CALL foo(",
        "\"ALTER\" TABLE t REFRESH INDEX i",
    ] {
        let expected = DFParser::parse_sql(text).expect_err(text);
        let found = items(text).pop().unwrap().expect_err(text);
        let found = datafusion_common::DataFusionError::from(found);
        assert_eq!(found.to_string(), expected.to_string(), "{text}");
    }
}

/// The hook is asked about every statement, and the rest of the dialect about every token.
#[test]
fn every_base_dialect_is_itself() {
    // What some bases read by themselves and others don't.
    let peculiar = [
        "SELECT [1, 2], {'a': 1}, x -> x + 1",
        "SELECT a FROM t WHERE b = \"c\" AND d = `e`",
        "SELECT 'a\\'b', E'x', \"it\"\"s\", 1_000, $1, @x, :y",
        "FROM t SELECT a",
        "SELECT TOP 3 a FROM t",
        "LIST @stage",
        "REPLACE INTO t VALUES (1)",
        "LOAD DATA INPATH 'x' INTO TABLE t",
        "LISTEN x",
        "COMMENT ON TABLE t IS 'x'",
        "LOCK TABLES t READ",
        "ATTACH DATABASE 'x' AS y",
        "ALTER EXTERNAL TABLE t REFRESH",
        "INSTALL x",
        "SELECT a FROM t # b",
        "/*! SELECT 1 */",
        "GO",
    ];
    for base in BASES {
        let wrapper = LanceIndexDialect::new(dialect_from_str(base).unwrap());
        let base = dialect_from_str(base).unwrap();
        for text in ORDINARY.iter().chain(&peculiar) {
            let parse = |dialect| {
                let statements = DFParser::parse_sql_with_dialect(text, dialect);
                statements.map_err(|error| error.to_string())
            };
            assert_eq!(parse(&wrapper), parse(&*base), "{base:?}: {text}");
        }
    }
}
