//! From logical nodes to execution: the only implementation of `ExtensionPlanner`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::{
    common::{Result, tree_node::TreeNode},
    execution::{SessionState, context::QueryPlanner},
    logical_expr::{LogicalPlan, UserDefinedLogicalNode},
    physical_plan::ExecutionPlan,
    physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner},
    prelude::SessionConfig,
};

use crate::{
    error,
    executor::SessionExecutor,
    logical::{Statement, StatementNode},
    physical::{answer::AnswerExec, commit::IndexCommitExec, compaction::CompactionCommitExec},
};

/// Plans this crate's statements and leaves everything else to the planner that was there before.
#[derive(Debug)]
pub(crate) struct LanceIndexQueryPlanner {
    pub previous: Option<Arc<dyn QueryPlanner + Send + Sync>>,
}

#[async_trait]
impl QueryPlanner for LanceIndexQueryPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        state: &SessionState,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match &self.previous {
            Some(previous) if !has_statement(plan)? => {
                previous.create_physical_plan(plan, state).await
            }
            _ => {
                let planner = Arc::new(StatementPlanner);
                let planner = DefaultPhysicalPlanner::with_extension_planners(vec![planner]);
                planner.create_physical_plan(plan, state).await
            }
        }
    }
}

fn has_statement(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(statement_of(node).is_some()))
}

fn statement_of(plan: &LogicalPlan) -> Option<&StatementNode> {
    match plan {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

struct StatementPlanner;

#[async_trait]
impl ExtensionPlanner for StatementPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        _physical_inputs: &[Arc<dyn ExecutionPlan>],
        state: &SessionState,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<StatementNode>() else {
            return Ok(None);
        };
        Ok(Some(plan_statement(&node.statement, state.config())?))
    }
}

/// The execution of a statement, for whichever part of a session asks for it.
///
/// # Errors
/// The session is set to an executor that it doesn't have.
pub(crate) fn plan_statement(
    statement: &Statement,
    config: &SessionConfig,
) -> error::Result<Arc<dyn ExecutionPlan>> {
    Ok(match statement {
        Statement::Maintain(maintain) => {
            Arc::new(IndexCommitExec::new(maintain.clone(), SessionExecutor::of(config)?))
        }
        Statement::Compact(compact) => {
            Arc::new(CompactionCommitExec::new(compact.clone(), SessionExecutor::of(config)?))
        }
        Statement::Drop(drop) => Arc::new(AnswerExec::new(drop.clone())),
        Statement::Show(show) => Arc::new(AnswerExec::new(show.clone())),
        Statement::ShowCreate(show) => Arc::new(AnswerExec::new(show.clone())),
        Statement::Alter(alter) => Arc::new(AnswerExec::new(alter.clone())),
        Statement::Vacuum(vacuum) => Arc::new(AnswerExec::new(vacuum.clone())),
    })
}
