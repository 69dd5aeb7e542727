use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use arrow::array::RecordBatch;
use datafusion::{
    common::{Result, internal_err},
    error::DataFusionError,
    execution::{SendableRecordBatchStream, TaskContext},
    physical_expr::EquivalenceProperties,
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, collect,
        execution_plan::{Boundedness, EmissionType},
        stream::RecordBatchStreamAdapter,
    },
};
use futures::{
    FutureExt, StreamExt, TryFutureExt,
    future::{BoxFuture, Shared, WeakShared},
};

/// What a run answered; all who ask for it get the same.
type Answer = Result<Arc<Vec<RecordBatch>>, Arc<DataFusionError>>;
type Running = BoxFuture<'static, Answer>;

/// The runs of one call of a table function, one for each query.
///
/// A query may have the call in several places of its plan, as it has a CTE that it names twice,
/// and a view has it in several queries. What tells queries apart is the task context that a plan
/// is executed with.
#[derive(Debug, Default)]
pub(crate) struct Runs(Mutex<Vec<Run>>);

#[derive(Debug)]
struct Run {
    /// Dead when nothing of the query is left that could ask.
    query: Weak<TaskContext>,
    /// Dead when nobody waits: a run ends with the query that wants it.
    running: WeakShared<Running>,
    answer: Arc<OnceLock<Answer>>,
}

impl Runs {
    /// The answer of the query's only run of the plan, which it begins if there is none.
    fn answer(&self, plan: &Arc<dyn ExecutionPlan>, query: &Arc<TaskContext>) -> Shared<Running> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|run| run.query.strong_count() > 0);
        let of_query = runs.iter().position(|run| run.query.as_ptr() == Arc::as_ptr(query));
        if let Some(run) = of_query.map(|at| &runs[at]) {
            if let Some(answer) = run.answer.get() {
                return futures::future::ready(answer.clone()).boxed().shared();
            }
            if let Some(running) = run.running.upgrade() {
                return running;
            }
        }
        // Also if it was stopped before its end by those who waited for it.
        let answer = Arc::new(OnceLock::new());
        let (plan, context, kept) = (plan.clone(), query.clone(), answer.clone());
        let running = async move {
            let rows = collect(plan, context).await;
            let rows = rows.map(Arc::new).map_err(Arc::new);
            kept.get_or_init(|| rows).clone()
        };
        let running = running.boxed().shared();
        if let Some(at) = of_query {
            runs.remove(at);
        }
        if let Some(weak) = running.downgrade() {
            runs.push(Run { query: Arc::downgrade(query), running: weak, answer });
        }
        running
    }
}

/// Runs a statement for a table function: once for each query and to its end, before its first
/// row is answered, wherever and however often the query's plan has the function's call.
#[derive(Debug)]
pub(crate) struct OnceExec {
    /// What EXPLAIN says of the call.
    call: Arc<str>,
    statement: Arc<dyn ExecutionPlan>,
    projection: Option<Arc<[usize]>>,
    runs: Arc<Runs>,
    properties: Arc<PlanProperties>,
}

impl OnceExec {
    pub(crate) fn try_new(
        call: String,
        statement: Arc<dyn ExecutionPlan>,
        projection: Option<&Vec<usize>>,
        runs: Arc<Runs>,
    ) -> Result<Self> {
        let schema = match projection {
            Some(projection) => Arc::new(statement.schema().project(projection)?),
            None => statement.schema(),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Ok(Self {
            call: call.into(),
            statement,
            projection: projection.map(|projection| projection.as_slice().into()),
            runs,
            properties: Arc::new(properties),
        })
    }
}

impl DisplayAs for OnceExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => write!(f, "{}", self.call),
            _ => write!(f, "OnceExec: {}", self.call),
        }
    }
}

impl ExecutionPlan for OnceExec {
    fn name(&self) -> &'static str {
        "OnceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.statement]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(statement), true) => Ok(Arc::new(Self {
                call: self.call.clone(),
                statement,
                projection: self.projection.clone(),
                runs: self.runs.clone(),
                properties: self.properties.clone(),
            })),
            _ => internal_err!("OnceExec has one child"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("OnceExec has one partition");
        }
        let answer = self.runs.answer(&self.statement, &context);
        let projection = self.projection.clone();
        let batches = answer
            .map_ok(move |rows| {
                let project = move |batch: RecordBatch| match &projection {
                    Some(projection) => Ok(batch.project(projection)?),
                    None => Ok(batch),
                };
                futures::stream::iter(rows.as_ref().clone()).map(project)
            })
            .map_err(|error| DataFusionError::from(&error))
            .try_flatten_stream();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
