//! The table functions that carry out index statements.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::{
    catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider},
    common::{Result, internal_err},
    execution::SessionState,
    logical_expr::{Expr, TableType},
    physical_plan::ExecutionPlan,
};
use lance_index_sql::{
    AlterIndexReset, AlterIndexSet, CreateIndex, DropIndex, IndexStatement, IndexTarget,
    OptimizeIndex, OptimizeTable, RefreshIndex, ShowCreateIndex, ShowIndexSegments, ShowIndexes,
    VacuumTable,
};

use super::{
    arguments::{Arguments, Signature},
    named::NamedCall,
};
use crate::{
    error::{self, Error},
    lower::{answer_schema, lower_statement},
    physical::once::{OnceExec, Runs},
    planner::plan_statement,
};

/// A table function that stands for a kind of statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementFunction {
    pub signature: Signature,
    read: fn(&mut Arguments) -> error::Result<IndexStatement>,
}

const fn function(
    name: &'static str,
    usage: &'static str,
    read: fn(&mut Arguments) -> error::Result<IndexStatement>,
) -> StatementFunction {
    StatementFunction { signature: Signature { name, usage }, read }
}

pub(super) static FUNCTIONS: [StatementFunction; 13] = [
    function(
        "lance_create_index",
        "lance_create_index('table', 'index', 'column' [, 'method'] [, 'option=value', ...])",
        create_index,
    ),
    function(
        "lance_refresh_index",
        "lance_refresh_index('table', 'index' [, 'option=value', ...]), \
         or lance_refresh_indexes('table' [, 'option=value', ...]) for all indexes of the table",
        refresh_index,
    ),
    function(
        "lance_refresh_indexes",
        "lance_refresh_indexes('table' [, 'option=value', ...])",
        refresh_indexes,
    ),
    function(
        "lance_optimize_index",
        "lance_optimize_index('table', 'index' [, 'option=value', ...]), \
         or lance_optimize_indexes('table' [, 'option=value', ...]) for all indexes of the table",
        optimize_index,
    ),
    function(
        "lance_optimize_indexes",
        "lance_optimize_indexes('table' [, 'option=value', ...])",
        optimize_indexes,
    ),
    function(
        "lance_drop_index",
        "lance_drop_index('table', 'index' [, 'if_exists=true'])",
        drop_index,
    ),
    function("lance_indexes", "lance_indexes('table')", indexes),
    function("lance_index_segments", "lance_index_segments('table' [, 'index'])", index_segments),
    function(
        "lance_show_create_index",
        "lance_show_create_index('table', 'index')",
        show_create_index,
    ),
    function(
        "lance_alter_index_set",
        "lance_alter_index_set('table', 'index', 'option=value' [, ...])",
        alter_index_set,
    ),
    function(
        "lance_alter_index_reset",
        "lance_alter_index_reset('table', 'index', 'option' [, ...])",
        alter_index_reset,
    ),
    function(
        "lance_optimize_table",
        "lance_optimize_table('table' [, 'option=value', ...])",
        optimize_table,
    ),
    function(
        "lance_vacuum_table",
        "lance_vacuum_table('table' [, 'option=value', ...])",
        vacuum_table,
    ),
];

fn create_index(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index, column) = (arguments.table()?, arguments.index()?, arguments.column()?);
    let method = arguments.method()?;
    let mut options = arguments.options()?;
    Ok(IndexStatement::CreateIndex(CreateIndex {
        or_replace: options.flag("or_replace")?,
        if_not_exists: options.flag("if_not_exists")?,
        index,
        table,
        method,
        column,
        options: options.with()?,
    }))
}

fn refresh_index(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.index()?);
    let (target, options) = (IndexTarget::One(index), arguments.options()?.with()?);
    Ok(IndexStatement::RefreshIndex(RefreshIndex { table, target, options }))
}

fn refresh_indexes(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let table = arguments.table()?;
    let (target, options) = (IndexTarget::All, arguments.options()?.with()?);
    Ok(IndexStatement::RefreshIndex(RefreshIndex { table, target, options }))
}

fn optimize_index(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.index()?);
    let (target, options) = (IndexTarget::One(index), arguments.options()?.with()?);
    Ok(IndexStatement::OptimizeIndex(OptimizeIndex { table, target, options }))
}

fn optimize_indexes(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let table = arguments.table()?;
    let (target, options) = (IndexTarget::All, arguments.options()?.with()?);
    Ok(IndexStatement::OptimizeIndex(OptimizeIndex { table, target, options }))
}

fn drop_index(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.index()?);
    let mut options = arguments.options()?;
    let if_exists = options.flag("if_exists")?;
    options.none()?;
    Ok(IndexStatement::DropIndex(DropIndex { table, index, if_exists }))
}

fn indexes(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    Ok(IndexStatement::ShowIndexes(ShowIndexes { table: arguments.table()? }))
}

fn index_segments(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.optional_index()?);
    Ok(IndexStatement::ShowIndexSegments(ShowIndexSegments { table, index }))
}

fn show_create_index(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.index()?);
    Ok(IndexStatement::ShowCreateIndex(ShowCreateIndex { table, index }))
}

fn alter_index_set(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.index()?);
    let options = arguments.some_options()?.with()?;
    Ok(IndexStatement::AlterIndexSet(AlterIndexSet { table, index, options }))
}

fn alter_index_reset(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, index) = (arguments.table()?, arguments.index()?);
    let mut options = vec![arguments.option_name()?];
    while arguments.left() > 0 {
        options.push(arguments.option_name()?);
    }
    Ok(IndexStatement::AlterIndexReset(AlterIndexReset { table, index, options }))
}

fn optimize_table(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, options) = (arguments.table()?, arguments.options()?.with()?);
    Ok(IndexStatement::OptimizeTable(OptimizeTable { table, options }))
}

fn vacuum_table(arguments: &mut Arguments) -> error::Result<IndexStatement> {
    let (table, options) = (arguments.table()?, arguments.options()?.with()?);
    Ok(IndexStatement::VacuumTable(VacuumTable { table, options }))
}

impl TableFunctionImpl for StatementFunction {
    fn call_with_args(&self, arguments: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let function = self.signature.name;
        let mut arguments = Arguments::of(self.signature, &arguments)?;
        let call = arguments.call();
        let statement = (self.read)(&mut arguments)?;
        arguments.finish()?;
        let schema = answer_schema(&statement)
            .map_err(|error| Error::in_function(function, error.into()))?;
        let table = Call { function, statement, schema, runs: Arc::default() };
        Ok(Arc::new(NamedCall::try_new(call, Arc::new(table))?))
    }
}

/// A call of a function, as the table of what its statement answers.
///
/// Planning a scan plans the statement, executing it carries it out.
#[derive(Debug)]
struct Call {
    function: &'static str,
    statement: IndexStatement,
    schema: SchemaRef,
    runs: Arc<Runs>,
}

#[async_trait]
impl TableProvider for Call {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    // A limit bounds the rows that are answered, not what is done.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
            return internal_err!("{} needs DataFusion's own session state", self.function);
        };
        let statement = lower_statement(state, &self.statement, false).await;
        let statement = statement.map_err(|error| Error::in_function(self.function, error))?;
        // The whole dry run, which has several lines, on the one that a node has.
        let dry_run = statement.to_string();
        let dry_run: Vec<&str> = dry_run.lines().map(str::trim).collect();
        let call = format!("{}, {}", self.function, dry_run.join("; "));
        let plan = plan_statement(&statement, state.config())
            .map_err(|error| Error::in_function(self.function, error.into()))?;
        Ok(Arc::new(OnceExec::try_new(call, plan, projection, self.runs.clone())?))
    }
}
