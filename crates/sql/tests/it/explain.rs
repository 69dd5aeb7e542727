use lance_index_sql::{Explain, ParsedStatement};

use crate::{error, parse, statements};

fn explain(text: &str) -> Explain {
    match statements(text).as_slice() {
        [ParsedStatement::Explain(explain)] => (**explain).clone(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_statement_can_be_explained() {
    for statement in [
        "CREATE INDEX i ON t USING btree (a)",
        "CREATE OR REPLACE INDEX IF NOT EXISTS i ON t (a)",
        "ALTER TABLE t CREATE OR REPLACE INDEX i (a)",
        "ALTER TABLE t REFRESH INDEX i",
        "ALTER TABLE t OPTIMIZE INDEXES WITH (merge_factor = 4)",
        "ALTER TABLE t DROP INDEX i",
        "DROP INDEX IF EXISTS i ON t",
        "SHOW INDEXES FROM t",
        "SHOW INDEX SEGMENTS FROM t",
        "SHOW CREATE INDEX i ON t",
        "ALTER TABLE t ALTER INDEX i SET (a = 1)",
        "ALTER TABLE t ALTER INDEX i RESET (a)",
        "OPTIMIZE TABLE t",
        "VACUUM TABLE t",
        "CALL lance_index.refresh_index(table => t, index => i)",
    ] {
        for (prefix, analyze, verbose, format) in [
            ("EXPLAIN", false, false, None),
            ("explain analyze", true, false, None),
            ("EXPLAIN VERBOSE", false, true, None),
            ("EXPLAIN ANALYZE VERBOSE", true, true, None),
            ("EXPLAIN FORMAT tree", false, false, Some("tree")),
            ("EXPLAIN ANALYZE FORMAT 'indent'", true, false, Some("indent")),
        ] {
            let explain = explain(&format!("{prefix} {statement}"));
            assert_eq!(explain.analyze, analyze, "{prefix}");
            assert_eq!(explain.verbose, verbose, "{prefix}");
            assert_eq!(explain.format.as_deref(), format, "{prefix}");
            assert_eq!(explain.statement, parse(statement), "{prefix} {statement}");
        }
    }
}

#[test]
fn it_prints_in_a_form_that_parses() {
    for text in [
        "EXPLAIN ALTER TABLE t REFRESH INDEX i",
        "EXPLAIN ANALYZE VERBOSE FORMAT tree OPTIMIZE TABLE t",
        "EXPLAIN FORMAT 'a ''format' SHOW INDEXES FROM t",
    ] {
        assert_eq!(explain(text).to_string(), text);
    }
}

#[test]
fn errors_are_those_of_the_statement() {
    assert_eq!(
        error("EXPLAIN ANALYZE ALTER TABLE t REFRESH i"),
        "Expected: INDEX or INDEXES, found: i (write `INDEX i` for one index or `INDEXES` for \
         all of the table) at Line: 1, Column: 39"
    );
    let format = error("EXPLAIN FORMAT 1 SHOW INDEXES FROM t");
    assert!(format.contains("an explain format such as TREE"), "{format}");
}
