//! The index types. Nothing outside of this folder asks which one an index is of.
//!
//! To add a type, copy a file, `bitmap.rs` for one without parameters or `bloomfilter.rs` for one
//! with some; change what its `TYPE` says, override what its segments do unlike others in an
//! `impl Storage`, and enter it here.

mod bitmap;
mod bloomfilter;
mod btree;
mod fm;
mod fts;
mod label_list;
mod ngram;
pub(crate) mod storage;
mod zonemap;

use lance_table::format::IndexMetadata;

use crate::index_type::IndexType;

/// Every index type there is, in the order in which errors list them.
pub static INDEX_TYPES: &[&IndexType] = &[
    &btree::TYPE,
    &bitmap::TYPE,
    &label_list::TYPE,
    &ngram::TYPE,
    &zonemap::TYPE,
    &bloomfilter::TYPE,
    &fts::TYPE,
    &fm::TYPE,
];

/// The type of an index whose statement names none.
pub(crate) static DEFAULT_TYPE: &IndexType = &btree::TYPE;

/// Whether it is a segment of a vector index. Of these alone, Lance takes for each query, and for a
/// merge, only the rows of the fragments that they cover: none of their postings is ever untrue.
pub(crate) fn is_vector(segment: &IndexMetadata) -> bool {
    let details = segment.index_details.as_ref();
    details.is_some_and(|details| details.type_url.ends_with("VectorIndexDetails"))
}
