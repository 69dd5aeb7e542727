use std::{
    collections::HashMap,
    io::Write,
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};

use datafusion::{
    dataframe::DataFrame,
    error::{DataFusionError, Result},
    execution::SessionStateBuilder,
    prelude::{SessionConfig, SessionContext},
};
use datafusion_cli::print_format::PrintFormat;
use datafusion_lance_index::{
    error::message,
    session::{SessionConfigExt, SessionContextExt, SessionStateBuilderExt},
    table::LanceTable,
};
use datafusion_lance_index_distributed::{DistributedExecutors, DriverSecurity};
use lance_index_sql::{ParsedStatement, StatementParser};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{interval, timeout},
};

use crate::{
    args::Args,
    cooperate::CooperativeJoins,
    print::{self, Output, Printing, Running},
    progress::ProgressLine,
};

/// A session and how it prints.
pub(crate) struct Shell {
    pub context: SessionContext,
    pub printing: Printing,
    progress: ProgressLine,
    /// Where statements run.
    workers: Handle,
}

/// How a statement ended that didn't end well.
enum Stopped {
    Failed(String),
    /// With what became of it.
    Interrupted(&'static str),
}

/// How a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    InErrors,
    Interrupted,
}

/// Ready when the user has pressed Ctrl-C since it was first polled.
type Interrupt<'a> = Pin<&'a mut dyn Future<Output = ()>>;

/// Waits for Ctrl-C.
pub(crate) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Where no handler can be set, Ctrl-C ends the process.
        std::future::pending::<()>().await;
    }
}

impl Shell {
    pub(crate) async fn try_new(
        args: &Args,
        progress: ProgressLine,
        workers: Handle,
    ) -> Result<Self> {
        let security = DriverSecurity::from_env();
        let security =
            security.map_err(|error| DataFusionError::Configuration(error.to_string()))?;
        let config = SessionConfig::from_env()?
            .with_information_schema(true)
            .with_executor_factory(Arc::new(DistributedExecutors::new(security)));
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_physical_optimizer_rule(Arc::new(CooperativeJoins))
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
        let (count, timing) = (!args.quiet, !args.quiet);
        let printing = Printing { format, maxrows: args.maxrows, count, timing };
        Ok(Self { context, printing, progress, workers })
    }

    /// Runs the texts in order; stops at the first error unless told to keep going, and when it is
    /// interrupted. Whether all went well.
    pub(crate) async fn run_all(&self, texts: &[String], keep_going: bool) -> bool {
        let mut clean = true;
        for text in texts {
            match self.run(text, keep_going).await {
                Ended::Well => {}
                Ended::InErrors if keep_going => clean = false,
                Ended::InErrors | Ended::Interrupted => return false,
            }
        }
        clean
    }

    /// Runs the statements of a text in order.
    pub(crate) async fn run(&self, text: &str, keep_going: bool) -> Ended {
        let mut interrupt = pin!(interrupted());
        let mut ended = Ended::Well;
        for statement in self.statements(text, keep_going) {
            let done = match statement {
                Ok(statement) => {
                    let context = self.context.clone();
                    let planned = async move { context.lance_statement(&statement).await };
                    self.run_planned(planned, self.printing, interrupt.as_mut()).await
                }
                Err(error) => Err(Stopped::Failed(error)),
            };
            match ended_as(done) {
                Ended::Well => {}
                Ended::InErrors if keep_going => ended = Ended::InErrors,
                stopped => return stopped,
            }
        }
        ended
    }

    /// Runs what a command plans; its rows are printed without a summary.
    pub(crate) async fn run_command(
        &self,
        planned: impl Future<Output = Result<DataFrame>> + Send + 'static,
    ) -> Ended {
        let printing = Printing { count: false, timing: false, ..self.printing };
        ended_as(self.run_planned(planned, printing, pin!(interrupted())).await)
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

    /// Runs a statement, and waits for its end or for Ctrl-C.
    async fn run_planned(
        &self,
        planned: impl Future<Output = Result<DataFrame>> + Send + 'static,
        printing: Printing,
        mut interrupt: Interrupt<'_>,
    ) -> std::result::Result<(), Stopped> {
        let started = Instant::now();
        let (output, running) = (Output::new(self.progress.clone()), Running::default());
        let run = print::run(planned, printing, output.clone(), running.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let workers = self.workers.clone();
        // A thread of its own: as a task it would wait for a worker to drop it, and these may be busy
        // for long with what it has spawned.
        let mut statement = self.workers.spawn_blocking(move || {
            workers.block_on(async {
                tokio::select! {
                    biased;
                    // Its work units stop as well; nothing of it is committed.
                    _ = stopped => None,
                    done = run => Some(done),
                }
            })
        });
        let mut ticks = interval(Duration::from_millis(200));
        self.progress.begin();
        let done = loop {
            tokio::select! {
                done = &mut statement => break match done {
                    Ok(Some(Err(error))) => Err(Stopped::Failed(message(&error))),
                    Ok(Some(Ok(())) | None) => Ok(()),
                    Err(error) => Err(Stopped::Failed(error.to_string())),
                },
                () = &mut interrupt => {
                    output.close().await;
                    self.progress.clear_echo();
                    drop(stop);
                    let done = timeout(Duration::from_secs(5), &mut statement).await;
                    break Err(Stopped::Interrupted(match done {
                        Ok(Ok(Some(Ok(())))) => "the statement was done",
                        Ok(_) => "the statement was stopped",
                        Err(_) => "the statement stops as soon as it can",
                    }));
                }
                _ = ticks.tick(), if self.progress.is_wanted() => {
                    self.progress.show(started.elapsed(), running.get());
                }
            }
        };
        self.progress.end();
        done
    }
}

/// Shows why a statement didn't end well.
fn ended_as(done: std::result::Result<(), Stopped>) -> Ended {
    match done {
        Ok(()) => Ended::Well,
        Err(Stopped::Failed(error)) => {
            report(&error);
            Ended::InErrors
        }
        Err(Stopped::Interrupted(what)) => {
            report(&format!("interrupted; {what}"));
            Ended::Interrupted
        }
    }
}

/// Prints an error to stderr.
pub(crate) fn report(error: &str) {
    // Nothing can be done where stderr is gone.
    let _ = writeln!(std::io::stderr(), "Error: {error}");
}
