//! How the rows to index are divided among new segments.

use roaring::RoaringBitmap;

use crate::{
    runs::split_runs,
    snapshot::IndexSnapshot,
    tiers::{Candidate, MergePolicy},
    work::{Work, WorkUnit},
};

/// A run gets about this many rows where the statement doesn't say how many segments it wants.
pub const DEFAULT_ROWS_PER_SEGMENT: u64 = 1_000_000;

/// How the rows to index are divided among new segments.
#[derive(Debug, Clone, PartialEq)]
pub enum Sizing {
    /// Into as many as are to be built side by side.
    Parallel(Parallelism),
    /// Into segments of at most the policy's target.
    Tiered(MergePolicy),
}

/// How many segments a statement builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// As many as the statement asks for, at least one; `None` leaves it to the number of rows.
    pub num_segments: Option<u32>,
    /// At most this many where the statement doesn't ask.
    pub target_partitions: usize,
}

impl Parallelism {
    /// The same for the rest of a statement that has built some segments.
    pub(super) fn without(self, built: usize) -> Self {
        let built = u32::try_from(built).unwrap_or(u32::MAX);
        let num_segments = self.num_segments.map(|n| n.saturating_sub(built).max(1));
        Self { num_segments, ..self }
    }

    /// Units that index the fragments.
    pub(super) fn split(
        self,
        snapshot: &IndexSnapshot,
        fragments: &RoaringBitmap,
    ) -> Vec<WorkUnit> {
        let chosen: Vec<_> =
            snapshot.fragments.iter().filter(|it| fragments.contains(it.id)).collect();
        let rows: Vec<u64> = chosen.iter().map(|fragment| fragment.live_rows).collect();
        let by_rows = || {
            let total: u64 = rows.iter().sum();
            usize::try_from(total.div_ceil(DEFAULT_ROWS_PER_SEGMENT))
                .unwrap_or(usize::MAX)
                .clamp(1, self.target_partitions.max(1))
        };
        let asked = self.num_segments.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let runs = split_runs(&rows, asked.unwrap_or_else(by_rows)).into_iter();
        runs.zip(0..)
            .map(|(run, work_id)| WorkUnit {
                work_id,
                work: Work::BuildCoverage,
                fragments: chosen[run.clone()].iter().map(|fragment| fragment.id).collect(),
                rows: rows[run].iter().sum(),
                bytes: None,
            })
            .collect()
    }
}

/// Units that index the fragments, each of at most the policy's target. `existing` tell how many
/// bytes a row takes.
pub(super) fn cut(
    policy: &MergePolicy,
    snapshot: &IndexSnapshot,
    fragments: &RoaringBitmap,
    existing: &[Candidate],
) -> Vec<WorkUnit> {
    let chosen = snapshot.fragments.iter().filter(|it| fragments.contains(it.id));
    let chosen: Vec<(u32, u64)> = chosen.map(|it| (it.id, it.live_rows)).collect();
    let runs = policy.cut(&chosen, existing).into_iter();
    runs.zip(0..)
        .map(|(run, work_id)| WorkUnit {
            work_id,
            work: Work::BuildCoverage,
            fragments: run.fragments,
            rows: run.rows,
            bytes: run.bytes,
        })
        .collect()
}

impl Sizing {
    /// Units that index the fragments, in a statement that has built some segments already.
    pub(super) fn divide(
        &self,
        snapshot: &IndexSnapshot,
        fragments: &RoaringBitmap,
        built: usize,
    ) -> Vec<WorkUnit> {
        match self {
            Self::Parallel(parallelism) => parallelism.without(built).split(snapshot, fragments),
            Self::Tiered(policy) => cut(policy, snapshot, fragments, &Candidate::of(snapshot)),
        }
    }
}
