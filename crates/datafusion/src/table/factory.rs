use std::{collections::HashMap, sync::Arc};

use arrow::array::RecordBatchIterator;
use arrow_schema::{DataType, Field, Schema};
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider, TableProviderFactory},
    common::{Result, plan_datafusion_err, plan_err},
    logical_expr::CreateExternalTable,
};
use lance::{
    Dataset,
    dataset::{WriteMode, WriteParams},
    io::{ObjectStoreParams, StorageOptionsAccessor},
};

use lance_index_sql::suggest;

use super::{At, LanceTable};

/// `CREATE EXTERNAL TABLE t [(columns)] STORED AS LANCE LOCATION 'uri' [OPTIONS (...)]`
///
/// Without columns the dataset has to exist; with columns it is created and must not. Options:
///
/// | option | meaning |
/// |---|---|
/// | `use_index` | `false`: scans use no scalar index |
/// | `enable_stable_row_ids` | `true`: a new dataset gets row ids that survive updates |
/// | `version`, `tag` | the dataset as it was then, read-only |
/// | `branch` | the dataset as it is on that branch |
/// | anything else | an option of Lance's object store, such as a region |
#[derive(Debug, Default)]
pub struct LanceTableFactory;

/// The options that are not the object store's.
const OPTIONS: [&str; 5] = ["use_index", "enable_stable_row_ids", "version", "tag", "branch"];

/// The options of `CREATE EXTERNAL TABLE`.
#[derive(Default)]
struct TableOptions {
    use_index: Option<bool>,
    enable_stable_row_ids: Option<bool>,
    version: Option<u64>,
    tag: Option<String>,
    branch: Option<String>,
    storage: HashMap<String, String>,
}

impl TableOptions {
    fn try_new(location: &str, options: &HashMap<String, String>) -> Result<Self> {
        let mut parsed = Self::default();
        for (key, value) in options {
            // DataFusion puts this before every key without a dot.
            let key = key.strip_prefix("format.").unwrap_or(key).to_ascii_lowercase();
            match key.as_str() {
                "use_index" => parsed.use_index = Some(boolean(&key, value)?),
                "enable_stable_row_ids" => {
                    parsed.enable_stable_row_ids = Some(boolean(&key, value)?);
                }
                "version" => {
                    let version = value.parse().map_err(|_| {
                        plan_datafusion_err!("option 'version' takes a number, not '{value}'")
                    })?;
                    parsed.version = Some(version);
                }
                "tag" => parsed.tag = Some(value.clone()),
                "branch" => parsed.branch = Some(value.clone()),
                _ => {
                    if let Some(nearest) = suggest(&key, &OPTIONS) {
                        return plan_err!("there is no option '{key}'; did you mean '{nearest}'?");
                    }
                    // Those of an object store are Lance's.
                    if !location.contains("://") {
                        return plan_err!(
                            "there is no option '{key}'; a local Lance table takes {}",
                            OPTIONS.join(", ")
                        );
                    }
                    parsed.storage.insert(key, value.clone());
                }
            }
        }
        Ok(parsed)
    }
}

impl TableOptions {
    fn at(&self) -> Result<At> {
        match (self.version, self.tag.clone(), self.branch.clone()) {
            (None, None, None) => Ok(At::Latest),
            (Some(version), None, None) => Ok(At::Version(version)),
            (None, Some(tag), None) => Ok(At::Tag(tag)),
            (None, None, Some(branch)) => Ok(At::Branch(branch)),
            (Some(version), None, Some(branch)) => Ok(At::BranchVersion(branch, version)),
            (_, Some(_), _) => plan_err!("option 'tag' excludes 'version' and 'branch'"),
        }
    }
}

fn boolean(key: &str, value: &str) -> Result<bool> {
    let parsed = value.to_ascii_lowercase().parse();
    parsed.map_err(|_| plan_datafusion_err!("option '{key}' takes true or false, not '{value}'"))
}

#[async_trait]
impl TableProviderFactory for LanceTableFactory {
    async fn create(
        &self,
        _state: &dyn Session,
        command: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        if command.location.trim().is_empty() {
            return plan_err!("a Lance table needs a LOCATION");
        }
        if !command.table_partition_cols.is_empty() {
            return plan_err!("a Lance table takes no PARTITIONED BY");
        }
        if let Some(column) = command.column_defaults.keys().next() {
            return plan_err!("a Lance table takes no DEFAULT, which column {column} has");
        }
        if !command.constraints.is_empty() {
            return plan_err!("a Lance table takes no PRIMARY KEY and no UNIQUE");
        }
        if !command.order_exprs.is_empty() {
            return plan_err!("a Lance table takes no WITH ORDER");
        }
        let options = TableOptions::try_new(&command.location, &command.options)?;
        let (schema, at) = (command.schema.as_arrow(), options.at()?);
        let table = if !schema.fields().is_empty() {
            if at != At::Latest {
                return plan_err!(
                    "options 'version', 'tag' and 'branch' are for a table that exists; leave out \
                     the columns"
                );
            }
            LanceTable::new(create(&command.location, schema, &options).await?)
        } else if options.enable_stable_row_ids.is_some() {
            return plan_err!(
                "option 'enable_stable_row_ids' is for a new table, which takes a list of columns"
            );
        } else {
            LanceTable::open_at(&command.location, options.storage, at).await?
        };
        Ok(Arc::new(table.with_use_index(options.use_index.unwrap_or(true))))
    }
}

async fn create(location: &str, schema: &Schema, options: &TableOptions) -> Result<Dataset> {
    let schema = Arc::new(Schema::new(
        schema.fields().iter().map(|field| without_views(field)).collect::<Vec<_>>(),
    ));
    let mut params = WriteParams {
        mode: WriteMode::Create,
        enable_stable_row_ids: options.enable_stable_row_ids.unwrap_or(false),
        ..Default::default()
    };
    if !options.storage.is_empty() {
        params.store_params = Some(ObjectStoreParams {
            storage_options_accessor: Some(Arc::new(StorageOptionsAccessor::with_static_options(
                options.storage.clone(),
            ))),
            ..Default::default()
        });
    }
    let nothing = RecordBatchIterator::new([], schema);
    match Dataset::write(nothing, location, Some(params)).await {
        Err(lance::Error::DatasetAlreadyExists { .. }) => plan_err!(
            "there is a Lance table at '{location}' already; leave out the columns to open it"
        ),
        created => Ok(created?),
    }
}

/// SQL's string types are views in DataFusion; Lance indexes plain strings.
fn without_views(field: &Field) -> Field {
    let plain = match field.data_type() {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(Arc::new(without_views(item))),
        DataType::LargeList(item) => DataType::LargeList(Arc::new(without_views(item))),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| without_views(field)).collect())
        }
        other => other.clone(),
    };
    field.clone().with_data_type(plain)
}
