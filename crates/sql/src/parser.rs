use std::ops::Range;

use datafusion_sql::parser::{DFParser, DFParserBuilder, Statement};
use datafusion_sql::sqlparser::keywords::Keyword;
use datafusion_sql::sqlparser::parser::{Parser, ParserError};
use datafusion_sql::sqlparser::tokenizer::{Location, Span, Token, Tokenizer};

use crate::recognise::{Form, recognise};
use crate::tokens::is_keyword;
use crate::{
    Explain, IndexStatement, LanceIndexDialect, ParseError, Parsed, ParsedStatement, SyntaxError,
    grammar,
};

/// As in DataFusion and in sqlparser.
const DEFAULT_RECURSION_LIMIT: usize = 50;

/// Reads a text of several statements one by one: ours, and all that DataFusion knows.
///
/// A statement is read when it is asked for, so that the ones before a wrong statement can be
/// executed. An error ends the iteration, so that the ones after it can't be by accident;
/// [`skip_failed`](Self::skip_failed) goes on. Positions are in the whole text.
///
/// The parser isn't `Send`. Where that is asked for, collect it first: nothing is lost, for an
/// error is an item, and the last one.
///
/// ```
/// # use lance_index_sql::{LanceIndexDialect, StatementParser};
/// let dialect = LanceIndexDialect::default();
/// let text = "SELECT 1; ALTER TABLE t REFRESH INDEX; SELECT 2";
/// let items: Vec<_> = StatementParser::new(text, &dialect)?.collect();
/// assert_eq!(items.len(), 2);
/// assert!(items[0].is_ok());
/// assert!(items[1].as_ref().is_err_and(|e| e.to_string().ends_with("at Line: 1, Column: 38")));
/// # Ok::<(), lance_index_sql::ParseError>(())
/// ```
pub struct StatementParser<'a> {
    parser: DFParser<'a>,
    /// Where the statement begins that was asked for last.
    start: Location,
    /// Where the `;` are.
    delimiters: Vec<Location>,
    /// What can't be split into tokens, after all that can.
    rest: Option<ParseError>,
    failed: bool,
    offsets: Offsets<'a>,
}

impl<'a> StatementParser<'a> {
    /// Reads `text` as a session does that uses the base of `dialect`.
    ///
    /// # Errors
    /// As DataFusion's parser is built; a wrong statement isn't an error yet.
    pub fn new(text: &'a str, dialect: &'a LanceIndexDialect) -> Result<Self, ParseError> {
        Self::with_recursion_limit(text, dialect, DEFAULT_RECURSION_LIMIT)
    }

    /// As [`new`](Self::new), with another limit to how deep a statement may be nested.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_recursion_limit(
        text: &'a str,
        dialect: &'a LanceIndexDialect,
        recursion_limit: usize,
    ) -> Result<Self, ParseError> {
        let mut tokens = Vec::new();
        let rest = Tokenizer::new(dialect, text)
            .tokenize_with_location_into_buf(&mut tokens)
            .map_err(|error| ParseError::DataFusion(ParserError::from(error).into()))
            .err();
        if rest.is_some() {
            // The statement with the fault in it has no end.
            let end = tokens.iter().rposition(|t| t.token == Token::SemiColon);
            tokens.truncate(end.map_or(0, |last| last + 1));
        }
        let delimiters = tokens
            .iter()
            .filter(|token| token.token == Token::SemiColon)
            .map(|token| token.span.start)
            .collect();
        let parser = DFParserBuilder::new(tokens)
            .with_dialect(dialect)
            .with_recursion_limit(recursion_limit)
            .build()?;
        Ok(Self {
            parser,
            start: Location::new(1, 1),
            delimiters,
            rest,
            failed: false,
            offsets: Offsets::new(text),
        })
    }

    /// After an error: goes on behind the `;` that ends the statement that failed.
    ///
    /// Does nothing if the last statement didn't fail.
    pub fn skip_failed(&mut self) {
        if !self.failed {
            return;
        }
        self.failed = false;
        let next = self.delimiters.partition_point(|at| *at < self.start);
        let end = self.delimiters.get(next).copied();
        let parser = &mut self.parser.parser;
        let is_past = |parser: &Parser<'_>| {
            let found = parser.peek_token_ref();
            end.is_some_and(|end| found.token == Token::EOF || found.span.start > end)
        };
        // The parser may have read the `;`, and found that it stands too early.
        while parser.get_current_index() > 0 && is_past(parser) {
            parser.prev_token();
        }
        while parser.peek_token_ref().token != Token::EOF
            && end.is_none_or(|end| parser.peek_token_ref().span.start < end)
        {
            parser.advance_token();
        }
    }

    fn parse(&mut self) -> Result<Parsed, ParseError> {
        let statement = self.parse_statement()?;
        let parser = &self.parser.parser;
        let found = parser.peek_token_ref();
        if !matches!(found.token, Token::SemiColon | Token::EOF) {
            let what = format!("Expected: end of statement, found: {found}");
            return Err(SyntaxError::new(what, found.span).into());
        }
        let span = Span::new(self.start, end_of_last_token(parser));
        Ok(Parsed { statement, span, range: self.offsets.range(span) })
    }

    fn parse_statement(&mut self) -> Result<ParsedStatement, ParseError> {
        let parser = &mut self.parser.parser;
        if let Some(form) = recognise(parser, 0) {
            let statement = grammar::parse(parser, form)?;
            return Ok(ParsedStatement::Index(Box::new(statement)));
        }
        if let Some(form) = after_explain(parser).and_then(|n| recognise(parser, n)) {
            return self.parse_explain(form);
        }
        // A procedure of ours may have been called literally.
        match self.parser.parse_statement()? {
            Statement::Statement(statement)
                if let Some(statement) = IndexStatement::from_sqlparser(&statement)? =>
            {
                Ok(ParsedStatement::Index(Box::new(statement)))
            }
            Statement::Explain(explain)
                if let Statement::Statement(statement) = &*explain.statement
                    && let Some(statement) = IndexStatement::from_sqlparser(statement)? =>
            {
                Ok(ParsedStatement::Explain(Box::new(Explain {
                    analyze: explain.analyze,
                    verbose: explain.verbose,
                    format: explain.format,
                    statement,
                })))
            }
            other => Ok(ParsedStatement::Other(Box::new(other))),
        }
    }

    fn parse_explain(&mut self, form: Form) -> Result<ParsedStatement, ParseError> {
        self.parser.parser.advance_token();
        let analyze = self.parser.parser.parse_keyword(Keyword::ANALYZE);
        let verbose = self.parser.parser.parse_keyword(Keyword::VERBOSE);
        let format = self.parser.parse_explain_format()?;
        let statement = grammar::parse(&mut self.parser.parser, form)?;
        Ok(ParsedStatement::Explain(Box::new(Explain { analyze, verbose, format, statement })))
    }
}

impl Iterator for StatementParser<'_> {
    type Item = Result<Parsed, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let parser = &mut self.parser.parser;
        while parser.consume_token(&Token::SemiColon) {}
        let first = parser.peek_token_ref();
        let item = if first.token == Token::EOF {
            Err(self.rest.take()?)
        } else {
            self.start = first.span.start;
            self.parse()
        };
        self.failed = item.is_err();
        Some(item)
    }
}

/// The position after `EXPLAIN [ANALYZE] [VERBOSE] [FORMAT format]`, if that is next.
fn after_explain(parser: &Parser<'_>) -> Option<usize> {
    let is = |n, word| is_keyword(parser, n, word);
    if !is(0, "EXPLAIN") {
        return None;
    }
    let mut n = 1;
    n += usize::from(is(n, "ANALYZE"));
    n += usize::from(is(n, "VERBOSE"));
    n += if is(n, "FORMAT") { 2 } else { 0 };
    Some(n)
}

fn end_of_last_token(parser: &Parser<'_>) -> Location {
    let mut index = parser.get_current_index();
    while index > 0 && matches!(parser.token_at(index).token, Token::Whitespace(_)) {
        index -= 1;
    }
    parser.token_at(index).span.end
}

/// Turns the lines and columns of a text into bytes, from its beginning to its end.
struct Offsets<'a> {
    text: &'a str,
    location: Location,
    offset: usize,
}

impl<'a> Offsets<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, location: Location::new(1, 1), offset: 0 }
    }

    fn range(&mut self, span: Span) -> Range<usize> {
        self.advance(span.start)..self.advance(span.end)
    }

    fn advance(&mut self, to: Location) -> usize {
        let rest = self.text.get(self.offset..).unwrap_or_default();
        for c in rest.chars() {
            if self.location >= to {
                break;
            }
            self.offset += c.len_utf8();
            if c == '\n' {
                self.location = Location::new(self.location.line + 1, 1);
            } else {
                self.location.column += 1;
            }
        }
        self.offset
    }
}
