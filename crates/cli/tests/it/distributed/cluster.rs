//! Workers as child processes, and a driver in this one.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use datafusion::{
    arrow::{array::RecordBatch, util::pretty::pretty_format_batches},
    error::{DataFusionError, Result},
    execution::SessionStateBuilder,
    prelude::{SessionConfig, SessionContext},
};
use datafusion_lance_index::{
    error::message,
    session::{SessionConfigExt, SessionContextExt, SessionStateBuilderExt},
};
use datafusion_lance_index_distributed::{DistributedExecutors, DriverSecurity};
use tempfile::TempDir;

/// `lance-sql worker`. It is killed when this is dropped.
pub struct Worker {
    process: Child,
    pub url: String,
    /// `host:port` of its metrics.
    metrics: String,
    log: PathBuf,
    _directory: Option<TempDir>,
}

impl Worker {
    pub fn start() -> Self {
        Self::with_units(2)
    }

    /// A worker that runs so many units at a time.
    pub fn with_units(units: usize) -> Self {
        Self::start_on("127.0.0.1:0", |command| command.arg(format!("--units={units}")))
    }

    /// A worker on that address, its command changed by `with`.
    pub fn start_on(listen: &str, with: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lance-sql"));
        command.args(["worker", "--metrics-listen=127.0.0.1:0", "--listen", listen]);
        with(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut told = |what: &str| {
            let line = lines.next().unwrap_or_else(|| {
                panic!("{}", std::fs::read_to_string(&log).unwrap());
            });
            line.unwrap().strip_prefix(what).unwrap().to_string()
        };
        let url = told("listening on ");
        let metrics = told("metrics on http://").strip_suffix("/metrics").unwrap().to_string();
        Self { process, url, metrics, log, _directory: Some(directory) }
    }

    /// Sends it a signal: `KILL`, `STOP`, `CONT`.
    pub fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub fn get(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(&self.metrics)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// One of its counters: `running`, `done_total`.
    pub fn units(&self, counter: &str) -> u64 {
        let metrics = self.get("/metrics").unwrap();
        let name = format!("lance_index_units_{counter} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().unwrap()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until it ends.
    pub fn wait(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A process that is gone already is as well.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until it is so, for a minute at the most.
pub async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(60), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A session whose units run on workers, and a directory with its table `t`.
#[derive(Clone)]
pub struct Driver {
    pub context: SessionContext,
    directory: Arc<TempDir>,
}

impl Driver {
    /// A driver of these workers, and a table `(id BIGINT, kind VARCHAR, words VARCHAR)` with that
    /// many fragments of so many rows.
    pub async fn new(workers: &[&str], fragments: usize, rows: usize) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let driver = Self::local(directory);
        driver
            .sql(&format!(
                "CREATE EXTERNAL TABLE t (id BIGINT, kind VARCHAR, words VARCHAR) \
                 STORED AS LANCE LOCATION '{}'",
                driver.uri()
            ))
            .await;
        for fragment in 0..fragments {
            driver.insert(fragment * rows, rows).await;
        }
        driver.use_workers(workers).await;
        driver
    }

    /// The same table in another session, whose units run in this process.
    pub async fn another(&self) -> Self {
        let other = Self::local(self.directory.clone());
        other.open("t", "").await;
        other
    }

    fn local(directory: Arc<TempDir>) -> Self {
        let executors = DistributedExecutors::new(DriverSecurity::default());
        let config = SessionConfig::new()
            .with_target_partitions(2)
            .with_executor_factory(Arc::new(executors));
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_lance_index()
            .build();
        Self { context: SessionContext::new_with_state(state), directory }
    }

    async fn open(&self, name: &str, options: &str) {
        let uri = self.uri();
        self.sql(&format!(
            "CREATE EXTERNAL TABLE IF NOT EXISTS {name} STORED AS LANCE LOCATION '{uri}' {options}"
        ))
        .await;
    }

    pub async fn use_workers(&self, workers: &[&str]) {
        self.sql(&format!("SET lance_index.workers = '{}'", workers.join(","))).await;
        self.sql("SET lance_index.executor = 'distributed'").await;
    }

    /// Appends a fragment.
    pub async fn insert(&self, from: usize, rows: usize) {
        let to = from + rows - 1;
        self.sql(&format!(
            "INSERT INTO t SELECT value, concat('kind ', value % 7), \
             concat_ws(' ', 'row', value, value % 13, value % 101, value % 1009, 'of many') \
             FROM generate_series({from}, {to})"
        ))
        .await;
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn uri(&self) -> String {
        self.directory.path().join("t.lance").display().to_string()
    }

    pub async fn try_sql(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        let (context, sql) = (self.context.clone(), sql.to_string());
        // Plans are deep: they take the stack of a thread of the runtime.
        let run = tokio::spawn(async move { context.lance_sql(&sql).await?.collect().await });
        run.await.map_err(|error| DataFusionError::External(Box::new(error)))?
    }

    pub async fn sql(&self, sql: &str) -> Vec<RecordBatch> {
        self.try_sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {}", message(&error)))
    }

    /// What the statement prints.
    pub async fn print(&self, sql: &str) -> String {
        pretty_format_batches(&self.sql(sql).await).unwrap().to_string()
    }

    /// What the statement fails with.
    pub async fn error(&self, sql: &str) -> String {
        match self.try_sql(sql).await {
            Ok(rows) => panic!("{sql} succeeded: {}", pretty_format_batches(&rows).unwrap()),
            Err(error) => message(&error),
        }
    }

    /// The first column of the rows, sorted.
    pub async fn column(&self, sql: &str) -> Vec<String> {
        let printed = self.print(sql).await;
        let rows = printed.lines().filter(|line| line.starts_with('|')).skip(1);
        let mut cells: Vec<String> =
            rows.map(|row| row.split('|').nth(1).unwrap().trim().to_string()).collect();
        cells.sort();
        cells
    }

    /// The segments of the index, by UUID.
    pub async fn segments(&self, index: &str) -> Vec<String> {
        let segments = "SELECT segment FROM lance_index_segments('t')";
        self.column(&format!("{segments} WHERE index_name = '{index}'")).await
    }

    /// The latest version of the table.
    pub fn version(&self) -> usize {
        std::fs::read_dir(self.directory.path().join("t.lance/_versions"))
            .unwrap()
            .filter(|entry| {
                let path = entry.as_ref().unwrap().path();
                path.extension().is_some_and(|extension| extension == "manifest")
            })
            .count()
    }

    /// Checks that a query finds with the index of that name what it finds without.
    pub async fn oracle(&self, index: &str, predicate: &str) -> usize {
        let query = |table: &str| format!("SELECT id FROM {table} WHERE {predicate}");
        let plan = self.print(&format!("EXPLAIN {}", query("t"))).await;
        assert!(plan.contains(&format!("@{index}(")), "{predicate} doesn't use {index}: {plan}");
        self.open("scan", "OPTIONS (use_index false)").await;
        let (found, truth) = (self.column(&query("t")).await, self.column(&query("scan")).await);
        assert_eq!(found, truth, "{predicate}");
        found.len()
    }
}

/// Runs a test on threads with stacks for deep plans.
pub fn run(test: impl Future<Output = ()> + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(runtime.spawn(test)).unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => panic!("{error}"),
    });
}
