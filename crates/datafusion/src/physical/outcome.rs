//! How an attempt ended, as one row.

use std::{sync::Arc, time::Duration};

use arrow::{
    array::{
        Array, ArrayRef, AsArray, BinaryArray, BooleanArray, RecordBatch, StringArray, UInt32Array,
        UInt64Array,
    },
    datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type, UInt64Type},
};

use crate::error::{Error, ErrorKind, Result};

/// How an attempt at a work unit ended.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkOutcome {
    /// The unit.
    pub work_id: u32,
    /// 1 for the first attempt.
    pub attempt: usize,
    /// Rows of the unit.
    pub rows: u64,
    /// How long the attempt took.
    pub elapsed: Duration,
    /// What a commit needs to know of the files that were written, or why there are none. For a
    /// segment, its manifest entry as protobuf bytes.
    pub result: std::result::Result<Vec<u8>, Failure>,
    /// The worker that answered; `None` if that was this process.
    pub worker: Option<String>,
}

/// Why an attempt gave no segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened; at most [`Failure::MAX_MESSAGE`] bytes.
    pub message: String,
    /// Whether another attempt may go better.
    pub retryable: bool,
}

impl Failure {
    /// Longer messages are cut: they travel as rows, perhaps over a network.
    pub const MAX_MESSAGE: usize = 4096;

    /// A failure, its message cut to size.
    pub fn new(message: impl Into<String>, retryable: bool) -> Self {
        let mut message = message.into();
        message.truncate(message.floor_char_boundary(Self::MAX_MESSAGE));
        Self { message, retryable }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // A panic may come from anything, so it gets another chance.
        let retryable = error.retryable() || error.kind() == ErrorKind::Internal;
        Self::new(error.to_string(), retryable)
    }
}

/// `work_id: UInt32, attempt: UInt64, rows: UInt64, elapsed_ms: UInt64, segment: Binary, message:
/// Utf8, retryable: Boolean, worker: Utf8`; either `segment` or `message` is null.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("work_id", DataType::UInt32, false),
        Field::new("attempt", DataType::UInt64, false),
        Field::new("rows", DataType::UInt64, false),
        Field::new("elapsed_ms", DataType::UInt64, false),
        Field::new("segment", DataType::Binary, true),
        Field::new("message", DataType::Utf8, true),
        Field::new("retryable", DataType::Boolean, true),
        Field::new("worker", DataType::Utf8, true),
    ]))
}

impl WorkOutcome {
    /// ` on http://host:port`; empty if the unit ran in this process.
    pub(crate) fn place(&self) -> String {
        self.worker.as_ref().map(|worker| format!(" on {worker}")).unwrap_or_default()
    }

    /// The schema of [`to_batch`](Self::to_batch).
    pub fn schema() -> SchemaRef {
        schema()
    }

    /// The outcome as a batch of one row.
    ///
    /// # Errors
    /// None, but for a bug.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        let failure = self.result.as_ref().err();
        let elapsed = u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(vec![self.work_id])),
            Arc::new(UInt64Array::from(vec![self.attempt as u64])),
            Arc::new(UInt64Array::from(vec![self.rows])),
            Arc::new(UInt64Array::from(vec![elapsed])),
            Arc::new(BinaryArray::from(vec![self.result.as_deref().ok()])),
            Arc::new(StringArray::from(vec![failure.map(|failure| failure.message.as_str())])),
            Arc::new(BooleanArray::from(vec![failure.map(|failure| failure.retryable)])),
            Arc::new(StringArray::from(vec![self.worker.as_deref()])),
        ];
        let batch = RecordBatch::try_new(schema(), columns);
        batch.map_err(|error| Error::internal(format!("an outcome doesn't fit its row: {error}")))
    }

    /// The outcomes in a batch.
    ///
    /// # Errors
    /// The batch doesn't have the schema of outcomes.
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        if batch.schema().fields() != schema().fields() {
            return Err(Error::internal("a work unit answered with rows of another schema"));
        }
        let numbers = |column: usize| batch.column(column).as_primitive::<UInt64Type>();
        let (attempts, rows, elapsed) = (numbers(1), numbers(2), numbers(3));
        let segments = batch.column(4).as_binary::<i32>();
        let messages = batch.column(5).as_string::<i32>();
        let retryable = batch.column(6).as_boolean();
        let workers = batch.column(7).as_string::<i32>();
        let outcome = |at: usize| Self {
            work_id: batch.column(0).as_primitive::<UInt32Type>().value(at),
            attempt: usize::try_from(attempts.value(at)).unwrap_or(usize::MAX),
            rows: rows.value(at),
            elapsed: Duration::from_millis(elapsed.value(at)),
            result: if segments.is_valid(at) {
                Ok(segments.value(at).to_vec())
            } else {
                Err(Failure::new(messages.value(at), retryable.value(at)))
            },
            worker: workers.is_valid(at).then(|| workers.value(at).to_string()),
        };
        Ok((0..batch.num_rows()).map(outcome).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let built = WorkOutcome {
            work_id: 3,
            attempt: 2,
            rows: 10,
            elapsed: Duration::from_millis(7),
            result: Ok(vec![1, 2, 3]),
            worker: None,
        };
        let failed = WorkOutcome {
            result: Err(Failure::new("no", true)),
            worker: Some("http://a:1".to_string()),
            ..built.clone()
        };
        for outcome in [built, failed] {
            let batch = outcome.to_batch().unwrap();
            assert_eq!(WorkOutcome::from_batch(&batch).unwrap(), [outcome]);
        }
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let failure = Failure::new("é".repeat(4000), false);
        assert_eq!(failure.message.len(), 4096);
    }
}
