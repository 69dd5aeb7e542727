use std::{fmt, sync::Arc};

use arrow::{
    array::{RecordBatch, StringArray},
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use async_trait::async_trait;
use datafusion::{
    common::utils::quote_identifier,
    sql::sqlparser::{
        ast::{Ident, ObjectName},
        dialect::GenericDialect,
        tokenizer::Span,
    },
};
use lance_index_plan::snapshot::IndexDefinition;
use lance_index_sql::{
    AlterIndexSet, CreateIndex, IndexMethod, IndexStatement, OptionName, OptionValue, WithOption,
    WithOptions, path_in,
};
use serde_json::{Map, Value};

use super::answer::Answer;
use crate::{
    catalog::{
        Catalog,
        policy::{PolicyOption, PolicyOptions},
        record::stored_policy,
    },
    error::{Error, Result},
    index_type::IndexType,
    planning,
    settings::RunSettings,
    store::parameters,
    table::Target,
};

/// `SHOW CREATE INDEX`: the statements that make the index, a row each.
#[derive(Debug, Clone)]
pub(crate) struct ShowCreateIndex {
    pub target: Arc<Target>,
    /// The table as the statement names it.
    pub table: ObjectName,
    pub index: String,
}

impl fmt::Display for ShowCreateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ON {}", self.index, self.target.name())
    }
}

/// The schema of what `SHOW CREATE INDEX` answers.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("index_name", DataType::Utf8, false),
        Field::new("statement", DataType::Utf8, false),
    ]))
}

#[async_trait]
impl Answer for ShowCreateIndex {
    fn name(&self) -> &'static str {
        "ShowCreateIndexExec"
    }

    fn schema(&self) -> SchemaRef {
        schema()
    }

    async fn answer(&self, _settings: RunSettings) -> Result<RecordBatch> {
        let table = self.target.table();
        let catalog = Catalog::read(table).await?;
        if let Some(name) = catalog.lances_alone(&self.index).await {
            return Err(Error::not_supported(format!(
                "no statement makes index '{}', which is of type {name}: Lance's own create_index \
                 does; SHOW INDEXES has its parameters",
                self.index
            )));
        }
        let definition = planning::definition(table, &self.index).await?;
        let mut statements = vec![self.create(&definition)?];
        let record = catalog.record(&self.index);
        let record = record.filter(|record| Some(record.id) == definition.record);
        if let Some(policy) = record.and_then(stored_policy) {
            statements.push(self.set(&policy)?);
        }
        let names = statements.iter().map(|_| self.index.as_str());
        let names = StringArray::from_iter_values(names);
        let texts = statements.iter().map(ToString::to_string);
        let texts = StringArray::from_iter_values(texts);
        RecordBatch::try_new(schema(), vec![Arc::new(names), Arc::new(texts)])
            .map_err(|error| Error::internal(format!("SHOW CREATE INDEX: {error}")))
    }
}

impl ShowCreateIndex {
    fn create(&self, definition: &IndexDefinition) -> Result<IndexStatement> {
        let index_type = IndexType::of(definition)?;
        let parameters: Map<String, Value> = serde_json::from_str(&definition.parameters)
            .map_err(|error| Error::internal(format!("parameters that are no JSON: {error}")))?;
        let shown = parameters::shown(index_type, &parameters);
        Ok(IndexStatement::CreateIndex(CreateIndex {
            or_replace: false,
            if_not_exists: false,
            index: ident(&self.index),
            table: self.table.clone(),
            method: Some(IndexMethod::new(index_type.name, Span::empty())),
            column: path_in(&definition.field.column, &GenericDialect {}),
            options: options(shown.iter().map(|(name, value)| (name.as_str(), text(value))))?,
        }))
    }

    fn set(&self, policy: &PolicyOptions) -> Result<IndexStatement> {
        let set = PolicyOption::ALL.into_iter().filter_map(|option| {
            Some((option.name(), OptionValue::Number(policy.get(option)?.to_string())))
        });
        Ok(IndexStatement::AlterIndexSet(AlterIndexSet {
            table: self.table.clone(),
            index: ident(&self.index),
            options: options(set)?,
        }))
    }
}

fn options<'a>(options: impl Iterator<Item = (&'a str, OptionValue)>) -> Result<WithOptions> {
    let option = |(name, value)| WithOption {
        name: OptionName::new(name, Span::empty()),
        value,
        value_span: Span::empty(),
    };
    Ok(WithOptions::new(options.map(option).collect())?)
}

fn text(value: &Value) -> OptionValue {
    match value {
        Value::Null => OptionValue::Null,
        Value::Bool(value) => OptionValue::Boolean(*value),
        Value::Number(number) => OptionValue::Number(number.to_string()),
        Value::String(text) => OptionValue::String(text.clone()),
        other => OptionValue::String(other.to_string()),
    }
}

/// Quoted where it has to be.
fn ident(name: &str) -> Ident {
    if quote_identifier(name) == name { Ident::new(name) } else { Ident::with_quote('"', name) }
}
