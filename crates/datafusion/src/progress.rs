//! How far a running statement is.

use datafusion::physical_plan::{
    ExecutionPlan,
    metrics::{Count, ExecutionPlanMetricsSet, Gauge, MetricBuilder, MetricsSet},
};

/// The work units of a plan, their rows, and the segments that they merge: those that there are, and
/// those that are done.
///
/// What a statement does anew after a conflict isn't counted: it isn't part of the plan.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Work units.
    pub units: usize,
    /// Work units that are done.
    pub units_done: usize,
    /// Rows of the units that read rows.
    pub rows: usize,
    /// Rows of the units that are done, and those of the others that are known to be.
    pub rows_done: usize,
    /// Segments that are merged by the other units.
    pub segments: usize,
    /// Segments of the merges that are done.
    pub segments_done: usize,
}

impl Progress {
    /// How far a plan is that is being executed; `None` if it has no work units.
    ///
    /// Sums the metrics `units`, `unit_rows`, `unit_segments`, and the same with `_done`, of all
    /// nodes.
    pub fn of(plan: &dyn ExecutionPlan) -> Option<Self> {
        let mut progress = Self::default();
        progress.add(plan);
        // Whatever nodes count, nothing is done that there isn't.
        progress.units_done = progress.units_done.min(progress.units);
        progress.rows_done = progress.rows_done.min(progress.rows);
        progress.segments_done = progress.segments_done.min(progress.segments);
        (progress.units > 0).then_some(progress)
    }

    fn add(&mut self, plan: &dyn ExecutionPlan) {
        if let Some(metrics) = plan.metrics() {
            self.units += sum(&metrics, UNITS);
            self.units_done += sum(&metrics, UNITS_DONE);
            self.rows += sum(&metrics, ROWS);
            self.rows_done += sum(&metrics, ROWS_DONE);
            self.segments += sum(&metrics, SEGMENTS);
            self.segments_done += sum(&metrics, SEGMENTS_DONE);
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
const SEGMENTS: &str = "unit_segments";
const SEGMENTS_DONE: &str = "unit_segments_done";

fn sum(metrics: &MetricsSet, name: &str) -> usize {
    metrics.sum_by_name(name).map_or(0, |value| value.as_usize())
}

fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// What a work unit has to do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UnitSize {
    /// Rows that it reads.
    pub rows: u64,
    /// Segments that it merges.
    pub segments: usize,
}

/// Adds to a node's metrics what work units it has, if it has any.
pub(crate) fn count_units(
    metrics: &ExecutionPlanMetricsSet,
    units: impl IntoIterator<Item = UnitSize>,
) {
    let units: Vec<UnitSize> = units.into_iter().collect();
    let add = |name: &'static str, number: usize| {
        if number > 0 {
            MetricBuilder::new(metrics).global_counter(name).add(number);
        }
    };
    add(UNITS, units.len());
    add(ROWS, count(units.iter().map(|unit| unit.rows).sum()));
    add(SEGMENTS, units.iter().map(|unit| unit.segments).sum());
}

/// How far one unit of a node is, in the node's metrics.
#[derive(Debug)]
pub(crate) struct UnitProgress {
    size: UnitSize,
    done: Count,
    rows_done: Gauge,
    /// `None` where it merges none.
    segments_done: Option<Count>,
}

impl UnitProgress {
    pub(crate) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize, size: UnitSize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        Self {
            size,
            done: counter(UNITS_DONE),
            rows_done: MetricBuilder::new(metrics).gauge(ROWS_DONE, partition),
            segments_done: (size.segments > 0).then(|| counter(SEGMENTS_DONE)),
        }
    }

    /// For the attempts at the unit, one at a time.
    pub(crate) fn of_attempts(&self) -> AttemptProgress {
        AttemptProgress { rows: Some(self.rows_done.clone()) }
    }

    /// The unit is done.
    pub(crate) fn finish(&self) {
        self.done.add(1);
        self.rows_done.set(count(self.size.rows));
        if let Some(done) = &self.segments_done {
            done.add(self.size.segments);
        }
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
