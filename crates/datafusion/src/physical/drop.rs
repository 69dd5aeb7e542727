use std::{fmt, sync::Arc};

use arrow::{array::RecordBatch, datatypes::SchemaRef};
use async_trait::async_trait;

use super::{answer::Answer, report};
use crate::{
    catalog::persist,
    error::{Error, Result},
    settings::RunSettings,
    store::drop::drop_index,
    table::Target,
};

/// `DROP INDEX`: its record in one commit, its segments in another.
#[derive(Debug, Clone)]
pub(crate) struct DropIndex {
    pub target: Arc<Target>,
    pub index: String,
    /// `IF EXISTS`
    pub if_exists: bool,
}

impl fmt::Display for DropIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ON {}", self.index, self.target.name())
    }
}

#[async_trait]
impl Answer for DropIndex {
    fn name(&self) -> &'static str {
        "DropIndexExec"
    }

    fn schema(&self) -> SchemaRef {
        report::drop_schema()
    }

    async fn answer(&self, settings: RunSettings) -> Result<RecordBatch> {
        let table = self.target.table();
        // First the record: whatever comes between leaves an index that works without one.
        let unrecorded = persist::remove(table, &self.index, settings.commit_retries).await?;
        let dropped = drop_index(table, &self.index, settings.commit_retries).await?;
        if dropped.segments == 0 && unrecorded.is_none() {
            let what = format!("there is no index '{}'", self.index);
            if !self.if_exists {
                return Err(Error::conflict(format!("{what} any more")));
            }
            tracing::info!("{what}; nothing was done");
        }
        let counts = [dropped.segments as u64, dropped.version];
        report::row(self.schema(), &self.index, &counts)
    }
}
