//! `fm`: a compressed full text, for substrings of any length.

use super::storage::{MovedRows, Storage};
use crate::index_type::{IndexType, Merge, Postings};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:fm",
    name: "fm",
    synonyms: &[],
    lance_name: "FM",
    type_url: "/lance.index.pb.FMIndexDetails",
    postings: Postings::Addresses,
    merge: Merge::Rebuild,
    parameters: &[],
    storage: &Fm,
};

#[derive(Debug)]
struct Fm;

impl Storage for Fm {
    fn moved_rows(&self) -> MovedRows {
        MovedRows::Lost
    }

    fn finds_nulls_if_negated(&self) -> bool {
        true
    }
}
