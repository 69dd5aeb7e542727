use std::{any::Any, sync::Arc};

use datafusion::{
    catalog::{TableProvider, default_table_source::DefaultTableSource},
    common::{Result, internal_err, tree_node::Transformed},
    datasource::provider_as_source,
    execution::SessionState,
    logical_expr::{
        Filter, LogicalPlan, LogicalPlanBuilder, SubqueryAlias, TableScan, col, utils::conjunction,
    },
    physical_plan::ExecutionPlan,
};

use crate::{
    store::version::TableVersion,
    table::{AddressedTable, LanceTable, address_columns},
};

/// What is done with the rows that a query finds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verb {
    /// They are deleted.
    Delete,
    /// They are written anew, with other values in these columns.
    Update { assigned: Vec<String> },
    /// They take the place of all rows of the table.
    Overwrite,
}

/// The query that finds the rows of a statement.
#[derive(Debug, Clone)]
pub(super) struct RowsQuery {
    verb: Verb,
    /// As the statement has it.
    input: LogicalPlan,
    use_index: bool,
    state: SessionState,
}

impl RowsQuery {
    pub(super) fn new(
        verb: Verb,
        input: LogicalPlan,
        use_index: bool,
        state: &SessionState,
    ) -> Self {
        let mut state = state.clone();
        if verb != Verb::Overwrite {
            // In one stream rows stay in the order in which they were, and their ids in ranges.
            state.config_mut().options_mut().execution.target_partitions = 1;
        }
        Self { verb, input, use_index, state }
    }

    /// The plan of the query on that version of the table: of a DELETE the rows' addresses, of an
    /// UPDATE their new values and addresses, of an INSERT OVERWRITE the new rows.
    pub(super) async fn plan(&self, table: &TableVersion) -> Result<Arc<dyn ExecutionPlan>> {
        let input = self.of_one_version(table)?;
        let addresses = address_columns(table);
        let addresses = addresses.iter().map(|field| col(field.name()));
        let query = match &self.verb {
            Verb::Overwrite => input,
            Verb::Delete => LogicalPlanBuilder::from(self.addressed(&input, table)?)
                .project(addresses)?
                .build()?,
            Verb::Update { .. } => {
                let LogicalPlan::Projection(values) = input else {
                    return internal_err!("UPDATE without a projection");
                };
                let rows = LogicalPlanBuilder::from(self.addressed(&values.input, table)?);
                rows.project(values.expr.iter().cloned().chain(addresses))?.build()?
            }
        };
        self.state.create_physical_plan(&query).await
    }

    /// The query with every scan of the table at that version: what it reads is what the commit is
    /// checked against.
    fn of_one_version(&self, table: &TableVersion) -> Result<LogicalPlan> {
        let at_version = |scan: &TableScan| -> Option<Arc<dyn TableProvider>> {
            let source: &dyn Any = scan.source.as_ref();
            let provider = &source.downcast_ref::<DefaultTableSource>()?.table_provider;
            let same = LanceTable::of(provider.as_ref())?;
            same.follows(table).then(|| Arc::new(same.pinned_to(table)) as _)
        };
        let pinned = self.input.clone().transform_up_with_subqueries(|node| {
            let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
            Ok(match at_version(scan) {
                Some(provider) => Transformed::yes(LogicalPlan::TableScan(TableScan {
                    source: provider_as_source(provider),
                    ..scan.clone()
                })),
                None => Transformed::no(node),
            })
        })?;
        Ok(pinned.data)
    }

    /// The rows of the table that the query finds, with their addresses.
    fn addressed(&self, query: &LogicalPlan, table: &TableVersion) -> Result<LogicalPlan> {
        match query {
            LogicalPlan::TableScan(scan) => {
                let provider = AddressedTable::new(table.clone(), self.use_index);
                let source = provider_as_source(Arc::new(provider));
                let rows = LogicalPlanBuilder::scan(scan.table_name.clone(), source, None)?;
                // PREPARE moves the predicate into the scan.
                match conjunction(scan.filters.clone()) {
                    Some(predicate) => rows.filter(predicate)?.build(),
                    None => rows.build(),
                }
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let input = Arc::new(self.addressed(&alias.input, table)?);
                Ok(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?))
            }
            LogicalPlan::Filter(filter) => {
                let input = Arc::new(self.addressed(&filter.input, table)?);
                Ok(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), input)?))
            }
            // Columns that the query above doesn't need are left out by the optimizer.
            LogicalPlan::Projection(projection) => self.addressed(&projection.input, table),
            other => internal_err!("{} in a statement that was checked", other.display()),
        }
    }
}
