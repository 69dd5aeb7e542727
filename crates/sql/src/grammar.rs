use datafusion_sql::sqlparser::ast::{Ident, ObjectName};
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::{Span, Token};

use crate::options::check_names;
use crate::recognise::Form;
use crate::statement::{
    AlterIndexReset, AlterIndexSet, CreateIndex, DropIndex, IndexMethod, IndexStatement,
    IndexTarget, OptimizeIndex, OptimizeTable, RefreshIndex, ShowCreateIndex, ShowIndexSegments,
    ShowIndexes, VacuumTable,
};
use crate::tokens::Tokens;
use crate::{OptionName, OptionValue, SyntaxError, WithOption, WithOptions};

const INDEX_NAME: &str = "the name of an index";

/// What a foreign clause of `CREATE INDEX` is answered, wherever it stands.
const CREATE_INDEX_SYNTAX: &str =
    "write `CREATE [OR REPLACE] INDEX [IF NOT EXISTS] i ON t [USING method] (column) [WITH (...)]`";

/// An index belongs to its table, so that both have to be named.
pub(crate) const DROP_INDEX_SYNTAX: &str =
    "write `DROP INDEX i ON t` or `ALTER TABLE t DROP INDEX i`";

/// Reads the statement that was recognised to be next, up to its end or to what can't be a part
/// of it.
pub(crate) fn parse(parser: &mut Parser<'_>, form: Form) -> Result<IndexStatement, SyntaxError> {
    let tokens = &mut Tokens::new(parser);
    match form {
        Form::CreateIndex | Form::CreateOrReplaceIndex => create_index(tokens, None),
        Form::DropIndex => drop_index_on(tokens),
        Form::AlterTable => alter_table(tokens),
        Form::ShowIndexes => show_indexes(tokens),
        Form::ShowCreateIndex => show_create_index(tokens),
        Form::OptimizeTable => {
            let (table, options) = maintain_table(tokens)?;
            let statement = OptimizeTable { table, options };
            Ok(IndexStatement::OptimizeTable(statement))
        }
        Form::VacuumTable => {
            let (table, options) = maintain_table(tokens)?;
            let statement = VacuumTable { table, options };
            Ok(IndexStatement::VacuumTable(statement))
        }
        Form::Action => {
            let span = tokens.span();
            let verb = if tokens.take("REFRESH") {
                "REFRESH"
            } else {
                tokens.expect("OPTIMIZE")?;
                "OPTIMIZE"
            };
            let target = if tokens.at("INDEXES") { "INDEXES" } else { "INDEX" };
            let what = format!("{verb} {target} is an action on a table");
            let hint =
                format!("write `ALTER TABLE t {verb} INDEX i` or `ALTER TABLE t {verb} INDEXES`");
            Err(SyntaxError::new(what, span).with_hint(hint))
        }
    }
}

/// The error for a clause of other databases' `CREATE INDEX`.
pub(crate) fn unsupported(clause: &str, span: Span) -> SyntaxError {
    SyntaxError::new(format!("CREATE INDEX doesn't support {clause}"), span)
        .with_hint(CREATE_INDEX_SYNTAX)
}

/// From `CREATE` on; the table is known if `ALTER TABLE t` stands before it.
fn create_index(
    tokens: &mut Tokens<'_, '_>,
    table: Option<ObjectName>,
) -> Result<IndexStatement, SyntaxError> {
    tokens.expect("CREATE")?;
    let or_replace = tokens.take_all(&["OR", "REPLACE"]);
    refuse(tokens, &["UNIQUE"])?;
    tokens.expect("INDEX")?;
    refuse(tokens, &["CONCURRENTLY"])?;
    let if_not_exists = tokens.take_all(&["IF", "NOT", "EXISTS"]);
    let index = tokens.name(INDEX_NAME).map_err(|error| {
        error.with_hint("an index has no default name, write `CREATE INDEX i ...`")
    })?;
    let table = match table {
        Some(table) => table,
        None => {
            tokens.expect("ON")?;
            tokens.table()?
        }
    };
    let method = if tokens.take("USING") { Some(method(tokens)?) } else { None };

    tokens.expect_mark(&Token::LParen)?;
    let column = tokens.column()?;
    if tokens.at_mark(&Token::Comma) {
        let what = "An index of a Lance table has one column";
        return Err(SyntaxError::new(what, tokens.span()).with_hint("create one index for each"));
    }
    refuse(tokens, &["ASC", "DESC", "NULLS", "COLLATE"])?;
    if tokens.at_mark(&Token::LParen) {
        return Err(unsupported("an expression", tokens.span()));
    }
    tokens.expect_mark(&Token::RParen)?;

    let foreign = ["INCLUDE", "NULLS", "USING", "WHERE", "TABLESPACE"];
    refuse(tokens, &foreign)?;
    let options = with_options(tokens)?;
    refuse(tokens, &foreign)?;
    Ok(IndexStatement::CreateIndex(CreateIndex {
        or_replace,
        if_not_exists,
        index,
        table,
        method,
        column,
        options,
    }))
}

/// Fails if a clause that begins with one of the words is next.
fn refuse(tokens: &Tokens<'_, '_>, clauses: &[&str]) -> Result<(), SyntaxError> {
    match clauses.iter().find(|clause| tokens.at(clause)) {
        Some(clause) => Err(unsupported(clause, tokens.span())),
        None => Ok(()),
    }
}

fn method(tokens: &mut Tokens<'_, '_>) -> Result<IndexMethod, SyntaxError> {
    let ident = tokens.name("an index method")?;
    Ok(IndexMethod::new(ident.value, ident.span))
}

fn alter_table(tokens: &mut Tokens<'_, '_>) -> Result<IndexStatement, SyntaxError> {
    tokens.expect("ALTER")?;
    tokens.expect("TABLE")?;
    let table = tokens.table()?;
    if tokens.at("CREATE") {
        return create_index(tokens, Some(table));
    }
    if tokens.take("REFRESH") {
        let (target, options) = (target(tokens)?, with_options(tokens)?);
        return Ok(IndexStatement::RefreshIndex(RefreshIndex { table, target, options }));
    }
    if tokens.take("OPTIMIZE") {
        let (target, options) = (target(tokens)?, with_options(tokens)?);
        return Ok(IndexStatement::OptimizeIndex(OptimizeIndex { table, target, options }));
    }
    if tokens.take("DROP") {
        tokens.expect("INDEX")?;
        let if_exists = tokens.take_all(&["IF", "EXISTS"]);
        let index = tokens.name(INDEX_NAME)?;
        return Ok(IndexStatement::DropIndex(DropIndex { table, index, if_exists }));
    }
    tokens.expect("ALTER")?;
    tokens.expect("INDEX")?;
    let index = tokens.name(INDEX_NAME)?;
    alter_index(tokens, table, index)
}

fn alter_index(
    tokens: &mut Tokens<'_, '_>,
    table: ObjectName,
    index: Ident,
) -> Result<IndexStatement, SyntaxError> {
    if tokens.take("SET") {
        let options = option_list(tokens)?;
        return Ok(IndexStatement::AlterIndexSet(AlterIndexSet { table, index, options }));
    }
    if tokens.take("RESET") {
        let options = list(tokens, option_name)?;
        check_names(&options)?;
        return Ok(IndexStatement::AlterIndexReset(AlterIndexReset { table, index, options }));
    }
    Err(tokens.unexpected("SET (option = value, ...) or RESET (option, ...)"))
}

fn target(tokens: &mut Tokens<'_, '_>) -> Result<IndexTarget, SyntaxError> {
    const HINT: &str = "write `INDEX i` for one index or `INDEXES` for all of the table";
    if tokens.take("INDEXES") {
        return Ok(IndexTarget::All);
    }
    if !tokens.take("INDEX") {
        return Err(tokens.unexpected("INDEX or INDEXES").with_hint(HINT));
    }
    let index = tokens.name(INDEX_NAME);
    index.map(IndexTarget::One).map_err(|error| error.with_hint(HINT))
}

fn drop_index_on(tokens: &mut Tokens<'_, '_>) -> Result<IndexStatement, SyntaxError> {
    tokens.expect("DROP")?;
    tokens.expect("INDEX")?;
    let if_exists = tokens.take_all(&["IF", "EXISTS"]);
    let index = tokens.name(INDEX_NAME)?;
    if !tokens.take("ON") {
        return Err(tokens.unexpected("ON").with_hint(DROP_INDEX_SYNTAX));
    }
    let table = tokens.table()?;
    Ok(IndexStatement::DropIndex(DropIndex { table, index, if_exists }))
}

fn show_indexes(tokens: &mut Tokens<'_, '_>) -> Result<IndexStatement, SyntaxError> {
    tokens.expect("SHOW")?;
    let segments = tokens.take_all(&["INDEX", "SEGMENTS"]);
    if !segments {
        tokens.expect_any(&["INDEX", "INDEXES"])?;
    }
    tokens.expect_any(&["FROM", "IN"])?;
    let table = tokens.table()?;
    if !segments {
        return Ok(IndexStatement::ShowIndexes(ShowIndexes { table }));
    }
    let index = if tokens.take("INDEX") { Some(tokens.name(INDEX_NAME)?) } else { None };
    Ok(IndexStatement::ShowIndexSegments(ShowIndexSegments { table, index }))
}

fn show_create_index(tokens: &mut Tokens<'_, '_>) -> Result<IndexStatement, SyntaxError> {
    tokens.expect("SHOW")?;
    tokens.expect("CREATE")?;
    tokens.expect("INDEX")?;
    let index = tokens.name(INDEX_NAME)?;
    tokens.expect("ON")?;
    let table = tokens.table()?;
    let statement = ShowCreateIndex { table, index };
    Ok(IndexStatement::ShowCreateIndex(statement))
}

/// `{OPTIMIZE | VACUUM} TABLE t [WITH (...)]`
fn maintain_table(tokens: &mut Tokens<'_, '_>) -> Result<(ObjectName, WithOptions), SyntaxError> {
    tokens.expect_any(&["OPTIMIZE", "VACUUM"])?;
    tokens.expect("TABLE")?;
    Ok((tokens.table()?, with_options(tokens)?))
}

/// `[WITH (...)]`
fn with_options(tokens: &mut Tokens<'_, '_>) -> Result<WithOptions, SyntaxError> {
    if tokens.take("WITH") { option_list(tokens) } else { Ok(WithOptions::default()) }
}

/// `(name = value, ...)`
fn option_list(tokens: &mut Tokens<'_, '_>) -> Result<WithOptions, SyntaxError> {
    WithOptions::new(list(tokens, option)?)
}

/// `name = value [, ...]`, and nothing else.
pub(crate) fn options_to_the_end(
    tokens: &mut Tokens<'_, '_>,
) -> Result<Vec<WithOption>, SyntaxError> {
    let mut options = vec![option(tokens)?];
    while tokens.take_mark(&Token::Comma) {
        options.push(option(tokens)?);
    }
    if !tokens.at_mark(&Token::EOF) {
        return Err(tokens.unexpected("',' or the end"));
    }
    Ok(options)
}

/// `name = value`
fn option(tokens: &mut Tokens<'_, '_>) -> Result<WithOption, SyntaxError> {
    let name = option_name(tokens)?;
    tokens.expect_mark(&Token::Eq)?;
    let (value, value_span) = option_value(tokens)?;
    Ok(WithOption { name, value, value_span })
}

/// One or more items between parentheses.
fn list<T>(
    tokens: &mut Tokens<'_, '_>,
    mut item: impl FnMut(&mut Tokens<'_, '_>) -> Result<T, SyntaxError>,
) -> Result<Vec<T>, SyntaxError> {
    tokens.expect_mark(&Token::LParen)?;
    let mut items = vec![item(tokens)?];
    while tokens.take_mark(&Token::Comma) {
        items.push(item(tokens)?);
    }
    if !tokens.take_mark(&Token::RParen) {
        return Err(tokens.unexpected("',' or ')'"));
    }
    Ok(items)
}

fn option_name(tokens: &mut Tokens<'_, '_>) -> Result<OptionName, SyntaxError> {
    let ident = tokens.any_name("the name of an option")?;
    Ok(OptionName::new(&ident.value, ident.span))
}

fn option_value(tokens: &mut Tokens<'_, '_>) -> Result<(OptionValue, Span), SyntaxError> {
    let start = tokens.span();
    let sign = if tokens.take_mark(&Token::Minus) {
        "-"
    } else if tokens.take_mark(&Token::Plus) {
        "+"
    } else {
        ""
    };
    let span = start.union(&tokens.span());
    let value = match &tokens.peek().token {
        Token::Number(digits, long) => {
            let suffix = if *long { "L" } else { "" };
            OptionValue::Number(format!("{sign}{digits}{suffix}"))
        }
        _ if !sign.is_empty() => return Err(tokens.unexpected("a number")),
        Token::Word(word) if word.quote_style.is_some() => OptionValue::String(word.value.clone()),
        Token::Word(word) => OptionValue::from_word(&word.value),
        Token::SingleQuotedString(text)
        | Token::DoubleQuotedString(text)
        | Token::EscapedStringLiteral(text) => OptionValue::String(text.clone()),
        _ => {
            return Err(tokens.unexpected("a number, a string, a word, TRUE, FALSE or NULL"));
        }
    };
    tokens.next();
    Ok((value, span))
}
