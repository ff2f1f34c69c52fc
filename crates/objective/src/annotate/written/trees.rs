//! From the trees of a file to hyperlabels of a program's function.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use lydian_base::Span;
use lydian_ir::trap::may_trap;
use lydian_ir::{Body, CmpOp, Expr, ExprId, Overflow};

use super::points::ProgramPoint;
use super::references::references_to;
use super::terms::{TermTranslator, unsupported};
use super::{paths, points};
use crate::annotate::context::Context;
use crate::annotate::program::BoundReference;
use crate::htol::references::{MOST_PARTS, References, function_named};
use crate::htol::scope::{ItemPosition, NamedItem, Scopes};
use crate::htol::syntax::{
    Duty, Item, LabelRef, LabelTree, Name, SequenceTree, Term, TermKind, Tree, TreeKind,
};
use crate::htol::{HtolError, visible_names};
use crate::hyper::{
    Atom, Binding, BoundValue, Formula, Hyper, Obligation, Passage, Sequence, SequenceScope,
};
use crate::label::Pred;

/// An objective of a file.
pub(crate) struct Objective {
    /// Its name.
    pub(crate) name: String,
    /// The hyperlabel.
    pub(crate) hyper: Hyper,
    /// The place of its first label in the program.
    pub(crate) span: Span,
    /// Its text, as the user wrote it.
    pub(crate) text: String,
}

/// Makes the objectives of a file that are about the function of `cx`. Errors are of the file.
pub(crate) fn objectives(
    cx: &mut Context<'_>,
    references: &References<'_>,
    file: usize,
) -> (Vec<Objective>, Vec<HtolError>) {
    of_own_items(cx, references, file, |cx, binder, item, from| match item {
        Item::Label(name, label) => binder.define(cx, name, label, from).map(|()| None),
        Item::Objective(name, tree) => binder.objective(cx, name, tree, from).map(Some),
        Item::Function(_) | Item::Path(..) => Ok(None),
    })
}

/// Makes the paths of a file that are about the function of `cx`.
pub(crate) fn paths(
    cx: &mut Context<'_>,
    references: &References<'_>,
    file: usize,
) -> (Vec<Objective>, Vec<HtolError>) {
    of_own_items(cx, references, file, |cx, binder, item, from| {
        let Item::Path(name, path) = item else { return Ok(None) };
        binder.is_new(name, from)?;
        let (hyper, span) = paths::hyper(cx, path)?;
        Ok(Some(Objective { name: name.text.clone(), hyper, span, text: path.to_string() }))
    })
}

/// The objectives that `make` makes of the items of a file that are about the function of `cx`, and
/// its errors.
fn of_own_items<'f>(
    cx: &mut Context<'_>,
    references: &'f References<'_>,
    file: usize,
    mut make: impl FnMut(
        &mut Context<'_>,
        &Binder<'_>,
        &'f Item,
        ItemPosition<'f>,
    ) -> Result<Option<Objective>, HtolError>,
) -> (Vec<Objective>, Vec<HtolError>) {
    let (mut objectives, mut errors) = (Vec::new(), Vec::new());
    let Some(scoped) = references.files.get(file) else { return (objectives, errors) };
    let mut function = "";
    for (item, of) in scoped.file.items.iter().enumerate() {
        if let Item::Function(name) = of {
            function = &name.text;
        } else if function == cx.function.name {
            match make(cx, &Binder::new(references, file), of, ItemPosition { function, item }) {
                Ok(objective) => objectives.extend(objective),
                Err(error) => errors.push(error),
            }
        }
    }
    (objectives, errors)
}

/// Binds trees of one file.
pub(super) struct Binder<'b> {
    references: &'b References<'b>,
    scopes: &'b Scopes<'b>,
    file: usize,
    /// The number of parts that the objective has so far.
    parts: Cell<usize>,
}

impl<'b> Binder<'b> {
    pub(super) fn new(references: &'b References<'_>, file: usize) -> Self {
        Self { references, scopes: &references.files[file].scopes, file, parts: Cell::new(0) }
    }

    fn names(&self, tree: &Tree, from: ItemPosition<'_>) -> Result<(), HtolError> {
        visible_names(tree, &|name| self.scopes.binds_of(name, from).cloned()).map(drop)
    }

    fn define(
        &self,
        cx: &Context<'_>,
        name: &Name,
        label: &LabelTree,
        from: ItemPosition<'_>,
    ) -> Result<(), HtolError> {
        let tree = Tree { kind: TreeKind::Label(label.clone()), at: label.at.clone() };
        self.check_names(cx, &tree, from)?;
        self.names(&tree, from)?;
        self.is_new(name, from)
    }

    fn objective(
        &self,
        cx: &mut Context<'_>,
        name: &Name,
        tree: &Tree,
        from: ItemPosition<'_>,
    ) -> Result<Objective, HtolError> {
        self.check_names(cx, tree, from)?;
        self.names(tree, from)?;
        let mut first = None;
        let hyper = self.hyper(cx, tree, from, &mut first)?;
        self.is_new(name, from)?;
        let span = first.unwrap_or(cx.function.span);
        Ok(Objective { name: name.text.clone(), hyper, span, text: tree.to_string() })
    }

    /// Checks that a name is not defined before.
    fn is_new(&self, name: &Name, from: ItemPosition<'_>) -> Result<(), HtolError> {
        match self.scopes.item_of(from.function, &name.text) {
            Some(first) if first < from.item => {
                let what = format!("`{}` is defined twice", name.text);
                Err(HtolError::Unknown { what, at: name.at.0.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Checks that every label that is named exists. Rules about their names are checked later.
    fn check_names(
        &self,
        cx: &Context<'_>,
        tree: &Tree,
        from: ItemPosition<'_>,
    ) -> Result<(), HtolError> {
        match &tree.kind {
            TreeKind::Label(label) => self.check_label(cx, label, from),
            TreeKind::Sequence(sequence) => {
                let mut labels = sequence.labels.iter();
                labels.try_for_each(|label| self.check_label(cx, label, from))
            }
            TreeKind::Guard(inner, _) => self.check_names(cx, inner, from),
            TreeKind::All(parts) | TreeKind::Any(parts) => {
                parts.iter().try_for_each(|part| self.check_names(cx, part, from))
            }
        }
    }

    fn check_label(
        &self,
        cx: &Context<'_>,
        label: &LabelTree,
        from: ItemPosition<'_>,
    ) -> Result<(), HtolError> {
        let LabelRef::Named(name) = &label.label else { return Ok(()) };
        if self.scopes.get(name, from).is_some() {
            return Ok(());
        }
        let function = from.function_of(name.function.as_ref());
        let body = named_body(cx.program, function, name.function.as_ref())?;
        points::label_mark(function, body, &name.name.text, &name.name.at).map(drop)
    }

    fn hyper(
        &self,
        cx: &mut Context<'_>,
        tree: &Tree,
        from: ItemPosition<'_>,
        first: &mut Option<Span>,
    ) -> Result<Hyper, HtolError> {
        self.parts.set(self.parts.get() + 1);
        if self.parts.get() > MOST_PARTS {
            return unsupported(
                &format!("an objective of more than {MOST_PARTS} parts"),
                &tree.at.0,
            );
        }
        match &tree.kind {
            TreeKind::Label(label) => self.named(cx, label, from, first),
            TreeKind::Sequence(sequence) => {
                let sequence = self.sequence(cx, sequence, from, first)?;
                Ok(Hyper::Sequence(cx.sequence(sequence)))
            }
            TreeKind::Guard(inner, guard) => {
                let inner = self.hyper(cx, inner, from, first)?;
                let formula = formula(guard, &mut |_| Ok(None))?;
                Ok(Hyper::Guard(Box::new(inner), formula))
            }
            TreeKind::All(parts) => self.all(cx, parts, from, first).map(Hyper::All),
            TreeKind::Any(parts) => self.all(cx, parts, from, first).map(Hyper::Any),
        }
    }

    fn all(
        &self,
        cx: &mut Context<'_>,
        parts: &[Tree],
        from: ItemPosition<'_>,
        first: &mut Option<Span>,
    ) -> Result<Vec<Hyper>, HtolError> {
        parts.iter().map(|part| self.hyper(cx, part, from, first)).collect()
    }

    /// A label, or the objective or path that a name stands for.
    fn named(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        from: ItemPosition<'_>,
        first: &mut Option<Span>,
    ) -> Result<Hyper, HtolError> {
        let named = match &label.label {
            LabelRef::Named(name) => self.scopes.get(name, from).map(|found| (name, found)),
            LabelRef::At(..) => None,
        };
        let (name, what, at) = match named {
            None | Some((_, (NamedItem::Label(_), _))) => {
                return self.any_atom(cx, label, from, first).map(Hyper::Atom);
            }
            Some((name, (what, at))) => (name, what, at),
        };
        if !label.bindings.is_empty() {
            let what = format!("to bind at `{}`, which is no label,", name.name.text);
            return unsupported(&what, &label.at.0);
        }
        match what {
            NamedItem::Objective(tree) => self.hyper(cx, tree, at, first),
            NamedItem::Path(path) if at.function == cx.function.name => {
                let (hyper, span) = paths::hyper(cx, path)?;
                first.get_or_insert(span);
                Ok(hyper)
            }
            NamedItem::Path(_) | NamedItem::Label(_) => {
                unsupported("a path of another function", &label.at.0)
            }
        }
    }

    /// A label as an atom, of whatever function.
    fn any_atom(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        from: ItemPosition<'_>,
        first: &mut Option<Span>,
    ) -> Result<Atom, HtolError> {
        let function = self.scopes.function_of(label, from);
        let bound = match function == cx.function.name {
            true => self.atom(cx, label, from),
            false => self.reference(cx, function, label.at.0.clone()),
        };
        match bound? {
            BoundReference::Atom(atom, span) => {
                first.get_or_insert(span);
                Ok(atom)
            }
            BoundReference::Duty(_) => unsupported("this place for a label", &label.at.0),
        }
    }

    /// The label or duty that a tree takes from another function.
    fn reference(
        &self,
        cx: &Context<'_>,
        function: &str,
        at: Range<usize>,
    ) -> Result<BoundReference, HtolError> {
        let Some(found) = self.references.at(self.file, at.start) else {
            return Err(no_body(function, at));
        };
        references_to(cx, found.function)[found.position].clone()
    }

    /// A label of this function with the bindings of its definition and its own. It is covered only
    /// if the bound values are known.
    pub(super) fn atom(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        from: ItemPosition<'_>,
    ) -> Result<BoundReference, HtolError> {
        let (point, pred, bindings) = self.written(cx, label, from)?;
        let pred = bindings.iter().fold(pred, |pred, binding| match &binding.value {
            BoundValue::Expr(expr) => Pred::and(pred, known(cx, *expr)),
            BoundValue::Truth(_) => pred,
        });
        let label = cx.label(point.site, pred, point.span);
        Ok(BoundReference::Atom(cx.atom(label, bindings), point.span))
    }

    /// The point of a label, its predicate and its bindings.
    fn written(
        &self,
        cx: &mut Context<'_>,
        label: &LabelTree,
        from: ItemPosition<'_>,
    ) -> Result<(ProgramPoint, Pred, Vec<Binding>), HtolError> {
        let (point, pred, mut all) = match &label.label {
            LabelRef::Named(name) => match self.scopes.get(name, from) {
                Some((NamedItem::Label(defined), at)) => self.written(cx, defined, at)?,
                _ => {
                    let (point, pred) = points::user_label(cx, &name.name)?;
                    (point, pred, Vec::new())
                }
            },
            LabelRef::At(point, predicate) => {
                let point = points::resolve(cx, point)?;
                let pred = TermTranslator { at: point.span }.pred(cx, predicate)?;
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
        from: ItemPosition<'_>,
        first: &mut Option<Span>,
    ) -> Result<Sequence, HtolError> {
        let mut atoms: Vec<Atom> = Vec::new();
        let mut passages = Vec::new();
        for (position, label) in tree.labels.iter().enumerate() {
            if position > 0 {
                let bound = atoms.iter().flat_map(|atom| &atom.bindings).map(|b| b.name.clone());
                let duties = &tree.passages[position - 1];
                passages.push(self.passage(cx, duties, from, &bound.collect())?);
            }
            let atom = self.any_atom(cx, label, from, first)?;
            let is_elsewhere = atoms.first().is_some_and(|first| first.function != atom.function);
            if tree.activation && is_elsewhere {
                let what = "an activation of several functions";
                return unsupported(what, &label.at.0);
            }
            atoms.push(atom);
        }
        let scope = if tree.activation { SequenceScope::Activation } else { SequenceScope::Run };
        Ok(Sequence { atoms, passages, scope, flow: None })
    }

    fn passage(
        &self,
        cx: &mut Context<'_>,
        duties: &[Duty],
        from: ItemPosition<'_>,
        bound: &BTreeSet<String>,
    ) -> Result<Passage, HtolError> {
        if duties.is_empty() {
            return Ok(Passage::Free);
        }
        let mut obligation = |duty: &Duty| {
            let function = from.function_of(duty.point.function.as_ref());
            let bound = match function == cx.function.name {
                true => self.duty(cx, duty, bound),
                false => self.reference(cx, function, duty.point.at.0.clone()),
            };
            match bound? {
                BoundReference::Duty(obligation) => Ok(obligation),
                BoundReference::Atom(..) => unsupported("a label in this place", &duty.point.at.0),
            }
        };
        Ok(Passage::Obliged(duties.iter().map(&mut obligation).collect::<Result<_, _>>()?))
    }

    /// The duty of a passage at a point of this function.
    pub(super) fn duty(
        &self,
        cx: &mut Context<'_>,
        duty: &Duty,
        bound: &BTreeSet<String>,
    ) -> Result<BoundReference, HtolError> {
        let point = points::resolve(cx, &duty.point)?;
        let holds = match &duty.holds {
            None => Formula::Number(0),
            Some(term) => formula(term, &mut |term| match &term.kind {
                TermKind::Name(name) if bound.contains(name) => Ok(None),
                _ => TermTranslator { at: point.span }.wide(cx, term).map(Some),
            })?,
        };
        Ok(BoundReference::Duty(Obligation { function: cx.id(), site: point.site, holds }))
    }
}

/// The body of a function that is named.
fn named_body<'p>(
    program: &'p lydian_ir::Program,
    function: &str,
    at: Option<&Name>,
) -> Result<&'p Body, HtolError> {
    let found = function_named(program, function);
    let body = found.and_then(|found| program.functions[found].body.as_ref());
    body.ok_or_else(|| no_body(function, at.map_or(0..0, |name| name.at.0.clone())))
}

/// The error that a named function has no body.
fn no_body(function: &str, at: Range<usize>) -> HtolError {
    let what = format!("there is no function `{function}` with a body here");
    HtolError::Unknown { what, at }
}

fn bindings(
    cx: &mut Context<'_>,
    trees: &[(Name, Term)],
    at: Span,
) -> Result<Vec<Binding>, HtolError> {
    let bind = |(name, term): &(Name, Term)| {
        let value = BoundValue::Expr(TermTranslator { at }.wide(cx, term)?);
        Ok(Binding { name: name.text.clone(), value })
    };
    trees.iter().map(bind).collect()
}

/// The predicate that an expression has a value.
fn known(cx: &mut Context<'_>, expr: ExprId) -> Pred {
    if !may_trap(cx.program, cx.body, cx.exprs.arena(), expr, Overflow::Wrap) {
        return Pred::Const(true);
    }
    Pred::Expr(cx.exprs.make(&Expr::Cmp(CmpOp::Eq, expr, expr)))
}

/// A term as a formula. `state` gives the expression of a term over the program's variables; `None`
/// for a metavariable.
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
            (None, _) => unsupported("a variable of the program's in a guard", &term.at.0),
        },
    }
}
