//! Decodes statements.

use super::Decoder;
use super::node::{Id, Node};
use crate::ast::{
    BoundOwner, ExprId, LabelDecl, LabelId, LocalDecl, Stmt, StmtId, StmtKind, VarStorage,
};

impl Decoder<'_> {
    /// Decodes a statement and everything below it.
    pub(super) fn stmt(&mut self, node: &Node<'_>) -> StmtId {
        let span = self.span(node);
        let kind = self.stmt_kind(node);
        let kind = kind.unwrap_or_else(|| StmtKind::Unsupported(node.kind.into()));
        let label = match kind {
            StmtKind::Label { label, .. } => Some(label),
            _ => None,
        };
        let id = self.unit.stmts.push(Stmt { kind, span });
        if let Some(label) = label {
            self.unit.labels[label].stmt = Some(id);
        }
        id
    }

    /// The kind of a statement; `None` if it is not modelled.
    fn stmt_kind(&mut self, node: &Node<'_>) -> Option<StmtKind> {
        let inner = &node.inner[..];
        Some(match node.kind {
            "CompoundStmt" => self.compound(inner),
            "DeclStmt" => StmtKind::Decl(inner.iter().map(|decl| self.local_decl(decl)).collect()),
            "NullStmt" => StmtKind::Null,
            "IfStmt" => match inner {
                [condition, then] => StmtKind::If {
                    condition: self.expr(condition),
                    then: self.stmt(then),
                    otherwise: None,
                },
                [condition, then, otherwise] => StmtKind::If {
                    condition: self.expr(condition),
                    then: self.stmt(then),
                    otherwise: Some(self.stmt(otherwise)),
                },
                _ => return None,
            },
            "WhileStmt" => {
                let [condition, body] = inner else { return None };
                StmtKind::While { condition: self.expr(condition), body: self.stmt(body) }
            }
            "DoStmt" => {
                let [body, condition] = inner else { return None };
                StmtKind::Do { body: self.stmt(body), condition: self.expr(condition) }
            }
            "ForStmt" => self.for_loop(inner)?,
            "SwitchStmt" => {
                let [value, body] = inner else { return None };
                StmtKind::Switch { value: self.expr(value), body: self.stmt(body) }
            }
            "CaseStmt" => self.case(node)?,
            "DefaultStmt" => StmtKind::Default(self.stmt(inner.first()?)),
            "LabelStmt" => {
                let label = self.label(node.decl_id, node.name.as_deref())?;
                StmtKind::Label { label, body: self.stmt(inner.first()?) }
            }
            "GotoStmt" => StmtKind::Goto(self.label(node.target_label, None)?),
            "IndirectGotoStmt" => StmtKind::IndirectGoto(self.expr(inner.first()?)),
            "BreakStmt" => StmtKind::Break,
            "ContinueStmt" => StmtKind::Continue,
            "ReturnStmt" => StmtKind::Return(inner.first().map(|value| self.expr(value))),
            "AttributedStmt" => StmtKind::Attributed(self.stmt(inner.last()?)),
            "GCCAsmStmt" => self.assembly(node, self.span(node))?,
            _ if node.value_category.is_some() => StmtKind::Expr(self.expr(node)),
            _ => return None,
        })
    }

    fn compound(&mut self, inner: &[Node<'_>]) -> StmtKind {
        self.scopes.enter();
        let mut stmts = Vec::with_capacity(inner.len());
        for node in inner {
            if node.inserted {
                self.take_bounds(node);
                continue;
            }
            let stmt = self.stmt(node);
            stmts.push(stmt);
            let innermost = behind_labels(node);
            match innermost.kind {
                "DeclStmt" => self.ask_for_bounds(self.span(innermost).end),
                _ => self.drop_bounds(),
            }
        }
        self.scopes.leave();
        StmtKind::Compound(stmts)
    }

    /// Clang prints five children: initialisation, condition variable (never in C), condition,
    /// step and body, each but the last possibly absent.
    fn for_loop(&mut self, inner: &[Node<'_>]) -> Option<StmtKind> {
        let [init, _, condition, step, body] = inner else { return None };
        let present = |node: &Node<'_>| !node.kind.is_empty();
        self.scopes.enter();
        let first = present(init).then(|| self.stmt(init));
        let declared = self.declared_bounds();
        let before = self.span(if present(condition) { condition } else { init }).end;
        let kind = StmtKind::For {
            init: first,
            condition: present(condition).then(|| self.expr(condition)),
            step: match declared.is_empty() {
                true => present(step).then(|| self.expr(step)),
                false => self.step_with_bounds(step, before, declared),
            },
            body: self.stmt(body),
        };
        self.scopes.leave();
        Some(kind)
    }

    /// A case whose value does not fold is not supported; clang has checked that it is constant.
    fn case(&mut self, node: &Node<'_>) -> Option<StmtKind> {
        let (low, high, body) = match &node.inner[..] {
            [low, body] => (low, None, body),
            [low, high, body] => (low, Some(high), body),
            _ => return None,
        };
        let low_expr = self.expr(low);
        let high: Option<ExprId> = high.map(|high| self.expr(high));
        let body = self.stmt(body);
        let low = self.unit.const_eval(low_expr)?;
        let high = match high {
            Some(high) => self.unit.const_eval(high)?,
            None => low,
        };
        Some(StmtKind::Case { low, high, low_expr, body })
    }

    fn local_decl(&mut self, node: &Node<'_>) -> LocalDecl {
        match node.kind {
            "VarDecl" => {
                let var = self.var(node);
                match self.unit.vars[var].storage {
                    VarStorage::Global { .. } => LocalDecl::NoEffect,
                    _ => LocalDecl::Var(var),
                }
            }
            "TypedefDecl" => {
                let typedef = self.typedef(node);
                match self.unit.bounds.contains_key(&BoundOwner::Typedef(typedef)) {
                    true => LocalDecl::Typedef(typedef),
                    false => LocalDecl::NoEffect,
                }
            }
            "FunctionDecl" => LocalDecl::Function(self.listed_function(node)),
            _ => {
                self.declaration(node);
                LocalDecl::NoEffect
            }
        }
    }

    /// The label of clang's id, made when it is met for the first time; a `goto` may come before
    /// its label and does not give the name.
    pub(super) fn label(&mut self, id: Id, name: Option<&str>) -> Option<LabelId> {
        let function = self.function?;
        let label = *self.labels.entry(id).or_insert_with(|| {
            let label = LabelDecl { name: "".into(), function, stmt: None };
            let label = self.unit.labels.push(label);
            self.unit.functions[function].labels.push(label);
            label
        });
        if let Some(name) = name {
            self.unit.labels[label].name = name.into();
        }
        Some(label)
    }
}

/// The statement behind labels, if there are any.
fn behind_labels<'n, 'a>(mut node: &'n Node<'a>) -> &'n Node<'a> {
    while let "LabelStmt" | "CaseStmt" | "DefaultStmt" | "AttributedStmt" = node.kind
        && let Some(body) = node.inner.last()
    {
        node = body;
    }
    node
}
