//! Why no plan can be made.

use thiserror::Error;

/// Why a statement can't be planned. Nothing has been done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The table has no index of that name.
    #[error("there is no index '{0}'")]
    NoSuchIndex(String),
    /// The table has an index of that name, and the statement didn't ask to replace it.
    #[error(
        "index '{0}' already exists; CREATE OR REPLACE INDEX replaces it, \
         CREATE INDEX IF NOT EXISTS leaves it"
    )]
    AlreadyExists(String),
}
