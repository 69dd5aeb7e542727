//! The worker's side: a service that runs attempts.

use std::net::SocketAddr;

use thiserror::Error;
use tokio::{net::TcpListener, task::JoinHandle};
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig, server::TcpIncoming};

use crate::{
    engine,
    security::{SecurityError, WorkerSecurity},
    status,
    units::{Counters, Units},
};

/// How a worker is set up.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Where it takes units; port 0 stands for any that is free.
    pub listen: SocketAddr,
    /// Where it serves `/health` and `/metrics`, if anywhere.
    pub metrics_listen: Option<SocketAddr>,
    /// Units that run at the same time; others wait.
    pub units: usize,
    /// What it asks of those who talk to it.
    pub security: WorkerSecurity,
}

/// Runs the work units that drivers send, on threads of their own.
#[derive(Debug)]
pub struct Worker {
    incoming: TcpIncoming,
    address: SocketAddr,
    status: Option<(TcpListener, SocketAddr)>,
    units: Units,
    security: WorkerSecurity,
}

/// Why a worker doesn't work.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// It can't listen there, or has no threads.
    #[error("{what}: {source}")]
    Io {
        /// What it was to do.
        what: String,
        /// Why it can't.
        source: std::io::Error,
    },
    /// It would listen to anyone, or can't read its certificate.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// A certificate or a key that is none, or a broken listener.
    #[error("serving work units: {0}")]
    Serve(String),
}

impl Worker {
    /// Listens, so that drivers can connect; they are answered once it [serves](Self::serve).
    ///
    /// # Errors
    /// The address is taken, or other machines reach it and nothing keeps them from sending units.
    pub async fn bind(options: WorkerOptions) -> Result<Self, WorkerError> {
        let units = Units::try_new(options.units);
        let units = units.map_err(|source| io("starting threads", source))?;
        Self::bind_with(options, units).await
    }

    pub(crate) async fn bind_with(
        options: WorkerOptions,
        units: Units,
    ) -> Result<Self, WorkerError> {
        let WorkerOptions { listen, metrics_listen, units: _, security } = options;
        security.check(listen)?;
        let (listener, address) = bind(listen).await?;
        let status = match metrics_listen {
            Some(listen) => Some(bind(listen).await?),
            None => None,
        };
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        Ok(Self { incoming, address, status, units, security })
    }

    /// Where it takes units.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it serves `/health` and `/metrics`.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.status.as_ref().map(|(_, address)| *address)
    }

    /// How drivers write its address.
    pub fn url(&self) -> String {
        let scheme = if self.security.identity.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Takes units until `shutdown` is ready; those that run by then are run to their end.
    ///
    /// # Errors
    /// The certificate is none, or the listener broke.
    pub async fn serve(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), WorkerError> {
        let serve = |error: tonic::transport::Error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            WorkerError::Serve(format!("{error}{}", cause.unwrap_or_default()))
        };
        let mut server = Server::builder();
        if let Some(identity) = &self.security.identity {
            // Otherwise the server has to choose, and with several in the tree it can't.
            if rustls::crypto::CryptoProvider::get_default().is_none() {
                // Another thread may have been faster, which is as good.
                let _ = rustls::crypto::ring::default_provider().install_default();
            }
            let identity = Identity::from_pem(&identity.certificate, &identity.key);
            let mut tls = ServerTlsConfig::new().identity(identity);
            if let Some(ca) = &self.security.client_ca {
                tls = tls.client_ca_root(Certificate::from_pem(ca));
            }
            server = server.tls_config(tls).map_err(serve)?;
        }
        let counters = self.units.counters();
        let _status = self.status.map(|(listener, _)| Status::serve(listener, counters));
        let router = engine::service(server, self.units, self.security.token);
        router.serve_with_incoming_shutdown(self.incoming, shutdown).await.map_err(serve)
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), WorkerError> {
    let failed = |source| io(&format!("listening on {address}"), source);
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

fn io(what: &str, source: std::io::Error) -> WorkerError {
    WorkerError::Io { what: what.to_string(), source }
}

/// Serves what the worker tells of itself, for as long as the worker does.
struct Status(JoinHandle<()>);

impl Status {
    fn serve(listener: TcpListener, counters: std::sync::Arc<Counters>) -> Self {
        Self(tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, status::router(counters)).await {
                tracing::warn!(%error, "no longer serving metrics");
            }
        }))
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.0.abort();
    }
}
