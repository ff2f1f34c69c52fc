//! Facts about a function, found before it is lowered: whose address is taken, which labels
//! stand in which scopes, and which variables a jump can enter the scope of.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{
    Bound, BoundOwner, DeclRef, ExprId, ExprKind, LabelId, LocalDecl, StmtId, StmtKind,
    TraitArgument, TranslationUnit, UnaryOp, VarId, for_each_child,
};

/// Facts about one function.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Facts {
    /// Variables whose address is taken.
    pub address_taken: FxHashSet<VarId>,
    /// Variables that a jump can reach without passing their declaration. They live from the
    /// function's start on, as in C such a variable lives from the start of its block.
    pub bypassed: Vec<VarId>,
    /// The scopes around each label, outermost first.
    pub label_scopes: FxHashMap<LabelId, Vec<StmtId>>,
    /// Labels whose address is taken, in the order of the text.
    pub addressed_labels: Vec<LabelId>,
    /// Whether there is a computed `goto`.
    pub has_computed_goto: bool,
    /// The span of the scope of each variable: its declaration to the end of its block.
    pub scope_ends: FxHashMap<VarId, u32>,
}

/// Walks a function's body, and the bounds of its parameters.
pub(in crate::lower) fn collect(unit: &TranslationUnit, params: &[VarId], body: StmtId) -> Facts {
    let mut walk = Walk { unit, facts: Facts::default(), scopes: Vec::new() };
    for param in params {
        walk.bounds(BoundOwner::Outermost(*param));
        walk.bounds(BoundOwner::Var(*param));
    }
    walk.stmt(body);
    walk.facts
}

struct Walk<'a> {
    unit: &'a TranslationUnit,
    facts: Facts,
    /// Open scopes with the variables declared in them so far.
    scopes: Vec<(StmtId, Vec<VarId>)>,
}

impl Walk<'_> {
    fn scope(&mut self, stmt: StmtId, walk: impl FnOnce(&mut Self)) {
        self.scopes.push((stmt, Vec::new()));
        walk(self);
        let end = self.unit.stmts[stmt].span.end;
        for var in self.scopes.pop().map_or(Vec::new(), |(_, vars)| vars) {
            self.facts.scope_ends.insert(var, end);
        }
    }

    /// A place that a jump leads to.
    fn target(&mut self) {
        for var in self.scopes.iter().flat_map(|(_, vars)| vars) {
            if !self.facts.bypassed.contains(var) {
                self.facts.bypassed.push(*var);
            }
        }
    }

    fn stmt(&mut self, id: StmtId) {
        match &self.unit.stmts[id].kind {
            StmtKind::Compound(stmts) => self.scope(id, |w| stmts.iter().for_each(|s| w.stmt(*s))),
            StmtKind::Decl(decls) => decls.iter().for_each(|decl| self.decl(decl)),
            StmtKind::Expr(e) => self.expr(*e),
            StmtKind::IndirectGoto(e) => {
                self.facts.has_computed_goto = true;
                self.expr(*e);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(*condition);
                self.stmt(*then);
                otherwise.iter().for_each(|s| self.stmt(*s));
            }
            StmtKind::While { condition, body } | StmtKind::Do { body, condition } => {
                self.expr(*condition);
                self.stmt(*body);
            }
            StmtKind::For { init, condition, step, body } => self.scope(id, |w| {
                init.iter().for_each(|s| w.stmt(*s));
                condition.iter().chain(step).for_each(|e| w.expr(*e));
                w.stmt(*body);
            }),
            StmtKind::Switch { value, body } => {
                self.expr(*value);
                self.stmt(*body);
            }
            StmtKind::Case { body, .. } | StmtKind::Default(body) => {
                self.target();
                self.stmt(*body);
            }
            StmtKind::Label { label, body } => {
                self.target();
                let scopes = self.scopes.iter().map(|(stmt, _)| *stmt).collect();
                self.facts.label_scopes.insert(*label, scopes);
                self.stmt(*body);
            }
            StmtKind::Attributed(body) => self.stmt(*body),
            StmtKind::Asm(asm) => {
                asm.outputs.iter().chain(&asm.inputs).for_each(|operand| self.expr(operand.expr));
            }
            StmtKind::Return(value) => value.iter().for_each(|e| self.expr(*e)),
            StmtKind::Null
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Unsupported(_) => {}
        }
    }

    fn bounds(&mut self, owner: BoundOwner) {
        let unit = self.unit;
        for bound in unit.bounds.get(&owner).into_iter().flatten() {
            if let Bound::Expr(e) = bound {
                self.expr(*e);
            }
        }
    }

    fn decl(&mut self, decl: &LocalDecl) {
        if let LocalDecl::Typedef(id) = decl {
            self.bounds(BoundOwner::Typedef(*id));
        }
        if let LocalDecl::Var(var) = decl {
            self.bounds(BoundOwner::Var(*var));
            if self.unit.vars[*var].cleanup.is_some() {
                self.facts.address_taken.insert(*var);
            }
            if let Some((_, vars)) = self.scopes.last_mut() {
                vars.push(*var);
            }
            if let Some(init) = self.unit.vars[*var].init {
                self.expr(init);
            }
        }
    }

    fn by_reference(&mut self, operand: ExprId) {
        let inner = self.unit.strip_parens(operand);
        if let ExprKind::DeclRef(DeclRef::Var(var)) = self.unit.exprs[inner].kind {
            self.facts.address_taken.insert(var);
        }
    }

    fn is_va_builtin(&self, callee: ExprId) -> bool {
        let function = self.unit.direct_callee(callee);
        let named = |id| self.unit.functions[id].name.starts_with("__builtin_va_");
        function.is_some_and(named)
    }

    fn expr(&mut self, id: ExprId) {
        match &self.unit.exprs[id].kind {
            ExprKind::Unary { op: UnaryOp::AddressOf, operand } => self.by_reference(*operand),
            // A `va_list` that is no array is passed by reference.
            ExprKind::VaArg { list } => self.by_reference(*list),
            ExprKind::Call { callee, args } if self.is_va_builtin(*callee) => {
                args.iter().for_each(|arg| self.by_reference(*arg));
            }
            ExprKind::StmtExpr(body) => self.stmt(*body),
            ExprKind::TypeTrait { bounds, argument, value: None, .. } => {
                if let TraitArgument::Expr(operand) = argument {
                    self.expr(*operand);
                }
                for bound in bounds {
                    if let Bound::Expr(e) = bound {
                        self.expr(*e);
                    }
                }
            }
            ExprKind::AddrLabel(label) if !self.facts.addressed_labels.contains(label) => {
                self.facts.addressed_labels.push(*label);
            }
            _ => {}
        }
        let unit = self.unit;
        for_each_child(&unit.exprs[id].kind, &mut |child| self.expr(child));
    }
}
