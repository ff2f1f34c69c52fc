//! The text of a predicate for the user: C, with the program's own text for its conditions.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use lydian_base::Span;
use lydian_ir::ctext::{UserC, is_truth, words};
use lydian_ir::{ConditionId, DecisionId, Expr, ExprId, LocalId, Stmt};
use rustc_hash::FxHashMap;

use super::context::Context;
use crate::decision::predicates::reaches;
use crate::label::{Pred, Site};

/// Longer texts are cut.
const MAX_LENGTH: usize = 1 << 16;

/// The most characters of a part of the program's text in a hyperlabel's.
const SHOWN: usize = 60;

/// The predicate as C that compiles at its site and means the same.
///
/// Where the program evaluates a condition or an operand that has an effect (a call, an assignment),
/// its text stands for the value that this evaluation gave.
pub(super) fn predicate(
    cx: &Context<'_>,
    user: &UserC<'_>,
    conditions: &Conditions,
    site: Site,
    pred: &Pred,
) -> String {
    let mut out = String::new();
    Writer { cx, site, user, conditions }.write(pred, Binding::Loose, &mut out);
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

/// The place of a text in a larger one, which decides about parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// Nothing stands beside it.
    Loose,
    /// An operand of this connective: the same one needs no parentheses.
    Connective(&'static str),
    /// An operand of `!`.
    Tight,
}

/// A cache of the texts of conditions: a decision may have thousands of predicates.
#[derive(Debug, Default)]
pub(super) struct Conditions(RefCell<FxHashMap<(DecisionId, ConditionId), Rc<str>>>);

/// Writes the predicates of one site.
struct Writer<'c, 'a> {
    cx: &'c Context<'a>,
    site: Site,
    user: &'c UserC<'c>,
    conditions: &'c Conditions,
}

impl Writer<'_, '_> {
    fn write(&self, pred: &Pred, binding: Binding, out: &mut String) {
        if out.len() > MAX_LENGTH {
            return;
        }
        match pred {
            Pred::Const(value) => out.push_str(if *value { "1" } else { "0" }),
            Pred::Cond(id) => operand(&self.condition(*id), binding, out),
            Pred::Reached(id) => self.write(&self.way_to(*id), binding, out),
            Pred::Mutant(_, expr) | Pred::Expr(expr) => {
                operand(&self.user.text(*expr), binding, out);
            }
            Pred::Not(a) => match &**a {
                Pred::Reached(id) => self.write(&Pred::not(self.way_to(*id)), binding, out),
                _ => {
                    out.push('!');
                    self.write(a, Binding::Tight, out);
                }
            },
            Pred::And(a, b) => self.connective("&&", (a, b), binding, out),
            Pred::Or(a, b) => self.connective("||", (a, b), binding, out),
            Pred::Xor(a, b) => self.differ(a, b, binding, out),
        }
    }

    fn connective(
        &self,
        symbol: &'static str,
        (a, b): (&Pred, &Pred),
        binding: Binding,
        out: &mut String,
    ) {
        let (a, b) = (self.without_reached(a), self.without_reached(b));
        match (symbol, &*a, &*b) {
            ("&&", Pred::Const(true), other) | ("&&", other, Pred::Const(true)) => {
                return self.write(other, binding, out);
            }
            _ => {}
        }
        let bare = matches!(binding, Binding::Loose) || binding == Binding::Connective(symbol);
        if !bare {
            out.push('(');
        }
        self.write(&a, Binding::Connective(symbol), out);
        out.push(' ');
        out.push_str(symbol);
        out.push(' ');
        self.write(&b, Binding::Connective(symbol), out);
        if !bare {
            out.push(')');
        }
    }

    /// Writes that two truth values differ: `!=` of two values that are 0 or 1.
    fn differ(&self, a: &Pred, b: &Pred, binding: Binding, out: &mut String) {
        let side = |pred: &Pred| {
            let mut text = String::new();
            self.write(pred, Binding::Tight, &mut text);
            text
        };
        let (mut a, mut b) = (side(a), side(b));
        match (is_truth(&a), is_truth(&b)) {
            (true, true) => {}
            (true, false) => b.insert_str(0, "!!"),
            (false, true) => a.insert_str(0, "!!"),
            (false, false) => {
                a.insert(0, '!');
                b.insert(0, '!');
            }
        }
        let bare = binding == Binding::Loose;
        out.push_str(&if bare { format!("{a} != {b}") } else { format!("({a} != {b})") });
    }

    fn without_reached<'p>(&self, pred: &'p Pred) -> Cow<'p, Pred> {
        match pred {
            Pred::Reached(id) => Cow::Owned(self.way_to(*id)),
            _ => Cow::Borrowed(pred),
        }
    }

    /// The predicate that evaluation reaches a condition, over the conditions before it.
    fn way_to(&self, id: ConditionId) -> Pred {
        let Site::Decision(decision) = self.site else { return Pred::Const(true) };
        reaches(&self.cx.tree(decision), id).unwrap_or(Pred::Const(true))
    }

    /// A condition as the user wrote it, on one line.
    fn condition(&self, id: ConditionId) -> Rc<str> {
        let (Site::Decision(decision) | Site::Condition(decision, _)) = self.site else {
            return id.to_string().into();
        };
        let mut known = self.conditions.0.borrow_mut();
        let text = known.entry((decision, id)).or_insert_with(|| {
            let span = self.cx.body.decisions[decision].conditions[id].span;
            let text = one_line(self.cx.map.slice(span));
            if text.is_empty() { id.to_string().into() } else { text.into() }
        });
        Rc::clone(text)
    }
}

/// Writes a text, in parentheses if it stands beside an operator and has an operator of its own.
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

/// The user's own text of an expression; `None` if the text has another value.
pub(super) fn spelled(
    cx: &Context<'_>,
    temporaries: &FxHashMap<LocalId, Temporary>,
    expr: ExprId,
) -> Option<String> {
    if cx.updates.contains(&expr) {
        return None;
    }
    let own = cx.body.source.exprs[expr];
    let (span, is_constant) = match &cx.exprs.arena()[expr] {
        Expr::Local(local) | Expr::AddrLocal(local) if own.is_none() => {
            match temporaries.get(local)? {
                Temporary::Text(span) => (*span, false),
                Temporary::Parameter(name) => return Some(name.clone()),
            }
        }
        node => (own, matches!(node, Expr::Const(..))),
    };
    let written = one_line(cx.map.slice(span));
    // One constant is used for all equal ones, which may stand elsewhere in the text.
    let names_a_local = || {
        let is_local = |word: &str| cx.body.locals.values().any(|local| local.name == word);
        words(&written).any(is_local)
    };
    let is_elsewhere = written.is_empty() || (is_constant && names_a_local());
    (!is_elsewhere).then_some(written)
}

/// The way in which C names the value of a local without a name.
pub(super) enum Temporary {
    /// By a text of the program.
    Text(Span),
    /// As a parameter.
    Parameter(String),
}

/// The C name of the value of each local without a name: the text that a root captured in it, or the
/// text that is assigned to it.
pub(super) fn temporaries(cx: &Context<'_>) -> FxHashMap<LocalId, Temporary> {
    let (body, source) = (cx.body, &cx.body.source);
    let mut found = FxHashMap::default();
    let mut note = |local: LocalId, span: Span| {
        if !span.is_none() && body.locals[local].name.is_empty() {
            found.entry(local).or_insert(Temporary::Text(span));
        }
    };
    let captures = source.roots.values().flat_map(|root| &root.captures);
    captures.for_each(|capture| note(capture.temp, capture.span));
    for (id, expr) in body.exprs.iter() {
        if let Expr::Local(local) | Expr::AddrLocal(local) = expr {
            note(*local, source.exprs[id]);
        }
    }
    for (id, stmt) in body.stmts.iter() {
        match stmt {
            Stmt::Assign { dst, value } => note(*dst, source.exprs[*value]),
            Stmt::Call { dst: Some(dst), .. } => note(*dst, source.stmts[id]),
            Stmt::Call { dst_addr: Some(addr), .. } => {
                if let Expr::AddrLocal(local) = body.exprs[*addr] {
                    note(local, source.stmts[id]);
                }
            }
            _ => {}
        }
    }
    for (position, local) in body.params.iter().enumerate() {
        if let Some(name) = cx.parameter_name(position) {
            found.entry(*local).or_insert(Temporary::Parameter(name));
        }
    }
    found
}
