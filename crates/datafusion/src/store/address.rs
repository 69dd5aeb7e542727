//! Where a table is, for another process.

use std::collections::{BTreeMap, HashMap};

use lance::dataset::builder::DatasetBuilder;
use serde::{Deserialize, Serialize};

use super::version::TableVersion;
use crate::error::{Error, Result};

/// Options of object stores that say where and how, and nothing that is to be kept secret. Any
/// other stays in the process it was given to.
const OPEN_OPTIONS: [&str; 14] = [
    "allow_http",
    "aws_default_region",
    "aws_endpoint",
    "aws_endpoint_url",
    "aws_region",
    "aws_s3_express",
    "aws_virtual_hosted_style_request",
    "azure_storage_account_name",
    "azure_storage_endpoint",
    "endpoint",
    "endpoint_url",
    "region",
    "use_path_style",
    "virtual_hosted_style_request",
];

/// Where a table is, as far as that may be told to another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableAddress {
    /// The location of the main branch.
    uri: String,
    branch: Option<String>,
    storage: BTreeMap<String, String>,
}

impl TableAddress {
    /// The table's address.
    ///
    /// # Errors
    /// The table is in this process's memory.
    pub(crate) fn try_of(table: &TableVersion) -> Result<Self> {
        let location = table.dataset.branch_location();
        let main = location.find_main();
        let main = main.map_err(|error| Error::failed("looking for the table's branch", error))?;
        if main.uri.starts_with("memory:") {
            return Err(Error::not_supported(format!(
                "the table '{}' is in this process's memory, where no worker finds it; SET \
                 lance_index.executor = 'local'",
                main.uri
            )));
        }
        let uri = absolute(main.uri)?;
        let options = table.dataset.initial_storage_options().into_iter().flatten();
        Ok(Self { uri, branch: location.branch, storage: open_options(options) })
    }

    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// Opens the table at that version of its branch.
    pub(crate) async fn open(&self, version: u64) -> Result<TableVersion> {
        let mut builder = DatasetBuilder::from_uri(&self.uri);
        if !self.storage.is_empty() {
            let options: HashMap<_, _> = self.storage.clone().into_iter().collect();
            builder = builder.with_storage_options(options);
        }
        let builder = match &self.branch {
            Some(branch) => builder.with_branch(branch, Some(version)),
            None => builder.with_version(version),
        };
        let opened = builder.load().await;
        let dataset = opened.map_err(|error| {
            Error::failed(format!("opening version {version} of the table '{}'", self.uri), error)
        })?;
        Ok(TableVersion::new(dataset))
    }
}

/// Workers have directories of their own.
fn absolute(uri: String) -> Result<String> {
    if uri.contains("://") {
        return Ok(uri);
    }
    let path = std::path::absolute(&uri);
    let path = path.map_err(|error| Error::failed(format!("looking for '{uri}'"), error))?;
    Ok(path.display().to_string())
}

fn open_options<'a>(
    options: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeMap<String, String> {
    let is_open = |key: &str, value: &str| {
        // An endpoint may have a user and a password in it.
        OPEN_OPTIONS.contains(&key.to_ascii_lowercase().as_str()) && !value.contains('@')
    };
    options
        .filter(|(key, value)| is_open(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_directories_of_their_own() {
        let here = std::env::current_dir().unwrap().join("t.lance");
        assert_eq!(absolute("t.lance".to_string()).unwrap(), here.display().to_string());
        for absolute_already in ["/data/t.lance", "s3://bucket/t.lance"] {
            assert_eq!(absolute(absolute_already.to_string()).unwrap(), absolute_already);
        }
    }

    #[test]
    fn secrets_stay() {
        let given = [
            ("region", "eu-west-1"),
            ("AWS_ENDPOINT", "http://127.0.0.1:9000"),
            ("endpoint", "http://user:marker@host"),
            ("aws_secret_access_key", "marker"),
            ("azure_storage_sas_token", "marker"),
            ("google_service_account_key", "marker"),
        ];
        let given: BTreeMap<String, String> =
            given.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let told: Vec<_> = open_options(given.iter()).into_keys().collect();
        assert_eq!(told, ["AWS_ENDPOINT", "region"]);
    }
}
