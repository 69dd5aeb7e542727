//! An index that Lance's own optimization maintains.

use std::{fmt, sync::Arc};

use lance_index_plan::{
    accept::Rejection, coverage::format_ranges, history::is_same_index, plan::MaintenancePlan,
};

use super::{conflicts::Conflicts, report::MaintenanceReport};
use crate::{
    error::{Error, Result},
    options::CoreOptimize,
    planning,
    settings::RunSettings,
    store::{commit::Committed, delegate, history, version::TableVersion},
    table::Target,
};

/// What Lance is to do to one index.
#[derive(Debug, Clone)]
pub(crate) struct Delegate {
    /// What a REFRESH would do: of it, Lance indexes the unindexed fragments.
    pub plan: Arc<MaintenancePlan>,
    pub core: CoreOptimize,
}

impl fmt::Display for Delegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MaintenancePlan { definition, read_version, segments, .. } = self.plan.as_ref();
        write!(
            f,
            "{} USING {} ({}), read version {read_version}\n    OptimizeIndices (of Lance) ",
            definition.name, definition.index_type, definition.field.column
        )?;
        match self.core {
            CoreOptimize { retrain: true, .. } => write!(f, "retrain=true")?,
            CoreOptimize { num_indices_to_merge: Some(number), .. } => {
                write!(f, "num_indices_to_merge={number}")?;
            }
            CoreOptimize { num_indices_to_merge: None, .. } => {
                write!(f, "num_indices_to_merge=(up to Lance)")?;
            }
        }
        let unindexed = format_ranges(&self.plan.fragments());
        write!(f, " unindexed=[{unindexed}] segments={}", segments.len())
    }
}

impl Delegate {
    /// Has Lance do it, at the latest version, and again after conflicts, up to `commit_retries`.
    ///
    /// # Errors
    /// Nothing was committed, but for [`OutcomeUnknown`](crate::error::ErrorKind::OutcomeUnknown)
    /// and [`Committed`](crate::error::ErrorKind::Committed).
    pub(crate) async fn run(
        self,
        target: &Target,
        settings: &RunSettings,
    ) -> Result<MaintenanceReport> {
        let name = &self.plan.definition.name;
        let subject = format!("index '{name}'");
        let mut conflicts = Conflicts::new(subject.clone(), settings.commit_retries);
        loop {
            let latest = target.table().latest().await?;
            let now = planning::delegate(&latest, name, self.core.retrain).await?;
            let events = history::events(&latest, self.plan.read_version, name).await;
            if !is_same_index(&self.plan.segments, events.as_deref(), &now.segments) {
                let dropped = Rejection::Dropped;
                return Err(Error::conflict(format!("{subject} {dropped}; nothing was committed")));
            }
            match delegate::optimize(&latest, name, self.core).await? {
                None => {
                    let segments = now.segments.len() as u64;
                    return Ok(MaintenanceReport {
                        segments_before: segments,
                        segments_after: segments,
                        version: latest.number(),
                        ..MaintenanceReport::of(name)
                    });
                }
                Some(Committed::Done(committed)) => {
                    let report = report(name, &latest, &committed).await;
                    let number = committed.number();
                    return report.map_err(|error| Error::committed(&subject, number, &error));
                }
                Some(Committed::Conflict(error)) => {
                    tracing::debug!(index = name, %error, "another writer was faster");
                    conflicts.next().await?;
                }
                Some(Committed::Unknown(unknown)) => {
                    return Err(unknown.into_error("SHOW INDEX SEGMENTS tells whether it happened"));
                }
            }
        }
    }
}

/// What the commit made of the index, compared with the version before it.
async fn report(
    name: &str,
    latest: &TableVersion,
    committed: &TableVersion,
) -> Result<MaintenanceReport> {
    let before = committed.if_still_there(committed.number() - 1).await?;
    let before = before.as_ref().unwrap_or(latest);
    let change = delegate::compare(name, before, committed).await?;
    Ok(MaintenanceReport {
        fragments_indexed: change.newly_covered.len(),
        segments_added: change.added,
        segments_before: change.before,
        segments_after: change.after,
        segments_merged: change.removed,
        bytes_written: change.bytes_added,
        version: committed.number(),
        ..MaintenanceReport::of(name)
    })
}
