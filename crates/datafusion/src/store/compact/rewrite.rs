use futures::{StreamExt, TryStreamExt};
use lance::dataset::optimize::RewriteResult;

use super::Compaction;
use crate::{
    error::{Error, Result},
    store::{files, version::TableVersion},
};

/// Files that are looked up at the same time.
const CONCURRENT_FILES: usize = 16;

/// What a task wrote: fragments that no manifest names yet.
#[derive(Debug, Clone)]
pub(crate) struct Rewritten {
    pub(super) result: RewriteResult,
}

/// Carries out one task of the compaction.
pub(crate) async fn rewrite(
    table: &TableVersion,
    compaction: &Compaction,
    task: usize,
) -> Result<Rewritten> {
    let (Some(lance), Some(task)) = (compaction.tasks.get(task), compaction.plan.tasks.get(task))
    else {
        return Err(Error::internal(format!("there is no compaction task {task}")));
    };
    let at = table.at(lance.read_version).await?;
    let result = lance.execute(&at.dataset).await;
    let result = result.map_err(|error| Error::lance(format!("rewriting ({task})"), error))?;
    Ok(Rewritten { result })
}

impl Rewritten {
    /// The size of the new data files in bytes, as far as Lance said.
    pub(crate) fn bytes(&self) -> u64 {
        let files = self.result.new_fragments.iter().flat_map(|fragment| &fragment.files);
        files.filter_map(|file| file.file_size_bytes.get()).map(u64::from).sum()
    }

    /// As bytes, which [`decode`](Self::decode) reads.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(&self.result)
            .map_err(|error| Error::failed("writing the outcome of a compaction task", error))
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let result = serde_json::from_slice(bytes)
            .map_err(|error| Error::failed("reading the outcome of a compaction task", error))?;
        Ok(Self { result })
    }

    pub(super) fn paths(&self) -> Vec<&str> {
        files::paths(&self.result.new_fragments).collect()
    }

    /// Whether its files are there: a cleanup of unverified files may have removed them, and so
    /// does Lance where a commit fails early.
    pub(crate) async fn is_there(&self, table: &TableVersion) -> Result<bool> {
        let failed = |error| Error::failed("looking for the files of a compaction", error);
        let store = table.dataset.object_store(None).await.map_err(failed)?;
        let looks = self.paths().into_iter().map(|path| {
            let (store, path) = (store.clone(), table.dataset.data_dir().join(path));
            async move { store.exists(&path).await }
        });
        let looks: Vec<_> = looks.collect();
        let mut exist = futures::stream::iter(looks).buffer_unordered(CONCURRENT_FILES);
        while let Some(exists) = exist.try_next().await.map_err(failed)? {
            if !exists {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Removes the files of fragments that were written and never committed; see
/// [`files::discard`].
pub(crate) async fn discard(table: &TableVersion, rewritten: &[Rewritten]) {
    for rewritten in rewritten {
        files::discard(table, &rewritten.result.new_fragments).await;
    }
}
