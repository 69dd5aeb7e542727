//! Commits that go by a script.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use datafusion::prelude::SessionContext;
use datafusion_lance_index::{session::SessionContextExt, table::LanceTable};
use futures::future::BoxFuture;
use lance::dataset::builder::DatasetBuilder;
use lance_io::object_store::ObjectStore;
use lance_table::{
    format::{IndexMetadata, Manifest, Transaction},
    io::commit::{
        CommitError, CommitHandler, ConditionalPutCommitHandler, ManifestLocation,
        ManifestNamingScheme, ManifestWriter,
    },
};
use object_store::path::Path;

use crate::support::{Table, config, session};

/// What happens to a commit, given how many there have been before.
pub enum Does {
    Commit,
    Fail,
    /// It is committed, and the answer never arrives.
    LoseAnswer,
    /// Another writer commits first.
    ComeSecond(BoxFuture<'static, ()>),
    /// It is committed and goes on after this, or never.
    BeFollowedBy(BoxFuture<'static, ()>),
}

type Script = Arc<dyn Fn(usize) -> Does + Send + Sync>;

#[derive(Clone)]
struct Scripted {
    commits: Arc<AtomicUsize>,
    script: Script,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scripted")
    }
}

#[async_trait]
impl CommitHandler for Scripted {
    async fn commit(
        &self,
        manifest: &mut Manifest,
        indices: Option<Vec<IndexMetadata>>,
        base_path: &Path,
        object_store: &ObjectStore,
        writer: ManifestWriter,
        naming: ManifestNamingScheme,
        transaction: Option<Transaction>,
    ) -> Result<ManifestLocation, CommitError> {
        let broken = || CommitError::OtherError(lance::Error::io("the network is down"));
        let commits = (self.script)(self.commits.fetch_add(1, Ordering::SeqCst));
        let (mut lose, mut after) = (false, None);
        match commits {
            Does::Commit => {}
            Does::Fail => return Err(broken()),
            Does::LoseAnswer => lose = true,
            Does::ComeSecond(act) => act.await,
            Does::BeFollowedBy(act) => after = Some(act),
        }
        let done = ConditionalPutCommitHandler
            .commit(manifest, indices, base_path, object_store, writer, naming, transaction)
            .await;
        if let Some(act) = after {
            act.await;
        }
        if lose { Err(broken()) } else { done }
    }
}

/// A session in which commits to the table go by the script.
pub async fn scripted(
    table: &Table,
    script: impl Fn(usize) -> Does + Send + Sync + 'static,
) -> SessionContext {
    scripted_at(&table.uri, script).await
}

/// The same of the table at that place.
pub async fn scripted_at(
    uri: &str,
    script: impl Fn(usize) -> Does + Send + Sync + 'static,
) -> SessionContext {
    let handler = Scripted { commits: Arc::default(), script: Arc::new(script) };
    let dataset =
        DatasetBuilder::from_uri(uri).with_commit_handler(Arc::new(handler)).load().await.unwrap();
    let session = session(config());
    session.register_table("t", Arc::new(LanceTable::new(dataset))).unwrap();
    session
}

pub async fn run(session: &SessionContext, sql: &str) -> Result<(), String> {
    run_after(session, sql, async {}).await
}

/// Plans the statement, lets another client act, then executes it.
pub async fn run_after(
    session: &SessionContext,
    sql: &str,
    act: impl Future<Output = ()>,
) -> Result<(), String> {
    let planned = session.lance_sql(sql).await.map_err(|error| error.strip_backtrace())?;
    act.await;
    planned.collect().await.map(drop).map_err(|error| error.strip_backtrace())
}
