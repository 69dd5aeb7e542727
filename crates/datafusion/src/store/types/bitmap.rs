//! `bitmap`: the rows of each value.

use super::storage::{MovedRows, Storage};
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
    storage: &Bitmap,
};

#[derive(Debug)]
struct Bitmap;

impl Storage for Bitmap {
    fn moved_rows(&self) -> MovedRows {
        MovedRows::Found
    }
}
