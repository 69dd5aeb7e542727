//! What was committed to a table between two versions.

use lance::dataset::transaction::Operation;
use lance_index_plan::history::IndexEvent;
use uuid::Uuid;

use std::collections::BTreeMap;

use lance_table::format::IndexMetadata;
use roaring::RoaringBitmap;

use super::version::TableVersion;
use crate::error::Result;

/// Commits that are read at the most to find out what was changed in place.
const MOST_COMMITS: u64 = 1000;

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

/// The fragments that each of the latest commits may have changed in place, by the version it made.
#[derive(Debug, Default)]
pub(crate) struct InPlaceChanges {
    by_version: BTreeMap<u64, RoaringBitmap>,
    /// Every version after this one is among them.
    complete_after: u64,
}

impl InPlaceChanges {
    /// Reads the commits after `since`, the latest first, as far as they can be read.
    pub(crate) async fn read(table: &TableVersion, since: u64) -> Self {
        let latest = table.number();
        let mut changes = Self { by_version: BTreeMap::new(), complete_after: latest };
        let oldest = since.max(latest.saturating_sub(MOST_COMMITS));
        for version in (oldest + 1..=latest).rev() {
            let Ok(Some(transaction)) = table.dataset.read_transaction_by_version(version).await
            else {
                break;
            };
            let touched = touched(&transaction.operation);
            if !touched.is_empty() {
                changes.by_version.insert(version, touched);
            }
            changes.complete_after = version - 1;
        }
        changes
    }

    /// Whether a commit after `version` may have changed the fragment in place; `None` if not all
    /// of them could be read.
    pub(crate) fn touched_after(&self, version: u64, fragment: u32) -> Option<bool> {
        let mut after = self.by_version.range(version + 1..);
        (self.complete_after <= version)
            .then(|| after.any(|(_, touched)| touched.contains(fragment)))
    }
}

fn touched(operation: &Operation) -> RoaringBitmap {
    let ids = |ids: &mut dyn Iterator<Item = u64>| ids.map(|id| id as u32).collect();
    match operation {
        // Without modified fields, rows were only deleted from these fragments.
        Operation::Update { updated_fragments, fields_modified, .. }
            if !fields_modified.is_empty() =>
        {
            ids(&mut updated_fragments.iter().map(|fragment| fragment.id))
        }
        Operation::Merge { fragments, .. } => ids(&mut fragments.iter().map(|f| f.id)),
        Operation::DataReplacement { replacements } => {
            ids(&mut replacements.iter().map(|replacement| replacement.0))
        }
        Operation::DataOverlay { groups } => ids(&mut groups.iter().map(|g| g.fragment_id)),
        _ => RoaringBitmap::new(),
    }
}
