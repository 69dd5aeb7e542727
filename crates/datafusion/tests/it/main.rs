//! Index maintenance against tables that other writers of Lance made and change.

#![allow(clippy::unwrap_used, clippy::panic)]

mod commits;
mod compaction;
mod cost;
mod executors;
mod foreign;
mod races;
mod stale;
mod support;
mod types;
mod vacuum;
