//! `fm`: a compressed full text, for substrings of any length.

use super::storage::Plain;
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
    storage: &Plain,
};
