use std::{io::Write, path::PathBuf};

use lance_index_sql::StatementParser;
use rustyline::{
    Completer, Editor, Helper, Highlighter, Hinter, Result,
    error::ReadlineError,
    history::DefaultHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use crate::shell::{Ended, Shell, report};

const HELP: &str = "\
\\q         leave
\\d         list the tables
\\d NAME    describe a table
\\?         this help
Statements end with a semicolon and may take several lines. Ctrl-C stops a statement,
Ctrl-D leaves.";

/// Takes a line for complete when it is a command, or ends a statement.
#[derive(Completer, Helper, Highlighter, Hinter)]
struct Input;

impl Validator for Input {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        if is_complete(context.input()) {
            Ok(ValidationResult::Valid(None))
        } else {
            Ok(ValidationResult::Incomplete)
        }
    }
}

fn is_complete(input: &str) -> bool {
    let text = input.trim();
    text.is_empty() || text.starts_with('\\') || ends_statement(text)
}

/// Whether the text ends with a semicolon that isn't in a string or a comment.
fn ends_statement(text: &str) -> bool {
    let dialect = lance_index_sql::LanceIndexDialect::default();
    // A text whose tokens can't be read may end within a string.
    text.ends_with(';')
        && StatementParser::new(text, &dialect)
            .is_ok_and(|mut parser| !parser.any(|parsed| parsed.is_err_and(|e| is_open(&e))))
}

fn is_open(error: &lance_index_sql::ParseError) -> bool {
    error.to_string().contains("Unterminated")
}

/// Reads statements from the terminal until the end. Whether nothing went wrong with the terminal;
/// errors of statements are shown and forgotten.
pub(crate) async fn run(shell: &mut Shell) -> bool {
    let mut editor = match Editor::<Input, DefaultHistory>::new() {
        Ok(editor) => editor,
        Err(error) => {
            report(&error.to_string());
            return false;
        }
    };
    editor.set_helper(Some(Input));
    let history = history_file();
    if let Some(history) = &history {
        // There is none before the first session.
        let _ = editor.load_history(history);
    }
    let clean = loop {
        match editor.readline("> ") {
            Ok(line) => {
                let line = line.trim();
                if line.is_empty() {
                    continue;
                }
                let _ = editor.add_history_entry(line);
                if run_line(shell, line).await.is_none() {
                    break true;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break true,
            Err(error) => {
                report(&error.to_string());
                break false;
            }
        }
    };
    if let Some(history) = &history {
        let _ = editor.save_history(history);
    }
    clean
}

/// The same, read from a pipe or a file: no prompt, no history, and what stands last needs no
/// semicolon. An interrupt ends it.
pub(crate) async fn run_piped(shell: &mut Shell) -> bool {
    let mut input = String::new();
    for line in std::io::stdin().lines() {
        match line {
            Ok(line) => input = input + &line + "\n",
            Err(error) => {
                report(&error.to_string());
                return false;
            }
        }
        if is_complete(&input) {
            match run_line(shell, input.trim()).await {
                None => return true,
                Some(Ended::Interrupted) => return false,
                Some(Ended::Well | Ended::InErrors) => input.clear(),
            }
        }
    }
    run_line(shell, input.trim()).await != Some(Ended::Interrupted)
}

/// Runs a command, or statements; `None` to leave.
async fn run_line(shell: &mut Shell, line: &str) -> Option<Ended> {
    let Some(command) = line.strip_prefix('\\') else {
        return Some(shell.run(line, false).await);
    };
    match command.split_once(' ').map_or((command, ""), |(name, rest)| (name, rest.trim())) {
        ("q", "") => return None,
        ("?", "") => drop(writeln!(std::io::stdout(), "{HELP}")),
        ("d", "") => return Some(shell.run("SHOW TABLES", false).await),
        ("d", table) => return Some(shell.run(&format!("DESCRIBE {table}"), false).await),
        _ => report(&format!("there is no command \\{command}; \\? lists them")),
    }
    Some(Ended::Well)
}

fn history_file() -> Option<PathBuf> {
    Some(dirs::home_dir()?.join(".lance_sql_history"))
}
