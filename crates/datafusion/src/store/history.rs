//! What was committed to a table between two versions.

use futures::StreamExt;
use lance::dataset::transaction::Operation;
use lance_index_plan::history::IndexEvent;
use uuid::Uuid;

use std::collections::HashMap;

use lance_table::format::{Fragment, IndexMetadata};

use super::version::TableVersion;
use crate::error::Result;

/// Commits that are read at the most to find out what was changed in place.
const MOST_COMMITS: u64 = 256;

/// Commits that are read at the same time.
const CONCURRENT_READS: usize = 8;

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

/// The data files that fragments were made with, by the latest commits.
#[derive(Debug, Default)]
pub(crate) struct OriginalFiles {
    /// Each file with the version of its commit.
    versions: HashMap<String, u64>,
    /// The commits of all later versions could be read.
    complete_after: u64,
}

impl OriginalFiles {
    /// Reads the commits after `since`, the latest first, as far as they can be read.
    pub(crate) async fn read(table: &TableVersion, since: u64) -> Self {
        let latest = table.number();
        let oldest = since.max(latest.saturating_sub(MOST_COMMITS));
        let reading: Vec<_> = (oldest + 1..=latest)
            .rev()
            .map(|version| table.dataset.read_transaction_by_version(version))
            .collect();
        let mut reading = futures::stream::iter(reading).buffered(CONCURRENT_READS);
        let mut files = Self { versions: HashMap::new(), complete_after: latest };
        while let Some(Ok(Some(transaction))) = reading.next().await {
            let version = files.complete_after;
            let made = new_fragments(&transaction.operation).into_iter();
            let paths = made.flat_map(|fragment| &fragment.files).map(|file| file.path.clone());
            files.versions.extend(paths.map(|path| (path, version)));
            files.complete_after = version - 1;
        }
        files
    }

    /// Whether all of these files were made with their fragment by a commit after `version`; `None`
    /// if not all of these commits could be read.
    pub(crate) fn are_all_of(&self, files: &str, version: u64) -> Option<bool> {
        let is_original = |file: &str| self.versions.get(file).is_some_and(|made| *made > version);
        (self.complete_after <= version).then(|| files.lines().all(is_original))
    }
}

fn new_fragments(operation: &Operation) -> Vec<&Fragment> {
    match operation {
        Operation::Append { fragments } | Operation::Overwrite { fragments, .. } => {
            fragments.iter().collect()
        }
        Operation::Update { new_fragments, .. } => new_fragments.iter().collect(),
        Operation::Rewrite { groups, .. } => {
            groups.iter().flat_map(|group| &group.new_fragments).collect()
        }
        _ => Vec::new(),
    }
}
