//! INSERT, DELETE, UPDATE and TRUNCATE of Lance tables.
//!
//! DataFusion hands a table the parts of the WHERE clause that it finds in the optimised plan. A
//! predicate that has become a join, or that is false, isn't among them, so that too many rows would
//! go. So a rule takes these statements out of the plan before it is optimised, when the predicate
//! is still whole, and has a query find the rows: the same that a SELECT would. INSERT OVERWRITE goes
//! the same way, since it may read the rows that it replaces.

mod exec;
mod insert;
mod query;
mod rule;

pub(crate) use insert::LanceSink;
pub(crate) use rule::DmlRule;
