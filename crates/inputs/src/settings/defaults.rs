//! The limits of planned inputs that hold where the settings give none.

/// Elements of an array of scalars.
pub(crate) const MAX_LENGTH: u64 = 16;
/// Bytes of a string before its NUL.
pub(crate) const MAX_STRING: u64 = 16;
/// Elements of an array of structs or pointers.
pub(crate) const MAX_RECORDS: u64 = 4;
/// Pointers followed one after the other.
pub(crate) const DEPTH: u32 = 3;
