//! `zonemap`: the least and the greatest value of each zone of rows.

use lance_index::{pbold::ZoneMapIndexDetails, scalar::zonemap::ZoneMapIndexBuilderParams};
use lance_table::format::IndexMetadata;
use prost::Message;
use serde_json::{Map, Value};

use super::storage::{MovedRows, Storage, completed};
use crate::{
    error::Result,
    index_type::{IndexType, Merge, Parameter, Postings, ROWS},
};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:zonemap",
    name: "zonemap",
    synonyms: &["zone_map"],
    lance_name: "ZONEMAP",
    type_url: "/lance.table.ZoneMapIndexDetails",
    postings: Postings::Addresses,
    merge: Merge::Exact,
    parameters: &[ROWS_PER_ZONE],
    storage: &ZoneMap,
};

const ROWS_PER_ZONE: Parameter = Parameter { name: "rows_per_zone", values: ROWS };

#[derive(Debug)]
struct ZoneMap;

impl Storage for ZoneMap {
    fn moved_rows(&self) -> MovedRows {
        MovedRows::Found
    }

    fn parameters_in_manifest(&self, segment: &IndexMetadata) -> Option<Map<String, Value>> {
        let details = segment.index_details.as_ref()?;
        let rows = ZoneMapIndexDetails::decode(details.value.as_slice()).ok()?.rows_per_zone?;
        Some(Map::from_iter([(ROWS_PER_ZONE.name.to_string(), Value::from(rows))]))
    }

    fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>> {
        completed::<ZoneMapIndexBuilderParams>(given)
    }
}
