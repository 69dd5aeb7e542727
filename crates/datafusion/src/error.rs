//! What went wrong, to which object, and whether trying again may help.

use datafusion::{
    common::{Diagnostic, Span},
    error::DataFusionError,
    sql::sqlparser::parser::ParserError,
};
use lance_index_plan::error::PlanError;
use lance_index_sql::SyntaxError;
use thiserror::Error as ThisError;

/// The result of this crate's fallible functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement failed.
///
/// Prints what happened, to which object, and what to do. [`Error::kind`] says what kind of
/// failure it is, for code that has to react to it.
#[derive(Debug, ThisError)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The statement can't be carried out as it is written: a name, an option, a type. Nothing
    /// has been done.
    Invalid,
    /// Something that this version doesn't do. Nothing has been done.
    NotSupported,
    /// Other writers changed the table in a way that the statement can't follow. Nothing has been
    /// committed.
    Conflict,
    /// Lance, the storage or a worker failed. Nothing has been committed.
    Failed,
    /// The statement was committed, but something that belongs to it failed after that.
    Committed,
    /// The commit was sent and its answer was lost: it may or may not have happened.
    OutcomeUnknown,
    /// A bug of this crate.
    Internal,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// What was asked for can't be done as it is spelled; nothing has been done.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn not_supported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotSupported, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// A failure of `action` (which reads on from "while"), with its cause.
    pub(crate) fn failed(
        action: impl std::fmt::Display,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        let text = source.to_string();
        let message = match is_of_a_version_that_is_gone(&text) {
            true => format!(
                "while {action}: a version of the table was removed by a cleanup meanwhile; run the \
                 statement again"
            ),
            false => format!("while {action}: {}", plain(&text)),
        };
        Self { kind: ErrorKind::Failed, message, source: Some(Box::new(source)) }
    }

    /// An attempt of which an engine can't say how it ended.
    pub fn lost(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// One error for the indexes of a statement that failed, by name; `None` if none did.
    pub(crate) fn of_several(failures: &[(String, Self)]) -> Option<Self> {
        let (_, first) = failures.first()?;
        let list: Vec<String> =
            failures.iter().map(|(index, error)| format!("\n  {index}: {error}")).collect();
        let message = format!("{} of the table's indexes failed:{}", list.len(), list.concat());
        Some(Self::new(first.kind, message))
    }

    /// Whether the error points at a place in the statement's text, and so is about the statement
    /// as a whole rather than about one index.
    pub(crate) fn is_about_the_statement(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is::<SyntaxError>())
    }

    /// A statement that Lance refuses, with its reason.
    pub(crate) fn refused(what: String, reason: &dyn std::error::Error) -> Self {
        Self::invalid(format!("{what}: {}", plain(&reason.to_string())))
    }

    /// What failed after `what` was committed.
    pub(crate) fn committed(what: impl std::fmt::Display, version: u64, error: &Self) -> Self {
        let message = format!("{what} was committed in version {version}, but then: {error}");
        Self::new(ErrorKind::Committed, message)
    }

    /// The task of a commit ended before its answer; `teller` is the statement that tells whether it
    /// happened.
    pub(crate) fn cut_short(teller: &str, error: &dyn std::error::Error) -> Self {
        let message = format!("the commit was cut short; {teller} tells what came of it: {error}");
        Self::new(ErrorKind::OutcomeUnknown, message)
    }

    /// [`Error::failed`] for an error of Lance's, which may say that what was asked for is wrong.
    pub(crate) fn lance(action: impl std::fmt::Display, source: lance_core::Error) -> Self {
        let wrong = matches!(
            source,
            lance_core::Error::InvalidInput { .. } | lance_core::Error::NotSupported { .. }
        );
        let mut error = Self::failed(action, source);
        if wrong {
            error.kind = ErrorKind::Invalid;
        }
        error
    }

    /// An error met while a table function's call is planned, with the name of the function.
    pub(crate) fn in_function(function: &str, error: DataFusionError) -> DataFusionError {
        match error {
            // Its places are in the function's arguments, which are no text of a statement.
            DataFusionError::Diagnostic(_, inner) => Self::in_function(function, *inner),
            DataFusionError::External(source) => match source.downcast::<Self>() {
                Ok(mut error) => {
                    error.message = format!("{function}: {}", error.message);
                    DataFusionError::from(*error)
                }
                Err(source) => DataFusionError::External(source).context(function),
            },
            DataFusionError::Plan(message) => {
                DataFusionError::Plan(format!("{function}: {message}"))
            }
            other => other.context(function),
        }
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same statement may succeed when it is run again.
    pub fn retryable(&self) -> bool {
        match self.kind {
            ErrorKind::Conflict | ErrorKind::Failed => true,
            ErrorKind::Invalid
            | ErrorKind::NotSupported
            | ErrorKind::Committed
            | ErrorKind::OutcomeUnknown
            | ErrorKind::Internal => false,
        }
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        let message = error.to_string();
        Self { kind: ErrorKind::Invalid, message, source: Some(Box::new(error)) }
    }
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        // Keeps the position for whoever shows diagnostics.
        let syntax = error.source.as_ref().and_then(|source| source.downcast_ref::<SyntaxError>());
        let diagnostic = syntax.map(|syntax| {
            let span = Span::try_from_sqlparser_span(syntax.span);
            let mut diagnostic = Diagnostic::new_error(syntax.what.clone(), span);
            if let Some(hint) = &syntax.hint {
                diagnostic.add_help(hint, None);
            }
            diagnostic
        });
        let error = Self::External(Box::new(error));
        match diagnostic {
            Some(diagnostic) => error.with_diagnostic(diagnostic),
            None => error,
        }
    }
}

/// What to show a person of an error of a statement: what it says, without a backtrace and without
/// the names of the layers that it came through.
pub fn message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::SQL(error, _) => match error.as_ref() {
            ParserError::ParserError(text) | ParserError::TokenizerError(text) => text.clone(),
            ParserError::RecursionLimitExceeded => error.to_string(),
        },
        DataFusionError::External(source) if source.is::<Error>() => source.to_string(),
        DataFusionError::Diagnostic(_, inner) => message(inner),
        DataFusionError::Context(_, inner) => message(inner),
        DataFusionError::Shared(inner) => message(inner),
        _ => error.strip_backtrace(),
    }
}

/// What Lance has to say, without the places in its source that its errors end in.
fn plain(text: &str) -> String {
    let mut text = text.to_string();
    while let Some(end) = text.find(".rs:") {
        let digits = |from: usize| {
            let rest = text[from..].find(|c: char| !c.is_ascii_digit());
            rest.map_or(text.len(), |rest| from + rest)
        };
        let line = digits(end + ".rs:".len());
        let after = if text[line..].starts_with(':') { digits(line + 1) } else { line };
        // Not a place after all, or the colon that follows one.
        let after = if text[..after].ends_with(':') { after - 1 } else { after };
        let before = text[..end].rfind(", ").unwrap_or(end);
        text.replace_range(before..after, "");
    }
    text
}

/// Whether Lance says that it didn't find a manifest.
fn is_of_a_version_that_is_gone(text: &str) -> bool {
    text.contains("/_versions/") && text.to_ascii_lowercase().contains("not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_lances_source_are_left_out() {
        let text = "Invalid user input: no such type, /home/x/lance-index-1/src/a.rs:529:29";
        assert_eq!(plain(text), "Invalid user input: no such type");
        let twice = "a: b, /x/c.rs:1:2, /x/d.rs:33:4: e";
        assert_eq!(plain(twice), "a: b: e");
        assert_eq!(plain("plain"), "plain");
    }
}
