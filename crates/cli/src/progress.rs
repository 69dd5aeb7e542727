use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use console::{Term, truncate_str};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_lance_index::progress::Progress;
use indicatif::{FormattedDuration, HumanCount, HumanDuration};

/// Statements that are done sooner have no progress line.
const PATIENCE: Duration = Duration::from_secs(1);

/// The line on stderr that tells how far the statement is. Writing to it writes to stderr, in place
/// of the line, which is back soon.
#[derive(Clone)]
pub(crate) struct ProgressLine {
    wanted: bool,
    state: Arc<Mutex<State>>,
}

struct State {
    terminal: Term,
    shown: bool,
    /// Rows are being printed: the line is gone for the rest of the statement.
    over: bool,
}

impl ProgressLine {
    /// A line that is shown where it is wanted.
    pub(crate) fn new(wanted: bool) -> Self {
        let state = State { terminal: Term::buffered_stderr(), shown: false, over: false };
        Self { wanted, state: Arc::new(Mutex::new(state)) }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// A statement begins.
    pub(crate) fn begin(&self) {
        self.lock().over = false;
    }

    /// Shows how far the statement is after that time; `plan` is what it executes.
    pub(crate) fn show(&self, elapsed: Duration, plan: Option<&Arc<dyn ExecutionPlan>>) {
        if !self.wanted || elapsed < PATIENCE {
            return;
        }
        let progress = plan.map(|plan| describe(plan.as_ref(), elapsed)).unwrap_or_default();
        self.lock().show(&format!("{}{progress}", FormattedDuration(elapsed)));
    }

    /// Clears the line for the rest of the statement.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.over = true;
        state.clear();
    }

    /// Clears what the terminal made of Ctrl-C: it stands where the cursor was.
    pub(crate) fn clear_echo(&self) {
        let state = self.lock();
        if state.terminal.is_term() {
            let _ = state.terminal.clear_line();
            let _ = state.terminal.flush();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    // Where stderr is gone, there is no line.

    fn show(&mut self, text: &str) {
        if self.over {
            return;
        }
        self.clear();
        // Ctrl-C is echoed, and must find its place on the same line.
        let width = usize::from(self.terminal.size().1).saturating_sub("^C ".len());
        let _ = self.terminal.write_str(&truncate_str(text, width, ""));
        let _ = self.terminal.flush();
        self.shown = true;
    }

    fn clear(&mut self) {
        if self.shown {
            let _ = self.terminal.clear_line();
            let _ = self.terminal.flush();
            self.shown = false;
        }
    }
}

impl Write for ProgressLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        state.clear();
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// What the metrics of a running plan tell, to be read on from the time that it took.
fn describe(plan: &dyn ExecutionPlan, elapsed: Duration) -> String {
    if let Some(progress) = Progress::of(plan) {
        return describe_units(progress, elapsed);
    }
    match rows_read(plan) {
        0 => String::new(),
        rows => format!(", {} read", rows_of(rows)),
    }
}

fn describe_units(progress: Progress, elapsed: Duration) -> String {
    let Progress { units, units_done, rows, rows_done, segments, segments_done } = progress;
    let mut text = format!(", {units_done} of {}", counted(units, "unit"));
    if segments > 0 {
        text +=
            &format!(", {} of {}", HumanCount(segments_done as u64), counted(segments, "segment"));
    }
    if rows > 0 || segments == 0 {
        text += &format!(", {} of {}", HumanCount(rows_done as u64), rows_of(rows));
    }
    let rate = rows_done as f64 / elapsed.as_secs_f64();
    // After the last row, nothing tells how long the rest takes.
    if rate >= 1.0 && rows_done < rows {
        let left = Duration::try_from_secs_f64((rows - rows_done) as f64 / rate);
        text += &format!(
            ", {}/s, {:#} left",
            rows_of(rate as usize),
            HumanDuration(left.unwrap_or(Duration::MAX))
        );
    }
    text
}

fn rows_of(rows: usize) -> String {
    counted(rows, "row")
}

fn counted(number: usize, what: &str) -> String {
    format!("{} {what}{}", HumanCount(number as u64), if number == 1 { "" } else { "s" })
}

/// The rows that the leaves of the plan gave so far, as far as they count them.
fn rows_read(plan: &dyn ExecutionPlan) -> usize {
    let children = plan.children();
    if children.is_empty() {
        return plan.metrics().and_then(|metrics| metrics.output_rows()).unwrap_or(0);
    }
    children.into_iter().map(|child| rows_read(child.as_ref())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(units_done: usize, rows_done: usize) -> String {
        let rows = 4_000_000;
        let progress = Progress { units: 4, units_done, rows, rows_done, ..Progress::default() };
        describe_units(progress, Duration::from_secs(10))
    }

    #[test]
    fn units() {
        assert_eq!(described(0, 0), ", 0 of 4 units, 0 of 4,000,000 rows");
        assert_eq!(
            described(1, 1_000_000),
            ", 1 of 4 units, 1,000,000 of 4,000,000 rows, 100,000 rows/s, 30s left"
        );
        assert_eq!(described(4, 4_000_000), ", 4 of 4 units, 4,000,000 of 4,000,000 rows");
    }

    #[test]
    fn very_slow_units() {
        assert_eq!(described(0, 5), ", 0 of 4 units, 5 of 4,000,000 rows");
    }

    #[test]
    fn one_unit() {
        let progress =
            Progress { units: 1, units_done: 1, rows: 1, rows_done: 1, ..Progress::default() };
        assert_eq!(describe_units(progress, Duration::from_secs(2)), ", 1 of 1 unit, 1 of 1 row");
    }

    #[test]
    fn merges() {
        let merges = Progress { units: 3, segments: 24, segments_done: 8, ..Progress::default() };
        let described = describe_units(merges, Duration::from_secs(2));
        assert_eq!(described, ", 0 of 3 units, 8 of 24 segments");
        let both = Progress { rows: 2_000, ..merges };
        let described = describe_units(both, Duration::from_secs(2));
        assert_eq!(described, ", 0 of 3 units, 8 of 24 segments, 0 of 2,000 rows");
    }
}
