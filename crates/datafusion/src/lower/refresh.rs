//! `REFRESH INDEX` and `REFRESH INDEXES`.

use std::sync::Arc;

use lance_index_plan::plan::{Action, Parallelism, Sizing};
use lance_index_sql::RefreshIndex;

use super::chosen::Chosen;
use crate::{
    catalog::Catalog,
    error::Result,
    logical::{IndexJob, Maintain},
    options::RefreshOptions,
    planning,
    table::Target,
};

pub(super) async fn lower_refresh(
    target: Arc<Target>,
    refresh: &RefreshIndex,
    target_partitions: usize,
) -> Result<Maintain> {
    let catalog = Catalog::read(target.table()).await?;
    let chosen = Chosen::new(&catalog, &target, &refresh.target)?;
    if chosen.names.is_empty() {
        RefreshOptions::check_names(&refresh.options)?;
    }
    let mut jobs = Vec::new();
    for index in &chosen.names {
        if let Some(job) = chosen.left_out(&catalog, index).await {
            jobs.push(job);
            continue;
        }
        let planned = plan(&target, &catalog, refresh, index, target_partitions).await;
        jobs.push(chosen.job(index, planned)?);
    }
    Ok(Maintain { target, action: Action::Refresh, if_not_exists: false, jobs })
}

async fn plan(
    target: &Target,
    catalog: &Catalog,
    refresh: &RefreshIndex,
    index: &str,
    target_partitions: usize,
) -> Result<IndexJob> {
    // An index of an unknown type has no options to check; planning says what it is.
    let options = match catalog.index_type(index).await {
        Some(index_type) => Some(RefreshOptions::try_new(&refresh.options, index_type)?),
        None => None,
    };
    let num_segments = options.as_ref().and_then(|options| options.num_segments);
    let parallelism = Parallelism { num_segments, target_partitions };
    let (plan, _) = planning::refresh(target.table(), index, None, parallelism).await?;
    if let Some(options) = options.filter(RefreshOptions::states_parameters) {
        let parameters = planning::parameters(target.table(), &plan.definition).await?;
        options.check_stated(index, &parameters)?;
    }
    Ok(IndexJob::Run { plan: Arc::new(plan), sizing: Sizing::Parallel(parallelism) })
}
