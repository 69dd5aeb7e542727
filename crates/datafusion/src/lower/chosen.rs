use lance_index_sql::IndexTarget;

use super::index_name;
use crate::{
    catalog::Catalog,
    error::{ErrorKind, Result},
    logical::IndexJob,
    table::Target,
};

/// The indexes that a statement is about.
pub(super) struct Chosen {
    pub names: Vec<String>,
    /// The statement names its one index; otherwise it is about all of the table.
    pub by_name: bool,
}

impl Chosen {
    pub(super) fn new(catalog: &Catalog, target: &Target, wanted: &IndexTarget) -> Result<Self> {
        Ok(match wanted {
            IndexTarget::One(ident) => {
                Self { names: vec![index_name(catalog, target, ident)?], by_name: true }
            }
            IndexTarget::All => Self { names: catalog.names(), by_name: false },
        })
    }

    /// That the index is left out, if a statement about all indexes does that.
    pub(super) async fn left_out(&self, catalog: &Catalog, index: &str) -> Option<IndexJob> {
        if self.by_name {
            return None;
        }
        let reason = catalog.left_out(index).await?;
        Some(IndexJob::Skipped { index: index.to_string(), reason })
    }

    /// What is to be done to the index. That one of several can't be planned doesn't keep the
    /// others from being done.
    pub(super) fn job(&self, index: &str, planned: Result<IndexJob>) -> Result<IndexJob> {
        let index = index.to_string();
        match planned {
            Ok(job) => Ok(job),
            Err(error) if self.by_name || error.is_about_the_statement() => Err(error),
            Err(error) if error.kind() == ErrorKind::NotSupported => {
                Ok(IndexJob::Skipped { index, reason: error.to_string() })
            }
            Err(error) => Ok(IndexJob::Unplannable { index, reason: error.to_string() }),
        }
    }
}
