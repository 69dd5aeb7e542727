//! `SET lance_index.x = ...`

use std::{any::Any, fmt::Display, str::FromStr, time::Duration};

use datafusion::{
    common::{
        Result,
        config::{ConfigEntry, ConfigExtension, ExtensionOptions},
        config_err,
    },
    config::ConfigOptions,
};

/// The settings of index maintenance. Each is set by `SET lance_index.name = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanceIndexSettings {
    /// Work units that run at the same time; 0 stands for as many as the executor has
    /// [slots](crate::executor::WorkExecutor::slots), in this process for
    /// `datafusion.execution.target_partitions`.
    pub max_concurrent_units: usize,
    /// How often a work unit is tried before the statement fails.
    pub max_attempts: usize,
    /// Seconds after which one attempt is given up.
    pub attempt_timeout_secs: u64,
    /// How often a statement plans anew after a conflict with another writer.
    pub commit_retries: usize,
    /// Whether CREATE and REFRESH keep a record of each index in the table's metadata.
    pub write_v2: bool,
    /// The executor of work units: `local`, or the name of one that the session
    /// [has a factory for](crate::executor::ExecutorFactory), such as `distributed`. Empty: the
    /// session's own, which is the local one unless the host set another.
    pub executor: String,
    /// The workers of that executor, in its own spelling.
    pub workers: String,
}

impl Default for LanceIndexSettings {
    fn default() -> Self {
        Self {
            max_concurrent_units: 0,
            max_attempts: 3,
            attempt_timeout_secs: 3600,
            commit_retries: 5,
            write_v2: true,
            executor: String::new(),
            workers: String::new(),
        }
    }
}

// By hand, since what `extensions_options!` writes lists the settings without their prefix, so
// that SHOW doesn't find them.
impl ExtensionOptions for LanceIndexSettings {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "max_concurrent_units" => self.max_concurrent_units = number(key, value, 0)?,
            "max_attempts" => self.max_attempts = number(key, value, 1)?,
            "attempt_timeout_secs" => self.attempt_timeout_secs = number(key, value, 1)?,
            "commit_retries" => self.commit_retries = number(key, value, 0)?,
            "write_v2" => match value.to_ascii_lowercase().parse() {
                Ok(write) => self.write_v2 = write,
                Err(_) => {
                    return config_err!("lance_index.{key} takes true or false, not '{value}'");
                }
            },
            "executor" => self.executor = value.trim().to_ascii_lowercase(),
            "workers" => self.workers = value.trim().to_string(),
            _ => return config_err!("there is no setting lance_index.{key}"),
        }
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let entry = |key: &str, value: String, description| ConfigEntry {
            key: format!("{}.{key}", Self::PREFIX),
            value: Some(value),
            description,
        };
        vec![
            entry(
                "max_concurrent_units",
                self.max_concurrent_units.to_string(),
                "Work units that run at the same time; 0: the executor's slots, or datafusion.execution.target_partitions",
            ),
            entry(
                "max_attempts",
                self.max_attempts.to_string(),
                "How often a work unit is tried before the statement fails",
            ),
            entry(
                "attempt_timeout_secs",
                self.attempt_timeout_secs.to_string(),
                "Seconds after which one attempt is given up",
            ),
            entry(
                "commit_retries",
                self.commit_retries.to_string(),
                "How often a statement plans anew after a conflict with another writer",
            ),
            entry(
                "write_v2",
                self.write_v2.to_string(),
                "Whether CREATE and REFRESH record each index in the table's metadata",
            ),
            entry(
                "executor",
                self.executor.clone(),
                "Where work units run: local, distributed; empty: the session's own",
            ),
            entry(
                "workers",
                self.workers.clone(),
                "The workers of the distributed executor: http://host:port,...",
            ),
        ]
    }
}

fn number<T: FromStr + PartialOrd + Display>(key: &str, value: &str, least: T) -> Result<T> {
    match value.parse() {
        Ok(number) if number >= least => Ok(number),
        _ => config_err!("lance_index.{key} takes a whole number from {least}, not '{value}'"),
    }
}

impl ConfigExtension for LanceIndexSettings {
    const PREFIX: &'static str = "lance_index";
}

/// How work units are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// Work units that run at the same time; `None` leaves it to the executor.
    pub max_concurrent_units: Option<usize>,
    /// How many run at the same time on an executor that leaves it open.
    pub target_partitions: usize,
    /// How often a work unit is tried, at least once.
    pub max_attempts: usize,
    /// How long one attempt may take.
    pub attempt_timeout: Duration,
    /// How often a statement plans anew after a conflict.
    pub commit_retries: usize,
    /// Whether indexes are recorded in the table's metadata.
    pub write_v2: bool,
}

impl RunSettings {
    /// The settings of a session; the defaults where it has none.
    pub fn from_config(config: &ConfigOptions) -> Self {
        let settings = config.extensions.get::<LanceIndexSettings>().cloned().unwrap_or_default();
        let set = settings.max_concurrent_units;
        Self {
            max_concurrent_units: (set > 0).then_some(set),
            target_partitions: config.execution.target_partitions,
            max_attempts: settings.max_attempts.max(1),
            attempt_timeout: Duration::from_secs(settings.attempt_timeout_secs.max(1)),
            commit_retries: settings.commit_retries,
            write_v2: settings.write_v2,
        }
    }

    /// How many attempts to keep in flight on an executor with that many slots, at least one.
    pub fn concurrency(&self, slots: usize) -> usize {
        let wanted = match self.max_concurrent_units {
            Some(set) => set,
            None if slots == usize::MAX => self.target_partitions,
            None => slots,
        };
        wanted.min(slots).max(1)
    }
}
