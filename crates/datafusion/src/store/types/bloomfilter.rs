//! `bloomfilter`: a Bloom filter of the values of each block of rows.

use lance_index::scalar::bloomfilter::BloomFilterIndexBuilderParams;
use serde_json::{Map, Value};

use super::storage::{MovedRows, Storage, completed};
use crate::{
    error::Result,
    index_type::{IndexType, Merge, Parameter, Postings, ROWS, Values},
};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:bloomfilter",
    name: "bloomfilter",
    synonyms: &["bloom_filter"],
    lance_name: "BLOOMFILTER",
    type_url: "/lance.index.pb.BloomFilterIndexDetails",
    postings: Postings::Addresses,
    merge: Merge::Exact,
    parameters: &[
        Parameter { name: "number_of_items", values: ROWS },
        Parameter { name: "probability", values: Values::Between { above: 0.0, below: 1.0 } },
    ],
    storage: &BloomFilter,
};

#[derive(Debug)]
struct BloomFilter;

impl Storage for BloomFilter {
    fn moved_rows(&self) -> MovedRows {
        MovedRows::Found
    }

    fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>> {
        completed::<BloomFilterIndexBuilderParams>(given)
    }
}
