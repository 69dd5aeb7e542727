//! The grammar of index maintenance as its users meet it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dialect;
mod errors;
mod explain;
mod generate;
mod grammar;
mod options;
mod passthrough;
mod procedures;
mod round_trip;
mod several;
mod texts;

use lance_index_sql::{
    IndexStatement, LanceIndexDialect, ParseError, Parsed, ParsedStatement, StatementParser,
};

/// The dialects that a session can be told to use, by sqlparser's names for them.
const BASES: [&str; 16] = [
    "ansi",
    "bigquery",
    "clickhouse",
    "databricks",
    "duckdb",
    "generic",
    "hive",
    "mssql",
    "mysql",
    "oracle",
    "postgresql",
    "redshift",
    "snowflake",
    "spark",
    "sqlite",
    "teradata",
];

/// All items of a text, up to the first error.
fn items(text: &str) -> Vec<Result<Parsed, ParseError>> {
    let dialect = LanceIndexDialect::default();
    StatementParser::new(text, &dialect).unwrap().collect()
}

/// The statements of a text without errors.
fn statements(text: &str) -> Vec<ParsedStatement> {
    let items = items(text).into_iter();
    items.map(|item| item.unwrap_or_else(|e| panic!("{text}: {e}")).statement).collect()
}

/// The statement of ours that a text is.
fn parse(text: &str) -> IndexStatement {
    match statements(text).as_slice() {
        [ParsedStatement::Index(statement)] => (**statement).clone(),
        other => panic!("{text}: {other:?}"),
    }
}

/// What is wrong with a text.
fn error(text: &str) -> String {
    match items(text).pop() {
        Some(Err(error)) => error.to_string(),
        other => panic!("{text}: {other:?}"),
    }
}
