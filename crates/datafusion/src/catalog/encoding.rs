//! Messages as texts: protobuf in base64, as values of the table's metadata.

use base64::{Engine, engine::general_purpose::STANDARD};
use prost::{
    Message,
    encoding::{DecodeContext, decode_key, skip_field},
};
use thiserror::Error;

use super::messages::{IndexV2, MaintenancePolicy};

/// The longest text that a record may be.
pub(crate) const MOST_BYTES: usize = 64 * 1024;

/// Why a text is no message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Damage {
    #[error("its {0} bytes are more than the {MOST_BYTES} that a record may have")]
    TooLong(usize),
    #[error("it is not base64: {0}")]
    Base64(String),
    #[error("it is not the message: {0}")]
    Protobuf(String),
    #[error("{0}")]
    Content(String),
}

/// A message that is kept as a text.
pub(crate) trait Kept: Message + Default {
    /// The numbers of the fields that this version knows.
    const TAGS: &'static [u32];
}

impl Kept for IndexV2 {
    const TAGS: &'static [u32] = &[1, 2, 3, 4, 5, 6, 1001, 1002];
}

impl Kept for MaintenancePolicy {
    const TAGS: &'static [u32] = &[1, 2, 3];
}

/// The message as a text.
///
/// # Errors
/// It would be too long.
pub(crate) fn encode(message: &impl Kept) -> Result<String, Damage> {
    let text = STANDARD.encode(message.encode_to_vec());
    if text.len() > MOST_BYTES { Err(Damage::TooLong(text.len())) } else { Ok(text) }
}

/// The message that a text is, and whether it has fields that this version doesn't know.
pub(crate) fn decode<M: Kept>(text: &str) -> Result<(M, bool), Damage> {
    if text.len() > MOST_BYTES {
        return Err(Damage::TooLong(text.len()));
    }
    let bytes = STANDARD.decode(text).map_err(|error| Damage::Base64(error.to_string()))?;
    let failed = |error: prost::DecodeError| Damage::Protobuf(error.to_string());
    let message = M::decode(bytes.as_slice()).map_err(failed)?;
    let (mut rest, mut is_later) = (bytes.as_slice(), false);
    while !rest.is_empty() {
        let (tag, wire_type) = decode_key(&mut rest).map_err(failed)?;
        skip_field(wire_type, tag, &mut rest, DecodeContext::default()).map_err(failed)?;
        is_later |= !M::TAGS.contains(&tag);
    }
    Ok((message, is_later))
}
