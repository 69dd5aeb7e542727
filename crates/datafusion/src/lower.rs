//! From a typed statement to a logical plan: finds the table and the index, checks the options,
//! takes a snapshot and has a plan made. Changes nothing.

mod catalog;
mod chosen;
mod optimize;
mod refresh;
mod table;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::{
    catalog::TableProvider,
    common::{DataFusionError, Result as DataFusionResult},
    execution::SessionState,
    logical_expr::LogicalPlan,
    sql::{
        planner::object_name_to_table_reference,
        sqlparser::ast::{Ident, ObjectName},
    },
};
use lance_index_plan::{
    error::PlanError,
    plan::{Action, MaintenancePlan, Parallelism, Sizing},
};
use lance_index_sql::{CreateIndex, DropIndex, IndexStatement, SyntaxError, suggest};

use crate::{
    catalog::Catalog,
    error::{Error, Result},
    index_type::{DEFAULT_TYPE, INDEX_TYPES, IndexType, is_vector_method},
    logical::{IndexJob, Maintain, Statement, StatementNode},
    names::{find, folded, pick},
    options::CreateOptions,
    physical::{
        drop::DropIndex as DropIndexPlan,
        report,
        show::{self, Show},
        show_create,
    },
    planning,
    store::{definition, fields, indexes::is_system_name},
    table::{LanceTable, Target},
};

/// The plan of a statement; see [`lower_statement`].
pub(crate) async fn lower(
    state: &SessionState,
    statement: &IndexStatement,
    dry_run: bool,
) -> DataFusionResult<LogicalPlan> {
    StatementNode::plan(lower_statement(state, statement, dry_run).await?)
}

/// The schema of what a statement answers, which its kind alone determines.
///
/// # Errors
/// This version can't carry the statement out.
pub(crate) fn answer_schema(statement: &IndexStatement) -> Result<SchemaRef> {
    match statement {
        IndexStatement::CreateIndex(_) => Ok(report::maintenance_schema(Action::Create)),
        IndexStatement::RefreshIndex(_) => Ok(report::maintenance_schema(Action::Refresh)),
        IndexStatement::OptimizeIndex(_) => Ok(report::maintenance_schema(Action::Optimize)),
        IndexStatement::DropIndex(_) => Ok(report::drop_schema()),
        IndexStatement::ShowIndexes(_) => Ok(show::indexes_schema()),
        IndexStatement::ShowIndexSegments(_) => Ok(show::segments_schema()),
        IndexStatement::ShowCreateIndex(_) => Ok(show_create::schema()),
        IndexStatement::AlterIndexSet(_) | IndexStatement::AlterIndexReset(_) => {
            Ok(report::alter_schema())
        }
        IndexStatement::OptimizeTable(_) => Ok(report::compaction_schema()),
        IndexStatement::VacuumTable(_) => Ok(report::vacuum_schema()),
    }
}

/// A statement as it is to be carried out. A `dry_run` is one that is only looked at: what is found
/// out just for that is left out of others.
pub(crate) async fn lower_statement(
    state: &SessionState,
    statement: &IndexStatement,
    dry_run: bool,
) -> DataFusionResult<Statement> {
    let target = Arc::new(target(state, statement.table(), changes(statement)).await?);
    let target_partitions = state.config_options().execution.target_partitions;
    Ok(match statement {
        IndexStatement::CreateIndex(create) => {
            Statement::Maintain(lower_create(target, create, target_partitions).await?)
        }
        IndexStatement::RefreshIndex(refresh) => {
            Statement::Maintain(refresh::lower_refresh(target, refresh, target_partitions).await?)
        }
        IndexStatement::OptimizeIndex(optimize) => {
            Statement::Maintain(optimize::lower_optimize(target, optimize).await?)
        }
        IndexStatement::DropIndex(drop) => Statement::Drop(lower_drop(target, drop).await?),
        IndexStatement::ShowIndexes(_) => Statement::Show(Show::Indexes { target }),
        IndexStatement::ShowIndexSegments(show) => {
            let index = match &show.index {
                Some(ident) => {
                    Some(index_name(&Catalog::read(target.table()).await?, &target, ident)?)
                }
                None => None,
            };
            Statement::Show(Show::Segments { target, index })
        }
        IndexStatement::ShowCreateIndex(show) => {
            Statement::ShowCreate(catalog::lower_show_create(target, show).await?)
        }
        IndexStatement::AlterIndexSet(set) => {
            Statement::Alter(catalog::lower_set(target, set).await?)
        }
        IndexStatement::AlterIndexReset(reset) => {
            Statement::Alter(catalog::lower_reset(target, reset).await?)
        }
        IndexStatement::OptimizeTable(optimize) => {
            Statement::Compact(table::lower_optimize(target, optimize).await?)
        }
        IndexStatement::VacuumTable(vacuum) => {
            Statement::Vacuum(table::lower_vacuum(target, vacuum, dry_run).await?)
        }
    })
}

/// Whether the statement changes the table.
fn changes(statement: &IndexStatement) -> bool {
    !matches!(
        statement,
        IndexStatement::ShowIndexes(_)
            | IndexStatement::ShowIndexSegments(_)
            | IndexStatement::ShowCreateIndex(_)
    )
}

/// The Lance table of that name.
pub(crate) async fn lance_table(
    state: &SessionState,
    name: &ObjectName,
) -> DataFusionResult<Arc<dyn TableProvider>> {
    let normalize = state.config_options().sql_parser.enable_ident_normalization;
    let reference = object_name_to_table_reference(name.clone(), normalize)?;
    let schema = state.schema_for_ref(reference.clone())?;
    let Some(provider) = schema.table(reference.table()).await? else {
        return Err(DataFusionError::from(Error::invalid(format!(
            "there is no table '{name}'; CREATE EXTERNAL TABLE ... STORED AS LANCE names one"
        ))));
    };
    if LanceTable::of(provider.as_ref()).is_none() {
        return Err(Error::invalid(format!("table '{name}' is not a Lance table")).into());
    }
    Ok(provider)
}

/// The Lance table of that name, at its latest version; one that can be changed, if the statement
/// does.
async fn target(
    state: &SessionState,
    name: &ObjectName,
    changes: bool,
) -> DataFusionResult<Target> {
    let provider = lance_table(state, name).await?;
    let Some(table) = LanceTable::of(provider.as_ref()) else {
        return Err(Error::internal(format!("table '{name}' is of another kind")).into());
    };
    if changes {
        table.check_writable(&name.to_string())?;
    }
    let latest = table.latest().await?;
    Ok(Target::new(name.to_string(), latest.as_ref().clone()))
}

/// The exact name of the index that a statement means.
fn index_name(catalog: &Catalog, target: &Target, ident: &Ident) -> Result<String> {
    refuse_system_name(ident)?;
    let names = catalog.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = format!(" on table {}", target.name());
    Ok(names[pick(ident, &names, "index", &place)?].to_string())
}

fn refuse_system_name(ident: &Ident) -> Result<()> {
    if is_system_name(&ident.value) {
        return Err(SyntaxError {
            what: format!("'{}' is a name of Lance's own indexes", ident.value),
            hint: Some("they are maintained by Lance itself".to_string()),
            span: ident.span,
        }
        .into());
    }
    Ok(())
}

async fn lower_create(
    target: Arc<Target>,
    create: &CreateIndex,
    target_partitions: usize,
) -> Result<Maintain> {
    refuse_system_name(&create.index)?;
    if create.index.value.trim().is_empty() {
        return Err(SyntaxError {
            what: "an index needs a name that isn't blank".to_string(),
            hint: None,
            span: create.index.span,
        }
        .into());
    }
    if create.or_replace && create.if_not_exists {
        return Err(SyntaxError {
            what: "OR REPLACE and IF NOT EXISTS exclude each other".to_string(),
            hint: None,
            span: create.index.span,
        }
        .into());
    }
    let index_type = method(create)?;
    let options = CreateOptions::try_new(&create.options, index_type)?;
    let table = target.table();
    let names = Catalog::read(table).await?.names();
    let existing =
        find(&create.index, &names.iter().map(String::as_str).collect::<Vec<_>>(), "index")?;
    let name = existing.map_or_else(|| folded(&create.index), |at| names[at].clone());
    if existing.is_some() && !create.or_replace && !create.if_not_exists {
        return Err(PlanError::AlreadyExists(name).into());
    }
    let field = fields::resolve(table, &create.column)?;
    let definition = definition::requested(table, &name, field, index_type, &options.parameters)?;
    let parallelism = Parallelism { num_segments: options.num_segments, target_partitions };
    let action = if create.or_replace { Action::Replace } else { Action::Create };
    let plan = if existing.is_some() && create.if_not_exists {
        MaintenancePlan {
            read_version: table.number(),
            action,
            definition,
            segments: Vec::new(),
            units: Vec::new(),
            superseded: Vec::new(),
            retired: Vec::new(),
            skipped: Vec::new(),
        }
    } else {
        definition::check_supported(table, &definition)?;
        let (replace, train) = (create.or_replace, options.train);
        planning::create(table, definition, replace, train, parallelism).await?.0
    };
    let sizing = Sizing::Parallel(parallelism);
    let jobs = vec![IndexJob::Run { plan: Arc::new(plan), sizing }];
    Ok(Maintain { target, action, if_not_exists: create.if_not_exists, jobs })
}

/// The index type of a CREATE.
fn method(create: &CreateIndex) -> Result<&'static IndexType> {
    let Some(method) = &create.method else {
        return Ok(DEFAULT_TYPE);
    };
    let written = method.as_written();
    if let Some(index_type) = IndexType::by_name(written) {
        return Ok(index_type);
    }
    let names: Vec<&str> = INDEX_TYPES.iter().map(|index_type| index_type.name).collect();
    let advice = if is_vector_method(written) {
        "Lance's own create_index makes vector indexes; ".to_string()
    } else {
        let nearest = suggest(written, &names);
        nearest.map(|nearest| format!("did you mean {nearest}? ")).unwrap_or_default()
    };
    Err(SyntaxError {
        what: format!("there is no index method '{written}'"),
        hint: Some(format!(
            "{advice}the methods are {} (fts is also called inverted)",
            IndexType::names()
        )),
        span: method.span(),
    }
    .into())
}

async fn lower_drop(target: Arc<Target>, drop: &DropIndex) -> Result<DropIndexPlan> {
    refuse_system_name(&drop.index)?;
    let catalog = Catalog::read(target.table()).await?;
    let names = catalog.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if drop.if_exists && find(&drop.index, &names, "index")?.is_none() {
        return Ok(DropIndexPlan { target, index: folded(&drop.index), if_exists: true });
    }
    let index = index_name(&catalog, &target, &drop.index)?;
    Ok(DropIndexPlan { target, index, if_exists: drop.if_exists })
}
