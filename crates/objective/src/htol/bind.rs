//! From trees to hyperlabels of a program's function.
//!
//! Expressions over the program's variables are over mathematical integers, of 128 bits: a variable
//! of an integer type counts with its value, one of a pointer type with its address, and neither
//! wraps in the expression. What reading it would trap on is unknown. Floats, calls and conversions
//! are not supported here; a label of the program's own (`//! name: predicate`) takes any C
//! predicate.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lydian_base::Span;
use lydian_ir::stmt::MarkKind;
use lydian_ir::trap::may_trap;
use lydian_ir::{BinOp, CmpOp, Expr, ExprId, Overflow, Type, UnOp};

use super::HtolError;
use super::form::visible_names;
use super::syntax::{
    Duty, Extent, File, Item, LabelRef, LabelTree, Name, PointRef, SequenceTree, Term, TermKind,
    Tree, TreeKind,
};
use crate::annotate::Context;
use crate::hyper::{
    Atom, Binding, Bound, Formula, FormulaOp, Hyper, Obligation, Passage, Scope, Sequence,
};
use crate::label::{Pred, Site};
use place::Places;

mod place;

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

/// Makes the objectives of a file that are about the function of `cx`. Errors are of the file.
pub(crate) fn bind(cx: &mut Context<'_>, file: &File) -> (Vec<Objective>, Vec<HtolError>) {
    let mut binder = Binder::default();
    let mut found = Vec::new();
    let mut errors = Vec::new();
    let mut here = false;
    for item in &file.items {
        match item {
            Item::Function(name) => {
                here = name.text == cx.function.name;
                binder = Binder::default();
            }
            _ if !here => {}
            Item::Label(name, label) => {
                let result = binder.define(cx, name, label);
                errors.extend(result.err());
            }
            Item::Objective(name, tree) => match binder.objective(cx, name, tree) {
                Ok(objective) => found.push(objective),
                Err(error) => errors.push(error),
            },
        }
    }
    (found, errors)
}

/// What has been named so far.
#[derive(Default)]
struct Binder {
    labels: BTreeMap<String, LabelTree>,
    objectives: BTreeMap<String, Tree>,
    names: BTreeMap<String, BTreeSet<String>>,
}

/// A point of the function.
struct Point {
    site: Site,
    span: Span,
}

impl Binder {
    fn define(
        &mut self,
        cx: &Context<'_>,
        name: &Name,
        label: &LabelTree,
    ) -> Result<(), HtolError> {
        let tree = Tree { kind: TreeKind::Label(label.clone()), at: label.at.clone() };
        self.check_names(cx, &tree)?;
        let names = visible_names(&tree, &|name| self.names.get(name).cloned())?;
        self.name(name, names)?;
        self.labels.insert(name.text.clone(), label.clone());
        Ok(())
    }

    fn objective(
        &mut self,
        cx: &mut Context<'_>,
        name: &Name,
        tree: &Tree,
    ) -> Result<Objective, HtolError> {
        self.check_names(cx, tree)?;
        let names = visible_names(tree, &|name| self.names.get(name).cloned())?;
        let mut first = None;
        let hyper = self.hyper(cx, tree, &mut first)?;
        self.name(name, names)?;
        self.objectives.insert(name.text.clone(), tree.clone());
        let span = first.unwrap_or(cx.function.span);
        Ok(Objective { name: name.text.clone(), hyper, span, text: tree.to_string() })
    }

    fn name(&mut self, name: &Name, visible: BTreeSet<String>) -> Result<(), HtolError> {
        match self.names.insert(name.text.clone(), visible) {
            None => Ok(()),
            Some(before) => {
                self.names.insert(name.text.clone(), before);
                let what = format!("`{}` is defined twice", name.text);
                Err(HtolError::Unknown { what, at: name.at.0.clone() })
            }
        }
    }

    /// That every label which is named exists, before rules about their names are checked.
    fn check_names(&self, cx: &Context<'_>, tree: &Tree) -> Result<(), HtolError> {
        match &tree.kind {
            TreeKind::Label(label) => self.check_label(cx, label),
            TreeKind::Sequence(sequence) => {
                sequence.labels.iter().try_for_each(|label| self.check_label(cx, label))
            }
            TreeKind::Guard(inner, _) => self.check_names(cx, inner),
            TreeKind::All(parts) | TreeKind::Any(parts) => {
                parts.iter().try_for_each(|part| self.check_names(cx, part))
            }
        }
    }

    fn check_label(&self, cx: &Context<'_>, label: &LabelTree) -> Result<(), HtolError> {
        match &label.label {
            LabelRef::Named(name) if !self.names.contains_key(&name.text) => {
                user_label(cx, name).map(drop)
            }
            LabelRef::Named(_) | LabelRef::At(..) => Ok(()),
        }
    }

    fn hyper(
        &self,
        cx: &mut Context<'_>,
        tree: &Tree,
        first: &mut Option<Span>,
    ) -> Result<Hyper, HtolError> {
        match &tree.kind {
            TreeKind::Label(label) => match &label.label {
                LabelRef::Named(name) if self.objectives.contains_key(&name.text) => {
                    if label.bindings.is_empty() {
                        return self.hyper(cx, &self.objectives[&name.text], first);
                    }
                    let what = format!("to bind at `{}`, which is no label,", name.text);
                    Err(HtolError::Unsupported { what, at: label.at.0.clone() })
                }
                _ => self.atom(cx, label, first).map(Hyper::Atom),
            },
            TreeKind::Sequence(sequence) => {
                let sequence = self.sequence(cx, sequence, first)?;
                Ok(Hyper::Sequence(cx.sequence(sequence)))
            }
            TreeKind::Guard(inner, guard) => {
                let inner = self.hyper(cx, inner, first)?;
                let formula = formula(guard, &mut |_| Ok(None))?;
                Ok(Hyper::Guard(Box::new(inner), formula))
            }
            TreeKind::All(parts) => self.parts(cx, parts, first).map(Hyper::All),
            TreeKind::Any(parts) => self.parts(cx, parts, first).map(Hyper::Any),
        }
    }

    fn parts(
        &self,
        cx: &mut Context<'_>,
        parts: &[Tree],
        first: &mut Option<Span>,
    ) -> Result<Vec<Hyper>, HtolError> {
        parts.iter().map(|part| self.hyper(cx, part, first)).collect()
    }

    /// A label with the bindings of its definition and its own. It is covered only where what it
    /// binds is known.
    fn atom(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        first: &mut Option<Span>,
    ) -> Result<Atom, HtolError> {
        let (point, pred, bindings) = self.written(cx, label)?;
        first.get_or_insert(point.span);
        let pred = bindings.iter().fold(pred, |pred, binding| match &binding.value {
            Bound::Expr(expr) => Pred::and(pred, known(cx, *expr)),
            Bound::Truth(_) => pred,
        });
        let label = cx.label(point.site, pred, point.span);
        Ok(cx.atom(label, bindings))
    }

    /// A label's point, its predicate and all that it binds.
    fn written(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
    ) -> Result<(Point, Pred, Vec<Binding>), HtolError> {
        let (point, pred, mut all) = match &label.label {
            LabelRef::Named(name) => match self.labels.get(&name.text) {
                Some(defined) => self.written(cx, defined)?,
                None => {
                    let (point, pred) = user_label(cx, name)?;
                    (point, pred, Vec::new())
                }
            },
            LabelRef::At(point, predicate) => {
                let point = point_of(cx, point)?;
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
        first: &mut Option<Span>,
    ) -> Result<Sequence, HtolError> {
        let mut atoms: Vec<Atom> = Vec::new();
        let mut passages = Vec::new();
        for (position, label) in tree.labels.iter().enumerate() {
            if position > 0 {
                let bound = atoms.iter().flat_map(|atom| &atom.bindings).map(|b| b.name.clone());
                passages.push(passage(cx, &tree.passages[position - 1], &bound.collect())?);
            }
            atoms.push(self.atom(cx, label, first)?);
        }
        let scope = if tree.activation { Scope::Activation } else { Scope::Run };
        Ok(Sequence { atoms, passages, scope, flow: None })
    }
}

fn passage(
    cx: &mut Context<'_>,
    duties: &[Duty],
    bound: &BTreeSet<String>,
) -> Result<Passage, HtolError> {
    if duties.is_empty() {
        return Ok(Passage::Free);
    }
    let obligation = |duty: &Duty| {
        let point = point_of(cx, &duty.point)?;
        let holds = match &duty.holds {
            None => Formula::Number(0),
            Some(term) => formula(term, &mut |term| match &term.kind {
                TermKind::Name(name) if bound.contains(name) => Ok(None),
                _ => Places { at: point.span }.wide(cx, term).map(Some),
            })?,
        };
        Ok(Obligation { function: cx.id(), site: point.site, holds })
    };
    Ok(Passage::Obliged(duties.iter().map(obligation).collect::<Result<_, HtolError>>()?))
}

fn bindings(
    cx: &mut Context<'_>,
    trees: &[(Name, Term)],
    at: Span,
) -> Result<Vec<Binding>, HtolError> {
    let bind = |(name, term): &(Name, Term)| {
        let value = Bound::Expr(Places { at }.wide(cx, term)?);
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

/// A label that the user wrote in the function.
fn user_label(cx: &Context<'_>, name: &Name) -> Result<(Point, Pred), HtolError> {
    let point = point_of(cx, &PointRef::Label(name.clone()))?;
    let pred = match point.site {
        Site::Mark(mark) => cx.user_predicate(mark),
        _ => None,
    };
    Ok((point, pred.unwrap_or(Pred::Const(true))))
}

fn point_of(cx: &Context<'_>, point: &PointRef) -> Result<Point, HtolError> {
    let function = &cx.function.name;
    let (found, what, at): (_, String, &Extent) = match point {
        PointRef::Entry(_) => {
            let start = cx.body.source.body.start;
            return Ok(Point { site: Site::Entry, span: Span::new(start, start + 1) });
        }
        PointRef::Label(name) => {
            let is_it = |kind: &MarkKind| matches!(kind, MarkKind::UserLabel { name: other, .. } if *other == name.text);
            let found = cx.body.marks.iter().find(|(_, mark)| is_it(&mark.kind));
            let what = format!("`{function}` has no label `{}`", name.text);
            (found.map(|(id, mark)| (id, mark.span)), what, &name.at)
        }
        PointRef::Line(file, line, at) => {
            let own = cx.map.place(cx.body.source.body.start).file;
            let file = file.as_deref().unwrap_or(&own);
            let is_there = |span: &Span| {
                let place = cx.map.place(span.start);
                place.line == *line && is_file(&place.file, file)
            };
            let marks = cx.statement_marks().filter(|(_, span)| is_there(span));
            let found = marks.min_by_key(|(_, span)| span.start);
            (found, format!("`{function}` has no statement that begins at line {line}"), at)
        }
    };
    match found {
        Some((mark, span)) => Ok(Point { site: Site::Mark(mark), span }),
        None => Err(HtolError::Unknown { what, at: at.0.clone() }),
    }
}

/// Whether a path ends as the user wrote it.
fn is_file(path: &str, written: &str) -> bool {
    path.strip_suffix(written).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
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
