use std::{fmt, sync::Arc};

use arrow::{array::RecordBatch, datatypes::SchemaRef};
use async_trait::async_trait;

use super::{answer::Answer, report};
use crate::{
    error::Result,
    options::VacuumTableOptions,
    settings::RunSettings,
    store::vacuum::{self, Removal},
    table::Target,
};

/// `VACUUM TABLE`: removes old versions and the files that only they name.
#[derive(Debug, Clone)]
pub(crate) struct Vacuum {
    pub target: Arc<Target>,
    pub options: VacuumTableOptions,
    /// What it would remove, as far as somebody asks.
    pub dry_run: Option<DryRun>,
}

/// What a vacuum would do.
#[derive(Debug, Clone)]
pub(crate) struct DryRun {
    pub removal: Removal,
    /// The branches that start from the table.
    pub branches: Vec<String>,
}

impl fmt::Display for Vacuum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VacuumTableOptions { older_than, retain_versions, delete_unverified } = &self.options;
        write!(f, "{}, older_than={}s", self.target.name(), older_than.as_secs_f64())?;
        if let Some(versions) = retain_versions {
            write!(f, ", retain_versions={versions}")?;
        }
        if *delete_unverified {
            write!(f, ", delete_unverified=true")?;
        }
        Ok(())
    }
}

/// A line for what goes, and one for each branch.
impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Removal { versions, files, bytes, .. } = self.removal;
        if versions == 0 && files == 0 && bytes == 0 {
            write!(f, "\n  nothing to do")?;
        } else {
            write!(f, "\n  Remove versions={versions} files={files} bytes={bytes}")?;
        }
        for branch in &self.branches {
            write!(f, "\n  Keep what branch {branch} reads")?;
        }
        Ok(())
    }
}

#[async_trait]
impl Answer for Vacuum {
    fn name(&self) -> &'static str {
        "VacuumExec"
    }

    fn schema(&self) -> SchemaRef {
        report::vacuum_schema()
    }

    async fn answer(&self, _settings: RunSettings) -> Result<RecordBatch> {
        let latest = self.target.table().latest().await?;
        let removal = vacuum::vacuum(&latest, &self.options).await?;
        if removal.failed > 0 {
            tracing::warn!(
                "{} files of table '{}' could not be removed; the next VACUUM TABLE tries again",
                removal.failed,
                self.target.name()
            );
        }
        let Removal { versions, files, bytes, .. } = removal;
        report::row_of_counts(self.schema(), &[versions, files, bytes, latest.number()])
    }
}
