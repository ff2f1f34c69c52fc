//! Handlers of interrupts that run before volatile reads ([`crate::config::Interrupts`]).
//!
//! A path is split at such a read on whether a handler runs there, as on any other input. The handler is
//! called, and the read is made when it has returned: of a variable, it finds what is in memory then. The
//! test's script says which handler runs at which read ([`ScriptedInterrupt`]).
//!
//! No handler runs while another does, nor where code sets one of the [`MASKS`](lydian_ir::device::MASKS).

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::{Traps, to_bytes};
use lydian_ir::device::{INTERRUPT, ReadPlace, ScriptedInterrupt, disables_interrupts, masks};
use lydian_ir::{ExprId, FuncId, GlobalId, Type};
use lydian_smt::{Sort, Term};

use crate::config::InterruptHandler;
use crate::machine::Machine;
use crate::machine::devices::{DeviceAddress, VolatileMemory};
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, ReturnTo, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Before a volatile read is made: whether a handler of interrupts began, after which the read is to
    /// be made.
    pub(crate) fn begins_handler(
        &mut self,
        state: &mut State<N>,
        addr: ExprId,
        ty: Type,
    ) -> Result<bool, Interrupt> {
        let most = self.context.config.interrupts.most as usize;
        if self.context.config.interrupts.handlers.is_empty()
            || state.frame().interrupted
            || state.is_in_handler()
            || !state.has_begun(self.roots.len())
            || state.interrupts() >= most
            || has_disabled(state)
        {
            return Ok(false);
        }
        let Some(place) = self.interruptible_read(state, addr, ty)? else { return Ok(false) };
        let Ok(found) = place.parse::<ReadPlace>() else { return Ok(false) };
        for handler in self.handlers_before(&found) {
            if self.runs_here(state, handler)? {
                let read = state.reads_at(&place) + 1;
                self.begin_handler(state, handler, found, read)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The place of a read at which handlers may run, as scripts have it.
    fn interruptible_read(
        &mut self,
        state: &mut State<N>,
        addr: ExprId,
        ty: Type,
    ) -> Result<Option<String>, Interrupt> {
        let address = self.eval(state, addr, &mut Traps::none())?;
        if let Some(device) = self.device_at(state, address, ty.bytes())? {
            return Ok(matches!(device, DeviceAddress::At(_)).then(|| device.place()));
        }
        Ok(match self.volatile_memory(state, address, ty)? {
            VolatileMemory::Input(place) => Some(place),
            VolatileMemory::Kept | VolatileMemory::Other => None,
        })
    }

    /// The handlers that may run before a read: of a variable, those that write it.
    fn handlers_before(&self, place: &ReadPlace) -> Vec<FuncId> {
        let program = self.context.program;
        let variable = match place {
            ReadPlace::Variable(name, _) => program.global_named(name),
            ReadPlace::Device(_) => None,
            ReadPlace::Object(..) => return Vec::new(),
        };
        let suits = |handler: &&InterruptHandler| {
            variable.is_none_or(|variable| handler.writes.contains(&variable))
        };
        let handlers = self.context.config.interrupts.handlers.iter();
        handlers.filter(suits).map(|handler| handler.function).collect()
    }

    /// Whether a handler runs on this path before the read that is about to be made. The path is split
    /// where it may.
    fn runs_here(&mut self, state: &mut State<N>, handler: FuncId) -> Result<bool, Interrupt> {
        let (nth, handler) = (state.inputs.externals.len(), handler.index());
        let chosen = self.pool.var(&format!("{INTERRUPT}{handler}#{nth}"), Sort::BitVec(8));
        let one = self.pool.bv(8, 1);
        let mut runs = self.pool.eq(chosen, one);
        let masks: Vec<GlobalId> = masks(self.context.program).collect();
        for mask in masks {
            let enabled = self.is_zero(state, mask)?;
            runs = self.pool.and(runs, enabled);
        }
        self.split_on(state, runs)
    }

    /// The condition that a variable of 32 bits is 0.
    fn is_zero(&mut self, state: &mut State<N>, variable: GlobalId) -> Result<Term, Interrupt> {
        let address = self.context.globals[variable.index()];
        let address = self.pool.bv(64, address);
        let value = self.load(state, Type::Int(32), address, &mut Traps::none())?;
        let value = to_bytes(&mut self.pool, value);
        let zero = self.pool.bv(32, 0);
        Ok(self.pool.eq(value, zero))
    }

    fn begin_handler(
        &mut self,
        state: &mut State<N>,
        function: FuncId,
        place: ReadPlace,
        read: u32,
    ) -> Result<(), Interrupt> {
        let handler = &self.context.program.functions[function];
        let Some(body) = &handler.body else { return Err(Interrupt::unsupported(&*handler.name)) };
        let interrupt = ScriptedInterrupt { handler: handler.name.clone(), place, read };
        self.enter(state, function, body, &[], ReturnTo::default())?;
        let reader = state.frames.len() - 2;
        let reader = Arc::make_mut(&mut state.frames[reader]);
        // The read is still to be made, and its labels were looked at.
        reader.next -= 1;
        reader.sites_done = true;
        reader.interrupted = true;
        let plan = self.input_plan(state, INTERRUPT, interrupt.to_string(), 0, Vec::new());
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        Ok(())
    }
}

/// Whether the path disabled interrupts last by a call of an undefined function.
fn has_disabled<N: Notes>(state: &State<N>) -> bool {
    let called = state.inputs.externals.iter().rev();
    let mut said = called.filter_map(|call| disables_interrupts(&call.function));
    said.next() == Some(true)
}
