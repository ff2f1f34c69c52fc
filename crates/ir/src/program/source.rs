//! Where a body's parts stand in the preprocessed text, and what the source rewriter needs to watch
//! them there.
//!
//! Lowering fills this in; only `native` rewrites. Sites nest as their spans do. Nothing here
//! changes what the IR means.

use std::collections::BTreeMap;

use lydian_base::{Arena, Place, SideTable, Span};
use serde::{Deserialize, Serialize};

use super::arithmetic_type::ExprTypes;
use super::ids::{BlockId, ConditionId, DecisionId, ExprId, LocalId, MarkId, StmtId};

pub use super::ids::RootId;

/// A line of a comment in which the user writes objectives in the language of hyperlabels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLine {
    /// The line's text, without the comment's delimiters.
    pub text: String,
    /// The place in the user's file at which the text begins.
    pub place: Place,
    /// The offset in the preprocessed text at which the comment stood.
    pub at: u32,
    /// Whether a comment begins with it: its items belong together with those of the lines up to
    /// the next such line.
    pub begins: bool,
}

/// The places of a body's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSource {
    /// The text of the body, braces included.
    pub body: Span,
    /// Text of each statement's C expression or statement.
    pub stmts: SideTable<StmtId, Span>,
    /// Text of the statement or condition that each block's terminator stands for.
    pub terms: SideTable<BlockId, Span>,
    /// Text of each expression, where C has one for it.
    pub exprs: SideTable<ExprId, Span>,
    /// C types of each expression that is a number, where C has an expression for it. The IR's
    /// operators have signs and its types have none, so what is made of an expression beside the
    /// program (a mutant, the values next to a border) asks here.
    pub c_types: SideTable<ExprId, Option<ExprTypes>>,
    /// Where each mark can be recorded.
    pub marks: Vec<MarkSite>,
    /// The labels of statements: those of `goto`s, of `case`s and of `default`s. Of labels with no
    /// statement between the first.
    pub labels: Vec<LabelSite>,
    /// Where each decision and its conditions stand.
    pub decisions: Vec<DecisionSite>,
    /// Where each switch's operand stands.
    pub switches: Vec<SwitchSite>,
    /// Every place that evaluates a whole expression, for objectives about values.
    pub roots: Arena<RootId, Root>,
    /// Statements that are copies, each with the one that it is a copy of: the right side of a
    /// Boolean `==`, `!=`, `^`, `&` or `|` is lowered once for each value of the left.
    pub copies: BTreeMap<StmtId, StmtId>,
    /// The texts of operands that may have effects and that C evaluates in any order, those of one
    /// expression together.
    pub unsequenced: Vec<Vec<Span>>,
}

impl FunctionSource {
    /// The statement that a statement is a copy of; itself if it is none. It stands for all copies
    /// where objectives speak of the place in the text.
    pub fn original(&self, stmt: StmtId) -> StmtId {
        self.copies.get(&stmt).copied().unwrap_or(stmt)
    }

    /// The other roots that the place which evaluates a root evaluates before it, in order: the
    /// value that is stored before the address, arguments from left to right.
    pub fn roots_before(&self, root: RootId) -> impl Iterator<Item = &Root> {
        let point = self.roots[root].point;
        let before = self.roots.iter().take_while(move |(id, _)| *id != root);
        before.map(|(_, other)| other).filter(move |other| other.point == point)
    }

    /// Whether a statement is a copy, or has copies.
    pub fn is_copied(&self, stmt: StmtId) -> bool {
        self.copies.iter().any(|(copy, of)| *copy == stmt || *of == stmt)
    }
}

/// Where in a function something is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Point {
    /// Just before a statement.
    Stmt(StmtId),
    /// Just before a block's terminator.
    Term(BlockId),
}

/// How a record can be put before a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MarkStyle {
    /// Put `{ record; ` before it and ` }` after it.
    Wrap,
    /// Put `record;` before it: a declaration, whose names must stay visible, or the first place
    /// in a block.
    Before,
    /// It is an expression (the third part of a `for`): make it `(record, expression)`.
    Expression,
    /// It is the declaration in a `for`'s first part: put the record before the whole `for`, whose
    /// span this is.
    BeforeFor,
}

/// Where a mark can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkSite {
    /// The mark.
    pub mark: MarkId,
    /// The statement's text, its semicolon included. For a labelled statement: what follows the
    /// labels.
    pub span: Span,
    /// How.
    pub style: MarkStyle,
}

/// A label before a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelSite {
    /// The mark of the statement: control passes the label where it comes to that.
    pub mark: MarkId,
    /// Where the label begins, an empty span.
    pub span: Span,
}

/// Where a decision stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionSite {
    /// The decision.
    pub decision: DecisionId,
    /// The text of the whole Boolean expression.
    pub span: Span,
    /// The text of each condition, in the order of their ids.
    pub conditions: Vec<Span>,
    /// Whether the value of the text is used beside its truth, as in `a ?: b`: what records the
    /// outcome must keep it. Such a decision has one condition, which is its whole text.
    pub keeps_value: bool,
}

/// Where a switch stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchSite {
    /// The block that the switch ends. Computed `goto`s may share one: they are several sites of it.
    pub block: BlockId,
    /// The text of the operand, without its parentheses.
    pub operand: Span,
    /// Whether it is a computed `goto`: the operand is an address, and the text of each case is
    /// the name of a label.
    pub computed: bool,
}

/// A whole pure expression at the place that evaluates it. Theorem 2 of [000] is about these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The place that evaluates it.
    pub point: Point,
    /// Further places that evaluate it: the right side of a Boolean `==`, `!=`, `^`, `&` or `|` is lowered once for
    /// each value of the left. The same expression means the same there.
    pub copies: Vec<Point>,
    /// The expression; for [`RootKind::Address`] the address, of type `ptr`.
    pub expr: ExprId,
    /// The use of its value.
    pub kind: RootKind,
    /// The text. For [`RootKind::Address`] the text of the lvalue; for [`RootKind::Update`] the
    /// whole assignment or increment.
    pub span: Span,
    /// The parts that must be evaluated first, once, in this order; a name replaces the text of each.
    pub captures: Vec<Capture>,
    /// Whether the text allows the expression to be watched by rewriting. Where not (such as
    /// `*p++ += 2`, whose lvalue has an effect), no objective is made for it.
    pub rewritable: bool,
}

impl Root {
    /// Every place that evaluates it.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        std::iter::once(self.point).chain(self.copies.iter().copied())
    }
}

/// The use of a root's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootKind {
    /// As a value.
    Value,
    /// The right side of `variable = expression`, a plain assignment to a named variable or
    /// parameter of scalar type, initialisers included.
    Assigned {
        /// The register or memory local that is assigned; `None` for a global.
        local: Option<LocalId>,
        /// The address that is assigned, for one in memory.
        addr: Option<ExprId>,
    },
    /// To reach memory that is written.
    Address,
    /// The new value in `x op= e`, `x++` and the like. There is no text for it alone.
    Update,
    /// A condition of a decision.
    Condition {
        /// The decision.
        decision: DecisionId,
        /// The condition.
        condition: ConditionId,
    },
}

/// A part of a root's text that is evaluated once, before the root's other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Its text.
    pub span: Span,
    /// The register temporary that holds its value in the IR.
    pub temp: LocalId,
}
