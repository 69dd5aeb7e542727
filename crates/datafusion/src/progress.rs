//! How far a running statement is.

use datafusion::physical_plan::{
    ExecutionPlan,
    metrics::{Count, ExecutionPlanMetricsSet, Gauge, MetricBuilder, MetricsSet},
};

/// The work units of a plan and their rows: those that there are, and those that are done.
///
/// What a statement does anew after a conflict isn't counted: it isn't part of the plan.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Work units.
    pub units: usize,
    /// Work units that are done.
    pub units_done: usize,
    /// Rows of all units.
    pub rows: usize,
    /// Rows of the units that are done, and those of the others that are known to be.
    pub rows_done: usize,
}

impl Progress {
    /// How far a plan is that is being executed; `None` if it has no work units.
    ///
    /// Sums the metrics `units`, `units_done`, `unit_rows` and `unit_rows_done` of all nodes.
    pub fn of(plan: &dyn ExecutionPlan) -> Option<Self> {
        let mut progress = Self::default();
        progress.add(plan);
        // Whatever nodes count, nothing is done that there isn't.
        progress.units_done = progress.units_done.min(progress.units);
        progress.rows_done = progress.rows_done.min(progress.rows);
        (progress.units > 0).then_some(progress)
    }

    fn add(&mut self, plan: &dyn ExecutionPlan) {
        if let Some(metrics) = plan.metrics() {
            self.units += sum(&metrics, UNITS);
            self.units_done += sum(&metrics, UNITS_DONE);
            self.rows += sum(&metrics, ROWS);
            self.rows_done += sum(&metrics, ROWS_DONE);
        }
        for child in plan.children() {
            self.add(child.as_ref());
        }
    }
}

const UNITS: &str = "units";
const UNITS_DONE: &str = "units_done";
const ROWS: &str = "unit_rows";
const ROWS_DONE: &str = "unit_rows_done";

fn sum(metrics: &MetricsSet, name: &str) -> usize {
    metrics.sum_by_name(name).map_or(0, |value| value.as_usize())
}

fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// Adds to a node's metrics what work units it has, if it has any.
pub(crate) fn count_units(metrics: &ExecutionPlanMetricsSet, units: usize, rows: u64) {
    if units > 0 {
        MetricBuilder::new(metrics).global_counter(UNITS).add(units);
        MetricBuilder::new(metrics).global_counter(ROWS).add(count(rows));
    }
}

/// How far one unit of a node is, in the node's metrics.
#[derive(Debug)]
pub(crate) struct UnitProgress {
    done: Count,
    rows_done: Gauge,
}

impl UnitProgress {
    pub(crate) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        Self {
            done: MetricBuilder::new(metrics).counter(UNITS_DONE, partition),
            rows_done: MetricBuilder::new(metrics).gauge(ROWS_DONE, partition),
        }
    }

    /// For the attempts at the unit, one at a time.
    pub(crate) fn of_attempts(&self) -> AttemptProgress {
        AttemptProgress { rows: Some(self.rows_done.clone()) }
    }

    /// The unit is done, all of its rows.
    pub(crate) fn finish(&self, rows: u64) {
        self.done.add(1);
        self.rows_done.set(count(rows));
    }
}

/// How far one attempt at a work unit is. An executor that knows may tell it.
#[derive(Debug, Default, Clone)]
pub struct AttemptProgress {
    /// `None` where nobody asks.
    rows: Option<Gauge>,
}

impl AttemptProgress {
    /// That many of the unit's rows are done by now.
    pub fn rows_done(&self, rows: u64) {
        if let Some(gauge) = &self.rows {
            gauge.set(count(rows));
        }
    }
}
