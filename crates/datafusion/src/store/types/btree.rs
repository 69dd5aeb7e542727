//! `btree`: values in order, with the rows that have them.

use lance_index::scalar::btree::DEFAULT_BTREE_BATCH_SIZE;
use lance_table::format::IndexMetadata;
use serde_json::{Map, Value};

use super::storage::Storage;
use crate::{
    error::Result,
    index_type::{IndexType, Merge, Parameter, Postings, ROWS},
};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:btree",
    name: "btree",
    synonyms: &[],
    lance_name: "BTREE",
    type_url: "/lance.table.BTreeIndexDetails",
    postings: Postings::Addresses,
    merge: Merge::Exact,
    parameters: &[ZONE_SIZE],
    storage: &BTree,
};

const ZONE_SIZE: Parameter = Parameter { name: "zone_size", values: ROWS };

#[derive(Debug)]
struct BTree;

/// Only with stable row ids do addresses differ from ids.
fn variant(addresses: bool, stable_row_ids: bool) -> Option<String> {
    let domain = if addresses { "addresses" } else { "ids" };
    stable_row_ids.then(|| format!("(row {domain})"))
}

impl Storage for BTree {
    fn variant(&self, segment: &IndexMetadata, stable_row_ids: bool) -> Option<String> {
        variant(segment.results_are_row_addrs(), stable_row_ids)
    }

    fn variant_of_new(
        &self,
        _parameters: &Map<String, Value>,
        stable_row_ids: bool,
    ) -> Result<Option<String>> {
        Ok(variant(true, stable_row_ids))
    }

    fn variant_beside(&self, _newest: &IndexMetadata, stable_row_ids: bool) -> Option<String> {
        variant(true, stable_row_ids)
    }

    fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>> {
        let mut complete = given.clone();
        let zone_size = complete.entry(ZONE_SIZE.name).or_insert(Value::Null);
        if zone_size.is_null() {
            *zone_size = Value::from(DEFAULT_BTREE_BATCH_SIZE);
        }
        Ok(complete)
    }
}
