//! The functions of Lance tables, for any DataFusion session.
//!
//! Table functions carry out index statements where the parsing of texts can't be changed:
//! `SELECT * FROM lance_refresh_index('t', 'i', 'num_segments=8')` is
//! `ALTER TABLE t REFRESH INDEX i WITH (num_segments = 8)`. `lance_fts` is full-text search.
//!
//! [`with_lance_index`](crate::session::SessionStateBuilderExt::with_lance_index) and
//! [`register_lance_index`](crate::session::SessionContextExt::register_lance_index) add all of
//! them; they need nothing else of a session than its Lance tables.

mod arguments;
mod named;
mod search;
mod statement;

use std::sync::Arc;

use datafusion::{catalog::TableFunction, logical_expr::ScalarUDF};

use crate::table::{scalar, search::NAME};

/// The table functions: those that carry out statements, and full-text search.
pub fn table_functions() -> Vec<Arc<TableFunction>> {
    let statements = statement::FUNCTIONS.iter().map(|function| {
        TableFunction::new(function.signature.name.to_string(), Arc::new(*function))
    });
    let search = TableFunction::new(NAME.to_string(), Arc::new(search::Search));
    statements.chain([search]).map(Arc::new).collect()
}

/// The scalar functions: Lance's own, which its tables evaluate by an index where they can.
pub fn scalar_functions() -> Vec<Arc<ScalarUDF>> {
    scalar::functions().into_iter().map(Arc::new).collect()
}
