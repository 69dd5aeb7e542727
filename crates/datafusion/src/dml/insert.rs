use std::{fmt, sync::Arc};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::{
    common::Result,
    datasource::sink::DataSink,
    execution::{SendableRecordBatchStream, TaskContext},
    physical_plan::{DisplayAs, DisplayFormatType},
};

use super::exec::append;
use crate::{
    settings::RunSettings,
    store::{change, version::TableVersion},
};

/// Streams rows into new fragments and appends them in one commit.
#[derive(Debug)]
pub(crate) struct LanceSink {
    table: TableVersion,
    schema: SchemaRef,
}

impl LanceSink {
    pub(crate) fn new(table: TableVersion, schema: SchemaRef) -> Self {
        Self { table, schema }
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
        rows: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let Some(appended) = change::append(&self.table, rows).await? else { return Ok(0) };
        let settings = RunSettings::from_config(context.session_config().options());
        Ok(append(self.table.clone(), &self.schema, appended, &settings).await?)
    }
}
