//! Keeps the secondary indexes of Lance tables healthy, in SQL, from Apache DataFusion.

pub mod error;
pub mod executor;
pub mod index_type;
mod logical;
mod lower;
mod names;
pub mod options;
mod physical;
mod planner;
mod planning;
pub mod session;
pub mod settings;
mod store;
pub mod table;

pub use physical::outcome::{Failure, WorkOutcome};
