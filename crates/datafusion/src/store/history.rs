//! What was committed to a table between two versions.

use lance::{Dataset, dataset::transaction::Operation};
use lance_index_plan::history::IndexEvent;
use uuid::Uuid;

use crate::error::Result;

/// What the versions after `since`, up to the one that `dataset` is at, did to the segments of
/// the index. `None` if any of that can't be read.
pub(crate) async fn events(
    dataset: &Dataset,
    since: u64,
    name: &str,
) -> Result<Option<Vec<IndexEvent>>> {
    let mut events = Vec::new();
    for version in since + 1..=dataset.manifest().version {
        // Cleanup may have removed the version or its transaction: that is no failure.
        let Ok(Some(transaction)) = dataset.read_transaction_by_version(version).await else {
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
                let named = |indexes: &[lance_table::format::IndexMetadata]| -> Vec<Uuid> {
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

/// The version after `since` whose commit carries the job id, up to the one that `dataset` is at.
///
/// `Err(())` if it isn't among those that can be read, and some can't.
pub(crate) async fn version_of_job(
    dataset: &Dataset,
    since: u64,
    key: &str,
    job: Uuid,
) -> Result<Option<u64>, ()> {
    let mut unread = false;
    for version in since + 1..=dataset.manifest().version {
        match dataset.read_transaction_by_version(version).await {
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
