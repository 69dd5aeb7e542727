//! Names and options in texts of their own, as a function has them for arguments.

use datafusion_sql::sqlparser::ast::Ident;
use datafusion_sql::sqlparser::dialect::Dialect;
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::{Span, Token, Tokenizer, Whitespace};

use crate::grammar::options_to_the_end;
use crate::tokens::Tokens;
use crate::{OptionName, SyntaxError, WithOption};

/// The name or path that a text holds, written as in a statement: `i`, `"My table"`, `a.b`.
///
/// A text that SQL doesn't read as one, such as `my-index`, stands for itself: a single name, and
/// an exact one. Neither has a place, for the text isn't the statement's.
///
/// ```
/// # use datafusion_sql::sqlparser::{ast::Ident, dialect::GenericDialect};
/// # use lance_index_sql::path_in;
/// let path = |text| path_in(text, &GenericDialect);
/// assert_eq!(path("meta.\"Lang\""), [Ident::new("meta"), Ident::with_quote('"', "Lang")]);
/// assert_eq!(path("my-index"), [Ident::with_quote('"', "my-index")]);
/// ```
pub fn path_in(text: &str, dialect: &dyn Dialect) -> Vec<Ident> {
    path(text, dialect).unwrap_or_else(|| vec![Ident::with_quote('"', text)])
}

fn path(text: &str, dialect: &dyn Dialect) -> Option<Vec<Ident>> {
    let tokens = Tokenizer::new(dialect, text).tokenize().ok()?;
    // A comment isn't blank: `my--index` is no other name for `my`.
    let blank = |token: &Token| {
        matches!(
            token,
            Token::Whitespace(Whitespace::Space | Whitespace::Tab | Whitespace::Newline)
        )
    };
    let tokens: Vec<Token> = tokens.into_iter().filter(|token| !blank(token)).collect();
    let mut names = Vec::new();
    for (n, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if n % 2 == 0 => names.push(word.clone().into_ident(Span::empty())),
            Token::SingleQuotedString(name) | Token::DoubleQuotedString(name) if n % 2 == 0 => {
                names.push(Ident::with_quote('"', name));
            }
            Token::Period if n % 2 == 1 => {}
            _ => return None,
        }
    }
    (tokens.len() % 2 == 1).then_some(names)
}

/// The options that a text holds, as they stand between the parentheses of a `WITH`:
/// `name = value [, ...]`. They have no place, for the text isn't the statement's.
///
/// Unlike those of a statement they aren't looked at together, see
/// [`WithOptions::new`](crate::WithOptions::new).
///
/// # Errors
/// If the text is anything else. The error has no place either.
pub fn options_in(text: &str, dialect: &dyn Dialect) -> Result<Vec<WithOption>, SyntaxError> {
    let mut tokens = Vec::new();
    Tokenizer::new(dialect, text)
        .tokenize_with_location_into_buf(&mut tokens)
        .map_err(|error| SyntaxError::new(error.message, Span::empty()))?;
    let mut parser = Parser::new(dialect).with_tokens_with_locations(tokens);
    let options = options_to_the_end(&mut Tokens::new(&mut parser));
    let options = options.map_err(|error| SyntaxError { span: Span::empty(), ..error })?;
    let placeless = options.into_iter().map(|option| WithOption {
        name: OptionName::new(option.name.as_str(), Span::empty()),
        value: option.value,
        value_span: Span::empty(),
    });
    Ok(placeless.collect())
}
