//! The text of a predicate for the user: C, with the program's own text for its conditions.

use lydian_ir::{ConditionId, Expr, ExprId};

use super::Context;
use crate::label::{Pred, Site};

/// Longer texts are cut: they are for reading.
const MAX_LENGTH: usize = 2000;

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

/// Puts a text in parentheses where it stands beside an operator and is not a single word.
fn operand(text: &str, binding: Binding, out: &mut String) {
    let word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if binding == Binding::Loose || word {
        out.push_str(text);
    } else {
        out.push('(');
        out.push_str(text);
        out.push(')');
    }
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
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// An expression as C.
fn expression(cx: &Context<'_>, expr: ExprId) -> String {
    let text = one_line(cx.map.slice(cx.body.source.exprs[expr]));
    if !text.is_empty() {
        return text;
    }
    let arena = cx.exprs.arena();
    let part = |expr: ExprId| expression(cx, expr);
    match &arena[expr] {
        Expr::Const(_, bits) => bits.to_string(),
        Expr::Local(local) | Expr::AddrLocal(local) => cx.body.locals[*local].name.clone(),
        Expr::AddrGlobal(global) => format!("&{}", cx.program.globals[*global].name),
        Expr::AddrFunc(func) => cx.program.functions[*func].name.clone(),
        Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => format!("*({})", part(*addr)),
        Expr::Unary(op, a) => format!("{op}({})", part(*a)),
        Expr::Binary(op, a, b) => format!("{op}({}, {})", part(*a), part(*b)),
        Expr::Cmp(op, a, b) => format!("({}) {} ({})", part(*a), op.c_symbol(), part(*b)),
        Expr::Cast(_, ty, a) => format!("({ty})({})", part(*a)),
        Expr::Field { base, field, .. } => format!("{}.{field}", part(*base)),
        Expr::Index { base, index, .. } => format!("&{}[{}]", part(*base), part(*index)),
        Expr::PtrDiff { a, b, .. } => format!("({}) - ({})", part(*a), part(*b)),
    }
}
