//! `ngram`: the rows that have each three letters in a row.

use super::storage::Plain;
use crate::index_type::{IndexType, Merge, Postings};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:ngram",
    name: "ngram",
    synonyms: &[],
    lance_name: "NGRAM",
    type_url: "/lance.table.NGramIndexDetails",
    postings: Postings::Candidates,
    merge: Merge::OfLiveFragments,
    parameters: &[],
    storage: &Plain,
};
