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
pub(super) const JOB_KEY: &str = "lance_index.job";

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
    let operation = Operation::CreateIndex { new_indices: added, removed_indices: removed };
    let transaction = TransactionBuilder::new(anchor.number(), operation)
        .transaction_properties(Some(Arc::new(properties)))
        .build();
    let done = CommitBuilder::new(Arc::new(anchor.dataset.clone())).execute(transaction).await;
    let sent = Sent { what: format!("index '{index}'"), tells: "SHOW INDEX SEGMENTS", anchor, job };
    match done {
        Ok(dataset) => Ok(Publication::Done(Box::new(TableVersion::new(dataset)))),
        Err(error) => {
            let is_in = async |latest: &TableVersion| {
                let indexes = Indexes::read(latest).await.ok()?;
                let named = |uuid: &Uuid| indexes.all().any(|segment| segment.uuid == *uuid);
                (!uuids.is_empty()).then(|| uuids.iter().all(named))
            };
            sent.answered(error, is_in).await
        }
    }
}

/// A commit that was sent.
pub(super) struct Sent<'a> {
    /// What was to be committed.
    pub what: String,
    /// The statement that tells whether it was.
    pub tells: &'a str,
    /// The version that it is anchored at.
    pub anchor: &'a TableVersion,
    /// The [`JOB_KEY`] of its transaction.
    pub job: Uuid,
}

impl Sent<'_> {
    /// What has become of the commit, which answered with an error. `is_in` says whether a version
    /// has what was to be committed, as far as that can be told without the history.
    pub(super) async fn answered(
        &self,
        error: lance::Error,
        is_in: impl AsyncFnOnce(&TableVersion) -> Option<bool>,
    ) -> Result<Publication> {
        match error {
            lance::Error::RetryableCommitConflict { .. }
            | lance::Error::CommitConflict { .. }
            | lance::Error::TooMuchWriteContention { .. } => Ok(Publication::Conflict(error)),
            lance::Error::IncompatibleTransaction { .. } => Err(Error::conflict(format!(
                "the table was overwritten or restored while the statement ran; nothing was \
                 committed: {error}"
            ))),
            error => self.settle(error, is_in).await,
        }
    }

    /// Finds out whether the commit happened all the same.
    async fn settle(
        &self,
        error: lance::Error,
        is_in: impl AsyncFnOnce(&TableVersion) -> Option<bool>,
    ) -> Result<Publication> {
        let Self { what, tells, anchor, job } = self;
        let unknown = |error: &lance::Error| {
            Error::new(
                ErrorKind::OutcomeUnknown,
                format!(
                    "the commit was sent and its answer lost; {tells} tells whether it happened \
                     (job {job}): {error}"
                ),
            )
        };
        let Ok(latest) = anchor.latest().await else {
            return Err(unknown(&error));
        };
        match history::version_of_job(&latest, anchor.number(), JOB_KEY, *job).await {
            Ok(Some(version)) => {
                let committed = latest.at(version).await;
                let committed =
                    committed.map_err(|error| Error::committed(version, what, &error))?;
                Ok(Publication::Done(Box::new(committed)))
            }
            Ok(None) => {
                let seen = latest.number();
                Err(Error::failed(format!("committing (no version up to {seen} has it)"), error))
            }
            Err(()) => match is_in(&latest).await {
                Some(true) => Ok(Publication::Done(Box::new(latest))),
                _ => Err(unknown(&error)),
            },
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
