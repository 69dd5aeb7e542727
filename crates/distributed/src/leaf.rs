//! The plan of one attempt: a leaf with one partition, whose stream is the row of its outcome.

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
use datafusion_lance_index::{WorkOutcome, executor::RemoteAttempt};

use crate::units::Units;

/// One attempt at a work unit.
#[derive(Debug)]
pub(crate) struct AttemptExec {
    role: Role,
    properties: Arc<PlanProperties>,
}

#[derive(Debug)]
enum Role {
    /// In the driver: what is sent.
    Sent(Vec<u8>),
    /// In a worker: what is run.
    Received(Box<RemoteAttempt>, Units),
}

impl AttemptExec {
    /// The plan as the driver sends it.
    pub(crate) fn sent(message: Vec<u8>) -> Self {
        Self::new(Role::Sent(message))
    }

    /// The plan as a worker runs it.
    pub(crate) fn received(attempt: RemoteAttempt, units: Units) -> Self {
        Self::new(Role::Received(Box::new(attempt), units))
    }

    fn new(role: Role) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(WorkOutcome::schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        )
        // One row that takes long: there is nothing to yield between.
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { role, properties: Arc::new(properties) }
    }

    /// What is sent; `None` in a worker.
    pub(crate) fn message(&self) -> Option<&[u8]> {
        match &self.role {
            Role::Sent(message) => Some(message),
            Role::Received(..) => None,
        }
    }
}

impl DisplayAs for AttemptExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttemptExec")
    }
}

impl ExecutionPlan for AttemptExec {
    fn name(&self) -> &'static str {
        "AttemptExec"
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
        _context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let Role::Received(attempt, units) = &self.role else {
            return internal_err!("an attempt for a worker was executed by the driver");
        };
        if partition != 0 {
            return internal_err!("AttemptExec has one partition");
        }
        let (attempt, units) = (attempt.as_ref().clone(), units.clone());
        let rows = futures::stream::once(async move { units.run(attempt).await });
        Ok(Box::pin(RecordBatchStreamAdapter::new(WorkOutcome::schema(), rows)))
    }
}
