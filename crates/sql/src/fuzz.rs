//! Any text either parses or is an error with a position: no panic, no endless loop.
//!
//! Only in tests and in builds for coverage-guided fuzzing.

use datafusion_sql::sqlparser::parser::Parser;

use crate::{IndexStatement, LanceIndexDialect, ParseError, ParsedStatement, StatementParser};

/// sqlparser takes twice as long for each `NOT[` in another.
const MOST_NOTS: usize = 12;

/// Reads a text, as the shell does and as a tool does that has sqlparser alone.
///
/// # Panics
/// A statement of it isn't the same when it is printed and read again, or an error has no position.
pub fn read(text: &str) {
    if text.to_ascii_uppercase().matches("NOT").count() > MOST_NOTS {
        return;
    }
    let dialect = LanceIndexDialect::default();
    let parser = StatementParser::new(text, &dialect);
    assert!(parser.is_ok(), "{text:?} isn't taken");
    let Ok(mut parser) = parser else { return };
    // Each item takes a token of the text at least.
    let mut items = 0;
    while let Some(item) = parser.next() {
        items += 1;
        assert!(items <= text.len() + 1, "{text:?} doesn't end");
        match item {
            Ok(parsed) => {
                let own = text.get(parsed.range.clone());
                assert!(own.is_some(), "{:?} is no range of {text:?}", parsed.range);
                check(&parsed.statement, own.unwrap_or_default());
            }
            Err(error) => {
                let is_placed = match &error {
                    ParseError::Syntax(error) => error.span.start.line > 0,
                    ParseError::DataFusion(_) => true,
                };
                assert!(is_placed, "{text:?}: {error}");
                parser.skip_failed();
            }
        }
    }
    for statement in Parser::parse_sql(&dialect, text).unwrap_or_default() {
        let _ = IndexStatement::from_sqlparser(&statement);
    }
}

/// Alone, and printed, it is the same statement.
fn check(statement: &ParsedStatement, own: &str) {
    let printed = match statement {
        ParsedStatement::Index(statement) => statement.to_string(),
        ParsedStatement::Explain(explain) => explain.to_string(),
        ParsedStatement::Other(_) => return,
    };
    let dialect = LanceIndexDialect::default();
    for text in [own, &printed] {
        let parser = StatementParser::new(text, &dialect).ok();
        let again = parser.and_then(|mut parser| parser.next());
        let again = again.map(|item| match item {
            Ok(parsed) => Ok(parsed.statement),
            Err(error) => Err(error.to_string()),
        });
        assert_eq!(again.as_ref(), Some(&Ok(statement.clone())), "{text:?}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn corpus() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/statements");
        let mut count = 0;
        for file in std::fs::read_dir(directory).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            str::from_utf8(&bytes).map(read).unwrap_or_default();
            count += 1;
        }
        assert!(count > 100, "{count} texts");
    }

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

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

        #[test]
        fn of_our_words(
            head in prop::sample::select(HEADS),
            words in vec(prop::sample::select(WORDS), 0..16),
        ) {
            read(&format!("{head} {}", words.join(" ")));
            read(&format!("{head}{}", words.concat()));
        }

        #[test]
        fn of_any_characters(text in any::<String>()) {
            read(&text);
        }
    }
}
