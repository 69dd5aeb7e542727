//! What a DataFusion session needs to know Lance tables and their statements.

use std::{str::FromStr, sync::Arc};

use async_trait::async_trait;
use datafusion::{
    catalog::TableFunction,
    common::{Result, TableReference, format::ExplainFormat, not_impl_err, plan_err},
    dataframe::DataFrame,
    execution::{SessionState, SessionStateBuilder},
    logical_expr::{ExplainOption, LogicalPlan, LogicalPlanBuilder},
    prelude::{SessionConfig, SessionContext},
    sql::{parser, sqlparser::dialect::dialect_from_str},
};
use lance_index_sql::{Explain, LanceIndexDialect, ParsedStatement, StatementParser};

use crate::{
    dml::DmlRule,
    executor::{ExecutorFactories, ExecutorFactory, SessionExecutor, WorkExecutor},
    functions,
    lower::lower,
    planner::LanceIndexQueryPlanner,
    settings::LanceIndexSettings,
    table::{LanceTable, LanceTableFactory},
};

/// Adds Lance tables and index maintenance to a session.
pub trait SessionStateBuilderExt {
    /// Adds `STORED AS LANCE`, INSERT OVERWRITE, DELETE and UPDATE of Lance tables, the settings `lance_index.*`, the
    /// [functions], and the execution of index statements. The session's query
    /// planner goes on planning everything else.
    fn with_lance_index(self) -> Self;
}

impl SessionStateBuilderExt for SessionStateBuilder {
    fn with_lance_index(mut self) -> Self {
        let previous = self.query_planner().take();
        let config = self.config().get_or_insert_default();
        let extensions = &mut config.options_mut().extensions;
        if extensions.get::<LanceIndexSettings>().is_none() {
            extensions.insert(LanceIndexSettings::default());
        }
        let named = |function: Arc<TableFunction>| (function.name().to_string(), function);
        self.table_functions()
            .get_or_insert_default()
            .extend(functions::table_functions().into_iter().map(named));
        self.scalar_functions().get_or_insert_default().extend(functions::scalar_functions());
        self.with_query_planner(Arc::new(LanceIndexQueryPlanner { previous }))
            .with_analyzer_rule(Arc::new(DmlRule))
            .with_table_factory("LANCE".to_string(), Arc::new(LanceTableFactory))
    }
}

/// Chooses where work units run.
pub trait SessionConfigExt {
    /// Work units run on this executor instead of in this process, unless
    /// `lance_index.executor` is set.
    fn with_work_executor(self, executor: Arc<dyn WorkExecutor>) -> Self;

    /// Lets `SET lance_index.executor` choose the executor that this factory makes.
    fn with_executor_factory(self, factory: Arc<dyn ExecutorFactory>) -> Self;
}

impl SessionConfigExt for SessionConfig {
    fn with_work_executor(self, executor: Arc<dyn WorkExecutor>) -> Self {
        self.with_extension(Arc::new(SessionExecutor(executor)))
    }

    fn with_executor_factory(self, factory: Arc<dyn ExecutorFactory>) -> Self {
        let known = self.get_extension::<ExecutorFactories>();
        let mut factories = known.as_deref().cloned().unwrap_or_default();
        factories.0.push(factory);
        self.with_extension(Arc::new(factories))
    }
}

/// `SessionContext::sql` that also understands index statements.
#[async_trait]
pub trait SessionContextExt {
    /// Runs a text of one or several statements. All but the last are run to their end; the
    /// answer is the last one's.
    ///
    /// A text is read statement by statement: those before a wrong one have been run when its
    /// error is returned, those after it are not.
    ///
    /// # Errors
    /// The first error of any of them. Positions in parse errors are in the whole text.
    async fn lance_sql(&self, sql: &str) -> Result<DataFrame>;

    /// The session's dialect with this crate's statements, for
    /// [`StatementParser`].
    fn lance_dialect(&self) -> LanceIndexDialect;

    /// Teaches a session that is there already what
    /// [`with_lance_index`](SessionStateBuilderExt::with_lance_index) teaches a new one. Its
    /// prepared statements are forgotten.
    fn register_lance_index(&self);

    /// Plans one statement. Statements of this crate, and queries, act when the answer is
    /// collected; DataFusion's own DDL acts at once.
    async fn lance_statement(&self, statement: &ParsedStatement) -> Result<DataFrame>;
}

#[async_trait]
impl SessionContextExt for SessionContext {
    async fn lance_sql(&self, sql: &str) -> Result<DataFrame> {
        let recursion_limit = self.state().config_options().sql_parser.recursion_limit;
        // The parser can't be held while a statement runs, so all of the text is read first.
        let statements: Vec<_> = {
            let dialect = self.lance_dialect();
            StatementParser::with_recursion_limit(sql, &dialect, recursion_limit)?.collect()
        };
        let mut last = None;
        for parsed in statements {
            // Whatever came before is run to its end first, also if this one is wrong.
            if let Some(previous) = last.take() {
                DataFrame::collect(previous).await?;
            }
            last = Some(self.lance_statement(&parsed?.statement).await?);
        }
        match last {
            Some(last) => Ok(last),
            None => plan_err!("there is no statement in the text"),
        }
    }

    fn lance_dialect(&self) -> LanceIndexDialect {
        let state = self.state();
        match dialect_from_str(state.config_options().sql_parser.dialect) {
            Some(base) => LanceIndexDialect::new(base),
            None => LanceIndexDialect::default(),
        }
    }

    fn register_lance_index(&self) {
        let state = self.state_ref();
        let mut state = state.write();
        // DataFusion lets a session that is built take functions and table formats, but no query
        // planner: that takes a new state in the place of the old one.
        let creates_catalog = state.config().create_default_catalog_and_schema();
        let mut with_lance_index = SessionStateBuilder::new_from_existing(state.clone())
            .with_session_id(state.session_id().to_string())
            .with_lance_index()
            .build();
        let catalog = &mut with_lance_index.config_mut().options_mut().catalog;
        catalog.create_default_catalog_and_schema = creates_catalog;
        *state = with_lance_index;
    }

    async fn lance_statement(&self, statement: &ParsedStatement) -> Result<DataFrame> {
        let state = self.state();
        let plan = match statement {
            ParsedStatement::Index(statement) => lower(&state, statement, false).await?,
            ParsedStatement::Explain(explain) => explain_plan(&state, explain).await?,
            ParsedStatement::Other(statement) => {
                follow_writes(&state, statement).await?;
                state.statement_to_plan(statement.as_ref().clone()).await?
            }
        };
        self.execute_logical_plan(plan).await
    }
}

async fn explain_plan(state: &SessionState, explain: &Explain) -> Result<LogicalPlan> {
    let plan = lower(state, &explain.statement, !explain.analyze).await?;
    let format = match &explain.format {
        Some(_) if explain.analyze => return not_impl_err!("EXPLAIN ANALYZE with FORMAT"),
        Some(_) if explain.verbose => return not_impl_err!("EXPLAIN VERBOSE with FORMAT"),
        Some(format) => ExplainFormat::from_str(format)?,
        None if explain.verbose => ExplainFormat::Indent,
        None => state.config_options().explain.format.clone(),
    };
    let (verbose, analyze) = (explain.verbose, explain.analyze);
    LogicalPlanBuilder::from(plan)
        .explain_option_format(ExplainOption { verbose, analyze, format })?
        .build()
}

/// Has the Lance tables of a statement look for a newer version, so that it is planned with the
/// columns that they have now.
async fn follow_writes(state: &SessionState, statement: &parser::Statement) -> Result<()> {
    for reference in state.resolve_table_references(statement)? {
        let reference: TableReference = reference;
        let Ok(schema) = state.schema_for_ref(reference.clone()) else { continue };
        let Ok(Some(provider)) = schema.table(reference.table()).await else { continue };
        let provider: &dyn std::any::Any = provider.as_ref();
        if let Some(table) = provider.downcast_ref::<LanceTable>() {
            table.latest().await?;
        }
    }
    Ok(())
}
