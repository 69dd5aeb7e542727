//! datafusion-distributed: no other module names anything of it.
//!
//! Each attempt is a distributed plan of its own, with one task, made by hand. One plan of many
//! units would not do: the engine's planner runs a lone leaf in the driver, and the first failure
//! takes all units of a plan along.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use datafusion::{
    common::{Result, config_datafusion_err, exec_err, internal_err},
    error::DataFusionError,
    execution::{SessionState, TaskContext, runtime_env::RuntimeEnv},
    physical_plan::ExecutionPlan,
    prelude::SessionConfig,
};
use datafusion_distributed::{
    ChannelResolver, CompressionType, DistributedConfig, DistributedExec, DistributedExt,
    NetworkBoundary, NetworkCoalesceExec, RouteTasksEvent, RouteTasksEventResponse, Stage, Worker,
    WorkerChannel, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse, WorkerQueryContext,
    WorkerSessionBuilder, grpc,
};
use datafusion_lance_index::WorkOutcome;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
use tonic::{
    Request, Status,
    service::interceptor::InterceptedService,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Server, server::Router},
};
use url::Url;
use uuid::Uuid;

use crate::{
    codec::AttemptCodec,
    leaf::AttemptExec,
    security::{DriverSecurity, Secret},
    units::Units,
    workers::Address,
};

/// Both sides ask whether the other one is still there that often, and wait that long for an
/// answer: a silent host is an error after at most twice as long.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// The most bytes of one message to a worker.
const MAX_MESSAGE: usize = 16 << 20;

/// The driver's side: sends attempts.
pub(crate) struct Engine {
    runtime: Arc<RuntimeEnv>,
    channels: Arc<Channels>,
    token: Option<HeaderValue>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    pub(crate) fn try_new(security: DriverSecurity) -> Result<Self> {
        let token = security.token.as_ref().map(bearer).transpose()?;
        let channels = Arc::new(Channels { security, open: Mutex::default() });
        Ok(Self { runtime: Arc::default(), channels, token })
    }

    /// Has the worker run an attempt. Dropping the future stops it.
    ///
    /// # Errors
    /// The attempt is lost: the worker doesn't take it, didn't answer, or not exactly once.
    pub(crate) async fn run(&self, worker: &Address, message: Vec<u8>) -> Result<WorkOutcome> {
        let answered = self.ask(worker, message).await;
        if answered.is_err() {
            self.channels.forget(worker);
        }
        answered
    }

    async fn ask(&self, worker: &Address, message: Vec<u8>) -> Result<WorkOutcome> {
        let plan = single_task(Arc::new(AttemptExec::sent(message)))?;
        let mut answer = plan.execute(0, self.context(worker)?)?;
        let mut outcomes = Vec::new();
        while let Some(batch) = answer.next().await {
            match batch {
                Ok(batch) => outcomes.extend(WorkOutcome::from_batch(&batch)?),
                // It has answered; how the connection ends is no matter.
                Err(_) if outcomes.len() == 1 => break,
                Err(error) => return Err(error),
            }
        }
        match <[WorkOutcome; 1]>::try_from(outcomes) {
            Ok([outcome]) => Ok(outcome),
            Err(outcomes) => exec_err!("it answered {} times instead of once", outcomes.len()),
        }
    }

    /// What the engine needs to know to run a plan on that worker. Nothing of the user's session is
    /// in it, so nothing of it reaches the worker.
    fn context(&self, worker: &Address) -> Result<Arc<TaskContext>> {
        let (url, channels) = (worker.url.clone(), self.channels.clone());
        let route =
            move |_: RouteTasksEvent<'_>| Some(Ok(RouteTasksEventResponse::new(vec![url.clone()])));
        let mut headers = HeaderMap::new();
        headers.extend(self.token.clone().map(|token| (AUTHORIZATION, token)));
        let config = SessionConfig::new()
            .with_distributed_option_extension(DistributedConfig::default())
            .with_distributed_channel_resolver(To { worker: worker.clone(), channels })
            .with_distributed_user_codec(AttemptCodec { units: None })
            .with_distributed_route_tasks_handler(route)
            .with_distributed_passthrough_headers(headers)?
            // What a compaction task answers is long and repeats itself.
            .with_distributed_compression(Some(CompressionType::ZSTD))?
            .with_distributed_metrics_collection(false)?;
        let context = TaskContext::default().with_session_config(config);
        Ok(Arc::new(context.with_runtime(self.runtime.clone())))
    }
}

/// The plan of one stage with one task, which is run by a worker.
fn single_task(leaf: Arc<dyn ExecutionPlan>) -> Result<DistributedExec> {
    let coalesce = NetworkCoalesceExec::try_new(leaf, 1, 1)?;
    let Stage::Local(stage) = coalesce.input_stage() else {
        return internal_err!("a new stage is on a worker already");
    };
    let mut stage = stage.clone();
    (stage.query_id, stage.num) = (Uuid::new_v4(), 1);
    let boundary = coalesce.with_input_stage(Stage::Local(stage))?;
    Ok(DistributedExec::new(boundary).with_metrics_collection(false))
}

fn bearer(token: &Secret) -> Result<HeaderValue> {
    let value = HeaderValue::try_from(format!("Bearer {}", token.expose()));
    let mut value = value.map_err(|_| config_datafusion_err!("the token is no header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Connections to workers, which attempts share.
struct Channels {
    security: DriverSecurity,
    open: Mutex<HashMap<Address, Channel>>,
}

impl Channels {
    fn get(&self, worker: &Address) -> Result<Channel> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = open.get(worker) {
            return Ok(channel.clone());
        }
        let channel = self.endpoint(worker)?.connect_lazy();
        open.insert(worker.clone(), channel.clone());
        Ok(channel)
    }

    /// Has the next attempt make a connection of its own. One ends for good with the runtime that it
    /// was made on.
    fn forget(&self, worker: &Address) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(worker);
    }

    fn endpoint(&self, worker: &Address) -> Result<Endpoint> {
        let failed = |error: tonic::transport::Error| {
            config_datafusion_err!("worker {}: {}", worker.name(), causes(&error))
        };
        let endpoint = Endpoint::from_shared(worker.url.to_string()).map_err(failed)?;
        let endpoint = endpoint
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true);
        if worker.url.scheme() != "https" {
            return Ok(endpoint);
        }
        let Some(ca) = &self.security.ca else {
            return Err(config_datafusion_err!(
                "worker {} is https, and nothing says which certificates to trust; set \
                 LANCE_INDEX_TLS_CA to a PEM file",
                worker.name()
            ));
        };
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca));
        if let Some(name) = &worker.certified {
            tls = tls.domain_name(name);
        }
        if let Some(identity) = &self.security.identity {
            let (certificate, key) = (&identity.certificate, &identity.key);
            tls = tls.identity(tonic::transport::Identity::from_pem(certificate, key));
        }
        endpoint.tls_config(tls).map_err(failed)
    }
}

/// Connects to the one worker of an attempt.
struct To {
    worker: Address,
    channels: Arc<Channels>,
}

#[async_trait]
impl ChannelResolver for To {
    async fn get_worker_client_for_url(&self, _: &Url) -> Result<Box<dyn WorkerChannel>> {
        let channel = self.channels.get(&self.worker)?;
        Ok(grpc::create_worker_client(grpc::BoxCloneSyncChannel::new(channel)))
    }
}

/// What went wrong, without the names of the layers that it came through.
pub(crate) fn plain(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Shared(inner) => plain(inner),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => plain(inner),
        DataFusionError::Execution(text) | DataFusionError::Configuration(text) => text.clone(),
        DataFusionError::External(source) => causes(source.as_ref()),
        _ => error.strip_backtrace(),
    }
}

/// An error and what it says of its causes.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = match error.downcast_ref::<Status>() {
        Some(status) if status.message().is_empty() => status.code().to_string(),
        Some(status) => status.message().to_string(),
        None => error.to_string(),
    };
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = match cause.downcast_ref::<Status>() {
            Some(status) => status.message().to_string(),
            None => cause.to_string(),
        };
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

/// The worker's side: the service that runs attempts, and nothing else.
pub(crate) fn service(server: Server, units: Units, token: Option<Secret>) -> Router {
    let worker = Worker::from_session_builder(OnlyAttempts { units });
    let service = worker.into_worker_server().max_decoding_message_size(MAX_MESSAGE);
    let check = move |request: Request<()>| match &token {
        Some(token) if !is_shown(token, request.metadata()) => {
            Err(Status::unauthenticated("the worker wants another token"))
        }
        _ => Ok(request),
    };
    server
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .add_service(InterceptedService::new(service, check))
}

fn is_shown(token: &Secret, metadata: &tonic::metadata::MetadataMap) -> bool {
    let shown = metadata.get(AUTHORIZATION.as_str()).map(|value| value.as_bytes());
    shown.and_then(|shown| shown.strip_prefix(b"Bearer ")).is_some_and(|shown| token.is(shown))
}

/// Makes the session of each request.
struct OnlyAttempts {
    units: Units,
}

#[async_trait]
impl WorkerSessionBuilder for OnlyAttempts {
    async fn build_session_state(&self, context: WorkerQueryContext) -> Result<SessionState> {
        let codec = AttemptCodec { units: Some(self.units.clone()) };
        let builder = context.builder.with_distributed_user_codec(codec);
        Ok(builder.with_distributed_worker_plan_rewrite_handler(refuse_other_plans).build())
    }
}

/// The engine would run any plan of DataFusion's, some of which write.
fn refuse_other_plans(event: WorkerPlanRewriteEvent<'_>) -> Result<WorkerPlanRewriteEventResponse> {
    let plan: &dyn Any = event.plan.as_ref();
    if !plan.is::<AttemptExec>() {
        return exec_err!("this is no work unit that a worker runs: {}", event.plan.name());
    }
    Ok(WorkerPlanRewriteEventResponse::new(event.plan))
}

#[cfg(test)]
mod tests;
