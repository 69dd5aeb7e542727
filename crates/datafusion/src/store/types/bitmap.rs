//! `bitmap`: the rows of each value.

use super::storage::Plain;
use crate::index_type::{IndexType, Merge, Postings};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:bitmap",
    name: "bitmap",
    synonyms: &[],
    lance_name: "BITMAP",
    type_url: "/lance.table.BitmapIndexDetails",
    postings: Postings::RowIds,
    merge: Merge::Exact,
    parameters: &[],
    storage: &Plain,
};
