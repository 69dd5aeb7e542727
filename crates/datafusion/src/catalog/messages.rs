//! The messages that a table's metadata holds.
//!
//! They are public so that other clients can read what this one writes. A field that is added here
//! gets a number of its own; none ever changes its meaning.

use prost::Message;
use prost_types::Any;

/// A logical index: what it is, apart from the files that it consists of.
#[derive(Clone, PartialEq, Message)]
pub struct IndexV2 {
    /// The 16 bytes of a UUID, in the order of RFC 4122. Identifies the index across time: it is a
    /// new one when the type, the field or the build parameters change.
    #[prost(bytes = "vec", tag = "1")]
    pub id: Vec<u8>,
    /// The name of the index.
    #[prost(string, tag = "2")]
    pub name: String,
    /// The ids of the indexed fields in the table's schema.
    #[prost(int32, repeated, tag = "3")]
    pub field_ids: Vec<i32>,
    /// The type of the index, as `lance:btree`; the prefix `lance:` is for what Lance implements.
    #[prost(string, tag = "4")]
    pub index_type_id: String,
    /// The build parameters, a `google.protobuf.Struct`. They never change for one `id`.
    #[prost(message, optional, tag = "5")]
    pub index_config: Option<Any>,
    /// The files. Never stored: the manifest lists them, and what is said once can't be outdated.
    #[prost(message, repeated, tag = "6")]
    pub files: Vec<IndexFile>,
    /// The fields of `field_ids` again, in the same order, so that another column which has come
    /// to have a field's id is told apart.
    #[prost(message, repeated, tag = "1001")]
    pub fields: Vec<RecordedField>,
    /// The version of the table that the record was written to: what happened to the index since
    /// is in the history after it.
    #[prost(uint64, tag = "1002")]
    pub written_on: u64,
}

/// The physical files of one segment of an index.
#[derive(Clone, PartialEq, Message)]
pub struct IndexFile {
    /// The 16 bytes of a UUID, which names the directory.
    #[prost(bytes = "vec", tag = "1")]
    pub id: Vec<u8>,
    /// The size of all files in bytes; 0 where the manifest doesn't know it.
    #[prost(int64, tag = "2")]
    pub file_size: i64,
    /// The live fragments that it covers, as a serialized roaring bitmap.
    #[prost(bytes = "vec", tag = "3")]
    pub fragment_bitmap: Vec<u8>,
}

/// A field as it was when the record was written.
#[derive(Clone, PartialEq, Message)]
pub struct RecordedField {
    /// The names from the top-level column to the field, as Lance writes them: joined by `.`, one
    /// that needs it in back-ticks.
    #[prost(string, tag = "1")]
    pub path: String,
    /// The data type, as Lance's schema has it: `int64`, `list<string>`.
    #[prost(string, tag = "2")]
    pub data_type: String,
}

/// How an index is to be maintained, under a key of its own beside the index's.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct MaintenancePolicy {
    /// The live rows that a segment should come to have.
    #[prost(uint64, optional, tag = "1")]
    pub target_rows_per_segment: Option<u64>,
    /// The bytes that a segment should come to have.
    #[prost(uint64, optional, tag = "2")]
    pub target_bytes_per_segment: Option<u64>,
    /// How many similar segments are merged into one.
    #[prost(uint64, optional, tag = "3")]
    pub merge_factor: Option<u64>,
}
