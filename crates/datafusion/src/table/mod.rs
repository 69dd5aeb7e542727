//! Lance tables in SQL: reading, searching, creating.

mod addressed;
mod at;
mod factory;
mod provider;
pub(crate) mod scalar;
pub(crate) mod search;
mod target;

pub(crate) use addressed::{AddressedTable, address_columns};
pub use at::At;
pub use factory::LanceTableFactory;
pub use provider::LanceTable;
pub use target::Target;
