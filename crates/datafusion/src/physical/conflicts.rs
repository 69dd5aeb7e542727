use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use crate::error::{Error, Result};

/// How often a statement may still give way to other writers.
pub(crate) struct Conflicts {
    /// What the statement is about, for its error.
    subject: String,
    delays: Box<dyn Iterator<Item = Duration> + Send>,
    retries: usize,
}

impl Conflicts {
    pub(crate) fn new(subject: String, retries: usize) -> Self {
        let delays = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(20))
            .with_max_delay(Duration::from_secs(2))
            .with_jitter()
            .with_max_times(retries);
        Self { subject, delays: Box::new(delays.build()), retries }
    }

    /// Waits before the next try.
    pub(crate) async fn next(&mut self) -> Result<()> {
        match self.delays.next() {
            Some(delay) => {
                tokio::time::sleep(delay).await;
                Ok(())
            }
            None => Err(Error::conflict(format!(
                "{}: other writers were faster {} times (lance_index.commit_retries); nothing was \
                 committed",
                self.subject,
                self.retries + 1
            ))),
        }
    }
}
