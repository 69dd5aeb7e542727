//! The functions of Lance's own filters.

use datafusion::{
    common::tree_node::{TreeNode, TreeNodeRecursion},
    error::Result,
    logical_expr::{Expr, ScalarUDF},
};
use lance::Dataset;
use lance_datafusion::udf::{CONTAINS_TOKENS_UDF, json};
use lance_table::format::IndexMetadata;
use roaring::MultiOps;

use crate::store::{definition, indexes::Indexes, version::TableVersion};

/// All of them but those for geometries, which take a build of Lance that has them.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![
        CONTAINS_TOKENS_UDF.clone(),
        json::json_extract_udf(),
        json::json_extract_with_type_udf(),
        json::json_exists_udf(),
        json::json_get_udf(),
        json::json_get_string_udf(),
        json::json_get_int_udf(),
        json::json_get_float_udf(),
        json::json_get_bool_udf(),
        json::json_array_contains_udf(),
        json::json_array_length_udf(),
    ]
}

/// Whether an index would lose rows that the filters find, or fail.
///
/// Lance answers `contains_tokens` from a full-text index also where the index looks for no token
/// of the text, as it does for nothing but stop words, and then finds nothing.
pub(super) async fn index_loses_rows(filters: &[Expr], latest: &Dataset) -> Result<bool> {
    let mut texts = Vec::new();
    for filter in filters {
        filter.apply(|expr| {
            if let Expr::ScalarFunction(call) = expr
                && call.name() == CONTAINS_TOKENS_UDF.name()
                && let Some(Expr::Literal(text, _)) = call.args.get(1)
            {
                texts.extend(text.try_as_str().flatten().map(str::to_string));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    if texts.is_empty() {
        return Ok(false);
    }
    let table = TableVersion::new(latest.clone());
    let indexes = Indexes::read(&table).await?;
    let live = table.fragments();
    let is_searched = |segment: &&IndexMetadata| definition::storage_of(segment).is_searched();
    // Lance plans with an index that covers nothing any more, and then fails to open it.
    let covers_nothing = indexes.readable.values().any(|segments| {
        let covered = segments.iter().filter_map(|segment| segment.fragment_bitmap.as_ref());
        segments.first().as_ref().is_some_and(is_searched) && live.is_disjoint(&covered.union())
    });
    let loses = |text: &String| {
        let tokens_in = |segment| definition::storage_of(segment).tokens_in(segment, text);
        indexes.all().any(|segment| tokens_in(segment) == Some(0))
    };
    Ok(covers_nothing || texts.iter().any(loses))
}
