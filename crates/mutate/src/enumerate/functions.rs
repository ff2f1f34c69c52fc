//! Statements of a function: its sites, and the statements that can be deleted.

use lydian_base::Span;
use lydian_frontend::ast::{
    CastKind, DeclRef, ExprId, ExprKind, FunctionId, LocalDecl, StmtId, StmtKind, TranslationUnit,
    VarStorage,
};
use lydian_frontend::ctypes::{CType, QualType, Quals};
use lydian_frontend::preprocess::LABEL_FUNCTION;

use super::Choice;
use super::computing::computes;
use super::expressions::{ExpressionWalk, Tested};
use super::operands::{Rule, type_name};
use super::scope::Scope;
use super::site::{Deletion, Draft, Entry, FunctionPlan, Infection, Site, Usage};
use crate::mutant::FunctionNotes;
use crate::operator::Operator;
use crate::pattern::Pattern;
use crate::text::behind_semicolon;

/// The mutants of a function in the making.
pub(crate) struct FunctionWalk<'a> {
    ast: &'a TranslationUnit,
    text: &'a str,
    id: FunctionId,
    operators: &'a [Operator],
    patterns: &'a [Pattern],
    scope: Scope<'a>,
    sites: Vec<Site>,
    deletions: Vec<Deletion>,
    label_calls: Vec<Span>,
    drafts: Vec<Draft>,
    first: u32,
    has_static: bool,
}

impl<'a> FunctionWalk<'a> {
    pub(crate) fn new(
        ast: &'a TranslationUnit,
        text: &'a str,
        id: FunctionId,
        choice: Choice<'a>,
    ) -> Self {
        Self {
            ast,
            text,
            id,
            operators: choice.operators,
            patterns: choice.patterns,
            scope: Scope::of(ast, &ast.functions[id].params),
            sites: Vec::new(),
            deletions: Vec::new(),
            label_calls: Vec::new(),
            drafts: Vec::new(),
            first: 1,
            has_static: false,
        }
    }

    /// The plan of the function, and its mutants, numbered from `first` on. None if it has no body.
    pub(crate) fn plan(mut self, first: u32) -> Option<(FunctionPlan, Vec<Draft>)> {
        let function = &self.ast.functions[self.id];
        let body = function.body?;
        self.first = first;
        self.statement(body);
        let entry = self.entry();
        let notes = FunctionNotes {
            name: function.name.to_string(),
            span: function.span,
            name_span: function.name_span,
            body: self.ast.stmts[body].span,
            copies: entry.is_some(),
            computes: computes(self.ast, function),
            numbers: (first, first),
        };
        let Self { sites, deletions, label_calls, drafts, .. } = self;
        Some((FunctionPlan { notes, sites, deletions, label_calls, entry }, drafts))
    }

    /// How the original goes to a copy of the function, if a copy under another name means the same.
    fn entry(&self) -> Option<Entry> {
        let function = &self.ast.functions[self.id];
        let body = self.ast.stmts[function.body?].span;
        let head = self.text.get(function.span.start as usize..body.start as usize)?;
        let head = without_harmless_attributes(head);
        let is_plain = !["{", "__attribute", "[[", "#", "asm", "_Noreturn", "_Alignas"]
            .iter()
            .any(|word| head.contains(word));
        let words: Vec<&str> =
            head.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let is_inline = words.iter().any(|word| word.trim_matches('_') == "inline");
        let is_static = words.contains(&"static");
        let is_named = function.span.contains(function.name_span) && !function.name_span.is_none();
        let CType::Function { result, variadic: false, prototype: true, .. } =
            self.ast.ty(function.ty)
        else {
            return None;
        };
        let params: Vec<String> =
            function.params.iter().map(|id| self.ast.vars[*id].name.to_string()).collect();
        let is_copied = is_plain
            && is_named
            && !words.contains(&"extern")
            && (is_static || !is_inline)
            && !self.has_static
            && &*function.name != "main"
            && !function.specifiers.no_return
            && params.iter().all(|name| !name.is_empty());
        let returns_nothing = matches!(self.ast.ty(*result), CType::Void);
        is_copied.then_some(Entry { params, returns_nothing })
    }

    fn next(&self) -> u32 {
        self.first + self.drafts.len() as u32
    }

    fn statement(&mut self, id: StmtId) {
        let depth = self.scope.depth();
        self.deletion(id);
        match &self.ast.stmts[id].kind {
            StmtKind::Compound(all) => {
                all.iter().for_each(|inner| self.statement(*inner));
                self.scope.leave(depth);
            }
            StmtKind::Decl(all) => all.iter().for_each(|decl| self.declaration(decl)),
            StmtKind::Expr(expr) => self.site(*expr, Usage::Effect, Tested::No),
            StmtKind::If { condition, then, otherwise } => {
                self.site(*condition, Usage::Truth, Tested::Implied);
                self.statement(*then);
                otherwise.iter().for_each(|inner| self.statement(*inner));
            }
            StmtKind::While { condition, body } | StmtKind::Do { body, condition } => {
                self.site(*condition, Usage::Truth, Tested::Implied);
                self.statement(*body);
            }
            StmtKind::For { init, condition, step, body } => {
                init.iter().for_each(|inner| self.init_of_loop(*inner));
                condition.iter().for_each(|expr| self.site(*expr, Usage::Truth, Tested::Implied));
                step.iter().for_each(|expr| self.site(*expr, Usage::Effect, Tested::No));
                self.statement(*body);
                self.scope.leave(depth);
            }
            StmtKind::Switch { value, body } => {
                let usage = self.converted(self.ast.exprs[*value].ty);
                self.site(*value, usage, Tested::No);
                self.statement(*body);
            }
            StmtKind::Case { body, .. }
            | StmtKind::Default(body)
            | StmtKind::Label { body, .. }
            | StmtKind::Attributed(body) => self.statement(*body),
            StmtKind::Return(Some(expr)) => self.returned(*expr),
            _ => {}
        }
    }

    fn init_of_loop(&mut self, id: StmtId) {
        match &self.ast.stmts[id].kind {
            StmtKind::Expr(expr) => self.site(*expr, Usage::Effect, Tested::No),
            StmtKind::Decl(all) => all.iter().for_each(|decl| self.declaration(decl)),
            _ => {}
        }
    }

    fn declaration(&mut self, decl: &LocalDecl) {
        let LocalDecl::Var(id) = decl else { return };
        let var = &self.ast.vars[*id];
        match var.storage {
            // Copies of what never changes are as good as one.
            VarStorage::StaticLocal(_) => self.has_static |= !self.is_constant(var.ty),
            VarStorage::Local(_) => {
                let is_list = |init: ExprId| {
                    let init = &self.ast.exprs[self.ast.strip_implicit(init)].kind;
                    matches!(init, ExprKind::InitList(_) | ExprKind::String(_))
                };
                let usage = self.converted(var.ty);
                let declared = self.text.get(var.span.range()).unwrap_or_default();
                let is_list = |init| is_list(init) || declared.contains("__auto_type");
                if let Some(init) = var.init.filter(|init| !is_list(*init)) {
                    self.site(init, usage, Tested::No);
                }
            }
            VarStorage::Global { .. } | VarStorage::Param(_) => {}
        }
        self.scope.declare(*id);
    }

    /// Whether objects of a type never change: numbers that are `const`, and arrays of them.
    fn is_constant(&self, ty: QualType) -> bool {
        match self.ast.ty(ty) {
            CType::Array { element, .. } => self.is_constant(*element),
            CType::Int(_) | CType::Float(_) | CType::Enum(_) => {
                ty.quals.has(Quals::CONST) && !ty.quals.has(Quals::VOLATILE)
            }
            _ => false,
        }
    }

    /// How a value is used that is converted to a type.
    fn converted(&self, ty: QualType) -> Usage {
        type_name(self.ast, ty).map_or(Usage::AsIs, Usage::Converted)
    }

    fn returned(&mut self, expr: ExprId) {
        let CType::Function { result, .. } = self.ast.ty(self.ast.functions[self.id].ty) else {
            return;
        };
        if matches!(self.ast.ty(*result), CType::Void) {
            return self.site(expr, Usage::Effect, Tested::No);
        }
        let usage = self.converted(*result);
        let own = ExpressionWalk::new(self.ast, self.text, &self.scope).returned(expr);
        self.site_with(expr, usage, Tested::No, own);
    }

    fn site(&mut self, expr: ExprId, usage: Usage, tested: Tested) {
        self.site_with(expr, usage, tested, Vec::new());
    }

    /// Adds the site of a full expression, whose further mutants are drafted already.
    fn site_with(&mut self, expr: ExprId, usage: Usage, tested: Tested, own: Vec<Draft>) {
        let span = self.ast.exprs[expr].span;
        if span.is_none() || self.calls_label(expr) {
            return;
        }
        let mut walk = ExpressionWalk::new(self.ast, self.text, &self.scope);
        walk.value(expr, tested);
        let (mut drafts, shapes) = walk.finish();
        drafts.extend(own);
        drafts.extend(self.of_patterns(span));
        let mut known: Vec<(Span, String)> = Vec::new();
        drafts.retain(|draft| {
            let change = (draft.span, draft.replacement.clone());
            let is_new =
                !known.contains(&change) && self.text.get(draft.span.range()) != Some(&change.1);
            known.push(change);
            is_new && self.operators.contains(&draft.operator) && span.contains(draft.span)
        });
        if drafts.is_empty() {
            return;
        }
        let first = self.next();
        self.sites.push(Site::new(span, usage, first, &drafts, &shapes));
        self.drafts.extend(drafts);
    }

    /// The mutants of a full expression by the user's own operators.
    fn of_patterns(&self, span: Span) -> Vec<Draft> {
        let of_pattern = |pattern: &Pattern| {
            let found = pattern.matches(self.text, span).into_iter();
            let draft = |(matched, replacement)| Draft {
                operator: Operator::Own,
                name: format!("OWN {}", pattern.name),
                span: matched,
                replacement,
                node: span,
                infection: Infection::Always,
            };
            found.map(draft).collect::<Vec<_>>()
        };
        self.patterns.iter().flat_map(of_pattern).collect()
    }

    /// Whether an expression is the call of a user's label, which is noted then.
    fn calls_label(&mut self, expr: ExprId) -> bool {
        let ExprKind::Call { callee, .. } = &self.ast.exprs[expr].kind else { return false };
        let callee = self.ast.direct_callee(*callee);
        let is_label =
            callee.is_some_and(|callee| &*self.ast.functions[callee].name == LABEL_FUNCTION);
        if is_label {
            self.label_calls.push(self.ast.exprs[expr].span);
        }
        is_label
    }

    /// SDL: the statement is deleted.
    fn deletion(&mut self, id: StmtId) {
        if !self.operators.contains(&Operator::Sdl) || !self.can_be_deleted(id) {
            return;
        }
        let start = self.ast.stmts[id].span.start;
        let Some(end) = self.end_of(id) else { return };
        let span = Span::new(start, end);
        let has_marker = self.text.get(span.range()).is_none_or(|text| text.contains("\n#"));
        if has_marker {
            return;
        }
        self.deletions.push(Deletion { span, number: self.next() });
        self.drafts.push(Draft {
            operator: Operator::Sdl,
            name: format!("SDL {}", self.kind_of(id)),
            span,
            replacement: ";".to_owned(),
            node: span,
            infection: Infection::Always,
        });
    }

    fn can_be_deleted(&self, id: StmtId) -> bool {
        match &self.ast.stmts[id].kind {
            StmtKind::Expr(expr) => !self.is_without_effect(*expr),
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Do { .. }
            | StmtKind::For { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None) => true,
            _ => false,
        }
    }

    /// Whether an expression statement does nothing, as `(void)x`, or is a user's label.
    fn is_without_effect(&self, expr: ExprId) -> bool {
        match &self.ast.exprs[expr].kind {
            ExprKind::Cast { kind: CastKind::ToVoid, operand, .. } => matches!(
                self.ast.exprs[self.ast.strip_implicit(*operand)].kind,
                ExprKind::DeclRef(DeclRef::Var(_)) | ExprKind::Integer(_)
            ),
            ExprKind::Call { callee, .. } => self
                .ast
                .direct_callee(*callee)
                .is_some_and(|callee| &*self.ast.functions[callee].name == LABEL_FUNCTION),
            _ => false,
        }
    }

    fn kind_of(&self, id: StmtId) -> &'static str {
        match &self.ast.stmts[id].kind {
            StmtKind::If { .. } => "if",
            StmtKind::While { .. } => "while",
            StmtKind::Do { .. } => "do",
            StmtKind::For { .. } => "for",
            StmtKind::Switch { .. } => "switch",
            StmtKind::Goto(_) => "goto",
            StmtKind::Break => "break",
            StmtKind::Continue => "continue",
            StmtKind::Return(_) => "return",
            _ => "statement",
        }
    }

    /// The end of a statement with its last semicolon.
    fn end_of(&self, id: StmtId) -> Option<u32> {
        let stmt = &self.ast.stmts[id];
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => self.end_of(otherwise.unwrap_or(*then)),
            StmtKind::While { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Switch { body, .. }
            | StmtKind::Case { body, .. }
            | StmtKind::Default(body)
            | StmtKind::Label { body, .. } => self.end_of(*body),
            StmtKind::Attributed(body) => Some(self.end_of(*body)?.max(stmt.span.end)),
            StmtKind::Compound(_) | StmtKind::Decl(_) | StmtKind::Null => Some(stmt.span.end),
            _ => behind_semicolon(self.text, stmt.span.end),
        }
    }
}

/// A function's head up to the first attribute that a copy may not have: the others are left out.
fn without_harmless_attributes(head: &str) -> String {
    const ATTRIBUTE: &str = "__attribute__";
    const HARMLESS: [&str; 10] = [
        "visibility",
        "unused",
        "used",
        "hot",
        "cold",
        "noinline",
        "nothrow",
        "leaf",
        "warn_unused_result",
        "returns_nonnull",
    ];
    let mut out = String::new();
    let mut rest = head;
    while let Some((before, behind)) = rest.split_once(ATTRIBUTE) {
        let Some((inner, after)) = behind.split_once("))") else { break };
        let inner = inner.trim_start_matches([' ', '(']);
        let name = inner.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        let name = name.unwrap_or_default().trim_matches('_');
        if inner.contains(',') || !HARMLESS.contains(&name) {
            break;
        }
        out.push_str(before);
        rest = after.trim_start_matches(')');
    }
    out + rest
}

/// What a rule yields for a full expression that is returned.
pub(crate) const RETURNED: [Rule; 3] = [Rule::Zero, Rule::One, Rule::MinusOne];
