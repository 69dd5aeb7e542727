use std::{borrow::Cow, sync::Arc};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider},
    common::{Result, TableReference},
    datasource::provider_as_source,
    logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableType},
    physical_plan::ExecutionPlan,
};

/// What a function answers, as a table whose plan names the call with its arguments: by the name
/// that DataFusion gives it, two calls of one function are the same table, and one subquery may
/// stand for the other.
#[derive(Debug)]
pub(super) struct NamedCall {
    table: Arc<dyn TableProvider>,
    plan: LogicalPlan,
}

impl NamedCall {
    pub(super) fn try_new(call: String, table: Arc<dyn TableProvider>) -> Result<Self> {
        let source = provider_as_source(table.clone());
        let plan = LogicalPlanBuilder::scan(TableReference::bare(call), source, None)?.build()?;
        Ok(Self { table, plan })
    }
}

#[async_trait]
impl TableProvider for NamedCall {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        self.table.table_type()
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        Some(Cow::Borrowed(&self.plan))
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.table.scan(state, projection, filters, limit).await
    }
}
