//! The environment: the value of a variable is an input, which is the same for all calls that ask
//! for it.

use std::sync::Arc;

use lydian_eval::{Traps, to_bytes};
use lydian_inputs::{Addresses, ExternalCall, external_result};
use lydian_ir::libc::{Model, names_variable, reads_environment};
use lydian_ir::{FuncId, GlobalId, Type};
use lydian_smt::Term;

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::program::context::Context;
use crate::machine::state::{Notes, State};

/// The most bytes in the name of a variable.
const LONGEST_NAME: u64 = 256;

/// The context for a variable's value. No other input leads to the value, so all of it is planned.
struct IsolatedContext<'w, 'p>(&'w Context<'p>);

impl Addresses for IsolatedContext<'_, '_> {
    fn global(&self, global: GlobalId) -> u64 {
        self.0.global(global)
    }

    fn function(&self, function: FuncId) -> u64 {
        self.0.function(function)
    }
}

impl<N: Notes> Machine<'_, '_, N> {
    /// `getenv`: null, or a string with any contents.
    pub(crate) fn environment_function(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        name: Term,
    ) -> Result<Term, Interrupt> {
        let name = self.variable_name(state, name)?;
        if !names_variable(&name) {
            return Ok(self.pool.bv(64, 0));
        }
        let mut calls = state.inputs.externals.iter();
        let known = calls.find(|call| {
            reads_environment(&call.function) && call.object.as_deref() == Some(&name)
        });
        if let Some(cell) = known.and_then(|call| call.cells.first()) {
            return Ok(cell.value);
        }
        let Context { program, spec, .. } = &self.context;
        let function = program.function_named(model.name);
        let function = function.ok_or_else(|| Interrupt::unsupported(model.name))?;
        let nth = state.calls_of(model.name);
        let call =
            ExternalCall { function, nth, targets: &[], bytes: None, cursor: state.inputs.cursor };
        let plan =
            external_result(&mut self.pool, program, call, spec, &IsolatedContext(&self.context));
        let mut plan = plan.map_err(|error| Interrupt::unsupported(error.to_string()))?;
        plan.object = Some(name);
        self.take_inputs(state, &plan)?;
        let value = plan.cells.first().map(|cell| cell.value);
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        value.ok_or_else(|| Interrupt::unsupported(model.name))
    }

    /// The name that a call asks for, which must not depend on the input.
    fn variable_name(&mut self, state: &mut State<N>, address: Term) -> Result<String, Interrupt> {
        let mut bytes = Vec::new();
        for offset in 0..LONGEST_NAME {
            let at = self.address_at(address, offset);
            let mut traps = Traps::none();
            let byte = self.load(state, Type::Int(8), at, &mut traps)?;
            self.leave_traps(state, &traps)?;
            let byte = to_bytes(&mut self.pool, byte);
            match self.pool.as_u64(byte) {
                Some(0) => {
                    let name = String::from_utf8(bytes);
                    return name.map_err(|_| Interrupt::unsupported("a name that is no text"));
                }
                Some(byte) => bytes.push(byte as u8),
                None => return Err(Interrupt::unsupported("a name that depends on the input")),
            }
        }
        Err(Interrupt::unsupported("a long name"))
    }
}
