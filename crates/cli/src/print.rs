use std::{
    io::{self, BufWriter, IsTerminal, Write},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use datafusion::{
    common::runtime::SpawnedTask,
    dataframe::DataFrame,
    error::{DataFusionError, Result},
    physical_plan::{ExecutionPlan, execute_stream},
};
use datafusion_cli::{print_format::PrintFormat, print_options::MaxRows};
use futures::StreamExt;
use tokio::sync::Mutex;

use crate::progress::ProgressLine;

/// How rows are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printing {
    pub format: PrintFormat,
    /// The most rows of the table format.
    pub maxrows: MaxRows,
    /// Whether to say how many rows there were.
    pub count: bool,
    /// Whether to say how long it took.
    pub timing: bool,
}

/// What a statement executes, once that is known.
pub(crate) type Running = Arc<OnceLock<Arc<dyn ExecutionPlan>>>;

/// Standard output, until it is closed.
///
/// Rows are written by threads that nothing stops while they make a large table of them.
#[derive(Clone)]
pub(crate) struct Output {
    closed: Arc<AtomicBool>,
    /// Held while something is written.
    writing: Arc<Mutex<()>>,
    progress: ProgressLine,
}

impl Output {
    pub(crate) fn new(progress: ProgressLine) -> Self {
        Self { closed: Arc::default(), writing: Arc::default(), progress }
    }

    /// Has nothing written from now on.
    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        // Whoever reads may have stopped to: then what is being written stays so.
        let _ = tokio::time::timeout(Duration::from_secs(1), self.writing.lock()).await;
    }

    async fn print(
        &self,
        print: impl FnOnce(&mut BufWriter<Self>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let output = self.clone();
        let printed = SpawnedTask::spawn_blocking(move || {
            let mut buffer = BufWriter::new(output);
            print(&mut buffer)?;
            Ok(buffer.flush()?)
        });
        printed.join().await.map_err(|error| DataFusionError::External(Box::new(error)))?
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _writing = self.writing.blocking_lock();
        if self.closed.load(Ordering::SeqCst) {
            return Err(io::Error::other("the statement was stopped"));
        }
        let mut stdout = io::stdout();
        // The two may share a terminal.
        if stdout.is_terminal() {
            self.progress.end();
        }
        stdout.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Runs what is planned and prints its rows.
pub(crate) async fn run(
    planned: impl Future<Output = Result<DataFrame>>,
    printing: Printing,
    output: Output,
    running: Running,
) -> Result<()> {
    let started = Instant::now();
    let frame = planned.await?;
    let context = Arc::new(frame.task_ctx());
    let format = context.session_config().options().format.clone();
    let plan = frame.create_physical_plan().await?;
    let plan = running.get_or_init(|| plan).clone();
    let mut rows = execute_stream(plan, context)?;
    let schema = rows.schema();
    // A table is as wide as its widest row, and JSON one array, so these wait for all rows.
    let streamed =
        matches!(printing.format, PrintFormat::Csv | PrintFormat::Tsv | PrintFormat::NdJson);
    let (mut held, mut count, mut failed) = (Vec::new(), 0, None);
    while let Some(batch) = rows.next().await {
        match batch {
            Ok(batch) if streamed => {
                let (schema, first, format) = (schema.clone(), count == 0, format.clone());
                count += batch.num_rows();
                let (kind, most) = (printing.format, MaxRows::Unlimited);
                let print = move |out: &mut BufWriter<Output>| {
                    kind.print_batches(out, schema, &[batch], most, first, &format)
                };
                output.print(print).await?;
            }
            Ok(batch) => {
                if printing.shows(count) {
                    held.push(batch.clone());
                }
                count += batch.num_rows();
            }
            // What a statement did before it failed is shown before the error.
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    if failed.is_none() || count > 0 {
        let print = move |out: &mut BufWriter<Output>| {
            if !streamed {
                printing.format.print_batches(
                    out,
                    schema,
                    &held,
                    printing.maxrows,
                    true,
                    &format,
                )?;
            }
            printing.print_summary(out, count, started)
        };
        output.print(print).await?;
    }
    failed.map_or(Ok(()), Err)
}

impl Printing {
    /// Whether a row after that many is still shown.
    fn shows(&self, rows: usize) -> bool {
        self.limit().is_none_or(|most| rows <= most)
    }

    fn limit(&self) -> Option<usize> {
        match self.maxrows {
            MaxRows::Limited(most) if self.format == PrintFormat::Table => Some(most),
            _ => None,
        }
    }

    fn print_summary(&self, out: &mut impl Write, rows: usize, started: Instant) -> Result<()> {
        if self.count {
            write!(out, "{rows} row(s) fetched.")?;
            match self.limit() {
                Some(most) if most < rows => {
                    writeln!(out, " (First {most} displayed. Use --maxrows to adjust)")?;
                }
                _ => writeln!(out)?,
            }
        }
        if self.timing {
            writeln!(out, "Elapsed {:.3} seconds.", started.elapsed().as_secs_f64())?;
        }
        if self.count || self.timing {
            writeln!(out)?;
        }
        Ok(())
    }
}
