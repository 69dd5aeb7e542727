//! An index that Lance's own optimization maintains.

use std::{fmt, sync::Arc};

use lance_index_plan::{
    accept::Rejection, coverage::format_ranges, history::is_same_index, plan::MaintenancePlan,
    snapshot::IndexedField,
};

use roaring::RoaringBitmap;

use super::{conflicts::Conflicts, report::MaintenanceReport};
use crate::{
    catalog::persist,
    error::{Error, Result},
    options::CoreOptimize,
    planning,
    settings::RunSettings,
    store::{
        commit::Committed, delegate, fields, history, publish::publish, version::TableVersion,
    },
    table::Target,
};

/// What Lance is to do to one index.
#[derive(Debug, Clone)]
pub(crate) struct Delegate {
    /// What a REFRESH would do.
    pub plan: Arc<MaintenancePlan>,
    /// The fragments that Lance is to index.
    pub unindexed: RoaringBitmap,
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
        let unindexed = format_ranges(&self.unindexed);
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
            let (now, unindexed) = planning::delegate(&latest, name, self.core.retrain).await?;
            let events = history::events(&latest, self.plan.read_version, name).await;
            if !is_same_index(&self.plan.segments, events.as_deref(), &now.segments) {
                let dropped = Rejection::Dropped;
                return Err(Error::conflict(format!("{subject} {dropped}; nothing was committed")));
            }
            let segments = now.segments.len() as u64;
            let optimized = if self.core.is_idle(segments) && unindexed.is_empty() {
                None
            } else {
                delegate::optimize(&latest, name, self.core).await?
            };
            match optimized {
                None => {
                    return Ok(MaintenanceReport {
                        segments_before: segments,
                        segments_after: segments,
                        version: latest.number(),
                        ..MaintenanceReport::of(name)
                    });
                }
                Some(Committed::Done(committed)) => {
                    let number = committed.number();
                    let field = &self.plan.definition.field;
                    return match report(name, field, &latest, &committed).await {
                        Ok(report) => {
                            if report.fragments_indexed == 0 && !unindexed.is_empty() {
                                tracing::warn!(
                                    "Lance has indexed none of the unindexed rows of {subject}; a \
                                     quantized vector index takes as many rows as it has codes"
                                );
                            }
                            Ok(self.recorded(&committed, settings, report).await)
                        }
                        Err(error) => Err(Error::committed(&subject, number, &error)),
                    };
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

impl Delegate {
    /// The report, once the index has a record.
    async fn recorded(
        &self,
        committed: &TableVersion,
        settings: &RunSettings,
        report: MaintenanceReport,
    ) -> MaintenanceReport {
        let version = match settings.write_v2 {
            true => persist::record_delegated(committed, &self.plan.definition.name).await,
            false => None,
        };
        MaintenanceReport { version: version.unwrap_or(report.version), ..report }
    }
}

/// What the commit made of the index, compared with the version before it. Lance lets it pass beside
/// a drop of the column: then its segments are removed again.
async fn report(
    name: &str,
    field: &IndexedField,
    latest: &TableVersion,
    committed: &TableVersion,
) -> Result<MaintenanceReport> {
    let before = committed.if_still_there(committed.number() - 1).await?;
    let before = before.as_ref().unwrap_or(latest);
    let change = delegate::compare(name, before, committed).await?;
    let now = fields::by_id_in(committed, field.id);
    if !now.is_some_and(|now| now.is_same(field)) {
        publish(committed, committed, name, &[], &change.added).await?;
        return Err(Error::conflict(format!(
            "index '{name}' lost its column during the commit; its new segments were removed"
        )));
    }
    Ok(MaintenanceReport {
        fragments_indexed: change.newly_covered.len(),
        segments_added: change.added.len() as u64,
        segments_before: change.before,
        segments_after: change.after,
        segments_merged: change.removed,
        bytes_written: change.bytes_added,
        version: committed.number(),
        ..MaintenanceReport::of(name)
    })
}
