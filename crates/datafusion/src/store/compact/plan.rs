use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use lance::dataset::optimize::{CompactionOptions, CompactionPlan as LancePlan, plan_compaction};
use lance_index_plan::{
    compaction::{CompactionPlan, CompactionTask, FragmentState, KeptApart, kept_apart},
    coverage::format_ranges,
};
use lance_table::format::Fragment;
use roaring::RoaringBitmap;
use uuid::Uuid;

use crate::{
    error::{Error, Result},
    options::OptimizeTableOptions,
    store::{deferred::Deferred, indexes::Indexes, snapshot, version::TableVersion},
};

/// A compaction as Lance planned it.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub plan: CompactionPlan,
    pub(super) options: CompactionOptions,
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
    if !planned.is_empty() {
        check_deferred(table).await?;
    }
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
    Ok(Compaction {
        plan: CompactionPlan { read_version, tasks: planned },
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

/// Refuses to compact what an index has yet to be built anew for: it would lose rows.
async fn check_deferred(table: &TableVersion) -> Result<()> {
    let deferred = Deferred::read(&table.dataset).await?;
    match deferred.segments.iter().find(|segment| deferred.must_be_rebuilt(segment)) {
        Some(segment) => Err(Error::invalid(format!(
            "index '{}' would lose rows: an earlier compaction has left it to readers to find those \
             that it moved, and Lance can't find them after another one; ALTER TABLE ... REFRESH \
             INDEXES builds the index anew, then compact",
            segment.name
        ))),
        None => Ok(()),
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
