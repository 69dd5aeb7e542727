//! `lance-sql worker`: runs the work units that other machines send.

use std::{io::Write, net::SocketAddr, num::NonZero, path::PathBuf, process::ExitCode};

use clap::Args;
use datafusion_lance_index_distributed::{
    Identity, Secret, SecurityError, Worker, WorkerError, WorkerOptions, WorkerSecurity,
};
use tokio::runtime::Builder;

use crate::shell::report;

/// Run the work units that other machines send.
///
/// The table is opened with the credentials in this process's environment. A session sends its
/// units here after SET lance_index.workers and SET lance_index.executor = 'distributed'.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Where to take units; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50051")]
    listen: SocketAddr,

    /// Where to serve /health and /metrics, which ask for no token
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<SocketAddr>,

    /// Units that run at the same time [default: the number of cores]
    #[arg(long, value_name = "NUMBER")]
    units: Option<NonZero<usize>>,

    /// A file with the token that drivers have to show; LANCE_INDEX_TOKEN holds the token itself
    #[arg(long, value_name = "FILE", env = "LANCE_INDEX_TOKEN_FILE")]
    token_file: Option<PathBuf>,

    /// This worker's certificate, in PEM: turns TLS on
    #[arg(long, value_name = "FILE", env = "LANCE_INDEX_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", env = "LANCE_INDEX_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Ask drivers for a certificate that leads to one of these, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,

    /// Listen to other machines without a token and TLS, too
    #[arg(long)]
    insecure: bool,
}

impl WorkerArgs {
    fn options(self) -> Result<WorkerOptions, SecurityError> {
        // Not an argument, which other users of the machine can see.
        let token = std::env::var("LANCE_INDEX_TOKEN").ok().filter(|token| !token.is_empty());
        let token = match (token, self.token_file) {
            (Some(token), _) => Some(Secret::try_new(&token)?),
            (None, Some(file)) => Some(Secret::from_file(&file)?),
            (None, None) => None,
        };
        let identity = match (self.tls_cert, self.tls_key) {
            (Some(certificate), Some(key)) => Some(Identity::from_files(&certificate, &key)?),
            _ => None,
        };
        let client_ca = self.tls_client_ca.map(|path| {
            std::fs::read(&path).map_err(|source| SecurityError::Read { path, source })
        });
        let security = WorkerSecurity {
            token,
            identity,
            client_ca: client_ca.transpose()?,
            insecure: self.insecure,
        };
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Ok(WorkerOptions {
            listen: self.listen,
            metrics_listen: self.metrics_listen,
            units: self.units.map_or(cores, NonZero::get),
            security,
        })
    }
}

/// Works until it is told to stop.
pub(crate) fn run(args: WorkerArgs) -> ExitCode {
    log();
    // Units have threads of their own.
    let runtime = match Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(work(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

async fn work(args: WorkerArgs) -> Result<(), WorkerError> {
    let worker = Worker::bind(args.options()?).await?;
    // Whoever starts it learns here where it listens.
    let mut stdout = std::io::stdout();
    let _ = writeln!(stdout, "listening on {}", worker.url());
    if let Some(address) = worker.metrics_address() {
        let _ = writeln!(stdout, "metrics on http://{address}/metrics");
    }
    let _ = stdout.flush();
    worker.serve(told_to_stop()).await
}

/// Ready with Ctrl-C or SIGTERM. A second one of them ends the process at once.
async fn told_to_stop() {
    stop_signal().await;
    tracing::info!("running units are run to their end; no others are taken");
    tokio::spawn(async {
        stop_signal().await;
        std::process::exit(1);
    });
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return crate::shell::interrupted().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        () = crate::shell::interrupted() => {}
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    crate::shell::interrupted().await;
}

/// A line on stderr for each attempt, and for what else there is to say.
fn log() {
    use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt};
    let ours = Targets::new().with_target("datafusion_lance_index", tracing::Level::INFO);
    let ours = ours.with_target("lance_sql", tracing::Level::INFO);
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    tracing_subscriber::registry().with(lines).with(ours).init();
}
