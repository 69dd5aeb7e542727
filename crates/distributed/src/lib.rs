//! Runs the work units of Lance index maintenance on other machines.
//!
//! A driver is any session with [`DistributedExecutors`]:
//!
//! ```rust
//! use std::sync::Arc;
//!
//! use datafusion::{
//!     error::Result,
//!     execution::SessionStateBuilder,
//!     prelude::{SessionConfig, SessionContext},
//! };
//! use datafusion_lance_index::session::{
//!     SessionConfigExt, SessionContextExt, SessionStateBuilderExt,
//! };
//! use datafusion_lance_index_distributed::{DistributedExecutors, DriverSecurity};
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     let executors = DistributedExecutors::new(DriverSecurity::default());
//!     let config = SessionConfig::new().with_executor_factory(Arc::new(executors));
//!     let state = SessionStateBuilder::new()
//!         .with_config(config)
//!         .with_default_features()
//!         .with_lance_index()
//!         .build();
//!     let context = SessionContext::new_with_state(state);
//!     context
//!         .lance_sql(
//!             "SET lance_index.workers = 'http://127.0.0.1:50051,http://127.0.0.1:50052';
//!              SET lance_index.executor = 'distributed'",
//!         )
//!         .await?;
//!     Ok(())
//! }
//! ```
//!
//! A worker is [`Worker::bind`], or `lance-sql worker`. It opens the table with the credentials of
//! its own environment, writes files that no manifest names yet, and answers one row. The driver
//! has the retries, the deadlines and the one commit.

mod codec;
mod engine;
mod executor;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod leaf;
mod security;
mod status;
mod units;
mod wire;
mod worker;
mod workers;

/// The example of the page, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/distributed.md")]
mod page {}

pub use executor::{DistributedExecutor, DistributedExecutors};
pub use security::{DriverSecurity, Identity, Secret, SecurityError, WorkerSecurity};
pub use wire::WIRE_FORMAT;
pub use worker::{Worker, WorkerError, WorkerOptions};
