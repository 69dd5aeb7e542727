//! From a plan to a version: rewrite, look again, commit once, read back; after a conflict, again.

use std::{collections::BTreeMap, sync::Arc};

use datafusion::{
    execution::TaskContext,
    physical_plan::{ExecutionPlan, ExecutionPlanProperties},
};
use futures::StreamExt;
use lance_index_plan::compaction::{CompactionTask, FragmentState};
use roaring::RoaringBitmap;
use tokio::sync::oneshot;

use super::work::{CompactionWorkExec, rewritten_of};
use crate::{
    error::{Error, ErrorKind, Result},
    executor::SessionExecutor,
    options::OptimizeTableOptions,
    physical::{attempts::outcome_of, conflicts::Conflicts, outcome::WorkOutcome},
    settings::RunSettings,
    store::{
        commit::Committed,
        compact::{self, Compacted, Compaction, Fragments, Rewritten},
        version::TableVersion,
    },
    table::Target,
};

/// What a compaction did.
#[derive(Debug)]
pub(super) struct CompactionReport {
    pub done: Compacted,
    /// The table version after the statement.
    pub version: u64,
}

/// Drives one compaction.
#[derive(Debug)]
pub(super) struct Driver {
    pub target: Arc<Target>,
    pub options: OptimizeTableOptions,
    pub compaction: Arc<Compaction>,
    pub work: Arc<dyn ExecutionPlan>,
    /// Runs the tasks of a new plan, should there have to be one.
    pub executor: SessionExecutor,
    pub settings: RunSettings,
    pub context: Arc<TaskContext>,
}

/// A task that is done.
#[derive(Debug, Clone)]
struct Done {
    task: CompactionTask,
    rewritten: Rewritten,
}

impl Driver {
    /// Carries out the plan, and as many new ones as conflicts ask for, up to `commit_retries`.
    ///
    /// # Errors
    /// Nothing was committed, but for [`ErrorKind::Committed`] and [`ErrorKind::OutcomeUnknown`].
    pub(super) async fn run(mut self) -> Result<CompactionReport> {
        let mut done = Vec::new();
        let report = self.run_plans(&mut done).await;
        // Whatever may be part of a version is no longer among them.
        discard(self.target.table(), &done).await;
        report
    }

    async fn run_plans(&mut self, done: &mut Vec<Done>) -> Result<CompactionReport> {
        if self.is_out_of_date().await? {
            self.plan_anew(done).await?;
        }
        let mut conflicts = Conflicts::new(self.title(), self.settings.commit_retries);
        loop {
            self.rewrite(done).await?;
            if done.is_empty() {
                if let Some(apart) = &self.compaction.apart {
                    tracing::info!("{apart}");
                }
                let version = self.target.table().latest().await?.number();
                return Ok(CompactionReport { done: Compacted::default(), version });
            }
            if let Some(report) = self.publish(done, &mut conflicts).await? {
                return Ok(report);
            }
            conflicts.next().await?;
            self.plan_anew(done).await?;
        }
    }

    fn title(&self) -> String {
        format!("compaction of table '{}'", self.target.name())
    }

    /// Whether what was to be rewritten is gone by now: a plan may wait long for its execution.
    async fn is_out_of_date(&self) -> Result<bool> {
        let plan = &self.compaction.plan;
        if plan.tasks.is_empty() {
            return Ok(false);
        }
        let latest = self.target.table().latest().await?;
        let now = Fragments::read(&latest).await?.states;
        let hold = plan.tasks.iter().all(|task| task.holds(&now));
        Ok(!hold || latest.if_still_there(plan.read_version).await?.is_none())
    }

    /// Runs the plan's tasks, a bounded number at a time, and adds what they wrote to `done`.
    async fn rewrite(&self, done: &mut Vec<Done>) -> Result<()> {
        let partitions = self.work.output_partitioning().partition_count();
        let tasks: Vec<_> = (0..partitions).map(|at| self.run_partition(at)).collect();
        let concurrency = self.settings.concurrency(self.executor.0.slots());
        let mut tasks = futures::stream::iter(tasks).buffer_unordered(concurrency);
        while let Some(outcome) = tasks.next().await {
            // The first failure ends the statement; dropping the others stops them.
            let outcome = outcome?;
            let rewritten = rewritten_of(&outcome)?.with_addresses(self.target.table()).await?;
            let task = self.compaction.plan.tasks.iter().find(|t| t.work_id == outcome.work_id);
            let task = task.cloned().ok_or_else(|| {
                Error::internal(format!("there is no compaction task {}", outcome.work_id))
            })?;
            done.push(Done { task, rewritten });
        }
        // New fragments stand in the manifest in the order of the old ones.
        done.sort_by_key(|done| done.task.ids().min());
        Ok(())
    }

    async fn run_partition(&self, partition: usize) -> Result<WorkOutcome> {
        let task = format!("compaction task {partition}");
        outcome_of(self.work.as_ref(), partition, self.context.clone(), &task).await
    }

    /// Commits what the tasks wrote. `None`: it takes a new plan, since some of the old fragments
    /// are not what they were, or some of the new ones are gone.
    async fn publish(
        &self,
        done: &mut Vec<Done>,
        conflicts: &mut Conflicts,
    ) -> Result<Option<CompactionReport>> {
        let table = self.target.table();
        // First at the version that was read, so that Lance sees everything committed since; after
        // that, at the one that was looked at.
        let mut anchor = table.if_still_there(self.compaction.plan.read_version).await?;
        loop {
            let latest = table.latest().await?;
            let now = Fragments::read(&latest).await?.states;
            for done in done.iter() {
                if !done.holds(&now, &latest).await? {
                    return Ok(None);
                }
            }
            let publisher = Publisher {
                anchor: anchor.take().unwrap_or(latest),
                compaction: self.compaction.clone(),
                rewritten: done.iter().map(|done| done.rewritten.clone()).collect(),
            };
            match publisher.run().await {
                Ok(Some(report)) => {
                    done.clear();
                    return Ok(Some(report));
                }
                Ok(None) => conflicts.next().await?,
                Err(error) => {
                    // What an error leaves of it may still arrive: the files stay.
                    if error.kind() != ErrorKind::Conflict {
                        done.clear();
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Plans again from the latest version, around the tasks that still hold.
    async fn plan_anew(&mut self, done: &mut Vec<Done>) -> Result<()> {
        let latest = self.target.table().latest().await?;
        let now = Fragments::read(&latest).await?.states;
        let mut holds = Vec::new();
        for done in done.iter() {
            holds.push(done.holds(&now, &latest).await?);
        }
        let kept = done.iter().zip(&holds).filter(|(_, holds)| **holds);
        let kept = kept.fold(RoaringBitmap::new(), |all, (done, _)| all | done.task.ids());
        let mut compaction = compact::plan(&latest, &self.options, &kept).await?;
        if !kept.is_empty() && !compaction.is_beside(&self.compaction) {
            holds.fill(false);
            compaction = compact::plan(&latest, &self.options, &RoaringBitmap::new()).await?;
        }
        // Not before: after an error above, all of them are discarded.
        let mut gone = Vec::new();
        for (done_before, holds) in std::mem::take(done).into_iter().zip(holds) {
            if holds { &mut *done } else { &mut gone }.push(done_before);
        }
        discard(&latest, &gone).await;
        self.compaction = Arc::new(compaction);
        let (target, compaction) = (self.target.clone(), self.compaction.clone());
        self.work = Arc::new(CompactionWorkExec::new(target, compaction, self.executor.clone()));
        Ok(())
    }
}

impl Done {
    /// Whether it may be committed on top of the latest version.
    async fn holds(
        &self,
        now: &BTreeMap<u32, FragmentState>,
        latest: &TableVersion,
    ) -> Result<bool> {
        Ok(self.task.holds(now) && self.rewritten.is_there(latest).await?)
    }
}

async fn discard(table: &TableVersion, done: &[Done]) {
    let rewritten: Vec<_> = done.iter().map(|done| done.rewritten.clone()).collect();
    compact::discard(table, &rewritten).await;
}

/// The part of a compaction that must not be cut short.
#[derive(Debug)]
struct Publisher {
    /// The version that Lance checks the commit against.
    anchor: TableVersion,
    compaction: Arc<Compaction>,
    rewritten: Vec<Rewritten>,
}

impl Publisher {
    /// Runs in a task of its own, which goes on when the statement is dropped. `None`: another
    /// writer's commit stands in the way, and nothing was committed.
    async fn run(self) -> Result<Option<CompactionReport>> {
        let (answer, answered) = oneshot::channel();
        tokio::spawn(async move {
            let published = self.publish().await;
            let conflict = matches!(published, Ok(None));
            // Nobody is left who would try again.
            if answer.send(published).is_err() && conflict {
                compact::discard(&self.anchor, &self.rewritten).await;
            }
        });
        let cut_short = |error| Err(Error::cut_short("EXPLAIN OPTIMIZE TABLE", &error));
        answered.await.unwrap_or_else(cut_short)
    }

    async fn publish(&self) -> Result<Option<CompactionReport>> {
        match compact::commit(&self.anchor, &self.compaction, &self.rewritten).await? {
            Committed::Done(committed) => Ok(Some(CompactionReport {
                done: compact::committed(&committed, &self.rewritten),
                version: committed.number(),
            })),
            Committed::Conflict(error) => {
                tracing::debug!(%error, "another writer was faster");
                Ok(None)
            }
            Committed::Unknown(unknown) => {
                Err(unknown.into_error("EXPLAIN OPTIMIZE TABLE tells whether it happened"))
            }
        }
    }
}
