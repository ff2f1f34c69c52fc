//! Digests by which results of earlier runs are found again.

/// A hash as the text of a key: its first 128 bits.
pub(crate) fn key(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// The key of a text.
pub(crate) fn of(text: &str) -> String {
    key(blake3::hash(text.as_bytes()))
}
