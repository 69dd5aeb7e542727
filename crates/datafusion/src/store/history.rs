//! What was committed to a table between two versions.

use futures::StreamExt;
use lance::dataset::transaction::Operation;
use lance_index_plan::history::IndexEvent;
use uuid::Uuid;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lance_table::format::{Fragment, IndexMetadata};

use super::version::TableVersion;
use crate::error::Result;

/// Commits that are read at the most to find out how fragments were made.
const MOST_COMMITS: u64 = 10_000;

/// Commits that are read at the same time.
const CONCURRENT_READS: usize = 16;

/// What the versions after `since`, up to `table`'s, did to the segments of
/// the index. `None` if any of that can't be read.
pub(crate) async fn events(
    table: &TableVersion,
    since: u64,
    name: &str,
) -> Result<Option<Vec<IndexEvent>>> {
    let mut events = Vec::new();
    for version in since + 1..=table.number() {
        // Cleanup may have removed the version or its transaction: that is no failure.
        let Ok(Some(transaction)) = table.dataset.read_transaction_by_version(version).await else {
            return Ok(None);
        };
        let mut event = IndexEvent {
            version,
            removed: Vec::new(),
            added: Vec::new(),
            moved: Vec::new(),
            cleared: false,
        };
        match &transaction.operation {
            Operation::CreateIndex { new_indices, removed_indices } => {
                let named = |indexes: &[IndexMetadata]| -> Vec<Uuid> {
                    let named = indexes.iter().filter(|index| index.name == name);
                    named.map(|index| index.uuid).collect()
                };
                event.removed = named(removed_indices);
                event.added = named(new_indices);
            }
            Operation::Rewrite { rewritten_indices, .. } => {
                let moved = rewritten_indices.iter().map(|index| (index.old_id, index.new_id));
                event.moved = moved.collect();
            }
            Operation::Overwrite { .. } | Operation::Restore { .. } => event.cleared = true,
            _ => continue,
        }
        events.push(event);
    }
    Ok(Some(events))
}

/// The version after `since` whose commit carries the job id, up to `table`'s.
///
/// `Err(())` if it isn't among those that can be read, and some can't.
pub(crate) async fn version_of_job(
    table: &TableVersion,
    since: u64,
    key: &str,
    job: Uuid,
) -> Result<Option<u64>, ()> {
    let mut unread = false;
    for version in since + 1..=table.number() {
        match table.dataset.read_transaction_by_version(version).await {
            Ok(Some(transaction)) => {
                let properties = transaction.transaction_properties.as_ref();
                let found = properties.and_then(|properties| properties.get(key));
                if found.is_some_and(|found| *found == job.to_string()) {
                    return Ok(Some(version));
                }
            }
            _ => unread = true,
        }
    }
    if unread { Err(()) } else { Ok(None) }
}

/// How a commit made a fragment.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    /// The version that the commit made.
    pub version: u64,
    /// The fragment as it was made.
    pub fragment: Fragment,
    /// The fragments that compaction made it from, as they were at the time.
    pub from: Vec<Fragment>,
}

/// How commits made fragments, by their data files: a commit names fragments before they have ids.
#[derive(Debug, Default)]
pub(crate) struct Makers(HashMap<String, Arc<Made>>);

impl Makers {
    /// Reads the commits after `since`, the latest first, until it is found how these fragments
    /// were made, and those that compaction made them from; or until a commit can't be read.
    pub(crate) async fn read<'a>(
        table: &TableVersion,
        since: u64,
        fragments: impl IntoIterator<Item = &'a Fragment>,
    ) -> Self {
        let mut wanted = HashSet::new();
        let mut unfound = 0usize;
        let want = |fragment: &Fragment, wanted: &mut HashSet<String>| {
            wanted.extend(fragment.files.iter().map(|file| file.path.clone()));
        };
        for fragment in fragments {
            want(fragment, &mut wanted);
            unfound += 1;
        }
        let mut makers = Self::default();
        let latest = table.number();
        let oldest = since.max(latest.saturating_sub(MOST_COMMITS));
        let reading: Vec<_> =
            (oldest + 1..=latest).rev().map(|version| table.fragments_made(version)).collect();
        let mut reading = futures::stream::iter(reading).buffered(CONCURRENT_READS);
        while unfound > 0 {
            let Some(Some(commit)) = reading.next().await else { break };
            for made in commit.iter() {
                let files = made.fragment.files.iter();
                if files.clone().any(|file| wanted.contains(&file.path)) {
                    unfound -= 1;
                    made.from.iter().for_each(|old| want(old, &mut wanted));
                    unfound += made.from.len();
                    let made = Arc::new(made.clone());
                    makers.0.extend(files.map(|file| (file.path.clone(), made.clone())));
                }
            }
        }
        makers
    }

    /// How the fragment was made, if that was found. One whose first files are all gone isn't.
    pub(crate) fn of(&self, fragment: &Fragment) -> Option<&Made> {
        fragment.files.iter().find_map(|file| self.0.get(&file.path)).map(AsRef::as_ref)
    }
}

/// The fragments that an operation made.
pub(super) fn made(version: u64, operation: &Operation) -> Vec<Made> {
    let made = |from: &[Fragment], new: &[Fragment]| -> Vec<Made> {
        let made = new.iter().map(|fragment| Made {
            version,
            fragment: fragment.clone(),
            from: from.to_vec(),
        });
        made.collect()
    };
    match operation {
        Operation::Append { fragments } | Operation::Overwrite { fragments, .. } => {
            made(&[], fragments)
        }
        Operation::Update { new_fragments, .. } => made(&[], new_fragments),
        Operation::Rewrite { groups, .. } => groups
            .iter()
            .flat_map(|group| made(&group.old_fragments, &group.new_fragments))
            .collect(),
        _ => Vec::new(),
    }
}
