//! The statements as nodes of a logical plan. Planning has happened by then, so that EXPLAIN is a
//! dry run; nothing has been done.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use arrow::datatypes::SchemaRef;
use datafusion::{
    common::{DFSchema, DFSchemaRef, Result},
    logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore},
};
use lance_index_plan::{
    plan::{Action, MaintenancePlan, Reason, Sizing},
    tiers::Skipped,
};

use crate::{
    physical::{
        alter::AlterIndex, answer::Answer, compaction::Compact, delegate::Delegate,
        drop::DropIndex, report, show::Show, show_create::ShowCreateIndex, vacuum::Vacuum,
    },
    table::Target,
};

/// `CREATE INDEX`, `REFRESH` and `OPTIMIZE INDEX`: what is to be done to each index of the statement.
#[derive(Debug, Clone)]
pub(crate) struct Maintain {
    pub target: Arc<Target>,
    pub action: Action,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    pub jobs: Vec<IndexJob>,
}

/// What is to be done to one index.
#[derive(Debug, Clone)]
pub(crate) enum IndexJob {
    Run {
        plan: Arc<MaintenancePlan>,
        sizing: Sizing,
    },
    /// Lance's own optimization maintains it.
    Delegate(Delegate),
    /// It is of a type that the statement doesn't maintain.
    Skipped {
        index: String,
        reason: String,
    },
    /// No plan could be made; the other indexes of the statement are done all the same.
    Unplannable {
        index: String,
        reason: String,
    },
}

/// One line per index, work unit and existing segment that doesn't stay.
impl fmt::Display for IndexJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, how) = match self {
            Self::Run { plan, sizing: Sizing::Tiered(policy) } => (plan, format!(", {policy}")),
            Self::Run { plan, .. } => (plan, String::new()),
            Self::Delegate(delegate) => return write!(f, "\n  Index: {delegate}"),
            Self::Skipped { index, reason } => {
                return write!(f, "\n  Index: {index}, skipped: {reason}");
            }
            Self::Unplannable { index, reason } => {
                return write!(f, "\n  Index: {index}, fails: {reason}");
            }
        };
        let definition = &plan.definition;
        write!(
            f,
            "\n  Index: {} USING {} ({}), read version {}{how}",
            definition.name, definition.index_type, definition.field.column, plan.read_version
        )?;
        if plan.is_empty() {
            write!(f, "\n    nothing to do")?;
        }
        for unit in &plan.units {
            write!(f, "\n    {unit}")?;
        }
        // A merge names its inputs itself.
        for superseded in plan.superseded.iter().filter(|it| it.reason != Reason::Merged) {
            write!(f, "\n    Supersede segment={}: {}", superseded.uuid, superseded.reason)?;
        }
        for uuid in &plan.retired {
            write!(f, "\n    Retire segment={uuid}: none of its fragments is left")?;
        }
        for Skipped { uuid, tier, reason } in &plan.skipped {
            let tier = tier.map_or_else(|| "unknown".to_string(), |tier| tier.to_string());
            write!(f, "\n    Skip segment={uuid} tier={tier}: {reason}")?;
        }
        Ok(())
    }
}

impl Maintain {
    /// The statement's verb and table.
    pub(crate) fn title(&self) -> String {
        let verb = match self.action {
            Action::Create => "CREATE INDEX",
            Action::Replace => "CREATE OR REPLACE INDEX",
            Action::Refresh => "REFRESH",
            Action::Optimize => "OPTIMIZE",
        };
        format!("{verb} ON {}", self.target.name())
    }
}

/// A statement as a node.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    Maintain(Maintain),
    Drop(DropIndex),
    Show(Show),
    ShowCreate(ShowCreateIndex),
    Alter(AlterIndex),
    Compact(Compact),
    Vacuum(Vacuum),
}

impl Statement {
    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Self::Maintain(maintain) => report::maintenance_schema(maintain.action),
            Self::Drop(drop) => drop.schema(),
            Self::Show(show) => show.schema(),
            Self::ShowCreate(show) => show.schema(),
            Self::Alter(alter) => alter.schema(),
            Self::Compact(_) => report::compaction_schema(),
            Self::Vacuum(vacuum) => vacuum.schema(),
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Maintain(maintain) => {
                write!(f, "MaintainIndex: {}", maintain.title())?;
                maintain.jobs.iter().try_for_each(|job| write!(f, "{job}"))
            }
            Self::Drop(drop) => write!(f, "DropIndex: {drop}"),
            Self::Show(show) => write!(f, "{show}"),
            Self::ShowCreate(show) => write!(f, "ShowCreateIndex: {show}"),
            Self::Alter(alter) => write!(f, "AlterIndex: {alter}"),
            Self::Compact(compact) => write!(f, "CompactTable: {compact}"),
            Self::Vacuum(vacuum) => {
                write!(f, "VacuumTable: {vacuum}")?;
                vacuum.dry_run.iter().try_for_each(|dry_run| write!(f, "{dry_run}"))
            }
        }
    }
}

/// The one extension node of this crate.
#[derive(Clone)]
pub(crate) struct StatementNode {
    pub statement: Arc<Statement>,
    schema: DFSchemaRef,
}

impl StatementNode {
    /// The statement as a plan.
    pub(crate) fn plan(statement: Statement) -> Result<LogicalPlan> {
        let schema = Arc::new(DFSchema::try_from(statement.schema())?);
        let node = Self { statement: Arc::new(statement), schema };
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
    }
}

// Some formats of EXPLAIN print nodes this way.
impl fmt::Debug for StatementNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.statement)
    }
}

// A statement acts, so no two are interchangeable: a node is equal to itself and its clones.
impl PartialEq for StatementNode {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.statement, &other.statement)
    }
}

impl Eq for StatementNode {}

impl PartialOrd for StatementNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for StatementNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.statement).hash(state);
    }
}

impl UserDefinedLogicalNodeCore for StatementNode {
    fn name(&self) -> &str {
        "LanceIndexStatement"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.statement)
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
}
