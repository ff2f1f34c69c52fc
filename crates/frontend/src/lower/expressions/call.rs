//! Calls.

use lydian_ir::source::{Point, RootKind};
use lydian_ir::{CTypeId, Callee, ExprId, LocalId, Stmt, Terminator, TrapKind, Type};

use crate::ast::{self, ExprKind};
use crate::ctypes::{CType, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::builtins::builtin::Builtin;
use crate::lower::builtins::vector_builtin::is_sign_mask;
use crate::lower::expressions::complex::ComplexBuiltin;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, scalar_of};

/// Functions that return a second time, and that no engine models.
const RETURNS_TWICE: [&str; 3] = ["__setjmp", "vfork", "getcontext"];

/// An argument that is a root of its own.
struct ArgumentRoot {
    value: ExprId,
    text: lydian_base::Span,
    captures: Captures,
}

impl<'a> FunctionLowering<'_, 'a> {
    /// A call whose scalar result is used.
    pub(in crate::lower) fn call_value(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let (callee, args) = self.call_parts(e)?;
        match (self.complex_builtin(callee), args) {
            (Some(ComplexBuiltin::Real), [operand]) => {
                return self.complex_part_value(ast::UnaryOp::Real, *operand);
            }
            (Some(ComplexBuiltin::Imaginary), [operand]) => {
                return self.complex_part_value(ast::UnaryOp::Imag, *operand);
            }
            _ => {}
        }
        if let (true, [vector]) = (self.builtin_name(callee).is_some_and(is_sign_mask), args) {
            let mask = self.sign_mask(*vector)?;
            let (_, temp) = self.keep(mask, self.unit.exprs[e].ty.ty, self.unit.exprs[e].span)?;
            return Ok(self.read(temp));
        }
        if let Some(builtin) = self.builtin_of(callee) {
            return self.builtin_value(e, callee, args, builtin);
        }
        let temp = self.call_into_temp(e, callee, args)?;
        self.capture(self.text(e), temp);
        let scalar = self.scalar(self.unit.exprs[e].ty.ty, self.unit.exprs[e].span)?;
        let result = self.read(temp);
        Ok(self.extended(result, scalar))
    }

    /// Calls a function of the program and keeps the scalar result.
    pub(in crate::lower) fn call_into_temp(
        &mut self,
        e: ast::ExprId,
        callee: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Lowering<LocalId> {
        let expr = &self.unit.exprs[e];
        // Before anything is emitted, since a result that is no scalar is an error.
        self.scalar(expr.ty.ty, expr.span)?;
        let call = self.prepare_call(e, callee, args)?;
        let dst = self.temp(expr.ty.ty, expr.span)?;
        let Some((ctype, ty)) = self.other_result(expr.ty.ty, call.ty) else {
            self.finish_call(e, call, Some(dst), None);
            return Ok(dst);
        };
        let whole = self.temp_of(ctype, ty);
        self.finish_call(e, call, Some(whole), None);
        let (value, to) = (self.read(whole), self.scalar(expr.ty.ty, expr.span)?);
        let value = self.convert(value, Scalar::new(ty, false), to);
        self.emit(Stmt::Assign { dst, value });
        Ok(dst)
    }

    /// What a called function returns, where that is another integer than the call gives: a library
    /// function that the program declares with a result of its own returns what it does.
    fn other_result(&self, given: TypeId, function: CTypeId) -> Option<(CTypeId, Type)> {
        let types = &self.module.program.types;
        let lydian_ir::CType::Function { result, .. } = types.get(function) else { return None };
        let returned = types.scalar(*result)?;
        let wanted = scalar_of(self.unit, given)?.ty;
        let integers = matches!((returned, wanted), (Type::Int(_), Type::Int(_)));
        (integers && returned != wanted).then_some((*result, returned))
    }

    /// A call whose result, if any, is not used.
    pub(in crate::lower) fn call_for_effect(&mut self, e: ast::ExprId) -> Lowering<()> {
        let (callee, args) = self.call_parts(e)?;
        if self.complex_builtin(callee).is_some() {
            return args.iter().try_for_each(|arg| self.discard(*arg));
        }
        if let Some(builtin) = self.builtin_of(callee) {
            return self.builtin_for_effect(e, callee, args, builtin);
        }
        if self.is_user_label(callee) {
            return self.nested_user_label(e, args);
        }
        self.library_call_for_effect(e, callee, args)
    }

    /// A call of a function of the program whose result, if any, is not used.
    pub(in crate::lower) fn library_call_for_effect(
        &mut self,
        e: ast::ExprId,
        callee: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Lowering<()> {
        let expr = &self.unit.exprs[e];
        if self.is_aggregate(expr.ty.ty) {
            let dst = self.memory_temp(expr.ty.ty, expr.span)?;
            return self.apart(|l| l.call_aggregate(e, dst));
        }
        let call = self.prepare_call(e, callee, args)?;
        self.finish_call(e, call, None, None);
        Ok(())
    }

    /// A call that returns a struct or union into `dst`.
    pub(in crate::lower) fn call_aggregate(&mut self, e: ast::ExprId, dst: ExprId) -> Lowering<()> {
        let (callee, args) = self.call_parts(e)?;
        if let Some(Builtin::Unsupported(what)) = self.builtin_of(callee) {
            return Err(UnsupportedConstruct::new(what, self.unit.exprs[e].span));
        }
        let call = self.prepare_call(e, callee, args)?;
        self.finish_call(e, call, None, Some(dst));
        Ok(())
    }

    fn call_parts(&self, e: ast::ExprId) -> Lowering<(ast::ExprId, &'a [ast::ExprId])> {
        match &self.unit.exprs[e].kind {
            ExprKind::Call { callee, args } => Ok((*callee, args)),
            _ => Err(UnsupportedConstruct::new("this call", self.unit.exprs[e].span)),
        }
    }

    /// Evaluates callee and arguments.
    fn prepare_call(
        &mut self,
        e: ast::ExprId,
        callee: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Lowering<PreparedCall> {
        let span = self.unit.exprs[e].span;
        let direct = self.unit.direct_callee(callee);
        let mut noreturn = false;
        let target = match direct {
            Some(function) => {
                let decl = &self.unit.functions[function];
                if RETURNS_TWICE.contains(&&*decl.name) {
                    return Err(UnsupportedConstruct::new(
                        format!("a call of `{}`", decl.name),
                        span,
                    ));
                }
                noreturn = decl.specifiers.no_return;
                Callee::Direct(self.callee_function(function))
            }
            None => {
                let later = self.effects_of_all(args);
                Callee::Indirect(self.apart(|l| l.operand(callee, &later))?)
            }
        };
        self.note_unsequenced(args);
        let (mut values, mut types, mut roots) = (Vec::new(), Vec::new(), Vec::new());
        for (index, arg) in args.iter().enumerate() {
            let later = self.effects_of_all(&args[index + 1..]);
            let ty = self.unit.exprs[*arg].ty.ty;
            types.push(self.ctype(ty));
            if self.is_aggregate(ty) {
                values.push(self.apart(|l| l.aggregate_argument(*arg, &later))?);
                continue;
            }
            let (value, captures) = self.with_captures(|l| l.rvalue(*arg))?;
            let kept = self.apart(|l| l.settle(value, *arg, captures.clone(), &later))?;
            if kept == value {
                roots.push(ArgumentRoot { value, text: self.text(*arg), captures });
            }
            values.push(kept);
        }
        let ty = match (target, self.unit.ty(self.unit.exprs[callee].ty)) {
            (Callee::Direct(function), _) => self.module.program.functions[function].ty,
            (Callee::Indirect(_), CType::Pointer(function)) => self.ctype(function.ty),
            _ => return Err(UnsupportedConstruct::new("this callee", span)),
        };
        self.drop_surplus(callee, target, &mut values, &mut types);
        if let Callee::Direct(_) = target {
            self.widen_arguments(ty, args, &mut values, &mut types);
        }
        roots.retain(|root| values.contains(&root.value));
        if !self.accepts(ty, &types) {
            let what = "a call with arguments that are not the function's parameters";
            return Err(UnsupportedConstruct::new(what, span));
        }
        Ok(PreparedCall { target, values, types, roots, ty, noreturn })
    }

    /// Leaves out arguments, evaluated as they are, that a function without a prototype does not
    /// take: the machine's calling convention lets them be.
    fn drop_surplus(
        &self,
        callee: ast::ExprId,
        target: Callee,
        values: &mut Vec<ExprId>,
        types: &mut Vec<CTypeId>,
    ) {
        let CType::Pointer(pointee) = self.unit.ty(self.unit.exprs[callee].ty) else { return };
        let Callee::Direct(function) = target else { return };
        // `__builtin_strcmp` calls the program's own `strcmp`, whatever that takes.
        let own = &self.module.program.functions[function];
        let own_type = self.unit.function_named(&own.name);
        let own_type = own_type.map_or(*pointee, |own| self.unit.functions[own].ty);
        let open = |ty| matches!(self.unit.ty(ty), CType::Function { prototype: false, .. });
        if !open(*pointee) && !open(own_type) {
            return;
        }
        let known = self.module.program.types.get(own.ty);
        if let lydian_ir::CType::Function { params, variadic: false, .. } = known {
            values.truncate(params.len());
            types.truncate(params.len());
        }
    }

    /// Extends integers to those that a library function takes, where the program declares it with
    /// others.
    fn widen_arguments(
        &mut self,
        function: CTypeId,
        args: &[ast::ExprId],
        values: &mut [ExprId],
        types: &mut [CTypeId],
    ) {
        let known = self.module.program.types.get(function);
        let lydian_ir::CType::Function { params, .. } = known else { return };
        let params = params.clone();
        for (index, param) in params.into_iter().enumerate().take(values.len()) {
            let to = self.module.program.types.scalar(param);
            let from = scalar_of(self.unit, self.unit.exprs[args[index]].ty.ty);
            if let (Some(to @ Type::Int(_)), Some(from)) = (to, from)
                && matches!(from.ty, Type::Int(_))
                && from.ty != to
            {
                values[index] = self.convert(values[index], from, Scalar::new(to, from.signed));
                types[index] = param;
            }
        }
    }

    /// Whether arguments of these types suit a function type: without a prototype C does not check.
    fn accepts(&self, function: CTypeId, args: &[CTypeId]) -> bool {
        let types = &self.module.program.types;
        let lydian_ir::CType::Function { params, variadic, .. } = types.get(function) else {
            return false;
        };
        let enough = args.len() == params.len() || (*variadic && args.len() > params.len());
        enough
            && params
                .iter()
                .zip(args)
                .all(|(param, arg)| types.scalar(*param) == types.scalar(*arg))
    }

    fn finish_call(
        &mut self,
        e: ast::ExprId,
        call: PreparedCall,
        dst: Option<LocalId>,
        dst_addr: Option<ExprId>,
    ) {
        let span = self.unit.exprs[e].span;
        let PreparedCall { target: callee, values: args, types: arg_types, roots, ty, noreturn } =
            call;
        let stmt = Stmt::Call { callee, args, arg_types, dst, dst_addr, ty };
        let stmt = self.within(span, |l| l.emit(stmt));
        for root in roots {
            self.root(Point::Stmt(stmt), root.value, RootKind::Value, root.text, root.captures);
        }
        if noreturn {
            self.within(span, |l| l.terminate(Terminator::Trap(TrapKind::Unreachable)));
        }
    }
}

/// A call that lacks its destination.
struct PreparedCall {
    target: Callee,
    values: Vec<ExprId>,
    types: Vec<CTypeId>,
    roots: Vec<ArgumentRoot>,
    ty: CTypeId,
    noreturn: bool,
}
