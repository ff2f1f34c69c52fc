//! Text of terms for messages, of bounded length.

use crate::terms::pool::TermPool;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use std::fmt;

/// The most nodes of a text; the rest is cut.
const MAX_NODES: usize = 200;

/// A term as text, from [`TermPool::show`].
pub struct TermText<'p> {
    pool: &'p TermPool,
    term: Term,
}

impl TermPool {
    /// The term as text; parts past 200 nodes are written `…`.
    pub fn show(&self, term: Term) -> TermText<'_> {
        TermText { pool: self, term }
    }
}

/// A part of the text that is still to be written.
enum Piece {
    Text(&'static str),
    Term(Term),
}

impl fmt::Display for TermText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut budget = MAX_NODES;
        let mut stack = vec![Piece::Term(self.term)];
        while let Some(piece) = stack.pop() {
            let t = match piece {
                Piece::Text(s) => {
                    f.write_str(s)?;
                    continue;
                }
                Piece::Term(t) => t,
            };
            if budget == 0 {
                f.write_str("…")?;
                continue;
            }
            budget -= 1;
            match self.pool.node(t) {
                Node::Var(_) => f.write_str(self.pool.var_name(t).unwrap_or("?"))?,
                Node::Table(id) => write!(f, "table[{}]", self.pool.table(id).len())?,
                Node::Bool(_) | Node::Bits(_) | Node::Wide(_) | Node::Float(_) => {
                    if let Some(v) = self.pool.is_const(t) {
                        write!(f, "{v}")?;
                    }
                }
                node => {
                    f.write_str("(")?;
                    self.write_head(f, t, node)?;
                    stack.push(Piece::Text(")"));
                    for c in node.children().iter().rev() {
                        stack.push(Piece::Term(*c));
                        stack.push(Piece::Text(" "));
                    }
                }
            }
        }
        Ok(())
    }
}

impl TermText<'_> {
    fn write_head(&self, f: &mut fmt::Formatter<'_>, t: Term, node: Node) -> fmt::Result {
        match node {
            Node::Un(op, _) => match op {
                UnOp::Not => f.write_str("not"),
                UnOp::ZExt | UnOp::SExt | UnOp::FpToSigned | UnOp::FpToUnsigned => {
                    write!(f, "{}{}", lower(&op), self.pool.width(t))
                }
                UnOp::FpRound(mode) => write!(f, "fpround{}", mode.smt_name()),
                _ => f.write_str(&lower(&op)),
            },
            Node::Bin(op, ..) => match op {
                BinOp::Eq => f.write_str("="),
                _ => f.write_str(&lower(&op)),
            },
            Node::Ite(..) => f.write_str("ite"),
            Node::Store(..) => f.write_str("store"),
            Node::Fma(..) => f.write_str("fma"),
            Node::Extract(_, low) => {
                write!(f, "extract{}:{low}", low + self.pool.width(t) - 1)
            }
            _ => Ok(()),
        }
    }
}

fn lower(op: &impl fmt::Debug) -> String {
    format!("{op:?}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::sort::Sort;

    #[test]
    fn a_term_with_exponentially_many_paths_has_a_short_text() {
        let mut p = TermPool::new();
        let x = p.var("x", Sort::BitVec(32));
        let mut t = x;
        for _ in 0..1000 {
            t = p.mul(t, t);
        }
        assert!(p.show(t).to_string().len() < 4000);
    }

    #[test]
    fn text_names_operators_and_variables() {
        let mut p = TermPool::new();
        let (x, k) = (p.var("x", Sort::BitVec(32)), p.bv(32, 7));
        let t = p.ult(x, k);
        assert_eq!(p.show(t).to_string(), "(ult x 7:32)");
    }
}
