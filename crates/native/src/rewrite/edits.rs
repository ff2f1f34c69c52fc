//! The kinds of edits of a text, and which of two edits with one span is outside.

use lydian_base::Span;
use lydian_ir::LocalId;
use lydian_ir::source::{MarkStyle, RootId};

/// An edit of the text.
#[derive(Debug)]
pub(crate) enum EditAction {
    /// Text that is put in, at an empty span.
    Insert(String),
    /// Text that is taken out, but for its lines.
    Remove,
    /// Text at the start of a function's body: declarations, and the cell of its entry.
    Start { function: u32, text: String, cell: Option<u32> },
    /// Probes at a mark: a cell that is set on every state, and statements.
    Mark { function: u32, style: MarkStyle, cell: Option<u32>, probe: String },
    /// The call of a user's label, with the probe that takes its place.
    Label { style: MarkStyle, probe: String },
    /// The operand of a switch.
    Switch { function: u32, index: usize },
    /// The label of a way out of a switch.
    Case { function: u32, index: usize, way: usize },
    /// The operand of a computed `goto`, with the comparisons that find the way and set its cell.
    Goto { dispatch: String },
    /// A decision of a watched function.
    Decision { function: u32, index: usize },
    /// A condition of it.
    Condition { function: u32, index: usize, condition: usize },
    /// A root with labels.
    Root { function: u32, root: RootId },
    /// A part of a root's text that is evaluated first.
    Capture { temp: LocalId },
    /// An expression that reads or defines variables.
    Unit { function: u32, span: Span },
    /// A place that is read or written, with probes of its address.
    Place { function: u32, span: Span },
}

/// Ranks of edits that share a span, from the outermost in.
pub(crate) mod rank {
    pub(crate) const INSERT: u8 = 0;
    pub(crate) const MARK: u8 = 1;
    pub(crate) const SWITCH: u8 = 2;
    pub(crate) const CASE: u8 = 2;
    /// A root with a capture of its own span that is a decision's value.
    pub(crate) const ROOT_OF_DECISION: u8 = 3;
    /// A capture of a decision's value.
    pub(crate) const CAPTURE_OF_DECISION: u8 = 4;
    pub(crate) const DECISION: u8 = 5;
    pub(crate) const CONDITION: u8 = 6;
    /// A root that has a capture of its own span.
    pub(crate) const CAPTURING_ROOT: u8 = 7;
    pub(crate) const CAPTURE: u8 = 8;
    /// Probes of a statement come before the probes of a root that is its whole text: the latter
    /// evaluate the program's expressions first, and trap where they do.
    pub(crate) const UNIT: u8 = 9;
    pub(crate) const ROOT: u8 = 10;
    pub(crate) const PLACE: u8 = 11;
}
