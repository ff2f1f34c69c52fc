//! Refutation of queries by linear arithmetic over the integers.
//!
//! Programs mostly compare sums: `a < b`, `a + b <= c`, `x - 1 < |y|`. With circuits, a SAT solver
//! needs hundreds of conflicts to find that `b < a` and `a < b` exclude each other. With inequalities
//! it is one addition. Terms become sums of unknown integers ([`forms`]), and comparisons become
//! inequalities. A term with several cases (an addition that may wrap, an `ite`, a disjunction, `!=`)
//! becomes a [`Split`]. A case is refuted by bounds propagation and Fourier-Motzkin elimination
//! ([`rows`]), and a query by refuting every case.
//!
//! Only refutations are answers. A term that is not linear becomes an unknown integer of its own or is
//! left out, which can hide a contradiction but never make one. Effort is bounded by counts
//! ([`MOST_CASES`], the work of [`refute`], and those in [`rows`]), so the answer is the same on every
//! machine.

mod forms;
mod rows;

use crate::analysis::bounds::Reasons;
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use forms::{Form, Forms};
use rows::{Row, System};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;

/// The most cases of a query that are examined.
const MOST_CASES: u32 = 64;
/// The most pairs of unequal numbers that are examined, the newest first.
const MOST_DIFFERENCES: usize = 16;
/// The most alternatives of a disjunction that are distinguished.
const MOST_ALTERNATIVES: usize = 48;

/// A Boolean term that is to be true or false.
type Literal = (Term, bool);

/// The facts of one of several cases.
#[derive(Clone, Debug, Default)]
struct Alternative {
    /// Forms of which each is at most zero.
    most_zero: SmallVec<[Form; 4]>,
    /// Forms of which each is zero.
    zero: SmallVec<[Form; 1]>,
    literals: SmallVec<[Literal; 2]>,
}

impl Alternative {
    fn at_most_zero(forms: impl IntoIterator<Item = Form>) -> Alternative {
        Alternative { most_zero: forms.into_iter().collect(), ..Alternative::default() }
    }

    fn of_literals(literals: impl IntoIterator<Item = Literal>) -> Alternative {
        Alternative { literals: literals.into_iter().collect(), ..Alternative::default() }
    }
}

/// Cases of which one holds under the assumptions that are its reasons.
#[derive(Clone, Debug)]
struct Split {
    alternatives: Vec<Alternative>,
    why: Reasons,
    /// Two numbers differ: one is less, or the other is.
    is_difference: bool,
}

/// Assumptions contradict each other.
#[derive(Debug)]
struct Contradiction(Reasons);

/// The assumptions that contradict each other by linear arithmetic, if this is found within `work`,
/// counted in splits and rows; `work` is reduced by the amount used. In haste only one case is
/// examined.
pub(crate) fn refute(
    pool: &TermPool,
    assumptions: &[Term],
    haste: bool,
    work: &mut usize,
) -> Option<Vec<Term>> {
    let cases = if haste { 1 } else { MOST_CASES };
    let mut search = Search { pool, forms: Forms::default(), cases, work: *work };
    let why = search.refuted_all(assumptions);
    *work = search.work;
    Some(why?.of(assumptions))
}

/// The state of a search that all cases of a query share.
struct Search<'p> {
    pool: &'p TermPool,
    forms: Forms,
    /// The number of cases that may still be examined.
    cases: u32,
    /// The number of splits and rows that may still be examined.
    work: usize,
}

impl Search<'_> {
    /// The assumptions that contradict each other, if a contradiction is found.
    fn refuted_all(&mut self, assumptions: &[Term]) -> Option<Reasons> {
        let mut case = Case::default();
        self.spend(assumptions.len())?;
        for (i, &assumption) in assumptions.iter().enumerate() {
            let asserted = case.assert(self, (assumption, true), Reasons::only(i));
            if let Err(Contradiction(why)) = asserted {
                return Some(why);
            }
        }
        self.refuted(case)
    }

    /// Spends work; none if it is used up.
    fn spend(&mut self, work: usize) -> Option<()> {
        self.work = self.work.saturating_sub(work);
        (self.work > 0).then_some(())
    }

    /// The reasons for which a case is impossible, if it is found to be.
    fn refuted(&mut self, mut case: Case) -> Option<Reasons> {
        self.cases = self.cases.checked_sub(1)?;
        let settled = case.settle(self);
        let spent = self.spend(case.system.take_work());
        if let Err(Contradiction(why)) = settled {
            return Some(why);
        }
        spent?;
        let fewest = |split: &(usize, &Split)| split.1.alternatives.len();
        let splits = case.splits.iter().enumerate().filter(|(_, split)| !split.is_difference);
        let Some((at, _)) = splits.min_by_key(fewest) else {
            return case.equal(self);
        };
        let split = case.splits.swap_remove(at);
        let mut all = split.why;
        for alternative in &split.alternatives {
            let mut next = case.clone();
            let why = match next.take(self, alternative, split.why) {
                Ok(()) => self.refuted(next)?,
                Err(Contradiction(why)) => why,
            };
            all = all.or(why);
        }
        Some(all)
    }
}

/// The facts of a case and its remaining splits.
#[derive(Clone, Default)]
struct Case {
    system: System,
    splits: Vec<Split>,
    booleans: FxHashMap<Term, (bool, Reasons)>,
    /// The number of definitions of [`Forms`] that were added to the splits.
    defined: usize,
}

impl Case {
    /// Draws conclusions until there are no more; none of the remaining splits has an obvious answer.
    fn settle(&mut self, search: &mut Search<'_>) -> Result<(), Contradiction> {
        loop {
            self.define(search);
            self.system.propagate(&search.forms)?;
            if search.spend(self.splits.len() + self.system.take_work()).is_none() {
                return Ok(());
            }
            if !self.reduce(search)? && self.defined == search.forms.definitions.len() {
                return self.system.eliminate(&search.forms);
            }
        }
    }

    /// The reasons for which two numbers that must differ are equal, if they are. The solutions of
    /// inequalities are convex: if each pair can differ, all can differ at once, apart from facts that
    /// hold only for integers.
    fn equal(&self, search: &mut Search<'_>) -> Option<Reasons> {
        self.splits.iter().rev().take(MOST_DIFFERENCES).find_map(|split| {
            let refuted = |alternative: &Alternative| {
                let mut system = self.system.clone();
                let mut forms = alternative.most_zero.iter();
                let added = forms.try_for_each(|form| {
                    system.add(Row { form: form.clone(), is_equation: false, why: split.why })
                });
                let end = added
                    .and_then(|()| system.propagate(&search.forms))
                    .and_then(|()| system.eliminate(&search.forms));
                search.spend(system.take_work())?;
                end.err().map(|Contradiction(why)| why)
            };
            let reasons = split.alternatives.iter().map(refuted);
            reasons.collect::<Option<Vec<_>>>()?.into_iter().reduce(Reasons::or)
        })
    }

    /// Adds the cases of integers that were found since the last call.
    fn define(&mut self, search: &Search<'_>) {
        let new = &search.forms.definitions[self.defined..];
        let split = |cases: &Vec<Alternative>| Split {
            alternatives: cases.clone(),
            why: Reasons::default(),
            is_difference: false,
        };
        self.splits.extend(new.iter().map(split));
        self.defined = search.forms.definitions.len();
    }

    /// Removes alternatives that the bounds exclude. Returns whether something was concluded.
    fn reduce(&mut self, search: &mut Search<'_>) -> Result<bool, Contradiction> {
        let mut concluded = false;
        for mut split in std::mem::take(&mut self.splits) {
            let mut why = split.why;
            split.alternatives.retain(|alternative| match self.excludes(search, alternative) {
                Some(reasons) => {
                    why = why.or(reasons);
                    false
                }
                None => true,
            });
            split.why = why;
            match &split.alternatives[..] {
                [] => return Err(Contradiction(why)),
                [only] => {
                    self.take(search, only, why)?;
                    concluded = true;
                }
                _ => self.splits.push(split),
            }
        }
        Ok(concluded)
    }

    /// The reasons for which the bounds exclude an alternative, if they do.
    fn excludes(&self, search: &Search<'_>, alternative: &Alternative) -> Option<Reasons> {
        let positive = |form: &Form| self.system.positive(&search.forms, form);
        let not_zero = |form: &Form| positive(form).or_else(|| positive(&form.times(-1)));
        let mut of_forms = alternative.most_zero.iter().map(positive);
        let mut of_equations = alternative.zero.iter().map(not_zero);
        let mut of_literals = alternative.literals.iter().map(|(t, wanted)| {
            let (value, why) = self.booleans.get(t)?;
            (value != wanted).then_some(*why)
        });
        of_forms
            .find_map(|why| why)
            .or_else(|| of_equations.find_map(|why| why))
            .or_else(|| of_literals.find_map(|why| why))
    }

    /// Asserts all facts of an alternative.
    fn take(
        &mut self,
        search: &mut Search<'_>,
        alternative: &Alternative,
        why: Reasons,
    ) -> Result<(), Contradiction> {
        for form in &alternative.most_zero {
            self.system.add(Row { form: form.clone(), is_equation: false, why })?;
        }
        for form in &alternative.zero {
            self.system.add(Row { form: form.clone(), is_equation: true, why })?;
        }
        alternative.literals.iter().try_for_each(|l| self.assert(search, *l, why))
    }

    /// Asserts a literal.
    fn assert(
        &mut self,
        search: &mut Search<'_>,
        (t, value): Literal,
        why: Reasons,
    ) -> Result<(), Contradiction> {
        let (known, reasons) = match self.booleans.entry(t) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert((value, why));
                return self.conclude(search, (t, value), why);
            }
        };
        if known == value { Ok(()) } else { Err(Contradiction(why.or(reasons))) }
    }

    /// Draws conclusions from a literal that was not asserted before.
    fn conclude(
        &mut self,
        search: &mut Search<'_>,
        (t, value): Literal,
        why: Reasons,
    ) -> Result<(), Contradiction> {
        let pool = search.pool;
        match pool.node(t) {
            Node::Bool(constant) if constant != value => Err(Contradiction(why)),
            Node::Un(UnOp::Not, a) => self.assert(search, (a, !value), why),
            Node::Bin(BinOp::And, ..) if value => {
                let mut parts = conjuncts(pool, t).into_iter();
                parts.try_for_each(|part| self.assert(search, part, why))
            }
            Node::Bin(BinOp::And, ..) => self.one_of(search, disjuncts(pool, t), why),
            Node::Ite(c, a, b) => {
                let sides = [[(c, true), (a, value)], [(c, false), (b, value)]];
                self.one_of(search, sides.map(Alternative::of_literals).into(), why)
            }
            Node::Bin(BinOp::Eq, a, b) if pool.sort(a) == Sort::Bool => {
                let sides = [[(a, true), (b, value)], [(a, false), (b, !value)]];
                self.one_of(search, sides.map(Alternative::of_literals).into(), why)
            }
            Node::Bin(op, a, b) => match search.forms.comparison(pool, op, a, b, value) {
                Some(alternatives) => match &alternatives[..] {
                    [only] => self.take(search, only, why),
                    _ => {
                        self.splits.push(Split { alternatives, why, is_difference: true });
                        Ok(())
                    }
                },
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Asserts that one of some alternatives holds.
    fn one_of(
        &mut self,
        search: &mut Search<'_>,
        mut alternatives: Vec<Alternative>,
        why: Reasons,
    ) -> Result<(), Contradiction> {
        if alternatives.len() <= MOST_ALTERNATIVES {
            let Search { pool, forms, .. } = search;
            alternatives.iter_mut().for_each(|alternative| forms.inline(pool, alternative));
            self.splits.push(Split { alternatives, why, is_difference: false });
        }
        Ok(())
    }
}

/// The alternatives in which a conjunction is false: one for each of its parts.
fn disjuncts(pool: &TermPool, conjunction: Term) -> Vec<Alternative> {
    let mut stack = vec![conjunction];
    let mut ways = Vec::new();
    while let Some(t) = stack.pop() {
        match pool.node(t) {
            Node::Bin(BinOp::And, a, b) => stack.extend([b, a]),
            Node::Un(UnOp::Not, a) => ways.push(Alternative::of_literals(conjuncts(pool, a))),
            _ => ways.push(Alternative::of_literals([(t, false)])),
        }
    }
    ways
}

/// The literals that hold if a term does: all parts, if it is a conjunction.
fn conjuncts(pool: &TermPool, t: Term) -> SmallVec<[Literal; 2]> {
    let mut stack = vec![t];
    let mut parts = SmallVec::new();
    while let Some(t) = stack.pop() {
        match pool.node(t) {
            Node::Bin(BinOp::And, a, b) => stack.extend([b, a]),
            Node::Un(UnOp::Not, a) => parts.push((a, false)),
            _ => parts.push((t, true)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitblast::BitBlastSolver;
    use crate::bitblast::SatBackend;
    use crate::solver::{Limits, Solver};
    use crate::terms::eval::Evaluator;
    use crate::terms::value::{Model, Value};
    use lydian_base::Rng;

    const WIDTH: u32 = 4;

    fn variables(p: &mut TermPool, width: u32) -> Vec<Term> {
        ["a", "b", "c"].map(|name| p.var(name, Sort::BitVec(width))).to_vec()
    }

    fn absolute(p: &mut TermPool, x: Term) -> Term {
        let width = p.width(x);
        let sign = p.extract(width - 1, width - 1, x);
        let sign = p.sext(sign, width);
        let turned = p.bvxor(x, sign);
        p.sub(turned, sign)
    }

    /// Whether the query has a model, by looking at all values of the variables.
    fn has_model(p: &TermPool, vars: &[Term], query: &[Term]) -> bool {
        let mut evaluator = Evaluator::new();
        (0..1u64 << (WIDTH as usize * vars.len())).any(|values| {
            let value = |i: usize| {
                let bits = values >> (WIDTH as usize * i) & 15;
                Value::from_u64(Sort::BitVec(WIDTH), bits)
            };
            let values = vars.iter().enumerate().map(|(i, v)| (*v, value(i)));
            let model = Model::from_values(values.collect());
            query.iter().all(|t| evaluator.holds(p, &model, *t))
        })
    }

    /// A small number, one near the greatest or the least, or any.
    fn constant(random: &mut Rng, p: &mut TermPool, width: u32) -> Term {
        let small = random.next_u64() % 5;
        let value = match random.next_u64() % 4 {
            0 => small.wrapping_neg(),
            1 => (1 << (width - 1)) - small,
            2 => random.next_u64(),
            _ => small,
        };
        p.bv(width, value)
    }

    fn word(random: &mut Rng, p: &mut TermPool, vars: &[Term], depth: u32) -> Term {
        let kind = random.next_u64() % 16;
        let width = p.width(vars[0]);
        if depth == 0 || kind < 3 {
            return match kind {
                0 => constant(random, p, width),
                _ => vars[(random.next_u64() % vars.len() as u64) as usize],
            };
        }
        let (a, b) = (word(random, p, vars, depth - 1), word(random, p, vars, depth - 1));
        match kind {
            3 | 4 => p.add(a, b),
            5 | 6 => p.sub(a, b),
            7 => p.neg(a),
            8 => p.bvnot(a),
            9 => absolute(p, a),
            10 => {
                let opposite = absolute(p, a);
                p.neg(opposite)
            }
            11 => {
                let factor = constant(random, p, width);
                p.mul(a, factor)
            }
            12 => {
                let test = truth(random, p, vars, depth - 1);
                p.ite(test, a, b)
            }
            13 => {
                let low = p.extract(width - 2, 0, a);
                if random.next_u64().is_multiple_of(2) {
                    p.sext(low, width)
                } else {
                    p.zext(low, width)
                }
            }
            14 => p.bvand(a, b),
            _ => p.urem(a, b),
        }
    }

    fn truth(random: &mut Rng, p: &mut TermPool, vars: &[Term], depth: u32) -> Term {
        let kind = random.next_u64() % 8;
        if depth > 0 && kind > 4 {
            let (a, b) = (truth(random, p, vars, depth - 1), truth(random, p, vars, depth - 1));
            return match kind {
                5 => p.and(a, b),
                6 => p.or(a, b),
                _ => p.xor(a, b),
            };
        }
        let (a, b) = (word(random, p, vars, depth), word(random, p, vars, depth));
        let compared = match kind {
            0 | 5 => p.eq(a, b),
            1 | 6 => p.ult(a, b),
            _ => p.slt(a, b),
        };
        if random.next_u64().is_multiple_of(3) { p.not(compared) } else { compared }
    }

    #[test]
    fn what_is_refuted_has_no_model_and_neither_has_its_core() {
        let mut random = Rng::new(5);
        let (mut refuted, mut missed) = (0, 0);
        for round in 0..3_000 {
            let mut p = TermPool::new();
            let vars = variables(&mut p, WIDTH);
            let count = 3 + round % 4;
            let query: Vec<Term> =
                (0..count).map(|_| truth(&mut random, &mut p, &vars, 2)).collect();
            match refute(&p, &query, false, &mut 4_000) {
                Some(core) => {
                    refuted += 1;
                    assert!(core.iter().all(|t| query.contains(t)));
                    let text: Vec<_> = core.iter().map(|t| p.show(*t).to_string()).collect();
                    assert!(!has_model(&p, &vars, &core), "round {round}: {text:#?}");
                }
                None => missed += usize::from(!has_model(&p, &vars, &query)),
            }
        }
        // Most queries without a model are refuted.
        assert!(refuted > missed && refuted > 500, "{refuted} refuted, {missed} missed");
    }

    #[test]
    fn numbers_of_64_bits_are_refuted_as_circuits_are() {
        let mut random = Rng::new(11);
        let mut refuted = 0;
        for round in 0..400 {
            let mut p = TermPool::new();
            let vars = variables(&mut p, 64);
            let query: Vec<Term> = (0..4).map(|_| truth(&mut random, &mut p, &vars, 2)).collect();
            let Some(core) = refute(&p, &query, false, &mut 4_000) else { continue };
            refuted += 1;
            let limits = Limits { conflicts: Some(2_000), ..Limits::none() };
            let answer = BitBlastSolver::new(SatBackend::Batsat).check(&mut p, &core, &limits);
            assert!(!answer.is_sat(), "round {round}: {:#?}", p.show(core[0]).to_string());
        }
        assert!(refuted > 40, "{refuted} refuted");
    }

    #[test]
    fn sums_that_may_wrap_are_told_apart_from_those_that_may_not() {
        let mut p = TermPool::new();
        let v = variables(&mut p, 32);
        let (one, limit) = (p.bv(32, 1), p.bv(32, 60_000));
        let next = p.add(v[0], one);
        // a + 1 < a holds of the greatest number.
        let wraps = p.slt(next, v[0]);
        assert_eq!(refute(&p, &[wraps], false, &mut 4_000), None);
        let is_small = p.slt(v[0], limit);
        assert_eq!(refute(&p, &[is_small, wraps], false, &mut 4_000), Some(vec![is_small, wraps]));
    }

    #[test]
    fn a_core_leaves_out_what_was_not_needed() {
        let mut p = TermPool::new();
        let v = variables(&mut p, 32);
        let zero = p.bv(32, 0);
        let less = p.slt(v[0], v[1]);
        let positive = p.slt(zero, v[2]);
        let not_more = p.sle(v[1], v[0]);
        assert_eq!(
            refute(&p, &[less, positive, not_more], false, &mut 4_000),
            Some(vec![less, not_more])
        );
    }

    #[test]
    fn sides_of_a_triangle_are_compared_as_sums() {
        let mut p = TermPool::new();
        let v = variables(&mut p, 32);
        let wide: Vec<Term> = v.iter().map(|x| p.sext(*x, 64)).collect();
        let zero = p.bv(32, 0);
        let sum = p.add(wide[0], wide[1]);
        let query = [p.slt(v[1], v[0]), p.sle(v[0], v[2]), p.sle(v[1], zero), p.slt(wide[2], sum)];
        let core = refute(&p, &query, false, &mut 4_000);
        assert_eq!(core, Some(query[1..].to_vec()), "c >= a, b <= 0 and c < a + b");
    }

    #[test]
    fn an_absolute_value_is_one_of_two() {
        let mut p = TermPool::new();
        let v = variables(&mut p, 32);
        let magnitude = absolute(&mut p, v[0]);
        let opposite = p.neg(magnitude);
        let query = [p.neq(v[0], magnitude), p.neq(v[0], opposite)];
        assert!(refute(&p, &query, false, &mut 4_000).is_some());
        // The least number is its own absolute value.
        let least = p.bv(32, 1 << 31);
        let query = [p.eq(v[0], least), p.eq(v[0], magnitude)];
        assert_eq!(refute(&p, &query, false, &mut 4_000), None);
    }
}
