//! Whatever a worker is sent is an attempt, or is refused.
//!
//! Only in tests and in builds for coverage-guided fuzzing.

use crate::wire;

/// Reads bytes as a message, and as an attempt in a message of this version.
///
/// # Panics
/// What was read isn't the same when it is written and read again.
pub fn read(bytes: &[u8]) {
    read_message(bytes);
    if let Ok(mut message) = wire::first_line() {
        message.extend_from_slice(bytes);
        read_message(&message);
    }
}

fn read_message(bytes: &[u8]) {
    let Ok(attempt) = wire::decode(bytes) else { return };
    let Ok(written) = wire::encode(&attempt) else { return };
    let again = wire::decode(&written);
    assert_eq!(again.ok().map(|again| format!("{again:?}")), Some(format!("{attempt:?}")));
}

#[cfg(test)]
mod tests {
    #[test]
    fn corpus() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/attempts");
        let mut count = 0;
        for file in std::fs::read_dir(directory).unwrap() {
            super::read(&std::fs::read(file.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 10, "{count} messages");
    }
}
