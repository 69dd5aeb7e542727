use futures::{StreamExt, TryStreamExt};
use lance::dataset::optimize::{
    CompactionOptions, CompactionTask as LanceTask, RewriteResult, TaskData,
};
use lance_index_plan::coverage::format_ranges;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

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

/// Fragments to be written anew.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CompactionWork {
    work_id: u32,
    rows: u64,
    read_version: u64,
    fragments: RoaringBitmap,
    options: CompactionOptions,
}

impl CompactionWork {
    /// The work of each task of the compaction.
    pub(crate) fn of(compaction: &Compaction) -> Vec<Self> {
        let works = compaction.plan.tasks.iter().map(|task| Self {
            work_id: task.work_id,
            rows: task.rows,
            read_version: compaction.plan.read_version,
            fragments: task.ids(),
            options: compaction.options.clone(),
        });
        works.collect()
    }

    /// The ordinal of the task in its statement.
    pub fn work_id(&self) -> u32 {
        self.work_id
    }

    /// Rows that are written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The table version whose fragments are rewritten.
    pub fn read_version(&self) -> u64 {
        self.read_version
    }
}

/// Carries out one task of a compaction.
pub(crate) async fn rewrite(table: &TableVersion, work: &CompactionWork) -> Result<Rewritten> {
    let CompactionWork { work_id, read_version, fragments: ids, options, .. } = work;
    let what = format!("CompactFragments unit={work_id} fragments=[{}]", format_ranges(ids));
    let at = table.at(*read_version).await?;
    let all = at.dataset.fragments().iter();
    let fragments: Vec<_> =
        all.filter(|fragment| ids.contains(fragment.id as u32)).cloned().collect();
    if fragments.len() as u64 != ids.len() {
        let message = format!("version {read_version} has not all of the fragments of {what}");
        return Err(Error::internal(message));
    }
    let (task, options) = (TaskData { fragments }, options.clone());
    let task = LanceTask { task, read_version: *read_version, options };
    let result = task.execute(&at.dataset).await;
    let result = result.map_err(|error| Error::lance(format!("rewriting ({what})"), error))?;
    Ok(Rewritten { result }.without_addresses())
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
