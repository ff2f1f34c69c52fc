//! Functions that verifiers and test generators offer to a program: inputs of its own, and
//! assumptions about them.
//!
//! A run that breaks an assumption is no test, so nothing that it covers counts. A label may be
//! taken as covered before the path comes to an assumption that the state's model breaks. Then the
//! solver is asked for another model of the path that keeps the covered labels. Where there is
//! none, the labels are reopened. Paths that passed their sites meanwhile did not look at them, so
//! they are never called infeasible ([`Cut::Assumption`]).

use std::sync::Arc;

use lydian_eval::{Traps, to_bytes};
use lydian_inputs::{CellPlan, ExternalPlan};
use lydian_ir::libc::{Model, VerificationFn};
use lydian_ir::{TrapKind, Type};
use lydian_smt::{Sort, Term};

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, State};

/// The size in bytes of the largest object that is made symbolic.
const MOST: u64 = 1 << 16;
/// The most bytes that are read of an input's name.
const NAME: u64 = 64;

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn verification_function(
        &mut self,
        state: &mut State<N>,
        function: VerificationFn,
        model: &Model,
        args: &[Term],
    ) -> Result<Option<Term>, Interrupt> {
        let arg =
            |at: usize| args.get(at).copied().ok_or_else(|| Interrupt::unsupported("no argument"));
        match function {
            VerificationFn::KleeSilentExit => Err(self.assumption_fails(state)),
            VerificationFn::VerifierAssume
            | VerificationFn::KleeAssume
            | VerificationFn::CproverAssume => {
                let holds = self.truth_of(arg(0)?, function);
                self.assume_in_program(state, holds)?;
                Ok(None)
            }
            VerificationFn::CproverAssert => {
                let holds = self.truth_of(arg(0)?, function);
                let mut traps = Traps::none();
                let broken = self.pool.not(holds);
                traps.add(&self.pool, TrapKind::Abort, broken);
                self.leave_traps(state, &traps)?;
                Ok(None)
            }
            VerificationFn::KleeMakeSymbolic => {
                self.make_symbolic(state, model, arg(0)?, arg(1)?, arg(2)?)?;
                Ok(None)
            }
            VerificationFn::KleeInt => {
                let (value, plan) = self.fresh_int(state, model, arg(0)?);
                Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
                Ok(Some(value))
            }
            VerificationFn::KleeRange => {
                let (value, plan) = self.fresh_int(state, model, arg(2)?);
                let least = self.pool.sle(arg(0)?, value);
                let below = self.pool.slt(value, arg(1)?);
                let inside = self.pool.and(least, below);
                Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
                self.assume_in_program(state, inside)?;
                Ok(Some(value))
            }
            VerificationFn::VerifierError | VerificationFn::ReachError => {
                Err(self.trapped(state, TrapKind::Abort))
            }
        }
    }

    /// Whether an argument is not zero. All functions except `klee_assume` take an `int`.
    fn truth_of(&mut self, value: Term, function: VerificationFn) -> Term {
        let bits = to_bytes(&mut self.pool, value);
        let narrow = function != VerificationFn::KleeAssume && self.pool.width(bits) > 32;
        let bits = if narrow { self.pool.extract(31, 0, bits) } else { bits };
        self.pool.is_nonzero(bits)
    }

    /// Restricts the path to the inputs for which a condition holds.
    pub(crate) fn assume_in_program(
        &mut self,
        state: &mut State<N>,
        holds: Term,
    ) -> Result<(), Interrupt> {
        match state.knowledge().known(&mut self.pool, holds) {
            Some(true) => return Ok(()),
            Some(false) => return Err(self.assumption_fails(state)),
            None => {}
        }
        match self.narrow(state, holds, Cut::Assumption) {
            true => Ok(()),
            false => Err(self.assumption_fails(state)),
        }
    }

    /// Ends the path, and reopens the labels that its model covered.
    pub(crate) fn assumption_fails(&mut self, state: &mut State<N>) -> Interrupt {
        self.retract(state);
        state.claims.keep = false;
        Interrupt::End(Ending::Assumption)
    }

    /// Reopens the labels that the state's model was to cover.
    fn retract(&mut self, state: &mut State<N>) {
        self.retract_for(state, Cut::Assumption);
    }

    /// Fills an object with a fresh input.
    fn make_symbolic(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        to: Term,
        size: Term,
        name: Term,
    ) -> Result<(), Interrupt> {
        let size = self.one_value(state, size)?;
        if size > MOST {
            return Err(Interrupt::unsupported(format!("an object of more than {MOST} bytes")));
        }
        if size == 0 {
            return Ok(());
        }
        let mut traps = Traps::none();
        self.resolve_for_write(state, to, size, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let name = self.constant_text(state, name);
        let nth = state.calls_of(model.name);
        let shown = format!("{name}#{nth}");
        let cells = match size {
            1 | 2 | 4 | 8 => {
                let value = self.pool.var(&shown, Sort::BitVec(size as u32 * 8));
                vec![CellPlan { offset: 0, ty: Type::Int(size as u8 * 8), value }]
            }
            _ => {
                let byte = |offset: u64| {
                    let value = self.pool.var(&format!("{shown}[{offset}]"), Sort::BitVec(8));
                    CellPlan { offset, ty: Type::Int(8), value }
                };
                (0..size).map(byte).collect()
            }
        };
        self.store_cells(state, to, size, &cells)?;
        let plan = self.input_plan(state, model.name, name, size, cells);
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        Ok(())
    }

    fn fresh_int(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        name: Term,
    ) -> (Term, ExternalPlan) {
        let name = self.constant_text(state, name);
        let nth = state.calls_of(model.name);
        let value = self.pool.var(&format!("{name}:{}#{nth}", model.name), Sort::BitVec(32));
        let cells = vec![CellPlan { offset: 0, ty: Type::Int(32), value }];
        (value, self.input_plan(state, model.name, name, 4, cells))
    }

    /// The entry of the test's list for a call: `size` bytes, with a name if there is one.
    pub(crate) fn input_plan(
        &self,
        state: &State<N>,
        function: &str,
        name: String,
        size: u64,
        cells: Vec<CellPlan>,
    ) -> ExternalPlan {
        ExternalPlan {
            function: function.to_owned(),
            nth: state.calls_of(function),
            object: Some(name).filter(|name| !name.is_empty()),
            ty: self.byte_type(),
            size,
            cells,
            writes: Vec::new(),
            objects: Vec::new(),
            constraints: Vec::new(),
            preferences: Vec::new(),
            assumptions: Vec::new(),
            bounds: Vec::new(),
            raw_pointers: Vec::new(),
            cursor: state.inputs.cursor,
        }
    }

    /// A string of the program, as far as it is constant. Errors in it are ignored, since it only
    /// names an input.
    fn constant_text(&mut self, state: &mut State<N>, address: Term) -> String {
        let mut text = String::new();
        for offset in 0..NAME {
            let at = self.address_at(address, offset);
            let mut traps = Traps::none();
            let byte = self.load(state, Type::Int(8), at, &mut traps);
            let byte = byte.ok().map(|byte| to_bytes(&mut self.pool, byte));
            let byte = byte.and_then(|byte| self.pool.as_u64(byte));
            match byte {
                Some(byte @ 0x20..=0x7e) => text.push(char::from(byte as u8)),
                _ => break,
            }
        }
        text
    }
}
