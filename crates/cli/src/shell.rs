use std::{
    collections::HashMap,
    io::{IsTerminal, Write},
    sync::Arc,
};

use datafusion::{
    common::instant::Instant,
    error::Result,
    execution::SessionStateBuilder,
    prelude::{SessionConfig, SessionContext},
};
use datafusion_cli::{
    object_storage::instrumented::InstrumentedObjectStoreRegistry,
    print_format::PrintFormat,
    print_options::{MaxRows, PrintOptions},
};
use datafusion_lance_index::{
    error::message,
    session::{SessionContextExt, SessionStateBuilderExt},
    table::LanceTable,
};
use futures::StreamExt;
use lance_index_sql::{ParsedStatement, StatementParser};

use crate::args::Args;

/// A session and how it prints.
pub(crate) struct Shell {
    context: SessionContext,
    print: PrintOptions,
    keep_going: bool,
}

/// How a statement ended that didn't end well.
enum Stopped {
    Failed(String),
    Interrupted,
}

/// How a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    InErrors,
    Interrupted,
}

impl Shell {
    pub(crate) async fn try_new(args: &Args) -> Result<Self> {
        let config = SessionConfig::from_env()?.with_information_schema(true);
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_lance_index()
            .build();
        let context = SessionContext::new_with_state(state);
        for (name, uri) in &args.table {
            let table = LanceTable::open(uri, HashMap::new()).await?;
            context.register_table(name.as_str(), Arc::new(table))?;
        }
        let format = match args.format {
            PrintFormat::Automatic => PrintFormat::Table,
            chosen => chosen,
        };
        let print = PrintOptions {
            format,
            quiet: args.quiet,
            maxrows: args.maxrows,
            color: std::io::stdout().is_terminal(),
            instrumented_registry: Arc::new(InstrumentedObjectStoreRegistry::new()),
        };
        Ok(Self { context, print, keep_going: args.keep_going })
    }

    /// Runs the texts in order; stops at the first error unless told to keep going, and when it is
    /// interrupted. Whether all went well.
    pub(crate) async fn run_all(&mut self, texts: &[String]) -> bool {
        let mut clean = true;
        for text in texts {
            match self.run(text, self.keep_going).await {
                Ended::Well => {}
                Ended::InErrors if self.keep_going => clean = false,
                Ended::InErrors | Ended::Interrupted => return false,
            }
        }
        clean
    }

    /// Runs the statements of a text in order.
    pub(crate) async fn run(&mut self, text: &str, keep_going: bool) -> Ended {
        let mut ended = Ended::Well;
        for statement in self.statements(text, keep_going) {
            let done = match statement {
                Ok(statement) => self.run_statement(&statement).await,
                Err(error) => Err(Stopped::Failed(error)),
            };
            match done {
                Ok(()) => {}
                Err(Stopped::Failed(error)) => {
                    report(&error);
                    ended = Ended::InErrors;
                    if !keep_going {
                        break;
                    }
                }
                Err(Stopped::Interrupted) => {
                    report("interrupted; the statement was stopped");
                    return Ended::Interrupted;
                }
            }
        }
        ended
    }

    /// The statements of the text, and the errors of those that are wrong.
    fn statements(
        &self,
        text: &str,
        keep_going: bool,
    ) -> Vec<std::result::Result<ParsedStatement, String>> {
        let dialect = self.context.lance_dialect();
        let limit = self.context.state().config_options().sql_parser.recursion_limit;
        let mut parser = match StatementParser::with_recursion_limit(text, &dialect, limit) {
            Ok(parser) => parser,
            Err(error) => return vec![Err(message(&error.into()))],
        };
        let mut statements = Vec::new();
        while let Some(parsed) = parser.next() {
            let failed = parsed.is_err();
            statements.push(match parsed {
                Ok(parsed) => Ok(parsed.statement),
                Err(error) => Err(message(&error.into())),
            });
            if failed && keep_going {
                parser.skip_failed();
            }
        }
        statements
    }

    async fn run_statement(&self, statement: &ParsedStatement) -> std::result::Result<(), Stopped> {
        tokio::select! {
            done = self.print_statement(statement) => {
                done.map_err(|error| Stopped::Failed(message(&error)))
            }
            // Dropping the statement stops its work units; nothing of it is committed.
            _ = tokio::signal::ctrl_c() => Err(Stopped::Interrupted),
        }
    }

    async fn print_statement(&self, statement: &ParsedStatement) -> Result<()> {
        let started = Instant::now();
        let frame = self.context.lance_statement(statement).await?;
        let format = self.context.state().config_options().format.clone();
        let mut rows = frame.execute_stream().await?;
        let schema = rows.schema();
        // A table is as wide as its widest row, and JSON one array, so these wait for all rows.
        let streamed =
            matches!(self.print.format, PrintFormat::Csv | PrintFormat::Tsv | PrintFormat::NdJson);
        let (mut held, mut count, mut failed) = (Vec::new(), 0, None);
        while let Some(batch) = rows.next().await {
            match batch {
                Ok(batch) if streamed => {
                    let mut out = std::io::stdout().lock();
                    let (first, most) = (count == 0, MaxRows::Unlimited);
                    let (schema, print) = (schema.clone(), self.print.format);
                    count += batch.num_rows();
                    print.print_batches(&mut out, schema, &[batch], most, first, &format)?;
                }
                Ok(batch) => {
                    count += batch.num_rows();
                    if self.shows(count - batch.num_rows()) {
                        held.push(batch);
                    }
                }
                // What a statement did before it failed is shown before the error.
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if failed.is_none() || count > 0 {
            self.print.print_batches(schema, &held, started, count, &format)?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Whether a row after that many is still shown.
    fn shows(&self, rows: usize) -> bool {
        match self.print.maxrows {
            MaxRows::Limited(most) if self.print.format == PrintFormat::Table => rows <= most,
            _ => true,
        }
    }
}

/// Prints an error to stderr.
pub(crate) fn report(error: &str) {
    // Nothing can be done where stderr is gone.
    let _ = writeln!(std::io::stderr(), "Error: {error}");
}
