//! `label_list`: the rows whose list has each value.

use lance_table::format::IndexMetadata;

use super::storage::{MovedRows, Storage};
use crate::index_type::{IndexType, Merge, Postings};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:label_list",
    name: "label_list",
    synonyms: &["labellist"],
    lance_name: "LABELLIST",
    type_url: "/lance.table.LabelListIndexDetails",
    postings: Postings::RowIds,
    merge: Merge::Exact,
    parameters: &[],
    storage: &LabelList,
};

#[derive(Debug)]
struct LabelList;

impl Storage for LabelList {
    fn moved_rows(&self) -> MovedRows {
        MovedRows::Found
    }

    /// Before its version 1, a label list knew no null lists.
    fn variant(&self, segment: &IndexMetadata, _stable_row_ids: bool) -> Option<String> {
        (segment.index_version == 0).then(|| "(without nulls)".to_string())
    }
}
