//! Builds a segment from rows.

use std::sync::Arc;

use async_trait::async_trait;
use lance::index::{CreateIndexBuilder, DatasetIndexExt};
use lance_index::{progress::IndexBuildProgress, scalar::ScalarIndexParams};
use lance_index_plan::{snapshot::IndexDefinition, work::WorkUnit};
use uuid::Uuid;

use super::{built::BuiltSegment, version::TableVersion};
use crate::{
    error::{Error, Result},
    index_type::IndexType,
    progress::AttemptProgress,
};

/// Builds the unit's segment from the rows that its fragments have at `version`.
///
/// # Errors
/// Whatever Lance says. Files that were written by then are left to Lance's cleanup.
pub(crate) async fn build(
    table: &TableVersion,
    version: u64,
    definition: &IndexDefinition,
    unit: &WorkUnit,
    progress: AttemptProgress,
) -> Result<BuiltSegment> {
    let mut dataset = table.at(version).await?.dataset;
    let index_type = IndexType::of(definition)?;
    let failed =
        |error| Error::lance(format!("building index '{}' ({unit})", definition.name), error);
    let lance_type = lance_index::IndexType::try_from(index_type.lance_name).map_err(failed)?;
    let params = ScalarIndexParams {
        index_type: index_type.lance_name.to_lowercase(),
        params: Some(definition.parameters.clone()),
    };
    let columns = [definition.field.path.as_str()];
    // Lance checks the name against the indexes that are there, so none of them may have it; the
    // segment gets its index's name below.
    let mut builder = CreateIndexBuilder::new(&mut dataset, &columns, lance_type, &params)
        .name(Uuid::new_v4().to_string())
        .progress(Arc::new(RowsTold { stage: index_type.storage.stage_of_rows(), progress }))
        .replace(true);
    builder = if unit.fragments.is_empty() {
        builder.train(false)
    } else {
        builder.fragments(unit.fragments.iter().collect())
    };
    let mut segment = builder.execute_uncommitted().await.map_err(failed)?;
    if index_type.storage.is_staged() && !unit.fragments.is_empty() {
        segment = dataset.merge_existing_index_segments(vec![segment]).await.map_err(failed)?;
    }
    segment.name = definition.name.clone();
    segment.fragment_bitmap = Some(unit.fragments.clone());
    Ok(BuiltSegment { metadata: segment })
}

/// Passes on what Lance tells while it builds.
#[derive(Debug)]
struct RowsTold {
    /// The stage that counts rows.
    stage: Option<&'static str>,
    progress: AttemptProgress,
}

#[async_trait]
impl IndexBuildProgress for RowsTold {
    async fn stage_start(&self, _: &str, _: Option<u64>, _: &str) -> lance_core::Result<()> {
        Ok(())
    }

    async fn stage_progress(&self, stage: &str, completed: u64) -> lance_core::Result<()> {
        if self.stage == Some(stage) {
            self.progress.rows_done(completed);
        }
        Ok(())
    }

    async fn stage_complete(&self, _: &str) -> lance_core::Result<()> {
        Ok(())
    }
}
