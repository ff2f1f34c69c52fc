//! Calls: of functions with a body, of modelled ones, of external ones; and returns.

use lydian_base::EntityId;

use crate::interp::code::{CallSite, Code};
use crate::interp::host_call::HostCall;
use crate::interp::library::{builtins, character, math, models};
use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::outcome::End;
use crate::interp::slots::Window;
use crate::libc::{EnvironmentFn, LibFn, Model, model_of};
use crate::program::FuncId;
use crate::program::ctype::{CType, CTypeId};
use crate::program::expr::Type;
use crate::program::stmt::{Stmt, TrapKind};
use crate::test::NumberKind;

/// Instead of the number of a call: the function that runs is a handler of interrupts.
pub(super) const NO_SITE: u32 = u32::MAX;

impl<'p, 'c> Machine<'p, 'c> {
    /// The number of the function at an address, which must have the type that the call says.
    #[inline]
    pub(in crate::interp) fn resolve(
        &self,
        address: u64,
        site: &CallSite<'_>,
    ) -> Result<u64, TrapKind> {
        let function = self.memory.function_at(address).ok_or(TrapKind::BadCall)?;
        let number = function.index() as u32 + 1;
        if site.signature.get() != number {
            let Stmt::Call { ty, arg_types, .. } = site.stmt else {
                return Err(TrapKind::BadCall);
            };
            let declared = self.program.functions[function].ty;
            if !self.program.types.call_suits(declared, *ty, arg_types) {
                return Err(TrapKind::BadCall);
            }
            site.signature.set(number);
        }
        Ok(function.index() as u64)
    }

    /// Calls a function that was looked up; whether that jumped to a `setjmp`.
    pub(in crate::interp) fn call_to(
        &mut self,
        number: u64,
        code: &'c Code<'p>,
        site_number: u32,
        regs: &mut Window,
    ) -> Step<bool> {
        let function = FuncId::from_index(number as usize);
        let declared = &self.program.functions[function];
        if declared.body.is_some() {
            self.enter(function, code, site_number, regs)?;
            return Ok(false);
        }
        let site = &code.sites[site_number as usize];
        if self.host.is_some()
            && let Some(host) = HostCall::named(&declared.name)
        {
            self.call_host(host, site, regs)?;
            return Ok(false);
        }
        match model_of(&self.program.types, &declared.name, declared.ty) {
            Some(model) => self.modelled(model, site, regs),
            None => self.external(function, site, regs).map(|()| false),
        }
    }

    /// Calls the modelled function of a site; whether that jumped to a `setjmp`.
    pub(in crate::interp) fn call_model(
        &mut self,
        site: &CallSite<'_>,
        regs: &mut Window,
    ) -> Step<bool> {
        site.model.map_or(Ok(false), |model| self.modelled(model, site, regs))
    }

    fn modelled(&mut self, model: &Model, site: &CallSite<'_>, regs: &mut Window) -> Step<bool> {
        let args = site.arguments(regs);
        let Stmt::Call { arg_types, .. } = site.stmt else { return Ok(false) };
        if let Some(bits) = self.model(model, &args, arg_types)? {
            site.give(regs, bits);
        }
        Ok(self.jump_value.is_some())
    }

    /// A call of an undefined function: its writes and its result are those that the test lists.
    pub(in crate::interp) fn external(
        &mut self,
        function: FuncId,
        site: &CallSite<'_>,
        regs: &mut Window,
    ) -> Step<()> {
        self.externals.note_call(function);
        let declared = &self.program.functions[function];
        if declared.noreturn {
            return Err(Stop::End(End::NoReturn(function)));
        }
        let (size, _) = self.result_shape(function);
        let scalar = match self.program.types.get(declared.ty) {
            CType::Function { result, .. } => self.program.types.scalar(*result),
            _ => None,
        };
        let kind = scalar.map_or(NumberKind::Integer, NumberKind::of);
        let given = self.next_input(&declared.name, kind)?.unwrap_or_default();
        let open = self.calls.newest_first();
        let matters = self.unsequenced.note(self.program, open, (function, &given));
        self.note_misuse(matters);
        self.write_given(&given, declared, site, regs)?;
        let mut image = given.bytes;
        image.resize(size as usize, 0);
        let mut raw = [0; 16];
        let len = image.len().min(16);
        raw[..len].copy_from_slice(&image[..len]);
        site.give(regs, u128::from_le_bytes(raw));
        if let Some(slot) = site.dst_addr {
            self.memory.write(regs[usize::from(slot)], &image)?;
        }
        Ok(())
    }

    /// A call of a modelled function: its result, `None` for `void`.
    fn model(&mut self, model: &Model, args: &[u128], arg_types: &[CTypeId]) -> Step<Option<u128>> {
        let arg = |index: usize| args.get(index).copied().unwrap_or(0);
        let name = model.name;
        match model.function {
            LibFn::Memory(function) => {
                self.string_function(function, arg(0) as u64, arg(1), arg(2)).map(Some)
            }
            LibFn::CharacterClass(function) => {
                character::class_function(function, arg(0) as u32 as i32).map(Some)
            }
            LibFn::Character(function) => {
                Ok(Some(self.character_function(function, arg(0) as u32 as i32)))
            }
            LibFn::Allocation(function) => {
                self.allocation_function(function, name, arg(0) as u64, arg(1) as u64)
            }
            LibFn::End(function) => Err(models::ended(function, arg(0))),
            LibFn::Hint(function) => models::hint_function(function, arg(0), arg(1)),
            LibFn::Integer(function) => {
                let overflow = self.options.overflow;
                let function = function.on(self.program.types.target);
                builtins::integer_function(function, arg(0), overflow).map(Some)
            }
            LibFn::Jump(function) => self.jump_function(function, arg(0) as u64, arg(1) as u32),
            LibFn::Overflow(function) => {
                self.overflow_function(function, args, arg_types).map(Some)
            }
            LibFn::Verification(function) => {
                self.verification_function(function, name, &[arg(0), arg(1)])
            }
            LibFn::Environment(EnvironmentFn::Getenv | EnvironmentFn::SecureGetenv) => {
                self.environment_function(arg(0) as u64)
            }
            LibFn::FloatParts(function) => self.parts_function(function, arg(0), arg(1)).map(Some),
            LibFn::ExactMath(_) | LibFn::InexactMath(_) | LibFn::FloatTest(_) => {
                let ty = arg_types.first().and_then(|ty| self.program.types.scalar(*ty));
                let ty = ty.filter(|ty| ty.is_float()).unwrap_or(Type::F64);
                Ok(math::math_function(model.function, ty, arg(0), arg(1)))
            }
        }
    }

    // Returns.

    /// The result of the function that was called first, which ends the run.
    pub(in crate::interp) fn first_result(&mut self, bits: u128) {
        let (size, _) = self.result_shape(self.frame().code.function);
        self.result = Some(bits.to_le_bytes()[..size.min(16) as usize].to_vec());
        self.pop();
    }

    /// A return without a value: a fault where one is used.
    pub(in crate::interp) fn gives_nothing(&self) -> Step<()> {
        let frame = self.frame();
        let Some(caller) = self.calls.caller() else { return Ok(()) };
        if frame.site == NO_SITE {
            return Ok(());
        }
        let site = &caller.code.sites[frame.site as usize];
        match site.dst.is_some() || site.dst_addr.is_some() {
            true => Err(TrapKind::MissingReturn.into()),
            false => Ok(()),
        }
    }

    /// Returns the struct or union at an address, and ends the call.
    pub(in crate::interp) fn give_record(&mut self, from: u64) -> Step<()> {
        let (size, _) = self.result_shape(self.frame().code.function);
        let frame = self.calls.newest();
        let site = self.calls.caller().map(|caller| &caller.code.sites[frame.site as usize]);
        match site.map(|site| site.dst_addr.is_some()) {
            None => {
                let bytes = self.memory.read(from, size)?;
                self.undetermined_result = bytes.unwritten();
                self.result = Some(bytes.values());
            }
            Some(true) => self.memory.copy(frame.dst_addr, from, size)?,
            Some(false) => _ = self.memory.read(from, size)?,
        }
        self.pop();
        Ok(())
    }
}
