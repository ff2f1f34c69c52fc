//! How often each allocator was called, and which calls failed.

/// The calls of allocators in a run.
#[derive(Default)]
pub(super) struct Allocations {
    /// How often each was called.
    counts: Vec<(String, u32)>,
    refused: Vec<(String, u32)>,
}

impl Allocations {
    /// Counts a call of an allocator; how many there were before.
    pub(super) fn count(&mut self, name: &str) -> u32 {
        match self.counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                self.counts.push((name.to_owned(), 1));
                0
            }
        }
    }

    /// A call of an allocator fails for its size alone.
    pub(super) fn refuse(&mut self, name: &str, number: u32) {
        self.refused.push((name.to_owned(), number));
    }

    /// The calls that failed for their size alone: the allocator, and the call's number from 0.
    pub(super) fn into_refused(self) -> Vec<(String, u32)> {
        self.refused
    }
}
