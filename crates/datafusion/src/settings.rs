//! `SET lance_index.x = ...`

use std::time::Duration;

use datafusion::{
    common::{config::ConfigExtension, extensions_options},
    config::ConfigOptions,
};

extensions_options! {
    /// The settings of index maintenance. Each is set by `SET lance_index.name = value`.
    pub struct LanceIndexSettings {
        /// Work units that run at the same time; 0 stands for `datafusion.execution.target_partitions`.
        pub max_concurrent_units: usize, default = 0
        /// How often a work unit is tried before the statement fails.
        pub max_attempts: usize, default = 3
        /// Seconds after which one attempt is given up.
        pub attempt_timeout_secs: u64, default = 3600
        /// How often a statement plans anew after a conflict with another writer.
        pub commit_retries: usize, default = 5
    }
}

impl ConfigExtension for LanceIndexSettings {
    const PREFIX: &'static str = "lance_index";
}

/// How work units are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// Work units that run at the same time, at least one.
    pub max_concurrent_units: usize,
    /// How often a work unit is tried, at least once.
    pub max_attempts: usize,
    /// How long one attempt may take.
    pub attempt_timeout: Duration,
    /// How often a statement plans anew after a conflict.
    pub commit_retries: usize,
}

impl RunSettings {
    /// The settings of a session; the defaults where it has none.
    pub fn from_config(config: &ConfigOptions) -> Self {
        let settings = config.extensions.get::<LanceIndexSettings>().cloned().unwrap_or_default();
        let max_concurrent_units = match settings.max_concurrent_units {
            0 => config.execution.target_partitions.max(1),
            set => set,
        };
        Self {
            max_concurrent_units,
            max_attempts: settings.max_attempts.max(1),
            attempt_timeout: Duration::from_secs(settings.attempt_timeout_secs.max(1)),
            commit_retries: settings.commit_retries,
        }
    }
}
