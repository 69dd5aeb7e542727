//! What SHOW INDEXES says, of recorded indexes too.

use std::collections::BTreeMap;

use lance_index_plan::record::{Absence, Differing};
use serde_json::Value;

use super::{
    listing::{Catalog, Standing},
    record::{IndexRecord, StoredPolicy},
};
use crate::{
    error::Result,
    store::{
        describe::{self, IndexDescription, State},
        fields,
        version::TableVersion,
    },
};

/// Every index of the table, by name; opens no index file.
pub(crate) async fn describe(table: &TableVersion) -> Result<Vec<IndexDescription>> {
    let catalog = Catalog::read(table).await?;
    let mut policies = BTreeMap::new();
    for name in catalog.names() {
        let policy = catalog.policy(&name).await.unwrap_or_default();
        policies.insert(name, policy);
    }
    let mut described = describe::indexes(table, catalog.indexes(), &policies).await?;
    for index in &mut described {
        let name = index.name.clone();
        match catalog.standing(&name).await {
            Standing::Inferred => {}
            Standing::Damaged(damage) => {
                index.source = format!("inferred (damaged v2: {damage})");
            }
            Standing::Overtaken(_) => {
                index.source = "inferred (v2 is of an earlier index)".to_string();
            }
            Standing::Recorded { record, differing } => {
                index.state = state(&catalog, record, &differing, index.state).await;
                recorded(&catalog, record, &differing, index).await;
            }
        }
    }
    Ok(described)
}

async fn state(
    catalog: &Catalog,
    record: &IndexRecord,
    differing: &[Differing],
    by_segments: State,
) -> State {
    if by_segments == State::Unreadable
        && catalog.has_segments(&record.name)
        && differing.is_empty()
    {
        return State::Unreadable;
    }
    if record.index_type().is_some() && catalog.field(record).await.is_none() {
        return State::ColumnChanged;
    }
    match catalog.absence(record).await {
        Some(Absence::Unbuilt) => State::Unbuilt,
        Some(Absence::Dropped) => State::DroppedElsewhere,
        Some(Absence::Unknown) => State::Gone,
        // What is there is not what the index is to be.
        None if !differing.is_empty() => State::Unbuilt,
        None => by_segments,
    }
}

async fn recorded(
    catalog: &Catalog,
    record: &IndexRecord,
    differing: &[Differing],
    index: &mut IndexDescription,
) {
    index.index_type = record.type_name();
    index.fields = fields(catalog, record).await;
    index.config = Some(Value::Object(record.shown()).to_string());
    let mut notes = Vec::new();
    if let Some(Differing { how, .. }) = differing.first() {
        notes.push(format!("{} of {} segments {how}", differing.len(), index.segments.len()));
        index.unindexed_fragments += std::mem::take(&mut index.indexed_fragments);
        index.unindexed_rows += std::mem::take(&mut index.indexed_rows);
    }
    if record.is_later {
        notes.push("of a later version".to_string());
    }
    if let StoredPolicy::Damaged(damage) = &record.policy {
        notes.push(format!("damaged policy: {damage}"));
    }
    index.source = match notes.is_empty() {
        true => "v2".to_string(),
        false => format!("v2 ({})", notes.join("; ")),
    };
}

/// The fields as they are called today; those that are gone, by the path that they had.
async fn fields(catalog: &Catalog, record: &IndexRecord) -> String {
    if let Some(field) = catalog.field(record).await
        && let Some(field) = fields::by_id_in(catalog.table(), field.id)
    {
        return field.column;
    }
    let paths: Vec<&str> = record.fields.iter().map(|field| field.path.as_str()).collect();
    paths.join(", ")
}
