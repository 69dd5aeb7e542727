//! `lance-sql`: a shell for Lance tables.

mod args;
mod cooperate;
mod print;
mod progress;
mod repl;
mod shell;
mod worker;

use std::{io::IsTerminal, process::ExitCode, time::Duration};

use clap::Parser;
use datafusion_lance_index::error::message;
use tokio::runtime::Builder;

use args::{Args, Role};
use progress::ProgressLine;
use shell::{Shell, report};

/// Plans are deep, and so are the futures that make them, above all in a debug build.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(Role::Worker(args)) = args.role {
        return worker::run(args);
    }
    let progress = ProgressLine::new(!args.quiet && std::io::stderr().is_terminal());
    log_notices(args.colors(&std::io::stderr()), progress.clone());
    // Statements have threads of their own: Ctrl-C is heard while all of them are busy.
    let workers = Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build();
    let front = Builder::new_current_thread().enable_all().build();
    let (workers, front) = match (workers, front) {
        (Ok(workers), Ok(front)) => (workers, front),
        (Err(error), _) | (_, Err(error)) => {
            report(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    let clean = match workers.block_on(Shell::try_new(&args, progress, workers.handle().clone())) {
        Ok(shell) => front.block_on(run(shell, &args)),
        Err(error) => {
            report(&message(&error));
            false
        }
    };
    // What an interrupted statement left behind isn't worth waiting for.
    workers.shutdown_timeout(Duration::from_secs(1));
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether all went well.
async fn run(mut shell: Shell, args: &Args) -> bool {
    match args.texts() {
        Ok(texts) if texts.is_empty() && std::io::stdin().is_terminal() => {
            repl::run(&mut shell, args).await
        }
        Ok(texts) if texts.is_empty() => repl::piped::run(&mut shell).await,
        Ok(texts) => shell.run_all(&texts, args.keep_going).await,
        Err(error) => {
            report(&error);
            false
        }
    }
}

/// Shows on stderr what statements have to say besides their rows.
fn log_notices(colors: bool, progress: ProgressLine) {
    use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt};
    let ours = Targets::new().with_target("datafusion_lance_index", tracing::Level::INFO);
    let notices = fmt::layer()
        .with_writer(move || progress.clone())
        .with_ansi(colors)
        .without_time()
        .with_target(false);
    tracing_subscriber::registry().with(notices).with(ours).init();
}
