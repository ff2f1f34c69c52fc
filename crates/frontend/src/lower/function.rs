//! One function: its parameters, its variables, its body.

use lydian_base::{Diagnostic, Span};
use lydian_ir::{Body, Local, LocalId, LocalKind, Stmt, Storage, Type};

use crate::ast::{Bound, BoundOwner, FunctionId, StmtId, VarId, VarStorage};
use crate::ctypes::{CType, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::facts;
use crate::lower::builder::gaps::{Gaps, Part};
use crate::lower::expressions::lvalue::LValue;
use crate::lower::module::Module;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::simplify::simplify;
use crate::lower::types::{layout_of, scalar_of};

/// Lowers the body of a defined function.
pub(super) fn lower_body(module: &mut Module<'_>, id: FunctionId) -> Lowering<Body> {
    attempt(module, id, &mut None)
}

/// The same as an outline, with the parts that are not supported.
pub(super) fn outline_body(
    module: &mut Module<'_>,
    id: FunctionId,
) -> Lowering<(Body, Vec<UnsupportedConstruct>)> {
    let said = module.diagnostics.len();
    let mut gaps = Some(Gaps::default());
    loop {
        module.diagnostics.truncate(said);
        let result = attempt(module, id, &mut gaps);
        if gaps.as_mut().is_some_and(Gaps::learn) {
            continue;
        }
        let gaps = gaps.take().unwrap_or_default();
        return Ok((result?, gaps.into_all()));
    }
}

fn attempt(module: &mut Module<'_>, id: FunctionId, gaps: &mut Option<Gaps>) -> Lowering<Body> {
    let unit = module.unit;
    let decl = &unit.functions[id];
    let Some(body) = decl.body else {
        return Err(UnsupportedConstruct::new("a missing body", decl.span));
    };
    let facts = facts::collect(unit, &decl.params, body);
    let mut lowering = FunctionLowering::new(module, id, facts);
    lowering.gaps = gaps.take();
    let result = lowering.whole(&decl.params, body);
    *gaps = lowering.gaps.take();
    result?;
    let mut body = simplify(lowering.body);
    lydian_ir::unreached::settle(&module.program, &mut body);
    Ok(body)
}

impl FunctionLowering<'_, '_> {
    fn whole(&mut self, params: &[VarId], body: StmtId) -> Lowering<()> {
        let unit = self.unit;
        let text = unit.stmts[body].span;
        self.body.source.body = text;
        self.span = text;
        self.parameters(params)?;
        self.prepare_dispatch();
        self.enter_bypassed()?;
        for param in params {
            self.or_outline(Part::Var(*param), |l| l.parameter_bounds(*param), |_| Ok(()))?;
        }
        self.stmt(body)?;
        self.span = text;
        self.fall_off();
        self.place_dispatch();
        if self.labels.has_missing() {
            let span = unit.functions[self.function].span;
            return Err(UnsupportedConstruct::new("a label in code that was left out", span));
        }
        Ok(())
    }

    /// Evaluates the bounds in the type of a parameter.
    fn parameter_bounds(&mut self, param: VarId) -> Lowering<()> {
        let unit = self.unit;
        let decl = &unit.vars[param];
        for bound in unit.bounds.get(&BoundOwner::Outermost(param)).into_iter().flatten() {
            if let Bound::Expr(bound) = bound {
                self.apart(|l| l.discard(*bound))?;
            }
        }
        self.evaluate_bounds(BoundOwner::Var(param), decl.ty.ty, decl.span)
    }

    /// The parameters that are supported; one that is not has no local in an outline.
    fn parameters(&mut self, params: &[VarId]) -> Lowering<()> {
        let mut narrowed = Vec::new();
        for (index, param) in params.iter().enumerate() {
            let local = self.or_outline(
                Part::Var(*param),
                |l| l.parameter(*param).map(Some),
                |_| Ok(None),
            )?;
            let Some(local) = local else { continue };
            if let Some(passed) = self.promoted(index, *param) {
                let hidden = self.promoted_parameter(local, passed);
                narrowed.push((*param, hidden, passed));
                continue;
            }
            self.body.params.push(local);
        }
        for (param, hidden, passed) in narrowed {
            self.narrow(param, hidden, passed)?;
        }
        Ok(())
    }

    fn parameter(&mut self, param: VarId) -> Lowering<LocalId> {
        let decl = &self.unit.vars[param];
        if layout_of(self.unit, decl.ty.ty).is_none() {
            return Err(UnsupportedConstruct::new(
                self.module.type_description(decl.ty.ty),
                decl.span,
            ));
        }
        self.local_of(param, decl.span)
    }

    /// The type that a parameter is passed as, where it is not its own: a definition without a
    /// prototype takes a promoted `char`, `short` or `float`.
    fn promoted(&self, index: usize, param: VarId) -> Option<TypeId> {
        let function = self.unit.functions[self.function].ty;
        let CType::Function { params, .. } = self.unit.ty(function) else { return None };
        let passed = params.get(index)?.ty;
        let own = scalar_of(self.unit, self.unit.vars[param].ty.ty)?;
        (scalar_of(self.unit, passed)?.ty != own.ty).then_some(passed)
    }

    /// A parameter without a name, before the variable `local` that is made of it.
    fn promoted_parameter(&mut self, local: LocalId, passed: TypeId) -> LocalId {
        self.body.locals[local].kind = LocalKind::Var;
        let ty = self.ctype(passed);
        let machine = scalar_of(self.unit, passed).map_or(Type::Int(32), |scalar| scalar.ty);
        let hidden = self.body.locals.push(Local {
            name: String::new(),
            ty,
            kind: LocalKind::Param,
            storage: Storage::Register(machine),
            scope: Span::NONE,
        });
        self.body.params.push(hidden);
        hidden
    }

    fn narrow(&mut self, param: VarId, hidden: LocalId, passed: TypeId) -> Lowering<()> {
        let decl = &self.unit.vars[param];
        let from = self.scalar(passed, decl.span)?;
        let to = self.scalar(decl.ty.ty, decl.span)?;
        let local = self.local_of(param, decl.span)?;
        if !self.in_register(local) {
            self.emit(Stmt::Enter(local));
        }
        let value = self.read(hidden);
        let value = self.convert(value, from, to);
        let place = self.lvalue_of_variable(param)?;
        self.write_lvalue(place, value, to.ty);
        Ok(())
    }

    /// Variables that a jump can reach past their declaration live from the start.
    fn enter_bypassed(&mut self) -> Lowering<()> {
        for var in self.facts.bypassed.clone() {
            let decl = &self.unit.vars[var];
            let automatic = matches!(decl.storage, VarStorage::Local(_));
            if automatic && layout_of(self.unit, decl.ty.ty).is_some() {
                let local = self.local_of(var, decl.span)?;
                if !self.in_register(local) {
                    self.emit(Stmt::Enter(local));
                }
            }
        }
        Ok(())
    }

    /// The local of an automatic variable or parameter.
    pub(super) fn local_of(&mut self, var: VarId, span: Span) -> Lowering<LocalId> {
        if let Some(local) = self.variables.local(var) {
            return Ok(local);
        }
        let decl = &self.unit.vars[var];
        if matches!(self.unit.ty(decl.ty), CType::Unsupported(_)) {
            return Err(UnsupportedConstruct::new(self.module.type_description(decl.ty.ty), span));
        }
        let storage = match scalar_of(self.unit, decl.ty.ty) {
            Some(scalar) if self.is_register(var) => Storage::Register(scalar.ty),
            _ => {
                let Some(layout) = layout_of(self.unit, decl.ty.ty) else {
                    return Err(UnsupportedConstruct::new(
                        self.module.type_description(decl.ty.ty),
                        span,
                    ));
                };
                let align = layout.align.max(decl.alignment.unwrap_or(1));
                Storage::Memory { size: layout.size, align }
            }
        };
        let (kind, end) = match decl.storage {
            VarStorage::Param(_) => (LocalKind::Param, self.body.source.body.end),
            _ => {
                let end = self.facts.scope_ends.get(&var).copied();
                (LocalKind::Var, end.unwrap_or(decl.span.end))
            }
        };
        let start = decl.name_span.start.max(decl.span.start);
        let scope = Span::new(start, end.max(start));
        let ty = self.ctype(decl.ty.ty);
        let local =
            self.body.locals.push(Local { name: decl.name.to_string(), ty, kind, storage, scope });
        self.variables.set_local(var, local);
        Ok(local)
    }

    /// The place of an automatic variable.
    pub(super) fn lvalue_of_variable(&mut self, var: VarId) -> Lowering<LValue> {
        let decl = &self.unit.vars[var];
        let local = self.local_of(var, decl.span)?;
        if self.in_register(local) {
            return Ok(LValue::Register(local));
        }
        let addr = self.expr(lydian_ir::Expr::AddrLocal(local));
        let volatile = decl.ty.quals.has(crate::ctypes::Quals::VOLATILE);
        Ok(LValue::Memory { addr, volatile })
    }

    /// Reports an error that does not end the function.
    pub(super) fn report(&mut self, code: &'static str, message: String, span: Span) {
        let place = self.module.source.place(span.start);
        self.module.diagnostics.push(Diagnostic::error(code, message).at(place));
    }
}
