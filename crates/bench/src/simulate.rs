//! Runs a policy over a history.

use std::time::{Duration, Instant};

use lance_index_plan::tiers::Candidate;
use roaring::RoaringBitmap;
use uuid::Uuid;

use crate::{Result, history::Step, policy::Policy};

/// What a row takes in an index; any number will do.
pub(crate) const BYTES_PER_ROW: u64 = 16;

/// What a policy made of a history. Bytes are those of the index.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Segments at the end.
    pub(crate) segments: usize,
    /// The most segments after a step.
    pub(crate) max_segments: usize,
    /// Bytes of the appended rows.
    pub(crate) indexed: u64,
    /// Bytes of all segments that were written.
    pub(crate) written: u64,
    /// Rows of the largest segment that a merge made.
    pub(crate) largest_output: u64,
    /// Time spent in the policy.
    pub(crate) planning: Duration,
    /// The first bound of the policy that didn't hold.
    pub(crate) broken: Option<String>,
}

impl Outcome {
    /// Bytes written per byte indexed.
    pub(crate) fn write_amplification(&self) -> f64 {
        self.written as f64 / self.indexed.max(1) as f64
    }
}

/// An index whose segments cover every fragment.
#[derive(Default)]
struct Table {
    /// Live rows of each fragment.
    rows: Vec<u64>,
    /// The segment of each fragment.
    segment_of: Vec<Uuid>,
    live: RoaringBitmap,
    /// In order of their creation, and of their UUIDs.
    segments: Vec<Candidate>,
    created: u128,
}

impl Table {
    fn position(&self, uuid: Uuid) -> Option<usize> {
        self.segments.binary_search_by_key(&uuid, |it| it.uuid).ok()
    }

    fn create(&mut self, fragments: RoaringBitmap) -> u64 {
        self.created += 1;
        let uuid = Uuid::from_u128(self.created);
        let mut rows = 0;
        for id in &fragments {
            rows += self.rows[id as usize];
            self.segment_of[id as usize] = uuid;
        }
        let (bytes, kind) = (Some(rows * BYTES_PER_ROW), String::new());
        self.segments.push(Candidate { uuid, fragments, rows, bytes, kind, ineligible: None });
        rows
    }

    fn append(&mut self, rows: u64) -> Result<()> {
        let id = u32::try_from(self.rows.len())?;
        self.rows.push(rows);
        self.segment_of.push(Uuid::nil());
        self.live.insert(id);
        self.create(RoaringBitmap::from([id]));
        Ok(())
    }

    fn delete(&mut self, fragments: std::ops::Range<usize>, part: f64) {
        for id in fragments {
            let deleted = (self.rows[id] as f64 * part) as u64;
            self.rows[id] -= deleted;
            if let Some(at) = self.position(self.segment_of[id]) {
                self.segments[at].rows -= deleted;
            }
        }
    }

    /// Merges segments, and answers the rows of each output.
    fn merge(&mut self, groups: &[Vec<usize>]) -> Vec<u64> {
        let mut removed = vec![false; self.segments.len()];
        let mut outputs = Vec::new();
        for group in groups {
            let mut fragments = RoaringBitmap::new();
            for at in group {
                fragments |= &self.segments[*at].fragments;
                removed[*at] = true;
            }
            outputs.push(fragments);
        }
        let mut removed = removed.into_iter();
        self.segments.retain(|_| removed.next() != Some(true));
        outputs.into_iter().map(|fragments| self.create(fragments)).collect()
    }
}

/// Runs the policy until it has nothing to do after each step.
pub(crate) fn run(steps: &[Step], policy: &dyn Policy) -> Result<Outcome> {
    let mut table = Table::default();
    let mut outcome = Outcome::default();
    for (number, step) in steps.iter().enumerate() {
        table.append(step.append)?;
        outcome.indexed += step.append * BYTES_PER_ROW;
        outcome.written += step.append * BYTES_PER_ROW;
        if let Some((fragments, part)) = &step.delete {
            table.delete(fragments.clone(), *part);
        }
        let mut appended = true;
        loop {
            let start = Instant::now();
            let groups = policy.merges(&table.segments, &table.live, appended);
            outcome.planning += start.elapsed();
            if groups.is_empty() {
                break;
            }
            let last = table.segments.len() - 1;
            if appended && policy.folds_appends() && groups.iter().any(|it| it.contains(&last)) {
                outcome.written -= step.append * BYTES_PER_ROW;
            }
            for rows in table.merge(&groups) {
                outcome.written += rows * BYTES_PER_ROW;
                outcome.largest_output = outcome.largest_output.max(rows);
            }
            appended = false;
        }
        if outcome.broken.is_none()
            && let Err(error) = policy.check(&table.segments)
        {
            outcome.broken = Some(format!("step {number}: {error}"));
        }
        outcome.max_segments = outcome.max_segments.max(table.segments.len());
    }
    outcome.segments = table.segments.len();
    let mut appends: Vec<u64> = steps.iter().map(|step| step.append).collect();
    appends.sort_unstable();
    let median = appends.get(appends.len() / 2).copied().unwrap_or(1);
    if outcome.broken.is_none()
        && let Err(error) = policy.check_outcome(&outcome, median)
    {
        outcome.broken = Some(error.to_string());
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::History,
        policy::{Tiers, all},
    };

    const TARGET: u64 = 1_000_000;

    /// Runs ours over each history; it checks its bounds.
    fn bounded(steps: usize, median: u64, merge_factor: u64) {
        let tiers = Tiers::new(TARGET, merge_factor).unwrap();
        for history in History::ALL {
            let steps = history.steps(steps, median, 7).unwrap();
            let broken = run(&steps, &tiers).unwrap().broken;
            assert_eq!(broken, None, "{history} of {median}, merge factor {merge_factor}");
        }
    }

    #[test]
    fn bounds_hold_for_each_merge_factor() {
        for merge_factor in [2, 3, 4, 8, 16, 100] {
            bounded(1_000, 2_000, merge_factor);
        }
    }

    #[test]
    fn bounds_hold_for_tiny_and_for_large_appends() {
        for median in [10, 200, 20_000, 200_000] {
            bounded(1_000, median, 8);
        }
    }

    #[test]
    fn each_policy_keeps_every_row() {
        let steps = History::Bursty.steps(300, 2_000, 1).unwrap();
        let indexed = BYTES_PER_ROW * steps.iter().map(|step| step.append).sum::<u64>();
        for policy in all(100_000, 8).unwrap() {
            let outcome = run(&steps, policy.as_ref()).unwrap();
            assert_eq!(outcome.indexed, indexed, "{}", policy.name());
            assert!(outcome.written >= indexed, "{}", policy.name());
            assert!(outcome.segments <= outcome.max_segments, "{}", policy.name());
        }
    }

    #[test]
    fn what_is_known_of_the_simplest_policies() {
        let steps = History::Equal.steps(100, 2_000, 1).unwrap();
        let outcome = |name: &str| {
            let policies = all(TARGET, 8).unwrap();
            let policy = policies.iter().find(|policy| policy.name().starts_with(name)).unwrap();
            let outcome = run(&steps, policy.as_ref()).unwrap();
            (outcome.segments, outcome.write_amplification())
        };
        assert_eq!(outcome("never"), (100, 1.0));
        // 1 + 2 + ... + 100 of 100.
        assert_eq!(outcome("merge all"), (1, 50.5));
        assert_eq!(outcome("Lance next-fit, trailing 1"), (1, 50.5));
    }
}
