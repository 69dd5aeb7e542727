use std::{any::Any, sync::Arc};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider, default_table_source::DefaultTableSource},
    common::{
        Result, TableReference, config::ConfigOptions, internal_err, tree_node::Transformed,
        tree_node::TreeNode,
    },
    datasource::provider_as_source,
    execution::SessionState,
    logical_expr::{
        Expr, LogicalPlan, LogicalPlanBuilder, TableType, WriteOp,
        dml::{DmlStatement, InsertOp},
    },
    optimizer::analyzer::AnalyzerRule,
    physical_expr::projection::ProjectionExpr,
    physical_plan::{ExecutionPlan, projection::ProjectionExec},
};

use super::{
    exec::{Dml, DmlExec, DmlRows, count_schema},
    query::{RowsQuery, Verb},
};
use crate::{
    error::Error,
    store::version::TableVersion,
    table::{LanceTable, Target},
};

/// Puts in place of an INSERT OVERWRITE, DELETE, UPDATE or TRUNCATE of a Lance table a scan that
/// carries it out.
#[derive(Debug)]
pub(crate) struct DmlRule;

impl AnalyzerRule for DmlRule {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up(|node| match &node {
            LogicalPlan::Dml(statement) => match dml(statement)? {
                Some(plan) => Ok(Transformed::yes(plan)),
                None => Ok(Transformed::no(node)),
            },
            _ => Ok(Transformed::no(node)),
        })?;
        Ok(rewritten.data)
    }

    fn name(&self) -> &'static str {
        "lance_dml"
    }
}

/// The plan of a statement that changes rows of a Lance table.
fn dml(statement: &DmlStatement) -> Result<Option<LogicalPlan>> {
    let source: &dyn Any = statement.target.as_ref();
    let Some(source) = source.downcast_ref::<DefaultTableSource>() else { return Ok(None) };
    let provider = &source.table_provider;
    let Some(table) = LanceTable::of(provider.as_ref()) else { return Ok(None) };
    let (name, input) = (statement.table_name.to_string(), statement.input.as_ref());
    let (title, verb, rows) = match &statement.op {
        WriteOp::Delete => {
            check(input, "DELETE")?;
            (format!("DELETE FROM {name}"), Verb::Delete, (!is_all(input)).then_some(input))
        }
        WriteOp::Truncate => (format!("TRUNCATE {name}"), Verb::Delete, None),
        WriteOp::Update => {
            check(input, "UPDATE")?;
            let assigned = assigned(input, &provider.schema())?;
            let title = format!("UPDATE {name} SET {}", assigned.join(", "));
            (title, Verb::Update { assigned }, Some(input))
        }
        WriteOp::Insert(InsertOp::Overwrite) => {
            (format!("INSERT OVERWRITE {name}"), Verb::Overwrite, Some(input))
        }
        _ => return Ok(None),
    };
    table.check_writable(&name)?;
    let label = TableReference::bare(title.clone());
    let dml = DmlTable { name, title, verb, table: provider.clone(), rows: rows.cloned() };
    let source = provider_as_source(Arc::new(dml));
    Ok(Some(LogicalPlanBuilder::scan(label, source, None)?.build()?))
}

/// The columns that are set to other values.
fn assigned(values: &LogicalPlan, schema: &SchemaRef) -> Result<Vec<String>> {
    let LogicalPlan::Projection(values) = values else {
        return internal_err!("UPDATE without a projection");
    };
    let mut assigned = Vec::new();
    for value in &values.expr {
        check_rowwise(value, "UPDATE")?;
        let column = value.schema_name().to_string();
        match value.clone().unalias() {
            Expr::Column(same) if same.name == column => {}
            _ => assigned.push(column),
        }
    }
    for column in &assigned {
        // A text isn't yet what Lance keeps of JSON, for example.
        if let Some(stored_as) = schema.field_with_name(column)?.extension_type_name() {
            let message = format!("UPDATE can't set column '{column}' of type {stored_as}");
            return Err(Error::not_supported(message).into());
        }
    }
    Ok(assigned)
}

/// Checks that the rows are those of the table, each once: [`RowsQuery`] can say where they are.
fn check(rows: &LogicalPlan, verb: &str) -> Result<()> {
    match rows {
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() => Ok(()),
        LogicalPlan::Projection(projection) => check(&projection.input, verb),
        LogicalPlan::Filter(filter) => {
            check_rowwise(&filter.predicate, verb)?;
            check(&filter.input, verb)
        }
        LogicalPlan::SubqueryAlias(alias) => check(&alias.input, verb),
        LogicalPlan::Limit(_) | LogicalPlan::TableScan(_) => {
            refuse(verb, "a LIMIT: say by a condition which rows it is about")
        }
        // What PREPARE makes of a subquery, and of a condition that is always false.
        LogicalPlan::Join(_) | LogicalPlan::EmptyRelation(_) => {
            refuse(verb, "a second table, nor a subquery where it is prepared")
        }
        _ => refuse(verb, "a second table: write a subquery"),
    }
}

/// Checks that the expression is about one row.
fn check_rowwise(expression: &Expr, verb: &str) -> Result<()> {
    let aggregates = expression
        .exists(|part| Ok(matches!(part, Expr::AggregateFunction(_) | Expr::WindowFunction(_))))?;
    if aggregates {
        return refuse(verb, "an aggregate or window function: write a subquery");
    }
    Ok(())
}

/// Whether every row of the table is meant.
fn is_all(rows: &LogicalPlan) -> bool {
    matches!(rows, LogicalPlan::TableScan(scan) if scan.filters.is_empty())
}

fn refuse<T>(verb: &str, what: &str) -> Result<T> {
    Err(Error::not_supported(format!("{verb} of a Lance table can't have {what}")).into())
}

/// A table whose scan changes the rows of another; it answers how many.
#[derive(Debug)]
struct DmlTable {
    name: String,
    title: String,
    verb: Verb,
    table: Arc<dyn TableProvider>,
    /// The query that finds the rows; `None` for all rows of the table.
    rows: Option<LogicalPlan>,
}

#[async_trait]
impl TableProvider for DmlTable {
    fn schema(&self) -> SchemaRef {
        count_schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(table) = LanceTable::of(self.table.as_ref()) else {
            return internal_err!("{} of another kind of table", self.title);
        };
        // The columns that the statement was planned with, before anything newer is seen.
        let schema = self.table.schema();
        let latest = TableVersion::new(table.latest().await?.as_ref().clone());
        let rows = match &self.rows {
            None => None,
            Some(input) => {
                let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
                    return internal_err!("{} needs DataFusion's own session state", self.title);
                };
                let (verb, input) = (self.verb.clone(), input.clone());
                let query = RowsQuery::new(verb, input, table.use_index(), state);
                let plan = query.plan(&latest).await?;
                Some(DmlRows { query, version: latest.number(), plan })
            }
        };
        let dml = Dml {
            title: self.title.clone(),
            target: Arc::new(Target::new(&self.name, latest.into_dataset())),
            schema,
            verb: self.verb.clone(),
        };
        let plan: Arc<dyn ExecutionPlan> = Arc::new(DmlExec::new(dml, rows));
        match projection {
            // Who only counts the answer's rows.
            Some(none) if none.is_empty() => {
                Ok(Arc::new(ProjectionExec::try_new(Vec::<ProjectionExpr>::new(), plan)?))
            }
            _ => Ok(plan),
        }
    }
}
