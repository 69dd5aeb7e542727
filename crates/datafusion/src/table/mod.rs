//! Lance tables in SQL: reading, appending, creating.

mod factory;
mod insert;
mod provider;
pub(crate) mod scalar;
mod target;

pub use factory::LanceTableFactory;
pub use provider::LanceTable;
pub use target::Target;
