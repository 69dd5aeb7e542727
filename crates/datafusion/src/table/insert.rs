use std::{fmt, sync::Arc};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::{
    common::Result,
    datasource::sink::DataSink,
    execution::{SendableRecordBatchStream, TaskContext},
    logical_expr::dml::InsertOp,
    physical_plan::{DisplayAs, DisplayFormatType},
};

use crate::{
    physical::change,
    settings::RunSettings,
    store::{self, version::TableVersion},
};

/// Streams rows into new fragments and adds them in one commit.
#[derive(Debug)]
pub(super) struct LanceSink {
    table: TableVersion,
    schema: SchemaRef,
    operation: InsertOp,
}

impl LanceSink {
    pub(super) fn new(table: TableVersion, schema: SchemaRef, operation: InsertOp) -> Self {
        Self { table, schema, operation }
    }
}

impl DisplayAs for LanceSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            InsertOp::Overwrite => write!(f, "LanceSink(overwrite)"),
            InsertOp::Append | InsertOp::Replace => write!(f, "LanceSink(append)"),
        }
    }
}

#[async_trait]
impl DataSink for LanceSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(
        &self,
        rows: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let overwrite = self.operation == InsertOp::Overwrite;
        let Some(inserted) = store::change::insert(&self.table, overwrite, rows).await? else {
            return Ok(0);
        };
        let settings = RunSettings::from_config(context.session_config().options());
        Ok(change::insert(self.table.clone(), &self.schema, inserted, &settings).await?)
    }
}
