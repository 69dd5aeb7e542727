//! Full-text search of a Lance table.

use std::{collections::BTreeMap, sync::Arc};

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableProvider},
    common::{Result, internal_err},
    logical_expr::{Expr, TableProviderFilterPushDown, TableType, utils::conjunction},
    physical_plan::ExecutionPlan,
    sql::sqlparser::ast::Ident,
};
use lance::Dataset;
use lance_index::scalar::{
    FullTextSearchQuery,
    inverted::{
        SCORE_COL,
        parser::from_json,
        query::{FtsQuery, FtsQueryNode, MatchQuery, fill_fts_query_column},
    },
};

use roaring::RoaringBitmap;

use super::{
    LanceTable,
    provider::{check_unchanged, expressions, in_columns},
    scalar,
};
use crate::{
    error::{self, Error},
    store::{definition, fields, indexes::Indexes, version::TableVersion},
};

/// The function that searches are called by.
pub(crate) const NAME: &str = "lance_fts";

/// What is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Query(FtsQuery);

impl Query {
    /// Any of these words.
    pub(crate) fn words(words: String) -> Self {
        Self(MatchQuery::new(words).into())
    }

    /// A query in the JSON form that all clients of Lance have.
    ///
    /// # Errors
    /// It isn't one, said in words that read on.
    pub(crate) fn json(text: &str) -> std::result::Result<Self, String> {
        let query = from_json(text).map_err(|error| match error {
            lance::Error::InvalidInput { source, .. } => source.to_string(),
            other => other.to_string(),
        });
        query.map(Self).map_err(|error| format!("the query in JSON is wrong: {error}"))
    }
}

/// The rows of a Lance table that a query finds: the table's columns and `_score`.
///
/// Every scan searches the latest version, fragments without an index included.
#[derive(Debug)]
pub(crate) struct SearchTable {
    name: String,
    table: Arc<dyn TableProvider>,
    /// Where to look, for a query or a part of one that doesn't say.
    column: Option<Vec<Ident>>,
    query: Query,
    schema: SchemaRef,
}

impl SearchTable {
    pub(crate) fn try_new(
        name: String,
        table: Arc<dyn TableProvider>,
        column: Option<Vec<Ident>>,
        query: Query,
    ) -> error::Result<Self> {
        let columns = table.schema();
        if columns.field_with_name(SCORE_COL).is_ok() {
            let what = format!("table '{name}' has a column {SCORE_COL} of its own");
            return Err(Error::not_supported(what));
        }
        let score = Arc::new(Field::new(SCORE_COL, DataType::Float32, true));
        let fields: Vec<_> = columns.fields().iter().cloned().chain([score]).collect();
        Ok(Self { name, table, column, query, schema: Arc::new(Schema::new(fields)) })
    }

    /// The query with its columns, and whether indexes cover all rows of them.
    async fn resolve(&self, latest: &Dataset) -> error::Result<(FtsQuery, bool)> {
        let table = &TableVersion::new(latest.clone());
        let mut query = self.query.0.clone();
        if let Some(column) = &self.column {
            let path = fields::resolve(table, column)?.path;
            query = fill_fts_query_column(&query, &[path], false)
                .map_err(|error| Error::lance("reading the query", error))?;
        }
        if query.is_missing_column() {
            let what = "the query doesn't say in which column to look";
            return Err(Error::invalid(format!("{what}; name one before it")));
        }
        let indexes = Indexes::read(table).await?;
        let mut covered = true;
        let mut columns: Vec<String> = query.columns().into_iter().collect();
        columns.sort();
        for column in columns {
            let place = format!("on table {}", self.name);
            let Some(field) = latest.schema().field(&column) else {
                return Err(Error::invalid(format!("there is no column '{column}' {place}")));
            };
            let segments: Vec<_> = indexes
                .all()
                .filter(|segment| segment.fields == [field.id])
                .filter(|segment| definition::storage_of(segment).is_searched())
                .collect();
            if segments.is_empty() {
                let written = fields::by_id(latest.schema(), field.id);
                let written = written.map_or(column.clone(), |field| field.column);
                return Err(Error::invalid(format!(
                    "column '{column}' has no fts index {place}; CREATE INDEX i ON {} USING fts \
                     ({written}) makes one",
                    self.name
                )));
            }
            // Lance searches by one of the column's indexes, whichever that is.
            let mut by_index = BTreeMap::<&str, RoaringBitmap>::new();
            for segment in segments {
                let fragments = segment.fragment_bitmap.clone().unwrap_or_default();
                *by_index.entry(&segment.name).or_default() |= fragments;
            }
            let live = table.fragments();
            covered = covered && by_index.values().all(|fragments| live.is_subset(fragments));
        }
        Ok((query, covered))
    }
}

fn is_about_score(filter: &Expr) -> bool {
    filter.column_refs().iter().any(|column| column.name == SCORE_COL)
}

#[async_trait]
impl TableProvider for SearchTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(table) = LanceTable::of(self.table.as_ref()) else {
            return internal_err!("a full-text search of another kind of table");
        };
        let wanted = match projection {
            Some(projection) => self.schema.project(projection)?,
            None => self.schema.as_ref().clone(),
        };
        let latest = table.latest().await?;
        check_unchanged(wanted.fields().iter().filter(|field| field.name() != SCORE_COL), &latest)?;
        let here = |error: Error| Error::in_function(NAME, error.into());
        let (query, covered) = self.resolve(&latest).await.map_err(here)?;
        if let Some(index) = scalar::search_misses_rows(&latest).await? {
            return Err(here(Error::invalid(format!(
                "index '{index}' has lost rows by the compactions of another client; ALTER TABLE \
                 ... REFRESH INDEX builds it anew"
            ))));
        }
        let mut scan = latest.scan();
        let failed = |error| {
            here(Error::lance(format!("planning the search of table '{}'", self.name), error))
        };
        scan.full_text_search(FullTextSearchQuery::new_query(query)).map_err(failed)?;
        scan.disable_scoring_autoprojection();
        scan.project_with_transform(&expressions(wanted.fields())).map_err(failed)?;
        if let Some(filter) = conjunction(filters.to_vec()) {
            scan.filter_expr(filter);
        }
        let use_index = table.use_index && !scalar::index_is_wrong(filters, &latest).await?;
        scan.use_scalar_index(use_index);
        // In fragments without an index Lance scores rows among those that it looks at, so there a
        // filter has to come after the search, and a limit after both.
        scan.prefilter(covered);
        if covered {
            let limit = limit.and_then(|limit| i64::try_from(limit).ok());
            scan.limit(limit, None).map_err(failed)?;
        }
        let plan = scan.create_plan().await.map_err(failed)?;
        in_columns(plan, &wanted)
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match is_about_score(filter) {
            true => TableProviderFilterPushDown::Unsupported,
            false => TableProviderFilterPushDown::Exact,
        };
        Ok(filters.iter().map(support).collect())
    }
}
