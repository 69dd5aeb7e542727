//! The indexes of one version of a table, recorded and inferred.

use std::collections::{BTreeMap, BTreeSet};

use lance_index_plan::{
    record::{Absence, Differing, FieldFacts, is_overtaken},
    snapshot::{IndexDefinition, SegmentSnapshot},
    tiers::MergePolicy,
};
use serde_json::Value;
use uuid::Uuid;

use super::{
    encoding::Damage,
    record::{IndexRecord, stored_policy},
    resolve::{Entry, differences, entries},
};
use crate::{
    error::{Error, Result},
    index_type::IndexType,
    store::{
        definition, fields, history,
        indexes::{Indexes, is_system_name},
        metadata, parameters,
        past::past,
        types,
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
    Recorded { record: &'a IndexRecord, differing: Vec<Differing> },
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
        let field_ids = match self.field(record).await {
            Some(field) => vec![field.id],
            None => record.field_ids(),
        };
        let segments = self.indexes.segments(name).iter().map(parameters::facts);
        let differing = differences(record, &field_ids, &segments.collect::<Vec<_>>());
        if !differing.is_empty() {
            let since = record.written_on;
            let events = history::lasting_events(&self.table, since, name).await;
            let past = history::segments(&self.table, since, name).await;
            let past = differences(record, &field_ids, &past);
            if is_overtaken(&differing, &past, since, events.as_deref()) {
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
        Some(past(&self.table, record).await.absence)
    }

    /// The field that the record is about, as it is today; `None` if it is gone or is another one.
    pub(crate) async fn field(&self, record: &IndexRecord) -> Option<FieldFacts> {
        let [recorded] = record.fields.as_slice() else { return None };
        let segments = self.indexes.segments(&record.name);
        let are_on_it = segments.iter().all(|segment| segment.fields == [recorded.id]);
        // Without segments, an overwrite may have given its id and its name to other columns.
        if !segments.is_empty()
            && are_on_it
            && fields::facts_by_id(&self.table, recorded.id).as_ref() == Some(recorded)
        {
            return Some(recorded.clone());
        }
        let past = past(&self.table, record).await;
        // Segments on a field of the name may be another client's.
        past.field.filter(|_| past.is_known || segments.is_empty())
    }

    /// The type of the index, if it is one that this version maintains.
    pub(crate) async fn index_type(&self, name: &str) -> Option<&'static IndexType> {
        match self.standing(name).await {
            Standing::Recorded { record, .. } => record.index_type(),
            _ => definition::type_of(self.indexes.segments(name).last()?),
        }
    }

    /// What the type of the index is called, if it is one that only Lance makes and maintains.
    pub(crate) async fn lances_alone(&self, name: &str) -> Option<String> {
        match self.standing(name).await {
            Standing::Recorded { record, .. } => {
                types::is_lances_alone(&record.type_id).then(|| record.type_name())
            }
            _ => {
                let newest = self.indexes.segments(name).last()?;
                let type_id = definition::type_id(newest);
                types::is_lances_alone(&type_id).then(|| definition::type_name(newest))
            }
        }
    }

    /// Checks that the index is of a type that this version or Lance maintains, as far as its record
    /// tells.
    ///
    /// # Errors
    /// It is recorded as something that its segments are not, and nobody here knows what.
    pub(crate) async fn check_type(&self, name: &str) -> Result<()> {
        let Standing::Recorded { record, .. } = self.standing(name).await else { return Ok(()) };
        match self.is_maintained(record) {
            true => Ok(()),
            false => Err(unknown_type(record)),
        }
    }

    /// Whether the recorded index is of a type that this version maintains, or that Lance does by its
    /// segments.
    fn is_maintained(&self, record: &IndexRecord) -> bool {
        let in_lance = || self.indexes.segments(&record.name).last().map(definition::type_id);
        record.index_type().is_some() || in_lance().as_ref() == Some(&record.type_id)
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
        let Some(index_type) = record.index_type() else {
            return if self.is_maintained(record) { Ok(None) } else { Err(unknown_type(record)) };
        };
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
        let differing = differing.into_iter().map(|each| (each.uuid, each.how)).collect();
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
        // Planning says so.
        if record.index_type().is_some() && self.field(record).await.is_none() {
            return None;
        }
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
    let (name, type_name) = (&record.name, record.type_name());
    Error::not_supported(match types::is_lances_alone(&record.type_id) {
        true => format!(
            "index '{name}' of type {type_name} has no segments, and only Lance's own create_index \
             makes some; DROP INDEX ends it"
        ),
        false => format!(
            "index '{name}' is of type {type_name}, which this version doesn't know; a newer one \
             maintains it"
        ),
    })
}

/// What is wrong with an index that has neither a record that can be read nor segments.
fn damaged(name: &str, damage: &Damage) -> String {
    format!(
        "the record of index '{name}' is damaged, and it has no segments: {damage}; CREATE OR \
         REPLACE INDEX makes it anew, DROP INDEX ends it"
    )
}
