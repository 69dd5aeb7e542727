//! Reading statements and commands.

mod commands;
mod complete;
mod highlight;
mod input;
mod lexed;
mod names;
pub(crate) mod piped;
mod words;

use std::{io::Write, path::PathBuf};

use datafusion_lance_index::session::SessionContextExt;
use rustyline::{
    ColorMode, CompletionType, Config, Editor, error::ReadlineError, history::DefaultHistory,
};

use crate::{
    args::Args,
    shell::{Ended, Shell, report},
};
use input::Input;
use names::Names;

/// Statements that the history keeps.
const HISTORY: usize = 1000;

/// Reads statements from the terminal until the end. Whether nothing went wrong with the terminal;
/// errors of statements are shown and forgotten.
pub(crate) async fn run(shell: &mut Shell, args: &Args) -> bool {
    let mut editor = match editor(shell, args) {
        Ok(editor) => editor,
        Err(error) => {
            report(&error.to_string());
            return false;
        }
    };
    if !args.quiet {
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(std::io::stdout(), "lance-sql {version}; \\? for help, \\q to leave");
    }
    let history = history_file();
    if let Some(history) = &history {
        // There is none before the first session.
        let _ = editor.load_history(history);
    }
    loop {
        if let Some(input) = editor.helper_mut() {
            // A statement may have changed either.
            input.dialect = shell.context.lance_dialect();
            input.names = Names::of(&shell.context).await;
        }
        match editor.readline("> ") {
            Ok(line) => {
                let line = line.trim();
                if line.is_empty() {
                    continue;
                }
                let _ = editor.add_history_entry(line);
                if let Some(history) = &history {
                    // At once, so that a session that ends badly leaves one, and beside others.
                    let _ = editor.append_history(history);
                }
                if run_line(shell, line).await.is_none() {
                    return true;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return true,
            Err(error) => {
                report(&error.to_string());
                return false;
            }
        }
    }
}

fn editor(shell: &Shell, args: &Args) -> rustyline::Result<Editor<Input, DefaultHistory>> {
    let colors = args.colors(&std::io::stdout());
    let config = Config::builder()
        .max_history_size(HISTORY)?
        .completion_type(CompletionType::List)
        .color_mode(if colors { ColorMode::Forced } else { ColorMode::Disabled })
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Input::new(shell.context.lance_dialect())));
    Ok(editor)
}

fn history_file() -> Option<PathBuf> {
    Some(dirs::home_dir()?.join(".lance_sql_history"))
}

/// Runs a command, or statements; `None` to leave.
async fn run_line(shell: &mut Shell, line: &str) -> Option<Ended> {
    match line.strip_prefix('\\') {
        Some(command) => commands::run(shell, command).await,
        None => Some(shell.run(line, false).await),
    }
}
