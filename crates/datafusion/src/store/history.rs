//! What was committed to a table between two versions.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use futures::StreamExt;
use lance::dataset::transaction::Operation;
use lance_index_plan::history::IndexEvent;
use lance_table::format::{Fragment, IndexMetadata};
use uuid::Uuid;

use super::{parameters::facts, version::TableVersion};
use crate::catalog::resolve::SegmentFacts;

/// Commits that are read at the most to find out how fragments were made.
pub(super) const MOST_COMMITS: u64 = 10_000;

/// Commits that are read at the same time.
pub(super) const CONCURRENT_READS: usize = 16;

/// What the versions after `since`, up to `table`'s, did to the segments of the index. `None` if
/// any of that can't be read: cleanup may have removed the version or its transaction.
pub(crate) async fn events(
    table: &TableVersion,
    since: u64,
    name: &str,
) -> Option<Vec<IndexEvent>> {
    let mut events = Vec::new();
    for version in since + 1..=table.number() {
        let transaction = table.commit(version).await?;
        events.extend(event(version, &transaction.operation, name));
    }
    Some(events)
}

/// The same, without what a restore has undone.
pub(crate) async fn lasting_events(
    table: &TableVersion,
    since: u64,
    name: &str,
) -> Option<Vec<IndexEvent>> {
    let mut events: Vec<IndexEvent> = Vec::new();
    for version in since + 1..=table.number() {
        let commit = table.commit(version).await?;
        if let Operation::Restore { version } = &commit.operation {
            events.retain(|event| event.version <= *version);
        } else {
            events.extend(event(version, &commit.operation, name));
        }
    }
    Some(events)
}

/// The segments of the index that came or went with the versions after `since`, up to `table`'s.
/// What can't be read is left out.
pub(crate) async fn segments(table: &TableVersion, since: u64, name: &str) -> Vec<SegmentFacts> {
    let mut segments = Vec::new();
    for version in since + 1..=table.number() {
        if let Some(commit) = table.commit(version).await
            && let Operation::CreateIndex { new_indices, removed_indices } = &commit.operation
        {
            let named = new_indices.iter().chain(removed_indices).filter(|it| it.name == name);
            segments.extend(named.map(facts));
        }
    }
    segments
}

/// What a commit did to the segments of the index; `None` if nothing.
pub(super) fn event(version: u64, operation: &Operation, name: &str) -> Option<IndexEvent> {
    let mut event = IndexEvent {
        version,
        removed: Vec::new(),
        added: Vec::new(),
        moved: Vec::new(),
        cleared: false,
    };
    match operation {
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
        _ => return None,
    }
    Some(event)
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
        match table.commit(version).await {
            Some(transaction) => {
                let properties = transaction.transaction_properties.as_ref();
                let found = properties.and_then(|properties| properties.get(key));
                if found.is_some_and(|found| *found == job.to_string()) {
                    return Ok(Some(version));
                }
            }
            None => unread = true,
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
        let mut wanted = Wanted::default();
        fragments.into_iter().for_each(|fragment| wanted.add(fragment));
        let mut makers = Self::default();
        let latest = table.number();
        let oldest = since.max(latest.saturating_sub(MOST_COMMITS));
        let versions = (oldest + 1..=latest).rev();
        let reading: Vec<_> =
            versions.map(async |version| (version, table.commit(version).await)).collect();
        let mut reading = futures::stream::iter(reading).buffered(CONCURRENT_READS);
        while !wanted.unfound.is_empty() {
            let Some((version, Some(commit))) = reading.next().await else { break };
            for made in made(version, &commit.operation) {
                if wanted.take(&made.fragment) {
                    made.from.iter().for_each(|old| wanted.add(old));
                    let made = Arc::new(made);
                    let files = made.fragment.files.iter();
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

/// Fragments that are looked for, each by any of its data files.
#[derive(Debug, Default)]
struct Wanted {
    /// The number of the fragment that the file is of.
    files: HashMap<String, usize>,
    unfound: HashSet<usize>,
}

impl Wanted {
    /// Looks for the fragment, unless it is looked for already: all outputs of one compaction are
    /// made from the same fragments.
    fn add(&mut self, fragment: &Fragment) {
        if fragment.files.iter().any(|file| self.files.contains_key(&file.path)) {
            return;
        }
        let number = self.files.len();
        self.files.extend(fragment.files.iter().map(|file| (file.path.clone(), number)));
        self.unfound.insert(number);
    }

    /// Whether this is one that is looked for and wasn't found yet: a file may be in the commits
    /// of several fragments, and the latest counts.
    fn take(&mut self, fragment: &Fragment) -> bool {
        let number = fragment.files.iter().find_map(|file| self.files.get(&file.path));
        number.is_some_and(|number| self.unfound.remove(number))
    }
}

/// The fragments that an operation made.
fn made(version: u64, operation: &Operation) -> Vec<Made> {
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

#[cfg(test)]
mod tests {
    use lance_table::format::DataFile;

    use super::*;

    fn fragment(id: u64, files: &[&str]) -> Fragment {
        let mut fragment = Fragment::new(id);
        let file = |path: &&str| DataFile::new_legacy_from_fields(*path, vec![0], None);
        fragment.files = files.iter().map(file).collect();
        fragment
    }

    /// Commits may name a file again, such as an overwrite that keeps fragments, and compaction
    /// has all its outputs come from the same fragments.
    #[test]
    fn each_fragment_is_looked_for_and_found_once() {
        let mut wanted = Wanted::default();
        wanted.add(&fragment(1, &["a", "added"]));
        wanted.add(&fragment(2, &["b"]));
        wanted.add(&fragment(1, &["a"]));
        assert_eq!(wanted.unfound.len(), 2);
        assert!(!wanted.take(&fragment(0, &["c"])));
        assert!(wanted.take(&fragment(0, &["a"])));
        assert!(!wanted.take(&fragment(0, &["a"])));
        assert!(wanted.take(&fragment(0, &["b"])));
        assert!(wanted.unfound.is_empty());
    }
}
