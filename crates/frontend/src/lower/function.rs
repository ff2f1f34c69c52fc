//! One function: its parameters, its variables, its body.

use lydian_base::{Diagnostic, Span};
use lydian_ir::{Body, Local, LocalId, LocalKind, Stmt, Storage, Type};

use super::builder::FunctionLowering;
use super::facts;
use super::globals::Module;
use super::place::Place;
use super::simplify::simplify;
use super::types::{layout_of, scalar_of};
use super::{Lowering, Unsupported};
use crate::ast::{Bound, BoundOwner, FunctionId, VarId, VarStorage};
use crate::ctypes::{CType, TypeId};

/// Lowers the body of a defined function.
pub(super) fn lower_body(module: &mut Module<'_>, id: FunctionId) -> Lowering<Body> {
    let unit = module.unit;
    let decl = &unit.functions[id];
    let Some(body) = decl.body else {
        return Err(Unsupported::new("a missing body", decl.span));
    };
    let facts = facts::collect(unit, &decl.params, body);
    let text = unit.stmts[body].span;
    let mut lowering = FunctionLowering::new(module, id, facts);
    lowering.body.source.body = text;
    lowering.span = text;
    lowering.parameters(&decl.params)?;
    lowering.enter_bypassed()?;
    for param in &decl.params {
        let param_decl = &unit.vars[*param];
        for bound in unit.bounds.get(&BoundOwner::Outermost(*param)).into_iter().flatten() {
            if let Bound::Expr(bound) = bound {
                lowering.apart(|l| l.discard(*bound))?;
            }
        }
        lowering.evaluate_bounds(BoundOwner::Var(*param), param_decl.ty.ty, param_decl.span)?;
    }
    lowering.stmt(body)?;
    lowering.span = text;
    lowering.fall_off();
    let missing = lowering.labels.keys().find(|label| !lowering.placed_labels.contains(label));
    if missing.is_some() {
        return Err(Unsupported::new("a label in code that was left out", decl.span));
    }
    let mut body = simplify(lowering.body);
    lydian_ir::unreached::settle(&module.program, &mut body);
    Ok(body)
}

impl FunctionLowering<'_, '_> {
    fn parameters(&mut self, params: &[VarId]) -> Lowering<()> {
        let mut narrowed = Vec::new();
        for (index, param) in params.iter().enumerate() {
            let decl = &self.unit.vars[*param];
            if layout_of(self.unit, decl.ty.ty).is_none() {
                let what = self.module.type_description(decl.ty.ty);
                return Err(Unsupported::new(what, decl.span));
            }
            let local = self.local_of(*param, decl.span)?;
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
        let place = self.place_of_variable(param)?;
        self.write_place(place, value, to.ty);
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
        if let Some(local) = self.vars.get(&var) {
            return Ok(*local);
        }
        let decl = &self.unit.vars[var];
        if matches!(self.unit.ty(decl.ty), CType::Unsupported(_)) {
            return Err(Unsupported::new(self.module.type_description(decl.ty.ty), span));
        }
        let storage = match scalar_of(self.unit, decl.ty.ty) {
            Some(scalar) if self.is_register(var) => Storage::Register(scalar.ty),
            _ => {
                let Some(layout) = layout_of(self.unit, decl.ty.ty) else {
                    return Err(Unsupported::new(self.module.type_description(decl.ty.ty), span));
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
        self.vars.insert(var, local);
        Ok(local)
    }

    /// The place of an automatic variable.
    pub(super) fn place_of_variable(&mut self, var: VarId) -> Lowering<Place> {
        let decl = &self.unit.vars[var];
        let local = self.local_of(var, decl.span)?;
        if self.in_register(local) {
            return Ok(Place::Register(local));
        }
        let addr = self.expr(lydian_ir::Expr::AddrLocal(local));
        let volatile = decl.ty.quals.has(crate::ctypes::Quals::VOLATILE);
        Ok(Place::Memory { addr, volatile })
    }

    /// Reports an error that does not end the function.
    pub(super) fn report(&mut self, code: &'static str, message: String, span: Span) {
        let place = self.module.source.place(span.start);
        self.module.diagnostics.push(Diagnostic::error(code, message).at(place));
    }
}
