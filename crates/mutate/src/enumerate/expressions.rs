//! The mutants of an expression and its parts, in the rules of weak mutation ([000] III-B) where it has
//! the operator.
//!
//! Only what the user wrote is mutated: conversions that C implies share the span of their operand and
//! are passed. Expressions that C requires to be constant, arguments of built-in functions, statement
//! expressions and initialiser lists stay as they are.

use lydian_base::Span;
use lydian_frontend::ast::{
    BinaryOp, CastKind, DeclRef, ExprId, ExprKind, TranslationUnit, UnaryOp, VarId,
};
use lydian_frontend::ctypes::{CType, QualType};

use super::functions::RETURNED;
use super::operands::{
    Number, Rule, is_postfix, is_unary, number, precedence, read_place, type_name, value_kind,
};
use super::scope::Scope;
use super::site::{Draft, Infection, NodeShape, Operands, ValueKind};
use crate::operator::Operator;
use crate::text::{on_one_line, operator_between, suffix};

/// The most variables that take the place of an assigned one, and of one that is read.
const MOST_TARGETS: usize = 4;
const MOST_READ: usize = 2;

/// How an expression is compared with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tested {
    /// Not at all.
    No,
    /// As a condition.
    Implied,
    /// By `==` or `!=` in the text.
    Written,
}

/// The mutants of a full expression in the making.
pub(crate) struct ExpressionWalk<'a> {
    ast: &'a TranslationUnit,
    text: &'a str,
    scope: &'a Scope<'a>,
    drafts: Vec<Draft>,
    shapes: Vec<NodeShape>,
}

impl<'a> ExpressionWalk<'a> {
    pub(crate) fn new(ast: &'a TranslationUnit, text: &'a str, scope: &'a Scope<'a>) -> Self {
        Self { ast, text, scope, drafts: Vec::new(), shapes: Vec::new() }
    }

    /// The mutants, and the shapes of nodes.
    pub(crate) fn finish(self) -> (Vec<Draft>, Vec<NodeShape>) {
        (self.drafts, self.shapes)
    }

    /// RVR: the mutants of a returned expression as a whole.
    pub(crate) fn returned(mut self, id: ExprId) -> Vec<Draft> {
        let (span, ty) = (self.span(id), self.ast.exprs[id].ty);
        let is_pointer = matches!(self.ast.ty(ty), CType::Pointer(_));
        let of = number(self.ast, ty);
        let is_bool = value_kind(self.ast, ty) == ValueKind::Number && of.is_none();
        let rules: &[Rule] = match of {
            Some(_) => &RETURNED,
            None if is_bool => &RETURNED[..2],
            None if is_pointer => &RETURNED[..1],
            None => &[],
        };
        let is_float = of.is_some_and(Number::is_float);
        for rule in rules {
            if self.ast.const_eval(id) == Some(rule.value()) {
                continue;
            }
            let value = rule.text(is_float, "");
            let infection = match is_float {
                true => Infection::Always,
                false => Infection::Value(format!("lydian_v != {value}")),
            };
            let name = format!("RVR -> {}", rule.value());
            self.draft((Operator::Rvr, name), span, value, span, infection);
        }
        self.drafts
    }

    fn span(&self, id: ExprId) -> Span {
        self.ast.exprs[id].span
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn draft(
        &mut self,
        (operator, name): (Operator, String),
        span: Span,
        replacement: String,
        node: Span,
        infection: Infection,
    ) {
        let has_text = !span.is_none() && !node.is_none() && node.contains(span);
        if has_text {
            self.drafts.push(Draft { operator, name, span, replacement, node, infection });
        }
    }

    /// The mutants of an expression that is used as a value.
    pub(crate) fn value(&mut self, id: ExprId, tested: Tested) {
        let expr = &self.ast.exprs[id];
        let span = expr.span;
        self.shapes.push(NodeShape { span, operands: None, value: value_kind(self.ast, expr.ty) });
        match &expr.kind {
            ExprKind::Paren(inner) => self.value(*inner, tested),
            ExprKind::Cast { kind, operand, explicit } => {
                self.cast(id, kind, *operand, if *explicit { Tested::No } else { tested });
            }
            ExprKind::Binary { op, left, right } => self.binary(id, (*op, *left, *right), tested),
            ExprKind::Unary { op, operand } => self.unary(id, *op, *operand, tested),
            ExprKind::Assign { target, value } => {
                self.target(id, *target);
                self.place(*target);
                self.value(*value, Tested::No);
            }
            ExprKind::CompoundAssign { op, target, value, .. } => {
                self.compound(id, *op, *target, *value);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                if tested == Tested::No {
                    self.insertions(id, tested);
                }
                self.value(*condition, Tested::Implied);
                self.value(*then, tested);
                self.value(*otherwise, tested);
            }
            ExprKind::Call { callee, args } => self.call(id, *callee, args, tested),
            ExprKind::Integer(_) | ExprKind::Character(_) | ExprKind::Floating(_) => {
                self.constant(id);
            }
            ExprKind::DeclRef(DeclRef::EnumConstant(_)) => self.constant(id),
            _ => {}
        }
    }

    /// The mutants of an expression that is used as a place in memory: those of the values in it.
    fn place(&mut self, id: ExprId) {
        match &self.ast.exprs[id].kind {
            ExprKind::Paren(inner) => self.place(*inner),
            ExprKind::Subscript { pointer, index } => {
                self.value(*pointer, Tested::No);
                self.value(*index, Tested::No);
            }
            ExprKind::Member { base, arrow: true, .. } => self.value(*base, Tested::No),
            ExprKind::Member { base, arrow: false, .. } => self.place(*base),
            ExprKind::Unary { op: UnaryOp::Deref, operand } => self.value(*operand, Tested::No),
            _ => {}
        }
    }

    fn cast(&mut self, id: ExprId, kind: &CastKind, operand: ExprId, tested: Tested) {
        match kind {
            CastKind::LValueToRValue => {
                self.insertions(id, tested);
                self.wrong_variable(id);
                self.place(operand);
            }
            CastKind::ArrayToPointerDecay => self.place(operand),
            CastKind::FunctionToPointerDecay
            | CastKind::BuiltinFnToFnPtr
            | CastKind::NullToPointer
            | CastKind::LValueBitCast
            | CastKind::ToUnion
            | CastKind::AtomicToNonAtomic
            | CastKind::NonAtomicToAtomic
            | CastKind::VectorSplat
            | CastKind::Unsupported(_) => {}
            _ => self.value(operand, tested),
        }
    }

    fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId, tested: Tested) {
        let steps = match op {
            UnaryOp::PreInc => Some(("++", "--", true)),
            UnaryOp::PreDec => Some(("--", "++", true)),
            UnaryOp::PostInc => Some(("++", "--", false)),
            UnaryOp::PostDec => Some(("--", "++", false)),
            _ => None,
        };
        if let Some((old, new, before)) = steps {
            let span = self.span(id);
            let own = self.slice(self.span(operand));
            let replacement = if before { format!("{new}{own}") } else { format!("{own}{new}") };
            let name = format!("AOR {} -> {}", &old[..1], &new[..1]);
            self.draft((Operator::Aor, name), span, replacement, span, Infection::Always);
            self.target(id, operand);
            return self.place(operand);
        }
        match op {
            UnaryOp::AddressOf => self.place(operand),
            UnaryOp::Extension => self.value(operand, tested),
            UnaryOp::LogicalNot => self.value(operand, Tested::Implied),
            UnaryOp::Minus if self.is_literal(operand) => self.constant(id),
            UnaryOp::Plus | UnaryOp::Minus | UnaryOp::BitNot => {
                self.insertions(id, tested);
                self.value(operand, Tested::No);
            }
            _ => {}
        }
    }

    fn binary(&mut self, id: ExprId, of: (BinaryOp, ExprId, ExprId), tested: Tested) {
        let (op, left, right) = of;
        let kinds = [left, right].map(|side| value_kind(self.ast, self.ast.exprs[side].ty));
        self.shapes.push(NodeShape {
            span: self.span(id),
            operands: Some(Operands {
                left: self.span(left),
                right: self.span(right),
                left_kind: kinds[0],
                right_kind: kinds[1],
                symbol: op.symbol(),
            }),
            value: value_kind(self.ast, self.ast.exprs[id].ty),
        });
        // A constant is mutated as a whole.
        let is_operator = !op.is_comparison() && !op.is_logical() && op != BinaryOp::Comma;
        if is_operator && self.ast.const_eval(id).is_some() {
            return self.constant(id);
        }
        let mut tests = [Tested::No; 2];
        if kinds.contains(&ValueKind::None) && op != BinaryOp::Comma {
            return;
        }
        if op.is_comparison() {
            self.comparison(id, of);
            let is_float = number(self.ast, self.ast.exprs[left].ty).is_some_and(Number::is_float);
            if is_float && tested == Tested::Implied {
                // ROR has no opposite where a NaN is compared.
                let span = self.span(id);
                let text = format!("(!({}))", self.slice(span));
                self.insert(span, (Operator::Uoi, "UOI !"), text, None);
            }
            if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
                let is_zero = |side| self.ast.const_eval(side) == Some(0);
                let test = |other| if is_zero(other) { Tested::Written } else { Tested::No };
                tests = [test(right), test(left)];
            }
        } else if op.is_logical() {
            self.connective(id, of);
            tests = [Tested::Implied; 2];
        } else if op != BinaryOp::Comma {
            self.arithmetic(id, of);
            self.insertions(id, tested);
        } else {
            tests[1] = tested;
        }
        self.value(left, tests[0]);
        self.value(right, tests[1]);
    }

    /// The text of a binary expression with another operator.
    fn with_operator(
        &self,
        (old, left, right): (BinaryOp, ExprId, ExprId),
        new: BinaryOp,
    ) -> Option<String> {
        let (a, b) = (self.span(left), self.span(right));
        let at = operator_between(self.text, a, b, old.symbol())?;
        let gaps = (Span::new(a.end, at.start), Span::new(at.end, b.start));
        let same = precedence(old) == precedence(new) && old != BinaryOp::Comma;
        let side = |id: ExprId| {
            let text = self.slice(self.span(id));
            let plain = same || is_unary(self.ast, id);
            if plain { text.to_owned() } else { format!("({text})") }
        };
        let (before, after) = (self.slice(gaps.0), self.slice(gaps.1));
        let text = format!("{}{before}{}{after}{}", side(left), new.symbol(), side(right));
        Some(if same { text } else { format!("({text})") })
    }

    /// ROR.
    fn comparison(&mut self, id: ExprId, of: (BinaryOp, ExprId, ExprId)) {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let (op, left, _) = of;
        let span = self.span(id);
        let is_pointer = matches!(self.ast.ty(self.ast.exprs[left].ty), CType::Pointer(_));
        let is_equality = matches!(op, Equal | NotEqual);
        let all = [Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual];
        for new in all.into_iter().filter(|new| *new != op) {
            if is_pointer && is_equality && !matches!(new, Equal | NotEqual) {
                continue;
            }
            let Some(text) = self.with_operator(of, new) else { return };
            let name = format!("ROR {} -> {}", op.symbol(), new.symbol());
            let test = format!("(lydian_l {} lydian_r) != lydian_v", new.symbol());
            self.draft((Operator::Ror, name), span, text, span, Infection::Operands(test));
        }
        for (value, word) in [("1", "true"), ("0", "false")] {
            let name = format!("ROR {} -> {word}", op.symbol());
            let test = Infection::Operands(format!("lydian_v != {value}"));
            self.draft((Operator::Ror, name), span, value.to_owned(), span, test);
        }
    }

    /// COR. The right operand has no value where the left one decides; there a mutant that evaluates
    /// it counts as infecting.
    fn connective(&mut self, id: ExprId, of: (BinaryOp, ExprId, ExprId)) {
        let (op, left, right) = of;
        let span = self.span(id);
        let and = op == BinaryOp::LogicalAnd;
        let other = if and { BinaryOp::LogicalOr } else { BinaryOp::LogicalAnd };
        let not = |and: bool| if and { "" } else { "!" };
        let side = |id: ExprId| {
            let text = self.slice(self.span(id));
            format!(
                "(!!{})",
                if is_unary(self.ast, id) { text.to_owned() } else { format!("({text})") }
            )
        };
        // Where the left operand decides, `lydian_l` is false for `&&` and true for `||`.
        let goes_on = format!("{}lydian_l", not(and));
        let differs = format!("{}lydian_v", not(!and));
        let alternatives = [
            (other.symbol(), self.with_operator(of, other), format!("!({goes_on}) || {differs}")),
            ("left", Some(side(left)), format!("({goes_on}) && {differs}")),
            ("right", Some(side(right)), format!("!({goes_on})")),
            ("true", Some("1".to_owned()), "!lydian_v".to_owned()),
            ("false", Some("0".to_owned()), "lydian_v".to_owned()),
        ];
        for (what, text, test) in alternatives {
            let Some(text) = text else { continue };
            let name = format!("COR {} -> {what}", op.symbol());
            self.draft((Operator::Cor, name), span, text, span, Infection::Operands(test));
        }
    }

    /// AOR, LOR and SOR.
    fn arithmetic(&mut self, id: ExprId, of: (BinaryOp, ExprId, ExprId)) {
        let (op, left, right) = of;
        let types = [left, right].map(|side| number(self.ast, self.ast.exprs[side].ty));
        let [Some(a), Some(_)] = types else { return };
        let (span, constant) = (self.span(id), self.ast.const_eval(right));
        for (operator, new) in alternatives(op, a.is_float()) {
            let same = constant.is_some_and(|c| is_neutral(op, c) && is_neutral(new, c));
            let Some(text) = self.with_operator(of, new).filter(|_| !same) else { continue };
            let name = format!("{operator} {} -> {}", op.symbol(), new.symbol());
            let infection = self.arithmetic_infection(id, (op, new));
            self.draft((operator, name), span, text, span, infection);
        }
    }

    /// Where another arithmetic operator gives another value, without traps and overflow.
    fn arithmetic_infection(&self, id: ExprId, (op, new): (BinaryOp, BinaryOp)) -> Infection {
        use BinaryOp::{Add, BitAnd, BitOr, BitXor, Mul, Shl, Shr, Sub};
        let of = number(self.ast, self.ast.exprs[id].ty);
        let Some(Number::Int { bits: ..=64, .. }) = of else { return Infection::Always };
        let Some(name) = type_name(self.ast, self.ast.exprs[id].ty) else {
            return Infection::Always;
        };
        let test = match (op, new) {
            (Shl | Shr, Shl | Shr) => "lydian_l != 0 && lydian_r != 0".to_owned(),
            (_, BitAnd | BitOr | BitXor) => {
                format!("(lydian_l {} lydian_r) != lydian_v", new.symbol())
            }
            (_, Add | Sub | Mul) => {
                let [l, r] = ["lydian_l", "lydian_r"].map(|v| format!("(unsigned long long){v}"));
                format!("({name})({l} {} {r}) != lydian_v", new.symbol())
            }
            (_, BinaryOp::Div | BinaryOp::Rem) => {
                let zero = "lydian_r == 0 || lydian_r == (__typeof__(lydian_r))-1";
                format!("{zero} || (lydian_l {} lydian_r) != lydian_v", new.symbol())
            }
            _ => return Infection::Always,
        };
        Infection::Operands(test)
    }

    /// AOR, LOR and SOR of `x op= e`.
    fn compound(&mut self, id: ExprId, op: BinaryOp, target: ExprId, value: ExprId) {
        let (span, a, b) = (self.span(id), self.span(target), self.span(value));
        let own = number(self.ast, self.ast.exprs[target].ty);
        let other = number(self.ast, self.ast.exprs[value].ty);
        let symbol = format!("{}=", op.symbol());
        if let (Some(own), Some(other)) = (own, other)
            && let Some(at) = operator_between(self.text, a, b, &symbol)
        {
            let constant = self.ast.const_eval(value);
            let is_float = own.is_float() || other.is_float();
            for (operator, new) in alternatives(op, is_float) {
                if constant.is_some_and(|c| is_neutral(op, c) && is_neutral(new, c)) {
                    continue;
                }
                let before = self.slice(Span::new(span.start, at.start));
                let after = self.slice(Span::new(at.end, span.end));
                let name = format!("{operator} {} -> {}", op.symbol(), new.symbol());
                let text = format!("{before}{}={after}", new.symbol());
                self.draft((operator, name), span, text, span, Infection::Always);
            }
        }
        self.target(id, target);
        self.place(target);
        self.value(value, Tested::No);
    }

    /// The variable that an expression names, and the range of its name.
    fn variable(&self, id: ExprId) -> Option<(VarId, Span)> {
        match &self.ast.exprs[id].kind {
            ExprKind::Paren(inner) => self.variable(*inner),
            ExprKind::DeclRef(DeclRef::Var(var)) => Some((*var, self.span(id))),
            _ => None,
        }
    }

    /// LHS: the assignment `id` goes to another variable.
    fn target(&mut self, id: ExprId, target: ExprId) {
        let Some((var, span)) = self.variable(target) else { return };
        if !self.scope.can_keep(var) || self.slice(span) != &*self.ast.vars[var].name {
            return;
        }
        let node = self.span(id);
        for other in self.scope.others(var, span.start, true).into_iter().take(MOST_TARGETS) {
            let (old, new) = (&self.ast.vars[var].name, self.ast.vars[other].name.to_string());
            let name = format!("LHS {old} -> {new}");
            self.draft((Operator::Lhs, name), span, new, node, Infection::Always);
        }
    }

    /// VRR: another variable is read.
    fn wrong_variable(&mut self, id: ExprId) {
        let found = read_place(self.ast, id).and_then(|place| self.variable(place));
        let Some((var, span)) = found else { return };
        let ty = self.ast.exprs[id].ty;
        let kind = value_kind(self.ast, ty);
        if kind == ValueKind::None || self.slice(span) != &*self.ast.vars[var].name {
            return;
        }
        let is_float = number(self.ast, ty).is_some_and(Number::is_float);
        for other in self.scope.others(var, span.start, false).into_iter().take(MOST_READ) {
            let (old, new) = (&self.ast.vars[var].name, self.ast.vars[other].name.to_string());
            let name = format!("VRR {old} -> {new}");
            let infection = match is_float {
                true => Infection::Always,
                false => Infection::Value(format!("lydian_v != ({new})")),
            };
            let node = self.span(id);
            self.draft((Operator::Vrr, name), span, new, node, infection);
        }
    }

    fn is_literal(&self, id: ExprId) -> bool {
        matches!(
            self.ast.exprs[self.ast.strip_implicit(id)].kind,
            ExprKind::Integer(_) | ExprKind::Floating(_) | ExprKind::Character(_)
        )
    }

    /// CRO.
    fn constant(&mut self, id: ExprId) {
        let (span, ty) = (self.span(id), self.ast.exprs[id].ty);
        let Some(of) = number(self.ast, ty) else { return };
        let text = self.slice(span);
        let has_suffix = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        let has_suffix = has_suffix && !text.contains(char::is_whitespace);
        let suffix = if has_suffix { suffix(text) } else { "" };
        let integer = self.ast.const_eval(id).filter(|_| !of.is_float());
        let float = self.ast.const_eval_float(id).filter(|_| of.is_float());
        let shown = match (integer, float) {
            (Some(value), _) => value.to_string(),
            (_, Some(value)) => format!("{value:?}"),
            _ => on_one_line(text),
        };
        for rule in RETURNED {
            let same = integer == Some(rule.value()) || float == Some(rule.value() as f64);
            if !same {
                let name = format!("CRO {shown} -> {}", rule.value());
                let new = rule.text(of.is_float(), suffix);
                self.draft((Operator::Cro, name), span, new, span, Infection::Always);
            }
        }
    }

    /// ABS and UOI.
    fn insertions(&mut self, id: ExprId, tested: Tested) {
        let ty = self.ast.exprs[id].ty;
        let span = self.span(id);
        let is_pointer = matches!(self.ast.ty(ty), CType::Pointer(_));
        let text = self.slice(span);
        let own = if is_postfix(self.ast, id) { text.to_owned() } else { format!("({text})") };
        let of = number(self.ast, ty);
        if (is_pointer || of.is_none()) && value_kind(self.ast, ty) != ValueKind::None {
            if tested == Tested::Implied {
                self.insert(span, (Operator::Uoi, "UOI !"), format!("(!{own})"), None);
            }
            return;
        }
        let Some(of) = of else { return };
        if tested == Tested::No {
            self.absolute(span, text, of);
            let test = (!of.is_float()).then_some("lydian_v != 0");
            self.insert(span, (Operator::Uoi, "UOI -"), format!("(-{own})"), test);
        }
        if !of.is_float() {
            self.insert(span, (Operator::Uoi, "UOI ~"), format!("(~{own})"), None);
        }
        if tested != Tested::Written {
            self.insert(span, (Operator::Uoi, "UOI !"), format!("(!{own})"), None);
        }
        let side = if is_unary(self.ast, id) { text } else { &own };
        self.insert(span, (Operator::Uoi, "UOI +1"), format!("({side} + 1)"), None);
        self.insert(span, (Operator::Uoi, "UOI -1"), format!("({side} - 1)"), None);
    }

    fn absolute(&mut self, span: Span, text: &str, of: Number) {
        let Some(function) = of.absolute().filter(|_| of.is_signed()) else { return };
        let (negative, positive) = match of.is_float() {
            true => (None, None),
            false => (Some("lydian_v < 0"), Some("lydian_v > 0")),
        };
        let call = format!("{function}({text})");
        self.insert(span, (Operator::Abs, "ABS abs"), call.clone(), negative);
        self.insert(span, (Operator::Abs, "ABS -abs"), format!("(-{call})"), positive);
    }

    fn insert(&mut self, span: Span, of: (Operator, &str), text: String, test: Option<&str>) {
        let infection = test.map_or(Infection::Always, |test| Infection::Value(test.to_owned()));
        self.draft((of.0, of.1.to_owned()), span, text, span, infection);
    }

    /// ARR and ARS, and the mutants of a call's value and arguments.
    fn call(&mut self, id: ExprId, callee: ExprId, args: &[ExprId], tested: Tested) {
        let direct = self.ast.direct_callee(callee);
        let name = direct.map_or("", |callee| &*self.ast.functions[callee].name);
        self.insertions(id, tested);
        if let ("__builtin_expect", Some(arg)) = (name, args.first()) {
            return self.value(*arg, tested);
        }
        // Built-in functions may want constants, or read their arguments in ways of their own.
        if name.starts_with("__") || args.iter().any(|arg| self.span(*arg).is_none()) {
            return;
        }
        let node = self.span(id);
        let pointee = self.ast.types.pointee(self.ast.exprs[callee].ty.ty);
        let (params, variadic): (&[QualType], bool) = match pointee.map(|ty| self.ast.ty(ty)) {
            Some(CType::Function { params, variadic, prototype: true, .. }) => (params, *variadic),
            _ => (&[], false),
        };
        for (at, pair) in args.windows(2).enumerate() {
            let same = matches!(params.get(at..at + 2), Some([a, b]) if a.ty == b.ty);
            if same {
                self.swap(node, pair[0], pair[1]);
            }
        }
        for (at, arg) in args.iter().enumerate() {
            self.leave_out(node, (at, *arg), args, variadic && at >= params.len());
            self.value(*arg, Tested::No);
        }
    }

    /// ARS.
    fn swap(&mut self, node: Span, first: ExprId, second: ExprId) {
        let (a, b) = (self.span(first), self.span(second));
        let (left, right) = (self.slice(a), self.slice(b));
        if left == right || a.end > b.start {
            return;
        }
        let between = self.slice(Span::new(a.end, b.start));
        let text = format!("{right}{between}{left}");
        let name = "ARS".to_owned();
        self.draft((Operator::Ars, name), a.to(b), text, node, Infection::Always);
    }

    /// ARR: an argument behind the declared parameters is left out, if it is the last; another number
    /// becomes 0.
    fn leave_out(&mut self, node: Span, (at, arg): (usize, ExprId), all: &[ExprId], further: bool) {
        let span = self.span(arg);
        if further {
            let is_last = at + 1 == all.len();
            let before = all.get(at.wrapping_sub(1)).map(|before| self.span(*before).end);
            if let (true, Some(before)) = (is_last, before) {
                let behind = Span::new(before, span.end);
                let op = (Operator::Arr, "ARR left out".to_owned());
                self.draft(op, behind, String::new(), node, Infection::Always);
            }
        } else if let Some(of) = number(self.ast, self.ast.exprs[arg].ty)
            && self.ast.const_eval(arg).is_none()
        {
            let zero = Rule::Zero.text(of.is_float(), "");
            let op = (Operator::Arr, "ARR -> 0".to_owned());
            self.draft(op, span, zero, node, Infection::Always);
        }
    }
}

/// The operators that take the place of one, with their mutation operator.
fn alternatives(op: BinaryOp, float: bool) -> Vec<(Operator, BinaryOp)> {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};
    let families: [(Operator, &[BinaryOp]); 3] = [
        (Operator::Aor, if float { &[Add, Sub, Mul, Div] } else { &[Add, Sub, Mul, Div, Rem] }),
        (Operator::Lor, &[BitAnd, BitOr, BitXor]),
        (Operator::Sor, &[Shl, Shr]),
    ];
    let found = families.into_iter().find(|(_, family)| family.contains(&op));
    let others = found.into_iter().flat_map(|(operator, family)| {
        family.iter().filter(move |new| **new != op).map(move |new| (operator, *new))
    });
    others.collect()
}

/// Whether `x op constant` is `x` for every integer `x`.
fn is_neutral(op: BinaryOp, constant: i128) -> bool {
    use BinaryOp::{Add, BitOr, BitXor, Div, Mul, Shl, Shr, Sub};
    match op {
        Add | Sub | Shl | Shr | BitOr | BitXor => constant == 0,
        Mul | Div => constant == 1,
        _ => false,
    }
}
