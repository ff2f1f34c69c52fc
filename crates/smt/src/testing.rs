//! Shared parts of the unit tests: random models, exhaustive inputs, proofs of equality.

use crate::bitblast::BitBlastSolver;
use crate::bitblast::SatBackend;
use crate::solver::{Answer, Limits, Solver};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::Term;
use crate::terms::value::{ArrayValue, Model, Value};
use lydian_base::Rng;
use std::sync::Arc;

fn value_of(sort: Sort, bits: u64) -> Value {
    match sort {
        Sort::Array { index, element } => Value::Array(Arc::new(ArrayValue {
            default: 0,
            elements: (0..1 << index)
                .map(|i| (i, bits >> (i * element as u64) & ((1 << element) - 1)))
                .collect(),
        })),
        _ => Value::from_u64(sort, bits),
    }
}

fn bits_of(sort: Sort) -> u32 {
    match sort {
        Sort::Array { index, element } => element << index,
        _ => sort.width(),
    }
}

/// Evaluates two terms on every input if there are at most 2^16, else on that many random ones.
pub(crate) fn assert_equal_on_all_inputs(p: &mut TermPool, a: Term, b: Term) {
    let mut vars = p.vars_of(a).to_vec();
    vars.extend(p.vars_of(b).iter());
    vars.sort();
    vars.dedup();
    let total: u32 = vars.iter().map(|&v| bits_of(p.sort(v))).sum();
    let mut random = Rng::new(1);
    let mut e = Evaluator::new();
    for case in 0..1u64 << total.min(14) {
        let mut bits = case;
        let values = vars.iter().map(|&v| {
            let n = bits_of(p.sort(v));
            let own = if total > 14 { random.next_u64() } else { bits & ((1 << n) - 1) };
            bits >>= n.min(63);
            (v, value_of(p.sort(v), own))
        });
        let m = Model::from_values(values.collect());
        let (x, y) = (e.eval(p, &m, a), e.eval(p, &m, b));
        assert_eq!(x, y, "{} and {} differ in {m:?}", p.show(a), p.show(b));
    }
}

/// Proves two terms equal by refutation, without rewriting the question.
pub(crate) fn assert_proved_equal(p: &mut TermPool, a: Term, b: Term) {
    let before = p.set_rewriting(false);
    let differ = p.neq(a, b);
    let answer = BitBlastSolver::new(SatBackend::Batsat).check(p, &[differ], &Limits::none());
    p.set_rewriting(before);
    match answer {
        Answer::Unsat { .. } => {}
        other => panic!("{} and {}: {other}", p.show(a), p.show(b)),
    }
}
