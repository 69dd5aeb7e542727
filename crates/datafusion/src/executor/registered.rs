use std::sync::Arc;

use datafusion::prelude::SessionConfig;

use super::{ExecutorFactory, LocalExecutor, WorkExecutor};
use crate::{
    error::{Error, Result},
    settings::LanceIndexSettings,
};

/// The executor of a session, as it stands in the session's configuration.
#[derive(Debug, Clone)]
pub(crate) struct SessionExecutor(pub Arc<dyn WorkExecutor>);

impl Default for SessionExecutor {
    fn default() -> Self {
        Self(Arc::new(LocalExecutor))
    }
}

/// The executors that a session can be set to, besides its own and the local one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExecutorFactories(pub Vec<Arc<dyn ExecutorFactory>>);

impl SessionExecutor {
    /// The executor that the session is set to.
    ///
    /// # Errors
    /// `lance_index.executor` names none, or one that `lance_index.workers` names no workers for.
    pub(crate) fn of(config: &SessionConfig) -> Result<Self> {
        let settings = config.options().extensions.get::<LanceIndexSettings>();
        let (name, workers) = settings
            .map_or(("", ""), |settings| (settings.executor.as_str(), settings.workers.as_str()));
        if name.is_empty() {
            return Ok(config.get_extension::<Self>().as_deref().cloned().unwrap_or_default());
        }
        if name == LocalExecutor.name() {
            return Ok(Self::default());
        }
        let factories = config.get_extension::<ExecutorFactories>().unwrap_or_default();
        match factories.0.iter().find(|factory| factory.name() == name) {
            Some(factory) => Ok(Self(factory.executor(workers)?)),
            None => {
                let names = factories.0.iter().map(|factory| factory.name());
                let names: Vec<_> = [LocalExecutor.name()].into_iter().chain(names).collect();
                Err(Error::invalid(format!(
                    "lance_index.executor is '{name}'; this session has {}",
                    names.join(", ")
                )))
            }
        }
    }
}
