//! Random queries on which CaDiCaL, batsat, Z3 (where it is installed) and the evaluator must agree.
//!
//! Seeds are fixed. A failure names the query's number and shows its terms.

use lydian_smt::{
    Answer, BitBlastSolver, ChainConfig, Evaluator, FloatSort, Limits, Model, Reason, SatBackend,
    Solver, Sort, Term, TermPool, Value, Z3Solver, Z3Use, standard_chain,
};
use std::time::Duration;

use crate::random::Random;

/// A choice of constructors for one random term; replayed twice to build it with and without
/// rewriting.
struct Generator {
    random: Random,
    floats: bool,
}

const W: u32 = 6;

impl Generator {
    fn bits(&mut self, p: &mut TermPool, depth: u32) -> Term {
        if depth == 0 || self.random.below(8) == 0 {
            return match self.random.below(3) {
                0 => {
                    let k = [0, 1, 2, 31, 32, 63, 5][self.random.below(7) as usize];
                    p.bv(W, k)
                }
                1 => p.var("x", Sort::BitVec(W)),
                _ => p.var("y", Sort::BitVec(W)),
            };
        }
        let d = depth - 1;
        match self.random.below(if self.floats { 24 } else { 22 }) {
            0 => self.binary(p, d, TermPool::add),
            1 => self.binary(p, d, TermPool::sub),
            2 => self.binary(p, d, TermPool::mul),
            3 => self.binary(p, d, TermPool::udiv),
            4 => self.binary(p, d, TermPool::urem),
            5 => self.binary(p, d, TermPool::sdiv),
            6 => self.binary(p, d, TermPool::srem),
            7 => self.binary(p, d, TermPool::bvand),
            8 => self.binary(p, d, TermPool::bvor),
            9 => self.binary(p, d, TermPool::bvxor),
            10 => self.binary(p, d, TermPool::shl),
            11 => self.binary(p, d, TermPool::lshr),
            12 => self.binary(p, d, TermPool::ashr),
            13 => {
                let a = self.bits(p, d);
                p.neg(a)
            }
            14 => {
                let a = self.bits(p, d);
                p.bvnot(a)
            }
            15 | 16 => {
                let c = self.truth(p, d);
                let (a, b) = (self.bits(p, d), self.bits(p, d));
                p.ite(c, a, b)
            }
            17 => {
                let low = self.random.below(W as u64) as u32;
                let high = low + self.random.below((W - low) as u64) as u32;
                let a = self.bits(p, d);
                let e = p.extract(high, low, a);
                if self.random.below(2) == 0 { p.zext(e, W) } else { p.sext(e, W) }
            }
            18 => {
                let cut = 1 + self.random.below(W as u64 - 1) as u32;
                let (a, b) = (self.bits(p, d), self.bits(p, d));
                let (h, l) = (p.extract(W - 1, cut, a), p.extract(cut - 1, 0, b));
                p.concat(h, l)
            }
            19 | 20 => {
                let mut a = p.var("a", Sort::Array { index: W, element: W });
                if self.random.below(3) == 0 {
                    a = p.const_table(W, W, &[3, 1, 4, 1, 5, 9, 2, 6]);
                }
                for _ in 0..self.random.below(3) {
                    let (i, v) = (self.bits(p, d), self.bits(p, d));
                    a = p.store(a, i, v);
                }
                let i = self.bits(p, d);
                p.select(a, i)
            }
            21 => {
                let (a, b) = (self.bits(p, d), self.bits(p, d));
                let (a, b) = (p.zext(a, 70), p.sext(b, 70));
                let m = p.mul(a, b);
                p.extract(66 + W - 3, 64 + 1, m).pipe(|t| p.resize_unsigned(t, W))
            }
            22 => {
                let f = self.float(p, d);
                p.fp_to_signed(W, f)
            }
            _ => {
                let f = self.float(p, d);
                let b = p.fp_to_bits(f);
                p.extract(31, 32 - W, b)
            }
        }
    }

    fn float(&mut self, p: &mut TermPool, depth: u32) -> Term {
        if depth == 0 || self.random.below(4) == 0 {
            return match self.random.below(3) {
                0 => p.var("f", Sort::F32),
                1 => {
                    let k =
                        [0.0, -0.0, 1.0, 2.5, -3.0, f32::INFINITY][self.random.below(6) as usize];
                    p.f32(k)
                }
                _ => {
                    let a = self.bits(p, depth.saturating_sub(1));
                    p.fp_from_signed(FloatSort::F32, a)
                }
            };
        }
        let d = depth - 1;
        let (a, b) = (self.float(p, d), self.float(p, d));
        match self.random.below(6) {
            0 | 1 => p.fp_add(a, b),
            2 => p.fp_neg(a),
            3 => p.fp_abs(a),
            4 => p.fp_round(lydian_smt::RoundingMode::TowardZero, a),
            _ => {
                let c = self.truth(p, d);
                p.ite(c, a, b)
            }
        }
    }

    fn binary(
        &mut self,
        p: &mut TermPool,
        d: u32,
        f: impl Fn(&mut TermPool, Term, Term) -> Term,
    ) -> Term {
        let (a, b) = (self.bits(p, d), self.bits(p, d));
        f(p, a, b)
    }

    fn truth(&mut self, p: &mut TermPool, depth: u32) -> Term {
        if depth == 0 {
            return p.var("c", Sort::Bool);
        }
        let d = depth - 1;
        match self.random.below(if self.floats { 10 } else { 8 }) {
            0 => self.binary(p, d, TermPool::eq),
            1 | 2 => self.binary(p, d, TermPool::ult),
            3 | 4 => self.binary(p, d, TermPool::slt),
            5 => {
                let (a, b) = (self.truth(p, d), self.truth(p, d));
                p.and(a, b)
            }
            6 => {
                let a = self.truth(p, d);
                p.not(a)
            }
            7 => {
                let (a, b) = (self.truth(p, d), self.truth(p, d));
                p.xor(a, b)
            }
            8 => {
                let (a, b) = (self.float(p, d), self.float(p, d));
                p.fp_lt(a, b)
            }
            _ => {
                let (a, b) = (self.float(p, d), self.float(p, d));
                p.fp_eq(a, b)
            }
        }
    }
}

trait Pipe: Sized {
    fn pipe<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}

impl Pipe for Term {}

fn generate(p: &mut TermPool, seed: u64, floats: bool, rewriting: bool) -> Vec<Term> {
    let before = p.set_rewriting(rewriting);
    let mut g = Generator { random: Random::new(seed), floats };
    let n = 1 + g.random.below(4);
    let terms = (0..n).map(|_| g.truth(p, 4)).collect();
    p.set_rewriting(before);
    terms
}

#[test]
fn rewritten_terms_evaluate_like_plain_ones() {
    let mut e = Evaluator::new();
    for seed in 0..2000 {
        let mut p = TermPool::new();
        let floats = seed % 3 == 0;
        let plain = generate(&mut p, seed, floats, false);
        let rewritten = generate(&mut p, seed, floats, true);
        let mut r = Random::new(seed ^ 0xabcd);
        for _ in 0..8 {
            let values = ["x", "y", "c", "f"].iter().filter_map(|n| p.find_var(n));
            let m = Model::from_values(
                values.map(|v| (v, Value::from_u64(p.sort(v), r.next()))).collect(),
            );
            for (a, b) in plain.iter().zip(&rewritten) {
                let (x, y) = (e.eval(&p, &m, *a), e.eval(&p, &m, *b));
                assert_eq!(x, y, "seed {seed}: {} and {}", p.show(*a), p.show(*b));
            }
        }
    }
}

/// Whether the answer is sat; panics for internal errors, `None` for other unknowns.
pub(crate) fn decided(name: &str, seed: u64, answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Sat(_) => Some(true),
        Answer::Unsat { .. } => Some(false),
        Answer::Unknown(r) if r.is_internal_error() => panic!("{name} on {seed}: {r}"),
        Answer::Unknown(_) => None,
    }
}

#[test]
fn the_sat_back_ends_and_the_chain_agree_on_plain_and_rewritten_queries() {
    let chain = ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() };
    let mut p = TermPool::new();
    let mut solvers: Vec<(&str, Box<dyn Solver>)> = vec![
        ("cadical", Box::new(BitBlastSolver::new(SatBackend::Cadical))),
        ("batsat", Box::new(BitBlastSolver::new(SatBackend::Batsat))),
        ("chain", standard_chain(&chain)),
    ];
    // Counted in conflicts, a limit is the same on every machine; time guards against the rest.
    let limits = Limits { conflicts: Some(3000), ..Limits::time(Duration::from_secs(20)) };
    let mut undecided = 0;
    for seed in 0..300 {
        let floats = seed % 10 == 0;
        let queries = [generate(&mut p, seed, floats, false), generate(&mut p, seed, floats, true)];
        let mut first = None;
        for (name, solver) in &mut solvers {
            for q in &queries {
                let answer = solver.check(&mut p, q, &limits);
                let Some(sat) = decided(name, seed, &answer) else { continue };
                let expected = *first.get_or_insert(sat);
                assert_eq!(sat, expected, "{name} on query {seed}");
                if let Answer::Unsat { core: Some(core) } = answer {
                    assert!(core.iter().all(|t| q.contains(t)), "a core outside of the query");
                    let again = solver.check(&mut p, &core, &Limits::none());
                    assert!(again.is_unsat(), "{name}: the core of query {seed} is {again}");
                }
            }
        }
        undecided += u32::from(first.is_none());
    }
    assert!(undecided < 5, "no solver decided {undecided} queries");
}

#[test]
fn z3_agrees_with_the_embedded_solver() {
    let mut p = TermPool::new();
    let mut z3 = Z3Solver::new("z3".into());
    let mut embedded = BitBlastSolver::new(SatBackend::Cadical);
    let mut compared = 0;
    for seed in 1000..1150 {
        let q = generate(&mut p, seed, seed % 10 == 0, seed % 2 == 0);
        let limits = Limits::time(Duration::from_secs(1));
        let theirs = z3.check(&mut p, &q, &limits);
        if matches!(theirs, Answer::Unknown(Reason::BackendMissing(_))) {
            return;
        }
        let ours = embedded.check(&mut p, &q, &limits);
        if let (Some(a), Some(b)) = (decided("embedded", seed, &ours), decided("z3", seed, &theirs))
        {
            compared += 1;
            assert_eq!(a, b, "query {seed}: {}", p.show(q[0]));
        } else {
            assert!(
                !matches!(theirs, Answer::Unknown(Reason::Backend(_))),
                "z3 on query {seed}: {theirs}"
            );
        }
    }
    assert!(compared > 120, "only {compared} queries were decided by both");
}

#[test]
fn an_interrupt_and_a_time_limit_stop_a_hard_query() {
    let mut p = TermPool::new();
    // Factoring the product of two primes of 30 bits each.
    let (x, y) = (p.var("x", Sort::BitVec(64)), p.var("y", Sort::BitVec(64)));
    let product = p.mul(x, y);
    let n = p.bv(64, 1_073_741_789 * 1_073_741_783);
    let (one, limit) = (p.bv(64, 1), p.bv(64, 1 << 31));
    let q = [p.eq(product, n), p.ult(one, x), p.ult(x, limit), p.ult(one, y), p.ult(y, limit)];
    for sat in [SatBackend::Cadical, SatBackend::Batsat] {
        let mut s = BitBlastSolver::new(sat);
        let answer = s.check(&mut p, &q, &Limits::time(Duration::from_millis(200)));
        assert!(matches!(answer, Answer::Unknown(Reason::Time(_))), "{sat:?}: {answer}");
        let stopped = Limits {
            interrupt: Some(std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true))),
            ..Limits::none()
        };
        let answer = s.check(&mut p, &q, &stopped);
        assert!(matches!(answer, Answer::Unknown(Reason::Interrupted)), "{sat:?}: {answer}");
        // A solver of its own: what the first learned may have brought it close to an answer.
        let few = Limits { conflicts: Some(50), ..Limits::none() };
        let answer = BitBlastSolver::new(sat).check(&mut p, &q, &few);
        assert!(matches!(answer, Answer::Unknown(Reason::Conflicts(50))), "{sat:?}: {answer}");
    }
}

#[test]
fn a_query_that_escalates_has_the_same_answer_and_the_next_one_starts_anew() {
    let mut p = TermPool::new();
    let mut plain = BitBlastSolver::new(SatBackend::Cadical);
    let mut escalating = BitBlastSolver::new(SatBackend::Batsat).escalating_after(Some(3));
    let before = escalating.statistics().rebuilds;
    for seed in 0..120 {
        let q = generate(&mut p, seed, false, true);
        let limits = Limits { conflicts: Some(3000), ..Limits::time(Duration::from_secs(20)) };
        let (a, b) = (plain.check(&mut p, &q, &limits), escalating.check(&mut p, &q, &limits));
        if let (Some(a), Some(b)) = (decided("plain", seed, &a), decided("escalating", seed, &b)) {
            assert_eq!(a, b, "query {seed}");
        }
    }
    assert!(escalating.statistics().rebuilds > before + 4, "no query was hard enough");
    // A limit below the budget is kept as it is.
    let (x, y) = (p.var("x64", Sort::BitVec(64)), p.var("y64", Sort::BitVec(64)));
    let product = p.mul(x, y);
    let (n, one) = (p.bv(64, 1_073_741_789 * 1_073_741_783), p.bv(64, 1));
    let limit = p.bv(64, 1 << 31);
    let q = [p.eq(product, n), p.ult(one, x), p.ult(x, limit), p.ult(one, y), p.ult(y, limit)];
    for conflicts in [2, 60] {
        let few = Limits { conflicts: Some(conflicts), ..Limits::none() };
        let answer = escalating.check(&mut p, &q, &few);
        let expected = Reason::Conflicts(conflicts);
        assert!(matches!(&answer, Answer::Unknown(r) if *r == expected), "{answer}");
    }
}
