use datafusion_sql::sqlparser::ast::{Ident, ObjectName};
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use crate::SyntaxError;
use crate::names::is_reserved;

/// Whether the `n`th token from here is that unquoted word.
///
/// By its letters: not all of our words are keywords of sqlparser.
pub(crate) fn is_keyword(parser: &Parser<'_>, n: usize, word: &str) -> bool {
    match &parser.peek_nth_token_ref(n).token {
        Token::Word(found) => found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word),
        _ => false,
    }
}

/// Whether the `n`th token from here is one of those unquoted words.
pub(crate) fn is_any_keyword(parser: &Parser<'_>, n: usize, words: &[&str]) -> bool {
    words.iter().any(|word| is_keyword(parser, n, word))
}

/// The token stream as the grammar reads it.
pub(crate) struct Tokens<'p, 'a> {
    parser: &'p mut Parser<'a>,
}

impl<'p, 'a> Tokens<'p, 'a> {
    pub(crate) fn new(parser: &'p mut Parser<'a>) -> Self {
        Self { parser }
    }

    /// Takes the word if it is next.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        self.take_all(&[word])
    }

    /// Takes the words if all of them are next.
    pub(crate) fn take_all(&mut self, words: &[&str]) -> bool {
        let found = (0..).zip(words).all(|(n, word)| is_keyword(self.parser, n, word));
        if found {
            words.iter().for_each(|_| self.parser.advance_token());
        }
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> Result<(), SyntaxError> {
        if self.take(word) { Ok(()) } else { Err(self.unexpected(word)) }
    }

    /// Takes the first of the words that is next.
    pub(crate) fn expect_any(&mut self, words: &[&str]) -> Result<(), SyntaxError> {
        if words.iter().any(|word| self.take(word)) {
            Ok(())
        } else {
            Err(self.unexpected(&words.join(" or ")))
        }
    }

    /// Whether the word is next.
    pub(crate) fn at(&self, word: &str) -> bool {
        is_keyword(self.parser, 0, word)
    }

    /// Whether a punctuation mark is next.
    pub(crate) fn at_mark(&self, mark: &Token) -> bool {
        self.parser.peek_token_ref().token == *mark
    }

    /// Takes a punctuation mark if it is next.
    pub(crate) fn take_mark(&mut self, mark: &Token) -> bool {
        self.parser.consume_token(mark)
    }

    pub(crate) fn expect_mark(&mut self, mark: &Token) -> Result<(), SyntaxError> {
        if self.take_mark(mark) { Ok(()) } else { Err(self.unexpected(&format!("'{mark}'"))) }
    }

    pub(crate) fn next(&mut self) -> TokenWithSpan {
        self.parser.next_token()
    }

    pub(crate) fn peek(&self) -> &TokenWithSpan {
        self.parser.peek_token_ref()
    }

    /// Where the next token is, or where the text ends.
    pub(crate) fn span(&self) -> Span {
        match self.peek() {
            TokenWithSpan { token: Token::EOF, .. } => {
                let end = self.parser.get_current_token().span.end;
                Span::new(end, end)
            }
            found => found.span,
        }
    }

    /// The error that the next token isn't what has to be there.
    pub(crate) fn unexpected(&self, expected: &str) -> SyntaxError {
        let what = format!("Expected: {expected}, found: {}", self.peek());
        SyntaxError::new(what, self.span())
    }

    /// The name of an index, or a part of a table's name.
    pub(crate) fn name(&mut self, what: &str) -> Result<Ident, SyntaxError> {
        match &self.peek().token {
            Token::Word(word) if word.quote_style.is_none() && is_reserved(&word.value) => {
                let hint = "a word of the grammar must be quoted to be a name";
                Err(self.unexpected(what).with_hint(hint))
            }
            _ => self.any_name(what),
        }
    }

    /// A name in a place where no word of the grammar can be.
    pub(crate) fn any_name(&mut self, what: &str) -> Result<Ident, SyntaxError> {
        let span = self.span();
        let ident = match &self.peek().token {
            Token::Word(word) => word.clone().into_ident(span),
            // As exact as an identifier in quotes, and printed as one.
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => {
                Ident::with_quote_and_span('"', span, text)
            }
            _ => return Err(self.unexpected(what)),
        };
        self.parser.advance_token();
        Ok(ident)
    }

    /// The name of a table: `[[catalog.]schema.]table`.
    pub(crate) fn table(&mut self) -> Result<ObjectName, SyntaxError> {
        let mut parts = vec![self.name("the name of a table")?];
        while self.at_mark(&Token::Period) {
            if parts.len() == 3 {
                let what = "The name of a table has at most three parts";
                return Err(SyntaxError::new(what, self.span()));
            }
            self.next();
            parts.push(self.name("the name of a table")?);
        }
        Ok(parts.into())
    }

    /// A column: the path to a leaf, from the outermost struct on.
    pub(crate) fn column(&mut self) -> Result<Vec<Ident>, SyntaxError> {
        let mut path = vec![self.any_name("the name of a column")?];
        while self.take_mark(&Token::Period) {
            path.push(self.any_name("the name of a column")?);
        }
        Ok(path)
    }
}
