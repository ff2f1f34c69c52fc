//! Captures: the parts of a root's text that are evaluated before the rest of it.

use lydian_ir::source::Capture;

/// The parts of a root's text that were put into temporaries.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Captures {
    /// The captured parts, in order of evaluation.
    pub parts: Vec<Capture>,
    /// Whether something was hoisted out of the text that no capture stands for.
    pub opaque: bool,
}

impl Captures {
    /// Adds the captures of a part that stayed in this root.
    pub(in crate::lower) fn merge(&mut self, part: Self) {
        self.parts.extend(part.parts);
        self.opaque |= part.opaque;
    }
}
