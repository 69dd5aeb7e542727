use lance_index_sql::{LanceIndexDialect, ParseError, ParsedStatement, StatementParser};

use crate::{error, items, statements};

/// C11: the first can be executed, the error is in the second, the third isn't seen.
#[test]
fn an_error_ends_the_text_where_it_is() {
    let text = "ALTER TABLE t REFRESH INDEX i;\nALTER TABLE t REFRESH INDEX;\nSHOW INDEXES FROM t";
    let dialect = LanceIndexDialect::default();
    let mut parser = StatementParser::new(text, &dialect).unwrap();

    let first = parser.next().unwrap().unwrap();
    assert!(matches!(first.statement, ParsedStatement::Index(_)));
    let Err(ParseError::Syntax(second)) = parser.next().unwrap() else {
        panic!();
    };
    assert_eq!((second.span.start.line, second.span.start.column), (2, 28));
    assert!(parser.next().is_none());
    assert!(parser.next().is_none());
}

/// What follows a statement is a part of it: half a statement must not be executed.
#[test]
fn a_statement_ends_with_a_semicolon() {
    assert_eq!(
        error("ALTER TABLE t REFRESH INDEX i nonsense; SELECT 1"),
        "Expected: end of statement, found: nonsense at Line: 1, Column: 31"
    );
    assert_eq!(items("DROP INDEX i ON t DROP INDEX j ON t").len(), 1);
    assert_eq!(items("SELECT 1 SHOW INDEXES FROM t").len(), 1);
}

#[test]
fn empty_statements_are_nothing() {
    for text in ["", "   \n", ";", " ; ;; ", "-- nothing", "/* nothing */ ; -- at all"] {
        assert!(items(text).is_empty(), "{text}");
    }
    assert_eq!(statements(";;SELECT 1;; ;SHOW INDEXES FROM t;").len(), 2);
    assert_eq!(statements("SHOW INDEXES FROM t -- no end").len(), 1);
}

/// What is wrong with the tokens of a text shows at its statement.
#[test]
fn an_unterminated_quote_spoils_its_own_statement_only() {
    let text = "SHOW INDEXES FROM t; SELECT 1; SELECT ';' || 'oops; SELECT 2";
    let items = items(text);
    assert_eq!(items.len(), 3);
    assert!(items[..2].iter().all(Result::is_ok));
    let error = items[2].as_ref().unwrap_err().to_string();
    assert!(error.contains("Unterminated string literal at Line: 1, Column: 46"), "{error}");

    assert!(error_of_one("SELECT 'oops").contains("Unterminated"));
}

fn error_of_one(text: &str) -> String {
    assert_eq!(items(text).len(), 1);
    error(text)
}

#[test]
fn a_statement_knows_its_text() {
    let text =
        "  SHOW INDEXES\n FROM \"é\" -- all ; of\n ; /* é */ SELECT 'é;' ;drop index é\r\non t  ";
    let parsed: Vec<_> = items(text).into_iter().map(Result::unwrap).collect();
    let texts: Vec<_> = parsed.iter().map(|p| &text[p.range.clone()]).collect();
    assert_eq!(texts, ["SHOW INDEXES\n FROM \"é\"", "SELECT 'é;'", "drop index é\r\non t"]);
    assert_eq!((parsed[0].span.start.line, parsed[0].span.start.column), (1, 3));
    assert_eq!((parsed[0].span.end.line, parsed[0].span.end.column), (2, 10));
}

/// A shell that keeps going reads the statements after a wrong one.
#[test]
fn a_failed_statement_can_be_skipped() {
    let wrong = [
        "ALTER TABLE t REFRESH INDEX",
        "ALTER TABLE t REFRESH INDEX WITH (a = 1)",
        "DROP INDEX i",
        "SELECT",
        "SELECT 1 FROM",
        "nonsense",
        ") nonsense",
        "SHOW INDEXES FROM t t",
        "CALL lance_index.nonsense()",
        "CREATE EXTERNAL TABLE",
    ];
    let dialect = LanceIndexDialect::default();
    for wrong in wrong {
        for before in ["", ";", "SELECT 0;", "SELECT 0 ; "] {
            let text = format!("{before}{wrong};SELECT 1;{wrong} ; ; SHOW INDEXES FROM t;{wrong}");
            let mut parser = StatementParser::new(&text, &dialect).unwrap();
            let mut read = String::new();
            loop {
                match parser.next() {
                    Some(Ok(_)) => read.push('+'),
                    Some(Err(_)) => {
                        read.push('-');
                        parser.skip_failed();
                    }
                    None => break,
                }
            }
            let expected = if before.contains('0') { "+-+-+-" } else { "-+-+-" };
            assert_eq!(read, expected, "{text}");
        }
    }
}

#[test]
fn skipping_needs_a_failure() {
    let dialect = LanceIndexDialect::default();
    let mut parser = StatementParser::new("SELECT 1; SELECT 2", &dialect).unwrap();
    parser.skip_failed();
    assert!(parser.next().is_some());
    parser.skip_failed();
    assert!(parser.next().is_some());
    assert!(parser.next().is_none());

    let mut parser = StatementParser::new("SELECT 1; SELECT 'oops", &dialect).unwrap();
    assert!(parser.next().is_some_and(|item| item.is_ok()));
    assert!(parser.next().is_some_and(|item| item.is_err()));
    parser.skip_failed();
    assert!(parser.next().is_none());
}

#[test]
fn nesting_has_a_limit() {
    let dialect = LanceIndexDialect::default();
    let deep = format!("SELECT {}1{}", "(".repeat(200), ")".repeat(200));
    assert!(error(&deep).contains("RecursionLimitExceeded"), "{}", error(&deep));
    let mut parser = StatementParser::with_recursion_limit("SELECT (1)", &dialect, 2).unwrap();
    assert!(parser.next().is_some_and(|item| item.is_err()));
}
