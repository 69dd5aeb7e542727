//! The rows that statements answer with.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, Int64Array, RecordBatch, StringArray},
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use lance_index_plan::plan::Action;

use crate::error::{Error, Result};

/// What a statement did to one index, as read back from the version it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MaintenanceReport {
    pub index_name: String,
    /// Fragments whose rows were indexed.
    pub fragments_indexed: u64,
    pub segments_added: u64,
    /// Existing segments that were built anew.
    pub segments_rewritten: u64,
    pub segments_before: u64,
    pub segments_after: u64,
    /// Existing segments that are parts of larger ones now.
    pub segments_merged: u64,
    /// Bytes of the new segments' files.
    pub bytes_written: u64,
    /// The table version after the statement.
    pub version: u64,
}

/// `index_name: Utf8` and BIGINT counts.
pub(crate) fn schema(columns: &[&str]) -> SchemaRef {
    let name = Field::new("index_name", DataType::Utf8, false);
    Arc::new(Schema::new([name].into_iter().chain(counts(columns)).collect::<Vec<_>>()))
}

fn counts(columns: &[&str]) -> impl Iterator<Item = Field> {
    columns.iter().map(|column| Field::new(*column, DataType::Int64, false))
}

/// The schema of what a CREATE, REFRESH or OPTIMIZE of indexes answers.
pub(crate) fn maintenance_schema(action: Action) -> SchemaRef {
    schema(match action {
        Action::Create | Action::Replace => &["fragments_indexed", "segments_added", "version"],
        Action::Refresh => {
            &["fragments_indexed", "segments_added", "segments_rewritten", "version"]
        }
        Action::Optimize => &[
            "fragments_indexed",
            "segments_before",
            "segments_after",
            "segments_merged",
            "bytes_written",
            "version",
        ],
    })
}

/// The schema of what a DROP answers.
pub(crate) fn drop_schema() -> SchemaRef {
    schema(&["segments_removed", "version"])
}

/// The schema of what an ALTER INDEX answers.
pub(crate) fn alter_schema() -> SchemaRef {
    schema(&["version"])
}

/// The schema of what an OPTIMIZE TABLE answers.
pub(crate) fn compaction_schema() -> SchemaRef {
    let columns =
        ["fragments_removed", "fragments_added", "files_removed", "files_added", "version"];
    Arc::new(Schema::new(counts(&columns).collect::<Vec<_>>()))
}

/// The schema of what a VACUUM TABLE answers.
pub(crate) fn vacuum_schema() -> SchemaRef {
    let columns = ["versions_removed", "files_removed", "bytes_removed", "version"];
    Arc::new(Schema::new(counts(&columns).collect::<Vec<_>>()))
}

impl MaintenanceReport {
    /// The report of a statement that did nothing.
    pub(crate) fn of(index_name: &str) -> Self {
        Self {
            index_name: index_name.to_string(),
            fragments_indexed: 0,
            segments_added: 0,
            segments_rewritten: 0,
            segments_before: 0,
            segments_after: 0,
            segments_merged: 0,
            bytes_written: 0,
            version: 0,
        }
    }

    /// The report as a batch of one row of [`maintenance_schema`].
    pub(crate) fn to_batch(&self, action: Action) -> Result<RecordBatch> {
        let counts: Vec<u64> = match action {
            Action::Create | Action::Replace => {
                vec![self.fragments_indexed, self.segments_added, self.version]
            }
            Action::Refresh => vec![
                self.fragments_indexed,
                self.segments_added,
                self.segments_rewritten,
                self.version,
            ],
            Action::Optimize => vec![
                self.fragments_indexed,
                self.segments_before,
                self.segments_after,
                self.segments_merged,
                self.bytes_written,
                self.version,
            ],
        };
        row(maintenance_schema(action), &self.index_name, &counts)
    }
}

/// A batch of one row: a name and counts.
pub(crate) fn row(schema: SchemaRef, name: &str, counts: &[u64]) -> Result<RecordBatch> {
    let name: ArrayRef = Arc::new(StringArray::from(vec![name]));
    batch(schema, [name].into_iter().chain(columns(counts)))
}

/// A batch of one row of counts.
pub(crate) fn row_of_counts(schema: SchemaRef, counts: &[u64]) -> Result<RecordBatch> {
    batch(schema, columns(counts))
}

fn columns(counts: &[u64]) -> impl Iterator<Item = ArrayRef> {
    counts.iter().map(|count| {
        Arc::new(Int64Array::from(vec![i64::try_from(*count).unwrap_or(i64::MAX)])) as ArrayRef
    })
}

fn batch(schema: SchemaRef, columns: impl Iterator<Item = ArrayRef>) -> Result<RecordBatch> {
    let batch = RecordBatch::try_new(schema, columns.collect());
    batch.map_err(|error| Error::internal(format!("a report doesn't fit its row: {error}")))
}
