//! Compaction: has Lance plan, rewrite and commit it.

mod addresses;
mod commit;
mod plan;
mod rewrite;

pub(crate) use commit::{Compacted, commit, committed};
pub(crate) use plan::{Compaction, Fragments, plan};
pub use rewrite::CompactionWork;
pub(crate) use rewrite::{Rewritten, discard, rewrite};
