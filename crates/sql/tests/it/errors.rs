use datafusion_common::DataFusionError;

use crate::{error, items};

/// Each text, then what is wrong with it.
macro_rules! errors {
    ($($text:literal => $error:literal;)*) => {
        $(assert_eq!(error($text), $error, "{}", $text);)*
    };
}

/// C07
#[test]
fn refresh_says_which_indexes() {
    errors! {
        "ALTER TABLE t REFRESH INDEX" =>
            "Expected: the name of an index, found: EOF (write `INDEX i` for one index or `INDEXES` for all of the table) at Line: 1, Column: 28";
        "ALTER TABLE t REFRESH INDEX; SELECT 1" =>
            "Expected: the name of an index, found: ; (write `INDEX i` for one index or `INDEXES` for all of the table) at Line: 1, Column: 28";
        "ALTER TABLE t REFRESH INDEX WITH (num_segments = 8)" =>
            "Expected: the name of an index, found: WITH (write `INDEX i` for one index or `INDEXES` for all of the table) at Line: 1, Column: 29";
        "ALTER TABLE t\nOPTIMIZE" =>
            "Expected: INDEX or INDEXES, found: EOF (write `INDEX i` for one index or `INDEXES` for all of the table) at Line: 2, Column: 9";
        "ALTER TABLE t OPTIMIZE i" =>
            "Expected: INDEX or INDEXES, found: i (write `INDEX i` for one index or `INDEXES` for all of the table) at Line: 1, Column: 24";
        "ALTER TABLE t REFRESH INDEXES i" =>
            "Expected: end of statement, found: i at Line: 1, Column: 31";
        "REFRESH INDEX" =>
            "REFRESH INDEX is an action on a table (write `ALTER TABLE t REFRESH INDEX i` or `ALTER TABLE t REFRESH INDEXES`) at Line: 1, Column: 1";
        "optimize indexes on t" =>
            "OPTIMIZE INDEXES is an action on a table (write `ALTER TABLE t OPTIMIZE INDEX i` or `ALTER TABLE t OPTIMIZE INDEXES`) at Line: 1, Column: 1";
    }
}

#[test]
fn an_index_has_a_name() {
    errors! {
        "CREATE INDEX ON t (a)" =>
            "Expected: the name of an index, found: ON (an index has no default name, write `CREATE INDEX i ...`) at Line: 1, Column: 14";
        "CREATE INDEX IF NOT EXISTS ON t (a)" =>
            "Expected: the name of an index, found: ON (an index has no default name, write `CREATE INDEX i ...`) at Line: 1, Column: 28";
        "ALTER TABLE t CREATE INDEX (a)" =>
            "Expected: the name of an index, found: ( (an index has no default name, write `CREATE INDEX i ...`) at Line: 1, Column: 28";
        "ALTER TABLE t CREATE INDEX USING btree (a)" =>
            "Expected: the name of an index, found: USING (an index has no default name, write `CREATE INDEX i ...`) at Line: 1, Column: 28";
        "CREATE INDEX s.i ON t (a)" =>
            "Expected: ON, found: . at Line: 1, Column: 15";
        "SHOW CREATE INDEX ON t" =>
            "Expected: the name of an index, found: ON (a word of the grammar must be quoted to be a name) at Line: 1, Column: 19";
        "ALTER TABLE t ALTER INDEX SET (a = 1)" =>
            "Expected: the name of an index, found: SET (a word of the grammar must be quoted to be a name) at Line: 1, Column: 27";
        "ALTER TABLE t DROP INDEX IF EXISTS" =>
            "Expected: the name of an index, found: EOF at Line: 1, Column: 35";
        "SHOW INDEX SEGMENTS FROM t INDEX" =>
            "Expected: the name of an index, found: EOF at Line: 1, Column: 33";
    }
}

#[test]
fn an_index_has_one_column() {
    errors! {
        "CREATE INDEX i ON t (a, b)" =>
            "An index of a Lance table has one column (create one index for each) at Line: 1, Column: 23";
        "CREATE INDEX i ON t ()" =>
            "Expected: the name of a column, found: ) at Line: 1, Column: 22";
        "CREATE INDEX i ON t" =>
            "Expected: '(', found: EOF at Line: 1, Column: 20";
        "CREATE INDEX i ON t USING (a)" =>
            "Expected: an index method, found: ( at Line: 1, Column: 27";
        "CREATE INDEX i ON t USING WITH (a)" =>
            "Expected: an index method, found: WITH (a word of the grammar must be quoted to be a name) at Line: 1, Column: 27";
        "CREATE INDEX i ON t (a b)" =>
            "Expected: ')', found: b at Line: 1, Column: 24";
        "CREATE INDEX i ON t (a.)" =>
            "Expected: the name of a column, found: ) at Line: 1, Column: 24";
        "CREATE INDEX i ON t (1)" =>
            "Expected: the name of a column, found: 1 at Line: 1, Column: 22";
    }
}

/// Clauses of other databases are errors at their place, never ignored.
#[test]
fn clauses_of_other_databases() {
    let place = |text: &str, clause: &str| {
        let found = error(text);
        let column = text.find(clause).unwrap() + 1;
        assert!(
            found.starts_with(&format!("CREATE INDEX doesn't support {clause} (write `CREATE")),
            "{text}: {found}"
        );
        assert!(found.ends_with(&format!(" at Line: 1, Column: {column}")), "{text}: {found}");
    };
    place("CREATE UNIQUE INDEX i ON t (a)", "UNIQUE");
    place("CREATE OR REPLACE UNIQUE INDEX i ON t (a)", "UNIQUE");
    place("ALTER TABLE t CREATE UNIQUE INDEX i (a)", "UNIQUE");
    place("CREATE INDEX CONCURRENTLY i ON t (a)", "CONCURRENTLY");
    place("CREATE INDEX i ON t (a ASC)", "ASC");
    place("CREATE INDEX i ON t (a DESC)", "DESC");
    place("CREATE INDEX i ON t (a NULLS FIRST)", "NULLS");
    place("CREATE INDEX i ON t (a COLLATE x)", "COLLATE");
    place("CREATE INDEX i ON t (a) INCLUDE (b)", "INCLUDE");
    place("CREATE INDEX i ON t (a) NULLS DISTINCT", "NULLS");
    place("CREATE INDEX i ON t (a) WHERE a > 1", "WHERE");
    place("CREATE INDEX i ON t (a) WITH (x = 1) WHERE a > 1", "WHERE");
    place("CREATE INDEX i ON t (a) USING btree", "USING");
    place("CREATE INDEX i ON t (a) TABLESPACE x", "TABLESPACE");
    assert!(error("CREATE INDEX i ON t (lower(a))").contains("support an expression (write"));
    assert!(error("CREATE INDEX i USING btree ON t (a)").starts_with("Expected: ON, found: USING"));
}

#[test]
fn an_index_is_dropped_from_its_table() {
    errors! {
        "DROP INDEX i" =>
            "Expected: ON, found: EOF (write `DROP INDEX i ON t` or `ALTER TABLE t DROP INDEX i`) at Line: 1, Column: 13";
        "DROP INDEX IF EXISTS s.i" =>
            "Expected: ON, found: . (write `DROP INDEX i ON t` or `ALTER TABLE t DROP INDEX i`) at Line: 1, Column: 23";
        "DROP INDEX i, j ON t" =>
            "Expected: ON, found: , (write `DROP INDEX i ON t` or `ALTER TABLE t DROP INDEX i`) at Line: 1, Column: 13";
        "DROP INDEX i ON t CASCADE" =>
            "Expected: end of statement, found: CASCADE at Line: 1, Column: 19";
        "ALTER TABLE t DROP INDEX i, DROP INDEX j" =>
            "Expected: end of statement, found: , at Line: 1, Column: 27";
    }
}

#[test]
fn a_table_has_at_most_three_parts() {
    errors! {
        "ALTER TABLE a.b.c.d REFRESH INDEX i" =>
            "The name of a table has at most three parts at Line: 1, Column: 18";
        "SHOW INDEXES FROM" =>
            "Expected: the name of a table, found: EOF at Line: 1, Column: 18";
        "SHOW INDEXES" =>
            "Expected: FROM or IN, found: EOF at Line: 1, Column: 13";
        "SHOW INDEX SEGMENTS t" =>
            "Expected: FROM or IN, found: t at Line: 1, Column: 21";
        "ALTER TABLE index REFRESH INDEX i" =>
            "Expected: the name of a table, found: index (a word of the grammar must be quoted to be a name) at Line: 1, Column: 13";
        "OPTIMIZE TABLE t (a = 1)" =>
            "Expected: end of statement, found: ( at Line: 1, Column: 18";
        "VACUUM TABLE t t" =>
            "Expected: end of statement, found: t at Line: 1, Column: 16";
    }
}

#[test]
fn options_are_a_list() {
    errors! {
        "VACUUM TABLE t WITH" => "Expected: '(', found: EOF at Line: 1, Column: 20";
        "VACUUM TABLE t WITH ()" => "Expected: the name of an option, found: ) at Line: 1, Column: 22";
        "VACUUM TABLE t WITH (a)" => "Expected: '=', found: ) at Line: 1, Column: 23";
        "VACUUM TABLE t WITH (a 1)" => "Expected: '=', found: 1 at Line: 1, Column: 24";
        "VACUUM TABLE t WITH (a = )" =>
            "Expected: a number, a string, a word, TRUE, FALSE or NULL, found: ) at Line: 1, Column: 26";
        "VACUUM TABLE t WITH (a = (1))" =>
            "Expected: a number, a string, a word, TRUE, FALSE or NULL, found: ( at Line: 1, Column: 26";
        "VACUUM TABLE t WITH (a = -x)" => "Expected: a number, found: x at Line: 1, Column: 27";
        "VACUUM TABLE t WITH (a = 1 MB)" => "Expected: ',' or ')', found: MB at Line: 1, Column: 28";
        "VACUUM TABLE t WITH (a = 1,)" =>
            "Expected: the name of an option, found: ) at Line: 1, Column: 28";
        "VACUUM TABLE t WITH (a = 1" => "Expected: ',' or ')', found: EOF at Line: 1, Column: 27";
        "ALTER TABLE t ALTER INDEX i" =>
            "Expected: SET (option = value, ...) or RESET (option, ...), found: EOF at Line: 1, Column: 28";
        "ALTER TABLE t ALTER INDEX i SET ()" =>
            "Expected: the name of an option, found: ) at Line: 1, Column: 34";
        "ALTER TABLE t ALTER INDEX i RESET (a = 1)" =>
            "Expected: ',' or ')', found: = at Line: 1, Column: 38";
        "ALTER TABLE t ALTER INDEX i RESET ALL" => "Expected: '(', found: ALL at Line: 1, Column: 35";
    }
}

/// A host that shows diagnostics has the place and the hint apart.
#[test]
fn an_error_is_datafusions_with_a_diagnostic() {
    let error = items("\n ALTER TABLE t REFRESH INDEX").pop().unwrap().unwrap_err();
    let text = error.to_string();
    let error = DataFusionError::from(error);
    assert!(error.to_string().contains(&text), "{error}");
    let diagnostic = error.diagnostic().unwrap();
    assert_eq!(diagnostic.message, "Expected: the name of an index, found: EOF");
    let start = diagnostic.span.unwrap().start;
    assert_eq!((start.line, start.column), (2, 29));
    assert_eq!(diagnostic.helps.len(), 1);
}
