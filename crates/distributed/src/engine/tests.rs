//! Workers of all sorts, on loopback.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use datafusion::{
    arrow::array::RecordBatch,
    catalog::memory::MemorySourceConfig,
    execution::SessionStateBuilder,
    physical_plan::{displayable, empty::EmptyExec},
    prelude::SessionContext,
};
use datafusion_lance_index::session::{
    SessionConfigExt, SessionContextExt, SessionStateBuilderExt,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::{net::TcpListener, task::JoinSet};
use tonic::transport::server::TcpIncoming;

use super::*;
use crate::{
    DistributedExecutor, Identity, WorkerOptions, WorkerSecurity, wire::tests::message, worker,
};

type Plan = dyn Fn(&[u8]) -> Arc<dyn ExecutionPlan> + Send + Sync;

/// Runs some plan, whatever it is sent.
#[derive(Clone)]
struct Faulty(Arc<Plan>);

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faulty")
    }
}

impl PhysicalExtensionCodec for Faulty {
    fn try_decode(
        &self,
        bytes: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.0(bytes))
    }

    fn try_encode(&self, _: Arc<dyn ExecutionPlan>, _: &mut Vec<u8>) -> Result<()> {
        internal_err!("it only receives")
    }
}

#[async_trait]
impl WorkerSessionBuilder for Faulty {
    async fn build_session_state(&self, context: WorkerQueryContext) -> Result<SessionState> {
        Ok(context.builder.with_distributed_user_codec(self.clone()).build())
    }
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn address(url: &str) -> Address {
    Address { url: Url::parse(url).unwrap(), certified: None }
}

async fn faulty(
    servers: &mut JoinSet<()>,
    plan: impl Fn(&[u8]) -> Arc<dyn ExecutionPlan> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind(loopback()).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = Worker::from_session_builder(Faulty(Arc::new(plan))).into_worker_server();
    let server = Server::builder().add_service(service);
    servers.spawn(async move {
        server.serve_with_incoming(TcpIncoming::from(listener)).await.unwrap();
    });
    url
}

async fn honest(servers: &mut JoinSet<()>, units: Units, security: WorkerSecurity) -> String {
    let listen = loopback();
    let options = WorkerOptions { listen, metrics_listen: None, units: 2, security };
    let worker = worker::Worker::bind_with(options, units).await.unwrap();
    let url = worker.url();
    servers.spawn(async move { worker.serve(std::future::pending()).await.unwrap() });
    url
}

fn units() -> Units {
    Units::try_new(2).unwrap()
}

fn engine(security: DriverSecurity) -> Engine {
    Engine::try_new(security).unwrap()
}

/// What the driver makes of it.
async fn lost(engine: &Engine, url: &str, message: Vec<u8>) -> String {
    plain(&engine.run(&address(url), message).await.unwrap_err())
}

/// The row of a unit that was done.
fn row() -> RecordBatch {
    let done = WorkOutcome {
        work_id: 0,
        attempt: 1,
        rows: 10,
        elapsed: Duration::ZERO,
        result: Ok(vec![1]),
        worker: None,
    };
    done.to_batch().unwrap()
}

fn rows(number: usize) -> Arc<dyn ExecutionPlan> {
    let rows = vec![vec![row(); number]];
    MemorySourceConfig::try_new_exec(&rows, WorkOutcome::schema(), None).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_runs_units_and_nothing_else() {
    let mut servers = JoinSet::new();
    let url = honest(&mut servers, units(), WorkerSecurity::default()).await;
    let engine = engine(DriverSecurity::default());

    let text = String::from_utf8(message(0, 1)).unwrap();
    for (from, to) in
        [("{\"Segment\":", "{\"Commit\":"), ("\"BuildCoverage\"", "\"CommitSegments\"")]
    {
        assert!(text.contains(from), "{text}");
        let error = lost(&engine, &url, text.replace(from, to).into_bytes()).await;
        assert!(error.contains("no work unit that a worker runs: unknown variant"), "{error}");
    }
    let other = text.replace("\"wire_format\":1", "\"wire_format\":7").into_bytes();
    let error = lost(&engine, &url, other).await;
    assert!(error.contains("wire format 7") && error.contains("wire format 1"), "{error}");

    // A plan of DataFusion's own, as the engine would run it.
    let plan = single_task(Arc::new(EmptyExec::new(WorkOutcome::schema()))).unwrap();
    let context = engine.context(&address(&url)).unwrap();
    let answer: Vec<_> = plan.execute(0, context).unwrap().collect().await;
    let error = plain(answer[0].as_ref().unwrap_err());
    assert!(error.contains("no work unit that a worker runs: EmptyExec"), "{error}");

    // No table there: a failure is an answer.
    let outcome = engine.run(&address(&url), message(0, 1)).await.unwrap();
    let failure = outcome.result.unwrap_err();
    assert!(failure.message.contains("/tmp/t.lance"), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn not_exactly_one_answer_is_none() {
    let mut servers = JoinSet::new();
    let engine = engine(DriverSecurity::default());
    for number in [0, 2, 3] {
        let url = faulty(&mut servers, move |_| rows(number)).await;
        let error = lost(&engine, &url, message(0, 1)).await;
        assert!(error.contains(&format!("answered {number} times instead of once")), "{error}");
    }
    let url = faulty(&mut servers, |_| rows(1)).await;
    assert_eq!(engine.run(&address(&url), message(0, 1)).await.unwrap().result, Ok(vec![1]));
    let url = faulty(&mut servers, |_| panic!("a bug of the worker's")).await;
    let error = engine.run(&address(&url), message(0, 1)).await.map(|outcome| outcome.work_id);
    assert!(error.is_err(), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_panics_fails() {
    let mut servers = JoinSet::new();
    let engine = engine(DriverSecurity::default());
    let panics = Units::with_run(1, |_| Box::pin(async { panic!("a bug of the unit's") })).unwrap();
    let counters = panics.counters();
    let url = honest(&mut servers, panics, WorkerSecurity::default()).await;
    let failure = engine.run(&address(&url), message(0, 1)).await.unwrap().result.unwrap_err();
    assert!(failure.retryable && failure.message.contains("panicked"), "{}", failure.message);
    assert_eq!(counters.failed.load(Ordering::Relaxed), 1);
    assert_eq!(counters.running.load(Ordering::Relaxed), 0);
    // Not even this takes the worker along.
    let panics = Units::with_run(1, |_| panic!("a bug of the worker's")).unwrap();
    let url = honest(&mut servers, panics, WorkerSecurity::default()).await;
    let error = lost(&engine, &url, message(0, 1)).await;
    assert!(error.contains("answered 0 times"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_attempts_stop() {
    let mut servers = JoinSet::new();
    let engine = engine(DriverSecurity::default());
    let forever = Units::with_run(1, |_| Box::pin(std::future::pending())).unwrap();
    let counters = forever.counters();
    let url = address(&honest(&mut servers, forever, WorkerSecurity::default()).await);
    let both =
        async { tokio::join!(engine.run(&url, message(0, 1)), engine.run(&url, message(1, 1))) };
    assert!(tokio::time::timeout(Duration::from_secs(1), both).await.is_err());
    let began = std::time::Instant::now();
    while counters.stopped.load(Ordering::Relaxed) < 2 {
        assert!(began.elapsed() < Duration::from_secs(10), "{counters:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(counters.running.load(Ordering::Relaxed), 0);
    assert_eq!(counters.waiting.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens() {
    let mut servers = JoinSet::new();
    let token = |text: &str| Some(Secret::try_new(text).unwrap());
    let security = WorkerSecurity { token: token("marker"), ..Default::default() };
    let url = honest(&mut servers, units(), security).await;
    let engine_with = |token| engine(DriverSecurity { token, ..Default::default() });
    for wrong in [None, token("market"), token("marker-and-more")] {
        let error = lost(&engine_with(wrong), &url, message(0, 1)).await;
        assert!(error.contains("wants another token"), "{error}");
        assert!(!error.contains("marke"), "{error}");
    }
    engine_with(token("marker")).run(&address(&url), message(0, 1)).await.unwrap();
}

/// A certificate authority, and a certificate for that name by it.
fn certificates(name: &str) -> (Vec<u8>, Identity) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_string()]).unwrap();
    let certificate = params.signed_by(&key, &ca).unwrap();
    (ca.pem().into_bytes(), Identity::new(certificate.pem(), key.serialize_pem()))
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_on_both_sides() {
    let mut servers = JoinSet::new();
    let (ca, server) = certificates("127.0.0.1");
    let (client_ca, client) = certificates("driver");
    let (other_ca, other) = certificates("127.0.0.1");
    let security =
        WorkerSecurity { identity: Some(server), client_ca: Some(client_ca), ..Default::default() };
    let url = honest(&mut servers, units(), security).await;
    assert!(url.starts_with("https://"), "{url}");
    let driver = |ca, identity| engine(DriverSecurity { ca, identity, ..Default::default() });
    let (ca, client) = (Some(ca), Some(client));
    driver(ca.clone(), client.clone()).run(&address(&url), message(0, 1)).await.unwrap();
    let error = lost(&driver(None, client.clone()), &url, message(0, 1)).await;
    assert!(error.contains("LANCE_INDEX_TLS_CA"), "{error}");
    for (ca, identity) in [(Some(other_ca), client), (ca.clone(), None), (ca.clone(), Some(other))]
    {
        let lost = driver(ca, identity).run(&address(&url), message(0, 1)).await;
        assert!(lost.is_err(), "{lost:?}");
    }
    let plain = url.replace("https", "http");
    assert!(driver(ca, None).run(&address(&plain), message(0, 1)).await.is_err());
}

/// The statement gets by with the worker that is left.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_answers_twice_is_not_believed() {
    let mut servers = JoinSet::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let twice = {
        let asked = asked.clone();
        let twice = move |_: &[u8]| {
            asked.fetch_add(1, Ordering::Relaxed);
            rows(2)
        };
        faulty(&mut servers, twice).await
    };
    let right = honest(&mut servers, units(), WorkerSecurity::default()).await;
    let workers = format!("{twice},{right}");
    let executor = DistributedExecutor::try_new(&workers, DriverSecurity::default()).unwrap();
    let config = SessionConfig::new().with_work_executor(Arc::new(executor));
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_lance_index()
        .build();
    let context = SessionContext::new_with_state(state);
    let directory = tempfile::tempdir().unwrap();
    let run = async |sql: &str| {
        let (context, sql) = (context.clone(), sql.to_string());
        let run = async move { context.lance_sql(&sql).await?.to_string().await };
        tokio::spawn(run).await.unwrap().unwrap()
    };
    run(&format!(
        "CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION '{}/t';
         INSERT INTO t SELECT value FROM generate_series(1, 100);
         INSERT INTO t SELECT value FROM generate_series(101, 200)",
        directory.path().display()
    ))
    .await;
    run("CREATE INDEX i ON t (id) WITH (num_segments = 2)").await;
    assert!(asked.load(Ordering::Relaxed) > 0);
    let shown = run("SELECT count(*) FROM lance_index_segments('t')").await;
    assert!(shown.contains("| 2 "), "{shown}");
    let found = run("SELECT id FROM t WHERE id = 150").await;
    assert!(found.contains("| 150 |"), "{found}");
}

#[test]
fn a_plan_that_is_sent_shows_nothing() {
    let plan = single_task(Arc::new(AttemptExec::sent(message(0, 1)))).unwrap();
    let shown = displayable(&plan).indent(true).to_string();
    assert!(!shown.contains("t.lance"), "{shown}");
}
