use std::{fmt, sync::Arc};

use arrow::{array::RecordBatch, datatypes::SchemaRef};
use async_trait::async_trait;
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

use crate::{error, settings::RunSettings};

/// A statement that is carried out in one step and answers with one batch.
#[async_trait]
pub(crate) trait Answer: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// What EXPLAIN calls its execution.
    fn name(&self) -> &'static str;

    fn schema(&self) -> SchemaRef;

    /// Carries it out.
    async fn answer(&self, settings: RunSettings) -> error::Result<RecordBatch>;
}

/// Carries out a statement that has one step.
#[derive(Debug)]
pub(crate) struct AnswerExec {
    statement: Arc<dyn Answer>,
    properties: Arc<PlanProperties>,
}

impl AnswerExec {
    pub(crate) fn new(statement: impl Answer) -> Self {
        let properties = single_row(statement.schema());
        Self { statement: Arc::new(statement), properties }
    }
}

/// The properties of a node that answers in one partition.
pub(crate) fn single_row(schema: SchemaRef) -> Arc<PlanProperties> {
    let properties = PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(1),
        EmissionType::Final,
        Boundedness::Bounded,
    );
    Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative))
}

impl DisplayAs for AnswerExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => write!(f, "{}", self.statement),
            _ => write!(f, "{}: {}", self.statement.name(), self.statement),
        }
    }
}

impl ExecutionPlan for AnswerExec {
    fn name(&self) -> &'static str {
        self.statement.name()
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
            return internal_err!("{} has one partition", self.name());
        }
        let settings = RunSettings::from_config(context.session_config().options());
        let statement = self.statement.clone();
        let answer = futures::stream::once(async move { Ok(statement.answer(settings).await?) });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.statement.schema(), answer)))
    }
}
