//! What paths depend on that the program does not determine, and where that came into play.
//!
//! The name of a symbol says what kind of thing it stands for ([`Undetermined`]); where it was read
//! stands in a side table. As soon as a path's way depends on such symbols, the path keeps their
//! kinds, each with its first place ([`Dependences`]), and claims nothing from then on. It ends there,
//! unless any value will do ([`Undetermined::is_any`]): then it is followed, so that what lies ahead of it
//! on no way is still infeasible.

use std::sync::Arc;

use lydian_base::Span;
use lydian_eval::Undetermined;
use lydian_ir::{Function, Program};
use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashMap;

use crate::limits::Cut;
use crate::machine::memory::undetermined;
use crate::machine::state::{Frame, Notes, State};

/// What a path depends on that is not determined: each kind once, with the place where it first came
/// into play. One word, as nearly all paths depend on nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependences(Option<Arc<Vec<(Undetermined, Span)>>>);

impl Dependences {
    /// Whether there are any.
    pub(crate) const fn are_some(&self) -> bool {
        self.0.is_some()
    }

    /// Whether nobody follows the path: it need not be one of the program's.
    pub(crate) fn end_path(&self) -> bool {
        self.0.iter().flat_map(|all| all.iter()).any(|(kind, _)| !kind.is_any())
    }

    /// Adds one, unless its kind is there.
    pub(crate) fn add(&mut self, kind: Undetermined, at: Span) {
        let known = self.0.as_ref().is_some_and(|all| all.iter().any(|(known, _)| *known == kind));
        if !known {
            Arc::make_mut(self.0.get_or_insert_default()).push((kind, at));
        }
    }

    /// Each as a reason.
    pub(crate) fn cuts(&self) -> Vec<Cut> {
        let all = self.0.as_deref().map(Vec::as_slice).unwrap_or_default();
        all.iter().map(|(kind, at)| Cut::Undetermined(*kind, *at)).collect()
    }
}

/// Where symbols were read that stand for what is not determined: for each the last place. Made by
/// reading, and never asked while a path is followed, so it makes no difference to any path.
#[derive(Default)]
pub(crate) struct Reads(pub(crate) FxHashMap<Term, Span>);

impl Reads {
    /// Notes that a value was read at a place. What of it is determined is no matter.
    pub(crate) fn note(&mut self, pool: &mut TermPool, value: Term, at: impl FnOnce() -> Span) {
        if !pool.mentions_marked(value) {
            return;
        }
        let vars = pool.vars_of(value);
        let mut symbols = vars.iter().filter(|var| undetermined(pool, **var).is_some()).peekable();
        if symbols.peek().is_some() {
            let at = at();
            self.0.extend(symbols.map(|symbol| (*symbol, at)));
        }
    }
}

/// The text that a state is at: of the user's own, where it is in a function of the library.
pub(crate) fn text_at<N: Notes>(program: &Program, state: &State<N>) -> Span {
    let depth = state.frames.len();
    let frames = state.frames.iter().enumerate().rev();
    let texts = frames.map(|(at, frame)| {
        // An activation that called another one is already behind the call.
        let next = if at + 1 == depth { frame.next } else { frame.next.saturating_sub(1) };
        text_of(&program.functions[frame.func], frame, next)
    });
    let mut texts = texts.filter(|text| !text.is_none());
    texts.next().unwrap_or(Span::NONE)
}

/// The text of the statement at a position of an activation's block; none in the library.
fn text_of(function: &Function, frame: &Frame, next: usize) -> Span {
    let Some(body) = function.body.as_ref().filter(|_| !function.library) else {
        return Span::NONE;
    };
    let text = match body.blocks[frame.block].stmts.get(next) {
        Some(stmt) => body.source.stmts[*stmt],
        None => body.source.terms[frame.block],
    };
    if text.is_none() { function.span } else { text }
}
