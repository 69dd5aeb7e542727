use std::{fmt, sync::Arc};

use arrow::{array::RecordBatch, datatypes::SchemaRef};
use async_trait::async_trait;
use uuid::Uuid;

use super::{answer::Answer, conflicts::Conflicts, report};
use crate::{
    catalog::{
        Catalog, Standing,
        persist::{self, Stored},
        policy::{PolicyOption, PolicyOptions},
        record::{IndexRecord, StoredPolicy},
    },
    error::{Error, Result},
    settings::RunSettings,
    table::Target,
};

/// `ALTER INDEX ... SET` and `RESET`: changes the stored policy in one commit.
#[derive(Debug, Clone)]
pub(crate) struct AlterIndex {
    pub target: Arc<Target>,
    pub index: String,
    /// The id of the index's record when the statement was planned, if it had one.
    pub record: Option<Uuid>,
    pub change: PolicyChange,
}

/// Options and their new values; `None` for those that are reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicyChange(pub Vec<(PolicyOption, Option<u64>)>);

impl PolicyChange {
    pub(crate) fn of(&self, policy: PolicyOptions) -> PolicyOptions {
        self.0.iter().fold(policy, |policy, (option, value)| policy.with(*option, *value))
    }
}

impl fmt::Display for AlterIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes = self.change.0.iter().map(|(option, value)| match value {
            Some(value) => format!("SET {} = {value}", option.name()),
            None => format!("RESET {}", option.name()),
        });
        let changes: Vec<_> = changes.collect();
        write!(f, "{} ON {}, {}", self.index, self.target.name(), changes.join(", "))
    }
}

/// Whether the policy of an index can be changed, and what it is.
///
/// # Errors
/// It was written by a later version, or can't be read; the error says what can be done.
pub(crate) async fn changeable(catalog: &Catalog, index: &str) -> Result<Changeable> {
    if let Some(name) = catalog.lances_alone(index).await {
        return Err(Error::not_supported(format!(
            "index '{index}' is of type {name}, which Lance itself maintains: it has no policy"
        )));
    }
    let record = match catalog.standing(index).await {
        Standing::Overtaken(record) if record.is_later => record,
        Standing::Inferred | Standing::Overtaken(_) => {
            let (record, is_stored) = (None, false);
            return Ok(Changeable { record, policy: PolicyOptions::default(), is_stored });
        }
        Standing::Damaged(damage) => {
            return Err(Error::invalid(format!(
                "the record of index '{index}' is damaged: {damage}; CREATE OR REPLACE INDEX makes \
                 the index anew"
            )));
        }
        Standing::Recorded { record, .. } => record,
    };
    if record.is_later || matches!(record.policy, StoredPolicy::Later(_)) {
        return Err(Error::not_supported(format!(
            "index '{index}' was recorded by a later version, which alone can change the record"
        )));
    }
    let IndexRecord { id, policy, .. } = record;
    // One that can't be read is replaced whole.
    let is_stored = !matches!(policy, StoredPolicy::Damaged(_));
    Ok(Changeable { record: Some(*id), policy: policy.options(), is_stored })
}

/// A policy that can be changed.
#[derive(Debug)]
pub(crate) struct Changeable {
    /// The id of the index's record, if it has one.
    pub record: Option<Uuid>,
    pub policy: PolicyOptions,
    /// Whether it is what the table's metadata has.
    is_stored: bool,
}

#[async_trait]
impl Answer for AlterIndex {
    fn name(&self) -> &'static str {
        "AlterIndexExec"
    }

    fn schema(&self) -> SchemaRef {
        report::alter_schema()
    }

    async fn answer(&self, settings: RunSettings) -> Result<RecordBatch> {
        let index = &self.index;
        let mut conflicts = Conflicts::new(format!("index '{index}'"), settings.commit_retries);
        let version = loop {
            let catalog = Catalog::read(&self.target.table().latest().await?).await?;
            let now = changeable(&catalog, index).await?;
            let is_there = catalog.names().contains(index);
            if !is_there || self.record.is_some_and(|planned| now.record != Some(planned)) {
                return Err(Error::conflict(format!(
                    "index '{index}' was dropped or replaced while the statement ran; nothing was \
                     committed"
                )));
            }
            let policy = self.change.of(now.policy);
            // Another statement may have changed the rest of it.
            if !policy.is_empty() {
                policy.to_policy().map_err(|error| Error::conflict(error.to_string()))?;
            }
            if policy == now.policy && (now.is_stored || policy.is_empty()) {
                break catalog.table().number();
            }
            match persist::store_policy(&catalog, index, policy).await? {
                Stored::Done(version) => break version,
                Stored::Conflict => conflicts.next().await?,
            }
        };
        report::row(self.schema(), index, &[version])
    }
}
