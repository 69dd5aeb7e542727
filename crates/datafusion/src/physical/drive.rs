//! From a plan to a version: build, accept, publish once, read back; after a conflict, again.

use std::{collections::BTreeMap, sync::Arc};

use datafusion::{
    execution::TaskContext,
    physical_plan::{ExecutionPlan, ExecutionPlanProperties},
};
use futures::StreamExt;
use lance_index_plan::{
    accept::{Rejected, Rejection, SegmentOutcome, accept},
    history::is_same_index,
    plan::{Action, MaintenancePlan, Sizing, build_on},
    record::is_same_record,
    snapshot::IndexDefinition,
    work::{MergeInput, WorkUnit},
};
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{
    attempts::outcome_of,
    conflicts::Conflicts,
    outcome::WorkOutcome,
    publish::Publisher,
    report::MaintenanceReport,
    work::{IndexWorkExec, segment_of},
};
use crate::{
    catalog::persist,
    error::{Error, Result},
    executor::SessionExecutor,
    planning::{self, New},
    settings::RunSettings,
    store::{built::BuiltSegment, history, lineage, publish, version::TableVersion},
    table::Target,
};

/// Drives one index of a statement.
#[derive(Debug)]
pub(crate) struct Driver {
    pub target: Arc<Target>,
    pub plan: Arc<MaintenancePlan>,
    pub sizing: Sizing,
    pub work: Arc<dyn ExecutionPlan>,
    /// Runs the units of a new plan, should there have to be one.
    pub executor: SessionExecutor,
    /// An index of the same name that comes into being meanwhile is as good.
    pub if_not_exists: bool,
    pub settings: RunSettings,
    pub context: Arc<TaskContext>,
}

/// A segment that was built, as planning sees it and as the manifest is to name it.
#[derive(Debug, Clone)]
pub(super) struct Built {
    pub outcome: SegmentOutcome,
    pub segment: BuiltSegment,
}

impl Built {
    /// What was built for a unit, from `inputs` if it merges, at the plan's version; `files` are the
    /// files of the indexed field there.
    fn new(
        work_id: u32,
        inputs: &[MergeInput],
        segment: BuiltSegment,
        at_plan: &TableVersion,
        files: &BTreeMap<u32, Arc<str>>,
    ) -> Self {
        let snapshot = segment.snapshot(at_plan);
        let its_files = |id| Some((id, files.get(&id)?.clone()));
        let outcome = SegmentOutcome {
            work_id,
            inputs: inputs.to_vec(),
            field_id: segment.field_id(),
            field_files: snapshot.declared.iter().flatten().filter_map(its_files).collect(),
            segment: snapshot,
        };
        Self { outcome, segment }
    }
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
    /// Nothing was committed, but for [`Committed`](crate::error::ErrorKind::Committed) and
    /// [`OutcomeUnknown`](crate::error::ErrorKind::OutcomeUnknown).
    pub(crate) async fn run(mut self) -> Result<MaintenanceReport> {
        let mut built = Vec::new();
        let done = self.run_plans(&mut built).await;
        // Whatever may be part of a version is no longer among them.
        discard(self.target.table(), &built).await;
        done
    }

    async fn run_plans(&mut self, built: &mut Vec<Built>) -> Result<MaintenanceReport> {
        if !self.plan.is_empty() && self.is_out_of_date().await? {
            self.plan_anew(built, &[], None).await?;
        }
        let index = format!("index '{}'", self.plan.definition.name);
        let mut conflicts = Conflicts::new(index, self.settings.commit_retries);
        while !(self.plan.is_empty() && built.is_empty()) {
            self.build(built).await?;
            match self.publish(built, &mut conflicts).await? {
                Progress::Done(report) => return Ok(report),
                Progress::PlanAnew { holds, format } => {
                    conflicts.next().await?;
                    self.plan_anew(built, &holds, format.as_deref()).await?;
                }
            }
        }
        self.nothing_done().await
    }

    /// Whether what was to be read is gone by now: other indexes of the statement come first, and
    /// may take long.
    async fn is_out_of_date(&self) -> Result<bool> {
        let latest = self.target.table().latest().await?;
        let live = self.plan.fragments().is_subset(&latest.fragments());
        Ok(!live || latest.if_still_there(self.plan.read_version).await?.is_none())
    }

    async fn nothing_done(&self) -> Result<MaintenanceReport> {
        if self.if_not_exists {
            let name = &self.plan.definition.name;
            tracing::info!("index '{name}' exists already; nothing was done");
        }
        // Another index of the statement may have made one since the plan.
        let version = self.target.table().latest().await?.number();
        let segments = self.plan.segments.len() as u64;
        Ok(MaintenanceReport {
            version,
            segments_before: segments,
            segments_after: segments,
            ..MaintenanceReport::of(&self.plan.definition.name)
        })
    }

    /// Runs the plan's units, a bounded number at a time, and adds their segments to `built`.
    async fn build(&self, built: &mut Vec<Built>) -> Result<()> {
        let partitions = self.work.output_partitioning().partition_count();
        if partitions == 0 {
            return Ok(());
        }
        let at_plan = self.target.table().at(self.plan.read_version).await?;
        let files = lineage::files_by_fragment(&at_plan, self.plan.definition.field.id);
        let concurrency = self.settings.concurrency(self.executor.0.slots());
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
                    let unit = self.plan.units.iter().find(|unit| unit.work_id == work_id);
                    let inputs = unit.map(WorkUnit::inputs).unwrap_or_default();
                    built.push(Built::new(work_id, inputs, segment, &at_plan, &files));
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
        let unit = format!("index '{}': work unit {partition}", self.plan.definition.name);
        outcome_of(self.work.as_ref(), partition, self.context.clone(), &unit).await
    }

    /// Accepts what was built against the latest version, and publishes it in one commit.
    async fn publish(&self, built: &mut Vec<Built>, conflicts: &mut Conflicts) -> Result<Progress> {
        let (name, version) = (&self.plan.definition.name, self.plan.read_version);
        // First at the version that was read, so that Lance sees everything committed since; after
        // that, at the one that was accepted against.
        let mut anchor = self.target.table().if_still_there(version).await?;
        loop {
            let latest = self.target.table().latest().await?;
            let now = planning::snapshot(&self.plan, &latest, known_to(built).as_ref()).await?;
            let events = history::events(&latest, version, name).await;
            let outcomes: Vec<_> = built.iter().map(|built| built.outcome.clone()).collect();
            let accepted = match accept(&self.plan, &outcomes, &now, events.as_deref()) {
                Ok(accepted) => accepted,
                Err(rejected) => return self.after_rejection(rejected, built).await,
            };
            if self.plan.action == Action::Create && persist::is_recorded(&latest, name) {
                let rejections = vec![Rejection::NameTaken];
                let rejected = Rejected { rejections, holds: Vec::new() };
                return self.after_rejection(rejected, built).await;
            }
            let is_added = |built: &mut Built| {
                accepted.added.iter().any(|(uuid, _)| *uuid == built.segment.uuid())
            };
            let publisher = Publisher {
                plan: self.plan.clone(),
                anchor: anchor.take().unwrap_or_else(|| latest.clone()),
                latest,
                built: built.clone(),
                accepted: accepted.clone(),
                retries: self.settings.commit_retries,
                write_v2: self.settings.write_v2,
            };
            match publisher.run().await {
                Ok(Some(report)) => {
                    built.retain_mut(|built| !is_added(built));
                    return Ok(Progress::Done(report));
                }
                Ok(None) => conflicts.next().await?,
                // What an error leaves of it may still arrive: the files stay.
                Err(error) => {
                    built.retain_mut(|built| !is_added(built));
                    return Err(error);
                }
            }
        }
    }

    async fn after_rejection(&self, rejected: Rejected, built: &[Built]) -> Result<Progress> {
        let name = &self.plan.definition.name;
        if self.if_not_exists && rejected.rejections.contains(&Rejection::NameTaken) {
            return Ok(Progress::Done(self.nothing_done().await?));
        }
        if rejected.rejections.iter().any(|rejection| !rejection.can_replan(self.plan.action)) {
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
        let fatal = rejections.iter().filter(|rejection| !rejection.can_replan(self.plan.action));
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
        let known = known_to(built);
        let new = Some(New { format, known: known.as_ref() });
        let (mut plan, now) = match &self.sizing {
            Sizing::Parallel(parallelism) if !self.plan.action.continues() => {
                let replace = self.plan.action == Action::Replace;
                let train = !self.plan.fragments().is_empty();
                let format = format.unwrap_or(&definition.format).to_string();
                let definition = IndexDefinition { format, ..definition.clone() };
                planning::create(&latest, definition, replace, train, *parallelism).await?
            }
            Sizing::Parallel(parallelism) => {
                planning::refresh(&latest, name, new, *parallelism).await?
            }
            Sizing::Tiered(policy) => planning::optimize(&latest, name, new, policy).await?,
        };
        if plan.action.continues() {
            let events = history::events(&latest, self.plan.read_version, name).await;
            let has_segments = !plan.segments.is_empty();
            let (before, after) = (definition.record, plan.definition.record);
            if !is_same_index(&self.plan.segments, events.as_deref(), &plan.segments)
                || !is_same_record(before, after, has_segments)
            {
                return Err(self.rejected(&[Rejection::Dropped]));
            }
        }
        // Another client may have replaced the index by one with other parameters.
        let alike = plan.definition.parameters == definition.parameters;
        let outcomes: Vec<_> = built
            .iter()
            .map(|built| built.outcome.clone())
            .filter(|outcome| alike && holds.contains(&outcome.segment.uuid))
            .collect();
        let used = build_on(&mut plan, &now, &outcomes, &self.sizing);
        let (keep, drop): (Vec<Built>, Vec<Built>) =
            built.drain(..).partition(|built| used.contains(&built.segment.uuid()));
        discard(&latest, &drop).await;
        *built = keep;
        self.plan = Arc::new(plan);
        let (target, executor) = (self.target.clone(), self.executor.clone());
        self.work = Arc::new(IndexWorkExec::new(target, self.plan.clone(), executor));
        Ok(())
    }
}

/// The fragments that all of these segments know, since they were there when they were built.
fn known_to(built: &[Built]) -> Option<RoaringBitmap> {
    let sources = built.iter().filter_map(|built| built.outcome.segment.source.as_ref());
    sources.map(|source| source.fragments.clone()).reduce(|all, known| all & known)
}

async fn discard(table: &TableVersion, built: &[Built]) {
    let segments: Vec<_> = built.iter().map(|built| built.segment.clone()).collect();
    publish::discard(table, &segments).await;
}
