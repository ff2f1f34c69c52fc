//! The labels of the function that is being lowered.

use lydian_base::Span;
use lydian_ir::{BlockId, LocalId};
use rustc_hash::FxHashMap;

use crate::ast::LabelId;

/// Where the computed `goto`s of a function go on, as compilers have it: the ways to its labels are
/// those of the function, not of each `goto`.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Dispatch {
    /// A switch over the labels.
    pub block: BlockId,
    /// Where each `goto` leaves the address.
    pub target: LocalId,
}

/// The blocks of labels, and which labels the text has had so far.
#[derive(Debug, Default)]
pub(in crate::lower) struct Labels {
    blocks: FxHashMap<LabelId, BlockId>,
    /// Labels whose statement was lowered.
    placed: Vec<LabelId>,
    /// Where the first of the labels begins that stand before the statement which gets the next mark.
    ahead: Option<Span>,
    /// Where computed `goto`s go on, if there are any.
    dispatch: Option<Dispatch>,
}

impl Labels {
    /// The block of a label, if it has one.
    pub(in crate::lower) fn block(&self, label: LabelId) -> Option<BlockId> {
        self.blocks.get(&label).copied()
    }

    pub(in crate::lower) fn set_block(&mut self, label: LabelId, block: BlockId) {
        self.blocks.insert(label, block);
    }

    /// The statement of a label is lowered; whether it is for the first time.
    pub(in crate::lower) fn place(&mut self, label: LabelId) -> bool {
        let is_new = !self.placed.contains(&label);
        if is_new {
            self.placed.push(label);
        }
        is_new
    }

    /// Whether something jumps to a label whose statement was not lowered.
    pub(in crate::lower) fn has_missing(&self) -> bool {
        self.blocks.keys().any(|label| !self.placed.contains(label))
    }

    /// A label begins here, of which the mark of the statement behind it speaks, too.
    pub(in crate::lower) fn note_ahead(&mut self, start: u32) {
        self.ahead.get_or_insert(Span::new(start, start));
    }

    /// Where the labels before the statement that gets a mark begin, given once.
    pub(in crate::lower) const fn take_ahead(&mut self) -> Option<Span> {
        self.ahead.take()
    }

    /// Where computed `goto`s go on.
    pub(in crate::lower) const fn dispatch(&self) -> Option<Dispatch> {
        self.dispatch
    }

    pub(in crate::lower) const fn set_dispatch(&mut self, dispatch: Dispatch) {
        self.dispatch = Some(dispatch);
    }
}
