//! A table at one version.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use arrow_schema::SchemaRef;
use lance::{
    Dataset,
    dataset::{refs::Ref, transaction::Transaction},
};
use lance_table::format::WriterVersion;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};

/// The version of Lance, without its build metadata.
pub fn lance_version() -> String {
    WriterVersion::default().version
}

/// A table at one version, opened.
#[derive(Debug, Clone)]
pub(crate) struct TableVersion {
    pub(super) dataset: Dataset,
    commits: Commits,
}

/// The commits that made versions, each read once for a statement.
type Commits = Arc<Mutex<HashMap<u64, Arc<Transaction>>>>;

impl TableVersion {
    pub(crate) fn new(dataset: Dataset) -> Self {
        Self { dataset, commits: Commits::default() }
    }

    /// The same table at another version.
    pub(super) fn with(&self, dataset: Dataset) -> Self {
        Self { dataset, commits: self.commits.clone() }
    }

    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub(crate) fn into_dataset(self) -> Dataset {
        self.dataset
    }

    /// The version's number.
    pub(crate) fn number(&self) -> u64 {
        self.dataset.manifest().version
    }

    /// Where the table is.
    pub(crate) fn uri(&self) -> &str {
        self.dataset.uri()
    }

    /// The table's columns.
    pub(crate) fn arrow_schema(&self) -> SchemaRef {
        Arc::new(self.dataset.schema().into())
    }

    /// The live fragments.
    pub(crate) fn fragments(&self) -> RoaringBitmap {
        self.dataset.fragment_bitmap().as_ref().clone()
    }

    /// Whether rows keep their ids when they are updated or compacted.
    pub(crate) fn stable_row_ids(&self) -> bool {
        self.dataset.manifest().uses_stable_row_ids()
    }

    /// The table at its latest version.
    pub(crate) async fn latest(&self) -> Result<Self> {
        let mut latest = self.dataset.clone();
        let opened = latest.checkout_latest().await;
        opened.map_err(|error| Error::failed("opening the latest version of the table", error))?;
        Ok(self.with(latest))
    }

    /// The table at the given version of its branch.
    pub(crate) async fn at(&self, version: u64) -> Result<Self> {
        match self.if_still_there(version).await? {
            Some(table) => Ok(table),
            None => Err(Error::conflict(format!(
                "version {version} of the table was removed by cleanup while the statement ran"
            ))),
        }
    }

    /// The table at the given version, or `None` if cleanup has removed that version.
    pub(crate) async fn if_still_there(&self, version: u64) -> Result<Option<Self>> {
        if self.number() == version {
            return Ok(Some(self.clone()));
        }
        match self.dataset.checkout_version(version).await {
            Ok(dataset) => Ok(Some(self.with(dataset))),
            Err(
                lance::Error::DatasetNotFound { .. }
                | lance::Error::NotFound { .. }
                | lance::Error::VersionNotFound { .. },
            ) => Ok(None),
            Err(error) => {
                Err(Error::failed(format!("opening version {version} of the table"), error))
            }
        }
    }

    /// The table at that version of that branch; `None` is main, or that it can't be opened.
    pub(super) async fn on_branch(&self, branch: Option<String>, version: u64) -> Option<Self> {
        let at = Ref::Version(branch, Some(version));
        // Commits of branches have the same numbers.
        self.dataset.checkout_version(at).await.ok().map(Self::new)
    }

    /// The commit that made that version; `None` if it can't be read.
    pub(super) async fn commit(&self, version: u64) -> Option<Arc<Transaction>> {
        let commits = || self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commit) = commits().get(&version) {
            return Some(commit.clone());
        }
        let commit = Arc::new(self.dataset.read_transaction_by_version(version).await.ok()??);
        commits().insert(version, commit.clone());
        Some(commit)
    }
}
