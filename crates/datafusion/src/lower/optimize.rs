//! `OPTIMIZE INDEX` and `OPTIMIZE INDEXES`.

use std::sync::Arc;

use lance_index_plan::plan::{Action, Sizing};
use lance_index_sql::OptimizeIndex;

use super::chosen::Chosen;
use crate::{
    catalog::Catalog,
    error::Result,
    logical::{IndexJob, Maintain},
    options::{OptimizeIndexOptions, Strategy},
    physical::delegate::Delegate,
    planning,
    store::{definition, version::TableVersion},
    table::Target,
};

pub(super) async fn lower_optimize(
    target: Arc<Target>,
    optimize: &OptimizeIndex,
) -> Result<Maintain> {
    let options = OptimizeIndexOptions::try_new(&optimize.options)?;
    let catalog = Catalog::read(target.table()).await?;
    let chosen = Chosen::new(&catalog, &target, &optimize.target)?;
    let mut jobs = Vec::new();
    for index in &chosen.names {
        if let Some(job) = chosen.left_out(&catalog, index).await {
            jobs.push(job);
            continue;
        }
        if let Err(error) = catalog.check_type(index).await {
            jobs.push(chosen.job(index, Err(error))?);
            continue;
        }
        let newest = catalog.indexes().segments(index).last();
        let strategy = match (catalog.index_type(index).await, newest) {
            (None, Some(newest)) => {
                options.for_foreign_index(index, &definition::type_name(newest)).map(Strategy::Core)
            }
            // Of one that can't be read, planning says so.
            (index_type, _) => {
                let index_type = index_type.map(|it| it.name).unwrap_or_default();
                options.for_index(index, index_type, catalog.policy(index).await?)
            }
        };
        jobs.push(match strategy {
            Ok(strategy) => chosen.job(index, plan(target.table(), index, strategy).await)?,
            Err(error) if chosen.by_name => return Err(error),
            // What one index has no use for may be meant for another.
            Err(error) => IndexJob::Skipped { index: index.clone(), reason: error.to_string() },
        });
    }
    Ok(Maintain { target, action: Action::Optimize, if_not_exists: false, jobs })
}

async fn plan(table: &TableVersion, index: &str, strategy: Strategy) -> Result<IndexJob> {
    match strategy {
        Strategy::Tiered(policy) => {
            let (plan, _) = planning::optimize(table, index, None, &policy).await?;
            Ok(IndexJob::Run { plan: Arc::new(plan), sizing: Sizing::Tiered(policy) })
        }
        Strategy::Core(core) => {
            let (plan, unindexed) = planning::delegate(table, index, core.retrain).await?;
            Ok(IndexJob::Delegate(Delegate { plan: Arc::new(plan), unindexed, core }))
        }
    }
}
