use std::{collections::BTreeSet, sync::Arc};

use datafusion::{
    catalog::SchemaProvider, common::utils::quote_identifier, prelude::SessionContext,
};

/// The names that a statement may have, as they are written.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Tables of the default schema.
    pub tables: BTreeSet<String>,
    /// Columns of these tables.
    pub columns: BTreeSet<String>,
    /// Functions, and tables that are functions.
    pub functions: BTreeSet<String>,
}

impl Names {
    pub(super) async fn of(context: &SessionContext) -> Self {
        let mut names = Self::default();
        let state = context.state();
        let defaults = &state.config_options().catalog;
        let schema = context
            .catalog(&defaults.default_catalog)
            .and_then(|catalog| catalog.schema(&defaults.default_schema));
        if let Some(schema) = schema {
            names.add_tables(schema).await;
        }
        names.functions.extend(state.scalar_functions().keys().cloned());
        names.functions.extend(state.aggregate_functions().keys().cloned());
        names.functions.extend(state.window_functions().keys().cloned());
        names.functions.extend(state.table_functions().keys().cloned());
        names
    }

    async fn add_tables(&mut self, schema: Arc<dyn SchemaProvider>) {
        for name in schema.table_names() {
            // A table that is gone meanwhile has no columns.
            if let Ok(Some(table)) = schema.table(&name).await {
                let columns = table.schema();
                let columns = columns.fields().iter().map(|field| quoted(field.name()));
                self.columns.extend(columns);
            }
            self.tables.insert(quoted(&name));
        }
    }
}

fn quoted(name: &str) -> String {
    quote_identifier(name).into_owned()
}
