//! Why an index that is recorded has no segment.

use futures::StreamExt;
use lance::dataset::transaction::Operation;
use lance_index_plan::record::{Absence, AbsenceReader};

use super::{
    commit::is_ours,
    history::{CONCURRENT_READS, MOST_COMMITS, event},
    version::TableVersion,
};

/// Reads the commits after the version `since`, the latest first, until they tell; also whether
/// one of those that were read has overwritten the table.
pub(crate) async fn absence(table: &TableVersion, since: u64, name: &str) -> (Absence, bool) {
    let mut reader = AbsenceReader::default();
    let oldest = since.max(table.number().saturating_sub(MOST_COMMITS));
    let mut newest = table.number();
    while newest > oldest {
        let versions = (oldest + 1..=newest).rev();
        let reading: Vec<_> =
            versions.map(async |version| (version, table.commit(version).await)).collect();
        let mut reading = futures::stream::iter(reading).buffered(CONCURRENT_READS);
        newest = oldest;
        while let Some((version, commit)) = reading.next().await {
            // What came between is as if it had not been.
            if let Some(Operation::Restore { version }) =
                commit.as_ref().map(|commit| &commit.operation)
            {
                newest = *version;
                break;
            }
            let told = match &commit {
                None => reader.read(None, false),
                Some(commit) => match event(version, &commit.operation, name) {
                    Some(event) => reader.read(Some(&event), is_ours(commit)),
                    None => None,
                },
            };
            if let Some(told) = told {
                return (told, reader.was_cleared());
            }
        }
    }
    let cleared = reader.was_cleared();
    let is_complete = oldest == since;
    (if is_complete { reader.finish() } else { Absence::Unknown }, cleared)
}
