//! `OPTIMIZE TABLE`: tasks that rewrite fragments side by side, and one commit of all of them.

mod commit;
mod drive;
mod work;

pub(crate) use commit::{Compact, CompactionCommitExec};
