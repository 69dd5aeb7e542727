//! Segments that no manifest names yet.

use std::sync::Arc;

use chrono::DateTime;
use lance_index_plan::snapshot::SegmentSnapshot;
use lance_table::format::{IndexMetadata, pb};
use prost::Message;
use roaring::RoaringBitmap;
use uuid::Uuid;

use super::{definition, lineage, version::TableVersion};
use crate::error::{Error, Result};

/// A segment whose files are written, as the manifest is to name it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BuiltSegment {
    pub(super) metadata: IndexMetadata,
}

impl BuiltSegment {
    pub(crate) fn uuid(&self) -> Uuid {
        self.metadata.uuid
    }

    /// The field that it indexes; -1 where that isn't a single one.
    pub(crate) fn field_id(&self) -> i32 {
        self.metadata.keyed_field().unwrap_or(-1)
    }

    /// The size of its files in bytes, `None` if Lance didn't say.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.metadata.total_size_bytes()
    }

    /// The same segment, declaring these fragments.
    pub(crate) fn declaring(&self, fragments: RoaringBitmap) -> Self {
        let fragment_bitmap = Some(fragments);
        Self { metadata: IndexMetadata { fragment_bitmap, ..self.metadata.clone() } }
    }

    /// The segment as planning sees it, built from the given version.
    pub(crate) fn snapshot(&self, source: &TableVersion) -> SegmentSnapshot {
        SegmentSnapshot {
            source: Some(Arc::new(lineage::source(source))),
            ..definition::segment(&self.metadata, source.stable_row_ids())
        }
    }

    /// The manifest entry as protobuf bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        pb::IndexMetadata::from(&self.metadata).encode_to_vec()
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        const WHAT: &str = "reading the outcome of a work unit";
        let message =
            pb::IndexMetadata::decode(bytes).map_err(|error| Error::failed(WHAT, error))?;
        // Lance panics at such a one.
        let is_time = |millis: u64| DateTime::from_timestamp_millis(millis.cast_signed()).is_some();
        if !message.created_at.is_none_or(is_time) {
            return Err(Error::internal(format!("{WHAT}: it was made at no time")));
        }
        let mut metadata =
            IndexMetadata::try_from(message).map_err(|error| Error::failed(WHAT, error))?;
        // An empty bitmap is bytes too, so no bytes would mean that coverage isn't tracked.
        metadata.fragment_bitmap.get_or_insert_default();
        Ok(Self { metadata })
    }
}
