//! Unindexed fragments, cut to segments of at most the target.

use roaring::RoaringBitmap;

use super::{Candidate, MergePolicy};
use crate::runs::pack;

/// Fragments that one new segment is to cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnindexedRun {
    /// The fragments, contiguous among the unindexed ones.
    pub fragments: RoaringBitmap,
    /// Their live rows.
    pub rows: u64,
    /// The bytes that the segment should take, by the bytes per row of the existing segments;
    /// `None` where nothing tells.
    pub bytes: Option<u64>,
}

impl MergePolicy {
    /// Cuts unindexed fragments, given as ids and live rows in order of their ids, into the
    /// fewest contiguous runs of at most the target. A fragment above it is a run of its own.
    ///
    /// Runs are filled up rather than balanced: a segment near the target is hardly ever written
    /// again.
    pub fn cut(&self, unindexed: &[(u32, u64)], existing: &[Candidate]) -> Vec<UnindexedRun> {
        let known = existing.iter().filter(|segment| segment.ineligible.is_none());
        let (rows, bytes) = known.filter_map(|it| Some((it.rows, it.bytes?))).fold(
            (0u64, 0u64),
            |(rows, bytes), (more_rows, more_bytes)| {
                (rows.saturating_add(more_rows), bytes.saturating_add(more_bytes))
            },
        );
        let weights: Vec<u64> = unindexed.iter().map(|(_, rows)| *rows).collect();
        let runs = pack(&weights, self.max_rows(rows, bytes).unwrap_or(u64::MAX));
        let run = |range: std::ops::Range<usize>| {
            let part = unindexed.get(range).unwrap_or_default();
            let in_part = part.iter().fold(0u64, |sum, (_, rows)| sum.saturating_add(*rows));
            let estimate = || u128::from(in_part) * u128::from(bytes) / u128::from(rows);
            UnindexedRun {
                fragments: part.iter().map(|(id, _)| *id).collect(),
                rows: in_part,
                bytes: (rows > 0).then(|| u64::try_from(estimate()).unwrap_or(u64::MAX)),
            }
        };
        runs.into_iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::candidate::testing::candidate, *};

    fn cut(policy: &MergePolicy, rows: &[u64], existing: &[Candidate]) -> Vec<Vec<u64>> {
        let unindexed: Vec<(u32, u64)> = (10..).zip(rows.iter().copied()).collect();
        let runs = policy.cut(&unindexed, existing);
        let rows = |run: &UnindexedRun| {
            let ids = run.fragments.iter();
            ids.map(|id| rows[usize::try_from(id - 10).unwrap()]).collect::<Vec<_>>()
        };
        assert!(runs.iter().all(|run| run.rows == rows(run).iter().sum::<u64>()));
        runs.iter().map(rows).collect()
    }

    #[test]
    fn at_most_the_target_in_rows() {
        let policy = MergePolicy::new(Some(100), None, 8).unwrap();
        assert_eq!(cut(&policy, &[], &[]), [[0u64; 0]; 0]);
        assert_eq!(cut(&policy, &[0], &[]), [[0]]);
        assert_eq!(
            cut(&policy, &[60, 40, 1, 250, 10, 90, 5], &[]),
            [vec![60, 40], vec![1], vec![250], vec![10, 90], vec![5]]
        );
    }

    #[test]
    fn bytes_are_estimated_from_what_is_there() {
        let policy = MergePolicy::new(None, Some(1_000), 8).unwrap();
        // 10 bytes a row: at most 100 rows.
        let known = Candidate { bytes: Some(500), ..candidate(1, 0..1, 50) };
        let unknown = candidate(2, 1..2, 1_000_000);
        let existing = [known.clone(), unknown.clone()];
        assert_eq!(cut(&policy, &[60, 50, 50], &existing), [vec![60], vec![50, 50]]);
        let run = &policy.cut(&[(7, 60)], &existing)[0];
        assert_eq!((run.rows, run.bytes), (60, Some(600)));
        // Nothing tells: one run.
        assert_eq!(cut(&policy, &[60, 50, 50], &[unknown]), [[60, 50, 50]]);
        // The smaller of both targets.
        let both = MergePolicy::new(Some(60), Some(1_000), 8).unwrap();
        assert_eq!(cut(&both, &[60, 50, 50], &[known]), [[60], [50], [50]]);
    }
}
