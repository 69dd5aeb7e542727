//! Sends one transaction and finds out what became of it.

use std::{collections::HashMap, sync::Arc};

use lance::dataset::{
    CommitBuilder,
    transaction::{Operation, Transaction, TransactionBuilder},
};
use lance_select::RowAddrTreeMap;
use uuid::Uuid;

use super::{history, version::TableVersion};
use crate::error::{Error, ErrorKind, Result};

/// The transaction property that holds the id of one attempt to commit.
pub(super) const JOB_KEY: &str = "lance_index.job";

/// Whether the transaction is one of this library.
pub(super) fn is_ours(transaction: &Transaction) -> bool {
    let properties = transaction.transaction_properties.as_ref();
    properties.is_some_and(|properties| properties.contains_key(JOB_KEY))
}

/// What became of a transaction.
#[derive(Debug)]
pub(crate) enum Committed {
    /// It made this version.
    Done(Box<TableVersion>),
    /// Another writer's commit stands in its way; nothing was committed.
    Conflict(lance::Error),
    /// The answer was lost, and the history doesn't tell whether it happened.
    Unknown(Unknown),
}

/// A commit whose outcome is unknown.
#[derive(Debug)]
pub(crate) struct Unknown {
    /// The table after it, where it can be read.
    pub latest: Option<Box<TableVersion>>,
    /// The id of the attempt, which the transaction carries.
    job: Uuid,
    error: lance::Error,
}

impl Unknown {
    /// The error that says so; `advice` says how to find out.
    pub(crate) fn into_error(self, advice: &str) -> Error {
        let Self { job, error, .. } = self;
        Error::new(
            ErrorKind::OutcomeUnknown,
            format!("the commit was sent and its answer lost; {advice} (job {job}): {error}"),
        )
    }
}

/// Commits `operation`, which was made from the rows of the anchor: Lance checks it against
/// everything that was committed since. `affected_rows` are the addresses of the rows that it
/// deletes, so that deletes of other rows of the same fragments are no conflict.
///
/// # Errors
/// Nothing was committed; or it was, and the version it made can't be opened.
pub(super) async fn commit(
    anchor: &TableVersion,
    operation: Operation,
    affected_rows: Option<RowAddrTreeMap>,
) -> Result<Committed> {
    let job = Uuid::new_v4();
    let properties = HashMap::from([(JOB_KEY.to_string(), job.to_string())]);
    let transaction = TransactionBuilder::new(anchor.number(), operation)
        .transaction_properties(Some(Arc::new(properties)))
        .build();
    let mut builder = CommitBuilder::new(Arc::new(anchor.dataset.clone()));
    if let Some(affected_rows) = affected_rows {
        builder = builder.with_affected_rows(affected_rows);
    }
    match builder.execute(transaction).await {
        Ok(dataset) => Ok(Committed::Done(Box::new(TableVersion::new(dataset)))),
        Err(error) => answered(anchor, job, error).await,
    }
}

/// What has become of a commit that answered with an error. Its transaction carries the job id in
/// [`JOB_KEY`].
pub(super) async fn answered(
    anchor: &TableVersion,
    job: Uuid,
    error: lance::Error,
) -> Result<Committed> {
    match error {
        lance::Error::RetryableCommitConflict { .. }
        | lance::Error::CommitConflict { .. }
        | lance::Error::TooMuchWriteContention { .. } => Ok(Committed::Conflict(error)),
        lance::Error::IncompatibleTransaction { .. } => Err(Error::conflict(format!(
            "the table was overwritten or restored while the statement ran; nothing was \
             committed: {error}"
        ))),
        error => settle(anchor, job, error).await,
    }
}

/// Finds out whether a commit that answered with an error happened all the same.
async fn settle(anchor: &TableVersion, job: Uuid, error: lance::Error) -> Result<Committed> {
    let Ok(latest) = anchor.latest().await else {
        return Ok(Committed::Unknown(Unknown { latest: None, job, error }));
    };
    match history::version_of_job(&latest, anchor.number(), JOB_KEY, job).await {
        Ok(Some(version)) => {
            let committed = latest.at(version).await;
            let committed =
                committed.map_err(|error| Error::committed("the statement", version, &error))?;
            Ok(Committed::Done(Box::new(committed)))
        }
        Ok(None) => {
            let seen = latest.number();
            Err(Error::failed(format!("committing (no version up to {seen} has it)"), error))
        }
        Err(()) => Ok(Committed::Unknown(Unknown { latest: Some(Box::new(latest)), job, error })),
    }
}
