//! Writes records and removes them, in an order in which every crash is harmless.
//!
//! A record comes before the segments of a new index, goes before those of a dropped one, and is
//! written for an index that has none right after a commit of its segments. Each is one commit that
//! fails if the same keys have been changed meanwhile.

use lance_index_plan::{
    plan::{Action, MaintenancePlan},
    record::FieldFacts,
    snapshot::IndexDefinition,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    encoding::Damage,
    listing::{Catalog, Standing},
    messages::MaintenancePolicy,
    policy::PolicyOptions,
    record::{IndexRecord, policy_key, record_key},
    resolve::{Entry, SegmentFacts, entries},
};
use crate::{
    error::{Error, Result},
    index_type::IndexType,
    store::{
        commit::Committed,
        definition, fields,
        indexes::Indexes,
        metadata::{self, Changes},
        parameters,
        version::TableVersion,
    },
};

/// How often a record is tried to be written after what it is about was committed.
const TRIES: usize = 5;

/// A record that was written ahead of its segments, and what it took the place of.
#[derive(Debug)]
pub(crate) struct Announced {
    written: Changes,
    before: Changes,
}

/// What became of an announcement.
#[derive(Debug)]
pub(crate) enum Announcement {
    /// `None`: there was nothing to write.
    Done(Option<Announced>),
    /// Another writer changed the record at the same time.
    Conflict,
}

/// Whether the name has a record, whatever it says.
pub(crate) fn is_recorded(table: &TableVersion, index: &str) -> bool {
    metadata::get(table, &record_key(index)).is_some()
}

/// Writes the record of an index that is about to be created or replaced. If no records are to be
/// written, one that is there goes: it would be wrong of what comes.
pub(crate) async fn announce(
    table: &TableVersion,
    plan: &MaintenancePlan,
    write: bool,
) -> Result<Announcement> {
    let name = &plan.definition.name;
    let (record, policy) = (record_key(name), policy_key(name));
    if plan.action == Action::Create && metadata::get(table, &record).is_some() {
        return Ok(Announcement::Conflict);
    }
    let mut written = Changes::new();
    if !write {
        written.insert(record, None);
    } else if let Some(new) = new_record(table, plan)? {
        let text = new.encode().map_err(|damage| too_large(name, &damage))?;
        written.insert(record, Some(text));
    }
    // A policy outlives the replacement of its index, and nothing else.
    let catalog = Catalog::read(table).await?;
    let standing = catalog.standing(name).await;
    let is_known = matches!(standing, Standing::Recorded { .. } | Standing::Damaged(_));
    if !write || plan.action == Action::Create || !is_known {
        written.insert(policy, None);
    }
    written.retain(|key, value| metadata::get(table, key) != value.as_deref());
    if written.is_empty() {
        return Ok(Announcement::Done(None));
    }
    let before = written.keys();
    let before = before.map(|key| (key.clone(), metadata::get(table, key).map(str::to_string)));
    let announced = Announced { before: before.collect(), written };
    match metadata::update(table, &announced.written).await? {
        Committed::Done(_) => Ok(Announcement::Done(Some(announced))),
        Committed::Conflict(_) => Ok(Announcement::Conflict),
        Committed::Unknown(unknown) => {
            Err(unknown.into_error("SHOW INDEXES tells what came of it"))
        }
    }
}

/// The record of an index that is about to be made; `None` if it has that record: an index that is
/// replaced by its like stays the same one.
fn new_record(table: &TableVersion, plan: &MaintenancePlan) -> Result<Option<IndexRecord>> {
    let record = record_of(table, &plan.definition, Uuid::new_v4())?;
    let before = entries(metadata::entries(table)).remove(&plan.definition.name);
    Ok(match before {
        Some(Entry::Record(before)) if !before.is_later && before.defines_same(&record) => None,
        _ => Some(record),
    })
}

fn record_of(table: &TableVersion, definition: &IndexDefinition, id: Uuid) -> Result<IndexRecord> {
    let index_type = IndexType::of(definition)?;
    let given: Map<String, Value> = serde_json::from_str(&definition.parameters)
        .map_err(|error| Error::internal(format!("parameters that are no JSON: {error}")))?;
    let parameters = index_type.storage.complete(&given)?;
    let field = field_of(table, &definition.name, definition.field.id)?;
    Ok(IndexRecord::new(id, &definition.name, index_type.id, field, parameters, table.number()))
}

/// A record of the index as its segments tell it; one of a type that Lance alone maintains, as far as
/// the manifest does.
async fn record_of_segments(table: &TableVersion, name: &str) -> Result<IndexRecord> {
    let id = Uuid::new_v4();
    let indexes = Indexes::read(table).await?;
    match indexes.readable.get(name).and_then(|segments| segments.last()) {
        Some(newest) if definition::type_of(newest).is_none() => {
            let SegmentFacts { type_id, parameters, .. } = parameters::facts(newest);
            let field = newest.keyed_field().unwrap_or_default();
            let field = field_of(table, name, field)?;
            Ok(IndexRecord::new(id, name, &type_id, field, parameters, table.number()))
        }
        _ => record_of(table, &parameters::inferred(table, name).await?, id),
    }
}

fn field_of(table: &TableVersion, index: &str, id: i32) -> Result<FieldFacts> {
    fields::facts_by_id(table, id).ok_or_else(|| {
        Error::conflict(format!("the column of index '{index}' is gone; nothing was committed"))
    })
}

fn too_large(name: &str, damage: &Damage) -> Error {
    Error::invalid(format!("the record of index '{name}' can't be written: {damage}"))
}

/// Takes back an announcement whose segments were not committed, unless somebody has written over
/// it. What can't be taken back says that the index is unbuilt.
pub(crate) async fn withdraw(table: &TableVersion, announced: &Announced) {
    for _ in 0..TRIES {
        let Ok(latest) = table.latest().await else { break };
        let is_ours = |(key, value): (&String, &Option<String>)| {
            metadata::get(&latest, key) == value.as_deref()
        };
        if !announced.written.iter().all(is_ours) {
            return;
        }
        match metadata::update(&latest, &announced.before).await {
            Ok(Committed::Conflict(_)) => {}
            Ok(Committed::Done(_)) => return,
            Ok(Committed::Unknown(_)) | Err(_) => break,
        }
    }
    tracing::debug!("a record could not be taken back");
}

/// Writes the record of an index whose segments were just committed, if it has none or another
/// client has made another index of it. Answers the version that did it.
///
/// The statement is done whether this succeeds or not: the next one tries again.
pub(crate) async fn record_committed(
    committed: &TableVersion,
    plan: &MaintenancePlan,
) -> Option<u64> {
    let new = record_of(committed, &plan.definition, Uuid::new_v4());
    written(committed, &plan.definition.name, new).await
}

/// The same for an index that Lance maintained.
pub(crate) async fn record_delegated(committed: &TableVersion, name: &str) -> Option<u64> {
    let new = record_of_segments(committed, name).await;
    written(committed, name, new).await
}

async fn written(committed: &TableVersion, name: &str, new: Result<IndexRecord>) -> Option<u64> {
    let written = match new {
        Ok(new) => try_record(committed, new).await,
        Err(error) => Err(error),
    };
    written.unwrap_or_else(|error| {
        tracing::warn!("the record of index '{name}' was not written: {error}");
        None
    })
}

async fn try_record(committed: &TableVersion, new: IndexRecord) -> Result<Option<u64>> {
    let name = &new.name;
    let mut table = committed.clone();
    for _ in 0..TRIES {
        let catalog = Catalog::read(&table).await?;
        let mut changes = Changes::new();
        let record = match catalog.standing(name).await {
            Standing::Damaged(_) => return Ok(None),
            Standing::Recorded { record, .. } | Standing::Overtaken(record) if record.is_later => {
                return Ok(None);
            }
            Standing::Recorded { record, .. } => {
                if record.fields == new.fields {
                    return Ok(None);
                }
                // Renamed, or under another id since an overwrite.
                IndexRecord { fields: new.fields.clone(), ..record.clone() }
            }
            // What was dropped at once isn't recorded.
            _ if !catalog.has_segments(name) => return Ok(None),
            // The policy is one of another index, if there is any.
            Standing::Overtaken(_) | Standing::Inferred => {
                changes.insert(policy_key(name), None);
                new.clone()
            }
        };
        let record = IndexRecord { written_on: table.number(), ..record };
        let text = record.encode().map_err(|damage| too_large(name, &damage))?;
        changes.insert(record_key(name), Some(text));
        match metadata::update(&table, &changes).await? {
            Committed::Done(done) => return Ok(Some(done.number())),
            Committed::Conflict(_) => table = table.latest().await?,
            Committed::Unknown(unknown) => {
                return Err(unknown.into_error("SHOW INDEXES tells whether it was"));
            }
        }
    }
    Ok(None)
}

/// Removes the record and the policy of an index that is about to be dropped. Answers the version
/// that did it; `None` if there is neither.
pub(crate) async fn remove(
    table: &TableVersion,
    name: &str,
    retries: usize,
) -> Result<Option<u64>> {
    let mut tries = 0;
    loop {
        let latest = table.latest().await?;
        // Both, so that a policy which is set at the same time is a conflict.
        let changes = Changes::from([(record_key(name), None), (policy_key(name), None)]);
        if changes.keys().all(|key| metadata::get(&latest, key).is_none()) {
            return Ok(None);
        }
        match metadata::update(&latest, &changes).await? {
            Committed::Done(done) => return Ok(Some(done.number())),
            Committed::Conflict(_) if tries < retries => tries += 1,
            Committed::Conflict(error) => {
                return Err(Error::failed(format!("dropping index '{name}'"), error));
            }
            Committed::Unknown(unknown) => {
                return Err(unknown.into_error("SHOW INDEXES tells whether it is dropped"));
            }
        }
    }
}

/// What became of an attempt to store a policy.
#[derive(Debug)]
pub(crate) enum Stored {
    /// The version of the table after it.
    Done(u64),
    Conflict,
}

/// Stores the policy of an index, and its record if it has none.
pub(crate) async fn store_policy(
    catalog: &Catalog,
    name: &str,
    policy: PolicyOptions,
) -> Result<Stored> {
    let table = catalog.table();
    let mut changes = Changes::new();
    let text = match policy.is_empty() {
        true => None,
        false => {
            let text = super::encoding::encode(&MaintenancePolicy::from(policy));
            Some(text.map_err(|damage| too_large(name, &damage))?)
        }
    };
    changes.insert(policy_key(name), text);
    if !matches!(catalog.standing(name).await, Standing::Recorded { .. }) {
        let record = record_of_segments(table, name).await?;
        let text = record.encode().map_err(|damage| too_large(name, &damage))?;
        changes.insert(record_key(name), Some(text));
    }
    match metadata::update(table, &changes).await? {
        Committed::Done(done) => Ok(Stored::Done(done.number())),
        Committed::Conflict(_) => Ok(Stored::Conflict),
        Committed::Unknown(unknown) => {
            Err(unknown.into_error("SHOW CREATE INDEX tells whether it happened"))
        }
    }
}
