//! The one commit of a statement.

use std::{collections::HashMap, sync::Arc};

use lance::dataset::{
    CommitBuilder,
    transaction::{Operation, TransactionBuilder},
};
use lance_table::format::IndexMetadata;
use uuid::Uuid;

use super::{build::BuiltSegment, history, indexes::Indexes, version::TableVersion};
use crate::error::{Error, ErrorKind, Result};

/// The transaction property that holds the id of one attempt to publish.
const JOB_KEY: &str = "lance_index.job";

/// What became of an attempt to publish.
#[derive(Debug)]
pub(crate) enum Publication {
    /// It made this version.
    Done(Box<TableVersion>),
    /// Another writer's commit stands in its way; nothing was committed.
    Conflict(lance::Error),
}

/// Adds and removes segments of one index in one transaction, anchored at a version: Lance checks
/// it against everything that was committed since. `latest` is where the segments to remove are
/// listed.
///
/// # Errors
/// [`OutcomeUnknown`](ErrorKind::OutcomeUnknown) if the commit's answer was lost and neither the
/// history nor the list of indexes tells whether it happened; otherwise nothing was committed.
pub(crate) async fn publish(
    anchor: &TableVersion,
    latest: &TableVersion,
    index: &str,
    added: &[BuiltSegment],
    removed: &[Uuid],
) -> Result<Publication> {
    let added: Vec<IndexMetadata> = added.iter().map(|built| built.metadata.clone()).collect();
    let indexes = Indexes::read(latest).await?;
    let named = indexes.segments(index).iter();
    let removed = named.filter(|segment| removed.contains(&segment.uuid)).cloned().collect();
    let job = Uuid::new_v4();
    let uuids: Vec<Uuid> = added.iter().map(|segment| segment.uuid).collect();
    let properties = HashMap::from([(JOB_KEY.to_string(), job.to_string())]);
    let since = anchor.number();
    let operation = Operation::CreateIndex { new_indices: added, removed_indices: removed };
    let transaction = TransactionBuilder::new(since, operation)
        .transaction_properties(Some(Arc::new(properties)))
        .build();
    let sent = CommitBuilder::new(Arc::new(anchor.dataset.clone())).execute(transaction).await;
    match sent {
        Ok(dataset) => Ok(Publication::Done(Box::new(TableVersion::new(dataset)))),
        Err(
            error @ (lance::Error::RetryableCommitConflict { .. }
            | lance::Error::CommitConflict { .. }
            | lance::Error::TooMuchWriteContention { .. }),
        ) => Ok(Publication::Conflict(error)),
        Err(error @ lance::Error::IncompatibleTransaction { .. }) => Err(Error::conflict(format!(
            "the table was overwritten or restored while the statement ran; nothing was \
             committed: {error}"
        ))),
        Err(error) => settle(anchor, index, since, job, &uuids, error).await,
    }
}

/// Finds out whether a commit that answered with an error happened all the same.
async fn settle(
    anchor: &TableVersion,
    index: &str,
    since: u64,
    job: Uuid,
    uuids: &[Uuid],
    error: lance::Error,
) -> Result<Publication> {
    let unknown = |error: &lance::Error| {
        Error::new(
            ErrorKind::OutcomeUnknown,
            format!(
                "the commit was sent and its answer lost; SHOW INDEX SEGMENTS tells whether it \
                 happened (job {job}): {error}"
            ),
        )
    };
    let Ok(latest) = anchor.latest().await else {
        return Err(unknown(&error));
    };
    match history::version_of_job(&latest, since, JOB_KEY, job).await {
        Ok(Some(version)) => {
            let committed = latest.at(version).await;
            let committed = committed.map_err(|error| Error::committed(version, index, &error))?;
            Ok(Publication::Done(Box::new(committed)))
        }
        Ok(None) => {
            let seen = latest.number();
            Err(Error::failed(format!("committing (no version up to {seen} has it)"), error))
        }
        Err(()) => {
            let indexes = Indexes::read(&latest).await.map_err(|_| unknown(&error))?;
            let committed = |uuid: &Uuid| indexes.all().any(|segment| segment.uuid == *uuid);
            if !uuids.is_empty() && uuids.iter().all(committed) {
                Ok(Publication::Done(Box::new(latest)))
            } else {
                Err(unknown(&error))
            }
        }
    }
}

/// Removes the files of segments that were built and never published. One that the latest manifest
/// names all the same is kept.
///
/// What can't be removed is left to Lance's cleanup: this never fails.
pub(crate) async fn discard(table: &TableVersion, segments: &[BuiltSegment]) {
    if segments.is_empty() {
        return;
    }
    let Ok(latest) = table.latest().await else { return };
    let Ok(indexes) = Indexes::read(&latest).await else { return };
    let named = |uuid| indexes.all().any(|segment: &IndexMetadata| segment.uuid == uuid);
    let segments = segments.iter().filter(|segment| !named(segment.uuid()));
    for BuiltSegment { metadata: segment } in segments {
        let directory = table.dataset.indices_dir().join(segment.uuid.to_string());
        if let Ok(store) = table.dataset.object_store(segment.base_id).await
            && let Err(error) = store.remove_dir_all(directory).await
        {
            tracing::debug!(segment = %segment.uuid, %error, "left to cleanup");
        }
    }
}
