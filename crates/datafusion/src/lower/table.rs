//! The statements about a table as a whole.

use std::sync::Arc;

use lance_index_sql::{OptimizeTable, VacuumTable};
use roaring::RoaringBitmap;

use crate::{
    error::Result,
    options::{OptimizeTableOptions, VacuumTableOptions},
    physical::{
        compaction::Compact,
        vacuum::{DryRun, Vacuum},
    },
    store::{compact, vacuum},
    table::Target,
};

pub(super) async fn lower_optimize(
    target: Arc<Target>,
    optimize: &OptimizeTable,
) -> Result<Compact> {
    let options = OptimizeTableOptions::try_new(&optimize.options)?;
    let compaction = compact::plan(target.table(), &options, &RoaringBitmap::new()).await?;
    Ok(Compact { target, options, compaction: Arc::new(compaction) })
}

/// Lists the table's files only for a dry run: the execution has to look again in any case.
pub(super) async fn lower_vacuum(
    target: Arc<Target>,
    vacuum: &VacuumTable,
    dry_run: bool,
) -> Result<Vacuum> {
    let options = VacuumTableOptions::try_new(&vacuum.options)?;
    let dry_run = if dry_run {
        let (removal, branches) = vacuum::explain(target.table(), &options).await?;
        Some(DryRun { removal, branches })
    } else {
        None
    };
    Ok(Vacuum { target, options, dry_run })
}
