use std::fmt;

use datafusion_common::{DataFusionError, Diagnostic, Span as DiagnosticSpan};
use datafusion_sql::sqlparser::parser::ParserError;
use datafusion_sql::sqlparser::tokenizer::Span;

/// Why a text isn't SQL that can be executed.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// One of our statements is wrong.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// Any other statement is wrong, as DataFusion puts it.
    #[error(transparent)]
    DataFusion(#[from] DataFusionError),
}

impl From<ParseError> for DataFusionError {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Syntax(error) => error.into(),
            ParseError::DataFusion(error) => error,
        }
    }
}

/// One of our statements is wrong.
///
/// Prints what is wrong, what to write instead, and where in the text in sqlparser's words:
///
/// ```text
/// Expected: the name of an index, found: WITH (write `INDEX i` for one index
/// or `INDEXES` for all of the table) at Line: 1, Column: 29
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Where it is; lines and columns count from 1. Empty where the statement wasn't read from
    /// a text.
    pub span: Span,
}

impl SyntaxError {
    /// An error at a place.
    pub fn new(what: impl Into<String>, span: Span) -> Self {
        Self { what: what.into(), hint: None, span }
    }

    /// Adds what to write instead.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        write!(f, "{}", self.span.start)
    }
}

impl std::error::Error for SyntaxError {}

/// For a dialect's hook, which can only answer with sqlparser's error.
impl From<SyntaxError> for ParserError {
    fn from(error: SyntaxError) -> Self {
        ParserError::ParserError(error.to_string())
    }
}

/// As DataFusion reports its own: an SQL error, the place of which is in a diagnostic too.
impl From<SyntaxError> for DataFusionError {
    fn from(error: SyntaxError) -> Self {
        let span = DiagnosticSpan::try_from_sqlparser_span(error.span);
        let mut diagnostic = Diagnostic::new_error(error.what.clone(), span);
        if let Some(hint) = &error.hint {
            diagnostic.add_help(hint, None);
        }
        DataFusionError::from(ParserError::from(error)).with_diagnostic(diagnostic)
    }
}
