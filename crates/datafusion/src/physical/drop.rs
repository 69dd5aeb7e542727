use std::{fmt, sync::Arc};

use datafusion::{
    common::{Result, internal_err},
    execution::{SendableRecordBatchStream, TaskContext},
    physical_expr::EquivalenceProperties,
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
        execution_plan::{Boundedness, EmissionType, SchedulingType},
        stream::RecordBatchStreamAdapter,
    },
};

use super::report;
use crate::{error, logical::DropIndex, settings::RunSettings, store::drop::drop_index};

/// Drops an index in one commit.
#[derive(Debug)]
pub(crate) struct DropIndexExec {
    drop: DropIndex,
    properties: Arc<PlanProperties>,
}

impl DropIndexExec {
    pub(crate) fn new(drop: DropIndex) -> Self {
        Self { drop, properties: single_row(report::drop_schema()) }
    }
}

/// The properties of a node that answers in one partition.
pub(super) fn single_row(schema: arrow::datatypes::SchemaRef) -> Arc<PlanProperties> {
    let properties = PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(1),
        EmissionType::Final,
        Boundedness::Bounded,
    );
    Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative))
}

async fn run(drop: DropIndex, settings: RunSettings) -> error::Result<arrow::array::RecordBatch> {
    let table = drop.target.table();
    let dropped = drop_index(table, &drop.index, settings.commit_retries).await?;
    if dropped.segments == 0 {
        let what = format!("there is no index '{}'", drop.index);
        if !drop.if_exists {
            return Err(error::Error::conflict(format!("{what} any more")));
        }
        tracing::info!("{what}; nothing was done");
    }
    let counts = [dropped.segments as u64, dropped.version];
    report::row(report::drop_schema(), &drop.index, &counts)
}

impl DisplayAs for DropIndexExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = format!("{} ON {}", self.drop.index, self.drop.target.name());
        match format {
            DisplayFormatType::TreeRender => write!(f, "index={index}"),
            _ => write!(f, "DropIndexExec: {index}"),
        }
    }
}

impl ExecutionPlan for DropIndexExec {
    fn name(&self) -> &'static str {
        "DropIndexExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("DropIndexExec has one partition");
        }
        let settings = RunSettings::from_config(context.session_config().options());
        let drop = self.drop.clone();
        let row = futures::stream::once(async move { Ok(run(drop, settings).await?) });
        Ok(Box::pin(RecordBatchStreamAdapter::new(report::drop_schema(), row)))
    }
}
