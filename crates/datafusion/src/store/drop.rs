//! Drops an index.

use lance::index::DatasetIndexExt;

use super::{indexes::Indexes, version::TableVersion};
use crate::error::{Error, Result};

/// What a drop did.
#[derive(Debug)]
pub(crate) struct Dropped {
    /// Segments that the index had; none if there was no such index.
    pub segments: usize,
    /// The table version after it.
    pub version: u64,
}

/// Drops the index, and tries again, `retries` times, where another writer was faster.
pub(crate) async fn drop_index(
    table: &TableVersion,
    name: &str,
    retries: usize,
) -> Result<Dropped> {
    let mut tries = 0;
    loop {
        let mut latest = table.latest().await?;
        let segments = Indexes::read(&latest).await?.segments(name).len();
        if segments == 0 {
            return Ok(Dropped { segments, version: latest.number() });
        }
        match latest.dataset.drop_index(name).await {
            Ok(()) => return Ok(Dropped { segments, version: latest.number() }),
            Err(lance::Error::RetryableCommitConflict { .. }) if tries < retries => tries += 1,
            Err(error) => return Err(Error::failed(format!("dropping index '{name}'"), error)),
        }
    }
}
