//! Keeps the secondary indexes of Lance tables healthy, in SQL, from Apache DataFusion.
//!
//! [`with_lance_index`](session::SessionStateBuilderExt::with_lance_index) teaches a session the
//! statements, [`lance_sql`](session::SessionContextExt::lance_sql) runs them:
//!
//! ```rust
//! use datafusion::{
//!     arrow::util::pretty::pretty_format_batches, error::Result, execution::SessionStateBuilder,
//!     prelude::SessionContext,
//! };
//! use datafusion_lance_index::session::{SessionContextExt, SessionStateBuilderExt};
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     let state = SessionStateBuilder::new().with_default_features().with_lance_index().build();
//!     let context = SessionContext::new_with_state(state);
//!
//!     // Several statements: all but the last are run at once, the last when it is collected.
//!     let refreshed = context
//!         .lance_sql(
//!             "CREATE EXTERNAL TABLE events (id BIGINT, kind VARCHAR)
//!                  STORED AS LANCE LOCATION 'memory://events';
//!              INSERT INTO events
//!                  SELECT value, concat('kind ', value % 7) FROM generate_series(1, 8000);
//!              CREATE INDEX events_id ON events (id);
//!              CREATE INDEX events_kind ON events USING bitmap (kind);
//!              INSERT INTO events VALUES (8001, 'late'), (8002, 'late');
//!              ALTER TABLE events REFRESH INDEXES",
//!         )
//!         .await?
//!         .collect()
//!         .await?;
//!     println!("{}", pretty_format_batches(&refreshed)?);
//!
//!     let late = context.lance_sql("SELECT count(*) FROM events WHERE kind = 'late'").await?;
//!     println!("{}", pretty_format_batches(&late.collect().await?)?);
//!     Ok(())
//! }
//! ```

pub mod catalog;
mod dml;
pub mod error;
pub mod executor;
pub mod functions;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod index_type;
mod logical;
mod lower;
mod names;
pub mod options;
mod physical;
mod planner;
mod planning;
pub mod progress;
pub mod session;
pub mod settings;
mod store;
pub mod table;

pub use lance_index_plan as plan;
pub use lance_index_sql as sql;
pub use physical::outcome::{Failure, WorkOutcome};

/// The examples of the pages outside of the source, as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/library.md")]
    mod library {}
}
