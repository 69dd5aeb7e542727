//! `DELETE`, `UPDATE` and `TRUNCATE` of Lance tables.
//!
//! DataFusion hands a provider the parts of the WHERE clause that it finds in the optimised plan.
//! A predicate that has become a join, or that is false, isn't among them, so that too many rows
//! would go. So a rule takes these statements out of the plan before it is optimised, when the
//! predicate is still whole, and has a query find the rows: the same that a SELECT would.

use std::{any::Any, sync::Arc};

use arrow_schema::SchemaRef;
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
        Expr, Filter, LogicalPlan, LogicalPlanBuilder, SubqueryAlias, TableType, WriteOp, col,
        dml::DmlStatement,
    },
    optimizer::analyzer::AnalyzerRule,
    physical_plan::ExecutionPlan,
};

use super::{
    LanceTable, Target,
    addressed::{AddressedTable, address_columns},
    provider::arrow_schema,
};
use crate::{
    error::Error,
    physical::change::{Change, ChangeExec, ChangedRows, count_schema},
    store::version::TableVersion,
};

/// Puts in place of a DELETE, UPDATE or TRUNCATE of a Lance table a scan that carries it out.
#[derive(Debug)]
pub(crate) struct ChangeRule;

impl AnalyzerRule for ChangeRule {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up(|node| match &node {
            LogicalPlan::Dml(statement) => match change(statement)? {
                Some(plan) => Ok(Transformed::yes(plan)),
                None => Ok(Transformed::no(node)),
            },
            _ => Ok(Transformed::no(node)),
        })?;
        Ok(rewritten.data)
    }

    fn name(&self) -> &'static str {
        "lance_row_changes"
    }
}

/// The plan of a statement that changes rows of a Lance table.
fn change(statement: &DmlStatement) -> Result<Option<LogicalPlan>> {
    let source: &dyn Any = statement.target.as_ref();
    let Some(source) = source.downcast_ref::<DefaultTableSource>() else { return Ok(None) };
    let Some(table) = LanceTable::of(source.table_provider.as_ref()) else { return Ok(None) };
    let name = statement.table_name.to_string();
    table.check_writable(&name)?;
    let dataset = table.dataset();
    let schema = arrow_schema(&dataset);
    let input = statement.input.as_ref();
    let (verb, rows, assigned) = match &statement.op {
        WriteOp::Delete => {
            check(input, "DELETE")?;
            let all = matches!(input, LogicalPlan::TableScan(_));
            ("DELETE", (!all).then_some(input), None)
        }
        WriteOp::Truncate => ("TRUNCATE", None, None),
        WriteOp::Update => {
            check(input, "UPDATE")?;
            ("UPDATE", Some(input), Some(assigned(input, &schema)?))
        }
        _ => return Ok(None),
    };
    let change = ChangeTable {
        change: Change {
            target: Arc::new(Target::new(&name, dataset.as_ref().clone())),
            schema,
            assigned,
        },
        rows: rows.cloned(),
        use_index: table.use_index,
    };
    let label = TableReference::bare(format!("{verb} {name}"));
    let source = provider_as_source(Arc::new(change));
    Ok(Some(LogicalPlanBuilder::scan(label, source, None)?.build()?))
}

/// The columns that are set to other values.
fn assigned(values: &LogicalPlan, schema: &SchemaRef) -> Result<Vec<String>> {
    let LogicalPlan::Projection(values) = values else {
        return internal_err!("UPDATE without a projection");
    };
    let mut assigned = Vec::new();
    for value in &values.expr {
        let aggregates = value.exists(|part| {
            Ok(matches!(part, Expr::AggregateFunction(_) | Expr::WindowFunction(_)))
        })?;
        if aggregates {
            return refuse("UPDATE", "an aggregate: write a subquery");
        }
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
        LogicalPlan::TableScan(scan) if scan.filters.is_empty() && scan.fetch.is_none() => Ok(()),
        LogicalPlan::TableScan(_) => refuse(verb, "a plan that is optimised already"),
        LogicalPlan::Projection(projection) => check(&projection.input, verb),
        LogicalPlan::Filter(filter) => check(&filter.input, verb),
        LogicalPlan::SubqueryAlias(alias) => check(&alias.input, verb),
        LogicalPlan::Limit(_) => refuse(verb, "a LIMIT: say by a condition which rows it is about"),
        _ => refuse(verb, "a second table: write a subquery"),
    }
}

fn refuse<T>(verb: &str, what: &str) -> Result<T> {
    Err(Error::not_supported(format!("{verb} of a Lance table can't have {what}")).into())
}

/// The query that finds the rows of a DELETE or UPDATE, and their new values.
#[derive(Debug, Clone)]
pub(crate) struct RowsQuery {
    /// As the statement has it; see [`check`].
    input: LogicalPlan,
    use_index: bool,
    state: SessionState,
}

impl RowsQuery {
    /// The plan of the query on that version of the table.
    pub(crate) async fn plan(&self, table: &TableVersion) -> Result<Arc<dyn ExecutionPlan>> {
        let addresses = address_columns(table);
        let addresses = addresses.iter().map(|field| col(field.name()));
        let query = match self.on(&self.input, table)? {
            LogicalPlan::Projection(values) => {
                let values_and_addresses = values.expr.iter().cloned().chain(addresses);
                let rows = LogicalPlanBuilder::from(values.input.as_ref().clone());
                rows.project(values_and_addresses)?.build()?
            }
            rows => LogicalPlanBuilder::from(rows).project(addresses)?.build()?,
        };
        self.state.create_physical_plan(&query).await
    }

    /// The same query on that version of the table, with addresses.
    fn on(&self, query: &LogicalPlan, table: &TableVersion) -> Result<LogicalPlan> {
        match query {
            LogicalPlan::TableScan(scan) => {
                let source = provider_as_source(Arc::new(AddressedTable::new(
                    table.clone(),
                    self.use_index,
                )));
                let scan = LogicalPlanBuilder::scan(scan.table_name.clone(), source, None)?;
                scan.build()
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let input = Arc::new(self.on(&alias.input, table)?);
                Ok(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?))
            }
            LogicalPlan::Filter(filter) => {
                let input = Arc::new(self.on(&filter.input, table)?);
                Ok(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), input)?))
            }
            LogicalPlan::Projection(values) => {
                let input = LogicalPlanBuilder::from(self.on(&values.input, table)?);
                input.project(values.expr.clone())?.build()
            }
            other => internal_err!("{} in a statement that was checked", other.display()),
        }
    }
}

/// A table whose scan changes the rows of another; it answers how many.
#[derive(Debug)]
struct ChangeTable {
    change: Change,
    /// The query that finds the rows; `None` for all rows.
    rows: Option<LogicalPlan>,
    /// Whether it may use indexes.
    use_index: bool,
}

#[async_trait]
impl TableProvider for ChangeTable {
    fn schema(&self) -> SchemaRef {
        count_schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        _projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = match &self.rows {
            None => None,
            Some(input) => {
                let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
                    return internal_err!("the session has a state of another kind");
                };
                let (input, state) = (input.clone(), state.clone());
                let query = RowsQuery { input, use_index: self.use_index, state };
                let latest = self.change.target.table().latest().await?;
                let (version, plan) = (latest.number(), query.plan(&latest).await?);
                Some(ChangedRows { query, version, plan })
            }
        };
        Ok(Arc::new(ChangeExec::new(self.change.clone(), rows)))
    }
}
