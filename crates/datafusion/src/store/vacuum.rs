//! Removal of old versions.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use lance::dataset::cleanup::{CleanupPolicy, CleanupPolicyBuilder, RemovalStats};

use super::version::TableVersion;
use crate::{
    error::{Error, Result},
    options::VacuumTableOptions,
};

/// What a vacuum removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Removal {
    pub versions: u64,
    /// Data, index, deletion and transaction files.
    pub files: u64,
    /// Of these files and of the versions' manifests.
    pub bytes: u64,
    /// Files that could not be removed.
    pub failed: u64,
}

impl From<RemovalStats> for Removal {
    fn from(stats: RemovalStats) -> Self {
        let files = [
            stats.data_files_removed,
            stats.index_files_removed,
            stats.deletion_files_removed,
            stats.transaction_files_removed,
        ];
        Self {
            versions: stats.old_versions,
            files: files.iter().sum(),
            bytes: stats.bytes_removed,
            failed: stats.failed_deletes,
        }
    }
}

/// Removes old versions, and the files that only they name.
///
/// # Errors
/// Storage fails. What was removed by then stays removed; the latest version is never touched.
pub(crate) async fn vacuum(table: &TableVersion, options: &VacuumTableOptions) -> Result<Removal> {
    let failed = |error| Error::lance("removing old versions", error);
    let policy = policy(table, options).await.map_err(failed)?;
    Ok(table.dataset.cleanup(policy).execute().await.map_err(failed)?.into())
}

/// What [`vacuum`] would remove, and the branches that start from the table: what they read stays.
pub(crate) async fn explain(
    table: &TableVersion,
    options: &VacuumTableOptions,
) -> Result<(Removal, Vec<String>)> {
    let failed = |error| Error::lance("looking for old versions", error);
    let policy = policy(table, options).await.map_err(failed)?;
    // Only the sums are of interest.
    let operation = table.dataset.cleanup(policy).with_max_candidate_files(0);
    let explanation = operation.explain().await.map_err(failed)?;
    let branches = explanation.referenced_branches.into_iter().map(|branch| branch.name);
    Ok((explanation.stats.into(), branches.collect()))
}

async fn policy(
    table: &TableVersion,
    options: &VacuumTableOptions,
) -> lance::Result<CleanupPolicy> {
    // Nothing is older than that if it is before all clocks.
    let oldest = SystemTime::now().checked_sub(options.older_than);
    let before = oldest.and_then(|oldest| {
        let since = oldest.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        DateTime::from_timestamp(i64::try_from(since.as_secs()).ok()?, since.subsec_nanos())
    });
    let mut policy = CleanupPolicyBuilder::default()
        .before_timestamp(before.unwrap_or(DateTime::<Utc>::MIN_UTC))
        .delete_unverified(options.delete_unverified)
        // A tag keeps its version; that is what it is for.
        .error_if_tagged_old_versions(false);
    if let Some(versions) = options.retain_versions {
        policy = policy.retain_n_versions(&table.dataset, versions as usize).await?;
    }
    Ok(policy.build())
}
