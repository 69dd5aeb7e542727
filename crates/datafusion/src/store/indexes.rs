//! The indexes that a table's manifest lists.

use std::collections::BTreeMap;

use lance::index::DatasetIndexExt;
use lance_table::{
    format::IndexMetadata, io::manifest::read_manifest_indexes, system_index::is_system_index,
};
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{deferred::Deferred, version::TableVersion};
use crate::error::{Error, Result};

/// The segments of each user index by name, each list in manifest order.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    /// Indexes that this version of Lance can read. A segment that must be rebuilt covers nothing,
    /// whatever the manifest says: see [`Deferred`].
    pub readable: BTreeMap<String, Vec<IndexMetadata>>,
    /// Indexes with a segment of a type or version that this version of Lance can't read. They own
    /// their names all the same.
    pub hidden: BTreeMap<String, Vec<IndexMetadata>>,
}

/// The files of a segment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SegmentFile {
    pub uuid: Uuid,
    /// The fragments that the manifest says it covers, dead ones included; none, if it must be
    /// rebuilt.
    pub declared: RoaringBitmap,
    /// `None` if the manifest doesn't know it.
    pub bytes: Option<u64>,
}

impl Indexes {
    /// Reads the manifest; opens no index file.
    pub(crate) async fn read(table: &TableVersion) -> Result<Self> {
        let dataset = &table.dataset;
        let failed = |error| Error::failed("reading the table's list of indexes", error);
        let usable = dataset.load_indices().await.map_err(failed)?;
        let store = dataset.object_store(None).await.map_err(failed)?;
        let all = read_manifest_indexes(&store, dataset.manifest_location(), dataset.manifest());
        let mut hidden = by_name(all.await.map_err(failed)?);
        let is_usable = |segment: &IndexMetadata| usable.iter().any(|u| u.uuid == segment.uuid);
        hidden.retain(|_, segments| !segments.iter().all(is_usable));
        let deferred = Deferred::read(dataset).await?;
        let mut readable = by_name(usable.iter().cloned());
        for segment in readable.values_mut().flatten() {
            if deferred.must_be_rebuilt(segment) {
                segment.fragment_bitmap = Some(RoaringBitmap::new());
            }
        }
        readable.retain(|name, _| !hidden.contains_key(name));
        Ok(Self { readable, hidden })
    }

    /// The names of all of them.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.readable.keys().chain(self.hidden.keys()).map(String::as_str).collect()
    }

    /// The segments of all of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &IndexMetadata> {
        self.readable.values().chain(self.hidden.values()).flatten()
    }

    /// The files of the index, a segment each.
    pub(crate) fn files(&self, name: &str) -> Vec<SegmentFile> {
        let file = |segment: &IndexMetadata| SegmentFile {
            uuid: segment.uuid,
            declared: segment.fragment_bitmap.clone().unwrap_or_default(),
            bytes: segment.total_size_bytes(),
        };
        self.segments(name).iter().map(file).collect()
    }

    /// The fragments that some segment of the index covers, dead ones included.
    pub(crate) fn covered(&self, name: &str) -> RoaringBitmap {
        let segments = self.segments(name).iter();
        let declared = segments.filter_map(|segment| segment.fragment_bitmap.as_ref());
        declared.fold(RoaringBitmap::new(), |all, declared| all | declared)
    }

    /// All segments of the index.
    pub(crate) fn segments(&self, name: &str) -> &[IndexMetadata] {
        let segments = self.readable.get(name).or_else(|| self.hidden.get(name));
        segments.map_or(&[], Vec::as_slice)
    }
}

fn by_name(
    indexes: impl IntoIterator<Item = IndexMetadata>,
) -> BTreeMap<String, Vec<IndexMetadata>> {
    let mut named: BTreeMap<String, Vec<IndexMetadata>> = BTreeMap::new();
    for index in indexes {
        if !is_system(&index) {
            named.entry(index.name.clone()).or_default().push(index);
        }
    }
    named
}

pub(super) fn is_system(index: &IndexMetadata) -> bool {
    is_system_index(index) || is_system_name(&index.name)
}

/// Whether names like this are Lance's own.
pub(crate) fn is_system_name(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("__lance_")
}

/// The live fragments that some segment of the index covered before, and none does after.
pub(crate) async fn lost_coverage(
    name: &str,
    before: &TableVersion,
    after: &TableVersion,
) -> Result<RoaringBitmap> {
    let (before, after_indexes) = (Indexes::read(before).await?, Indexes::read(after).await?);
    Ok((before.covered(name) & after.fragments()) - after_indexes.covered(name))
}
