//! Terms as SMT-LIB 2.6 text.
//!
//! Every inner node gets a definition of its own, so that text is linear in the number of nodes
//! however much they share. Symbols are `v<id>` and definitions `t<id>`; names stand in comments.
//!
//! Two operators of Lydian are total where SMT-LIB leaves them open, and are spelled out: the bits
//! of a float are a constant constrained to encode it, and conversions to integers are guarded.

use crate::terms::pool::TermPool;
use crate::terms::sort::{FloatSort, Sort};
use crate::terms::term::{Node, Term, UnOp};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// Writes definitions of terms, each once.
#[derive(Default)]
pub(crate) struct Writer {
    defined: FxHashSet<Term>,
}

/// A whole query as a script.
pub(crate) fn script(pool: &TermPool, assumptions: &[Term]) -> String {
    let mut writer = Writer::default();
    let mut out = String::from("(set-logic ALL)\n");
    let cone = cone(pool, assumptions);
    writer.define(pool, &cone, &mut out);
    constrain(pool, &cone, &mut out);
    for &a in assumptions {
        let _ = writeln!(out, "(assert {})", reference(pool, a));
    }
    out.push_str("(check-sat)\n");
    out
}

/// Every term that the roots depend on, operands before users.
pub(crate) fn cone(pool: &TermPool, roots: &[Term]) -> Vec<Term> {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut stack = roots.to_vec();
    while let Some(t) = stack.pop() {
        if seen.insert(t) {
            stack.extend(pool.children(t));
        }
    }
    let mut all: Vec<Term> = seen.into_iter().collect();
    // Ids grow from operands to users.
    all.sort_unstable();
    all
}

pub(crate) fn sort_text(s: Sort) -> String {
    match s {
        Sort::Bool => "Bool".into(),
        Sort::BitVec(w) => format!("(_ BitVec {w})"),
        Sort::Float(FloatSort::F32) => "(_ FloatingPoint 8 24)".into(),
        Sort::Float(FloatSort::F64) => "(_ FloatingPoint 11 53)".into(),
        Sort::Array { index, element } => {
            format!("(Array (_ BitVec {index}) (_ BitVec {element}))")
        }
    }
}

fn bits_text(w: u32, v: crate::terms::wide::Wide) -> String {
    if w.is_multiple_of(4) {
        format!("#x{:0>n$}", format!("{v:x}"), n = w as usize / 4)
    } else {
        let digits: String = (0..w).rev().map(|i| if v.bit(i) { '1' } else { '0' }).collect();
        format!("#b{digits}")
    }
}

fn to_fp(f: FloatSort) -> String {
    format!("(_ to_fp {} {})", f.exponent_bits(), f.significand_bits())
}

fn float_text(f: FloatSort, bits: u64) -> String {
    format!("({} {})", to_fp(f), bits_text(f.width(), crate::terms::wide::Wide::from_u64(bits)))
}

/// The text that stands for a term once it is defined.
pub(crate) fn reference(pool: &TermPool, t: Term) -> String {
    match pool.node(t) {
        Node::Bool(b) => b.to_string(),
        Node::Bits(_) | Node::Wide(_) => {
            bits_text(pool.width(t), pool.const_bits(t).expect("a constant"))
        }
        Node::Float(v) => float_text(pool.float_sort(t), v),
        Node::Var(_) => format!("v{}", t.index()),
        _ => format!("t{}", t.index()),
    }
}

impl Writer {
    /// Declares and defines the terms of a cone that were not defined before.
    pub(crate) fn define(&mut self, pool: &TermPool, cone: &[Term], out: &mut String) {
        for &t in cone {
            if !self.defined.insert(t) {
                continue;
            }
            let sort = sort_text(pool.sort(t));
            match pool.node(t) {
                Node::Bool(_) | Node::Bits(_) | Node::Wide(_) | Node::Float(_) => {}
                Node::Var(_) => {
                    let name: String = pool
                        .var_name(t)
                        .unwrap_or_default()
                        .chars()
                        .map(|c| if c.is_control() { '?' } else { c })
                        .collect();
                    let _ = writeln!(out, "(declare-const v{} {sort}) ; {name}", t.index());
                }
                Node::Un(UnOp::FpToBits, _) => {
                    let _ = writeln!(out, "(declare-const t{} {sort})", t.index());
                }
                node => {
                    let _ = write!(out, "(define-fun t{} () {sort} ", t.index());
                    body(pool, t, node, out);
                    out.push_str(")\n");
                }
            }
        }
    }
}

/// Asserts what the constants for bits of floats in a cone are.
pub(crate) fn constrain(pool: &TermPool, cone: &[Term], out: &mut String) {
    for &t in cone {
        if let Node::Un(UnOp::FpToBits, a) = pool.node(t) {
            let f = pool.float_sort(a);
            let a = reference(pool, a);
            let nan = bits_text(f.width(), crate::terms::wide::Wide::from_u64(f.nan_bits()));
            let _ = writeln!(
                out,
                "(assert (= ({to_fp} t{i}) {a}))\n(assert (=> (fp.isNaN {a}) (= t{i} {nan})))",
                to_fp = to_fp(f),
                i = t.index()
            );
        }
    }
}

fn body(pool: &TermPool, t: Term, node: Node, out: &mut String) {
    let r = |t| reference(pool, t);
    let w = pool.width(t);
    let _ = match node {
        Node::Un(op, a) => {
            let text = unary(pool, op, a, t);
            write!(out, "{text}")
        }
        Node::Bin(op, a, b) => {
            let rounding = if op.rounds() { " RNE" } else { "" };
            write!(out, "({}{rounding} {} {})", op.smt_name(), r(a), r(b))
        }
        Node::Ite(a, b, c) => write!(out, "(ite {} {} {})", r(a), r(b), r(c)),
        Node::Store(a, b, c) => write!(out, "(store {} {} {})", r(a), r(b), r(c)),
        Node::Fma(a, b, c) => write!(out, "(fp.fma RNE {} {} {})", r(a), r(b), r(c)),
        Node::Extract(a, low) => write!(out, "((_ extract {} {low}) {})", low + w - 1, r(a)),
        Node::Table(id) => {
            let text = table(pool, pool.table(id), pool.sort(t));
            write!(out, "{text}")
        }
        _ => write!(out, "{}", r(t)),
    };
}

fn table(pool: &TermPool, elements: &[u64], sort: Sort) -> String {
    let Sort::Array { index, element } = sort else { return String::new() };
    debug_assert!(!pool.is_empty());
    let bits = |w, v| bits_text(w, crate::terms::wide::Wide::from_u64(v));
    let mut out = "(store ".repeat(elements.len());
    let _ = write!(out, "((as const {}) {})", sort_text(sort), bits(element, 0));
    for (i, &v) in elements.iter().enumerate() {
        let _ = write!(out, " {} {})", bits(index, i as u64), bits(element, v));
    }
    out
}

fn unary(pool: &TermPool, op: UnOp, a: Term, t: Term) -> String {
    let x = reference(pool, a);
    let w = pool.width(t);
    let simple = |name: &str| format!("({name} {x})");
    let float = || match pool.sort(t) {
        Sort::Float(f) => (f.exponent_bits(), f.significand_bits()),
        _ => (0, 0),
    };
    match op {
        UnOp::Not => simple("not"),
        UnOp::BvNot => simple("bvnot"),
        UnOp::BvNeg => simple("bvneg"),
        UnOp::ZExt => format!("((_ zero_extend {}) {x})", w - pool.width(a)),
        UnOp::SExt => format!("((_ sign_extend {}) {x})", w - pool.width(a)),
        UnOp::ConstArray => format!("((as const {}) {x})", sort_text(pool.sort(t))),
        UnOp::FpNeg => simple("fp.neg"),
        UnOp::FpAbs => simple("fp.abs"),
        UnOp::FpSqrt => simple("fp.sqrt RNE"),
        UnOp::FpRound(mode) => simple(&format!("fp.roundToIntegral {}", mode.smt_name())),
        UnOp::FpIsNan => simple("fp.isNaN"),
        UnOp::FpIsInf => simple("fp.isInfinite"),
        UnOp::FpFromBits => format!("((_ to_fp {} {}) {x})", float().0, float().1),
        UnOp::FpToFp | UnOp::FpFromSigned => {
            format!("((_ to_fp {} {}) RNE {x})", float().0, float().1)
        }
        UnOp::FpFromUnsigned => {
            format!("((_ to_fp_unsigned {} {}) RNE {x})", float().0, float().1)
        }
        UnOp::FpToBits => format!("t{}", t.index()),
        UnOp::FpToSigned | UnOp::FpToUnsigned => {
            to_integer(pool.float_sort(a), w, op == UnOp::FpToSigned, &x)
        }
    }
}

/// A conversion to an integer with what Lydian says where the number does not fit.
fn to_integer(f: FloatSort, w: u32, signed: bool, x: &str) -> String {
    // The truncated value is what must fit.
    let truncated = format!("(fp.roundToIntegral RTZ {x})");
    let limit = |v: f64| match f {
        FloatSort::F32 => float_text(f, (v as f32).to_bits() as u64),
        FloatSort::F64 => float_text(f, v.to_bits()),
    };
    let (low, high) = if signed {
        (-2f64.powi(w as i32 - 1), 2f64.powi(w as i32 - 1))
    } else {
        (0.0, 2f64.powi(w as i32))
    };
    // Powers that binary32 cannot hold become infinities, which no number passes; they are left
    // out where the format cannot reach them, but infinity itself must not fit.
    let fits = format!(
        "(and (fp.leq {} {truncated}) (fp.lt {truncated} {}) (not (fp.isInfinite {x})))",
        limit(low),
        limit(high)
    );
    let name = if signed { "fp.to_sbv" } else { "fp.to_ubv" };
    let top = bits_text(w, crate::terms::wide::Wide::from_u64(1).shl(w - 1, w));
    format!("(ite {fits} ((_ {name} {w}) RTZ {x}) {top})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_shared_term_is_linear_in_its_nodes() {
        let mut p = TermPool::new();
        let mut t = p.var("x", Sort::BitVec(32));
        for _ in 0..1000 {
            t = p.mul(t, t);
        }
        let zero = p.bv(32, 0);
        let a = p.eq(t, zero);
        let text = script(&p, &[a]);
        assert!(text.len() < 100_000);
        assert!(text.starts_with("(set-logic ALL)\n(declare-const v2 (_ BitVec 32)) ; x\n"));
    }
}
