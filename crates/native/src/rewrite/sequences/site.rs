//! What a sequence asks at one site.

use lydian_objective::Pred;
use lydian_objective::hyper::{Atom, Formula};

/// An atom at an event of its site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteAtom<'a> {
    /// Its position in the sequence.
    pub(crate) position: usize,
    pub(crate) pred: &'a Pred,
    pub(crate) atom: &'a Atom,
}

/// A sequence as its sites see it: by function and site its atoms there and the passages that ask
/// for something there.
#[derive(Debug, Default)]
pub(crate) struct SiteEvents<'a> {
    pub(crate) atoms: Vec<SiteAtom<'a>>,
    pub(crate) duties: Vec<(usize, &'a Formula)>,
}
