//! Index maintenance against tables that other writers of Lance made and change.

#![allow(clippy::unwrap_used, clippy::panic)]

mod catalog;
mod changes;
mod commits;
mod compaction;
mod cost;
mod deferred;
mod executors;
mod faults;
mod fm;
mod foreign;
mod fts;
mod functions;
mod growth;
mod interleavings;
mod killed;
mod model;
mod optimize;
mod overwritten;
mod pinned;
mod races;
mod recorded;
mod scripted;
mod stale;
mod store;
mod support;
mod types;
mod unregistered;
mod vacuum;
mod vector;
