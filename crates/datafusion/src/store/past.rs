//! What the history since an index was recorded tells of it.

use futures::StreamExt;
use lance::dataset::transaction::{Operation, Transaction};
use lance_index_plan::record::{Absence, FieldFacts, SchemaChange, trace, why_absent};
use lance_table::format::IndexMetadata;

use super::{
    commit::is_ours,
    definition::type_id,
    fields,
    history::{CONCURRENT_READS, MOST_COMMITS, event},
    indexes::Indexes,
    parameters::facts,
    version::TableVersion,
};
use crate::catalog::{
    record::IndexRecord,
    resolve::{SegmentFacts, differences},
};

/// What became of a recorded index.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    /// Why it has no segment, if it has none.
    pub absence: Absence,
    /// The recorded field as it is today; `None` if it is gone or has another type.
    pub field: Option<FieldFacts>,
    /// Whether the history tells so. Otherwise it is the field of the recorded name.
    pub is_known: bool,
}

/// Reads the commits since the index was recorded, the latest first, until they tell.
pub(crate) async fn past(table: &TableVersion, record: &IndexRecord) -> Past {
    let mut reading = Reading::new(table, record);
    let known = reading.read().await;
    let recorded = record.fields.first();
    let (unless_told, from) = match known {
        Known::All => (Absence::Unbuilt, recorded.cloned()),
        Known::From(ref field) => (Absence::Unbuilt, Some(field.clone())),
        Known::Gone | Known::Nothing => (Absence::Unknown, None),
    };
    let mut changes: Vec<_> = reading.changes.into_iter().rev().map(|(_, change)| change).collect();
    changes.push(SchemaChange { fields: fields::all_facts(table), overwritten: false });
    let is_known = !matches!(known, Known::Nothing);
    let start = from.as_ref().or(recorded).filter(|_| !matches!(known, Known::Gone));
    Past {
        absence: reading.told.unwrap_or(unless_told),
        field: start.and_then(|field| trace(field, is_known, &changes)),
        is_known,
    }
}

/// What is known of the table before the changes that were read.
enum Known {
    /// They are all since the index was recorded.
    All,
    /// The index was on this field then.
    From(FieldFacts),
    /// The field was gone.
    Gone,
    Nothing,
}

struct Reading<'a> {
    /// The table, or the one that it is a branch of.
    table: TableVersion,
    record: &'a IndexRecord,
    told: Option<Absence>,
    /// Each with its version, the latest first.
    changes: Vec<(u64, SchemaChange)>,
    /// The version that was read last, and of which table.
    earliest: (TableVersion, u64),
    /// The earliest overwrite that was read.
    overwritten: Option<(TableVersion, u64)>,
}

impl<'a> Reading<'a> {
    fn new(table: &'a TableVersion, record: &'a IndexRecord) -> Self {
        Self {
            table: table.clone(),
            record,
            told: None,
            changes: Vec::new(),
            earliest: (table.clone(), table.number()),
            overwritten: None,
        }
    }

    async fn read(&mut self) -> Known {
        let since = self.record.written_on;
        let mut newest = self.table.number();
        let oldest = since.max(newest.saturating_sub(MOST_COMMITS));
        while newest > oldest {
            let table = self.table.clone();
            let versions = (oldest + 1..=newest).rev();
            let commits: Vec<_> =
                versions.map(async |version| (version, table.commit(version).await)).collect();
            let mut commits = futures::stream::iter(commits).buffered(CONCURRENT_READS);
            newest = oldest;
            while let Some((version, commit)) = commits.next().await {
                let Some(commit) = commit else { return self.known_from_versions(version).await };
                self.earliest = (self.table.clone(), version);
                match &commit.operation {
                    // What came between is as if it had not been.
                    Operation::Restore { version } => {
                        newest = *version;
                        break;
                    }
                    Operation::Clone { ref_name, ref_version, branch_name: Some(_), .. } => {
                        let parent = self.table.on_branch(ref_name.clone(), *ref_version).await;
                        let Some(parent) = parent else {
                            return self.known_from_versions(version).await;
                        };
                        self.table = parent;
                        newest = *ref_version;
                        break;
                    }
                    _ => {}
                }
                if let Some(field) = self.read_commit(version, &commit).await {
                    return Known::From(field);
                }
            }
        }
        if oldest == since { Known::All } else { self.known_from_versions(oldest).await }
    }

    /// Answers the field that the index was on, if this commit added segments of it.
    async fn read_commit(&mut self, version: u64, commit: &Transaction) -> Option<FieldFacts> {
        let (schema, overwritten) = match &commit.operation {
            Operation::Overwrite { schema, .. } => (Some(schema), true),
            Operation::Project { schema, .. } | Operation::Merge { schema, .. } => {
                (Some(schema), false)
            }
            _ => (None, false),
        };
        if let Some(schema) = schema {
            let change = SchemaChange { fields: fields::all_facts_in(schema), overwritten };
            self.changes.push((version, change));
        }
        if overwritten {
            self.overwritten = Some((self.table.clone(), version));
        }
        let event = event(version, &commit.operation, &self.record.name)?;
        let agree = !event.added.is_empty() && self.agree(version, &commit.operation).await;
        self.told = self.told.or_else(|| why_absent(&event, agree));
        if !agree || !is_ours(commit) {
            return None;
        }
        // Under another id, it is the recorded field only if an overwrite came before.
        let field = self.indexed_field(version).await?;
        self.record.field_ids().contains(&field.id).then_some(field)
    }

    /// Whether the segments that a commit added are what the record says.
    async fn agree(&self, version: u64, operation: &Operation) -> bool {
        let Operation::CreateIndex { new_indices, .. } = operation else { return true };
        let name = &self.record.name;
        let facts = new_indices.iter().filter(|segment| segment.name == *name).map(facts);
        let facts: Vec<_> = facts.collect();
        let Some(SegmentFacts { field_ids, .. }) = facts.last() else { return true };
        if !differences(self.record, field_ids, &facts).is_empty() {
            return false;
        }
        if *field_ids == self.record.field_ids() {
            return true;
        }
        let recorded = self.record.fields.first();
        let field = self.indexed_field(version).await;
        field.zip(recorded).is_some_and(|(field, recorded)| field.path == recorded.path)
    }

    /// What the versions say of the field that are there where the commits before them can't be read:
    /// the one of that commit, the last that was read, or the one before the earliest overwrite.
    async fn known_from_versions(&mut self, unread: u64) -> Known {
        let before_overwrite = self.overwritten.take().map(|(table, version)| (table, version - 1));
        let versions = [(self.table.clone(), unread), self.earliest.clone()];
        for (table, version) in versions.into_iter().chain(before_overwrite) {
            let Some(field) = self.field_at(&table, version).await else { continue };
            self.changes.retain(|(changed, _)| *changed > version);
            return match field {
                Some(field) => Known::From(field),
                None => Known::Gone,
            };
        }
        Known::Nothing
    }

    /// The recorded field in that version, if the version is there and its segments tell: since an
    /// overwrite takes them all, one from before the record shows that there was none, and fields
    /// have had their ids since; so does one on the recorded field.
    async fn field_at(&self, table: &TableVersion, version: u64) -> Option<Option<FieldFacts>> {
        let table = table.if_still_there(version).await.ok()??;
        let indexes = Indexes::read(&table).await.ok()?;
        let recorded = self.record.fields.first()?;
        let mut segments = indexes.segments(&self.record.name).iter();
        let tells = |segment: &IndexMetadata| {
            segment.dataset_version <= self.record.written_on
                || (type_id(segment) == self.record.type_id && segment.fields == [recorded.id])
        };
        segments.any(tells).then(|| fields::facts_by_id(&table, recorded.id))
    }

    /// The field that segments of the recorded type are on in that version, if it is still there.
    async fn indexed_field(&self, version: u64) -> Option<FieldFacts> {
        let table = self.table.if_still_there(version).await.ok()??;
        let indexes = Indexes::read(&table).await.ok()?;
        let segment = indexes.segments(&self.record.name).last()?;
        match segment.fields.as_slice() {
            [id] if type_id(segment) == self.record.type_id => fields::facts_by_id(&table, *id),
            _ => None,
        }
    }
}
