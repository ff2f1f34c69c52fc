//! Undetermined values that paths depend on, and the places where they came into play.
//!
//! The name of a symbol says what kind of value it stands for ([`Undetermined`]); the place of its
//! read is in a side table. As soon as the course of a path depends on such symbols, the path keeps
//! their kinds, each with its first place ([`Dependences`]), and claims nothing from then on. It
//! ends there, unless the value may be any ([`Undetermined::is_any`]). In that case it is followed,
//! so that objectives that do not lie ahead of it can still be infeasible.

use std::sync::Arc;

use lydian_base::Span;
use lydian_eval::Undetermined;
use lydian_ir::{Function, Program};
use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashMap;

use crate::limits::Cut;
use crate::machine::memory::undetermined;
use crate::machine::state::{Frame, Notes, State};

/// The undetermined values that a path depends on: each kind once, with the place where it first
/// came into play. One word in size, since nearly all paths depend on nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependences(Option<Arc<Vec<(Undetermined, Span)>>>);

impl Dependences {
    /// Whether there are any.
    pub(crate) const fn are_some(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the path is followed no further, since it may be no path of the program.
    pub(crate) fn end_path(&self) -> bool {
        self.0.iter().flat_map(|all| all.iter()).any(|(kind, _)| !kind.is_any())
    }

    /// Adds a dependence, unless its kind is present.
    pub(crate) fn add(&mut self, kind: Undetermined, at: Span) {
        let known = self.0.as_ref().is_some_and(|all| all.iter().any(|(known, _)| *known == kind));
        if !known {
            Arc::make_mut(self.0.get_or_insert_default()).push((kind, at));
        }
    }

    /// The dependences as reasons.
    pub(crate) fn cuts(&self) -> Vec<Cut> {
        let all = self.0.as_deref().map(Vec::as_slice).unwrap_or_default();
        all.iter().map(|(kind, at)| Cut::Undetermined(*kind, *at)).collect()
    }
}

/// The last place of a read of each undetermined symbol. Reads fill the table, and it is not
/// consulted while a path is followed, so it makes no difference to any path.
#[derive(Default)]
pub(crate) struct UndeterminedReads(FxHashMap<Term, Span>);

impl UndeterminedReads {
    /// Notes the undetermined symbols of a value that was read at a place.
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

    /// The place where the value of a symbol was read, or the address that it stands for was used as a
    /// number.
    pub(crate) fn place_of(&self, symbol: Term) -> Option<Span> {
        self.0.get(&symbol).copied()
    }

    /// Notes that the address of an input object was used as a number at a place, unless it was before.
    pub(crate) fn note_number(&mut self, symbol: Term, at: impl FnOnce() -> Span) {
        self.0.entry(symbol).or_insert_with(at);
    }
}

/// The text at the position of a state; in a function of the library, that of the user's call.
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

/// The text of the statement at a position of an activation's block; `None` in the library.
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
