//! Decides what the maintenance of one index of a Lance table consists of.
//!
//! Everything here is pure, synchronous and deterministic: a [`snapshot`] of the table and its
//! index goes in, a [`plan::MaintenancePlan`] of [`work`] units comes out; when the units are
//! done, [`accept::accept`] decides what of their outcomes may be committed to the table as it
//! is by then. Nothing in this crate reads a file, a clock or a random number.

pub mod accept;
pub mod compaction;
pub mod coverage;
pub mod dispose;
pub mod error;
pub mod established;
pub mod history;
pub mod plan;
pub mod record;
pub mod runs;
pub mod snapshot;
pub mod stale;
pub mod tiers;
pub mod work;
