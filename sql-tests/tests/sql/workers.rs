//! The two workers that scripts run on a second time: this program, started again.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use datafusion::prelude::SessionContext;
use datafusion_lance_index::session::SessionContextExt;
use datafusion_lance_index_distributed::{Worker, WorkerOptions, WorkerSecurity};

use crate::Result;

/// Set for a process that is to be a worker.
const VARIABLE: &str = "SQL_TESTS_WORKER";

pub fn is_one() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Works until whoever started it is gone.
pub fn work() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let worker = Worker::bind(WorkerOptions {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            metrics_listen: None,
            units: 2,
            security: WorkerSecurity::default(),
        });
        let worker = worker.await?;
        writeln!(std::io::stdout(), "{}", worker.url())?;
        let end_of_input = tokio::task::spawn_blocking(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        });
        Ok(worker.serve(async { drop(end_of_input.await) }).await?)
    })
}

/// Has the session's work units run on two workers.
pub async fn choose(context: &SessionContext) -> Result<()> {
    static WORKERS: OnceLock<Result<[Started; 2], String>> = OnceLock::new();
    let workers = WORKERS.get_or_init(|| {
        let start = || Started::new().map_err(|error| format!("starting a worker: {error}"));
        Ok([start()?, start()?])
    });
    let [one, other] = workers.as_ref().map_err(Clone::clone)?;
    let set = format!(
        "SET lance_index.workers = '{},{}'; SET lance_index.executor = 'distributed'",
        one.url, other.url
    );
    context.lance_sql(&set).await?.collect().await?;
    Ok(())
}

/// A worker. It ends with this process, which holds the other end of its standard input.
struct Started {
    url: String,
    _process: Child,
}

impl Started {
    fn new() -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .env(VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        let stdout = process.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut url)?;
        Ok(Self { url: url.trim_end().to_string(), _process: process })
    }
}
