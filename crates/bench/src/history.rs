//! Histories of a table: what is appended and deleted, step by step.

use std::{fmt, ops::Range};

use rand::{Rng, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, LogNormal};

use crate::Result;

/// One step: an append of one fragment, then possibly a deletion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// Rows of the new fragment.
    pub(crate) append: u64,
    /// Of each of these fragments, what part of its rows is deleted.
    pub(crate) delete: Option<(Range<usize>, f64)>,
}

/// How the sizes of appends are distributed. Each has the given median.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    /// All equal.
    Equal,
    /// Equally probable up to twice the median.
    Random,
    /// Log-normal: one of a hundred is 30 times the median, or 1/30.
    LogNormal,
    /// Many small ones; in a hundred steps, ten that are 20 times as large.
    Bursty,
    /// Log-normal, with deletions: each tenth step deletes up to half of the rows of up to a
    /// hundred neighbouring fragments.
    Deletes,
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "equal",
            Self::Random => "random",
            Self::LogNormal => "log-normal",
            Self::Bursty => "bursty",
            Self::Deletes => "with deletes",
        })
    }
}

impl History {
    pub(crate) const ALL: [Self; 5] =
        [Self::Equal, Self::Random, Self::LogNormal, Self::Bursty, Self::Deletes];

    /// The steps, equal for equal arguments.
    pub(crate) fn steps(self, count: usize, median: u64, seed: u64) -> Result<Vec<Step>> {
        let mut random = StdRng::seed_from_u64(seed);
        let log_normal = LogNormal::new((median as f64).ln(), 1.5)?;
        let step = |at: usize| {
            let append = match self {
                Self::Equal => median,
                Self::Random => random.random_range(1..=2 * median),
                Self::LogNormal | Self::Deletes => log_normal.sample(&mut random) as u64,
                Self::Bursty if at % 100 < 90 => median,
                Self::Bursty => 20 * median,
            };
            let delete = (self == Self::Deletes && at % 10 == 9).then(|| {
                let start = random.random_range(0..=at);
                let end = (start + random.random_range(1..=100)).min(at + 1);
                (start..end, random.random_range(0.0..0.5))
            });
            Step { append: append.max(1), delete }
        };
        Ok((0..count).map(step).collect())
    }
}
