use std::fmt;
use std::ops::Range;

use datafusion_sql::parser::Statement;
use datafusion_sql::sqlparser::tokenizer::Span;

use crate::IndexStatement;
use crate::names::{is_word, write_quoted};

/// A statement and where it is.
#[derive(Debug)]
pub struct Parsed {
    /// The statement.
    pub statement: ParsedStatement,
    /// Its lines and columns in the text, without the `;`.
    pub span: Span,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// A statement of ours or of DataFusion's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedStatement {
    /// One of ours.
    Index(Box<IndexStatement>),
    /// `EXPLAIN` of one of ours.
    Explain(Box<Explain>),
    /// Any other, as DataFusion reads it.
    Other(Box<Statement>),
}

/// `EXPLAIN` of a statement of ours.
///
/// ```sql
/// EXPLAIN [ANALYZE] [VERBOSE] [FORMAT format] statement
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explain {
    /// `ANALYZE`
    pub analyze: bool,
    /// `VERBOSE`
    pub verbose: bool,
    /// `FORMAT format`
    pub format: Option<String>,
    /// The statement to explain.
    pub statement: IndexStatement,
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EXPLAIN ")?;
        if self.analyze {
            f.write_str("ANALYZE ")?;
        }
        if self.verbose {
            f.write_str("VERBOSE ")?;
        }
        if let Some(format) = &self.format {
            f.write_str("FORMAT ")?;
            if is_word(format) {
                f.write_str(format)?;
            } else {
                write_quoted(f, format, '\'')?;
            }
            f.write_str(" ")?;
        }
        self.statement.fmt(f)
    }
}
