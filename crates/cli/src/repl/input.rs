use std::borrow::Cow;

use lance_index_sql::LanceIndexDialect;
use rustyline::{
    Context, Helper, Hinter, Result,
    completion::{Completer, Pair},
    highlight::{CmdKind, Highlighter},
    validate::{ValidationContext, ValidationResult, Validator},
};

use super::{complete::complete, highlight::highlight, lexed::is_complete, names::Names};

/// What the terminal is to know of the language.
#[derive(Helper, Hinter)]
pub(super) struct Input {
    pub dialect: LanceIndexDialect,
    pub names: Names,
}

impl Input {
    pub(super) fn new(dialect: LanceIndexDialect) -> Self {
        Self { dialect, names: Names::default() }
    }
}

/// Enter ends a line that is a command, or that ends a statement.
impl Validator for Input {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let text = context.input();
        if is_command(text) || is_complete(text, &self.dialect) {
            Ok(ValidationResult::Valid(None))
        } else {
            Ok(ValidationResult::Incomplete)
        }
    }
}

pub(super) fn is_command(text: &str) -> bool {
    text.trim_start().starts_with('\\')
}

impl Highlighter for Input {
    fn highlight<'l>(&self, line: &'l str, _cursor: usize) -> Cow<'l, str> {
        if is_command(line) { line.into() } else { highlight(line, &self.dialect).into() }
    }

    fn highlight_char(&self, _line: &str, _cursor: usize, kind: CmdKind) -> bool {
        // A quote or a letter colors all that follows.
        kind != CmdKind::MoveCursor
    }
}

impl Completer for Input {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _context: &Context<'_>,
    ) -> Result<(usize, Vec<Pair>)> {
        complete(line.get(..cursor).unwrap_or(line), &self.names, &self.dialect)
    }
}
