//! Lance's own optimization of one index.

use std::collections::{HashMap, HashSet};

use lance::index::optimize::{IndexSegmentResult, commit_optimize_indices, plan_optimize_indices};
use lance_index::optimize::OptimizeOptions;
use lance_table::format::IndexMetadata;
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{
    built::BuiltSegment,
    commit::{Committed, JOB_KEY, answered},
    indexes::Indexes,
    publish::discard,
    version::TableVersion,
};
use crate::{
    error::{Error, ErrorKind, Result},
    options::CoreOptimize,
};

/// Has Lance optimize the index, and commits what came of it. `None`: there was nothing to do.
///
/// # Errors
/// Whatever Lance says; nothing was committed.
pub(crate) async fn optimize(
    table: &TableVersion,
    index: &str,
    request: CoreOptimize,
) -> Result<Option<Committed>> {
    let failed = |error| Error::lance(format!("Lance optimized index '{index}'"), error);
    let job = Uuid::new_v4();
    let properties = HashMap::from([(JOB_KEY.to_string(), job.to_string())]);
    let mut options = OptimizeOptions::new()
        .index_names(vec![index.to_string()])
        .num_indices_to_merge(request.num_indices_to_merge.map(|number| number as usize))
        .transaction_properties(properties);
    options.retrain = request.retrain;
    let mut dataset = table.dataset.clone();
    let plan = plan_optimize_indices(&dataset, &options).await.map_err(failed)?;
    let mut built = Vec::new();
    for task in &plan.tasks {
        match task.execute(&dataset).await.map_err(failed)? {
            Some(result) => built.push(result),
            // So it answers also where it can't open a segment.
            None if !task.fragments.is_empty() => {
                return Err(Error::new(
                    ErrorKind::Failed,
                    format!("Lance could not index the new rows of index '{index}'"),
                ));
            }
            None => {}
        }
    }
    let mut results = Vec::new();
    for merge in &plan.merges {
        results.extend(merge.execute(&dataset, &built).await.map_err(failed)?);
    }
    if results.is_empty() {
        return Ok(None);
    }
    let written = |result: &IndexSegmentResult| BuiltSegment { metadata: result.segment.clone() };
    let written: Vec<BuiltSegment> = results.iter().map(written).collect();
    // What has begun to commit goes on when the statement is dropped.
    let committing = tokio::spawn(async move {
        let committed = commit_optimize_indices(&mut dataset, results, &options).await;
        committed.map(|()| dataset)
    });
    match committing.await {
        Ok(Ok(dataset)) => Ok(Some(Committed::Done(Box::new(table.with(dataset))))),
        Ok(Err(error)) => {
            let answered = answered(table, job, error).await?;
            if let Committed::Conflict(_) = answered {
                discard(table, &written).await;
            }
            Ok(Some(answered))
        }
        Err(error) => Err(Error::cut_short("SHOW INDEXES", &error)),
    }
}

/// How the segments of an index differ between two versions.
#[derive(Debug)]
pub(crate) struct Change {
    pub before: u64,
    pub after: u64,
    pub added: Vec<Uuid>,
    pub removed: u64,
    pub bytes_added: u64,
    /// Live fragments that only the later ones cover.
    pub newly_covered: RoaringBitmap,
}

/// Compares an index between two versions.
pub(crate) async fn compare(
    name: &str,
    before: &TableVersion,
    after: &TableVersion,
) -> Result<Change> {
    let live = after.fragments();
    let (before, after) = (Indexes::read(before).await?, Indexes::read(after).await?);
    let newly_covered = (after.covered(name) & live) - before.covered(name);
    let (before, after) = (before.segments(name), after.segments(name));
    let not_in = |segments: &[IndexMetadata], others: &[IndexMetadata]| {
        let others: HashSet<Uuid> = others.iter().map(|segment| segment.uuid).collect();
        let new = segments.iter().filter(|segment| !others.contains(&segment.uuid));
        new.cloned().collect::<Vec<_>>()
    };
    let added = not_in(after, before);
    Ok(Change {
        before: before.len() as u64,
        after: after.len() as u64,
        removed: not_in(before, after).len() as u64,
        bytes_added: added.iter().filter_map(IndexMetadata::total_size_bytes).sum(),
        added: added.iter().map(|segment| segment.uuid).collect(),
        newly_covered,
    })
}
