//! The part of a statement that must not be cut short.

use std::sync::Arc;

use lance_index_plan::{
    accept::{Acceptance, SegmentOutcome},
    coverage::format_ranges,
    established::{Established, established},
    plan::{Action, MaintenancePlan},
};
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{drive::Built, report::MaintenanceReport};
use crate::{
    catalog::persist::{self, Announcement},
    error::{Error, ErrorKind, Result},
    planning,
    store::{
        built::BuiltSegment,
        indexes::{self, Indexes},
        publish::{Publication, publish},
        version::TableVersion,
    },
};

/// Commits what was accepted, reads back what the commit made of it, and puts right what must not
/// stay so.
#[derive(Debug)]
pub(super) struct Publisher {
    pub plan: Arc<MaintenancePlan>,
    /// The version that Lance checks the commit against.
    pub anchor: TableVersion,
    /// The version that the outcomes were accepted against.
    pub latest: TableVersion,
    pub built: Vec<Built>,
    pub accepted: Acceptance,
    /// How often putting it right may give way to other writers.
    pub retries: usize,
    /// Whether the index is recorded in the table's metadata.
    pub write_v2: bool,
}

impl Publisher {
    /// Runs in a task of its own, which goes on when the statement is dropped. `None`: another
    /// writer's commit stands in the way, and nothing was committed.
    pub(super) async fn run(self) -> Result<Option<MaintenanceReport>> {
        match tokio::spawn(self.publish()).await {
            Ok(published) => published,
            Err(error) => Err(Error::cut_short("SHOW INDEXES", &error)),
        }
    }

    async fn publish(self) -> Result<Option<MaintenanceReport>> {
        let name = &self.plan.definition.name;
        let added: Vec<BuiltSegment> = self
            .accepted
            .added
            .iter()
            .filter_map(|(uuid, set)| self.declaring(*uuid, set))
            .collect();
        let removed = &self.accepted.removed;
        let announced = match self.plan.action {
            Action::Create | Action::Replace => {
                match persist::announce(&self.latest, &self.plan, self.write_v2).await? {
                    Announcement::Done(announced) => announced,
                    Announcement::Conflict => return Ok(None),
                }
            }
            Action::Refresh | Action::Optimize => None,
        };
        let published = match publish(&self.anchor, &self.latest, name, &added, removed).await {
            Ok(Publication::Done(committed)) => self.read_back(&committed).await.map(Some),
            Ok(Publication::Conflict(error)) => {
                tracing::debug!(index = name, %error, "another writer was faster");
                Ok(None)
            }
            Err(error) => Err(error),
        };
        let nothing_stays = match &published {
            Ok(report) => report.is_none(),
            Err(error) => !matches!(error.kind(), ErrorKind::OutcomeUnknown | ErrorKind::Committed),
        };
        if let Some(announced) = announced.filter(|_| nothing_stays) {
            persist::withdraw(&self.latest, &announced).await;
        }
        published
    }

    /// The segment that was built, declaring these fragments.
    fn declaring(&self, uuid: Uuid, fragments: &RoaringBitmap) -> Option<BuiltSegment> {
        let built = self.built.iter().find(|built| built.segment.uuid() == uuid)?;
        Some(built.segment.declaring(fragments.clone()))
    }

    async fn read_back(&self, committed: &TableVersion) -> Result<MaintenanceReport> {
        let name = &self.plan.definition.name;
        let outcomes: Vec<SegmentOutcome> =
            self.built.iter().map(|built| built.outcome.clone()).collect();
        let found = match planning::snapshot(&self.plan, committed, None).await {
            Ok(after) => established(&self.plan, &outcomes, &self.accepted, &after),
            Err(error) if error.kind() == ErrorKind::Failed => {
                let index = format!("index '{name}'");
                return Err(Error::committed(index, committed.number(), &error));
            }
            // The index is such by now that it can't be maintained.
            Err(_) => None,
        };
        let Some(Established { fragments, rewritten }) = found else {
            self.put_right(committed, &RoaringBitmap::new()).await?;
            return Err(Error::conflict(format!(
                "index '{name}' lost its column during the commit; its new segments were removed"
            )));
        };
        let mut version = match rewritten.is_empty() {
            true => committed.number(),
            false => self.put_right(committed, &fragments).await?,
        };
        if self.plan.action.continues() && self.write_v2 {
            version = persist::record_committed(committed, &self.plan).await.unwrap_or(version);
        }
        let declared = self.accepted.added.iter().fold(RoaringBitmap::new(), |all, (_, d)| all | d);
        let missing = (declared - &fragments) | &self.accepted.retired;
        if !missing.is_empty() {
            tracing::warn!(
                "index '{name}': fragments [{}] were replaced by other writers while they were \
                 indexed; the next REFRESH indexes what is there now",
                format_ranges(&missing)
            );
        }
        self.warn_of_lost_coverage(committed).await;
        self.report(committed, &fragments, version).await
    }

    /// Between acceptance and commit, an update of another column may have moved rows to fragments
    /// which Lance had an input of a merge cover, and the merged segment doesn't.
    async fn warn_of_lost_coverage(&self, committed: &TableVersion) {
        if self.built.iter().all(|built| built.outcome.inputs.is_empty()) {
            return;
        }
        let name = &self.plan.definition.name;
        let Ok(Some(before)) = committed.if_still_there(committed.number() - 1).await else {
            return;
        };
        if let Ok(lost) = indexes::lost_coverage(name, &before, committed).await
            && !lost.is_empty()
        {
            tracing::warn!(
                "index '{name}': rows that others moved to fragments [{}] while their segments \
                 were merged are unindexed now; the next REFRESH indexes them",
                format_ranges(&lost)
            );
        }
    }

    /// What the commit did; `fragments` are those that the new segments cover.
    async fn report(
        &self,
        committed: &TableVersion,
        fragments: &RoaringBitmap,
        version: u64,
    ) -> Result<MaintenanceReport> {
        let name = &self.plan.definition.name;
        let segments = Indexes::read(committed).await?.segments(name).len();
        let (added, removed) = (&self.accepted.added, &self.accepted.removed);
        let is_added = |built: &&Built| added.iter().any(|(uuid, _)| *uuid == built.segment.uuid());
        let (merges, from_rows): (Vec<&Built>, Vec<&Built>) =
            self.built.iter().filter(is_added).partition(|it| !it.outcome.inputs.is_empty());
        let indexed = from_rows.iter().filter_map(|built| built.outcome.segment.declared.as_ref());
        let indexed = indexed.fold(RoaringBitmap::new(), |all, declared| all | declared);
        let superseded = |is_merge: bool| {
            let superseded = self.plan.superseded.iter();
            let superseded = superseded.filter(|it| it.reason.is_merge() == is_merge);
            superseded.filter(|it| removed.contains(&it.uuid)).count() as u64
        };
        // Of what it writes itself, Lance knows the size.
        let written = merges.iter().chain(&from_rows).filter_map(|built| built.segment.bytes());
        Ok(MaintenanceReport {
            fragments_indexed: (indexed & fragments).len(),
            segments_added: added.len() as u64,
            segments_rewritten: superseded(false),
            segments_before: (segments + removed.len()).saturating_sub(added.len()) as u64,
            segments_after: segments as u64,
            segments_merged: superseded(true),
            bytes_written: written.sum(),
            version,
            ..MaintenanceReport::of(name)
        })
    }

    /// Has the new segments declare no more than `keep`, or removes them if that is nothing.
    /// Answers the version that did it.
    async fn put_right(&self, committed: &TableVersion, keep: &RoaringBitmap) -> Result<u64> {
        let name = &self.plan.definition.name;
        let mut latest = committed.clone();
        for _ in 0..=self.retries {
            let indexes = Indexes::read(&latest).await?;
            // Segments that others have removed since stay removed.
            let ours = |uuid: &Uuid| indexes.segments(name).iter().any(|s| s.uuid == *uuid);
            let added = self.accepted.added.iter().filter(|(uuid, _)| ours(uuid));
            let (mut withdrawn, mut removed) = (Vec::new(), Vec::new());
            for (uuid, declared) in added {
                let kept = declared & keep;
                if kept.is_empty() {
                    removed.push(*uuid);
                } else if kept != *declared {
                    withdrawn.extend(self.declaring(*uuid, &kept));
                }
            }
            if withdrawn.is_empty() && removed.is_empty() {
                return Ok(latest.number());
            }
            match publish(&latest, &latest, name, &withdrawn, &removed).await? {
                Publication::Done(done) => return Ok(done.number()),
                Publication::Conflict(_) => latest = latest.latest().await?,
            }
        }
        Err(Error::new(
            ErrorKind::Committed,
            format!(
                "index '{name}' was committed in version {}, and its column changed during the \
                 commit; other writers kept it from being put right: CREATE OR REPLACE INDEX or \
                 DROP INDEX does",
                committed.number()
            ),
        ))
    }
}
