//! Trees as text, which reads back as the same trees.

use std::fmt::{self, Display, Formatter};

use super::syntax::{
    Duty, File, Item, LabelRef, LabelTree, Named, PathTree, PointKind, PointRef, SequenceTree,
    Term, TermKind, Tree, TreeKind,
};
use crate::hyper::FormulaOp;

impl Display for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(f, "function {};", name.text),
            Self::Label(name, label) => write!(f, "label {} = {label};", name.text),
            Self::Objective(name, tree) => write!(f, "objective {} = {tree};", name.text),
            Self::Path(name, path) => write!(f, "path {} = {path};", name.text),
        }
    }
}

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TreeKind::Label(label) => write!(f, "{label}"),
            TreeKind::Sequence(sequence) => write!(f, "{sequence}"),
            TreeKind::Guard(inner, guard) => write!(f, "< {inner} | {guard} >"),
            TreeKind::All(parts) => list(f, " . ", parts, |part| {
                matches!(part.kind, TreeKind::All(_) | TreeKind::Any(_))
            }),
            TreeKind::Any(parts) => {
                list(f, " + ", parts, |part| matches!(part.kind, TreeKind::Any(_)))
            }
        }
    }
}

fn list(
    f: &mut Formatter<'_>,
    mark: &str,
    parts: &[Tree],
    apart: impl Fn(&Tree) -> bool,
) -> fmt::Result {
    for (position, part) in parts.iter().enumerate() {
        f.write_str(if position > 0 { mark } else { "" })?;
        if apart(part) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}

impl Display for LabelTree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.label {
            LabelRef::Named(name) => write!(f, "{name}")?,
            LabelRef::At(point, predicate) => write!(f, "({point}, {predicate})")?,
        }
        if self.bindings.is_empty() {
            return Ok(());
        }
        f.write_str(" |> {")?;
        for (position, (name, term)) in self.bindings.iter().enumerate() {
            let mark = if position > 0 { ";" } else { "" };
            write!(f, "{mark} {} <- {term}", name.text)?;
        }
        f.write_str(" }")
    }
}

impl Display for Named {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            write!(f, "{}::", function.text)?;
        }
        f.write_str(&self.name.text)
    }
}

impl Display for PathTree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().enumerate() {
            if position > 0 {
                let gap = self.gaps.get(position - 1).copied().unwrap_or(false);
                f.write_str(if gap { " -> ... -> " } else { " -> " })?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

impl Display for PointRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            write!(f, "{}::", function.text)?;
        }
        match &self.kind {
            PointKind::Label(name) => f.write_str(name),
            PointKind::Entry => f.write_str("entry"),
            PointKind::Line(None, line) => write!(f, "line {line}"),
            PointKind::Line(Some(file), line) => write!(f, "\"{file}\":{line}"),
        }
    }
}

impl Display for SequenceTree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.activation { "[activation " } else { "[" })?;
        let mut passages = self.passages.iter();
        for (position, label) in self.labels.iter().enumerate() {
            if position > 0 {
                passage(f, passages.next().map_or(&[], Vec::as_slice))?;
            }
            write!(f, "{label}")?;
        }
        f.write_str("]")
    }
}

fn passage(f: &mut Formatter<'_>, duties: &[Duty]) -> fmt::Result {
    if duties.is_empty() {
        return f.write_str(" -> ");
    }
    f.write_str(" -(")?;
    for (position, duty) in duties.iter().enumerate() {
        f.write_str(if position > 0 { "; " } else { "" })?;
        match &duty.holds {
            Some(holds) => write!(f, "pc == {} => {holds}", duty.point)?,
            None => write!(f, "pc != {}", duty.point)?,
        }
    }
    f.write_str(")-> ")
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// The binding strength of operators. A term without a binary operator binds tightest.
const fn level(op: FormulaOp) -> u8 {
    match op {
        FormulaOp::Or => 1,
        FormulaOp::And => 2,
        FormulaOp::Eq | FormulaOp::Ne => 3,
        FormulaOp::Lt | FormulaOp::Le | FormulaOp::Gt | FormulaOp::Ge => 4,
        FormulaOp::Add | FormulaOp::Sub => 5,
        FormulaOp::Mul | FormulaOp::Div | FormulaOp::Rem => 6,
    }
}

const UNARY: u8 = 7;
const POSTFIX: u8 = 8;

impl FormulaOp {
    /// The operator as C writes it.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
        }
    }
}

impl Term {
    /// Writes the term, in parentheses if its operator is of a lower level than `least`.
    fn write(&self, f: &mut Formatter<'_>, least: u8) -> fmt::Result {
        let own = match &self.kind {
            TermKind::Binary(op, ..) => level(*op),
            TermKind::Not(_) | TermKind::Negate(_) | TermKind::Deref(_) => UNARY,
            _ => POSTFIX,
        };
        if own < least {
            f.write_str("(")?;
        }
        match &self.kind {
            TermKind::Number(number) => write!(f, "{number}")?,
            TermKind::Name(name) => f.write_str(name)?,
            TermKind::Member(a, name) => {
                a.write(f, POSTFIX)?;
                write!(f, ".{name}")?;
            }
            TermKind::Arrow(a, name) => {
                a.write(f, POSTFIX)?;
                write!(f, "->{name}")?;
            }
            TermKind::Index(a, index) => {
                a.write(f, POSTFIX)?;
                f.write_str("[")?;
                index.write(f, 0)?;
                f.write_str("]")?;
            }
            TermKind::Deref(a) => unary(f, "*", a)?,
            TermKind::Not(a) => unary(f, "!", a)?,
            TermKind::Negate(a) => unary(f, "-", a)?,
            TermKind::Binary(op, a, b) => {
                a.write(f, own)?;
                write!(f, " {} ", op.symbol())?;
                b.write(f, own + 1)?;
            }
        }
        if own < least {
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// Writes `- (-a)` with parentheses, since `--` could become a token.
fn unary(f: &mut Formatter<'_>, symbol: &str, a: &Term) -> fmt::Result {
    f.write_str(symbol)?;
    let again = matches!(a.kind, TermKind::Not(_) | TermKind::Negate(_) | TermKind::Deref(_));
    a.write(f, if again { POSTFIX } else { UNARY })
}
