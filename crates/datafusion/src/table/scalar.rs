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

use crate::store::{deferred::Deferred, definition, indexes::Indexes, version::TableVersion};

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

/// The function that substring indexes answer.
const CONTAINS: &str = "contains";

/// What the filters ask of indexes that Lance gets wrong.
#[derive(Default)]
struct Asked {
    /// The texts of `contains_tokens`.
    tokens: Vec<String>,
    negated_contains: bool,
}

impl Asked {
    fn of(filters: &[Expr]) -> Result<Self> {
        let mut asked = Self::default();
        for filter in filters {
            filter.apply(|expr| {
                match expr {
                    Expr::ScalarFunction(call) if call.name() == CONTAINS_TOKENS_UDF.name() => {
                        if let Some(Expr::Literal(text, _)) = call.args.get(1) {
                            asked.tokens.extend(text.try_as_str().flatten().map(str::to_string));
                        }
                    }
                    Expr::Not(negated) => {
                        asked.negated_contains |= negated.exists(|expr| {
                            Ok(matches!(expr, Expr::ScalarFunction(it) if it.name() == CONTAINS))
                        })?;
                    }
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(asked)
    }
}

/// Whether the rows that an index finds for the filters would not be those of a scan, or the query
/// would fail.
pub(super) async fn index_is_wrong(filters: &[Expr], latest: &Dataset) -> Result<bool> {
    if filters.is_empty() {
        return Ok(false);
    }
    let asked = Asked::of(filters)?;
    Ok((!asked.tokens.is_empty() && loses_tokens(&asked.tokens, latest).await?)
        || misses_rows_or_finds_nulls(asked.negated_contains, latest).await?)
}

/// Lance answers `contains_tokens` from a full-text index also where the index looks for no token
/// of the text, as it does for nothing but stop words, and then finds nothing.
async fn loses_tokens(texts: &[String], latest: &Dataset) -> Result<bool> {
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

/// The name of a full-text index with which searches miss rows, see [`Deferred`].
pub(super) async fn search_misses_rows(latest: &Dataset) -> Result<Option<String>> {
    let deferred = Deferred::read(latest).await?;
    let searched = |it: &&IndexMetadata| definition::storage_of(it).is_searched();
    let mut searched = deferred.segments.iter().filter(searched);
    Ok(searched.find(|segment| deferred.misses_rows(segment)).map(|segment| segment.name.clone()))
}

/// Queries miss rows after some compactions, see [`Deferred`]; with some types of indexes, they find
/// nulls where a predicate is negated.
async fn misses_rows_or_finds_nulls(negated: bool, latest: &Dataset) -> Result<bool> {
    let deferred = Deferred::read(latest).await?;
    let finds_nulls = |segment| negated && definition::storage_of(segment).finds_nulls_if_negated();
    let is_wrong = |segment| deferred.misses_rows(segment) || finds_nulls(segment);
    Ok(deferred.segments.iter().any(is_wrong))
}
