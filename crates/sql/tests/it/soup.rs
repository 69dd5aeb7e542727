//! Any text either parses or is an error: no panic, no endless loop.

use datafusion_sql::sqlparser::parser::Parser;
use lance_index_sql::{IndexStatement, LanceIndexDialect, ParsedStatement, StatementParser};
use proptest::collection::vec;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "ALTER",
    "TABLE",
    "CREATE",
    "OR",
    "REPLACE",
    "UNIQUE",
    "INDEX",
    "INDEXES",
    "IF",
    "NOT",
    "EXISTS",
    "ON",
    "USING",
    "WITH",
    "REFRESH",
    "OPTIMIZE",
    "DROP",
    "SHOW",
    "SEGMENTS",
    "FROM",
    "IN",
    "SET",
    "RESET",
    "VACUUM",
    "EXPLAIN",
    "ANALYZE",
    "VERBOSE",
    "FORMAT",
    "CALL",
    "lance_index",
    "refresh_index",
    "create_index",
    "alter_index_reset",
    "table =>",
    "index =>",
    "column =>",
    "SELECT",
    "NULL",
    "TRUE",
    "t",
    "i",
    "\"a b\"",
    "`q`",
    "'s'",
    "''",
    "E'x'",
    "1",
    "-1",
    "1.5e3",
    "8L",
    ".",
    ",",
    ";",
    ";",
    "(",
    ")",
    "=",
    "-",
    "+",
    "*",
    "=>",
    "'",
    "\"",
    "--",
    "\n",
    "/*",
    "*/",
    "é",
    "$1",
    "{",
    "[",
    "@x",
    "\u{0}",
];

/// Beginnings of statements, so that the soup gets past the first word.
const HEADS: &[&str] = &[
    "",
    "ALTER TABLE t",
    "ALTER TABLE t CREATE INDEX i",
    "ALTER TABLE t REFRESH INDEX",
    "ALTER TABLE t ALTER INDEX i SET (a =",
    "CREATE INDEX i ON t",
    "CREATE OR REPLACE INDEX i ON t (c) WITH (",
    "DROP INDEX",
    "SHOW INDEX",
    "EXPLAIN",
    "CALL lance_index.refresh_index(",
    "OPTIMIZE TABLE t",
    "VACUUM TABLE t",
];

fn read(text: &str) -> Result<(), TestCaseError> {
    let dialect = LanceIndexDialect::default();
    let mut parser = StatementParser::new(text, &dialect).unwrap();
    // Each item takes a token of the text at least.
    for _ in 0..=text.len() + 1 {
        let Some(item) = parser.next() else {
            return Ok(());
        };
        let Ok(parsed) = item else {
            parser.skip_failed();
            continue;
        };
        let own = &text[parsed.range];
        if let ParsedStatement::Index(statement) = &parsed.statement {
            // Alone, and printed, it is the same statement.
            for text in [own, &statement.to_string()] {
                let mut parser = StatementParser::new(text, &dialect).unwrap();
                let again = parser.next().unwrap().map(|parsed| parsed.statement);
                let expected = ParsedStatement::Index(statement.clone());
                prop_assert_eq!(again.map_err(|e| e.to_string()), Ok(expected), "{}", text);
            }
        }
    }
    prop_assert!(false, "{text:?} doesn't end");
    Ok(())
}

/// As a tool without our parser reads it.
fn read_with_sqlparser(text: &str) {
    for statement in Parser::parse_sql(&LanceIndexDialect::default(), text).unwrap_or_default() {
        let _ = IndexStatement::from_sqlparser(&statement);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn of_our_words(
        head in prop::sample::select(HEADS),
        words in vec(prop::sample::select(WORDS), 0..16),
    ) {
        let text = format!("{head} {}", words.join(" "));
        read(&text)?;
        read_with_sqlparser(&text);
        let text = format!("{head}{}", words.concat());
        read(&text)?;
        read_with_sqlparser(&text);
    }

    #[test]
    fn of_any_characters(text in any::<String>()) {
        read(&text)?;
    }
}
