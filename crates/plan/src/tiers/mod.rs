//! Size tiers: which segments of an index are merged with each other, and why the others aren't.
//!
//! A query looks into every segment of an index, and a merge writes everything that it merges
//! once more. Merging only segments of similar size, and many at once, keeps both low: with
//! targets of `t` and new segments of `s`, about `(merge_factor - 1) * log(t / s)` segments
//! remain and each row is written about `log(t / s) + 2` times, logarithms to the base
//! `merge_factor`. That is the size-tiered compaction of log-structured merge trees (O'Neil et
//! al., *The log-structured merge-tree*, 1996) with a size at which it ends.

mod by_size;
mod candidate;
mod policy;
mod select;
mod selection;
mod unindexed;

pub use candidate::{Candidate, Ineligible};
pub use policy::{MergePolicy, PolicyError, Tier};
pub use selection::{MergeGroup, Selection, Skip, Skipped};
pub use unindexed::UnindexedRun;
