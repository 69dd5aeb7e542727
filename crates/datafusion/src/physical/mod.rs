//! Execution: the only place where anything happens.

pub(crate) mod alter;
pub(crate) mod answer;
mod attempts;
pub(crate) mod commit;
pub(crate) mod compaction;
pub(crate) mod conflicts;
pub(crate) mod delegate;
pub(crate) mod drive;
pub(crate) mod drop;
pub(crate) mod once;
pub(crate) mod outcome;
mod publish;
pub(crate) mod report;
pub(crate) mod show;
pub(crate) mod show_create;
pub(crate) mod vacuum;
pub(crate) mod work;
mod worker;
