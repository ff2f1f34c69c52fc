//! Texts that know how tightly their outermost operator binds.

use super::scan;
use crate::program::expr::BinOp;

/// Levels of C's operators; higher ones bind tighter.
pub(super) mod level {
    pub(in super::super) const COMMA: u8 = 1;
    pub(in super::super) const ASSIGN: u8 = 2;
    pub(in super::super) const CONDITIONAL: u8 = 3;
    pub(in super::super) const LOGIC_OR: u8 = 4;
    pub(in super::super) const LOGIC_AND: u8 = 5;
    pub(in super::super) const OR: u8 = 6;
    pub(in super::super) const XOR: u8 = 7;
    pub(in super::super) const AND: u8 = 8;
    pub(in super::super) const EQUAL: u8 = 9;
    pub(in super::super) const LESS: u8 = 10;
    pub(in super::super) const SHIFT: u8 = 11;
    pub(in super::super) const ADD: u8 = 12;
    pub(in super::super) const MUL: u8 = 13;
    pub(in super::super) const PREFIX: u8 = 15;
    pub(in super::super) const PRIMARY: u8 = 16;
}

/// The level of a binary operator.
pub(super) const fn binary_level(op: BinOp) -> u8 {
    match op {
        BinOp::And => level::AND,
        BinOp::Or => level::OR,
        BinOp::Xor => level::XOR,
        BinOp::AddU | BinOp::AddS | BinOp::SubU | BinOp::SubS | BinOp::FAdd | BinOp::FSub => {
            level::ADD
        }
        BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS => level::SHIFT,
        _ => level::MUL,
    }
}

/// A text and the level of its outermost operator.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    level: u8,
    /// Whether its value is 0 or 1 by its form.
    pub(super) is_truth: bool,
}

impl Text {
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Self::at(level::PRIMARY, text.into())
    }

    /// A text whose outermost operator is of a level.
    pub(super) fn at(level: u8, text: String) -> Self {
        let compares = matches!(level, level::EQUAL | level::LESS);
        let connects = matches!(level, level::LOGIC_AND | level::LOGIC_OR);
        let is_not = level == level::PREFIX && text.starts_with('!');
        Self { is_truth: compares || connects || is_not, level, text }
    }

    /// A number, which may have a sign.
    pub(super) fn number(text: String) -> Self {
        let level = if text.starts_with('-') { level::PREFIX } else { level::PRIMARY };
        Self::at(level, text)
    }

    /// A text of the user's, which may be anything.
    pub(super) fn foreign(text: String) -> Self {
        let mut found = Self::at(scan::outermost(&text), text);
        found.is_truth |= scan::is_truth(&found.text);
        found
    }

    /// The text as a number that is 0 or 1.
    pub(super) fn as_truth(&self) -> Self {
        if self.is_truth {
            return self.clone();
        }
        Self::at(level::PREFIX, format!("!!{}", self.within(level::PREFIX)))
    }

    /// The text where an operator of this level takes an operand.
    pub(super) fn within(&self, level: u8) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    pub(super) fn prefix(symbol: &str, operand: &Self) -> Self {
        let inner = operand.within(level::PREFIX);
        // `- -x` must not grow together.
        let space = if symbol == "-" && inner.starts_with('-') { " " } else { "" };
        Self::at(level::PREFIX, format!("{symbol}{space}{inner}"))
    }

    pub(super) fn postfix(operand: &Self, rest: &str) -> Self {
        Self::primary(format!("{}{rest}", operand.within(level::PRIMARY)))
    }

    /// `a symbol b`. Compilers warn of some mixtures without parentheses; so they get them.
    pub(super) fn infix(a: &Self, symbol: &str, b: &Self, at: u8) -> Self {
        let confuses = |operand: &Self| {
            let bitwise = level::OR..=level::AND;
            let mixed = bitwise.contains(&at) || bitwise.contains(&operand.level);
            let logic = at == level::LOGIC_OR && operand.level == level::LOGIC_AND;
            let shift = at == level::SHIFT || operand.level == level::SHIFT;
            let compares = |level| matches!(level, level::EQUAL | level::LESS);
            let twice = compares(at) && compares(operand.level);
            let differs = operand.level != at && operand.level < level::PREFIX;
            logic || twice || (differs && (mixed || shift) && at > level::LOGIC_AND)
        };
        let left = if confuses(a) { a.within(level::PREFIX) } else { a.within(at) };
        let right = if confuses(b) { b.within(level::PREFIX) } else { b.within(at + 1) };
        Self::at(at, format!("{left} {symbol} {right}"))
    }
}
