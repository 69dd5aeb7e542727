//! The SQL of index maintenance on Lance tables: a [sqlparser] dialect, the statements it reads
//! and a parser for texts that mix them with DataFusion's own.
//!
//! ```sql
//! CREATE [OR REPLACE] INDEX [IF NOT EXISTS] i ON t [USING method] (column) [WITH (...)]
//! ALTER TABLE t CREATE [OR REPLACE] INDEX [IF NOT EXISTS] i [USING method] (column) [WITH (...)]
//! ALTER TABLE t {REFRESH | OPTIMIZE} {INDEX i | INDEXES} [WITH (...)]
//! ALTER TABLE t DROP INDEX [IF EXISTS] i
//! DROP INDEX [IF EXISTS] i ON t
//! ALTER TABLE t ALTER INDEX i {SET (option = value, ...) | RESET (option, ...)}
//! SHOW {INDEX | INDEXES} {FROM | IN} t
//! SHOW INDEX SEGMENTS {FROM | IN} t [INDEX i]
//! SHOW CREATE INDEX i ON t
//! OPTIMIZE TABLE t [WITH (...)]
//! VACUUM TABLE t [WITH (...)]
//! ```
//!
//! [`StatementParser`] reads a text statement by statement, [`LanceIndexDialect`] teaches the
//! grammar to anything that takes a sqlparser dialect, and [`IndexStatement`] is the typed form
//! of either. What a name, a method or an option means is decided by whoever executes it.
//!
//! ```
//! use lance_index_sql::{LanceIndexDialect, ParsedStatement, StatementParser};
//!
//! let dialect = LanceIndexDialect::default();
//! let text = "alter table t refresh index i with (num_segments = 8); SELECT 1";
//! for item in StatementParser::new(text, &dialect)? {
//!     match item?.statement {
//!         ParsedStatement::Index(statement) => assert_eq!(
//!             statement.to_string(),
//!             "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 8)"
//!         ),
//!         ParsedStatement::Explain(explain) => println!("a plan of {}", explain.statement),
//!         ParsedStatement::Other(statement) => assert_eq!(statement.to_string(), "SELECT 1"),
//!     }
//! }
//! # Ok::<(), lance_index_sql::ParseError>(())
//! ```
//!
//! [sqlparser]: datafusion_sql::sqlparser

#![warn(missing_docs)]

mod arguments;
mod dialect;
mod display;
mod error;
mod from_ast;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod grammar;
mod names;
mod options;
mod parsed;
mod parser;
mod procedure;
mod recognise;
mod statement;
mod texts;
mod tokens;

pub use dialect::LanceIndexDialect;
pub use error::{ParseError, SyntaxError};
pub use options::{OptionName, OptionValue, WithOption, WithOptions, suggest};
pub use parsed::{Explain, Parsed, ParsedStatement};
pub use parser::StatementParser;
pub use statement::{
    AlterIndexReset, AlterIndexSet, CreateIndex, DropIndex, IndexMethod, IndexStatement,
    IndexTarget, OptimizeIndex, OptimizeTable, RefreshIndex, ShowCreateIndex, ShowIndexSegments,
    ShowIndexes, VacuumTable,
};
pub use texts::{options_in, path_in};
