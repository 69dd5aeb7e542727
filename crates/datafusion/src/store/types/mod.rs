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
mod vector;
mod zonemap;

use serde_json::{Map, Value};

use self::storage::Storage;
pub(crate) use self::vector::is_vector;
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

/// What is particular to the type of that id; nothing, where nobody here knows it.
pub(crate) fn storage(type_id: &str) -> &'static dyn Storage {
    match IndexType::by_id(type_id) {
        Some(index_type) => index_type.storage,
        None if type_id == vector::ID => &vector::Vector,
        None => &storage::Plain,
    }
}

/// Whether Lance makes and maintains indexes of that type, and nothing here does.
pub(crate) fn is_lances_alone(type_id: &str) -> bool {
    type_id == vector::ID
}

/// What the type of that id is called, with those build parameters; one that nobody here knows, by
/// its id.
pub(crate) fn name(type_id: &str, parameters: &Map<String, Value>) -> String {
    let name = || Some(IndexType::by_id(type_id)?.name.to_string());
    let name = name().or_else(|| storage(type_id).name_with(parameters));
    name.unwrap_or_else(|| type_id.to_string())
}
