//! Opens a table at the version that is wanted.

use lance::Dataset;

use crate::error::{Error, Result};

/// The table at its latest version.
pub(crate) async fn latest(dataset: &Dataset) -> Result<Dataset> {
    let mut latest = dataset.clone();
    let opened = latest.checkout_latest().await;
    opened.map_err(|error| Error::failed("opening the latest version of the table", error))?;
    Ok(latest)
}

/// The table at the given version of its branch.
pub(crate) async fn at(dataset: &Dataset, version: u64) -> Result<Dataset> {
    if dataset.manifest().version == version {
        return Ok(dataset.clone());
    }
    let opened = dataset.checkout_version(version).await;
    opened.map_err(|error| Error::failed(format!("opening version {version} of the table"), error))
}

/// The table at the given version, or `None` if cleanup has removed that version.
pub(crate) async fn if_still_there(dataset: &Dataset, version: u64) -> Result<Option<Dataset>> {
    match dataset.checkout_version(version).await {
        Ok(dataset) => Ok(Some(dataset)),
        Err(
            lance::Error::DatasetNotFound { .. }
            | lance::Error::NotFound { .. }
            | lance::Error::VersionNotFound { .. },
        ) => Ok(None),
        Err(error) => Err(Error::failed(format!("opening version {version} of the table"), error)),
    }
}
