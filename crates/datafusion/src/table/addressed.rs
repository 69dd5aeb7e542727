use std::sync::Arc;

use arrow_schema::{Field, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider},
    common::{Result, tree_node::TreeNode},
    logical_expr::{Expr, TableProviderFilterPushDown, TableType},
    physical_plan::ExecutionPlan,
};
use lance_core::{ROW_ADDR, ROW_ADDR_FIELD, ROW_ID, ROW_ID_FIELD};

use super::provider::{in_columns, scan};
use crate::store::version::TableVersion;

/// A table at one version, with columns that say where each row is.
#[derive(Debug)]
pub(crate) struct AddressedTable {
    table: TableVersion,
    schema: SchemaRef,
    use_index: bool,
}

/// `_rowaddr: UInt64`, and `_rowid: UInt64` where ids aren't just the addresses.
pub(crate) fn address_columns(table: &TableVersion) -> Vec<Field> {
    let id = table.stable_row_ids().then(|| ROW_ID_FIELD.clone());
    [ROW_ADDR_FIELD.clone()].into_iter().chain(id).collect()
}

impl AddressedTable {
    pub(crate) fn new(table: TableVersion, use_index: bool) -> Self {
        let columns = table.arrow_schema();
        let addresses = address_columns(&table).into_iter().map(Arc::new);
        let fields: Fields = columns.fields().iter().cloned().chain(addresses).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, columns.metadata().clone()));
        Self { table, schema, use_index }
    }

    /// Whether floating-point numbers are part of the filter.
    fn compares_floats(&self, filter: &Expr) -> Result<bool> {
        filter.exists(|part| {
            Ok(match part {
                Expr::Column(column) => {
                    let field = self.schema.field_with_name(&column.name);
                    field.is_ok_and(|field| field.data_type().is_floating())
                }
                Expr::Literal(value, _) => value.data_type().is_floating(),
                Expr::Cast(cast) => cast.field.data_type().is_floating(),
                Expr::TryCast(cast) => cast.field.data_type().is_floating(),
                // A field of a struct may be one.
                Expr::ScalarFunction(call) => call.name() == "get_field",
                _ => false,
            })
        })
    }
}

#[async_trait]
impl TableProvider for AddressedTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        // Where it may, DataFusion looks at the rows again: what an index finds wrongly isn't
        // changed. Of floats it can't: Lance takes -0.0 for 0.0, as SQL does, and DataFusion
        // doesn't.
        let support = |filter: &&Expr| match self.compares_floats(filter)? {
            true => Ok(TableProviderFilterPushDown::Exact),
            false => Ok(TableProviderFilterPushDown::Inexact),
        };
        filters.iter().map(support).collect()
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = match projection {
            Some(projection) => Arc::new(self.schema.project(projection)?),
            None => self.schema.clone(),
        };
        let is_address = |field: &&Arc<Field>| [ROW_ADDR, ROW_ID].contains(&field.name().as_str());
        let columns = wanted.fields().iter().filter(|field| !is_address(field));
        let mut scanner =
            scan(self.table.dataset(), columns, filters, limit, self.use_index).await?;
        for address in wanted.fields().iter().filter(is_address) {
            match address.name().as_str() {
                ROW_ADDR => scanner.with_row_address(),
                _ => scanner.with_row_id(),
            };
        }
        let plan = scanner.create_plan().await?;
        in_columns(plan, &wanted)
    }
}
