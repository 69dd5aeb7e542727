//! What a worker tells of itself: `/health`, and `/metrics` in the text format of Prometheus.

use std::{
    fmt::Write,
    sync::{Arc, atomic::Ordering},
};

use axum::{Router, http::header::CONTENT_TYPE, routing::get};

use crate::units::Counters;

pub(crate) fn router(counters: Arc<Counters>) -> Router {
    let metrics =
        move || async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], metrics(&counters)) };
    Router::new().route("/health", get(async || "ok\n")).route("/metrics", get(metrics))
}

fn metrics(counters: &Counters) -> String {
    let Counters { waiting, running, done, failed, stopped } = counters;
    let mut text = String::new();
    for (name, kind, help, value) in [
        ("units_waiting", "gauge", "Units that wait for others to end.", waiting),
        ("units_running", "gauge", "Units that run.", running),
        ("units_done_total", "counter", "Units that were done.", done),
        ("units_failed_total", "counter", "Units that failed.", failed),
        ("units_stopped_total", "counter", "Units whose driver gave up or went away.", stopped),
    ] {
        let value = value.load(Ordering::Relaxed);
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "# HELP lance_index_{name} {help}\n# TYPE lance_index_{name} {kind}\n\
             lance_index_{name} {value}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print() {
        let counters = Counters::default();
        counters.done.store(3, Ordering::Relaxed);
        let text = metrics(&counters);
        assert!(text.contains(
            "# HELP lance_index_units_done_total Units that were done.\n\
             # TYPE lance_index_units_done_total counter\nlance_index_units_done_total 3\n"
        ));
        assert_eq!(text.lines().count(), 15);
    }
}
