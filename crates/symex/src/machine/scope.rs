//! A view of a state in which expressions are evaluated.

use lydian_smt::{Evaluator, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::machine::Machine;
use crate::machine::inputs::pointer_uses::PointerUses;
use crate::machine::memory::AddressTarget;
use crate::machine::program::context::Context;
use crate::machine::reports::bounds_monitor::BoundsMonitor;
use crate::machine::reports::omissions::Omissions;
use crate::machine::reports::undetermined::UndeterminedReads;
use crate::machine::state::{Notes, State};

/// Why an evaluation has no value yet.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// The path must be split on a condition that the state's model satisfies. On that side the
    /// target of the address, if one is given, is known.
    Split(Term, Option<(Term, AddressTarget)>),
    /// The path continues with the inputs on which this holds: on others it is no path that C
    /// allows.
    Suppose(Term),
    /// The path is about to look at the input object at this address, with the invariant at this
    /// position, which the path does not suppose yet.
    Invariant(usize, Term),
    /// No input takes the path.
    Infeasible,
    /// The engine does not model a construct.
    Unsupported(String),
}

/// A view of a state, with the machine's tables that an evaluation reads and fills.
pub(crate) struct StateView<'a, 'p, N> {
    pub(crate) context: &'a Context<'p>,
    pub(crate) evaluator: &'a mut Evaluator,
    /// For an address, the base and the offset that it is the sum of.
    pub(crate) derived: &'a mut FxHashMap<Term, (Term, Term)>,
    /// The types that pointers of the inputs are used with.
    pub(crate) uses: &'a mut PointerUses,
    pub(crate) bounds: &'a mut BoundsMonitor,
    /// The places where undetermined values were read.
    pub(crate) reads: &'a mut UndeterminedReads,
    /// The omissions.
    pub(crate) omissions: &'a mut Omissions,
    pub(crate) state: &'a mut State<N>,
}

impl<'p, N: Notes> Machine<'p, '_, N> {
    /// A view of a state for evaluation, and the pool for new terms.
    pub(crate) fn scope<'a>(
        &'a mut self,
        state: &'a mut State<N>,
    ) -> (StateView<'a, 'p, N>, &'a mut TermPool) {
        let scope = StateView {
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
