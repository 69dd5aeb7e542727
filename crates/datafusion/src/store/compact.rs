//! Compaction: has Lance plan, rewrite and commit it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use lance::{
    Dataset,
    dataset::{
        index::DatasetIndexRemapperOptions,
        optimize::{
            CompactionOptions, CompactionPlan as LancePlan, CompactionTask as LanceTask,
            IndexRemapper, IndexRemapperOptions, RemappedIndex, RewriteResult, commit_compaction,
            plan_compaction,
        },
    },
};
use lance_core::utils::row_addr_remap::RowAddrRemap;
use lance_index_plan::{
    compaction::{CompactionPlan, CompactionTask, FragmentState, KeptApart, kept_apart},
    coverage::format_ranges,
};
use lance_table::format::Fragment;
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{
    commit::{Committed, JOB_KEY, answered},
    files,
    indexes::Indexes,
    snapshot,
    version::TableVersion,
};
use crate::{
    error::{Error, Result},
    options::OptimizeTableOptions,
};

/// Files that are looked up or removed at the same time.
const CONCURRENT_FILES: usize = 16;

/// A compaction as Lance planned it.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub plan: CompactionPlan,
    tasks: Vec<LanceTask>,
    options: CompactionOptions,
    /// All index segments of the table: they decide what a rewrite records for remapping them.
    segments: Vec<Uuid>,
    /// What index segments keep from being put together, if anything.
    pub apart: Option<Apart>,
}

/// Small neighbours that stay, since they aren't covered by the same segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Apart {
    pub fragments: RoaringBitmap,
    /// The indexes that the segments are of.
    pub indexes: BTreeSet<String>,
}

/// `Keep fragments=[0-3] apart: not covered by the same segments of i, j`
impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fragments = format_ranges(&self.fragments);
        let indexes: Vec<&str> = self.indexes.iter().map(String::as_str).collect();
        let indexes = indexes.join(", ");
        write!(
            f,
            "Keep fragments=[{fragments}] apart: not covered by the same segments of {indexes}"
        )
    }
}

impl Compaction {
    /// Whether the other one's rewrites record the same for remapping indexes.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.segments == other.segments
    }
}

/// Plans a compaction of that version, of all fragments but those in `without`. What the statement
/// doesn't say is up to the table's own `lance.compaction.*`, then to Lance's defaults.
///
/// # Errors
/// Lance refuses the options, or the table is one that it can't compact; or it is a branch whose
/// indexes would break.
pub(crate) async fn plan(
    table: &TableVersion,
    options: &OptimizeTableOptions,
    without: &RoaringBitmap,
) -> Result<Compaction> {
    let failed = |error| Error::lance("planning the compaction", error);
    let options = lance_options(table, options, without).map_err(failed)?;
    let LancePlan { tasks, read_version, options } =
        plan_compaction(&table.dataset, &options).await.map_err(failed)?;
    let Fragments { states, segments, names } = Fragments::read(table).await?;
    let mut planned = Vec::with_capacity(tasks.len());
    for (work_id, task) in (0..).zip(&tasks) {
        let mut fragments = BTreeMap::new();
        let (mut rows, mut deleted_rows) = (0, 0);
        for fragment in &task.fragments {
            let id = fragment.id as u32;
            fragments.extend(states.get(&id).map(|state| (id, state.clone())));
            let live = snapshot::live_rows(table, fragment).await?;
            rows += live;
            deleted_rows += fragment.physical_rows.map_or(0, |all| all as u64 - live);
        }
        planned.push(CompactionTask { work_id, fragments, rows, deleted_rows });
    }
    check_bases(table, &planned).await?;
    let target = options.target_rows_per_fragment as u64;
    let mut small = BTreeMap::new();
    for fragment in table.dataset.fragments().iter() {
        let id = fragment.id as u32;
        if snapshot::live_rows(table, fragment).await? < target && !without.contains(id) {
            small.extend(states.get(&id).map(|state| (id, state)));
        }
    }
    let live: Vec<u32> = states.keys().copied().collect();
    let apart = kept_apart(&live, &small).map(|KeptApart { fragments, segments }| {
        let indexes = segments.iter().filter_map(|segment| names.get(segment)).cloned();
        Apart { fragments, indexes: indexes.collect() }
    });
    let task = |task| LanceTask { task, read_version, options: options.clone() };
    Ok(Compaction {
        plan: CompactionPlan { read_version, tasks: planned },
        tasks: tasks.into_iter().map(task).collect(),
        options,
        segments,
        apart,
    })
}

/// Refuses to compact what a segment covers whose files are elsewhere: a branch has such segments
/// of the time before it. Lance writes the remapped files to the branch, and goes on looking for
/// them there.
async fn check_bases(table: &TableVersion, tasks: &[CompactionTask]) -> Result<()> {
    let rewritten = tasks.iter().fold(RoaringBitmap::new(), |all, task| all | task.ids());
    let indexes = Indexes::read(table).await?;
    let elsewhere = indexes.all().filter(|segment| segment.base_id.is_some()).find(|segment| {
        segment.fragment_bitmap.as_ref().is_none_or(|covered| !covered.is_disjoint(&rewritten))
    });
    match elsewhere {
        Some(segment) if !rewritten.is_empty() => Err(Error::not_supported(format!(
            "compaction of what index '{}' covers since before this branch would break it; CREATE \
             OR REPLACE INDEX makes it anew on the branch",
            segment.name
        ))),
        _ => Ok(()),
    }
}

fn lance_options(
    table: &TableVersion,
    options: &OptimizeTableOptions,
    without: &RoaringBitmap,
) -> lance::Result<CompactionOptions> {
    let mut lance = CompactionOptions::from_dataset_config(&table.dataset.manifest().config)?;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    if let Some(rows) = options.target_rows_per_fragment {
        lance.target_rows_per_fragment = size(rows);
    }
    if let Some(bytes) = options.max_bytes_per_file {
        lance.max_bytes_per_file = Some(size(bytes));
    }
    if let Some(rows) = options.batch_size {
        lance.batch_size = Some(size(rows));
    }
    if let Some(materialize) = options.materialize_deletions {
        lance.materialize_deletions = materialize;
    }
    if let Some(threshold) = options.materialize_deletions_threshold {
        lance.materialize_deletions_threshold = threshold;
        // Whatever the table says: the threshold would say nothing.
        lance.materialize_deletions = true;
    }
    // Coverage that is carried over is carried over by this statement.
    lance.defer_index_remap = false;
    lance.excluded_fragment_ids = without.iter().collect();
    Ok(lance)
}

/// The live fragments of a version, as far as rewriting them is concerned.
#[derive(Debug)]
pub(crate) struct Fragments {
    pub states: BTreeMap<u32, FragmentState>,
    segments: Vec<Uuid>,
    /// The index that each segment is of.
    names: HashMap<Uuid, String>,
}

impl Fragments {
    pub(crate) async fn read(table: &TableVersion) -> Result<Self> {
        let indexes = Indexes::read(table).await?;
        let mut segments: Vec<_> = indexes.all().collect();
        segments.sort_by_key(|segment| segment.uuid);
        let declaring = |id: u32| {
            let declares = segments.iter().filter(|segment| {
                segment.fragment_bitmap.as_ref().is_none_or(|declared| declared.contains(id))
            });
            declares.map(|segment| segment.uuid).collect()
        };
        let fragments = table.dataset.fragments().iter().map(|fragment| {
            let id = fragment.id as u32;
            (id, FragmentState { files: files(fragment), segments: declaring(id) })
        });
        Ok(Self {
            states: fragments.collect(),
            segments: segments.iter().map(|segment| segment.uuid).collect(),
            names: segments.iter().map(|segment| (segment.uuid, segment.name.clone())).collect(),
        })
    }
}

/// What makes up the fragment, as one text.
fn files(fragment: &Fragment) -> Arc<str> {
    let overlays = fragment.overlays.iter().map(|overlay| &overlay.data_file);
    let files = fragment.files.iter().chain(overlays);
    let mut text: Vec<String> =
        files.map(|file| format!("{} {:?}", file.path, file.fields)).collect();
    if let Some(deleted) = &fragment.deletion_file {
        text.push(format!("{} {} {:?}", deleted.read_version, deleted.id, deleted.base_id));
    }
    text.join("\n").into()
}

/// What a task wrote: fragments that no manifest names yet.
#[derive(Debug, Clone)]
pub(crate) struct Rewritten {
    result: RewriteResult,
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

    fn paths(&self) -> Vec<&str> {
        let files = self.result.new_fragments.iter().flat_map(|fragment| &fragment.files);
        files.map(|file| file.path.as_str()).collect()
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
            return Ok(Committed::Done(Box::new(latest)));
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

/// Removes the files of fragments that were written and never committed; see
/// [`files::discard`].
pub(crate) async fn discard(table: &TableVersion, rewritten: &[Rewritten]) {
    for rewritten in rewritten {
        files::discard(table, &rewritten.result.new_fragments).await;
    }
}
