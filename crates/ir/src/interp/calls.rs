//! Calls: of functions with a body, of modelled ones, of external ones.

use super::End;
use super::machine::{Machine, Step, Stop};
use super::plan::Value;
use crate::arith;
use crate::ctype::{CType, CTypeId};
use crate::expr::Type;
use crate::function::{Body, LocalId, Storage};
use crate::libc::{Family, Model, model_of};
use crate::program::FuncId;
use crate::stmt::{Callee, Stmt, TrapKind};
use lydian_base::EntityId;

/// Where a call's result goes.
#[derive(Clone, Copy)]
struct Target {
    dst: Option<LocalId>,
    dst_addr: Option<u64>,
}

impl<'p> Machine<'p> {
    /// Evaluates callee, arguments and the result's address, then calls.
    pub(super) fn call(&mut self, stmt: &'p Stmt) -> Step<()> {
        let Stmt::Call { callee, args, arg_types, dst, dst_addr, ty } = stmt else {
            return Ok(());
        };
        let function = match callee {
            Callee::Direct(function) => *function,
            Callee::Indirect(pointer) => {
                let address = self.address(*pointer)?;
                let function = self.memory.function_at(address).ok_or(TrapKind::BadCall)?;
                if !self.same_signature(self.program.functions[function].ty, *ty) {
                    return Err(TrapKind::BadCall.into());
                }
                function
            }
        };
        let args = args.iter().map(|arg| self.eval(*arg)).collect::<Step<Vec<u128>>>()?;
        let dst_addr = dst_addr.map(|addr| self.address(addr)).transpose()?;
        let target = Target { dst: *dst, dst_addr };
        let program = self.program;
        let declared = &program.functions[function];
        if let Some(body) = &declared.body {
            return self.enter(function, body, (&args, arg_types), target);
        }
        match model_of(&program.types, &declared.name, declared.ty) {
            Some(model) => {
                let result = self.model(model, &args, arg_types)?;
                if let (Some(dst), Some(bits)) = (target.dst, result) {
                    self.set_register(dst, bits);
                }
                Ok(())
            }
            None => self.external(function, target),
        }
    }

    /// Whether two function types pass and return machine values in the same way.
    fn same_signature(&self, a: CTypeId, b: CTypeId) -> bool {
        let types = &self.program.types;
        let same = |a: CTypeId, b: CTypeId| {
            a == b || (types.scalar(a).is_some() && types.scalar(a) == types.scalar(b))
        };
        match (types.get(a), types.get(b)) {
            (
                CType::Function { result: a, params: a_params, variadic: a_more },
                CType::Function { result: b, params: b_params, variadic: b_more },
            ) => {
                same(*a, *b)
                    && a_more == b_more
                    && a_params.len() == b_params.len()
                    && a_params.iter().zip(b_params).all(|(a, b)| same(*a, *b))
            }
            _ => false,
        }
    }

    fn enter(
        &mut self,
        function: FuncId,
        body: &'p Body,
        (args, arg_types): (&[u128], &[CTypeId]),
        target: Target,
    ) -> Step<()> {
        if self.frames.len() as u64 >= u64::from(self.max_depth()) {
            return Err(Stop::End(End::TooDeep(self.max_depth())));
        }
        if body.params.len() > args.len() {
            return Err(TrapKind::BadCall.into());
        }
        let mut images = Vec::new();
        for (param, arg) in body.params.iter().zip(args) {
            let ty = body.locals[*param].ty;
            let is_record = matches!(self.program.types.get(ty), CType::Record(_));
            let size = self.program.types.size(ty).unwrap_or(0);
            images.push(match is_record {
                true => self.memory.read(*arg as u64, size)?.bytes,
                false => arg.to_le_bytes()[..size.min(16) as usize].to_vec(),
            });
        }
        let fixed = body.params.len();
        let variable = self.variable_arguments(function, args, arg_types, fixed)?;
        self.push_frame(function, body, target.dst, target.dst_addr);
        for (param, image) in body.params.iter().zip(&images) {
            self.set_param(*param, image).ok_or(TrapKind::BadCall)?;
        }
        self.pass_variable(function, arg_types, fixed, &variable)
    }

    fn set_register(&mut self, dst: LocalId, bits: u128) {
        let frame = self.frame();
        if let Storage::Register(ty) = frame.code.body.locals[dst].storage {
            let bits = arith::truncate(ty, bits);
            frame.registers[dst.index()] = Value { bits, uninitialised: false };
        }
    }

    /// A call of a function of which nothing is known: the test says what it returns.
    fn external(&mut self, function: FuncId, target: Target) -> Step<()> {
        self.externals.push(function);
        let declared = &self.program.functions[function];
        if declared.noreturn {
            return Err(Stop::End(End::NoReturn(function)));
        }
        let size = match self.program.types.get(declared.ty) {
            CType::Function { result, .. } => self.program.types.size(*result).unwrap_or(0),
            _ => 0,
        };
        let mut image = self.next_result(&declared.name).unwrap_or_default();
        image.resize(size as usize, 0);
        if let Some(dst) = target.dst {
            let mut raw = [0; 16];
            let len = image.len().min(16);
            raw[..len].copy_from_slice(&image[..len]);
            self.set_register(dst, u128::from_le_bytes(raw));
        }
        if let Some(address) = target.dst_addr {
            self.memory.write(address, &image)?;
        }
        Ok(())
    }

    /// A call of a modelled function: its result, `None` for `void`.
    fn model(&mut self, model: &Model, args: &[u128], arg_types: &[CTypeId]) -> Step<Option<u128>> {
        let arg = |index: usize| args.get(index).copied().unwrap_or(0);
        match model.family {
            Family::Memory => self.string_function(model.function, arg(0) as u64, arg(1), arg(2)),
            Family::Character => self.character_function(model.function, arg(0) as u32 as i32),
            Family::Allocation => self.allocation_function(model, arg(0) as u64, arg(1) as u64),
            Family::End => self.end_function(model.function, arg(0)),
            Family::Hint => self.hint_function(model.function, arg(0), arg(1)),
            Family::Integer => {
                super::builtins::integer_function(model.function, arg(0), self.overflow())
            }
            Family::Jump => self.jump_function(model.function, arg(0) as u64, arg(1)),
            Family::Overflow => self.overflow_function(model.function, args, arg_types),
            Family::ExactMath | Family::InexactMath => {
                if let Some(result) = self.parts_function(model.function, arg(0), arg(1))? {
                    return Ok(Some(result));
                }
                let ty = arg_types.first().and_then(|ty| self.program.types.scalar(*ty));
                let ty = ty.filter(|ty| ty.is_float()).unwrap_or(Type::F64);
                Ok(super::math::math_function(model.function, ty, arg(0), arg(1)))
            }
        }
    }
}
