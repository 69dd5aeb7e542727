use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::{
    common::Result,
    datasource::sink::DataSink,
    execution::{SendableRecordBatchStream, TaskContext},
    physical_plan::{DisplayAs, DisplayFormatType, stream::RecordBatchStreamAdapter},
};
use futures::StreamExt;
use lance::{
    Dataset,
    dataset::{InsertBuilder, WriteMode, WriteParams},
};

/// Streams rows into new fragments and appends them in one commit.
#[derive(Debug)]
pub(super) struct LanceSink {
    dataset: Arc<Dataset>,
    schema: SchemaRef,
}

impl LanceSink {
    pub(super) fn new(dataset: Arc<Dataset>, schema: SchemaRef) -> Self {
        Self { dataset, schema }
    }
}

impl DisplayAs for LanceSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LanceSink(append)")
    }
}

#[async_trait]
impl DataSink for LanceSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(
        &self,
        mut data: SendableRecordBatchStream,
        _context: &Arc<TaskContext>,
    ) -> Result<u64> {
        // No row, no version.
        let first = loop {
            match data.next().await.transpose()? {
                None => return Ok(0),
                Some(batch) if batch.num_rows() > 0 => break batch,
                Some(_) => {}
            }
        };
        let rows = Arc::new(AtomicU64::new(0));
        let counter = rows.clone();
        let batches = futures::stream::iter([Ok(first)]).chain(data).map(move |batch| {
            let batch = batch?;
            counter.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
            Ok(batch)
        });
        let stream = RecordBatchStreamAdapter::new(self.schema.clone(), batches);
        let params = WriteParams { mode: WriteMode::Append, ..Default::default() };
        InsertBuilder::new(self.dataset.clone())
            .with_params(&params)
            .execute_stream(Box::pin(stream) as SendableRecordBatchStream)
            .await?;
        Ok(rows.load(Ordering::Relaxed))
    }
}
