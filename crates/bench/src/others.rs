//! Other policies, written afresh from their published rules. Sizes are live rows.

use lance_index_plan::tiers::Candidate;
use roaring::RoaringBitmap;

use crate::{
    policy::{FLOOR_ROWS, Policy},
    simulate::BYTES_PER_ROW,
};

/// Lucene's `TieredMergePolicy`
/// (<https://lucene.apache.org/core/10_0_0/core/org/apache/lucene/index/TieredMergePolicy.html>,
/// and the comments of its source): a budget of segments, `segmentsPerTier` for each power of the
/// merge factor from the smallest segment up. While there are more, the merge with the best score
/// is made: little skew (largest input to output), small, much that is deleted. A merge of more
/// than the maximal size is left out, and so is one that grows its largest input by less than
/// half. Segments above half of the maximal size are merged no more.
pub(crate) struct LuceneTiered {
    pub(crate) target_rows: u64,
    pub(crate) merge_factor: usize,
}

impl LuceneTiered {
    fn budget(&self, sizes: &[u64]) -> usize {
        let smallest = sizes.iter().copied().min().unwrap_or(0).max(FLOOR_ROWS);
        let (mut level, mut left) = (smallest, sizes.iter().sum::<u64>());
        let per_tier = self.merge_factor as u64;
        let mut allowed = 0;
        loop {
            if left < per_tier * level || level >= self.target_rows {
                allowed += left.div_ceil(level);
                break;
            }
            allowed += per_tier;
            left -= per_tier * level;
            level = (level * per_tier).min(self.target_rows);
        }
        usize::try_from(allowed.max(per_tier)).unwrap_or(usize::MAX)
    }

    /// The merge that starts with the first of `segments`, which descend in size, and its score;
    /// lower is better.
    fn candidate(&self, segments: &[(u64, u64, usize)]) -> Option<(f64, Vec<usize>)> {
        let floored = |rows: u64| rows.max(FLOOR_ROWS) as f64;
        let (mut rows, mut stored, mut total) = (0, 0, 0.0);
        let (mut members, mut hit_maximum) = (Vec::new(), false);
        for (size, with_deleted, at) in segments {
            if members.len() == self.merge_factor {
                break;
            }
            if rows + size > self.target_rows {
                hit_maximum = true;
                continue;
            }
            (rows, stored, total) = (rows + size, stored + with_deleted, total + floored(*size));
            members.push(*at);
        }
        let (largest, ..) = segments.first()?;
        if members.len() < 2 || !hit_maximum && 2 * rows < 3 * largest {
            return None;
        }
        let skew =
            if hit_maximum { 1.0 / self.merge_factor as f64 } else { floored(*largest) / total };
        let live = rows as f64 / stored.max(1) as f64;
        Some((skew * (rows as f64).powf(0.05) * live.powi(2), members))
    }
}

impl Policy for LuceneTiered {
    fn name(&self) -> String {
        "Lucene tiered".to_string()
    }

    fn merges(&self, segments: &[Candidate], _: &RoaringBitmap, _: bool) -> Vec<Vec<usize>> {
        let mut left: Vec<(u64, u64, usize)> = segments
            .iter()
            .enumerate()
            .filter(|(_, it)| it.rows <= self.target_rows / 2)
            .map(|(at, it)| (it.rows, it.bytes.unwrap_or(0) / BYTES_PER_ROW, at))
            .collect();
        left.sort_by_key(|(rows, _, at)| (std::cmp::Reverse(*rows), *at));
        let allowed = self.budget(&left.iter().map(|(rows, ..)| *rows).collect::<Vec<_>>());
        let mut merges = Vec::new();
        while left.len() > allowed {
            let candidates = (0..left.len()).filter_map(|start| self.candidate(&left[start..]));
            let best = candidates.min_by(|(one, _), (other, _)| one.total_cmp(other));
            let Some((_, members)) = best else { break };
            left.retain(|(.., at)| !members.contains(at));
            merges.push(members);
        }
        merges
    }
}

/// Tantivy's `LogMergePolicy`
/// (<https://docs.rs/tantivy/latest/tantivy/merge_policy/struct.LogMergePolicy.html>): segments
/// of at most `max_docs_before_merge` are put in levels by the logarithm of their size, each level
/// 0.75 wide to the base 2, all below `min_layer_size` in one; a level of at least
/// `min_num_segments` is merged as a whole.
pub(crate) struct LogMerge {
    pub(crate) target_rows: u64,
    pub(crate) merge_factor: usize,
}

impl Policy for LogMerge {
    fn name(&self) -> String {
        "log-merge (tantivy)".to_string()
    }

    fn merges(&self, segments: &[Candidate], _: &RoaringBitmap, _: bool) -> Vec<Vec<usize>> {
        let small = segments.iter().enumerate().filter(|(_, it)| it.rows <= self.target_rows);
        let mut sizes: Vec<(u64, usize)> =
            small.map(|(at, it)| (it.rows.max(FLOOR_ROWS), at)).collect();
        sizes.sort_by_key(|(rows, at)| (std::cmp::Reverse(*rows), *at));
        let mut levels: Vec<Vec<usize>> = Vec::new();
        let mut top = f64::MAX;
        for (rows, at) in sizes {
            let log = (rows as f64).log2();
            match levels.last_mut() {
                Some(level) if log >= top - 0.75 => level.push(at),
                _ => {
                    top = log;
                    levels.push(vec![at]);
                }
            }
        }
        levels.retain(|level| level.len() >= self.merge_factor);
        levels
    }
}

/// Cassandra's `SizeTieredCompactionStrategy`
/// (<https://cassandra.apache.org/doc/latest/cassandra/operating/compaction/stcs.html>): a bucket
/// takes what is between 0.5 and 1.5 times its average, and one bucket takes all that is below
/// `min_sstable_size`; a bucket of at least `min_threshold` is compacted, at most `max_threshold`
/// (32) at once. Of several buckets, the one that is read most goes first; here, where nothing
/// tells, the one with the smallest average.
pub(crate) struct SizeTiered {
    pub(crate) merge_factor: usize,
}

impl Policy for SizeTiered {
    fn name(&self) -> String {
        "STCS (Cassandra)".to_string()
    }

    fn merges(&self, segments: &[Candidate], _: &RoaringBitmap, _: bool) -> Vec<Vec<usize>> {
        let mut sizes: Vec<(u64, usize)> =
            segments.iter().enumerate().map(|(at, it)| (it.rows, at)).collect();
        sizes.sort_unstable();
        // The sum and the members of each bucket.
        let mut buckets: Vec<(u64, Vec<usize>)> = Vec::new();
        for (rows, at) in sizes {
            let fits = |(sum, members): &(u64, Vec<usize>)| {
                let (size, average) = (rows as f64, *sum as f64 / members.len() as f64);
                0.5 * average < size && size < 1.5 * average
                    || rows < FLOOR_ROWS && average < FLOOR_ROWS as f64
            };
            match buckets.iter_mut().find(|bucket| fits(bucket)) {
                Some((sum, members)) => {
                    *sum += rows;
                    members.push(at);
                }
                None => buckets.push((rows, vec![at])),
            }
        }
        let full = buckets.into_iter().find(|(_, members)| members.len() >= self.merge_factor);
        full.into_iter().map(|(_, members)| members.into_iter().take(32).collect()).collect()
    }
}

/// What Lance does itself (`pack_split_index` and `select_segments_to_merge` of
/// <https://docs.rs/lance/14.0.2>) with `num_indices_to_merge` and `max_rows_per_segment`: the
/// segments created last and the new rows, in order of their fragments, are packed next-fit into
/// segments of at most so many rows. Without new rows it doesn't run here. Unset,
/// `num_indices_to_merge` is 1.
pub(crate) struct NextFit {
    pub(crate) target_rows: u64,
    pub(crate) trailing: usize,
}

impl Policy for NextFit {
    fn name(&self) -> String {
        format!("Lance next-fit, trailing {}", self.trailing)
    }

    fn folds_appends(&self) -> bool {
        true
    }

    fn merges(&self, segments: &[Candidate], _: &RoaringBitmap, appended: bool) -> Vec<Vec<usize>> {
        if !appended {
            return Vec::new();
        }
        let first = segments.len().saturating_sub(self.trailing + 1);
        let mut inputs: Vec<usize> = (first..segments.len()).collect();
        inputs.sort_by_key(|at| segments[*at].fragments.min());
        let mut bins: Vec<(u64, Vec<usize>)> = Vec::new();
        for at in inputs {
            let rows = segments[at].rows;
            match bins.last_mut() {
                Some((sum, bin)) if *sum + rows <= self.target_rows => {
                    *sum += rows;
                    bin.push(at);
                }
                _ => bins.push((rows, vec![at])),
            }
        }
        bins.into_iter().map(|(_, bin)| bin).filter(|bin| bin.len() > 1).collect()
    }
}

/// Always one segment. Lance does the same to scalar indexes if it is told nothing:
/// `num_indices_to_merge` is 1 and there is no `max_rows_per_segment`.
pub(crate) struct MergeAll;

impl Policy for MergeAll {
    fn name(&self) -> String {
        "merge all (Lance's default)".to_string()
    }

    fn folds_appends(&self) -> bool {
        true
    }

    fn merges(&self, segments: &[Candidate], _: &RoaringBitmap, _: bool) -> Vec<Vec<usize>> {
        let all = || (0..segments.len()).collect();
        if segments.len() > 1 { vec![all()] } else { Vec::new() }
    }
}

/// A segment for each append.
pub(crate) struct NeverMerge;

impl Policy for NeverMerge {
    fn name(&self) -> String {
        "never merge".to_string()
    }

    fn merges(&self, _: &[Candidate], _: &RoaringBitmap, _: bool) -> Vec<Vec<usize>> {
        Vec::new()
    }
}
