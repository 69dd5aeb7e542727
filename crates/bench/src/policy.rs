//! What all policies have in common, and ours.

use lance_index_plan::tiers::{Candidate, MergePolicy};
use roaring::RoaringBitmap;

use crate::{Result, others, simulate::Outcome};

/// Below this many rows, sizes count as equal or nearly so.
pub(crate) const FLOOR_ROWS: u64 = 10_000;

/// A policy of merging, as the simulator asks it.
pub(crate) trait Policy {
    fn name(&self) -> String;

    /// The segments to merge, as positions. Segments are in order of their creation. The last one
    /// is `appended` if it was built in this step, and this is the first question since.
    fn merges(
        &self,
        segments: &[Candidate],
        live: &RoaringBitmap,
        appended: bool,
    ) -> Vec<Vec<usize>>;

    /// Whether a merge takes new rows as they are, rather than a segment that was built of them.
    fn folds_appends(&self) -> bool {
        false
    }

    /// What has to hold of what it leaves behind after each step.
    fn check(&self, _segments: &[Candidate]) -> Result<()> {
        Ok(())
    }

    /// What has to hold of a whole history, whose median append has so many rows.
    fn check_outcome(&self, _outcome: &Outcome, _median: u64) -> Result<()> {
        Ok(())
    }
}

/// Ours, and those it is compared with.
pub(crate) fn all(target_rows: u64, merge_factor: u64) -> Result<Vec<Box<dyn Policy>>> {
    let n = usize::try_from(merge_factor)?;
    Ok(vec![
        Box::new(Tiers::new(target_rows, merge_factor)?),
        Box::new(others::LuceneTiered { target_rows, merge_factor: n }),
        Box::new(others::LogMerge { target_rows, merge_factor: n }),
        Box::new(others::SizeTiered { merge_factor: n }),
        Box::new(others::NextFit { target_rows, trailing: 1 }),
        Box::new(others::NextFit { target_rows, trailing: n }),
        Box::new(others::MergeAll),
        Box::new(others::NeverMerge),
    ])
}

/// The policy of this project.
pub(crate) struct Tiers {
    policy: MergePolicy,
    target_rows: u64,
}

impl Tiers {
    pub(crate) fn new(target_rows: u64, merge_factor: u64) -> Result<Self> {
        let policy = MergePolicy::new(Some(target_rows), None, merge_factor)?;
        Ok(Self { policy, target_rows })
    }

    /// The most unfinished segments that may be left: one less than make a merge in each tier. The
    /// floor may hold more if each of them is more than twice as large as those before it, so that
    /// no merge is worth it.
    pub(crate) fn max_unfinished(&self) -> usize {
        let each = self.policy.merge_factor() - 1;
        let mut ladder = vec![0u64];
        loop {
            let next = 2 * ladder.iter().rev().take(each).sum::<u64>() + 1;
            if next >= FLOOR_ROWS {
                break;
            }
            ladder.push(next);
        }
        each * (self.policy.num_tiers() - 1) + each.max(ladder.len())
    }

    /// The most bytes that may be written for each that is indexed.
    pub(crate) fn max_written(&self, median_append: u64) -> f64 {
        let appends = self.target_rows as f64 / median_append as f64;
        appends.ln() / (self.policy.merge_factor() as f64).ln() + 2.0
    }
}

impl Policy for Tiers {
    fn name(&self) -> String {
        "size tiers (ours)".to_string()
    }

    fn merges(&self, segments: &[Candidate], live: &RoaringBitmap, _: bool) -> Vec<Vec<usize>> {
        let position = |uuid| segments.binary_search_by_key(&uuid, |it: &Candidate| it.uuid).ok();
        let groups = self.policy.select(segments, live).groups;
        groups.iter().map(|it| it.inputs.iter().copied().filter_map(position).collect()).collect()
    }

    fn check(&self, segments: &[Candidate]) -> Result<()> {
        let unfinished = segments.iter().filter(|it| it.rows < self.target_rows).count();
        if unfinished > self.max_unfinished() {
            let most = self.max_unfinished();
            return Err(format!("{unfinished} unfinished segments, more than {most}").into());
        }
        Ok(())
    }

    fn check_outcome(&self, outcome: &Outcome, median: u64) -> Result<()> {
        let (written, most) = (outcome.write_amplification(), self.max_written(median));
        if written > most {
            return Err(format!("{written:.2} bytes written per byte, more than {most:.2}").into());
        }
        if outcome.largest_output >= 2 * self.target_rows {
            return Err(format!("a merge made {} rows", outcome.largest_output).into());
        }
        Ok(())
    }
}
