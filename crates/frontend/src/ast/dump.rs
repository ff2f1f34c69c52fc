//! The text form of the syntax tree, for golden tests and debugging: one node a line, indented.

use super::{
    DeclRef, ExprId, ExprKind, FunctionId, InitList, LocalDecl, StmtId, StmtKind, TraitArgument,
    TranslationUnit, ValueCategory, VarId,
};
use std::fmt::Write;

impl TranslationUnit {
    /// The text form of a function: its signature and its body.
    pub fn dump_function(&self, id: FunctionId) -> String {
        let mut dump = Dump { unit: self, out: String::new() };
        let function = &self.functions[id];
        dump.line(0, &format!("function {}: {}", function.name, self.types.display(function.ty)));
        for param in &function.params {
            dump.var(1, "param", *param);
        }
        if let Some(body) = function.body {
            dump.stmt(1, body);
        }
        dump.out
    }

    /// The text form of a variable with its initialiser.
    pub fn dump_var(&self, id: VarId) -> String {
        let mut dump = Dump { unit: self, out: String::new() };
        dump.var(0, "var", id);
        dump.out
    }

    /// The text form of an expression.
    pub fn dump_expr(&self, id: ExprId) -> String {
        let mut dump = Dump { unit: self, out: String::new() };
        dump.expr(0, id);
        dump.out
    }
}

struct Dump<'a> {
    unit: &'a TranslationUnit,
    out: String,
}

impl Dump<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = depth * 2);
    }

    fn var(&mut self, depth: usize, what: &str, id: VarId) {
        let var = &self.unit.vars[id];
        let ty = self.unit.types.display(var.ty);
        let align = var.alignment.map_or_else(String::new, |align| format!(" aligned {align}"));
        self.line(depth, &format!("{what} {}: {ty}{align}", var.name));
        if let Some(init) = var.init {
            self.expr(depth + 1, init);
        }
    }

    fn stmts(&mut self, depth: usize, stmts: &[StmtId]) {
        stmts.iter().for_each(|stmt| self.stmt(depth, *stmt));
    }

    fn stmt(&mut self, depth: usize, id: StmtId) {
        let (exprs, stmts): (Vec<ExprId>, Vec<StmtId>) = match &self.unit.stmts[id].kind {
            StmtKind::Compound(stmts) => (vec![], stmts.clone()),
            StmtKind::Decl(decls) => {
                self.line(depth, "decl");
                for decl in decls {
                    if let LocalDecl::Var(var) = decl {
                        self.var(depth + 1, "var", *var);
                    }
                }
                return;
            }
            StmtKind::Expr(expr) => return self.expr(depth, *expr),
            StmtKind::If { condition, then, otherwise } => {
                (vec![*condition], [Some(*then), *otherwise].into_iter().flatten().collect())
            }
            StmtKind::While { condition, body } | StmtKind::Do { body, condition } => {
                (vec![*condition], vec![*body])
            }
            StmtKind::For { .. } => return self.for_loop(depth, id),
            StmtKind::Switch { value, body } => (vec![*value], vec![*body]),
            StmtKind::Case { body, .. }
            | StmtKind::Default(body)
            | StmtKind::Label { body, .. }
            | StmtKind::Attributed(body) => (vec![], vec![*body]),
            StmtKind::IndirectGoto(expr) => (vec![*expr], vec![]),
            StmtKind::Return(value) => (value.iter().copied().collect(), vec![]),
            StmtKind::Asm(asm) => (
                asm.outputs.iter().chain(&asm.inputs).map(|operand| operand.expr).collect(),
                vec![],
            ),
            _ => (vec![], vec![]),
        };
        let name = self.stmt_name(id);
        self.line(depth, &name);
        exprs.into_iter().for_each(|expr| self.expr(depth + 1, expr));
        self.stmts(depth + 1, &stmts);
    }

    fn stmt_name(&self, id: StmtId) -> String {
        let label = |label| &self.unit.labels[label].name;
        match &self.unit.stmts[id].kind {
            StmtKind::Compound(_) => "compound".into(),
            StmtKind::Null => "null".into(),
            StmtKind::If { .. } => "if".into(),
            StmtKind::While { .. } => "while".into(),
            StmtKind::Do { .. } => "do".into(),
            StmtKind::Switch { .. } => "switch".into(),
            StmtKind::Case { low, high, .. } if low == high => format!("case {low}"),
            StmtKind::Case { low, high, .. } => format!("case {low} ... {high}"),
            StmtKind::Default(_) => "default".into(),
            StmtKind::Label { label: id, .. } => format!("label {}", label(*id)),
            StmtKind::Goto(id) => format!("goto {}", label(*id)),
            StmtKind::IndirectGoto(_) => "indirect goto".into(),
            StmtKind::Break => "break".into(),
            StmtKind::Continue => "continue".into(),
            StmtKind::Return(_) => "return".into(),
            StmtKind::Attributed(_) => "attributed".into(),
            StmtKind::Asm(asm) => format!("asm {:?}", asm.template),
            StmtKind::Unsupported(kind) => format!("unsupported {kind}"),
            StmtKind::Decl(_) | StmtKind::Expr(_) | StmtKind::For { .. } => String::new(),
        }
    }

    fn for_loop(&mut self, depth: usize, id: StmtId) {
        let StmtKind::For { init, condition, step, body } = &self.unit.stmts[id].kind else {
            return;
        };
        self.line(depth, "for");
        match init {
            Some(init) => self.stmt(depth + 1, *init),
            None => self.line(depth + 1, "-"),
        }
        for part in [condition, step] {
            match part {
                Some(part) => self.expr(depth + 1, *part),
                None => self.line(depth + 1, "-"),
            }
        }
        self.stmt(depth + 1, *body);
    }

    fn expr(&mut self, depth: usize, id: ExprId) {
        let expr = &self.unit.exprs[id];
        let name = self.expr_name(&expr.kind);
        let category = match expr.category {
            ValueCategory::LValue => " lvalue",
            ValueCategory::PrValue => "",
        };
        let ty = self.unit.types.display(expr.ty);
        self.line(depth, &format!("{name} : {ty}{category}"));
        if let ExprKind::StmtExpr(body) = expr.kind {
            return self.stmt(depth + 1, body);
        }
        for child in self.unit.operands(id) {
            self.expr(depth + 1, child);
        }
    }

    fn expr_name(&self, kind: &ExprKind) -> String {
        let unit = self.unit;
        let known = |value: &Option<u64>| value.map_or("?".into(), |value| value.to_string());
        match kind {
            ExprKind::Integer(value) => format!("integer {value}"),
            ExprKind::Character(value) => format!("character {value}"),
            ExprKind::Floating(literal) => format!("float {:?}", literal.value),
            ExprKind::String(literal) => {
                format!("string/{} {:?}", literal.unit_size, literal.units)
            }
            ExprKind::DeclRef(DeclRef::Var(id)) => format!("var {}", unit.vars[*id].name),
            ExprKind::DeclRef(DeclRef::Function(id)) => {
                format!("function {}", unit.functions[*id].name)
            }
            ExprKind::DeclRef(DeclRef::EnumConstant(id)) => {
                let constant = &unit.enum_constants[*id];
                format!("constant {} = {}", constant.name, constant.value)
            }
            ExprKind::Member { arrow, field, .. } => {
                let name = unit.field(*field).name.as_deref().unwrap_or("(anonymous)");
                format!("member {}{name}", if *arrow { "->" } else { "." })
            }
            ExprKind::Subscript { .. } => "subscript".into(),
            ExprKind::Call { .. } => "call".into(),
            ExprKind::Unary { op, .. } => format!("unary {op:?}"),
            ExprKind::Binary { op, .. } => format!("binary {}", op.symbol()),
            ExprKind::Assign { .. } => "assign".into(),
            ExprKind::CompoundAssign { op, compute_target, compute_result, .. } => format!(
                "assign {}= in {} to {}",
                op.symbol(),
                unit.types.display(*compute_target),
                unit.types.display(*compute_result)
            ),
            ExprKind::Conditional { .. } => "conditional".into(),
            ExprKind::BinaryConditional { .. } => "binary conditional".into(),
            ExprKind::OpaqueValue { .. } => "opaque".into(),
            ExprKind::Cast { kind, explicit, .. } => {
                format!("{} {kind:?}", if *explicit { "cast" } else { "implicit" })
            }
            ExprKind::InitList(list) => self.init_list_name(list),
            ExprKind::ImplicitValueInit => "zero".into(),
            ExprKind::NoInit => "keep".into(),
            ExprKind::DesignatedInitUpdate { .. } => "update".into(),
            ExprKind::CompoundLiteral { file_scope: true, .. } => "static compound literal".into(),
            ExprKind::CompoundLiteral { .. } => "compound literal".into(),
            ExprKind::TypeTrait { kind, value, argument, .. } => match argument {
                TraitArgument::Type(ty) => {
                    format!("{kind:?} {} = {}", unit.types.display(*ty), known(value))
                }
                TraitArgument::Expr(_) => format!("{kind:?} = {}", known(value)),
            },
            ExprKind::OffsetOf { value, .. } => format!("offsetof = {}", known(value)),
            ExprKind::StmtExpr(_) => "statement expression".into(),
            ExprKind::VaArg { .. } => "va_arg".into(),
            ExprKind::Chosen(_) => "chosen".into(),
            ExprKind::Predefined { name, .. } => format!("predefined {name}"),
            ExprKind::Paren(_) => "paren".into(),
            ExprKind::Constant { value, .. } => match value {
                Some(value) => format!("constant {value}"),
                None => "constant ?".into(),
            },
            ExprKind::AddrLabel(id) => format!("address of label {}", unit.labels[*id].name),
            ExprKind::Atomic { op, .. } => format!("atomic {op}"),
            ExprKind::Imaginary(_) => "imaginary".into(),
            ExprKind::VectorElement { .. } => "vector element".into(),
            ExprKind::Swizzle { arrow, lanes, .. } => {
                format!("components {}{lanes:?}", if *arrow { "->" } else { "." })
            }
            ExprKind::Shuffle(_) => "shuffle".into(),
            ExprKind::ConvertVector(_) => "convert vector".into(),
            ExprKind::Unsupported(kind) => format!("unsupported {kind}"),
        }
    }

    fn init_list_name(&self, list: &InitList) -> String {
        let field = |field| self.unit.field(field).name.as_deref().unwrap_or("(anonymous)");
        match list {
            InitList::Array { elements, filler: Some(_) } => {
                format!("array init, {} then filler", elements.len())
            }
            InitList::Array { .. } => "array init".into(),
            InitList::Struct(fields) => {
                let names: Vec<&str> = fields.iter().map(|(id, _)| field(*id)).collect();
                format!("struct init {}", names.join(" "))
            }
            InitList::Union(Some((id, _))) => format!("union init {}", field(*id)),
            InitList::Union(None) => "union init".into(),
            InitList::Scalar(_) => "scalar init".into(),
        }
    }
}

impl TranslationUnit {
    /// The expressions directly below an expression, in the order of the text. The source of an
    /// opaque value is not among them, nor are the statements of a statement expression.
    pub fn operands(&self, id: ExprId) -> Vec<ExprId> {
        match &self.exprs[id].kind {
            ExprKind::Member { base: one, .. }
            | ExprKind::Unary { operand: one, .. }
            | ExprKind::Cast { operand: one, .. }
            | ExprKind::CompoundLiteral { init: one, .. }
            | ExprKind::TypeTrait { argument: TraitArgument::Expr(one), .. }
            | ExprKind::VaArg { list: one }
            | ExprKind::Chosen(one)
            | ExprKind::Predefined { literal: one, .. }
            | ExprKind::Paren(one)
            | ExprKind::Imaginary(one)
            | ExprKind::ConvertVector(one)
            | ExprKind::Swizzle { base: one, .. }
            | ExprKind::Constant { inner: one, .. } => vec![*one],
            ExprKind::Subscript { pointer: one, index: two }
            | ExprKind::VectorElement { vector: one, index: two }
            | ExprKind::Binary { left: one, right: two, .. }
            | ExprKind::Assign { target: one, value: two }
            | ExprKind::CompoundAssign { target: one, value: two, .. }
            | ExprKind::DesignatedInitUpdate { base: one, updater: two } => vec![*one, *two],
            ExprKind::Conditional { condition, then, otherwise } => {
                vec![*condition, *then, *otherwise]
            }
            ExprKind::BinaryConditional { common, condition, then, otherwise } => {
                vec![*common, *condition, *then, *otherwise]
            }
            ExprKind::Call { callee, args } => {
                std::iter::once(*callee).chain(args.iter().copied()).collect()
            }
            ExprKind::Atomic { args, .. } | ExprKind::Shuffle(args) => args.clone(),
            ExprKind::InitList(list) => match list {
                InitList::Array { elements, filler } => {
                    elements.iter().copied().chain(*filler).collect()
                }
                InitList::Struct(fields) => fields.iter().map(|(_, init)| *init).collect(),
                InitList::Union(init) => init.iter().map(|(_, init)| *init).collect(),
                InitList::Scalar(init) => init.iter().copied().collect(),
            },
            _ => vec![],
        }
    }
}
