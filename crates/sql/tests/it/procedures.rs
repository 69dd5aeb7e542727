use datafusion_sql::sqlparser::ast::Statement;
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::parser::Parser;
use lance_index_sql::IndexStatement;

use crate::{error, parse};

/// What the stock dialect reads.
fn stock(text: &str) -> Statement {
    let mut statements = Parser::parse_sql(&GenericDialect, text).unwrap();
    assert_eq!(statements.len(), 1);
    statements.remove(0)
}

#[test]
fn a_call_is_the_statement() {
    for (call, statement) in [
        (
            "CALL lance_index.create_index(table => s.t, index => i, method => 'btree', \
             column => a.b, or_replace => true, if_not_exists => true, zone_size => 8)",
            "CREATE OR REPLACE INDEX IF NOT EXISTS i ON s.t USING btree (a.b) WITH (zone_size = 8)",
        ),
        (
            "CALL lance_index.refresh_index(table => t, index => i, num_segments => 8)",
            "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 8)",
        ),
        ("CALL lance_index.refresh_indexes(table => t)", "ALTER TABLE t REFRESH INDEXES"),
        (
            "CALL lance_index.optimize_index(table => t, index => i, merge_factor => -1)",
            "ALTER TABLE t OPTIMIZE INDEX i WITH (merge_factor = -1)",
        ),
        (
            "CALL lance_index.optimize_indexes(table => t, retrain => true)",
            "ALTER TABLE t OPTIMIZE INDEXES WITH (retrain = true)",
        ),
        (
            "CALL lance_index.drop_index(table => t, index => i, if_exists => true)",
            "DROP INDEX IF EXISTS i ON t",
        ),
        ("CALL lance_index.show_indexes(table => t)", "SHOW INDEXES FROM t"),
        ("CALL lance_index.show_index_segments(table => t)", "SHOW INDEX SEGMENTS FROM t"),
        (
            "CALL lance_index.show_index_segments(table => t, index => i)",
            "SHOW INDEX SEGMENTS FROM t INDEX i",
        ),
        (
            "CALL lance_index.show_create_index(table => t, index => \"I\")",
            "SHOW CREATE INDEX \"I\" ON t",
        ),
        (
            "CALL lance_index.alter_index_set(table => t, index => i, a => 1, b => simple)",
            "ALTER TABLE t ALTER INDEX i SET (a = 1, b = simple)",
        ),
        (
            "CALL lance_index.alter_index_reset(table => t, index => i, a, b)",
            "ALTER TABLE t ALTER INDEX i RESET (a, b)",
        ),
        (
            "CALL lance_index.optimize_table(table => t, target_rows_per_fragment => 5)",
            "OPTIMIZE TABLE t WITH (target_rows_per_fragment = 5)",
        ),
        (
            "CALL lance_index.vacuum_table(table => t, older_than => '7 days')",
            "VACUUM TABLE t WITH (older_than = '7 days')",
        ),
    ] {
        let expected = parse(statement);
        assert_eq!(parse(call), expected, "{call}");
        let found = IndexStatement::from_sqlparser(&stock(call)).unwrap();
        assert_eq!(found.as_ref(), Some(&expected), "{call}");
        let again = IndexStatement::from_sqlparser(&expected.to_sqlparser()).unwrap();
        assert_eq!(again, Some(expected), "{call}");
    }
}

#[test]
fn names_of_a_call() {
    let expected = parse("ALTER TABLE t REFRESH INDEX \"I\"");
    for call in [
        "CALL LANCE_INDEX.Refresh_Index(table => t, index => 'I')",
        "CALL lance_index.refresh_index(INDEX => 'I', Table => t)",
    ] {
        assert_eq!(parse(call), expected, "{call}");
    }
}

#[test]
fn wrong_calls() {
    for (call, expected) in [
        (
            "CALL lance_index.refresh_indx(table => t)",
            "There is no procedure lance_index.refresh_indx (did you mean \
             lance_index.refresh_index?) at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.refresh_index",
            "lance_index.refresh_index needs the argument `table` at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.refresh_index(table => t)",
            "lance_index.refresh_index needs the argument `index` at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.refresh_index(t, i)",
            "lance_index.refresh_index needs the argument `table` at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.refresh_indexes(t, table => u)",
            "lance_index.refresh_indexes takes arguments by name (write `name => value`) \
             at Line: 1, Column: 34",
        ),
        (
            "CALL lance_index.refresh_index(table => t, index => i, INDEX => j)",
            "Argument `INDEX` is given more than once at Line: 1, Column: 56",
        ),
        (
            "CALL lance_index.refresh_index(table => t, index => 5)",
            "Argument `index`: expected the name of an index, found: 5 at Line: 1, Column: 53",
        ),
        (
            "CALL lance_index.refresh_index(table => a.b.c.d, index => i)",
            "Argument `table`: expected the name of a table, found: a.b.c.d at Line: 1, Column: 41",
        ),
        (
            "CALL lance_index.refresh_index(table => t, index => i, method => btree)",
            "`method` is a part of the statement and not an option at Line: 1, Column: 56",
        ),
        (
            "CALL lance_index.refresh_index(table => t, index => i, a => 1 + 1)",
            "Expected: a number, a string, a word, TRUE, FALSE or NULL, found: 1 + 1 \
             at Line: 1, Column: 61",
        ),
        (
            "CALL lance_index.drop_index(table => t, index => i, if_exists => 1)",
            "Argument `if_exists`: expected TRUE or FALSE, found: 1 at Line: 1, Column: 66",
        ),
        (
            "CALL lance_index.drop_index(table => t, index => i, cascade => true)",
            "lance_index.drop_index has no argument `cascade` at Line: 1, Column: 53",
        ),
        (
            "CALL lance_index.alter_index_set(table => t, index => i)",
            "lance_index.alter_index_set needs an option: `option => value` at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.alter_index_reset(table => t, index => i)",
            "lance_index.alter_index_reset needs the name of an option at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.alter_index_reset(table => t, index => i, a, 1)",
            "Expected: the name of an option, found: 1 at Line: 1, Column: 63",
        ),
        (
            "CALL lance_index.show_indexes(*)",
            "lance_index.show_indexes takes arguments by name (write `name => value`) \
             at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.show_indexes(DISTINCT table => t)",
            "lance_index.show_indexes takes arguments by name (write `name => value`) \
             at Line: 1, Column: 18",
        ),
        (
            "CALL lance_index.show_indexes(table => t) OVER ()",
            "lance_index.show_indexes takes arguments by name (write `name => value`) \
             at Line: 1, Column: 18",
        ),
    ] {
        assert_eq!(error(call), expected, "{call}");
    }
    assert!(error("CALL lance_index.vacuum()").contains("there are: create_index, "));
}
