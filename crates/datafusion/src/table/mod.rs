//! Lance tables in SQL: reading, searching, appending, creating.

mod factory;
mod insert;
mod provider;
pub(crate) mod scalar;
pub(crate) mod search;
mod target;

pub use factory::LanceTableFactory;
pub use provider::LanceTable;
pub use target::Target;
