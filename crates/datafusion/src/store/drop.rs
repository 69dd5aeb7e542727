//! Drops an index.

use lance::dataset::transaction::Operation;

use super::{
    commit::{Committed, commit},
    indexes::Indexes,
    version::TableVersion,
};
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
        let latest = table.latest().await?;
        let removed = Indexes::read(&latest).await?.segments(name).to_vec();
        let segments = removed.len();
        if segments == 0 {
            return Ok(Dropped { segments, version: latest.number() });
        }
        let operation =
            Operation::CreateIndex { new_indices: Vec::new(), removed_indices: removed };
        match commit(&latest, operation, None).await? {
            Committed::Done(done) => return Ok(Dropped { segments, version: done.number() }),
            Committed::Conflict(_) if tries < retries => tries += 1,
            Committed::Conflict(error) => {
                return Err(Error::failed(format!("dropping index '{name}'"), error));
            }
            Committed::Unknown(unknown) => {
                return Err(unknown.into_error("SHOW INDEXES tells whether it is dropped"));
            }
        }
    }
}
