//! Measures the planning of index maintenance, without a table.

mod history;
mod others;
mod plan_time;
mod policy;
mod simulate;

use std::{
    io::{Write, stdout},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};

use history::History;

/// Measures the planning of index maintenance, without a table.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs merge policies over histories of appends and prints what remains and what is written.
    Simulate(Simulate),
    /// Prints how long the planning of merges takes.
    PlanTime,
}

#[derive(Args)]
struct Simulate {
    /// Appends in each history.
    #[arg(long, default_value_t = 10_000)]
    steps: usize,
    /// Rows that a segment is to have.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    target_rows: u64,
    /// The merge factor, or what comes closest to it in another policy.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(2..=1000))]
    merge_factor: u64,
    /// Median rows of an append.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    append_rows: u64,
    /// Where the random numbers start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let printed = match Arguments::parse().command {
        Command::Simulate(arguments) => simulate(&arguments),
        Command::PlanTime => plan_time::measure().and_then(|table| print(&table)),
    };
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn print(text: &str) -> Result<()> {
    Ok(stdout().write_all(text.as_bytes())?)
}

/// Prints the results as a table in Markdown.
///
/// # Errors
/// If a policy didn't keep its bounds, after the table.
fn simulate(arguments: &Simulate) -> Result<()> {
    let mut broken = Vec::new();
    let mut table = String::from(
        "| appends | policy | segments, at the end | at most | largest output, in targets | bytes written per byte indexed | planning a step, µs |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for history in History::ALL {
        let steps = history.steps(arguments.steps, arguments.append_rows, arguments.seed)?;
        for policy in policy::all(arguments.target_rows, arguments.merge_factor)? {
            let result = simulate::run(&steps, policy.as_ref())?;
            if let Some(bound) = &result.broken {
                broken.push(format!("{history}, {}: {bound}", policy.name()));
            }
            table += &format!(
                "| {history} | {} | {} | {} | {:.1} | {:.1} | {:.1} |\n",
                policy.name(),
                result.segments,
                result.max_segments,
                result.largest_output as f64 / arguments.target_rows as f64,
                result.write_amplification(),
                result.planning.as_secs_f64() * 1e6 / steps.len().max(1) as f64,
            );
        }
    }
    print(&table)?;
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n").into()) }
}
