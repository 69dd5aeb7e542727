//! The adapter to Lance: calls it and converts what it says. Decides nothing.

pub(crate) mod address;
pub(crate) mod build;
pub(crate) mod built;
pub(crate) mod change;
pub(crate) mod commit;
pub(crate) mod compact;
pub(crate) mod deferred;
pub(crate) mod definition;
pub(crate) mod delegate;
pub(crate) mod describe;
pub(crate) mod drop;
pub(crate) mod fields;
mod files;
pub(crate) mod history;
pub(crate) mod indexes;
pub(crate) mod lineage;
pub(crate) mod merge;
pub(crate) mod mergeable;
pub(crate) mod metadata;
pub(crate) mod parameters;
pub(crate) mod past;
pub(crate) mod publish;
mod rows;
pub(crate) mod snapshot;
pub(crate) mod types;
pub(crate) mod vacuum;
pub(crate) mod version;
