//! Contradictions among assumptions, case by case.
//!
//! Where a value is a choice, no polynomial is known of it. So the conditions of choices are split upon.
//! In each case the rules are made anew. Facts about single words make more equations: that an extended
//! sum is the sum of the extended words, where it does not leave its range, and that a word is twice its
//! half, where its last bit is zero. They are asked of a solver, from the assumptions without products.

use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp};
use rustc_hash::FxHashMap;

use crate::engines::algebra::Products;
use crate::engines::algebra::rules::{Fact, Part, Rules, Sources};
use crate::engines::stage::{conjuncts, subterms};

/// The most conditions that are split upon in one case.
const MOST_SPLITS: usize = 6;
/// The most questions to the solver.
const MOST_QUESTIONS: usize = 24;

/// Asks whether assumptions contradict each other. Gives those that do.
pub(crate) type Refute<'a> = dyn FnMut(&mut TermPool, &[Term]) -> Option<Vec<Term>> + 'a;

/// The high bits of a word, extended to its width.
struct Quotient {
    term: Term,
    whole: Term,
    twos: u32,
}

/// A search for a contradiction.
pub(super) struct Cases<'a, 'r> {
    pub(super) products: &'a mut Products,
    pub(super) refute: &'a mut Refute<'r>,
    /// The questions that were asked.
    pub(super) asked: usize,
}

impl Cases<'_, '_> {
    /// The assumptions that contradict each other, if it is found that some do.
    pub(super) fn contradiction(
        &mut self,
        pool: &mut TermPool,
        assumptions: &[Term],
    ) -> Option<Sources> {
        let mut parts = Vec::new();
        for (at, assumption) in assumptions.iter().enumerate() {
            for term in conjuncts(pool, *assumption) {
                parts.push(Part { term, source: Some(at) });
            }
        }
        self.close(pool, &parts, 0)
    }

    /// The same for a case that so many conditions have.
    fn close(&mut self, pool: &mut TermPool, parts: &[Part], depth: usize) -> Option<Sources> {
        let mut rules = Rules::of(pool, parts, &[]);
        if let Some(found) = rules.contradiction(pool, parts) {
            return Some(found);
        }
        let choice = choice(pool, self.products, parts).filter(|_| depth < MOST_SPLITS);
        if let Some(condition) = choice {
            let mut all = Sources::new();
            for is_true in [true, false] {
                let case = assumed(pool, parts, condition, is_true);
                all.extend(self.close(pool, &case, depth + 1)?);
            }
            return Some(all);
        }
        let plain = self.without_products(pool, parts);
        if depth > 0
            && let Some(found) = self.ask(pool, &plain, None)
        {
            return Some(found);
        }
        let mut facts = Vec::new();
        for term in rules.opaque() {
            facts.extend(self.fact(pool, &mut rules, &plain, term));
        }
        let mut rules = Rules::of(pool, parts, &facts);
        rules.contradiction(pool, parts).filter(|_| !facts.is_empty())
    }

    /// The parts that have no products.
    fn without_products(&mut self, pool: &TermPool, parts: &[Part]) -> Vec<Part> {
        let all = parts.iter().copied();
        all.filter(|part| !self.products.has(pool, part.term)).collect()
    }

    /// The assumptions by which parts, and perhaps a formula, contradict each other.
    fn ask(
        &mut self,
        pool: &mut TermPool,
        parts: &[Part],
        formula: Option<Term>,
    ) -> Option<Sources> {
        (self.asked < MOST_QUESTIONS).then_some(())?;
        self.asked += 1;
        let mut query: Vec<Term> = parts.iter().map(|part| part.term).collect();
        query.extend(formula);
        let core = (self.refute)(pool, &query)?;
        let used = parts.iter().filter(|part| core.contains(&part.term));
        Some(used.filter_map(|part| part.source).collect())
    }

    /// An equation about an opaque term, if one is known.
    fn fact(
        &mut self,
        pool: &mut TermPool,
        rules: &mut Rules,
        plain: &[Part],
        term: Term,
    ) -> Option<Fact> {
        let Node::Un(op @ (UnOp::SExt | UnOp::ZExt), inner) = pool.node(term) else {
            return None;
        };
        if let Node::Extract(whole, low) = pool.node(inner)
            && pool.width(whole) == pool.width(term)
            && low > 0
            && low + pool.width(inner) == pool.width(whole)
        {
            return self.half(pool, rules, plain, Quotient { term, whole, twos: low });
        }
        let sum = distributed(pool, op, inner, pool.width(term))?;
        let sources = self.equality(pool, plain, (term, sum))?;
        Some(Fact { word: term, factor: 1, other: sum, sources })
    }

    /// The assumptions by which two words without products are equal.
    fn equality(
        &mut self,
        pool: &mut TermPool,
        plain: &[Part],
        (a, b): (Term, Term),
    ) -> Option<Sources> {
        let equal = pool.eq(a, b);
        (!self.products.has(pool, equal)).then_some(())?;
        let differs = pool.not(equal);
        self.ask(pool, plain, Some(differs))
    }

    /// That a word is a power of two times its high bits, if its low ones are zero. For a quotient towards
    /// zero the word is the dividend.
    fn half(
        &mut self,
        pool: &mut TermPool,
        rules: &mut Rules,
        plain: &[Part],
        Quotient { term, whole, twos }: Quotient,
    ) -> Option<Fact> {
        let amount = pool.bv(pool.width(whole), u64::from(twos));
        let again = pool.shl(term, amount);
        if let Some(sources) = rules.is_multiple(pool, whole, twos) {
            return Some(Fact { word: whole, factor: 1 << twos, other: term, sources });
        }
        // A quotient towards zero has added something of few bits to negative numbers.
        let mut dividend = pool.bv(pool.width(whole), 0);
        for addend in addends(pool, whole) {
            let is_dividend = !matches!(pool.node(addend), Node::Un(UnOp::ZExt, bias)
                if pool.width(bias) == twos);
            if is_dividend {
                dividend = pool.add(dividend, addend);
            }
        }
        let sources = self.equality(pool, plain, (dividend, again))?;
        Some(Fact { word: dividend, factor: 1 << twos, other: term, sources })
    }
}

/// The terms that a sum is of.
fn addends(pool: &TermPool, sum: Term) -> Vec<Term> {
    let (mut waiting, mut found) = (vec![sum], Vec::new());
    while let Some(next) = waiting.pop() {
        match pool.node(next) {
            Node::Bin(BinOp::Add, a, b) => waiting.extend([b, a]),
            _ => found.push(next),
        }
    }
    found
}

/// An extended sum or difference as that of extended words.
fn distributed(pool: &mut TermPool, op: UnOp, inner: Term, width: u32) -> Option<Term> {
    let extended = |pool: &mut TermPool, term: Term| match op {
        UnOp::SExt => pool.sext(term, width),
        _ => pool.zext(term, width),
    };
    match pool.node(inner) {
        Node::Bin(BinOp::Add, a, b) => {
            // `x - c` is written as a sum with a large number.
            let b = match pool.as_i64(b) {
                Some(number) => pool.bv_signed(width, number),
                None => extended(pool, b),
            };
            let a = extended(pool, a);
            Some(pool.add(a, b))
        }
        Node::Bin(BinOp::Sub, a, b) => {
            let (a, b) = (extended(pool, a), extended(pool, b));
            Some(pool.sub(a, b))
        }
        Node::Un(UnOp::BvNeg, a) => {
            let a = extended(pool, a);
            Some(pool.neg(a))
        }
        Node::Bin(BinOp::Concat, high, low) if pool.as_u64(low) == Some(0) => {
            let twos = pool.width(low);
            let high = extended(pool, high);
            let amount = pool.bv(width, u64::from(twos));
            Some(pool.shl(high, amount))
        }
        _ => None,
    }
}

/// A condition of a choice in an equation that is said to fail, or in a term with products.
fn choice(pool: &TermPool, products: &mut Products, parts: &[Part]) -> Option<Term> {
    let is_failing = |part: &Part| match pool.node(part.term) {
        Node::Un(UnOp::Not, all) => conjuncts(pool, all).iter().all(|equation| {
            matches!(pool.node(*equation), Node::Bin(BinOp::Eq | BinOp::Slt | BinOp::Ult, ..))
        }),
        _ => false,
    };
    let failing = parts.iter().filter(|part| is_failing(part));
    let failing: Vec<Term> = failing.map(|part| part.term).collect();
    if failing.is_empty() {
        return None;
    }
    let all = parts.iter().map(|part| part.term).filter(|term| products.has(pool, *term));
    let terms = subterms(pool, failing.iter().copied().chain(all.collect::<Vec<Term>>()));
    let conditions = terms.into_iter().filter_map(|term| match pool.node(term) {
        Node::Ite(condition, ..) if pool.sort(term) != Sort::Bool => Some(condition),
        _ => None,
    });
    conditions.min()
}

/// The parts where a condition holds or does not, with it.
fn assumed(pool: &mut TermPool, parts: &[Part], condition: Term, is_true: bool) -> Vec<Part> {
    let value = pool.bool(is_true);
    let mut known: FxHashMap<Term, Term> = [(condition, value)].into_iter().collect();
    let mut case = Vec::new();
    for part in parts {
        let simpler = pool.substituted(part.term, &mut known);
        for term in conjuncts(pool, simpler) {
            case.push(Part { term, source: part.source });
        }
    }
    let own = if is_true { condition } else { pool.not(condition) };
    for term in conjuncts(pool, own) {
        case.push(Part { term, source: None });
    }
    case
}
