//! What the history since an index was recorded tells of it.

use futures::StreamExt;
use lance::dataset::transaction::{Operation, Transaction};
use lance_index_plan::record::{Absence, FieldFacts, SchemaChange, trace, why_absent};

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
}

/// Reads the commits since the index was recorded, the latest first, until they tell.
pub(crate) async fn past(table: &TableVersion, record: &IndexRecord) -> Past {
    let mut reading = Reading::new(table, record);
    let known = reading.read().await;
    let recorded = record.fields.first();
    let (unless_told, from) = match known {
        Known::All => (Absence::Unbuilt, recorded.cloned()),
        Known::From(field) => (Absence::Unbuilt, Some(field)),
        Known::Nothing => (Absence::Unknown, None),
    };
    reading.changes.reverse();
    reading.changes.push(SchemaChange { fields: fields::all_facts(table), overwritten: false });
    Past {
        absence: reading.told.unwrap_or(unless_told),
        field: from
            .as_ref()
            .or(recorded)
            .and_then(|field| trace(field, from.is_some(), &reading.changes)),
    }
}

/// What is known of the table before the changes that were read.
enum Known {
    /// They are all since the index was recorded.
    All,
    /// The index had segments on this field.
    From(FieldFacts),
    Nothing,
}

struct Reading<'a> {
    /// The table, or the one that it is a branch of.
    table: TableVersion,
    record: &'a IndexRecord,
    told: Option<Absence>,
    /// The latest first.
    changes: Vec<SchemaChange>,
    /// The earliest overwrite that was read, and how many changes there are with it.
    overwritten: Option<(u64, usize)>,
}

impl<'a> Reading<'a> {
    fn new(table: &'a TableVersion, record: &'a IndexRecord) -> Self {
        let table = table.clone();
        Self { table, record, told: None, changes: Vec::new(), overwritten: None }
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
                let Some(commit) = commit else { return self.before_what_was_read().await };
                match &commit.operation {
                    // What came between is as if it had not been.
                    Operation::Restore { version } => {
                        newest = *version;
                        break;
                    }
                    Operation::Clone { ref_name, ref_version, branch_name: Some(_), .. } => {
                        let parent = self.table.on_branch(ref_name.clone(), *ref_version).await;
                        let Some(parent) = parent else {
                            return self.before_what_was_read().await;
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
        if oldest == since { Known::All } else { self.before_what_was_read().await }
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
            self.changes.push(SchemaChange { fields: fields::all_facts_in(schema), overwritten });
        }
        if overwritten {
            self.overwritten = Some((version, self.changes.len()));
        }
        let event = event(version, &commit.operation, &self.record.name)?;
        let ours = is_ours(commit);
        if self.told.is_none() {
            let agree = ours || self.agree(version, &commit.operation).await;
            self.told = why_absent(&event, agree);
        }
        match ours && !event.added.is_empty() {
            true => self.indexed_field(version).await,
            false => None,
        }
    }

    /// Whether the segments that another client's commit added are what the record says.
    async fn agree(&self, version: u64, operation: &Operation) -> bool {
        let Operation::CreateIndex { new_indices, .. } = operation else { return true };
        let name = &self.record.name;
        let facts = new_indices.iter().filter(|segment| segment.name == *name).map(facts);
        let facts: Vec<_> = facts.collect();
        let Some(SegmentFacts { field_ids, .. }) = facts.last() else { return true };
        if !differences(self.record, field_ids, &facts).is_empty() {
            return false;
        }
        let recorded = self.record.fields.first();
        let field = self.indexed_field(version).await;
        *field_ids == self.record.field_ids()
            || field.zip(recorded).is_some_and(|(field, recorded)| field.path == recorded.path)
    }

    /// The field from the version before the earliest overwrite, if the index had segments there.
    /// Where the table wasn't overwritten, segments that are on the recorded field still are.
    async fn before_what_was_read(&mut self) -> Known {
        let (version, changes) = match self.overwritten {
            Some((version, changes)) => (version - 1, changes),
            None => (self.table.number(), 0),
        };
        let field = self.indexed_field(version).await;
        let is_same = |field: &FieldFacts| {
            self.overwritten.is_some()
                || self.record.fields.iter().any(|it| it.id == field.id || it.path == field.path)
        };
        match field.filter(is_same) {
            Some(field) => {
                self.changes.truncate(changes);
                Known::From(field)
            }
            None => Known::Nothing,
        }
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
