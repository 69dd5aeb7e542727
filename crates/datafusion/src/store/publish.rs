//! The one commit of a maintenance statement.

use lance::dataset::transaction::Operation;
use lance_table::format::IndexMetadata;
use uuid::Uuid;

use super::{
    built::BuiltSegment,
    commit::{Committed, commit},
    indexes::Indexes,
    version::TableVersion,
};
use crate::error::{Error, Result};

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
/// [`OutcomeUnknown`](crate::error::ErrorKind::OutcomeUnknown) if the commit's answer was lost and
/// neither the history nor the list of indexes tells whether it happened; otherwise nothing was
/// committed.
pub(crate) async fn publish(
    anchor: &TableVersion,
    latest: &TableVersion,
    index: &str,
    added: &[BuiltSegment],
    removed: &[Uuid],
) -> Result<Publication> {
    let added: Vec<IndexMetadata> = added.iter().map(|built| built.metadata.clone()).collect();
    check_files(anchor, index, &added).await?;
    let indexes = Indexes::read(latest).await?;
    let named = indexes.segments(index).iter();
    let removed = named.filter(|segment| removed.contains(&segment.uuid)).cloned().collect();
    let uuids: Vec<Uuid> = added.iter().map(|segment| segment.uuid).collect();
    let operation = Operation::CreateIndex { new_indices: added, removed_indices: removed };
    let mut unknown = match commit(anchor, operation, None).await? {
        Committed::Done(version) => return Ok(Publication::Done(version)),
        Committed::Conflict(error) => return Ok(Publication::Conflict(error)),
        Committed::Unknown(unknown) => unknown,
    };
    if let Some(latest) = unknown.latest.take()
        && let Ok(indexes) = Indexes::read(&latest).await
    {
        let committed = |uuid: &Uuid| indexes.all().any(|segment| segment.uuid == *uuid);
        if !uuids.is_empty() && uuids.iter().all(committed) {
            return Ok(Publication::Done(latest));
        }
    }
    Err(unknown.into_error("SHOW INDEX SEGMENTS tells whether it happened"))
}

/// Checks that the files of new segments are there: a cleanup of unverified files takes those that
/// no version names yet.
async fn check_files(table: &TableVersion, index: &str, added: &[IndexMetadata]) -> Result<()> {
    let failed = |error| Error::failed(format!("looking for the files of index '{index}'"), error);
    for segment in added {
        let store = table.dataset.object_store(segment.base_id).await.map_err(failed)?;
        let directory = table.dataset.indices_dir().join(segment.uuid.to_string());
        for file in segment.files.iter().flatten() {
            let path = directory.clone().join(file.path.as_str());
            if !store.exists(&path).await.map_err(failed)? {
                return Err(Error::conflict(format!(
                    "index '{index}': files of a new segment were removed by a cleanup while the \
                     statement ran; nothing was committed"
                )));
            }
        }
    }
    Ok(())
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
