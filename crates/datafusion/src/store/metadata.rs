//! The table's own metadata: a map of texts, which no client of Lance gives a meaning.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use lance::dataset::{
    CommitBuilder,
    transaction::{Operation, TransactionBuilder, UpdateMap, UpdateMapEntry},
};
use uuid::Uuid;

use super::{
    commit::{Committed, JOB_KEY, answered},
    version::TableVersion,
};
use crate::error::Result;

/// New values by key; `None` removes the key.
pub(crate) type Changes = BTreeMap<String, Option<String>>;

/// The metadata of that version.
pub(crate) fn entries(table: &TableVersion) -> impl Iterator<Item = (&str, &str)> {
    let entries = table.dataset.manifest().table_metadata.iter();
    entries.map(|(key, value)| (key.as_str(), value.as_str()))
}

/// The value of a key.
pub(crate) fn get<'a>(table: &'a TableVersion, key: &str) -> Option<&'a str> {
    table.dataset.manifest().table_metadata.get(key).map(String::as_str)
}

/// Changes the metadata in one commit, which is a conflict if any of these keys has been changed
/// since the anchor.
///
/// # Errors
/// Nothing was committed; or it was, and the version it made can't be opened.
pub(crate) async fn update(anchor: &TableVersion, changes: &Changes) -> Result<Committed> {
    let entry = |(key, value): (&String, &Option<String>)| UpdateMapEntry {
        key: key.clone(),
        value: value.clone(),
    };
    let update_entries = changes.iter().map(entry).collect();
    let operation = Operation::UpdateConfig {
        config_updates: None,
        table_metadata_updates: Some(UpdateMap { update_entries, replace: false }),
        schema_metadata_updates: None,
        field_metadata_updates: HashMap::new(),
    };
    let job = Uuid::new_v4();
    let properties = HashMap::from([(JOB_KEY.to_string(), job.to_string())]);
    let transaction = TransactionBuilder::new(anchor.number(), operation)
        .transaction_properties(Some(Arc::new(properties)))
        .build();
    match CommitBuilder::new(Arc::new(anchor.dataset.clone())).execute(transaction).await {
        Ok(dataset) => Ok(Committed::Done(Box::new(TableVersion::new(dataset)))),
        // Only another change of the same keys is one for this operation.
        Err(error @ lance::Error::IncompatibleTransaction { .. }) => Ok(Committed::Conflict(error)),
        Err(error) => answered(anchor, job, error).await,
    }
}
