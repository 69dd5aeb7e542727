//! Index maintenance against tables that other writers of Lance made and change.

#![allow(clippy::unwrap_used, clippy::panic)]

mod commits;
mod cost;
mod executors;
mod foreign;
mod fts;
mod functions;
mod races;
mod stale;
mod support;
mod types;
