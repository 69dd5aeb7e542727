//! Whatever stands in a table's metadata, or comes back from a worker, is read or is an error.
//!
//! Only in tests and in builds for coverage-guided fuzzing.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    catalog::{
        MaintenancePolicy, encoding,
        record::{IndexRecord, StoredPolicy},
    },
    store::{built::BuiltSegment, compact::Rewritten},
};

/// Reads bytes as what their first one says: `t` the text of a record and of a policy, `r` a record,
/// `p` a policy, `s` a built segment, `c` a compacted group of fragments.
///
/// # Panics
/// What was read isn't the same when it is written and read again.
pub fn read(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind {
        b't' => {
            let text = String::from_utf8_lossy(bytes);
            read_record(&text);
            read_policy(&text);
        }
        b'r' => read_record(&STANDARD.encode(bytes)),
        b'p' => read_policy(&STANDARD.encode(bytes)),
        b's' => read_segment(bytes),
        b'c' => read_compacted(bytes),
        _ => {}
    }
}

/// The name of the index that records are of.
const NAME: &str = "i";

fn read_record(text: &str) {
    let Ok(read) = IndexRecord::decode(NAME, text, None) else { return };
    let again = read.encode().and_then(|text| IndexRecord::decode(NAME, &text, None));
    assert_eq!(again, Ok(IndexRecord { is_later: false, ..read }));
}

fn read_policy(text: &str) {
    let read = StoredPolicy::read(Some(text));
    if let StoredPolicy::Set(options) | StoredPolicy::Later(options) = read {
        let text = encoding::encode(&MaintenancePolicy::from(options));
        let again = StoredPolicy::read(text.as_deref().ok());
        assert_eq!(again, StoredPolicy::Set(options));
    }
}

fn read_segment(bytes: &[u8]) {
    let Ok(read) = BuiltSegment::decode(bytes) else { return };
    let again = BuiltSegment::decode(&read.encode());
    assert_eq!(again.ok(), Some(read));
}

fn read_compacted(bytes: &[u8]) {
    let Ok(read) = Rewritten::decode(bytes) else { return };
    let Ok(written) = read.encode() else { return };
    let again = Rewritten::decode(&written).and_then(|again| again.encode());
    assert_eq!(again.ok(), Some(written));
}

#[cfg(test)]
mod tests {
    #[test]
    fn corpus() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/records");
        let mut count = 0;
        for file in std::fs::read_dir(directory).unwrap() {
            super::read(&std::fs::read(file.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 20, "{count} texts");
    }
}
