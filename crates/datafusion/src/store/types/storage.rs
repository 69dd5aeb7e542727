//! What index types may do each in its own way.

use std::fmt::Debug;

use async_trait::async_trait;
use lance::{Dataset, index::DatasetIndexInternalExt};
use lance_index::metrics::NoOpMetricsCollector;
use lance_table::format::IndexMetadata;
use prost_types::Any;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    catalog::{config, encoding::Damage},
    error::{Error, Result},
};

/// Whether an index finds rows that a compaction has moved and left to readers to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MovedRows {
    Found,
    /// Until another compaction, which takes their old places for their present ones.
    FoundOnce,
    Lost,
}

/// How Lance keeps the segments of an index type and their build parameters. A type overrides what
/// is particular to it.
#[async_trait]
pub(crate) trait Storage: Debug + Send + Sync {
    /// What the type is called with those build parameters, where that depends on them.
    fn name_with(&self, _parameters: &Map<String, Value>) -> Option<String> {
        None
    }

    /// The build parameters as the message that a record has.
    fn encode(&self, parameters: &Map<String, Value>) -> Any {
        config::encode(parameters)
    }

    /// The build parameters that the message has.
    ///
    /// # Errors
    /// It isn't the message of this type.
    fn decode(&self, message: &Any) -> Result<Map<String, Value>, Damage> {
        config::decode(message)
    }

    /// What keeps the segment from standing beside others with the same type URL.
    fn variant(&self, _segment: &IndexMetadata, _stable_row_ids: bool) -> Option<String> {
        None
    }

    /// The variant of a segment that this version of Lance builds with those parameters.
    ///
    /// # Errors
    /// Lance has no use for them.
    fn variant_of_new(
        &self,
        _parameters: &Map<String, Value>,
        _stable_row_ids: bool,
    ) -> Result<Option<String>> {
        Ok(None)
    }

    /// The same with the parameters of the segment `newest`, whose files aren't read.
    fn variant_beside(&self, _newest: &IndexMetadata, _stable_row_ids: bool) -> Option<String> {
        None
    }

    /// What keeps the segment from being merged with others that it can stand beside.
    fn merged_apart(&self, _segment: &IndexMetadata) -> Option<String> {
        None
    }

    /// The build parameters that the manifest has for the segment; `None` where they are only in
    /// its files.
    fn parameters_in_manifest(&self, _segment: &IndexMetadata) -> Option<Map<String, Value>> {
        None
    }

    /// The build parameters of the segment on the field of that path, from its files.
    async fn parameters_in_files(
        &self,
        dataset: &Dataset,
        path: &str,
        segment: &IndexMetadata,
    ) -> lance::Result<Value> {
        let index = dataset.open_scalar_index(path, &segment.uuid, &NoOpMetricsCollector).await?;
        let json = index.derive_index_params()?.params;
        Ok(serde_json::from_str(json.as_deref().unwrap_or("{}"))?)
    }

    /// The given parameters with what this version of Lance takes for those that are left out.
    ///
    /// # Errors
    /// Lance has no use for them.
    fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>> {
        Ok(given.clone())
    }

    /// Those of the parameters that are worth showing.
    fn worth_showing(&self, parameters: Map<String, Value>) -> Map<String, Value> {
        parameters
    }

    /// Whether a segment that is built over chosen fragments is only staged, and finished by a merge
    /// of it alone.
    fn is_staged(&self) -> bool {
        false
    }

    /// What becomes of rows that a compaction moves which leaves the remapping of indexes to readers.
    fn moved_rows(&self) -> MovedRows {
        MovedRows::FoundOnce
    }

    /// Whether Lance finds nulls, too, with an index where a predicate is negated.
    fn finds_nulls_if_negated(&self) -> bool {
        false
    }

    /// The stage of building that counts rows.
    fn stage_of_rows(&self) -> Option<&'static str> {
        None
    }

    /// Whether full-text searches are answered from it.
    fn is_searched(&self) -> bool {
        false
    }

    /// How many tokens of a text a search looks for in the segment; `None` where the manifest doesn't
    /// tell.
    fn tokens_in(&self, _segment: &IndexMetadata, _text: &str) -> Option<usize> {
        None
    }
}

/// A type with nothing particular about it.
#[derive(Debug)]
pub(crate) struct Plain;

impl Storage for Plain {}

/// Lance's own type `P` of parameters, made from the given ones, as parameters again.
pub(super) fn completed<P: Serialize + DeserializeOwned>(
    given: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let complete = serde_json::from_value::<P>(given.clone().into()).and_then(serde_json::to_value);
    let mut complete = object(complete.map_err(unusable)?);
    complete.retain(|_, value| !value.is_null());
    Ok(with_others(complete, given))
}

/// The complete parameters, and what was given besides.
pub(super) fn with_others(
    mut complete: Map<String, Value>,
    given: &Map<String, Value>,
) -> Map<String, Value> {
    for (name, value) in given {
        complete.entry(name).or_insert_with(|| value.clone());
    }
    complete
}

/// The parameters that a JSON object has; other JSON has none.
pub(crate) fn object(json: Value) -> Map<String, Value> {
    match json {
        Value::Object(parameters) => parameters,
        _ => Map::new(),
    }
}

pub(super) fn unusable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::failed("completing the parameters of an index", error)
}
