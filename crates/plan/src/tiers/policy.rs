//! How large segments are to become, and in which tier one is.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Candidate;

/// A size as a share of the target. `TARGET` is the target itself; integers, so that sums and
/// comparisons are exact and equal on every machine.
pub(super) type Share = u64;

/// 1000 segments below the target still add up without overflow.
pub(super) const TARGET: Share = 1 << 48;

/// The floor tier takes what has fewer rows than this...
const FLOOR_ROWS: u64 = 10_000;
/// ...or, of a target in bytes, is smaller than this.
const FLOOR_BYTES: u64 = 1 << 20;

/// When segments are merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePolicy {
    target_rows: Option<u64>,
    target_bytes: Option<u64>,
    merge_factor: usize,
    /// The smallest size in each regular tier, descending.
    bounds: Vec<Share>,
}

/// Segments of about 1 GiB, by merges of at most 8.
impl Default for MergePolicy {
    fn default() -> Self {
        Self::of(None, Some(Self::DEFAULT_TARGET_BYTES), Self::DEFAULT_MERGE_FACTOR)
    }
}

/// As a statement gives it: `target_rows_per_segment=1000000, merge_factor=8`.
impl fmt::Display for MergePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rows) = self.target_rows {
            write!(f, "target_rows_per_segment={rows}, ")?;
        }
        if let Some(bytes) = self.target_bytes {
            write!(f, "target_bytes_per_segment={bytes}, ")?;
        }
        write!(f, "merge_factor={}", self.merge_factor)
    }
}

/// Why there is no such policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// Neither rows nor bytes.
    #[error("a merge needs a target in rows or in bytes")]
    NoTarget,
    /// A target of zero rows or bytes.
    #[error("a target has to be at least 1")]
    ZeroTarget,
    /// A merge factor out of range.
    #[error("a merge factor has to be between 2 and 1000, not {0}")]
    MergeFactor(u64),
}

/// Where a segment stands by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// At the target or above: never merged again.
    Finished,
    /// The n-th tier below the target, from 1: sizes from `target / merge_factor^n` up to
    /// `merge_factor` times that. The last one ends at the floor.
    Regular(u32),
    /// Everything below the floor.
    Floor,
}

/// `finished`, `1`, `2`, ..., `floor`
impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => write!(f, "finished"),
            Self::Regular(n) => write!(f, "{n}"),
            Self::Floor => write!(f, "floor"),
        }
    }
}

impl MergePolicy {
    /// The target in bytes where nothing else is asked for.
    pub const DEFAULT_TARGET_BYTES: u64 = 1 << 30;
    /// The merge factor where nothing else is asked for.
    pub const DEFAULT_MERGE_FACTOR: u64 = 8;

    /// Segments grow to about `target_rows` live rows or `target_bytes` bytes, whichever they
    /// reach first, by merges of at most `merge_factor` segments.
    ///
    /// # Errors
    /// No target at all, one that is 0, or a merge factor that isn't in 2..=1000.
    pub fn new(
        target_rows: Option<u64>,
        target_bytes: Option<u64>,
        merge_factor: u64,
    ) -> Result<Self, PolicyError> {
        if target_rows.is_none() && target_bytes.is_none() {
            return Err(PolicyError::NoTarget);
        }
        if target_rows == Some(0) || target_bytes == Some(0) {
            return Err(PolicyError::ZeroTarget);
        }
        if !(2..=1000).contains(&merge_factor) {
            return Err(PolicyError::MergeFactor(merge_factor));
        }
        Ok(Self::of(target_rows, target_bytes, merge_factor))
    }

    /// The same for what is known to be a policy.
    fn of(target_rows: Option<u64>, target_bytes: Option<u64>, merge_factor: u64) -> Self {
        let floor_rows = target_rows.map_or(0, |target| share(FLOOR_ROWS, target));
        let floor_bytes = target_bytes.map_or(0, |target| share(FLOOR_BYTES, target));
        let floor = floor_rows.max(floor_bytes).clamp(1, TARGET.div_ceil(merge_factor));
        let mut bounds = Vec::new();
        let mut bound = TARGET.div_ceil(merge_factor);
        while bound > floor {
            bounds.push(bound);
            bound = bound.div_ceil(merge_factor);
        }
        bounds.push(floor);
        let merge_factor = usize::try_from(merge_factor).unwrap_or(usize::MAX);
        Self { target_rows, target_bytes, merge_factor, bounds }
    }

    /// How many segments of a tier make a merge, and the most that one merge takes.
    pub fn merge_factor(&self) -> usize {
        self.merge_factor
    }

    /// The number of tiers below the target, the floor included.
    pub fn num_tiers(&self) -> usize {
        self.bounds.len() + 1
    }

    /// The tier of a segment, whether it may be merged or not; `None` where its size is unknown,
    /// which is so if only bytes count and it has no known number of them.
    pub fn tier_of(&self, segment: &Candidate) -> Option<Tier> {
        self.share_of(segment).map(|share| self.tier_at(share))
    }

    /// The most rows that a new segment should have, where `rows` rows of existing ones take
    /// `bytes` bytes; `None` where only bytes count and nothing tells how many a row takes.
    pub(super) fn max_rows(&self, rows: u64, bytes: u64) -> Option<u64> {
        let by_bytes = self.target_bytes.filter(|_| rows > 0 && bytes > 0).map(|target| {
            let max = u128::from(target) * u128::from(rows) / u128::from(bytes);
            u64::try_from(max).unwrap_or(u64::MAX)
        });
        self.target_rows.into_iter().chain(by_bytes).min()
    }

    /// The size by the dimension that is closest to its target. Never 0: a segment costs a query
    /// something even if it holds no row.
    pub(super) fn share_of(&self, segment: &Candidate) -> Option<Share> {
        let rows = self.target_rows.map(|target| share(segment.rows, target));
        let bytes =
            self.target_bytes.zip(segment.bytes).map(|(target, bytes)| share(bytes, target));
        rows.max(bytes).map(|share| share.max(1))
    }

    pub(super) fn tier_at(&self, share: Share) -> Tier {
        if share >= TARGET {
            return Tier::Finished;
        }
        // At most 48 tiers: each bound is less than half the one before.
        let above = self.bounds.partition_point(|bound| *bound > share);
        match u32::try_from(above + 1) {
            Ok(n) if above < self.bounds.len() => Tier::Regular(n),
            _ => Tier::Floor,
        }
    }
}

/// Rounded up, so that segments which add up to the target reach it.
fn share(amount: u64, target: u64) -> Share {
    let share = (u128::from(amount) * u128::from(TARGET)).div_ceil(u128::from(target));
    Share::try_from(share).unwrap_or(Share::MAX)
}

#[cfg(test)]
mod tests {
    use super::{super::candidate::testing::candidate, *};

    fn tier(policy: &MergePolicy, rows: u64, bytes: Option<u64>) -> Option<String> {
        let segment = Candidate { bytes, ..candidate(1, 0..1, rows) };
        policy.tier_of(&segment).map(|tier| tier.to_string())
    }

    #[test]
    fn what_is_no_policy() {
        use PolicyError::*;
        assert_eq!(MergePolicy::new(None, None, 8), Err(NoTarget));
        assert_eq!(MergePolicy::new(Some(0), None, 8), Err(ZeroTarget));
        assert_eq!(MergePolicy::new(Some(1), Some(0), 8), Err(ZeroTarget));
        assert_eq!(MergePolicy::new(Some(1), None, 1), Err(MergeFactor(1)));
        assert_eq!(MergePolicy::new(Some(1), None, 1001), Err(MergeFactor(1001)));
        assert!(MergePolicy::new(Some(1), Some(1), 1000).is_ok());
    }

    #[test]
    fn tiers_are_geometric_down_to_the_floor() {
        let policy = MergePolicy::new(Some(1_000_000), None, 8).unwrap();
        let cases = [
            (1_000_000, "finished"),
            (999_999, "1"),
            (125_000, "1"),
            (124_999, "2"),
            (15_625, "2"),
            (15_624, "3"),
            (10_000, "3"),
            (9_999, "floor"),
            (0, "floor"),
        ];
        for (rows, expected) in cases {
            assert_eq!(tier(&policy, rows, None).as_deref(), Some(expected), "{rows} rows");
        }
        assert_eq!(policy.num_tiers(), 4);
    }

    #[test]
    fn the_floor_is_never_above_the_highest_tier() {
        let policy = MergePolicy::new(Some(1_000), None, 10).unwrap();
        assert_eq!(tier(&policy, 100, None).as_deref(), Some("1"));
        assert_eq!(tier(&policy, 99, None).as_deref(), Some("floor"));
        assert_eq!(policy.num_tiers(), 2);
    }

    #[test]
    fn the_floor_in_bytes() {
        let policy = MergePolicy::new(None, Some(1 << 30), 8).unwrap();
        assert_eq!(tier(&policy, 0, Some((1 << 20) - 1)).as_deref(), Some("floor"));
        assert_eq!(tier(&policy, 0, Some(1 << 20)).as_deref(), Some("4"));
    }

    #[test]
    fn the_dimension_closest_to_its_target_governs() {
        let policy = MergePolicy::new(Some(1_000_000), Some(1 << 30), 8).unwrap();
        assert_eq!(tier(&policy, 10, Some(1 << 30)).as_deref(), Some("finished"));
        assert_eq!(tier(&policy, 1_000_000, Some(10)).as_deref(), Some("finished"));
        assert_eq!(tier(&policy, 20_000, Some(1 << 29)).as_deref(), Some("1"));
    }

    #[test]
    fn of_an_unknown_size_only_rows_count() {
        let both = MergePolicy::new(Some(1_000_000), Some(10), 8).unwrap();
        assert_eq!(tier(&both, 500_000, None).as_deref(), Some("1"));
        let bytes = MergePolicy::new(None, Some(1 << 30), 8).unwrap();
        assert_eq!(tier(&bytes, 500_000, None), None);
    }

    #[test]
    fn the_largest_numbers() {
        let policy = MergePolicy::new(Some(u64::MAX), Some(u64::MAX), 2).unwrap();
        assert!(policy.num_tiers() < 50);
        assert_eq!(tier(&policy, u64::MAX, Some(1)).as_deref(), Some("finished"));
        let one = MergePolicy::new(Some(1), None, 1000).unwrap();
        assert_eq!(tier(&one, u64::MAX, None).as_deref(), Some("finished"));
        assert_eq!(tier(&one, 0, None).as_deref(), Some("floor"));
    }
}
