//! Lance tables in SQL: reading, searching, changing, creating.

mod addressed;
mod change;
mod factory;
mod insert;
mod provider;
pub(crate) mod scalar;
pub(crate) mod search;
mod target;

pub(crate) use change::{ChangeRule, RowsQuery};
pub use factory::LanceTableFactory;
pub use provider::{At, LanceTable};
pub use target::Target;
