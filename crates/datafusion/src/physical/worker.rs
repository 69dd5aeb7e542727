//! The name of a worker as a metric.

use std::{
    any::Any,
    fmt,
    sync::{Arc, OnceLock},
};

use datafusion::physical_plan::metrics::{CustomMetricValue, MetricValue};

/// The metric of that name whose value is a worker's name.
pub(super) fn worker_metric(metric: String, worker: String) -> MetricValue {
    MetricValue::Custom { name: metric.into(), value: Arc::new(Worker(OnceLock::from(worker))) }
}

/// A worker's name. Empty until another value is aggregated into it.
#[derive(Debug, Default)]
struct Worker(OnceLock<String>);

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get().map_or("", String::as_str))
    }
}

impl CustomMetricValue for Worker {
    fn new_empty(&self) -> Arc<dyn CustomMetricValue> {
        Arc::new(Self::default())
    }

    fn aggregate(&self, other: Arc<dyn CustomMetricValue>) {
        let other = other.as_any().downcast_ref::<Self>();
        if let Some(name) = other.and_then(|other| other.0.get()) {
            self.0.get_or_init(|| name.clone());
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_eq(&self, other: &Arc<dyn CustomMetricValue>) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.0.get() == other.0.get())
    }
}
