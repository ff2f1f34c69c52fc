//! A state to evaluate expressions on.

use lydian_smt::{Evaluator, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::machine::Machine;
use crate::machine::inputs::pointer_uses::PointerUses;
use crate::machine::memory::Target;
use crate::machine::program::context::Context;
use crate::machine::reports::bounds_monitor::BoundsMonitor;
use crate::machine::reports::omissions::Omissions;
use crate::machine::reports::undetermined::Reads;
use crate::machine::state::{Notes, State};

/// Why an evaluation has no value yet.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// The path must be split on a condition that the state's model satisfies. On that side the
    /// address, if one is given, is known to be as said.
    Split(Term, Option<(Term, Target)>),
    /// The path goes on with the inputs on which this holds: on others it is no path that C allows.
    Suppose(Term),
    /// The path looks at an object of the inputs, whose address this is, of which an invariant holds that
    /// it does not suppose yet.
    Invariant(usize, Term),
    /// No input takes the path.
    Infeasible,
    /// The engine does not model it.
    Unsupported(String),
}

/// A state to evaluate on.
pub(crate) struct Scope<'a, 'p, N> {
    pub(crate) context: &'a Context<'p>,
    pub(crate) evaluator: &'a mut Evaluator,
    /// Addresses with the base and the offset that they were made of.
    pub(crate) derived: &'a mut FxHashMap<Term, (Term, Term)>,
    /// What pointers of the inputs are used as.
    pub(crate) uses: &'a mut PointerUses,
    pub(crate) bounds: &'a mut BoundsMonitor,
    /// Where what is not determined was read.
    pub(crate) reads: &'a mut Reads,
    /// What was left out.
    pub(crate) omissions: &'a mut Omissions,
    pub(crate) state: &'a mut State<N>,
}

impl<'p, N: Notes> Machine<'p, '_, N> {
    /// A state to evaluate on, and the pool for what that makes.
    pub(crate) fn scope<'a>(
        &'a mut self,
        state: &'a mut State<N>,
    ) -> (Scope<'a, 'p, N>, &'a mut TermPool) {
        let scope = Scope {
            context: &self.context,
            evaluator: &mut self.evaluator,
            derived: &mut self.derived,
            uses: &mut self.uses,
            bounds: &mut self.bounds,
            reads: &mut self.reads,
            omissions: &mut self.omissions,
            state,
        };
        (scope, &mut self.pool)
    }
}
