//! The logical indexes of a table: what each is, apart from the files that it consists of.
//!
//! Lance keeps one entry in the manifest per physical segment; from these alone, an index without
//! segments is nothing. So each index has a record in the table's metadata, [`IndexV2`], beside
//! the segments, which stay complete for other clients. Where both are there, the record says what
//! the index is and the segments say what it covers.

pub(crate) mod config;
mod describe;
pub(crate) mod encoding;
mod listing;
mod logical;
mod messages;
pub(crate) mod persist;
pub(crate) mod policy;
pub(crate) mod record;
pub(crate) mod resolve;

pub(crate) use describe::describe;
pub(crate) use listing::{Catalog, Recorded, Standing};
pub use logical::logical_indexes;
pub use messages::{IndexFile, IndexV2, MaintenancePolicy, RecordedField};
