//! Lance tables in SQL: reading, appending, creating.

mod factory;
mod insert;
mod provider;
mod target;

pub use factory::LanceTableFactory;
pub use provider::LanceTable;
pub use target::Target;
