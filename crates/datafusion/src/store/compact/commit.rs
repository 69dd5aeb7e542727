use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use lance::{
    Dataset,
    dataset::{
        index::DatasetIndexRemapperOptions,
        optimize::{
            IndexRemapper, IndexRemapperOptions, RemappedIndex, RewriteResult, commit_compaction,
        },
    },
};
use lance_core::utils::row_addr_remap::RowAddrRemap;
use lance_table::format::Fragment;
use uuid::Uuid;

use super::{Compaction, Rewritten};
use crate::{
    error::Result,
    store::{
        commit::{Committed, JOB_KEY, answered},
        files,
        version::TableVersion,
    },
};

/// Commits what the tasks wrote in one transaction, anchored at a version in which their fragments
/// are what they were: Lance checks it against everything that was committed since.
///
/// # Errors
/// [`OutcomeUnknown`](crate::error::ErrorKind::OutcomeUnknown) if the commit's answer was lost and
/// nothing tells whether it happened; otherwise nothing was committed.
pub(crate) async fn commit(
    anchor: &TableVersion,
    compaction: &Compaction,
    rewritten: &[Rewritten],
) -> Result<Committed> {
    let read_version = anchor.number();
    let at_anchor =
        |rewritten: &Rewritten| RewriteResult { read_version, ..rewritten.result.clone() };
    let results = rewritten.iter().map(at_anchor).collect();
    let job = Uuid::new_v4();
    let properties = HashMap::from([(JOB_KEY.to_string(), job.to_string())]);
    let options = compaction.options.clone().transaction_properties(properties);
    let remapped = Remapped::default();
    let mut dataset = anchor.dataset.clone();
    let error = match commit_compaction(&mut dataset, results, Arc::new(remapped.clone()), &options)
        .await
    {
        Ok(_) => return Ok(Committed::Done(Box::new(TableVersion::new(dataset)))),
        Err(error) => error,
    };
    let mut unknown = match answered(anchor, job, error).await? {
        Committed::Unknown(unknown) => unknown,
        settled => {
            if let Committed::Conflict(_) = &settled {
                remapped.discard(anchor).await;
            }
            return Ok(settled);
        }
    };
    if let Some(latest) = unknown.latest.take() {
        let paths: Vec<&str> = rewritten.iter().flat_map(Rewritten::paths).collect();
        let live = files::live(&latest);
        if !paths.is_empty() && paths.iter().all(|path| live.contains(path)) {
            return Ok(Committed::Done(latest));
        }
    }
    Ok(Committed::Unknown(unknown))
}

/// Has Lance remap indexes, and remembers the segments that it wrote for that.
#[derive(Debug, Clone, Default)]
struct Remapped(Arc<Mutex<Vec<Uuid>>>);

#[async_trait]
impl IndexRemapperOptions for Remapped {
    async fn create_remapper(
        &self,
        dataset: &Dataset,
    ) -> lance::Result<Option<Box<dyn IndexRemapper>>> {
        let remapper = DatasetIndexRemapperOptions::default().create_remapper(dataset).await?;
        let remembering = |remapper| Remembering { remapper, written: self.clone() };
        Ok(remapper.map(|remapper| Box::new(remembering(remapper)) as Box<dyn IndexRemapper>))
    }
}

struct Remembering {
    remapper: Box<dyn IndexRemapper>,
    written: Remapped,
}

#[async_trait]
impl IndexRemapper for Remembering {
    async fn remap_indices(
        &self,
        map: RowAddrRemap,
        fragments: &[u64],
    ) -> lance::Result<Vec<RemappedIndex>> {
        let remapped = self.remapper.remap_indices(map, fragments).await?;
        let written = remapped.iter().filter(|index| index.new_id != index.old_id);
        let mut all = self.written.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(written.map(|index| index.new_id));
        drop(all);
        Ok(remapped)
    }
}

impl Remapped {
    /// Removes what was written for a commit that didn't come about. What can't be removed is left
    /// to Lance's cleanup.
    async fn discard(&self, table: &TableVersion) {
        let written = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let Ok(store) = table.dataset.object_store(None).await else { return };
        for uuid in written {
            let directory = table.dataset.indices_dir().join(uuid.to_string());
            if let Err(error) = store.remove_dir_all(directory).await {
                tracing::debug!(segment = %uuid, %error, "left to cleanup");
            }
        }
    }
}

/// What a compaction did, as read from the version that it made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Compacted {
    pub fragments_removed: usize,
    pub fragments_added: usize,
    /// Data files and deletion files.
    pub files_removed: usize,
    pub files_added: usize,
}

/// Reads what the commit made of it.
pub(crate) fn committed(table: &TableVersion, rewritten: &[Rewritten]) -> Compacted {
    let written: HashSet<&str> = rewritten.iter().flat_map(Rewritten::paths).collect();
    let live: HashSet<u64> = table.dataset.fragments().iter().map(|fragment| fragment.id).collect();
    let added =
        table.dataset.fragments().iter().filter(|fragment| {
            fragment.files.iter().any(|file| written.contains(file.path.as_str()))
        });
    let old = rewritten.iter().flat_map(|rewritten| &rewritten.result.original_fragments);
    let removed = old.filter(|fragment| !live.contains(&fragment.id));
    let count = |(fragments, files): (usize, usize), fragment: &Fragment| {
        let deletion_files = usize::from(fragment.deletion_file.is_some());
        (fragments + 1, files + fragment.files.len() + deletion_files)
    };
    let (fragments_added, files_added) = added.fold((0, 0), count);
    let (fragments_removed, files_removed) = removed.fold((0, 0), count);
    Compacted { fragments_removed, fragments_added, files_removed, files_added }
}
