//! What travels from the driver to a worker: a line that says who speaks, and the attempt.

use datafusion_lance_index::executor::{RemoteAttempt, lance_version};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The format of what drivers and workers tell each other. Raised with every change of it.
pub const WIRE_FORMAT: u32 = 1;

/// The first line. Every format has it, so that one can say what is wrong about another.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    wire_format: u32,
    lance: String,
}

impl Header {
    fn ours() -> Self {
        Self { wire_format: WIRE_FORMAT, lance: lance_version() }
    }
}

/// Why a worker doesn't run what it was sent.
#[derive(Debug, Error)]
pub(crate) enum Refused {
    #[error(
        "the driver speaks wire format {} with Lance {}, this worker wire format {} with Lance {}; \
         run the same version on both",
        .theirs.wire_format, .theirs.lance, .ours.wire_format, .ours.lance
    )]
    Version { theirs: Box<Header>, ours: Box<Header> },
    #[error("this is no work unit that a worker runs: {0}")]
    Unknown(#[from] serde_json::Error),
    #[error("this is no work unit that a worker runs: it has no header")]
    NoHeader,
}

/// Our header as a line.
pub(crate) fn first_line() -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(&Header::ours())?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The attempt as bytes.
pub(crate) fn encode(attempt: &RemoteAttempt) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = first_line()?;
    serde_json::to_writer(&mut bytes, attempt)?;
    Ok(bytes)
}

/// Reads what [`encode`] wrote.
///
/// # Errors
/// Another version wrote it, or it asks for something else than a work unit.
pub(crate) fn decode(bytes: &[u8]) -> Result<RemoteAttempt, Refused> {
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(Refused::NoHeader)?;
    let (header, attempt) = bytes.split_at(end);
    let theirs: Header = serde_json::from_slice(header)?;
    let ours = Header::ours();
    if theirs != ours {
        return Err(Refused::Version { theirs: Box::new(theirs), ours: Box::new(ours) });
    }
    Ok(serde_json::from_slice(attempt)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An attempt at a unit over that many fragments, as a driver sends it.
    pub(crate) fn message(work_id: u32, fragments: u32) -> Vec<u8> {
        let bitmap = serde_json::to_value((0..fragments).collect::<roaring::RoaringBitmap>());
        let attempt = serde_json::json!({
            "table": { "uri": "/tmp/t.lance", "branch": null, "storage": {} },
            "work": { "Segment": {
                "read_version": 3,
                "definition": {
                    "name": "i",
                    "field": { "id": 0, "path": "id", "column": "id", "data_type": "Int64" },
                    "index_type": "btree",
                    "parameters": "{}",
                    "format": "",
                    "record": null,
                },
                "unit": {
                    "work_id": work_id,
                    "work": "BuildCoverage",
                    "fragments": bitmap.unwrap(),
                    "rows": 10,
                    "bytes": null,
                },
            } },
            "number": 1,
        });
        format!("{}\n{attempt}", serde_json::to_string(&Header::ours()).unwrap()).into_bytes()
    }

    fn changed(from: &str, to: &str) -> String {
        let message = String::from_utf8(message(0, 1)).unwrap();
        assert!(message.contains(from), "{message}");
        decode(message.replace(from, to).as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn round_trip() {
        let attempt = decode(&message(7, 3)).unwrap();
        assert_eq!((attempt.work().work_id(), attempt.number()), (7, 1));
        assert_eq!(attempt.work().kind(), "BuildCoverage");
        let again = decode(&encode(&attempt).unwrap()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{attempt:?}"));
    }

    #[test]
    fn other_versions_are_refused_by_name() {
        let lance = lance_version();
        let error = changed("\"wire_format\":1", "\"wire_format\":2");
        assert!(error.contains(&format!("wire format 2 with Lance {lance}")), "{error}");
        assert!(error.contains(&format!("wire format 1 with Lance {lance}")), "{error}");
        let error = changed(&format!("\"lance\":\"{lance}\""), "\"lance\":\"15.0.0\"");
        assert!(error.contains("wire format 1 with Lance 15.0.0"), "{error}");
        assert!(
            error.contains(&format!("this worker wire format 1 with Lance {lance}")),
            "{error}"
        );
    }

    #[test]
    fn nothing_but_the_three_kinds_is_run() {
        let error = changed("\"Segment\":", "\"Commit\":");
        let kinds = "unknown variant `Commit`, expected `Segment` or `Compaction`";
        assert!(error.contains(kinds), "{error}");
        let error = changed("\"BuildCoverage\"", "\"CommitSegments\"");
        assert!(error.contains("unknown variant `CommitSegments`"), "{error}");
        assert!(decode(b"DROP TABLE t").unwrap_err().to_string().contains("no header"));
    }

    #[test]
    fn a_unit_of_many_fragments_is_small() {
        assert!(message(0, 2000).len() < 32 << 10);
    }
}
