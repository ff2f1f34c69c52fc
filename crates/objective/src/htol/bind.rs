//! From trees to hyperlabels of a program's function.
//!
//! Expressions over the program's variables are over mathematical integers, of 128 bits: a variable
//! of an integer type counts with its value, one of a pointer type with its address, and neither
//! wraps in the expression. What reading it would trap on is unknown. Floats, calls and conversions
//! are not supported here; a label of the program's own (`//! name: predicate`) takes any C
//! predicate.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use lydian_base::Span;
use lydian_ir::trap::may_trap;
use lydian_ir::{BinOp, Body, CmpOp, Expr, ExprId, Overflow, Type, UnOp};

use super::HtolError;
use super::form::visible_names;
use super::scope::{Home, Scopes, What};
use super::syntax::{
    Duty, Item, LabelRef, LabelTree, Name, SequenceTree, Term, TermKind, Tree, TreeKind,
};
use super::written::{self, PARTS, Written};
use crate::annotate::Context;
use crate::hyper::{
    self, Atom, Binding, Formula, FormulaOp, Hyper, Obligation, Passage, Scope, Sequence,
};
use crate::label::{Pred, Site};
use place::Places;

mod place;
mod point;
mod route;

/// A wide enough integer.
const WIDE: Type = Type::Int(128);

/// An objective of a file.
pub(crate) struct Objective {
    /// Its name.
    pub(crate) name: String,
    /// The hyperlabel.
    pub(crate) hyper: Hyper,
    /// Where in the program its first label stands.
    pub(crate) span: Span,
    /// It as the user wrote it.
    pub(crate) text: String,
}

/// What is bound of a function: an atom, with the place of its label, or what is asked of a passage.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    Atom(Atom, Span),
    Duty(Obligation),
}

/// Makes the objectives of a file that are about the function of `cx`. Errors are of the file.
pub(crate) fn objectives(
    cx: &mut Context<'_>,
    written: &Written<'_>,
    file: usize,
) -> (Vec<Objective>, Vec<HtolError>) {
    let mut found = Vec::new();
    let mut errors = Vec::new();
    own_items(cx, written, file, |cx, binder, item, home| match item {
        Item::Label(name, label) => {
            errors.extend(binder.define(cx, name, label, home).err());
        }
        Item::Objective(name, tree) => match binder.objective(cx, name, tree, home) {
            Ok(objective) => found.push(objective),
            Err(error) => errors.push(error),
        },
        Item::Function(_) | Item::Path(..) => {}
    });
    (found, errors)
}

/// Makes the paths of a file that are about the function of `cx`.
pub(crate) fn paths(
    cx: &mut Context<'_>,
    written: &Written<'_>,
    file: usize,
) -> (Vec<Objective>, Vec<HtolError>) {
    let mut found = Vec::new();
    let mut errors = Vec::new();
    own_items(cx, written, file, |cx, binder, item, home| {
        if let Item::Path(name, path) = item {
            match binder.is_new(name, home).and_then(|()| route::hyper(cx, path)) {
                Ok((hyper, span)) => {
                    let (name, text) = (name.text.clone(), path.to_string());
                    found.push(Objective { name, hyper, span, text });
                }
                Err(error) => errors.push(error),
            }
        }
    });
    (found, errors)
}

/// Calls `visit` with the items of a file that are about the function of `cx`.
fn own_items<'f>(
    cx: &mut Context<'_>,
    written: &'f Written<'_>,
    file: usize,
    mut visit: impl FnMut(&mut Context<'_>, &Binder<'_>, &'f Item, Home<'f>),
) {
    let Some((tree, _)) = written.files.get(file) else { return };
    let mut function = "";
    for (item, of) in tree.items.iter().enumerate() {
        if let Item::Function(name) = of {
            function = &name.text;
        } else if function == cx.function.name {
            visit(cx, &Binder::new(written, file), of, Home { function, item });
        }
    }
}

/// Binds trees of one file.
pub(super) struct Binder<'b> {
    written: &'b Written<'b>,
    scopes: &'b Scopes<'b>,
    file: usize,
    /// How many parts the objective has so far.
    parts: Cell<usize>,
}

/// A point of the function.
struct Point {
    site: Site,
    span: Span,
}

impl<'b> Binder<'b> {
    pub(super) fn new(written: &'b Written<'_>, file: usize) -> Self {
        Self { written, scopes: &written.files[file].1, file, parts: Cell::new(0) }
    }

    fn names(&self, tree: &Tree, home: Home<'_>) -> Result<(), HtolError> {
        visible_names(tree, &|name| self.scopes.binds_of(name, home).cloned()).map(drop)
    }

    fn define(
        &self,
        cx: &Context<'_>,
        name: &Name,
        label: &LabelTree,
        home: Home<'_>,
    ) -> Result<(), HtolError> {
        let tree = Tree { kind: TreeKind::Label(label.clone()), at: label.at.clone() };
        self.check_names(cx, &tree, home)?;
        self.names(&tree, home)?;
        self.is_new(name, home)
    }

    fn objective(
        &self,
        cx: &mut Context<'_>,
        name: &Name,
        tree: &Tree,
        home: Home<'_>,
    ) -> Result<Objective, HtolError> {
        self.check_names(cx, tree, home)?;
        self.names(tree, home)?;
        let mut first = None;
        let hyper = self.hyper(cx, tree, home, &mut first)?;
        self.is_new(name, home)?;
        let span = first.unwrap_or(cx.function.span);
        Ok(Objective { name: name.text.clone(), hyper, span, text: tree.to_string() })
    }

    /// That a name is not defined before.
    fn is_new(&self, name: &Name, home: Home<'_>) -> Result<(), HtolError> {
        match self.scopes.item_of(home.function, &name.text) {
            Some(first) if first < home.item => {
                let what = format!("`{}` is defined twice", name.text);
                Err(HtolError::Unknown { what, at: name.at.0.clone() })
            }
            _ => Ok(()),
        }
    }

    /// That every label which is named exists, before rules about their names are checked.
    fn check_names(&self, cx: &Context<'_>, tree: &Tree, home: Home<'_>) -> Result<(), HtolError> {
        match &tree.kind {
            TreeKind::Label(label) => self.check_label(cx, label, home),
            TreeKind::Sequence(sequence) => {
                let mut labels = sequence.labels.iter();
                labels.try_for_each(|label| self.check_label(cx, label, home))
            }
            TreeKind::Guard(inner, _) => self.check_names(cx, inner, home),
            TreeKind::All(parts) | TreeKind::Any(parts) => {
                parts.iter().try_for_each(|part| self.check_names(cx, part, home))
            }
        }
    }

    fn check_label(
        &self,
        cx: &Context<'_>,
        label: &LabelTree,
        home: Home<'_>,
    ) -> Result<(), HtolError> {
        let LabelRef::Named(name) = &label.label else { return Ok(()) };
        if self.scopes.get(name, home).is_some() {
            return Ok(());
        }
        let function = home.function_of(name.function.as_ref());
        let body = named_body(cx.program, function, name.function.as_ref())?;
        point::label_mark(function, body, &name.name.text, &name.name.at).map(drop)
    }

    fn hyper(
        &self,
        cx: &mut Context<'_>,
        tree: &Tree,
        home: Home<'_>,
        first: &mut Option<Span>,
    ) -> Result<Hyper, HtolError> {
        self.parts.set(self.parts.get() + 1);
        if self.parts.get() > PARTS {
            return unsupported(&format!("an objective of more than {PARTS} parts"), &tree.at.0);
        }
        match &tree.kind {
            TreeKind::Label(label) => self.named(cx, label, home, first),
            TreeKind::Sequence(sequence) => {
                let sequence = self.sequence(cx, sequence, home, first)?;
                Ok(Hyper::Sequence(cx.sequence(sequence)))
            }
            TreeKind::Guard(inner, guard) => {
                let inner = self.hyper(cx, inner, home, first)?;
                let formula = formula(guard, &mut |_| Ok(None))?;
                Ok(Hyper::Guard(Box::new(inner), formula))
            }
            TreeKind::All(parts) => self.all(cx, parts, home, first).map(Hyper::All),
            TreeKind::Any(parts) => self.all(cx, parts, home, first).map(Hyper::Any),
        }
    }

    fn all(
        &self,
        cx: &mut Context<'_>,
        parts: &[Tree],
        home: Home<'_>,
        first: &mut Option<Span>,
    ) -> Result<Vec<Hyper>, HtolError> {
        parts.iter().map(|part| self.hyper(cx, part, home, first)).collect()
    }

    /// A label, or the objective or path that a name stands for.
    fn named(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        home: Home<'_>,
        first: &mut Option<Span>,
    ) -> Result<Hyper, HtolError> {
        let named = match &label.label {
            LabelRef::Named(name) => self.scopes.get(name, home).map(|found| (name, found)),
            LabelRef::At(..) => None,
        };
        let (name, what, at) = match named {
            None | Some((_, (What::Label(_), _))) => {
                return self.any_atom(cx, label, home, first).map(Hyper::Atom);
            }
            Some((name, (what, at))) => (name, what, at),
        };
        if !label.bindings.is_empty() {
            let what = format!("to bind at `{}`, which is no label,", name.name.text);
            return unsupported(&what, &label.at.0);
        }
        match what {
            What::Objective(tree) => self.hyper(cx, tree, at, first),
            What::Path(path) if at.function == cx.function.name => {
                let (hyper, span) = route::hyper(cx, path)?;
                first.get_or_insert(span);
                Ok(hyper)
            }
            What::Path(_) | What::Label(_) => {
                unsupported("a path of another function", &label.at.0)
            }
        }
    }

    /// A label as an atom, of whatever function.
    fn any_atom(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        home: Home<'_>,
        first: &mut Option<Span>,
    ) -> Result<Atom, HtolError> {
        let function = self.scopes.function_of(label, home);
        let bound = match function == cx.function.name {
            true => self.atom(cx, label, home),
            false => self.elsewhere(cx, function, label.at.0.clone()),
        };
        match bound? {
            Bound::Atom(atom, span) => {
                first.get_or_insert(span);
                Ok(atom)
            }
            Bound::Duty(_) => unsupported("this place for a label", &label.at.0),
        }
    }

    /// What is asked of another function.
    fn elsewhere(
        &self,
        cx: &Context<'_>,
        function: &str,
        at: Range<usize>,
    ) -> Result<Bound, HtolError> {
        let found = self.written.place_of(self.file, at.start);
        let Some((function, position)) = found else {
            let what = format!("there is no function `{function}` with a body here");
            return Err(HtolError::Unknown { what, at });
        };
        cx.elsewhere(function)[position].clone()
    }

    /// A label of this function with the bindings of its definition and its own. It is covered only
    /// where what it binds is known.
    pub(super) fn atom(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        home: Home<'_>,
    ) -> Result<Bound, HtolError> {
        let (point, pred, bindings) = self.written(cx, label, home)?;
        let pred = bindings.iter().fold(pred, |pred, binding| match &binding.value {
            hyper::Bound::Expr(expr) => Pred::and(pred, known(cx, *expr)),
            hyper::Bound::Truth(_) => pred,
        });
        let label = cx.label(point.site, pred, point.span);
        Ok(Bound::Atom(cx.atom(label, bindings), point.span))
    }

    /// A label's point, its predicate and all that it binds.
    fn written(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        home: Home<'_>,
    ) -> Result<(Point, Pred, Vec<Binding>), HtolError> {
        let (point, pred, mut all) = match &label.label {
            LabelRef::Named(name) => match self.scopes.get(name, home) {
                Some((What::Label(defined), at)) => self.written(cx, defined, at)?,
                _ => {
                    let (point, pred) = point::user_label(cx, &name.name)?;
                    (point, pred, Vec::new())
                }
            },
            LabelRef::At(point, predicate) => {
                let point = point::of(cx, point)?;
                let pred = Places { at: point.span }.pred(cx, predicate)?;
                (point, pred, Vec::new())
            }
        };
        all.extend(bindings(cx, &label.bindings, point.span)?);
        Ok((point, pred, all))
    }

    fn sequence(
        &self,
        cx: &mut Context<'_>,
        tree: &SequenceTree,
        home: Home<'_>,
        first: &mut Option<Span>,
    ) -> Result<Sequence, HtolError> {
        let mut atoms: Vec<Atom> = Vec::new();
        let mut passages = Vec::new();
        for (position, label) in tree.labels.iter().enumerate() {
            if position > 0 {
                let bound = atoms.iter().flat_map(|atom| &atom.bindings).map(|b| b.name.clone());
                let duties = &tree.passages[position - 1];
                passages.push(self.passage(cx, duties, home, &bound.collect())?);
            }
            let atom = self.any_atom(cx, label, home, first)?;
            let is_elsewhere = atoms.first().is_some_and(|first| first.function != atom.function);
            if tree.activation && is_elsewhere {
                let what = "an activation of several functions";
                return unsupported(what, &label.at.0);
            }
            atoms.push(atom);
        }
        let scope = if tree.activation { Scope::Activation } else { Scope::Run };
        Ok(Sequence { atoms, passages, scope, flow: None })
    }

    fn passage(
        &self,
        cx: &mut Context<'_>,
        duties: &[Duty],
        home: Home<'_>,
        bound: &BTreeSet<String>,
    ) -> Result<Passage, HtolError> {
        if duties.is_empty() {
            return Ok(Passage::Free);
        }
        let mut obligation = |duty: &Duty| {
            let function = home.function_of(duty.point.function.as_ref());
            let bound = match function == cx.function.name {
                true => self.duty(cx, duty, bound),
                false => self.elsewhere(cx, function, duty.point.at.0.clone()),
            };
            match bound? {
                Bound::Duty(obligation) => Ok(obligation),
                Bound::Atom(..) => unsupported("a label in this place", &duty.point.at.0),
            }
        };
        Ok(Passage::Obliged(duties.iter().map(&mut obligation).collect::<Result<_, _>>()?))
    }

    /// What a passage asks of a point of this function.
    pub(super) fn duty(
        &self,
        cx: &mut Context<'_>,
        duty: &Duty,
        bound: &BTreeSet<String>,
    ) -> Result<Bound, HtolError> {
        let point = point::of(cx, &duty.point)?;
        let holds = match &duty.holds {
            None => Formula::Number(0),
            Some(term) => formula(term, &mut |term| match &term.kind {
                TermKind::Name(name) if bound.contains(name) => Ok(None),
                _ => Places { at: point.span }.wide(cx, term).map(Some),
            })?,
        };
        Ok(Bound::Duty(Obligation { function: cx.id(), site: point.site, holds }))
    }
}

/// The body of a function that is named.
fn named_body<'p>(
    program: &'p lydian_ir::Program,
    function: &str,
    at: Option<&Name>,
) -> Result<&'p Body, HtolError> {
    let found = written::function_named(program, function);
    let body = found.and_then(|found| program.functions[found].body.as_ref());
    body.ok_or_else(|| HtolError::Unknown {
        what: format!("there is no function `{function}` with a body here"),
        at: at.map_or(0..0, |name| name.at.0.clone()),
    })
}

fn bindings(
    cx: &mut Context<'_>,
    trees: &[(Name, Term)],
    at: Span,
) -> Result<Vec<Binding>, HtolError> {
    let bind = |(name, term): &(Name, Term)| {
        let value = hyper::Bound::Expr(Places { at }.wide(cx, term)?);
        Ok(Binding { name: name.text.clone(), value })
    };
    trees.iter().map(bind).collect()
}

/// That an expression has a value.
fn known(cx: &mut Context<'_>, expr: ExprId) -> Pred {
    if !may_trap(cx.program, cx.body, cx.exprs.arena(), expr, Overflow::Wrap) {
        return Pred::Const(true);
    }
    Pred::Expr(cx.exprs.make(&Expr::Cmp(CmpOp::Eq, expr, expr)))
}

/// A term as a formula. `state` gives the value of what stands for the program's; `None` for a
/// metavariable.
fn formula(
    term: &Term,
    state: &mut impl FnMut(&Term) -> Result<Option<ExprId>, HtolError>,
) -> Result<Formula, HtolError> {
    match &term.kind {
        TermKind::Number(number) => Ok(Formula::Number(*number)),
        TermKind::Not(a) => Ok(Formula::Not(Box::new(formula(a, state)?))),
        TermKind::Negate(a) => Ok(Formula::Negate(Box::new(formula(a, state)?))),
        TermKind::Binary(op, a, b) => {
            Ok(Formula::binary(*op, formula(a, state)?, formula(b, state)?))
        }
        kind => match (state(term)?, kind) {
            (Some(expr), _) => Ok(Formula::State(expr)),
            (None, TermKind::Name(name)) => Ok(Formula::name(name)),
            (None, _) => {
                let what = "a variable of the program's in a guard".to_owned();
                Err(HtolError::Unsupported { what, at: term.at.0.clone() })
            }
        },
    }
}

fn unsupported<T>(what: &str, at: &Range<usize>) -> Result<T, HtolError> {
    Err(HtolError::Unsupported { what: what.to_owned(), at: at.clone() })
}

impl Places {
    /// That a term is true. Kleene's `&&`, `||` and `!`.
    fn pred(&self, cx: &mut Context<'_>, term: &Term) -> Result<Pred, HtolError> {
        match &term.kind {
            TermKind::Number(number) => Ok(Pred::Const(*number != 0)),
            TermKind::Not(a) => Ok(Pred::not(self.pred(cx, a)?)),
            TermKind::Binary(FormulaOp::And, a, b) => {
                Ok(Pred::and(self.pred(cx, a)?, self.pred(cx, b)?))
            }
            TermKind::Binary(FormulaOp::Or, a, b) => {
                Ok(Pred::or(self.pred(cx, a)?, self.pred(cx, b)?))
            }
            TermKind::Binary(op, a, b) if comparison(*op).is_some() => {
                let op = comparison(*op).unwrap_or(CmpOp::Eq);
                let (a, b) = (self.wide(cx, a)?, self.wide(cx, b)?);
                Ok(cx.exprs.test(op, a, b))
            }
            _ => {
                let value = self.wide(cx, term)?;
                let zero = cx.exprs.zero(WIDE);
                Ok(cx.exprs.test(CmpOp::Ne, value, zero))
            }
        }
    }

    /// A term as an integer of 128 bits.
    fn wide(&self, cx: &mut Context<'_>, term: &Term) -> Result<ExprId, HtolError> {
        let truth = |cx: &mut Context<'_>, op: CmpOp, a: ExprId, b: ExprId| {
            let truth = cx.exprs.cmp(op, a, b);
            cx.exprs.make(&Expr::Cast(lydian_ir::CastOp::ZExt, WIDE, truth))
        };
        match &term.kind {
            TermKind::Number(number) => Ok(cx.exprs.int(WIDE, *number)),
            TermKind::Negate(a) => {
                let a = self.wide(cx, a)?;
                Ok(cx.exprs.unary(UnOp::NegU, a))
            }
            TermKind::Not(a) => {
                let (a, zero) = (self.wide(cx, a)?, cx.exprs.zero(WIDE));
                Ok(truth(cx, CmpOp::Eq, a, zero))
            }
            TermKind::Binary(op, a, b) => {
                let (mut a, mut b) = (self.wide(cx, a)?, self.wide(cx, b)?);
                if let Some(op) = comparison(*op) {
                    return Ok(truth(cx, op, a, b));
                }
                if matches!(op, FormulaOp::And | FormulaOp::Or) {
                    let zero = cx.exprs.zero(WIDE);
                    a = truth(cx, CmpOp::Ne, a, zero);
                    b = truth(cx, CmpOp::Ne, b, zero);
                }
                Ok(cx.exprs.binary(arithmetic(*op), a, b))
            }
            _ => self.read(cx, term),
        }
    }
}

const fn comparison(op: FormulaOp) -> Option<CmpOp> {
    match op {
        FormulaOp::Eq => Some(CmpOp::Eq),
        FormulaOp::Ne => Some(CmpOp::Ne),
        FormulaOp::Lt => Some(CmpOp::LtS),
        FormulaOp::Le => Some(CmpOp::LeS),
        FormulaOp::Gt => Some(CmpOp::GtS),
        FormulaOp::Ge => Some(CmpOp::GeS),
        _ => None,
    }
}

const fn arithmetic(op: FormulaOp) -> BinOp {
    match op {
        FormulaOp::And => BinOp::And,
        FormulaOp::Or => BinOp::Or,
        FormulaOp::Sub => BinOp::SubU,
        FormulaOp::Mul => BinOp::MulU,
        FormulaOp::Div => BinOp::DivS,
        FormulaOp::Rem => BinOp::RemS,
        _ => BinOp::AddU,
    }
}
