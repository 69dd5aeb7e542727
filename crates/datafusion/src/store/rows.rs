//! Rows by their addresses and ids.

use arrow::{
    array::{RecordBatch, cast::AsArray},
    datatypes::UInt64Type,
};
use datafusion::common::{Result as DataFusionResult, internal_err};
use futures::{StreamExt, TryStreamExt};
use lance_core::{ROW_ADDR, ROW_ID};
use lance_table::{
    format::{Fragment, RowIdMeta},
    rowids::{RowIdSequence, rechunk_sequences, write_row_ids},
};
use roaring::RoaringTreemap;

use super::version::TableVersion;
use crate::error::{Error, Result};

/// Fragments whose deletion files are written at the same time.
const CONCURRENT_FRAGMENTS: usize = 16;

/// Rows that a query found: where they are, and their ids in the order of the query.
#[derive(Debug)]
pub(super) struct FoundRows {
    pub rows: u64,
    pub addresses: RoaringTreemap,
    pub ids: RowIdSequence,
}

impl Default for FoundRows {
    fn default() -> Self {
        Self { rows: 0, addresses: RoaringTreemap::new(), ids: RowIdSequence::new() }
    }
}

impl FoundRows {
    pub(super) fn see(&mut self, batch: &RecordBatch) -> DataFusionResult<()> {
        let column = |name| batch.column_by_name(name).map(|c| c.as_primitive::<UInt64Type>());
        let Some(addresses) = column(ROW_ADDR) else {
            return internal_err!("a query doesn't say where its rows are");
        };
        self.rows += batch.num_rows() as u64;
        self.addresses.extend(addresses.values().iter().copied());
        if let Some(ids) = column(ROW_ID) {
            self.ids.extend(RowIdSequence::from(ids.values().as_ref()));
        }
        Ok(())
    }

    /// Each row was found once.
    pub(super) fn check(&self) -> Result<()> {
        if self.addresses.len() == self.rows {
            return Ok(());
        }
        let rows = self.addresses.len();
        Err(Error::internal(format!("the query named {rows} rows {} times", self.rows)))
    }
}

/// Gives rewritten rows the ids that they had.
pub(super) fn keep_row_ids(fragments: &mut [Fragment], ids: RowIdSequence) -> Result<()> {
    let sizes = fragments.iter().map(|fragment| fragment.physical_rows.unwrap_or(0) as u64);
    let ids = rechunk_sequences([ids], sizes.collect::<Vec<_>>(), false)
        .map_err(|error| Error::internal(format!("row ids don't fit the rows: {error}")))?;
    for (fragment, ids) in fragments.iter_mut().zip(ids) {
        fragment.row_id_meta = Some(RowIdMeta::Inline(write_row_ids(&ids).into()));
    }
    Ok(())
}

/// What deletions leave of the fragments that rows are deleted of.
#[derive(Debug)]
pub(super) struct Deletions {
    /// With their new deletion files.
    pub updated: Vec<Fragment>,
    /// The ids of those that lose all they have.
    pub removed: Vec<u64>,
}

/// Deletes the rows at these addresses.
pub(super) async fn delete_rows(
    table: &TableVersion,
    addresses: &RoaringTreemap,
) -> Result<Deletions> {
    let deletions = addresses.bitmaps().map(|(id, offsets)| async move {
        let fragment = table.dataset.get_fragment(id as usize).ok_or_else(|| {
            Error::internal(format!("a row was found in fragment {id}, which there is not"))
        })?;
        let left = fragment.extend_deletions(offsets).await;
        let left = left.map_err(|error| Error::lance("deleting rows", error))?;
        Ok::<_, Error>((u64::from(id), left))
    });
    // Collected first: a stream of borrowing futures isn't Send.
    let deletions: Vec<_> = deletions.collect();
    let mut deletions = futures::stream::iter(deletions).buffer_unordered(CONCURRENT_FRAGMENTS);
    let mut left = Deletions { updated: Vec::new(), removed: Vec::new() };
    while let Some((id, fragment)) = deletions.try_next().await? {
        match fragment {
            Some(fragment) => left.updated.push(fragment.metadata().clone()),
            None => left.removed.push(id),
        }
    }
    Ok(left)
}
