//! Statements.

use super::decl::{FunctionId, LabelId, TypedefId, VarId};
use super::expr::ExprId;
use lydian_base::{Span, entity_id};

entity_id! {
    /// A statement of a translation unit.
    StmtId, "s"
}

/// A statement and where it stands.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its kind.
    pub kind: StmtKind,
    /// From its first token to the end of its last one. Clang leaves out the `;` that ends
    /// expression statements, `return`, `goto`, `break`, `continue` and `do … while (…)`, and
    /// takes in the one of declarations and null statements.
    pub span: Span,
}

/// One declaration of a declaration statement.
#[derive(Clone, Debug)]
pub enum LocalDecl {
    /// A variable: its storage says whether it is automatic, static or `extern`.
    Var(VarId),
    /// A typedef of a type with variable length arrays: their bounds are evaluated.
    Typedef(TypedefId),
    /// A function: a prototype, or a definition that clang saw as one.
    Function(FunctionId),
    /// Another type or a static assertion: nothing is executed.
    NoEffect,
}

/// An operand of inline assembly.
#[derive(Clone, Debug)]
pub struct AssemblyOperand {
    /// Its constraint, such as `=r`, `+m` or `0`.
    pub constraint: Box<str>,
    /// An lvalue for an output, or for an input in memory; else a value.
    pub expr: ExprId,
}

/// Inline assembly.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The instructions, as the string literals write them; escapes are left alone.
    pub template: Box<str>,
    /// Whether there is any `:`; without, it says nothing of what it changes.
    pub extended: bool,
    /// The operands that it writes, or reads and writes.
    pub outputs: Vec<AssemblyOperand>,
    /// The operands that it reads.
    pub inputs: Vec<AssemblyOperand>,
    /// Whether `memory` is among what it clobbers.
    pub clobbers_memory: bool,
    /// The labels that `asm goto` may go to.
    pub labels: Vec<Box<str>>,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `{ … }`.
    Compound(Vec<StmtId>),
    /// `int a = 1, b;`.
    Decl(Vec<LocalDecl>),
    /// An expression evaluated for its effects.
    Expr(ExprId),
    /// `;`.
    Null,
    /// `if`.
    If {
        /// The condition.
        condition: ExprId,
        /// Run when it is not zero.
        then: StmtId,
        /// Run when it is zero.
        otherwise: Option<StmtId>,
    },
    /// `while`.
    While {
        /// The condition.
        condition: ExprId,
        /// The body.
        body: StmtId,
    },
    /// `do … while`.
    Do {
        /// The body.
        body: StmtId,
        /// The condition.
        condition: ExprId,
    },
    /// `for`.
    For {
        /// A declaration or expression statement.
        init: Option<StmtId>,
        /// The condition; absent means true.
        condition: Option<ExprId>,
        /// Evaluated after each turn and after `continue`.
        step: Option<ExprId>,
        /// The body.
        body: StmtId,
    },
    /// `switch`. Its cases are found in the body, at any depth but not in inner switches.
    Switch {
        /// The promoted value.
        value: ExprId,
        /// The body.
        body: StmtId,
    },
    /// `case low:` or GNU's `case low ... high:`.
    Case {
        /// The value, or the range's first; folded, converted to the switch's type by clang.
        low: i128,
        /// The range's last, included; equal to `low` for a plain case.
        high: i128,
        /// The expression that gives `low`, for its text.
        low_expr: ExprId,
        /// The labelled statement (which may be a `Case` again).
        body: StmtId,
    },
    /// `default:`.
    Default(StmtId),
    /// `name:`.
    Label {
        /// Which label.
        label: LabelId,
        /// The labelled statement.
        body: StmtId,
    },
    /// `goto name;`.
    Goto(LabelId),
    /// `goto *p;`.
    IndirectGoto(ExprId),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<ExprId>),
    /// A statement with attributes, such as `[[fallthrough]];`.
    Attributed(StmtId),
    /// `asm`.
    Asm(Box<Assembly>),
    /// Anything else, with clang's name for it.
    Unsupported(Box<str>),
}
