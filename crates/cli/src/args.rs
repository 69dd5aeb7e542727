use std::{io::IsTerminal, path::PathBuf};

use clap::{ColorChoice, Parser, Subcommand};
use datafusion_cli::{print_format::PrintFormat, print_options::MaxRows};

use crate::worker::WorkerArgs;

/// A shell for Lance tables: DataFusion's SQL, and statements that keep indexes healthy.
///
/// Without -c and -f it reads statements from the terminal.
#[derive(Debug, Parser)]
#[command(name = "lance-sql", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub role: Option<Role>,

    /// Run these statements and exit; may be given several times
    #[arg(short = 'c', long, value_name = "SQL", allow_hyphen_values = true)]
    pub command: Vec<String>,

    /// Run the statements in this file and exit; may be given several times, before any -c
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Vec<PathBuf>,

    /// Register the Lance table at URI under NAME; may be given several times
    #[arg(long, value_name = "NAME=URI", value_parser = name_and_uri)]
    pub table: Vec<(String, String)>,

    /// How to print rows
    #[arg(long, value_enum, default_value_t = PrintFormat::Automatic)]
    pub format: PrintFormat,

    /// Print rows and errors only, and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// The most rows that the table format prints: a number, or inf
    #[arg(long, default_value = "40")]
    pub maxrows: MaxRows,

    /// When to color what is typed, and notices; NO_COLOR in the environment turns `auto` off
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,

    /// With -c or -f: go on after a statement that failed; the exit code is 1 all the same
    #[arg(long)]
    pub keep_going: bool,
}

/// What else the program can be than a shell.
#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// Run the work units that other machines send
    Worker(WorkerArgs),
}

fn name_and_uri(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, uri)) if !name.is_empty() && !uri.is_empty() => {
            Ok((name.to_string(), uri.to_string()))
        }
        _ => Err("write name=uri".to_string()),
    }
}

impl Args {
    /// Whether to color what is written to that stream.
    pub(crate) fn colors(&self, stream: &impl IsTerminal) -> bool {
        let unwanted = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self.color {
            ColorChoice::Auto => stream.is_terminal() && !unwanted(),
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }

    /// What to run: the files in order, then the commands in order.
    pub(crate) fn texts(&self) -> Result<Vec<String>, String> {
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path)
                .map_err(|error| format!("can't read {}: {error}", path.display()))
        };
        let files = self.file.iter().map(read);
        files.chain(self.command.iter().map(|command| Ok(command.clone()))).collect()
    }
}
