use std::any::TypeId;
use std::process::Command;

use datafusion_sql::parser::DFParser;
use datafusion_sql::sqlparser::ast::Statement;
use datafusion_sql::sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, dialect_from_str};
use datafusion_sql::sqlparser::parser::Parser;
use lance_index_sql::{IndexStatement, LanceIndexDialect, ParsedStatement, StatementParser};

use crate::{BASES, parse};

fn sqlparser(text: &str) -> Result<Statement, String> {
    let statements = Parser::parse_sql(&LanceIndexDialect::default(), text);
    let mut statements = statements.map_err(|e| e.to_string())?;
    assert_eq!(statements.len(), 1, "{text}");
    Ok(statements.remove(0))
}

/// The package's directory, in a registry or vendored.
fn is_sqlparser(directory: &str) -> bool {
    let name = directory.rsplit('/').next();
    name.is_some_and(|name| name == "sqlparser" || name.starts_with("sqlparser-"))
}

/// A method that isn't forwarded has its default, whatever the base says.
#[test]
fn every_method_is_forwarded() {
    let cargo = |arguments: &[&str]| {
        let output = Command::new(std::env::var("CARGO").unwrap())
            .args(arguments)
            .current_dir(std::env::var("CARGO_MANIFEST_DIR").unwrap())
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    // Without the packages of other platforms, which may not be here.
    let platform = format!("--filter-platform={}", host.unwrap());
    let metadata = cargo(&["metadata", "--format-version=1", "--offline", "--locked", &platform]);
    let source = metadata
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split('"').next())
        .find_map(|path| path.strip_suffix("/Cargo.toml").filter(|path| is_sqlparser(path)))
        .map(|package| format!("{package}/src/dialect/mod.rs"))
        .unwrap();
    let source = std::fs::read_to_string(source).unwrap();
    let methods = source
        .split("pub trait Dialect: Debug + Any {")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .unwrap();
    let methods: Vec<_> = methods
        .lines()
        .filter_map(|line| line.strip_prefix("    fn ")?.split('(').next())
        .collect();
    assert!(methods.len() > 150, "{methods:?}");

    let wrapper = include_str!("../../src/dialect.rs");
    let (_, wrapper) = wrapper.split_once("impl Dialect for LanceIndexDialect").unwrap();
    let words: Vec<_> = wrapper.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for method in methods {
        assert!(words.contains(&method), "{method} isn't forwarded");
    }
}

#[test]
fn it_passes_for_its_base() {
    let generic: &dyn Dialect = &LanceIndexDialect::default();
    assert!(generic.is::<GenericDialect>());
    let mysql: &dyn Dialect = &LanceIndexDialect::new(Box::new(MySqlDialect {}));
    assert!(mysql.is::<MySqlDialect>());
    assert_eq!(mysql.dialect(), TypeId::of::<MySqlDialect>());
    assert_eq!(mysql.identifier_quote_style("x"), Some('`'));
    assert!(!mysql.is_delimited_identifier_start('"'));
}

#[test]
fn ours_are_calls_where_sqlparser_has_no_node() {
    for (text, call) in [
        (
            "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 8)",
            "CALL lance_index.refresh_index(table => t, index => i, num_segments => 8)",
        ),
        (
            "ALTER TABLE t OPTIMIZE INDEXES WITH (a = -1, b = x, \"c d\" = NULL)",
            "CALL lance_index.optimize_indexes(table => t, a => -1, b => 'x', \"c d\" => NULL)",
        ),
        (
            "CREATE OR REPLACE INDEX i ON s.t USING BTREE (a.\"B\") WITH (train = false)",
            "CALL lance_index.create_index(table => s.t, index => i, method => 'BTREE', \
             column => a.\"B\", or_replace => true, train => false)",
        ),
        (
            "ALTER TABLE t CREATE INDEX IF NOT EXISTS i (a)",
            "CALL lance_index.create_index(table => t, index => i, column => a, \
             if_not_exists => true)",
        ),
        (
            "ALTER TABLE t DROP INDEX IF EXISTS i",
            "CALL lance_index.drop_index(table => t, index => i, if_exists => true)",
        ),
        ("SHOW INDEXES FROM t", "CALL lance_index.show_indexes(table => t)"),
        (
            "SHOW INDEX SEGMENTS FROM t INDEX i",
            "CALL lance_index.show_index_segments(table => t, index => i)",
        ),
        ("SHOW CREATE INDEX i ON t", "CALL lance_index.show_create_index(table => t, index => i)"),
        (
            "ALTER TABLE t ALTER INDEX i SET (a = 1)",
            "CALL lance_index.alter_index_set(table => t, index => i, a => 1)",
        ),
        (
            "ALTER TABLE t ALTER INDEX i RESET (a, b)",
            "CALL lance_index.alter_index_reset(table => t, index => i, a, b)",
        ),
        ("OPTIMIZE TABLE t", "CALL lance_index.optimize_table(table => t)"),
        ("VACUUM TABLE t", "CALL lance_index.vacuum_table(table => t)"),
    ] {
        let statement = sqlparser(text).unwrap();
        assert_eq!(statement.to_string(), call);
        let ours = IndexStatement::from_sqlparser(&statement).unwrap();
        assert_eq!(ours, Some(parse(text)), "{text}");
    }
}

#[test]
fn ours_are_sqlparsers_where_it_has_a_node() {
    for text in [
        "CREATE INDEX i ON t (a)",
        "CREATE INDEX IF NOT EXISTS i ON c.s.t USING zonemap (a.b) \
         WITH (rows_per_zone = 8, b = -1, c = x, d = 'y', e = true, f = NULL, \"g h\" = +1.5)",
        "CREATE INDEX i ON t USING BTREE (\"a.b\")",
        "CREATE INDEX i ON t USING \"btree\" (`a`)",
        "CREATE INDEX i ON t USING 'BTree' (a)",
    ] {
        let statement = sqlparser(text).unwrap();
        assert!(matches!(statement, Statement::CreateIndex(_)), "{text}");
        let ours = IndexStatement::from_sqlparser(&statement).unwrap();
        assert_eq!(ours, Some(parse(text)), "{text}");
    }
    for text in ["DROP INDEX i ON t", "DROP INDEX IF EXISTS \"I\" ON c.s.t"] {
        let statement = sqlparser(text).unwrap();
        assert!(matches!(statement, Statement::Drop { .. }), "{text}");
        let ours = IndexStatement::from_sqlparser(&statement).unwrap();
        assert_eq!(ours, Some(parse(text)), "{text}");
    }
}

/// sqlparser's nodes hold more than our grammar has: all of it is an error.
#[test]
fn nodes_with_clauses_of_other_databases() {
    for (text, expected) in [
        ("CREATE INDEX ON t (a)", "needs the name of an index"),
        ("CREATE INDEX s.i ON t (a)", "`s.i` isn't the name of an index"),
        ("CREATE INDEX i ON a.b.c.d (a)", "`a.b.c.d` isn't the name of a table"),
        ("CREATE INDEX i ON t (a, b)", "has one column"),
        ("CREATE INDEX i ON t (lower(a))", "support an expression"),
        ("CREATE INDEX i ON t (a DESC)", "support an order of the column"),
        ("CREATE INDEX i ON t (a ASC)", "support an order of the column"),
        ("CREATE INDEX i ON t (a NULLS LAST)", "support an order of the column"),
        ("CREATE INDEX i ON t (a text_ops)", "support an operator class"),
        ("CREATE UNIQUE INDEX i ON t (a)", "support UNIQUE"),
        ("CREATE INDEX CONCURRENTLY i ON t (a)", "support CONCURRENTLY"),
        ("CREATE INDEX i ON t (a) INCLUDE (b)", "support INCLUDE"),
        ("CREATE INDEX i ON t (a) NULLS NOT DISTINCT", "support NULLS DISTINCT"),
        ("CREATE INDEX i ON t (a) WHERE a > 1", "support WHERE"),
        ("CREATE INDEX i ON t (a) USING BTREE", "support a clause after the options"),
        ("CREATE INDEX i ON t (a) WITH (x)", "Expected: option = value, found: x"),
        ("CREATE INDEX i ON t (a) WITH (x > 1)", "Expected: option = value, found: x > 1"),
        ("CREATE INDEX i ON t (a) WITH (x.y = 1)", "Expected: the name of an option, found: x.y"),
        ("CREATE INDEX i ON t (a) WITH (x = f(1))", "found: f(1)"),
        ("CREATE INDEX i ON t (a) WITH (x = NOT 1)", "found: NOT 1"),
        ("CREATE INDEX i ON t (a) WITH (x = -y)", "found: -y"),
        ("CREATE INDEX i ON t (a) WITH (x = 1, X = 2)", "Option `x` is given more than once"),
        ("CREATE INDEX i ON t (a) WITH (table = 2)", "`table` is a part of the statement"),
        ("DROP INDEX i", "needs the name of one index and of its table (write `DROP INDEX i ON t`"),
        ("DROP INDEX i, j", "needs the name of one index"),
        ("DROP INDEX a.b ON t", "`a.b` isn't the name of an index"),
        ("DROP INDEX i CASCADE ON t", "doesn't support CASCADE"),
    ] {
        let statement = sqlparser(text).unwrap();
        let error = IndexStatement::from_sqlparser(&statement).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.contains(" at Line: 1, Column: "), "{text}: {error}");
    }
}

#[test]
fn other_statements_are_not_ours() {
    for text in
        ["SELECT 1", "DROP TABLE t", "CALL foo()", "ALTER TABLE t RENAME TO u", "CALL a.b()"]
    {
        let statement = sqlparser(text).unwrap();
        assert_eq!(IndexStatement::from_sqlparser(&statement), Ok(None), "{text}");
    }
}

#[test]
fn the_hook_reports_errors_in_place() {
    assert_eq!(
        sqlparser("ALTER TABLE t REFRESH INDEX").unwrap_err(),
        "sql parser error: Expected: the name of an index, found: EOF (write `INDEX i` for one \
         index or `INDEXES` for all of the table) at Line: 1, Column: 28"
    );
}

/// DataFusion's own parser with the dialect, without ours around it.
#[test]
fn datafusions_parser_reads_several_and_explain() {
    let text = "EXPLAIN ANALYZE ALTER TABLE t REFRESH INDEX i; SELECT 1; CREATE INDEX i ON t \
                USING zonemap (a.b) WITH (rows_per_zone = 8); SHOW INDEXES FROM t";
    let statements = DFParser::parse_sql_with_dialect(text, &LanceIndexDialect::default()).unwrap();
    assert_eq!(statements.len(), 4);
    assert_eq!(
        statements[0].to_string(),
        "EXPLAIN ANALYZE CALL lance_index.refresh_index(table => t, index => i)"
    );
}

/// The grammar is the same whatever the session's dialect.
#[test]
fn every_base_dialect() {
    for base in BASES {
        let dialect = LanceIndexDialect::new(dialect_from_str(base).unwrap());
        for text in [
            "CREATE OR REPLACE INDEX i ON s.t USING BTREE (a.b) WITH (zone_size = 8, x = 'y')",
            "CREATE INDEX i ON t (a)",
            "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 8)",
            "ALTER TABLE t OPTIMIZE INDEXES",
            "DROP INDEX i ON t",
            "ALTER TABLE t ALTER INDEX i RESET (a)",
            "SHOW INDEX SEGMENTS FROM t INDEX i",
            "OPTIMIZE TABLE t",
            "VACUUM TABLE t",
        ] {
            let items: Vec<_> = StatementParser::new(text, &dialect).unwrap().collect();
            let [Ok(parsed)] = items.as_slice() else {
                panic!("{base}: {text}: {items:?}");
            };
            assert!(
                matches!(&parsed.statement, ParsedStatement::Index(s) if **s == parse(text)),
                "{base}: {text}"
            );
        }
    }
}
