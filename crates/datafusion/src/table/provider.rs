use std::{
    any::Any,
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use arrow_schema::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider},
    common::{Result, SchemaExt, not_impl_err, plan_err},
    datasource::sink::DataSinkExec,
    logical_expr::{
        Expr, TableProviderFilterPushDown, TableType, dml::InsertOp, utils::conjunction,
    },
    physical_plan::ExecutionPlan,
};
use lance::{Dataset, dataset::builder::DatasetBuilder, datatypes::format_field_path};

use super::{insert::LanceSink, scalar};
use crate::{
    error::{self, Error},
    store::version::TableVersion,
};

/// A Lance dataset as a DataFusion table.
///
/// Every scan, insert and statement opens the latest version, so the table follows the writes of
/// others. Scans push projection, filters and limit into Lance and use its scalar indexes.
#[derive(Debug)]
pub struct LanceTable {
    /// The newest version seen so far.
    dataset: RwLock<Arc<Dataset>>,
    pub(super) use_index: bool,
}

impl LanceTable {
    /// The table in `dataset`, with the object store, credentials and caches of that handle.
    pub fn new(dataset: Dataset) -> Self {
        Self { dataset: RwLock::new(Arc::new(dataset)), use_index: true }
    }

    /// Opens the dataset at `uri` with options for Lance's object store.
    ///
    /// # Errors
    /// There is no dataset, or the storage can't be read.
    pub async fn open(uri: &str, storage_options: HashMap<String, String>) -> error::Result<Self> {
        let builder = DatasetBuilder::from_uri(uri).with_storage_options(storage_options);
        match builder.load().await {
            Ok(dataset) => Ok(Self::new(dataset)),
            Err(lance::Error::DatasetNotFound { .. } | lance::Error::NotFound { .. }) => {
                Err(Error::invalid(format!("there is no Lance table at '{uri}'")))
            }
            Err(error) => Err(Error::failed(format!("opening the table at '{uri}'"), error)),
        }
    }

    /// The Lance table that a provider is, if it is one.
    pub(crate) fn of(provider: &dyn TableProvider) -> Option<&Self> {
        let provider: &dyn Any = provider;
        provider.downcast_ref()
    }

    /// Whether scans may use scalar indexes; they do unless told otherwise. A second table on the
    /// same location without them tells what a full scan finds.
    pub fn with_use_index(mut self, use_index: bool) -> Self {
        self.use_index = use_index;
        self
    }

    /// The dataset at the newest version that this table has seen.
    pub fn dataset(&self) -> Arc<Dataset> {
        self.dataset.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The dataset at its latest version.
    ///
    /// # Errors
    /// The storage can't be read.
    pub async fn latest(&self) -> error::Result<Arc<Dataset>> {
        let latest = Arc::new(
            TableVersion::new(self.dataset().as_ref().clone()).latest().await?.into_dataset(),
        );
        let mut seen = self.dataset.write().unwrap_or_else(PoisonError::into_inner);
        if latest.manifest().version >= seen.manifest().version {
            *seen = latest.clone();
        }
        Ok(latest)
    }
}

pub(super) fn arrow_schema(dataset: &Dataset) -> SchemaRef {
    Arc::new(Schema::from(dataset.schema()))
}

/// Checks that columns which a statement was planned with are still there.
pub(super) fn check_unchanged<'a>(
    columns: impl IntoIterator<Item = &'a Arc<Field>>,
    latest: &Dataset,
) -> Result<()> {
    let now = arrow_schema(latest);
    for field in columns {
        if !now.field_with_name(field.name()).is_ok_and(|now| now == field.as_ref()) {
            return plan_err!(
                "column {} was changed by another writer; run the statement again",
                field.name()
            );
        }
    }
    Ok(())
}

#[async_trait]
impl TableProvider for LanceTable {
    fn schema(&self) -> SchemaRef {
        arrow_schema(&self.dataset())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // The statement was planned with the schema that was known until now.
        let known = self.schema();
        let wanted = match projection {
            Some(projection) => known.project(projection)?,
            None => known.as_ref().clone(),
        };
        let latest = self.latest().await?;
        check_unchanged(wanted.fields(), &latest)?;
        let mut scan = latest.scan();
        // By expression, since a name may be written as a path only in quotes.
        let columns: Vec<(&str, String)> = wanted
            .fields()
            .iter()
            .map(|field| (field.name().as_str(), format_field_path(&[field.name()])))
            .collect();
        scan.project_with_transform(&columns)?;
        if let Some(filter) = conjunction(filters.to_vec()) {
            scan.filter_expr(filter);
        }
        scan.limit(limit.and_then(|limit| i64::try_from(limit).ok()), None)?;
        scan.use_scalar_index(self.use_index && !scalar::index_loses_rows(filters, &latest).await?);
        Ok(scan.create_plan().await?)
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        // Lance runs what it can't push down itself as a DataFusion filter.
        Ok(vec![TableProviderFilterPushDown::Exact; filters.len()])
    }

    async fn delete_from(
        &self,
        _state: &dyn Session,
        _filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("DELETE on a Lance table is not supported yet")
    }

    async fn update(
        &self,
        _state: &dyn Session,
        _assignments: Vec<(String, Expr)>,
        _filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("UPDATE on a Lance table is not supported yet")
    }

    async fn truncate(&self, _state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("TRUNCATE on a Lance table is not supported yet")
    }

    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if insert_op != InsertOp::Append {
            return not_impl_err!(
                "{insert_op} on a Lance table is not supported yet; INSERT INTO appends"
            );
        }
        let schema = self.schema();
        schema.logically_equivalent_names_and_types(&input.schema())?;
        let sink = LanceSink::new(self.latest().await?, schema);
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }
}
