//! Splits fragments into contiguous runs of nearly equal weight.
//!
//! Runs are contiguous because Lance compacts two neighbouring fragments into one only where
//! exactly the same segments cover both: interleaved coverage would freeze compaction.

use std::ops::Range;

/// Splits the items into exactly `min(n, weights.len())` contiguous, non-empty runs such that
/// the heaviest run is as light as it can be.
///
/// This is the linear partition problem. The smallest budget that greedy packing meets with at
/// most `n` runs is found by binary search; it is never below the widest item. Where greedy
/// packing needs fewer runs than asked for, the heaviest runs are split further at the point
/// that balances their halves, which can't raise the maximum.
///
/// Takes O(items x log(total weight)).
pub fn split_runs(weights: &[u64], n: usize) -> Vec<Range<usize>> {
    let n = n.min(weights.len());
    if n == 0 {
        return Vec::new();
    }
    let widest = weights.iter().copied().max().unwrap_or(0);
    let total = weights.iter().fold(0u64, |sum, weight| sum.saturating_add(*weight));
    let (mut low, mut high) = (widest, total);
    while low < high {
        let middle = low + (high - low) / 2;
        if pack(weights, middle).len() <= n {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut runs = pack(weights, low);
    while runs.len() < n {
        let heaviest = runs
            .iter()
            .enumerate()
            .filter(|(_, run)| run.len() > 1)
            .max_by_key(|(at, run)| (weight(weights, run), run.len(), usize::MAX - at))
            .map(|(at, _)| at);
        // There are at least n items in fewer than n runs, so some run has two.
        let Some(at) = heaviest else { break };
        let run = runs[at].clone();
        let middle = balance_point(weights, &run);
        runs.splice(at..=at, [run.start..middle, middle..run.end]);
    }
    runs
}

/// Splits the items into the fewest contiguous runs of at most `budget`; an item above it is a run
/// of its own.
///
/// Next-fit in order: each item joins the last run while the run stays within the budget. Where
/// runs have to be contiguous, no packing needs fewer.
pub fn pack(weights: &[u64], budget: u64) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut used = 0u64;
    for (at, weight) in weights.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if used.saturating_add(*weight) <= budget => {
                run.end = at + 1;
                used = used.saturating_add(*weight);
            }
            _ => {
                runs.push(at..at + 1);
                used = *weight;
            }
        }
    }
    runs
}

fn weight(weights: &[u64], run: &Range<usize>) -> u64 {
    weights[run.clone()].iter().fold(0, |sum, weight| sum.saturating_add(*weight))
}

/// The split of a run of at least two items whose heavier half is lightest.
fn balance_point(weights: &[u64], run: &Range<usize>) -> usize {
    let total = weight(weights, run);
    let mut left = 0u64;
    let mut best = (u64::MAX, run.start + 1);
    for at in run.start + 1..run.end {
        left = left.saturating_add(weights[at - 1]);
        best = best.min((left.max(total.saturating_sub(left)), at));
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lightest possible maximum, by trying every split.
    fn brute_force(weights: &[u64], n: usize) -> u64 {
        if n == 1 {
            return weights.iter().sum();
        }
        (1..=weights.len() - (n - 1))
            .map(|first| {
                let head: u64 = weights[..first].iter().sum();
                head.max(brute_force(&weights[first..], n - 1))
            })
            .min()
            .unwrap()
    }

    #[test]
    fn nothing_to_split() {
        assert_eq!(split_runs(&[], 3), vec![]);
        assert_eq!(split_runs(&[5], 0), vec![]);
    }

    #[test]
    fn seven_unequal_fragments_in_three() {
        // 100 | 60+30+10 | 40+40+20: the widest fragment is the floor.
        let runs = split_runs(&[100, 60, 30, 10, 40, 40, 20], 3);
        assert_eq!(runs, vec![0..1, 1..4, 4..7]);
    }

    #[test]
    fn one_heavy_fragment_still_gives_every_run() {
        let runs = split_runs(&[1, 1, 1000, 1, 1], 4);
        assert_eq!(runs.len(), 4);
        assert_eq!(runs.iter().map(|run| run.len()).sum::<usize>(), 5);
    }

    #[test]
    fn weights_that_overflow() {
        let runs = split_runs(&[u64::MAX, u64::MAX, 1], 2);
        assert_eq!(runs.len(), 2);
    }

    proptest! {
        #[test]
        fn exact_contiguous_complete_and_minimal(
            weights in prop::collection::vec(0u64..50, 1..9),
            n in 1usize..10,
        ) {
            let runs = split_runs(&weights, n);
            let n = n.min(weights.len());
            prop_assert_eq!(runs.len(), n);
            let mut next = 0;
            for run in &runs {
                prop_assert_eq!(run.start, next);
                prop_assert!(!run.is_empty());
                next = run.end;
            }
            prop_assert_eq!(next, weights.len());
            let heaviest = runs.iter().map(|run| weight(&weights, run)).max().unwrap();
            prop_assert_eq!(heaviest, brute_force(&weights, n));
        }
    }
}
