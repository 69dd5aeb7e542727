//! Replaces in a transcript what is different each time.

use regex::{Captures, Regex};

use crate::Result;

pub struct Mask {
    /// Where the script's tables are.
    location: String,
    /// The same without the slash, or the bucket, before it: plans print it so.
    directory: String,
    uuid: Regex,
    elapsed: Regex,
    source: Regex,
    removed: Regex,
    worker: Regex,
    /// The segments in the order in which the transcript names them.
    segments: Vec<String>,
}

impl Mask {
    pub fn new(location: &str) -> Result<Self> {
        let directory = match location.strip_prefix("s3://").and_then(|it| it.split_once('/')) {
            Some((_bucket, directory)) => directory,
            None => location.trim_start_matches('/'),
        };
        Ok(Self {
            location: location.to_string(),
            directory: directory.to_string(),
            uuid: Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")?,
            elapsed: Regex::new(r"(^|=)[0-9.]+(ns|µs|ms|s)\b")?,
            source: Regex::new(r"/[^ ]+\.rs:[0-9]+:[0-9]+")?,
            // Manifests are among them, and hold times.
            removed: Regex::new("(Remove .*bytes=)[0-9]+")?,
            worker: Regex::new(r",? (unit_[0-9]+_worker=|on )http://[0-9.:]+")?,
            segments: Vec::new(),
        })
    }

    /// The text with the directory as `{dir}`, segments by number, and neither times, places in
    /// Lance's source, the size of what a vacuum removes, nor where work ran.
    pub fn apply(&mut self, text: &str) -> String {
        let text = text.replace(&self.location, "{dir}");
        let text = text.replace(&self.directory, "{dir}");
        let text = self.source.replace_all(&text, "<source>");
        let text = self.elapsed.replace_all(&text, "$1<time>");
        let text = self.removed.replace_all(&text, "$1<bytes>");
        let text = text.replace("executor=distributed", "executor=local");
        // In the middle of a box.
        let text = text.replace("   executor: distributed   ", "      executor: local      ");
        let text = self.worker.replace_all(&text, "");
        let segments = &mut self.segments;
        let number = |uuid: &Captures<'_>| {
            let known = segments.iter().position(|known| *known == uuid[0]);
            let at = known.unwrap_or_else(|| {
                segments.push(uuid[0].to_string());
                segments.len() - 1
            });
            format!("segment-{}", at + 1)
        };
        self.uuid.replace_all(&text, number).into_owned()
    }
}
