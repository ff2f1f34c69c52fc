//! Marks of the slots that hold undefined values: values computed from memory or registers that were
//! never written.

use crate::interp::slots::WINDOW;

/// Bytes that a store writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredBytes {
    pub(super) address: u64,
    pub(super) count: u64,
}

/// The marks of undefined values, and the bytes that the store under way makes undefined.
#[derive(Default)]
pub(super) struct UndefinedValues {
    /// By slot of all windows. Empty until a value is undefined.
    marks: Vec<bool>,
    /// Bytes that become undefined once the store that runs is done.
    stored: Option<StoredBytes>,
}

impl UndefinedValues {
    /// Whether no value was undefined so far.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Forgets all marks.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
    }

    /// The marks of the window that begins at a slot; those beyond the end are not set.
    #[inline]
    pub(super) fn of_window(&self, base: usize) -> &[bool] {
        self.marks.get(base..).unwrap_or_default()
    }

    /// The same to change them, all of the window's.
    #[inline]
    pub(super) fn of_window_mut(&mut self, base: usize) -> &mut [bool] {
        let end = base + WINDOW;
        if self.marks.len() < end {
            self.marks.resize(end, false);
        }
        &mut self.marks[base..]
    }

    /// An undefined value is about to be stored.
    pub(super) fn store(&mut self, bytes: StoredBytes) {
        self.stored = Some(bytes);
    }

    /// The bytes to which the last operation stored an undefined value, given once.
    #[inline]
    pub(super) fn take_stored(&mut self) -> Option<StoredBytes> {
        self.stored.take()
    }
}
