use std::{
    any::Any,
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use arrow_schema::{FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider},
    common::{Result, SchemaExt, not_impl_err, plan_err},
    datasource::sink::DataSinkExec,
    logical_expr::{
        Expr, TableProviderFilterPushDown, TableType, dml::InsertOp, utils::conjunction,
    },
    physical_expr::expressions::col,
    physical_plan::{ExecutionPlan, projection::ProjectionExec},
};
use lance::{
    Dataset,
    dataset::{builder::DatasetBuilder, scanner::Scanner},
    datatypes::format_field_path,
};

use super::{At, scalar};
use crate::{
    dml::LanceSink,
    error::{self, Error},
    store::version::TableVersion,
};

/// A Lance dataset as a DataFusion table.
///
/// Every scan, insert and statement opens the latest version, so the table follows the writes of
/// others, on its branch; unless it is opened at a version or tag, where it is read-only. Scans
/// push projection, filters and limit into Lance and use its scalar indexes.
///
/// DELETE and UPDATE need a session that
/// [`with_lance_index`](crate::session::SessionStateBuilderExt::with_lance_index) has set up:
/// elsewhere they are refused, since DataFusion hands a provider only a part of some WHERE clauses.
#[derive(Debug)]
pub struct LanceTable {
    /// The newest version seen so far.
    dataset: RwLock<Arc<Dataset>>,
    pub(super) use_index: bool,
    /// What it is opened at for good, as in "version 12".
    pinned: Option<String>,
}

impl LanceTable {
    /// The table in `dataset`, with the object store, credentials and caches of that handle. It
    /// follows the branch that the handle is on.
    pub fn new(dataset: Dataset) -> Self {
        Self { dataset: RwLock::new(Arc::new(dataset)), use_index: true, pinned: None }
    }

    /// Opens the dataset at `uri` with options for Lance's object store.
    ///
    /// # Errors
    /// There is no dataset, or the storage can't be read.
    pub async fn open(uri: &str, storage_options: HashMap<String, String>) -> error::Result<Self> {
        Self::open_at(uri, storage_options, At::Latest).await
    }

    /// Opens the dataset at `uri` as it is on a branch, or as it was at a version or tag.
    ///
    /// # Errors
    /// There is no such dataset, version, tag or branch, or the storage can't be read.
    pub async fn open_at(
        uri: &str,
        storage_options: HashMap<String, String>,
        at: At,
    ) -> error::Result<Self> {
        let builder = DatasetBuilder::from_uri(uri).with_storage_options(storage_options);
        let (builder, place) = at.of(builder);
        let pinned = at.is_pinned().then(|| place.clone());
        match builder.load().await {
            Ok(dataset) => Ok(Self { pinned, ..Self::new(dataset) }),
            Err(
                lance::Error::DatasetNotFound { .. }
                | lance::Error::NotFound { .. }
                | lance::Error::VersionNotFound { .. }
                | lance::Error::RefNotFound { .. }
                | lance::Error::InvalidRef { .. },
            ) if at != At::Latest => {
                Err(Error::invalid(format!("there is no {place} of a Lance table at '{uri}'")))
            }
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

    /// Whether scans may use scalar indexes.
    pub(crate) fn use_index(&self) -> bool {
        self.use_index
    }

    /// Whether a scan would read the latest version of that table, on the same branch.
    pub(crate) fn follows(&self, table: &TableVersion) -> bool {
        let (own, other) = (self.dataset(), table.dataset());
        let branch = |dataset: &Dataset| dataset.manifest().branch.clone();
        self.pinned.is_none() && own.uri() == other.uri() && branch(&own) == branch(other)
    }

    /// The same table, at that version for good.
    pub(crate) fn pinned_to(&self, table: &TableVersion) -> Self {
        Self {
            dataset: RwLock::new(Arc::new(table.dataset().clone())),
            use_index: self.use_index,
            pinned: Some(format!("version {}", table.number())),
        }
    }

    /// The dataset at the newest version that this table has seen.
    pub fn dataset(&self) -> Arc<Dataset> {
        self.dataset.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Refuses to change a table that is opened at a version or tag.
    pub(crate) fn check_writable(&self, name: &str) -> error::Result<()> {
        match &self.pinned {
            None => Ok(()),
            Some(place) => Err(Error::invalid(format!(
                "table '{name}' is opened at {place}, where it can only be read; open it without \
                 that to change or maintain it"
            ))),
        }
    }

    /// The dataset at its latest version, or at the one that it is opened at for good.
    ///
    /// # Errors
    /// The storage can't be read.
    pub async fn latest(&self) -> error::Result<Arc<Dataset>> {
        if self.pinned.is_some() {
            return Ok(self.dataset());
        }
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

fn not_through_the_provider<T>(verb: &str) -> Result<T> {
    Err(Error::not_supported(format!(
        "{verb} of a Lance table needs a session that with_lance_index or register_lance_index has \
         set up: DataFusion itself hands a table only a part of some WHERE clauses"
    ))
    .into())
}

/// A scan of these columns, for the rows that all of the filters hold for.
pub(super) async fn scan<'a>(
    dataset: &Dataset,
    columns: impl IntoIterator<Item = &'a FieldRef>,
    filters: &[Expr],
    limit: Option<usize>,
    use_index: bool,
) -> Result<Scanner> {
    let mut scan = dataset.scan();
    scan.project_with_transform(&expressions(columns))?;
    if let Some(filter) = conjunction(filters.to_vec()) {
        scan.filter_expr(filter);
    }
    scan.limit(limit.and_then(|limit| i64::try_from(limit).ok()), None)?;
    scan.use_scalar_index(use_index && !scalar::index_is_wrong(filters, dataset).await?);
    Ok(scan)
}

/// The columns as a scan takes them: by expression, since a name may be written as a path only in
/// quotes.
pub(super) fn expressions<'a>(
    columns: impl IntoIterator<Item = &'a FieldRef>,
) -> Vec<(&'a str, String)> {
    let columns = columns.into_iter();
    columns.map(|field| (field.name().as_str(), format_field_path(&[field.name()]))).collect()
}

/// The plan with these columns and no others, in this order: Lance answers more than it was asked
/// for by some scans, and has an order of its own for the columns that it adds.
pub(super) fn in_columns(
    plan: Arc<dyn ExecutionPlan>,
    wanted: &Schema,
) -> Result<Arc<dyn ExecutionPlan>> {
    if plan.schema().fields() == wanted.fields() {
        return Ok(plan);
    }
    let columns = wanted
        .fields()
        .iter()
        .map(|field| Ok((col(field.name(), &plan.schema())?, field.name().clone())));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(ProjectionExec::try_new(columns, plan)?))
}

pub(super) fn arrow_schema(dataset: &Dataset) -> SchemaRef {
    Arc::new(Schema::from(dataset.schema()))
}

/// Checks that columns which a statement was planned with are still there.
pub(super) fn check_unchanged<'a>(
    columns: impl IntoIterator<Item = &'a FieldRef>,
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
        let scan = scan(&latest, wanted.fields(), filters, limit, self.use_index).await?;
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
        not_through_the_provider("DELETE")
    }

    async fn update(
        &self,
        _state: &dyn Session,
        _assignments: Vec<(String, Expr)>,
        _filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        not_through_the_provider("UPDATE")
    }

    async fn truncate(&self, _state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        not_through_the_provider("TRUNCATE")
    }

    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match insert_op {
            InsertOp::Append => {}
            InsertOp::Overwrite => return not_through_the_provider("INSERT OVERWRITE"),
            InsertOp::Replace => {
                return not_impl_err!("REPLACE INTO a Lance table; INSERT INTO appends to it");
            }
        }
        self.check_writable(self.dataset().uri())?;
        let schema = self.schema();
        schema.logically_equivalent_names_and_types(&input.schema())?;
        let latest = TableVersion::new(self.latest().await?.as_ref().clone());
        let sink = LanceSink::new(latest, schema);
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }
}
