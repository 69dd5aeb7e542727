//! The logical indexes as messages.

use super::{
    listing::{Catalog, Standing},
    messages::{IndexFile, IndexV2},
};
use crate::{
    error::Result,
    store::{indexes::Indexes, version::TableVersion},
    table::LanceTable,
};

/// The recorded indexes of a table at its latest version, by name, each with the files that the
/// manifest has for it. One without a record, or of which another client has made something else
/// since, isn't among them.
///
/// # Errors
/// The table can't be read.
pub async fn logical_indexes(table: &LanceTable) -> Result<Vec<IndexV2>> {
    let latest = table.latest().await?;
    let catalog = Catalog::read(&TableVersion::new(latest.as_ref().clone())).await?;
    let mut indexes = Vec::new();
    for name in catalog.names() {
        if let Standing::Recorded { record, .. } = catalog.standing(&name).await {
            let files = files(catalog.indexes(), &name, &catalog.table().fragments())?;
            indexes.push(IndexV2 { files, ..record.to_message() });
        }
    }
    Ok(indexes)
}

fn files(indexes: &Indexes, name: &str, live: &roaring::RoaringBitmap) -> Result<Vec<IndexFile>> {
    let files = indexes.files(name).into_iter().map(|file| {
        let mut fragment_bitmap = Vec::new();
        let covered = file.declared & live;
        covered.serialize_into(&mut fragment_bitmap).map_err(|error| {
            crate::error::Error::internal(format!("a bitmap can't be serialized: {error}"))
        })?;
        Ok(IndexFile {
            id: file.uuid.as_bytes().to_vec(),
            file_size: file.bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(0),
            fragment_bitmap,
        })
    });
    files.collect()
}
