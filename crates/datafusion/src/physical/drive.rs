//! From a plan to a version: build, accept, publish once, read back; after a conflict, again.

use std::{sync::Arc, time::Duration};

use backon::{BackoffBuilder, ExponentialBuilder};
use datafusion::{
    execution::TaskContext,
    physical_plan::{ExecutionPlan, ExecutionPlanProperties},
};
use futures::{StreamExt, TryStreamExt};
use lance_index_plan::{
    accept::{Acceptance, Rejected, Rejection, SegmentOutcome, accept},
    coverage::format_ranges,
    established::established,
    history::is_same_index,
    plan::{Action, MaintenancePlan, Parallelism, build_on},
    snapshot::IndexSnapshot,
};
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{
    outcome::WorkOutcome,
    report::MaintenanceReport,
    work::{IndexWorkExec, segment_of},
};
use crate::{
    error::{Error, ErrorKind, Result},
    executor::SessionExecutor,
    planning,
    settings::RunSettings,
    store::{
        build::BuiltSegment,
        history,
        publish::{self, Publication},
        snapshot::{self, Subject},
        version::TableVersion,
    },
    table::Target,
};

/// Drives one index of a statement.
#[derive(Debug)]
pub(crate) struct Driver {
    pub target: Arc<Target>,
    pub plan: Arc<MaintenancePlan>,
    pub parallelism: Parallelism,
    pub work: Arc<dyn ExecutionPlan>,
    /// Runs the units of a new plan, should there have to be one.
    pub executor: SessionExecutor,
    pub settings: RunSettings,
    pub context: Arc<TaskContext>,
}

/// A segment that was built, as planning sees it and as the manifest is to name it.
#[derive(Debug, Clone)]
struct Built {
    outcome: SegmentOutcome,
    segment: BuiltSegment,
}

/// How far a plan got.
enum Progress {
    Done(MaintenanceReport),
    /// What others committed meanwhile takes a new plan; these outcomes still hold.
    PlanAnew {
        holds: Vec<Uuid>,
        format: Option<String>,
    },
}

impl Driver {
    /// Carries out the plan, and as many new ones as conflicts ask for, up to `commit_retries`.
    ///
    /// # Errors
    /// Nothing was committed, but for [`ErrorKind::OutcomeUnknown`].
    pub(crate) async fn run(mut self) -> Result<MaintenanceReport> {
        let mut built = Vec::new();
        let done = self.run_plans(&mut built).await;
        // Whatever may be part of a version is no longer among them.
        discard(self.target.table(), &built).await;
        done
    }

    async fn run_plans(&mut self, built: &mut Vec<Built>) -> Result<MaintenanceReport> {
        if self.plan.is_empty() && built.is_empty() {
            return self.nothing_done().await;
        }
        let mut conflicts = self.conflicts();
        loop {
            self.build(built).await?;
            let progress = self.publish(built, &mut conflicts).await?;
            let (holds, format) = match progress {
                Progress::Done(report) => return Ok(report),
                Progress::PlanAnew { holds, format } => (holds, format),
            };
            conflicts.next(&self.plan.definition.name).await?;
            self.plan_anew(built, &holds, format.as_deref()).await?;
            if self.plan.is_empty() && built.is_empty() {
                return self.nothing_done().await;
            }
        }
    }

    async fn nothing_done(&self) -> Result<MaintenanceReport> {
        Ok(MaintenanceReport {
            index_name: self.plan.definition.name.clone(),
            fragments_indexed: 0,
            segments_added: 0,
            segments_rewritten: 0,
            // Another index of the statement may have made one since the plan.
            version: self.target.table().latest().await?.number(),
        })
    }

    fn subject<'a>(&'a self, format: Option<&'a str>) -> Subject<'a> {
        let definition = &self.plan.definition;
        Subject { name: &definition.name, field_id: Some(definition.field.id), format }
    }

    async fn snapshot(&self, table: &TableVersion) -> Result<IndexSnapshot> {
        match self.plan.action {
            Action::Refresh => snapshot::read(table, self.subject(None)).await,
            Action::Create | Action::Replace => {
                let definition = &self.plan.definition;
                let field_id = Some(definition.field.id);
                snapshot::read_to_replace(table, &definition.name, field_id).await
            }
        }
    }

    /// Runs the plan's units, a bounded number at a time, and adds their segments to `built`.
    async fn build(&self, built: &mut Vec<Built>) -> Result<()> {
        let partitions = self.work.output_partitioning().partition_count();
        if partitions == 0 {
            return Ok(());
        }
        let at_plan = self.target.table().at(self.plan.read_version).await?;
        let planned = self.snapshot(&at_plan).await?;
        let concurrency = self.settings.max_concurrent_units.min(self.executor.0.slots()).max(1);
        let units: Vec<_> = (0..partitions).map(|at| self.run_partition(at)).collect();
        let mut units = futures::stream::iter(units).buffer_unordered(concurrency);
        let mut failure = None;
        while let Some(outcome) = units.next().await {
            let segment = outcome.and_then(|outcome| {
                let bytes = segment_of(&self.plan.definition.name, &outcome)?;
                Ok((outcome.work_id, BuiltSegment::decode(&bytes)?))
            });
            match segment {
                Ok((work_id, segment)) => {
                    built.push(accept_input(work_id, segment, &at_plan, &planned));
                }
                // The first failure ends the statement; dropping the others stops them.
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        drop(units);
        // Segments stand in the manifest in the order of their units, whichever was done first.
        built.sort_by_key(|built| built.outcome.work_id);
        failure.map_or(Ok(()), Err)
    }

    async fn run_partition(&self, partition: usize) -> Result<WorkOutcome> {
        let name = &self.plan.definition.name;
        let failed =
            |error| Error::failed(format!("running work unit {partition} of {name}"), error);
        let stream = self.work.execute(partition, self.context.clone()).map_err(failed)?;
        let batches: Vec<_> = stream.try_collect().await.map_err(failed)?;
        let mut outcomes = Vec::new();
        for batch in &batches {
            outcomes.extend(WorkOutcome::from_batch(batch)?);
        }
        match <[WorkOutcome; 1]>::try_from(outcomes) {
            Ok([outcome]) => Ok(outcome),
            Err(outcomes) => Err(Error::new(
                ErrorKind::Failed,
                format!(
                    "index '{name}': work unit {partition} answered {} times instead of once; \
                     nothing was committed",
                    outcomes.len()
                ),
            )),
        }
    }

    /// Accepts what was built against the latest version, and publishes it in one commit.
    async fn publish(&self, built: &mut Vec<Built>, conflicts: &mut Conflicts) -> Result<Progress> {
        let name = &self.plan.definition.name;
        let mut anchor = self.target.table().at(self.plan.read_version).await?;
        loop {
            let latest = self.target.table().latest().await?;
            let now = self.snapshot(&latest).await?;
            let events = history::events(&latest, self.plan.read_version, name).await?;
            let outcomes: Vec<_> = built.iter().map(|built| built.outcome.clone()).collect();
            let accepted = match accept(&self.plan, &outcomes, &now, events.as_deref()) {
                Ok(accepted) => accepted,
                Err(rejected) => return self.after_rejection(rejected, built),
            };
            let added = as_accepted(built, &accepted);
            let is_added =
                |built: &mut Built| added.iter().any(|a| a.uuid() == built.segment.uuid());
            let sent = publish::publish(&anchor, &latest, name, &added, &accepted.removed);
            match sent.await {
                // What an error leaves of it may still arrive: the files stay.
                Err(error) => {
                    built.retain_mut(|built| !is_added(built));
                    return Err(error);
                }
                Ok(Publication::Done(committed)) => {
                    let done: Vec<Built> = built.extract_if(.., is_added).collect();
                    let report = self.read_back(&committed, &done, &accepted).await?;
                    return Ok(Progress::Done(report));
                }
                Ok(Publication::Conflict(error)) => {
                    tracing::debug!(index = name, %error, "another writer was faster");
                    conflicts.next(name).await?;
                    anchor = latest;
                }
            }
        }
    }

    fn after_rejection(&self, rejected: Rejected, built: &[Built]) -> Result<Progress> {
        let name = &self.plan.definition.name;
        if rejected.rejections.iter().any(|rejection| !rejection.can_replan()) {
            return Err(self.rejected(&rejected.rejections));
        }
        for rejection in &rejected.rejections {
            tracing::debug!("planning anew: index '{name}' {rejection}");
        }
        let other_format = rejected.rejections.iter().find_map(|rejection| match rejection {
            Rejection::OtherFormat { uuid } => Some(*uuid),
            _ => None,
        });
        let format = built.iter().find(|built| Some(built.segment.uuid()) == other_format);
        Ok(Progress::PlanAnew {
            holds: rejected.holds,
            format: format.map(|built| built.outcome.segment.format.clone()),
        })
    }

    /// The statement's failure, for those of the rejections that no new plan gets past.
    fn rejected(&self, rejections: &[Rejection]) -> Error {
        let name = &self.plan.definition.name;
        let fatal = rejections.iter().filter(|rejection| !rejection.can_replan());
        let fatal: Vec<_> = fatal.map(|rejection| format!("index '{name}' {rejection}")).collect();
        Error::conflict(format!("{}; nothing was committed", fatal.join("; ")))
    }

    /// Plans again from the latest version, on top of the outcomes that hold.
    async fn plan_anew(
        &mut self,
        built: &mut Vec<Built>,
        holds: &[Uuid],
        format: Option<&str>,
    ) -> Result<()> {
        let latest = self.target.table().latest().await?;
        let definition = self.plan.definition.clone();
        let name = &definition.name;
        let (mut plan, now) = match self.plan.action {
            Action::Refresh => {
                let events = history::events(&latest, self.plan.read_version, name).await?;
                let same = |events: Vec<_>| is_same_index(&self.plan.segments, &events);
                if !events.is_none_or(same) {
                    return Err(self.rejected(&[Rejection::Dropped]));
                }
                planning::refresh(&latest, name, format, self.parallelism).await?
            }
            action => {
                let replace = action == Action::Replace;
                let definition = definition.clone();
                planning::create(&latest, definition, replace, true, self.parallelism).await?
            }
        };
        // Another client may have replaced the index by one with other parameters.
        let alike = plan.definition.parameters == definition.parameters;
        let outcomes: Vec<_> = built
            .iter()
            .map(|built| built.outcome.clone())
            .filter(|outcome| alike && holds.contains(&outcome.segment.uuid))
            .collect();
        let used = build_on(&mut plan, &now, &outcomes, self.parallelism);
        let (keep, drop): (Vec<Built>, Vec<Built>) =
            built.drain(..).partition(|built| used.contains(&built.segment.uuid()));
        discard(&latest, &drop).await;
        *built = keep;
        self.plan = Arc::new(plan);
        let (target, executor) = (self.target.clone(), self.executor.clone());
        self.work = Arc::new(IndexWorkExec::new(target, self.plan.clone(), executor));
        Ok(())
    }

    /// Reports what the commit made of it. Should the column be gone, or rewritten where it was
    /// indexed, by a commit that came in between, the new segments are removed again.
    async fn read_back(
        &self,
        committed: &TableVersion,
        built: &[Built],
        accepted: &Acceptance,
    ) -> Result<MaintenanceReport> {
        let name = &self.plan.definition.name;
        let version = committed.number();
        let established = match self.snapshot(committed).await {
            Ok(after) => {
                let outcomes: Vec<_> = built.iter().map(|built| built.outcome.clone()).collect();
                established(&self.plan, &outcomes, accepted, &after)
            }
            Err(error) if error.kind() == ErrorKind::Failed => {
                let message =
                    format!("index '{name}' was committed in version {version}, but then: {error}");
                return Err(Error::new(ErrorKind::Failed, message));
            }
            // The index is such by now that it can't be maintained.
            Err(_) => None,
        };
        let Some(established) = established else {
            let added: Vec<Uuid> = accepted.added.iter().map(|(uuid, _)| *uuid).collect();
            let removed = publish::publish(committed, committed, name, &[], &added).await;
            let what = format!("the column of index '{name}' was changed during the commit");
            return Err(match removed {
                Ok(Publication::Done(_)) => {
                    Error::conflict(format!("{what}; the new segments were removed again"))
                }
                Ok(Publication::Conflict(error)) => Error::conflict(format!(
                    "{what}, and the new segments could not be removed; DROP INDEX does: {error}"
                )),
                Err(error) => Error::conflict(format!(
                    "{what}, and the new segments could not be removed; DROP INDEX does: {error}"
                )),
            });
        };
        let declared = accepted.added.iter().fold(RoaringBitmap::new(), |all, (_, d)| all | d);
        let missing = (declared - &established) | &accepted.retired;
        if !missing.is_empty() {
            tracing::warn!(
                "index '{name}': fragments [{}] were replaced by other writers while they were \
                 indexed; the next REFRESH indexes what replaced them",
                format_ranges(&missing)
            );
        }
        let rewritten = accepted.removed.iter().filter(|uuid| self.plan.supersedes(**uuid));
        Ok(MaintenanceReport {
            index_name: name.clone(),
            fragments_indexed: established.len(),
            segments_added: accepted.added.len() as u64,
            segments_rewritten: rewritten.count() as u64,
            version,
        })
    }

    fn conflicts(&self) -> Conflicts {
        let delays = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(20))
            .with_max_delay(Duration::from_secs(2))
            .with_jitter()
            .with_max_times(self.settings.commit_retries);
        Conflicts { delays: Box::new(delays.build()), retries: self.settings.commit_retries }
    }
}

/// How often a statement may still give way to other writers.
struct Conflicts {
    delays: Box<dyn Iterator<Item = Duration> + Send>,
    retries: usize,
}

impl Conflicts {
    /// Waits before the next try.
    async fn next(&mut self, index: &str) -> Result<()> {
        match self.delays.next() {
            Some(delay) => {
                tokio::time::sleep(delay).await;
                Ok(())
            }
            None => Err(Error::conflict(format!(
                "index '{index}': other writers were faster {} times \
                 (lance_index.commit_retries); nothing was committed",
                self.retries + 1
            ))),
        }
    }
}

fn accept_input(
    work_id: u32,
    segment: BuiltSegment,
    at_plan: &TableVersion,
    planned: &IndexSnapshot,
) -> Built {
    let snapshot = segment.snapshot(at_plan);
    let files = |id| Some((id, planned.fragment(id)?.field_files.clone()));
    let outcome = SegmentOutcome {
        work_id,
        field_id: segment.field_id(),
        field_files: snapshot.declared.iter().flatten().filter_map(files).collect(),
        segment: snapshot,
    };
    Built { outcome, segment }
}

/// The segments that were accepted, each with the fragments that it may declare.
fn as_accepted(built: &[Built], accepted: &Acceptance) -> Vec<BuiltSegment> {
    let declaring = |built: &Built| {
        let uuid = built.segment.uuid();
        let (_, declared) = accepted.added.iter().find(|(added, _)| *added == uuid)?;
        Some(built.segment.declaring(declared.clone()))
    };
    built.iter().filter_map(declaring).collect()
}

async fn discard(table: &TableVersion, built: &[Built]) {
    let segments: Vec<_> = built.iter().map(|built| built.segment.clone()).collect();
    publish::discard(table, &segments).await;
}
