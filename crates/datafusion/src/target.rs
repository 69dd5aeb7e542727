//! The table that a statement is about.

use lance::Dataset;

/// The table that a statement is about: its name in the session, and where it is.
#[derive(Debug)]
pub struct Target {
    table: String,
    dataset: Dataset,
}

impl Target {
    /// The table of that name, at a version that the statement has seen.
    pub fn new(table: impl Into<String>, dataset: Dataset) -> Self {
        Self { table: table.into(), dataset }
    }

    /// The table's name, as the statement spells it.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The table's URI. It holds no credentials.
    pub fn uri(&self) -> &str {
        self.dataset.uri()
    }

    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }
}
