//! The indexes of one version of a table, recorded and inferred.

use std::collections::{BTreeMap, BTreeSet};

use lance_index_plan::{
    record::{Absence, Differing, is_overtaken},
    snapshot::{IndexDefinition, SegmentSnapshot},
    tiers::MergePolicy,
};
use serde_json::Value;
use uuid::Uuid;

use super::{
    encoding::Damage,
    record::{FieldFacts, IndexRecord, stored_policy},
    resolve::{Difference, Entry, differences, entries, field_of},
};
use crate::{
    error::{Error, Result},
    index_type::IndexType,
    store::{
        absence::absence,
        definition, fields, history,
        indexes::{Indexes, is_system_name},
        metadata, parameters,
        version::TableVersion,
    },
};

/// The indexes of one version of a table.
#[derive(Debug)]
pub(crate) struct Catalog {
    table: TableVersion,
    indexes: Indexes,
    entries: BTreeMap<String, Entry>,
}

/// What an index is known by.
#[derive(Debug)]
pub(crate) enum Standing<'a> {
    /// Its segments alone.
    Inferred,
    /// The same, since its record can't be read.
    Damaged(&'a Damage),
    /// Its record, from which some segments may differ: they are about to be replaced.
    Recorded { record: &'a IndexRecord, differing: Vec<Difference> },
    /// Its segments: another client has made another index of that name since it was recorded.
    Overtaken(&'a IndexRecord),
}

/// An index as its record defines it.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub definition: IndexDefinition,
    /// How segments differ from it.
    pub differing: BTreeMap<Uuid, String>,
}

impl Recorded {
    /// The definition, with the format that new segments have turned out to get.
    pub(crate) fn definition_with(&self, format: Option<&str>) -> IndexDefinition {
        let mut definition = self.definition.clone();
        if let Some(format) = format {
            definition.format = format.to_string();
        }
        definition
    }

    /// Gives the segments that differ from the record a format beside which none of its can stand.
    pub(crate) fn tell_apart(&self, segments: &mut [SegmentSnapshot]) {
        for segment in segments {
            if let Some(how) = self.differing.get(&segment.uuid) {
                segment.format = format!("{} ({how}, unlike the index's record)", segment.format);
            }
        }
    }
}

impl Catalog {
    /// Reads the manifest; opens no index file.
    pub(crate) async fn read(table: &TableVersion) -> Result<Self> {
        let indexes = Indexes::read(table).await?;
        let mut entries = entries(metadata::entries(table));
        entries.retain(|name, _| !is_system_name(name));
        Ok(Self { table: table.clone(), indexes, entries })
    }

    pub(crate) fn table(&self) -> &TableVersion {
        &self.table
    }

    pub(crate) fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// The names of all indexes, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let segments = self.indexes.names().into_iter();
        let names: BTreeSet<&str> =
            segments.chain(self.entries.keys().map(String::as_str)).collect();
        names.into_iter().map(str::to_string).collect()
    }

    pub(crate) fn has_segments(&self, name: &str) -> bool {
        !self.indexes.segments(name).is_empty()
    }

    /// The index's record, if it has one that can be read.
    pub(crate) fn record(&self, name: &str) -> Option<&IndexRecord> {
        match self.entries.get(name) {
            Some(Entry::Record(record)) => Some(record),
            Some(Entry::Damaged(_)) | None => None,
        }
    }

    /// What the index is known by. Reads the history where a segment differs from the record.
    pub(crate) async fn standing(&self, name: &str) -> Standing<'_> {
        let record = match self.entries.get(name) {
            None => return Standing::Inferred,
            Some(Entry::Damaged(damage)) => return Standing::Damaged(damage),
            Some(Entry::Record(record)) => record,
        };
        let segments = self.indexes.segments(name).iter().map(parameters::facts);
        let differing = differences(record, &segments.collect::<Vec<_>>());
        if !differing.is_empty() {
            let events = history::events(&self.table, record.written_on, name).await;
            let segments: Vec<Differing> = differing.iter().map(|each| each.segment).collect();
            if is_overtaken(&segments, record.written_on, events.as_deref()) {
                return Standing::Overtaken(record);
            }
        }
        Standing::Recorded { record, differing }
    }

    /// Why a recorded index has no segment; `None` if it has one.
    pub(crate) async fn absence(&self, record: &IndexRecord) -> Option<Absence> {
        if self.has_segments(&record.name) {
            return None;
        }
        Some(absence(&self.table, record.written_on, &record.name).await.0)
    }

    /// The field that the record is about, as it is today; `None` if it is gone or is another one.
    pub(crate) async fn field(&self, record: &IndexRecord) -> Option<FieldFacts> {
        let [recorded] = record.fields.as_slice() else { return None };
        let has_segments = self.has_segments(&record.name);
        let by_id = fields::facts_by_id(&self.table, recorded.id);
        if let Some(field) = field_of(recorded, by_id, None, has_segments, false) {
            return Some(field);
        }
        let by_path = fields::facts_by_path(&self.table, &recorded.path)?;
        let (_, cleared) = absence(&self.table, record.written_on, &record.name).await;
        field_of(recorded, None, Some(by_path), has_segments, cleared)
    }

    /// The type of the index, if it is one that this version maintains.
    pub(crate) async fn index_type(&self, name: &str) -> Option<&'static IndexType> {
        match self.standing(name).await {
            Standing::Recorded { record, .. } => record.index_type(),
            _ => definition::type_of(self.indexes.segments(name).last()?),
        }
    }

    /// Checks that the index is of a type that this version or Lance maintains, as far as its record
    /// tells.
    ///
    /// # Errors
    /// It is recorded as something that its segments are not, and nobody here knows what.
    pub(crate) async fn check_type(&self, name: &str) -> Result<()> {
        let Standing::Recorded { record, .. } = self.standing(name).await else { return Ok(()) };
        let in_lance = self.indexes.segments(name).last().map(definition::type_id);
        match record.index_type() {
            None if in_lance.as_ref() != Some(&record.type_id) => Err(unknown_type(record)),
            _ => Ok(()),
        }
    }

    /// The index as its record defines it, if that is what it is known by.
    ///
    /// # Errors
    /// This version can't maintain it, or its column has changed.
    pub(crate) async fn recorded(&self, name: &str) -> Result<Option<Recorded>> {
        let (record, differing) = match self.standing(name).await {
            Standing::Recorded { record, differing } => (record, differing),
            Standing::Damaged(damage) if !self.has_segments(name) => {
                return Err(Error::invalid(damaged(name, damage)));
            }
            Standing::Inferred | Standing::Damaged(_) | Standing::Overtaken(_) => return Ok(None),
        };
        let Some(index_type) = record.index_type() else { return Err(unknown_type(record)) };
        if record.fields.len() > 1 {
            return Err(Error::not_supported(format!(
                "index '{name}' is on several columns, which this version doesn't maintain"
            )));
        }
        let field = self.field(record).await;
        let field = field.and_then(|field| fields::by_id_in(&self.table, field.id));
        let Some(field) = field else {
            let was = record.fields.first().map(|field| field.path.as_str()).unwrap_or_default();
            return Err(Error::invalid(format!(
                "the column of index '{name}', {was}, is gone or is another one now; CREATE OR \
                 REPLACE INDEX makes the index anew, DROP INDEX ends it"
            )));
        };
        let stable_row_ids = self.table.stable_row_ids();
        let definition = IndexDefinition {
            name: name.to_string(),
            field,
            index_type: index_type.name.to_string(),
            format: definition::format_of_new(index_type, &record.parameters, stable_row_ids)?,
            parameters: Value::Object(record.parameters.clone()).to_string(),
            record: Some(record.id),
        };
        let differing = differing.into_iter().map(|each| (each.segment.uuid, each.how)).collect();
        Ok(Some(Recorded { definition, differing }))
    }

    /// The maintenance policy of the index: the one that is stored with it, or else the default.
    ///
    /// # Errors
    /// What is stored makes no policy.
    pub(crate) async fn policy(&self, name: &str) -> Result<MergePolicy> {
        let stored = match self.standing(name).await {
            Standing::Recorded { record, .. } => stored_policy(record),
            Standing::Inferred | Standing::Damaged(_) | Standing::Overtaken(_) => None,
        };
        match stored.filter(|options| !options.is_empty()) {
            None => Ok(MergePolicy::default()),
            Some(options) => options.to_policy().map_err(|error| {
                Error::invalid(format!(
                    "the policy that is stored with index '{name}' can't be used: {error}; ALTER \
                     INDEX ... SET mends it"
                ))
            }),
        }
    }

    /// Why a statement about all indexes leaves this one out, if it does.
    pub(crate) async fn left_out(&self, name: &str) -> Option<String> {
        let record = match self.entries.get(name)? {
            Entry::Record(record) => record,
            Entry::Damaged(damage) => {
                return (!self.has_segments(name)).then(|| damaged(name, damage));
            }
        };
        let what = match self.absence(record).await? {
            Absence::Unbuilt => return None,
            Absence::Dropped => "was dropped by another client",
            Absence::Unknown => "has lost its segments, and no history tells how",
        };
        Some(format!(
            "index '{name}' {what}; REFRESH INDEX builds it again by its name, DROP INDEX ends it"
        ))
    }
}

fn unknown_type(record: &IndexRecord) -> Error {
    Error::not_supported(format!(
        "index '{}' is of type {}, which this version doesn't know; a newer one maintains it",
        record.name, record.type_id
    ))
}

/// What is wrong with an index that has neither a record that can be read nor segments.
fn damaged(name: &str, damage: &Damage) -> String {
    format!(
        "the record of index '{name}' is damaged, and it has no segments: {damage}; CREATE OR \
         REPLACE INDEX makes it anew, DROP INDEX ends it"
    )
}
