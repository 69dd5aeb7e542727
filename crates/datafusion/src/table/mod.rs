//! Lance tables in SQL: reading, appending, creating.

mod factory;
mod insert;
mod provider;

pub use factory::LanceTableFactory;
pub use provider::LanceTable;
