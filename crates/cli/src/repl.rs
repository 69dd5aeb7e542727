use std::path::PathBuf;

use lance_index_sql::StatementParser;
use rustyline::{
    Completer, Editor, Helper, Highlighter, Hinter, Result,
    error::ReadlineError,
    history::DefaultHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use crate::shell::{Shell, report};

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
        let text = context.input().trim();
        if text.is_empty() || text.starts_with('\\') || ends_statement(text) {
            Ok(ValidationResult::Valid(None))
        } else {
            Ok(ValidationResult::Incomplete)
        }
    }
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
                if line == "\\q" {
                    break true;
                }
                run_line(shell, line).await;
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

async fn run_line(shell: &mut Shell, line: &str) {
    match line.strip_prefix('\\') {
        None => {
            shell.run(line, false).await;
        }
        Some("?") => println!("{HELP}"),
        Some("d") => {
            shell.run("SHOW TABLES", false).await;
        }
        Some(command) => match command.strip_prefix("d ") {
            Some(table) => {
                shell.run(&format!("DESCRIBE {}", table.trim()), false).await;
            }
            None => report(&format!("there is no command \\{command}; \\? lists them")),
        },
    }
}

fn history_file() -> Option<PathBuf> {
    Some(dirs::home_dir()?.join(".lance_sql_history"))
}
