//! The text of a predicate for the user: C, with the program's own text for its conditions.

use lydian_base::Span;
use lydian_ir::source::RootKind;
use lydian_ir::{Body, CastOp, ConditionId, Expr, ExprId, LocalId, RecordId, Type, UnOp};

use rustc_hash::FxHashSet;

use super::Context;
use super::mutation::c_symbol as op_symbol;
use crate::label::{Pred, Site};

/// Longer texts are cut: they are for reading.
const MAX_LENGTH: usize = 2000;

/// The most characters of a part of the program's text in a hyperlabel's.
const SHOWN: usize = 60;

/// The predicate as C. `reached(c)` stands for "evaluation reached `c`".
pub(super) fn predicate(cx: &mut Context<'_>, site: Site, pred: &Pred) -> String {
    let mut out = String::new();
    write(cx, site, pred, Binding::Loose, &mut out);
    if out.len() > MAX_LENGTH {
        let end = (0..=MAX_LENGTH).rev().find(|at| out.is_char_boundary(*at)).unwrap_or(0);
        out.truncate(end);
        out.push_str("...");
    }
    out
}

/// A part of the program's text on one line, for the texts of hyperlabels; cut where it is long.
pub(super) fn shown(cx: &Context<'_>, span: Span) -> String {
    let text = one_line(cx.map.slice(span));
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// How tightly the place binds in which a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// Nothing stands beside it.
    Loose,
    /// An operand of this connective: the same one needs no parentheses.
    Connective(&'static str),
    /// An operand of `!`.
    Tight,
}

fn write(cx: &Context<'_>, site: Site, pred: &Pred, binding: Binding, out: &mut String) {
    if out.len() > MAX_LENGTH {
        return;
    }
    match pred {
        Pred::Const(value) => out.push_str(if *value { "1" } else { "0" }),
        Pred::Cond(id) => operand(&condition(cx, site, *id), binding, out),
        Pred::Reached(id) => {
            out.push_str("reached(");
            out.push_str(&condition(cx, site, *id));
            out.push(')');
        }
        Pred::Mutant(_, expr) | Pred::Expr(expr) => operand(&expression(cx, *expr), binding, out),
        Pred::Not(a) => {
            out.push('!');
            write(cx, site, a, Binding::Tight, out);
        }
        Pred::And(a, b) => connective(cx, site, "&&", (a, b), binding, out),
        Pred::Or(a, b) => connective(cx, site, "||", (a, b), binding, out),
        Pred::Xor(a, b) => connective(cx, site, "^", (a, b), binding, out),
    }
}

fn connective(
    cx: &Context<'_>,
    site: Site,
    symbol: &'static str,
    (a, b): (&Pred, &Pred),
    binding: Binding,
    out: &mut String,
) {
    let bare = matches!(binding, Binding::Loose) || binding == Binding::Connective(symbol);
    if !bare {
        out.push('(');
    }
    write(cx, site, a, Binding::Connective(symbol), out);
    out.push(' ');
    out.push_str(symbol);
    out.push(' ');
    write(cx, site, b, Binding::Connective(symbol), out);
    if !bare {
        out.push(')');
    }
}

/// Puts a text in parentheses where it stands beside an operator and has one of its own.
fn operand(text: &str, binding: Binding, out: &mut String) {
    if binding == Binding::Loose || is_primary(text) {
        out.push_str(text);
    } else {
        out.push('(');
        out.push_str(text);
        out.push(')');
    }
}

/// Whether a text is a name, a literal, a member or an element, such as `s->a` and `a.b[i + 1]`.
fn is_primary(text: &str) -> bool {
    let mut depth = 0i32;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("->") {
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth <= 0 && !(c.is_alphanumeric() || matches!(c, '_' | '.' | ']')) {
            return false;
        }
    }
    true
}

/// A condition as the user wrote it, on one line.
fn condition(cx: &Context<'_>, site: Site, id: ConditionId) -> String {
    let Site::Decision(decision) = site else { return id.to_string() };
    let span = cx.body.decisions[decision].conditions[id].span;
    let text = one_line(cx.map.slice(span));
    if text.is_empty() { id.to_string() } else { text }
}

/// The text without line markers, on one line.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        for word in line.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// An expression as C: the user's own text where there is one, else in the same spirit. Conversions
/// are written out; it is for reading, and the types of literals are not.
fn expression(cx: &Context<'_>, expr: ExprId) -> String {
    let node = &cx.exprs.arena()[expr];
    let is_address = matches!(node, Expr::Field { .. } | Expr::Index { .. });
    // The text of an address is that of the lvalue, whose value it is not.
    let written = one_line(cx.map.slice(cx.body.source.exprs[expr]));
    if !written.is_empty() && !is_address && !cx.updates.contains(&expr) {
        return written;
    }
    match node {
        Expr::Const(ty, bits) => constant(*ty, *bits),
        Expr::Local(local) => local_name(cx, *local),
        Expr::AddrFunc(func) => cx.program.functions[*func].name.clone(),
        Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. } | Expr::Index { .. } => {
            format!("&{}", lvalue(cx, expr))
        }
        Expr::Load { addr, .. } => lvalue(cx, *addr),
        Expr::LoadBits { field, addr } => {
            let base = match cx.exprs.arena()[*addr] {
                Expr::Index { base, .. } => base,
                _ => *addr,
            };
            member(cx, base, field.record, field.field)
        }
        Expr::Unary(op, a) => {
            let symbol = match op {
                UnOp::NegU | UnOp::NegS | UnOp::FNeg => "-",
                UnOp::Not if cx.exprs.type_of(*a) == Type::BOOL => "!",
                UnOp::Not => "~",
            };
            format!("{symbol}{}", part(cx, *a))
        }
        Expr::Binary(op, a, b) => {
            format!("{} {} {}", part(cx, *a), op_symbol(*op), part(cx, *b))
        }
        Expr::Cmp(op, a, b) => format!("{} {} {}", part(cx, *a), op.c_symbol(), part(cx, *b)),
        Expr::Cast(op, ty, a) => conversion(cx, *op, *ty, *a),
        Expr::PtrDiff { a, b, .. } => format!("{} - {}", part(cx, *a), part(cx, *b)),
        Expr::Select { test, then, otherwise } => {
            format!("{} ? {} : {}", part(cx, *test), part(cx, *then), part(cx, *otherwise))
        }
    }
}

/// The new values of `x op= e`, `x++` and the like, below the conversions at their roots. They may
/// have the text of the update, whose value in C is another, or which must not be read as one.
pub(super) fn updates(body: &Body) -> FxHashSet<ExprId> {
    let mut found = FxHashSet::default();
    for root in body.source.roots.values().filter(|root| root.kind == RootKind::Update) {
        let mut expr = root.expr;
        found.insert(expr);
        while let Expr::Cast(_, _, a) = body.exprs[expr] {
            expr = a;
            found.insert(expr);
        }
    }
    found
}

/// An expression as an operand.
fn part(cx: &Context<'_>, expr: ExprId) -> String {
    let mut out = String::new();
    operand(&expression(cx, expr), Binding::Tight, &mut out);
    out
}

/// What an address is the address of.
fn lvalue(cx: &Context<'_>, addr: ExprId) -> String {
    match &cx.exprs.arena()[addr] {
        Expr::AddrLocal(local) => local_name(cx, *local),
        Expr::AddrGlobal(global) => cx.program.globals[*global].name.clone(),
        Expr::Field { base, record, field } => member(cx, *base, *record, *field),
        Expr::Index { base, index, .. } => {
            let array = if is_object(cx, *base) { lvalue(cx, *base) } else { part(cx, *base) };
            format!("{array}[{}]", expression(cx, *index))
        }
        _ => format!("*{}", part(cx, addr)),
    }
}

/// Whether an address is of something that has a name or is part of that, rather than a pointer's
/// value.
fn is_object(cx: &Context<'_>, addr: ExprId) -> bool {
    let arena = cx.exprs.arena();
    matches!(arena[addr], Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. })
}

fn member(cx: &Context<'_>, base: ExprId, record: RecordId, field: u32) -> String {
    let field = cx.program.types.records[record].fields.get(field as usize);
    let name = field.map_or("", |field| field.name.as_str());
    let is_element = matches!(cx.exprs.arena()[base], Expr::Index { .. });
    if is_object(cx, base) || is_element {
        format!("{}.{name}", lvalue(cx, base))
    } else {
        format!("{}->{name}", part(cx, base))
    }
}

fn local_name(cx: &Context<'_>, local: LocalId) -> String {
    let name = &cx.body.locals[local].name;
    if name.is_empty() { local.to_string() } else { name.clone() }
}

fn conversion(cx: &Context<'_>, op: CastOp, ty: Type, a: ExprId) -> String {
    let name = match (op, ty) {
        // A truth value is a number in C.
        (CastOp::ZExt, _) if cx.exprs.type_of(a) == Type::BOOL => return expression(cx, a),
        (CastOp::Bits, _) => return format!("bits({})", expression(cx, a)),
        (_, Type::F16) => "_Float16".to_owned(),
        (_, Type::BF16) => "__bf16".to_owned(),
        (_, Type::F80) => "long double".to_owned(),
        (_, Type::F32) => "float".to_owned(),
        (_, Type::F64) => "double".to_owned(),
        (_, Type::Ptr) => "void *".to_owned(),
        (CastOp::SExt | CastOp::FToS, Type::Int(bits)) => format!("int{bits}_t"),
        (_, Type::Int(bits)) => format!("uint{bits}_t"),
    };
    format!("({name}){}", part(cx, a))
}

/// A constant; numbers in the upper half of 32 bits and more are read as negative.
fn constant(ty: Type, bits: u128) -> String {
    match ty {
        Type::F32 => format!("{:?}f", f32::from_bits(bits as u32)),
        Type::F64 => format!("{:?}", f64::from_bits(bits as u64)),
        Type::Int(32..) => {
            let unused = 128 - ty.bits();
            (((bits << unused) as i128) >> unused).to_string()
        }
        _ if ty.is_float() => format!("{:?}", lydian_ir::arith::to_f64(ty, bits)),
        _ => bits.to_string(),
    }
}
