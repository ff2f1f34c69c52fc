//! Hyperlabels: objectives that relate several labels ([002] V, HTOL).
//!
//! ```text
//! h ::= l | [ l1 -φ1-> l2 ... ln ] | < h | ψ > | h1 . h2 | h1 + h2
//! l ::= (point, predicate) |> { v1 <- e1; ... }
//! ```
//!
//! An atom is a label with bindings. A sequence is covered by one run that covers its atoms in order,
//! such that each passage between two of them satisfies its `φ`. A conjunction may use several runs.
//! A guard relates the bound values, whichever runs bound them.
//!
//! # How this differs from the paper in form
//! - Conjunction and disjunction take any number of operands.
//! - Sequences lie in an arena of their function, so that instrumentation can number them.
//! - `φ` is kept solved for the program counter: as a list of places with a formula that must hold
//!   when control passes them. A predicate over `pc` can express no more.
//! - A sequence may be asked of one activation of its function. In the paper's terms each atom then
//!   binds the activation's number, and a guard asks for equal ones.
//! - [`Passage::Cell`] is for array cells ([002] V-D2), and is solved, too. In the paper's terms the
//!   definition binds the address that it writes to and the use the one that it reads, the guard asks
//!   for the same cell, and `φ` for other cells wherever control passes a definition. The paper's `φ`
//!   uses names that were bound before; a definition of all cells leaves the cell to the use.
//! - [`Passage::By`] is a passage by a path: in the paper's terms a sequence with an atom for each
//!   node of it, in which the other passage spans all of them.

use std::sync::Arc;

use lydian_base::{Place, entity_id};
use lydian_ir::{BlockId, ExprId, FuncId};
use serde::{Deserialize, Serialize};

use crate::dataflow::def_use::{DefUse, Variable};
use crate::label::{LabelId, LabelKey, Pred, Site};

pub mod form;
pub mod normal;
mod value;

pub use form::{IllFormed, Rule};

entity_id!(
    /// Names a sequence of a function.
    SequenceId,
    "s"
);
entity_id!(
    /// Names a hyperlabel of a function.
    HyperId,
    "h"
);

/// A hyperlabel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Hyper {
    /// An atomic label with bindings.
    Atom(Atom),
    /// A sequence of the function that the hyperlabel belongs to.
    Sequence(SequenceId),
    /// `< h | ψ >`: the values that `h` binds satisfy a formula.
    Guard(Box<Hyper>, Formula),
    /// `h1 . h2 ...`: all of them are covered, by any runs.
    All(Vec<Hyper>),
    /// `h1 + h2 ...`: one of them is covered.
    Any(Vec<Hyper>),
}

/// A label with bindings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Atom {
    /// The function whose label it is.
    pub function: FuncId,
    /// The label.
    pub label: LabelId,
    /// Its bindings, made by the event that covers it. Names are distinct.
    pub bindings: Vec<Binding>,
}

/// A name for a value at the event that covers a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// The metavariable.
    pub name: String,
    /// Its value. If the value is unknown, the event binds nothing and does not cover the atom.
    pub value: BoundValue,
}

/// The value of a metavariable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BoundValue {
    /// A scalar expression on the state at the label's site.
    Expr(ExprId),
    /// A predicate on the label's event: 1 or 0.
    Truth(Pred),
}

/// A formula over metavariables and, in a passage, over the state: nonzero is true. Numbers are
/// mathematical integers. A formula with an unknown value (a division by zero, a state without such a
/// value) does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Formula {
    /// A number.
    Number(i128),
    /// The value of a metavariable.
    Name(String),
    /// An expression on the state, in the obligations of passages alone.
    State(ExprId),
    /// `!a`.
    Not(Box<Formula>),
    /// `-a`.
    Negate(Box<Formula>),
    /// An operator on two operands.
    Binary(FormulaOp, Box<Formula>, Box<Formula>),
}

/// Operators of formulas, in C's notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are C's")]
pub enum FormulaOp {
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Hyper {
    /// Calls `visit` with each label and sequence in it.
    pub fn for_each_part<'h>(&'h self, visit: &mut impl FnMut(normal::Part<'h>)) {
        match self {
            Self::Atom(atom) => visit(normal::Part::Atom(atom)),
            Self::Sequence(id) => visit(normal::Part::Sequence(*id)),
            Self::Guard(inner, _) => inner.for_each_part(visit),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.for_each_part(visit));
            }
        }
    }
}

impl Formula {
    /// The value of a metavariable.
    pub fn name(name: &str) -> Self {
        Self::Name(name.to_owned())
    }

    /// An operator on two operands.
    pub fn binary(op: FormulaOp, a: Self, b: Self) -> Self {
        Self::Binary(op, Box::new(a), Box::new(b))
    }

    /// Conjunction.
    pub fn and(a: Self, b: Self) -> Self {
        Self::binary(FormulaOp::And, a, b)
    }

    /// Disjunction.
    pub fn or(a: Self, b: Self) -> Self {
        Self::binary(FormulaOp::Or, a, b)
    }
}

/// `[ l1 -φ1-> l2 ... ln ]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sequence {
    /// Its atoms, at least two.
    pub atoms: Vec<Atom>,
    /// The passages between each two of them: one fewer than atoms.
    pub passages: Vec<Passage>,
    /// The scope in which its atoms must lie.
    pub scope: SequenceScope,
    /// The pair of [`crate::DataFlow`] of which this is the sequence, for engines that record uses
    /// with the last definition instead of watching the sequence. It adds nothing to the meaning.
    pub flow: Option<DefUse>,
}

impl Sequence {
    /// The pair of cells of which this is the sequence; `None` if it is no pair's.
    pub fn cell_pair(&self) -> Option<DefUse> {
        match self.passages.first()?.otherwise() {
            Passage::Cell(same) => Some(same.pair),
            _ => None,
        }
    }

    /// The nodes of the path on which a pair's use must be reached from its definition; `None` if any
    /// path will do.
    pub fn path(&self) -> Option<&[BlockId]> {
        match self.passages.first()? {
            Passage::By(nodes, _) => Some(nodes),
            _ => None,
        }
    }

    /// Whether it is the sequence of a pair, of a variable or of cells, which is recorded with the
    /// last definition.
    pub fn is_pair(&self) -> bool {
        self.flow.is_some() || self.cell_pair().is_some()
    }

    /// Whether it is a path: nodes that follow one another.
    pub fn is_path(&self) -> bool {
        self.passages.iter().all(|passage| *passage == Passage::Adjacent)
    }
}

/// The scope of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SequenceScope {
    /// One activation of the function.
    Activation,
    /// One run of the program.
    Run,
}

/// `φ`: the condition on the events between two atoms of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Passage {
    /// No condition.
    Free,
    /// Formulas that must hold where control passes certain sites.
    Obliged(Vec<Obligation>),
    /// No node of the function's graph of nodes is between them, in the same activation
    /// ([`crate::annotate`], paths).
    Adjacent,
    /// Control passes no definition of a variable.
    Clear(Arc<Definitions>),
    /// The second atom reads a cell that the first one defines, and control passes no definition of
    /// that cell.
    Cell(SameCell),
    /// The condition of another passage. In addition both atoms are of one activation, in which
    /// control enters exactly these nodes of the function's graph of nodes between them. Nodes are
    /// named by their first blocks.
    By(Vec<BlockId>, Box<Passage>),
}

impl Passage {
    /// The condition beside the path, if there is one.
    pub fn otherwise(&self) -> &Self {
        match self {
            Self::By(_, other) => other.otherwise(),
            other => other,
        }
    }
}

/// The condition that a definition and a use are of one cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SameCell {
    /// The definitions of the variable's cells.
    pub of: Arc<CellDefinitions>,
    /// The number of bytes that the first atom writes from the address that it binds. `None`: it
    /// binds nothing, and defines all cells.
    pub written: Option<u64>,
    /// The number of bytes, each of which counts, that the second atom reads from the address that it
    /// binds. It is 1 for a scalar, which is identified by its first byte.
    pub read: u64,
    /// The pair of the data flow of cells ([`crate::UnitFlow::of_cells`]), for engines that record
    /// uses with the last definition.
    pub pair: DefUse,
}

/// The places that define cells of a variable. Sequences share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CellDefinitions {
    /// Identifies the variable among those of the function or the program.
    pub variable: String,
    /// The variable. `None` if the definitions were read from notes.
    #[serde(skip)]
    pub of: Option<Variable>,
    /// The places that have an event.
    pub places: Vec<CellDefinition>,
}

/// A place that defines cells.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CellDefinition {
    /// The place.
    pub place: (FuncId, Site),
    /// The address that it writes to and the number of bytes. `None`: it defines all cells.
    pub writes: Option<(ExprId, u64)>,
    /// Whether it writes through a pointer. It then defines the cells that it hits.
    pub indirect: bool,
}

impl CellDefinitions {
    /// The definitions at a place.
    pub fn at(&self, place: (FuncId, Site)) -> impl Iterator<Item = &CellDefinition> {
        self.places.iter().filter(move |definition| definition.place == place)
    }
}

impl Definitions {
    /// All places, also those of writes through pointers.
    pub fn all(&self) -> impl Iterator<Item = &(FuncId, Site)> {
        self.places.iter().chain(&self.indirect)
    }
}

/// The places that define a variable. Sequences share them, since there may be very many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Definitions {
    /// Identifies the variable among those of the function or the program.
    pub variable: String,
    /// The variable. `None` if the definitions were read from notes.
    #[serde(skip)]
    pub of: Option<Variable>,
    /// The places with an event at which it is defined. The start of the run, where a global has its
    /// initial value, is not among them.
    pub places: Vec<(FuncId, Site)>,
    /// The places of writes through pointers that may define it. They define it if they hit it.
    pub indirect: Vec<(FuncId, Site)>,
}

/// `pc = site => holds`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Obligation {
    /// The function of the site.
    pub function: FuncId,
    /// The site.
    pub site: Site,
    /// The formula that must hold there. `Number(0)` forbids the site.
    pub holds: Formula,
}

/// A hyperlabel with its text for the user and its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hyperlabel {
    /// The hyperlabel.
    pub hyper: Hyper,
    /// Its text for the user: short, in terms of the source.
    pub text: Arc<str>,
    /// The place in the user's file.
    pub place: Place,
    /// Its key, which identifies it across runs.
    pub key: LabelKey,
}

/// A hyperlabel as one criterion counts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HyperEntry {
    /// The hyperlabel.
    pub hyper: HyperId,
    /// Its name in the criterion, such as `d3.c1 independent`.
    pub name: String,
    /// The position in the criterion's list of an earlier entry with the same meaning.
    pub duplicate_of: Option<u32>,
}
