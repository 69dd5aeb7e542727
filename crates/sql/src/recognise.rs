use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::Token;

use crate::tokens::{is_any_keyword, is_keyword};

/// Which of our statements a text holds, told from its first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    CreateIndex,
    CreateOrReplaceIndex,
    DropIndex,
    /// `ALTER TABLE t` and one of our actions.
    AlterTable,
    ShowIndexes,
    ShowCreateIndex,
    OptimizeTable,
    VacuumTable,
    /// `REFRESH INDEX` or `OPTIMIZE INDEX` without `ALTER TABLE t`.
    Action,
}

impl Form {
    /// Whether sqlparser reads the statement by itself and has a node for it.
    pub(crate) fn is_sqlparsers(self) -> bool {
        matches!(self, Self::CreateIndex | Self::DropIndex)
    }
}

/// Which of our statements starts at the `n`th token from here, if any does.
///
/// Looks ahead only: what isn't ours must reach the base dialect as if nobody had asked. A
/// statement that is ours as far as its first words go is ours, so that what is wrong with it
/// gets an error that knows the grammar.
pub(crate) fn recognise(parser: &Parser<'_>, n: usize) -> Option<Form> {
    let is = |n, word| is_keyword(parser, n, word);
    let is_any = |n, words: &[&str]| is_any_keyword(parser, n, words);
    let Token::Word(first) = &parser.peek_nth_token_ref(n).token else {
        return None;
    };
    let form = match first.value.to_ascii_uppercase().as_str() {
        _ if first.quote_style.is_some() => return None,
        "CREATE" if is_create_index(parser, n) => {
            if is(n + 1, "OR") {
                Form::CreateOrReplaceIndex
            } else {
                Form::CreateIndex
            }
        }
        "DROP" if is(n + 1, "INDEX") => Form::DropIndex,
        "ALTER" if is(n + 1, "TABLE") => {
            let action = after_name(parser, n + 2)?;
            return is_action(parser, action).then_some(Form::AlterTable);
        }
        // `SHOW index.x` shows a variable.
        "SHOW" if is_any(n + 1, &["INDEX", "INDEXES"]) && !is_period(parser, n + 2) => {
            Form::ShowIndexes
        }
        "SHOW" if is(n + 1, "CREATE") && is(n + 2, "INDEX") => Form::ShowCreateIndex,
        "OPTIMIZE" if is(n + 1, "TABLE") => {
            let next = after_name(parser, n + 2)?;
            // ClickHouse's and Databricks' statement of that name.
            let theirs = ["ON", "PARTITION", "FINAL", "DEDUPLICATE", "WHERE", "ZORDER"];
            return (!is_any(next, &theirs)).then_some(Form::OptimizeTable);
        }
        // `VACUUM table TO 75 PERCENT` is Redshift's, for a table of that name.
        "VACUUM" if is(n + 1, "TABLE") && !is_any(n + 2, &["TO", "BOOST"]) => {
            return after_name(parser, n + 2).map(|_| Form::VacuumTable);
        }
        "REFRESH" | "OPTIMIZE" if is_any(n + 1, &["INDEX", "INDEXES"]) => Form::Action,
        _ => return None,
    };
    Some(form)
}

/// `CREATE [OR REPLACE] [UNIQUE] INDEX`
fn is_create_index(parser: &Parser<'_>, create: usize) -> bool {
    let mut n = create + 1;
    if is_keyword(parser, n, "OR") && is_keyword(parser, n + 1, "REPLACE") {
        n += 2;
    }
    if is_keyword(parser, n, "UNIQUE") {
        n += 1;
    }
    is_keyword(parser, n, "INDEX")
}

/// Whether `ALTER TABLE t` goes on with an action of ours.
fn is_action(parser: &Parser<'_>, n: usize) -> bool {
    let is = |n, word| is_keyword(parser, n, word);
    let is_any = |n, words: &[&str]| is_any_keyword(parser, n, words);
    if is_any(n, &["REFRESH", "OPTIMIZE"]) {
        return true;
    }
    if is(n, "CREATE") {
        return is_create_index(parser, n);
    }
    if is(n, "ALTER") && is(n + 1, "INDEX") {
        // `ALTER index SET DEFAULT 1` is about a column of that name.
        let column = is_any(n + 2, &["ADD", "DROP", "SET", "TYPE"])
            && matches!(parser.peek_nth_token_ref(n + 3).token, Token::Word(_))
            && !is_any(n + 3, &["SET", "RESET"]);
        return !column;
    }
    is(n, "DROP") && is(n + 1, "INDEX")
}

/// The position after a dotted name that starts at the `n`th token, if one does.
fn after_name(parser: &Parser<'_>, mut n: usize) -> Option<usize> {
    loop {
        match parser.peek_nth_token_ref(n).token {
            Token::Word(_) | Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => n += 1,
            _ => return None,
        }
        if !is_period(parser, n) {
            return Some(n);
        }
        n += 1;
    }
}

fn is_period(parser: &Parser<'_>, n: usize) -> bool {
    parser.peek_nth_token_ref(n).token == Token::Period
}
