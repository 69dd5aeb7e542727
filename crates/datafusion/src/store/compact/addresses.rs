//! The addresses of the rows that a task rewrote: what remapping indexes starts from.

use lance_core::utils::address::RowAddress;
use lance_table::format::Fragment;
use roaring::RoaringTreemap;

use super::Rewritten;
use crate::{
    error::{Error, Result},
    store::version::TableVersion,
};

impl Rewritten {
    /// Takes the addresses out, if they can be [put back](Self::with_addresses). There may be
    /// megabytes of them, and all that is to pass through the driver is small.
    pub(super) fn without_addresses(mut self) -> Self {
        let fragments = &self.result.original_fragments;
        let known = fragments.iter().all(|fragment| fragment.physical_rows.is_some());
        if let Some(addresses) = self.result.row_addrs.as_mut().filter(|_| known) {
            addresses.clear();
        }
        self
    }

    /// Puts the addresses back: those of all rows of the old fragments that aren't deleted.
    ///
    /// # Errors
    /// A deletion file can't be read, or has other rows than the task wrote.
    pub(crate) async fn with_addresses(mut self, table: &TableVersion) -> Result<Self> {
        if self.result.row_addrs.as_ref().is_none_or(|addresses| !addresses.is_empty()) {
            return Ok(self);
        }
        let at = table.at(self.result.read_version).await?;
        let failed = |error| Error::failed("reading which rows a compaction task rewrote", error);
        let mut addresses = RoaringTreemap::new();
        for fragment in &self.result.original_fragments {
            let id = fragment.id as u32;
            let first = u64::from(RowAddress::first_row(id));
            addresses.insert_range(first..first + physical_rows(fragment));
            let Some(live) = at.dataset.get_fragment(id as usize) else {
                let (id, version) = (fragment.id, self.result.read_version);
                let message =
                    format!("version {version} has no fragment {id}, which was rewritten");
                return Err(Error::internal(message));
            };
            if let Some(deleted) = live.get_deletion_vector().await.map_err(failed)? {
                for row in deleted.iter() {
                    addresses.remove(u64::from(RowAddress::new_from_parts(id, row)));
                }
            }
        }
        let written: u64 = self.result.new_fragments.iter().map(physical_rows).sum();
        if addresses.len() != written {
            let message = format!(
                "a compaction task wrote {written} rows where there were {}",
                addresses.len()
            );
            return Err(Error::internal(message));
        }
        addresses.optimize();
        let mut bytes = Vec::with_capacity(addresses.serialized_size());
        addresses
            .serialize_into(&mut bytes)
            .map_err(|error| Error::failed("writing which rows a task rewrote", error))?;
        self.result.row_addrs = Some(bytes);
        Ok(self)
    }
}

fn physical_rows(fragment: &Fragment) -> u64 {
    fragment.physical_rows.unwrap_or_default() as u64
}
