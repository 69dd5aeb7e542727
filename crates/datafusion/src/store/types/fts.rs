//! `fts`: the words of texts, for searches that rank what they find.

use arrow_schema::Field;
use async_trait::async_trait;
use lance::{Dataset, index::scalar::load_segment_params};
use lance_index::{
    pbold::InvertedIndexDetails,
    scalar::inverted::{
        query::try_collect_query_tokens,
        tokenizer::{InvertedIndexParams, document_tokenizer::DocType},
    },
};
use lance_table::format::IndexMetadata;
use prost::Message;
use serde_json::{Map, Value};

use super::storage::{Storage, object, unusable, with_others};
use crate::{
    error::{Error, Result},
    index_type::{IndexType, Merge, Parameter, Postings, Values},
};

pub(super) static TYPE: IndexType = IndexType {
    id: "lance:fts",
    name: "fts",
    synonyms: &["inverted"],
    lance_name: "INVERTED",
    type_url: "/lance.table.InvertedIndexDetails",
    postings: Postings::RowIds,
    merge: Merge::KeepsDeleted,
    parameters: &[
        Parameter { name: LANCE_TOKENIZER, values: Values::Text },
        Parameter { name: "base_tokenizer", values: Values::Text },
        Parameter { name: "language", values: Values::Text },
        Parameter { name: "with_position", values: Values::Boolean },
        Parameter { name: "max_token_length", values: Values::Limit { min: 1, max: MOST } },
        Parameter { name: "lower_case", values: Values::Boolean },
        Parameter { name: "stem", values: Values::Boolean },
        Parameter { name: "remove_stop_words", values: Values::Boolean },
        Parameter { name: "ascii_folding", values: Values::Boolean },
        Parameter { name: "min_ngram_length", values: LENGTH },
        Parameter { name: "max_ngram_length", values: LENGTH },
        Parameter { name: "prefix_only", values: Values::Boolean },
        Parameter { name: "block_size", values: LENGTH },
        Parameter { name: "split_identifiers", values: Values::Boolean },
        Parameter { name: "split_on_numerics", values: Values::Boolean },
        Parameter { name: "preserve_original", values: Values::Boolean },
        Parameter { name: "index_operators", values: Values::Boolean },
    ],
    storage: &FullText,
};

const LANCE_TOKENIZER: &str = "lance_tokenizer";
const MOST: u64 = u16::MAX as u64;
const LENGTH: Values = Values::Integer { min: 1, max: MOST };

#[derive(Debug)]
struct FullText;

#[async_trait]
impl Storage for FullText {
    fn variant(&self, segment: &IndexMetadata, _stable_row_ids: bool) -> Option<String> {
        let known = settings(segment).map(|settings| settings.to_string());
        Some(known.unwrap_or_else(|| "(settings unknown)".to_string()))
    }

    fn variant_of_new(
        &self,
        parameters: &Map<String, Value>,
        _stable_row_ids: bool,
    ) -> Result<Option<String>> {
        let checked = from_parameters(parameters).and_then(|params| {
            // Finds a tokenizer that isn't there.
            params.build()?;
            canonical(&(&params).try_into()?)
        });
        let settings = checked.map_err(|error| {
            Error::refused("these full-text settings can't be used".to_string(), &error)
        })?;
        Ok(Some(settings.to_string()))
    }

    fn variant_beside(&self, newest: &IndexMetadata, _stable_row_ids: bool) -> Option<String> {
        let known = settings(newest).map(|settings| settings.to_string());
        // Its files have them, but nothing says that they are those of the other segments.
        Some(known.unwrap_or_else(|| format!("(settings of segment {})", newest.uuid)))
    }

    /// Posting lists of two formats can stand beside each other, but not be merged.
    fn merged_apart(&self, segment: &IndexMetadata) -> Option<String> {
        let version = details(segment)?.posting_format_version?;
        Some(format!("posting format {version}"))
    }

    fn parameters_in_manifest(&self, segment: &IndexMetadata) -> Option<Map<String, Value>> {
        settings(segment).map(object)
    }

    async fn parameters_in_files(
        &self,
        dataset: &Dataset,
        path: &str,
        segment: &IndexMetadata,
    ) -> lance::Result<Value> {
        let mut parameters = load_segment_params(dataset, segment).await?.to_training_json()?;
        // What follows from the column is no parameter of the index.
        let column = dataset.schema().field(path).map(Field::from);
        if let (Some(column), Some(parameters)) = (column, parameters.as_object_mut()) {
            let from_column = DocType::try_from(&column).ok();
            let from_column = from_column.as_ref().map(|of_column| of_column.as_ref());
            parameters.retain(|name, value| {
                name != LANCE_TOKENIZER || value.as_str().is_some_and(|it| Some(it) != from_column)
            });
        }
        Ok(parameters)
    }

    fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>> {
        let details = from_parameters(given).and_then(|params| (&params).try_into());
        let complete = details.and_then(|details| canonical(&details)).map_err(unusable)?;
        let mut complete = with_others(object(complete), given);
        // Without a value, Lance goes by the type of the column.
        complete.retain(|name, value| name != LANCE_TOKENIZER || !value.is_null());
        Ok(complete)
    }

    /// Those that aren't the default.
    fn worth_showing(&self, mut parameters: Map<String, Value>) -> Map<String, Value> {
        let defaults = (&InvertedIndexParams::default()).try_into();
        if let Ok(defaults) = defaults.and_then(|details| canonical(&details)) {
            parameters.retain(|name, value| defaults.get(name.as_str()) != Some(value));
        }
        parameters
    }

    fn is_staged(&self) -> bool {
        true
    }

    fn stage_of_rows(&self) -> Option<&'static str> {
        Some("tokenize_docs")
    }

    fn is_searched(&self) -> bool {
        true
    }

    /// Stop words are no tokens.
    fn tokens_in(&self, segment: &IndexMetadata, text: &str) -> Option<usize> {
        let params = InvertedIndexParams::try_from(&details(segment)?).ok()?;
        let mut tokenizer = params.build().ok()?;
        Some(try_collect_query_tokens(text, &mut tokenizer).ok()?.len())
    }
}

fn from_parameters(parameters: &Map<String, Value>) -> lance::Result<InvertedIndexParams> {
    Ok(serde_json::from_value(parameters.clone().into())?)
}

fn details(segment: &IndexMetadata) -> Option<InvertedIndexDetails> {
    InvertedIndexDetails::decode(segment.index_details.as_ref()?.value.as_slice()).ok()
}

/// The settings of a segment; `None` where its manifest entry doesn't have them, as those of old
/// versions don't.
fn settings(segment: &IndexMetadata) -> Option<Value> {
    let details = details(segment).filter(|details| details.base_tokenizer.is_some())?;
    canonical(&details).ok()
}

/// The settings with defaults filled in. Where the postings are kept in another version of the
/// posting format, segments still go together.
fn canonical(details: &InvertedIndexDetails) -> lance::Result<Value> {
    let mut details = details.clone();
    details.posting_format_version = None;
    let mut json = InvertedIndexParams::try_from(&details)?.to_training_json()?;
    if let Some(object) = json.as_object_mut() {
        object.remove("format_version");
        // Inferred from the column when it isn't set, and then not kept in the details.
        object.remove(LANCE_TOKENIZER);
    }
    Ok(json)
}
