//! `lance-sql`: a shell for Lance tables.

mod args;
mod repl;
mod shell;

use std::{io::IsTerminal, process::ExitCode};

use clap::Parser;
use datafusion_lance_index::error::message;

use args::Args;
use shell::{Shell, report};

#[tokio::main]
async fn main() -> ExitCode {
    log_notices();
    let args = Args::parse();
    let mut shell = match Shell::try_new(&args).await {
        Ok(shell) => shell,
        Err(error) => {
            report(&message(&error));
            return ExitCode::FAILURE;
        }
    };
    let clean = match args.texts() {
        Ok(texts) if texts.is_empty() && std::io::stdin().is_terminal() => {
            repl::run(&mut shell).await
        }
        Ok(texts) if texts.is_empty() => repl::run_piped(&mut shell).await,
        Ok(texts) => shell.run_all(&texts).await,
        Err(error) => {
            report(&error);
            false
        }
    };
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Shows on stderr what statements have to say besides their rows.
fn log_notices() {
    use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt};
    let ours = Targets::new().with_target("datafusion_lance_index", tracing::Level::INFO);
    let notices = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false);
    tracing_subscriber::registry().with(notices).with(ours).init();
}
