//! The syntax trees of HTOL.
//!
//! Trees have their places in the text, for errors. Two trees are equal if they have the same
//! contents, whatever their places.

use std::ops::Range;

use crate::hyper::FormulaOp;

/// The place of a part in the text, in bytes. Any two are equal: see the module.
#[derive(Clone, Debug, Default)]
pub struct Extent(pub Range<usize>);

impl PartialEq for Extent {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Extent {}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub at: Extent,
}

/// An `.htol` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its items in order.
    pub items: Vec<Item>,
}

/// An item of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `function f;`: the items after it are about this function.
    Function(Name),
    /// `label l = (point, predicate);`
    Label(Name, LabelTree),
    /// `objective h = ...;`
    Objective(Name, Tree),
    /// `path p = line 3 -> line 5 -> ... -> line 9;`
    Path(Name, PathTree),
}

impl Item {
    /// The name that it defines, or the function that it names.
    pub const fn name(&self) -> &Name {
        match self {
            Self::Function(name)
            | Self::Label(name, _)
            | Self::Objective(name, _)
            | Self::Path(name, _) => name,
        }
    }
}

/// A path of the graph of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTree {
    /// The places whose nodes it passes.
    pub steps: Vec<PointRef>,
    /// For each step but the first, whether other nodes may lie before it: `...`.
    pub gaps: Vec<bool>,
    /// Where.
    pub at: Extent,
}

/// A name of the current function, or `f::name` of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The other function.
    pub function: Option<Name>,
    /// The name.
    pub name: Name,
}

/// A hyperlabel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Its form.
    pub kind: TreeKind,
    /// Where.
    pub at: Extent,
}

/// The forms of hyperlabels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// `l`: a label, or the name of an objective.
    Label(LabelTree),
    /// `[ l1 -φ1-> l2 ... ]`
    Sequence(SequenceTree),
    /// `< h | ψ >`
    Guard(Box<Tree>, Term),
    /// `h1 . h2 ...`, at least two.
    All(Vec<Tree>),
    /// `h1 + h2 ...`, at least two.
    Any(Vec<Tree>),
}

/// `l |> { v1 <- e1; ... }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTree {
    /// The label.
    pub label: LabelRef,
    /// Its bindings.
    pub bindings: Vec<(Name, Term)>,
    /// Where.
    pub at: Extent,
}

/// A reference to a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelRef {
    /// A label that was named in the file or in the program. Without bindings it may be an objective.
    Named(Named),
    /// `(point, predicate)`
    At(PointRef, Term),
}

/// A place of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointRef {
    /// Of another function: `f::`.
    pub function: Option<Name>,
    /// Which.
    pub kind: PointKind,
    /// Where.
    pub at: Extent,
}

/// The forms of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// The place of a label of the program.
    Label(String),
    /// `entry`: the function is entered.
    Entry,
    /// `"file.c":12` or `line 12`: the first statement of a line.
    Line(Option<String>, u32),
}

/// A sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceTree {
    /// `[activation ...]`: all of it in one activation of the function.
    pub activation: bool,
    /// Its labels, at least two.
    pub labels: Vec<LabelTree>,
    /// The duties between each two labels.
    pub passages: Vec<Vec<Duty>>,
}

/// `pc == point => term`, or `pc != point` without a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duty {
    /// The place.
    pub point: PointRef,
    /// The term that must hold there; for `None`, control must not pass the place.
    pub holds: Option<Term>,
}

/// A formula over metavariables, or an expression over the program's variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where.
    pub at: Extent,
}

/// The forms of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A number.
    Number(i128),
    /// A metavariable or a variable.
    Name(String),
    /// `a.name`
    Member(Box<Term>, String),
    /// `a->name`
    Arrow(Box<Term>, String),
    /// `a[b]`
    Index(Box<Term>, Box<Term>),
    /// `*a`
    Deref(Box<Term>),
    /// `!a`
    Not(Box<Term>),
    /// `-a`
    Negate(Box<Term>),
    /// An operator on two operands.
    Binary(FormulaOp, Box<Term>, Box<Term>),
}

impl Term {
    /// Calls `visit` with each name in it, from left to right. Members are none.
    pub fn for_each_name<'t>(&'t self, visit: &mut impl FnMut(&'t str, &'t Extent)) {
        match &self.kind {
            TermKind::Number(_) => {}
            TermKind::Name(name) => visit(name, &self.at),
            TermKind::Member(a, _)
            | TermKind::Arrow(a, _)
            | TermKind::Deref(a)
            | TermKind::Not(a)
            | TermKind::Negate(a) => a.for_each_name(visit),
            TermKind::Index(a, b) | TermKind::Binary(_, a, b) => {
                a.for_each_name(visit);
                b.for_each_name(visit);
            }
        }
    }
}
