//! Minimal disjunctive normal forms of decisions, for the criteria IC, UTPC and CUTPNFP.
//!
//! Minimal means: no sum of fewer implicants has the same value everywhere, and none of as many has
//! fewer literals. Among several minimal forms, the one whose prime implicants come first in a fixed
//! order is taken, so that the result follows from the tree alone.
//!
//! - A tree of `&&`, `||`, `&`, `|` and `!` is unate, since each condition occurs in it once: all
//!   of its prime implicants are needed, and they are the products and sums of those of its parts.
//!   There may be as many conditions as one likes.
//! - For any other tree prime implicants are found by merging (Quine, McCluskey) and the cheapest
//!   cover by branch and bound, after taking what is essential and dropping what is dominated. This
//!   is done for up to [`CONDITIONS`] conditions.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use lydian_ir::{BoolTree, ConditionId, Truth};

use crate::decision::predicates::{conditions, signed};
use crate::label::Pred;

/// The most conditions of a tree with `==`, `^` or `?:` in it.
pub const CONDITIONS: usize = 10;
/// The most implicants.
pub const IMPLICANTS: usize = 1024;
/// The most steps of the search for a cover.
const STEPS: u32 = 200_000;

/// A product of conditions and their negations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Implicant {
    /// The literals in the order of the conditions: the condition and its value.
    pub literals: Vec<(ConditionId, bool)>,
}

/// Why there is no minimal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnfError {
    /// There are too many conditions.
    #[error("{0} conditions, with `==`, `^` or `?:` among them: the limit is {CONDITIONS}")]
    Conditions(usize),
    /// There are too many implicants.
    #[error("more than {IMPLICANTS} implicants")]
    Implicants,
    /// The search for a minimal form took too long.
    #[error("no form was proved minimal in {STEPS} steps")]
    Steps,
}

impl Implicant {
    /// The predicate that it is true.
    pub fn pred(&self) -> Pred {
        self.literals.iter().fold(Pred::Const(true), |all, (condition, value)| {
            Pred::and(all, signed(Pred::Cond(*condition), *value))
        })
    }

    /// Whether it has a literal of the condition.
    pub fn has(&self, condition: ConditionId) -> bool {
        self.literals.iter().any(|(c, _)| *c == condition)
    }

    /// The implicant with the literal of a condition negated.
    #[must_use]
    pub fn with_flipped(&self, condition: ConditionId) -> Self {
        let flip = |(c, value): &(ConditionId, bool)| (*c, *value != (*c == condition));
        Self { literals: self.literals.iter().map(flip).collect() }
    }
}

/// The minimal form of the tree, or with `value` false of its negation. No implicant where that is
/// constantly false, one without literals where it is constantly true.
///
/// # Errors
/// Where a limit is reached.
pub fn minimal(tree: &BoolTree, value: bool) -> Result<Vec<Implicant>, DnfError> {
    if is_unate(tree) {
        let products = products(tree, value)?;
        let implicant = |mut literals: Vec<_>| {
            literals.sort_unstable();
            Implicant { literals }
        };
        return Ok(products.into_iter().map(implicant).collect());
    }
    let conditions = conditions(tree);
    if conditions.len() > CONDITIONS {
        return Err(DnfError::Conditions(conditions.len()));
    }
    let is_true = |bits: u32| {
        let at = |condition: ConditionId| conditions.iter().position(|c| *c == condition);
        let truth = |condition| Truth::from(at(condition).map(|at| bits >> at & 1 == 1));
        tree.eval(&truth) == Truth::from(value)
    };
    let points: Vec<u32> = (0..1 << conditions.len()).filter(|bits| is_true(*bits)).collect();
    let cubes = cheapest_cover(&primes(&points, conditions.len()), &points)?;
    Ok(cubes.into_iter().map(|cube| cube.implicant(&conditions)).collect())
}

fn is_unate(tree: &BoolTree) -> bool {
    match tree {
        BoolTree::Const(_) | BoolTree::Cond(_) => true,
        BoolTree::Not(a) => is_unate(a),
        BoolTree::And(a, b)
        | BoolTree::Or(a, b)
        | BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b) => is_unate(a) && is_unate(b),
        BoolTree::Eq(..) | BoolTree::Xor(..) | BoolTree::Ite(..) => false,
    }
}

type Product = Vec<(ConditionId, bool)>;

/// All prime implicants of a unate tree, from left to right.
fn products(tree: &BoolTree, value: bool) -> Result<Vec<Product>, DnfError> {
    match tree {
        BoolTree::Const(constant) if *constant == value => Ok(vec![Product::new()]),
        BoolTree::Const(_) => Ok(Vec::new()),
        BoolTree::Cond(condition) => Ok(vec![vec![(*condition, value)]]),
        BoolTree::Not(a) => products(a, !value),
        BoolTree::And(a, b) | BoolTree::BitAnd(a, b) if value => {
            product(&products(a, true)?, &products(b, true)?)
        }
        BoolTree::Or(a, b) | BoolTree::BitOr(a, b) if !value => {
            product(&products(a, false)?, &products(b, false)?)
        }
        BoolTree::And(a, b)
        | BoolTree::BitAnd(a, b)
        | BoolTree::Or(a, b)
        | BoolTree::BitOr(a, b) => sum(products(a, value)?, products(b, value)?),
        BoolTree::Eq(..) | BoolTree::Xor(..) | BoolTree::Ite(..) => {
            unreachable!("the tree is unate")
        }
    }
}

fn product(a: &[Product], b: &[Product]) -> Result<Vec<Product>, DnfError> {
    if a.len() * b.len() > IMPLICANTS {
        return Err(DnfError::Implicants);
    }
    Ok(a.iter().flat_map(|a| b.iter().map(move |b| [a.as_slice(), b].concat())).collect())
}

fn sum(mut a: Vec<Product>, b: Vec<Product>) -> Result<Vec<Product>, DnfError> {
    if let Some(constant) = a.iter().chain(&b).find(|product| product.is_empty()) {
        return Ok(vec![constant.clone()]);
    }
    a.extend(b);
    if a.len() > IMPLICANTS { Err(DnfError::Implicants) } else { Ok(a) }
}

/// A product over numbered conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cube {
    /// The conditions in it, as bits. More of them come later in the order.
    care: u32,
    /// Those that are true.
    ones: u32,
}

impl Cube {
    const fn covers(self, point: u32) -> bool {
        point & self.care == self.ones
    }

    const fn literals(self) -> u32 {
        self.care.count_ones()
    }

    fn implicant(self, conditions: &[ConditionId]) -> Implicant {
        let numbered = conditions.iter().enumerate();
        let cared = numbered.filter(|(at, _)| self.care >> at & 1 == 1);
        let mut literals: Vec<_> =
            cared.map(|(at, condition)| (*condition, self.ones >> at & 1 == 1)).collect();
        literals.sort_unstable();
        Implicant { literals }
    }
}

/// The prime implicants of the function that is true at these points: those with fewer literals
/// first, then those of conditions further left, true before false.
fn primes(points: &[u32], count: usize) -> Vec<Cube> {
    let all = (1u32 << count) - 1;
    let mut level: BTreeSet<Cube> =
        points.iter().map(|point| Cube { care: all, ones: *point }).collect();
    let mut primes = Vec::new();
    while !level.is_empty() {
        let mut next = BTreeSet::new();
        for cube in &level {
            let mut is_prime = true;
            for bit in (0..count).map(|at| 1u32 << at).filter(|bit| cube.care & bit != 0) {
                if level.contains(&Cube { care: cube.care, ones: cube.ones ^ bit }) {
                    is_prime = false;
                    next.insert(Cube { care: cube.care & !bit, ones: cube.ones & !bit });
                }
            }
            if is_prime {
                primes.push(*cube);
            }
        }
        level = next;
    }
    primes.sort_by_key(|cube| {
        (cube.literals(), Reverse(cube.care.reverse_bits()), Reverse(cube.ones.reverse_bits()))
    });
    primes
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A partial cover, and the points that are not covered yet.
#[derive(Clone)]
struct Partial {
    open: Bits,
    /// The primes that may still be taken, by position, with the points of `open` that they cover.
    choices: Vec<(usize, Bits)>,
    chosen: Vec<usize>,
}

/// The fewest primes that cover all points, of these those with the fewest literals.
fn cheapest_cover(primes: &[Cube], points: &[u32]) -> Result<Vec<Cube>, DnfError> {
    let mut open = Bits::new(points.len());
    (0..points.len()).for_each(|at| open.set(at));
    let covered = |cube: &Cube| {
        let mut set = Bits::new(points.len());
        let within = points.iter().enumerate().filter(|(_, point)| cube.covers(**point));
        within.for_each(|(at, _)| set.set(at));
        set
    };
    let choices = primes.iter().map(covered).enumerate().collect();
    let mut search = Search { primes, best: None, steps: 0 };
    search.explore(Partial { open, choices, chosen: Vec::new() })?;
    let (_, mut best) = search.best.expect("the primes cover every point");
    best.sort_unstable();
    Ok(best.into_iter().map(|at| primes[at]).collect())
}

struct Search<'p> {
    primes: &'p [Cube],
    /// The cheapest cover so far: the numbers of primes and literals, and the primes.
    best: Option<((usize, u32), Vec<usize>)>,
    steps: u32,
}

impl Search<'_> {
    fn explore(&mut self, mut at: Partial) -> Result<(), DnfError> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(DnfError::Steps);
        }
        self.reduce(&mut at);
        if at.open.is_empty() {
            let cost = self.cost(&at.chosen);
            if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
                self.best = Some((cost, at.chosen));
            }
            return Ok(());
        }
        if self.is_hopeless(&at) {
            return Ok(());
        }
        let Some(point) = Self::hardest_point(&at) else { return Ok(()) };
        let ways: Vec<usize> =
            at.choices.iter().filter(|(_, covers)| covers.has(point)).map(|(p, _)| *p).collect();
        for prime in ways {
            let mut next = at.clone();
            Self::take(&mut next, prime);
            self.explore(next)?;
            // Covers with this prime have been seen.
            at.choices.retain(|(other, _)| *other != prime);
        }
        Ok(())
    }

    fn cost(&self, chosen: &[usize]) -> (usize, u32) {
        (chosen.len(), chosen.iter().map(|at| self.primes[*at].literals()).sum())
    }

    /// Whether even the widest choices cannot make the cover as cheap as the best.
    fn is_hopeless(&self, at: &Partial) -> bool {
        let Some((best, _)) = &self.best else { return false };
        let widest = at.choices.iter().map(|(_, covers)| covers.len()).max().unwrap_or(0).max(1);
        let more = at.open.len().div_ceil(widest) as usize;
        let (primes, literals) = self.cost(&at.chosen);
        let fewest = at.choices.iter().map(|(p, _)| self.primes[*p].literals()).min().unwrap_or(0);
        (primes + more, literals + fewest * more as u32) >= *best
    }

    /// The open point that the fewest choices cover.
    fn hardest_point(at: &Partial) -> Option<usize> {
        let points = (0..at.open.0.len() * 64).filter(|point| at.open.has(*point));
        points.min_by_key(|point| at.choices.iter().filter(|(_, c)| c.has(*point)).count())
    }

    fn take(at: &mut Partial, prime: usize) {
        let Some(found) = at.choices.iter().position(|(p, _)| *p == prime) else { return };
        let (_, covers) = at.choices.remove(found);
        at.open = at.open.without(&covers);
        at.chosen.push(prime);
    }

    /// Takes essential primes and drops dominated ones, until there are none.
    fn reduce(&self, at: &mut Partial) {
        loop {
            for (_, covers) in &mut at.choices {
                *covers = covers.and(&at.open);
            }
            at.choices.retain(|(_, covers)| !covers.is_empty());
            if let Some(prime) = Self::essential(at) {
                Self::take(at, prime);
                continue;
            }
            match self.dominated(at) {
                Some(prime) => at.choices.retain(|(p, _)| *p != prime),
                None => return,
            }
        }
    }

    /// A prime that alone covers some open point.
    fn essential(at: &Partial) -> Option<usize> {
        let mut once = Bits::new(at.open.0.len() * 64);
        let mut twice = once.clone();
        for (_, covers) in &at.choices {
            for (at, word) in covers.0.iter().enumerate() {
                twice.0[at] |= once.0[at] & word;
                once.0[at] |= word;
            }
        }
        let point = once.without(&twice).and(&at.open).first()?;
        at.choices.iter().find(|(_, covers)| covers.has(point)).map(|(prime, _)| *prime)
    }

    /// A prime that another one, which is not dearer, can replace.
    fn dominated(&self, at: &Partial) -> Option<usize> {
        let literals = |prime: usize| self.primes[prime].literals();
        at.choices.iter().rev().map(|(prime, covers)| (*prime, covers)).find_map(
            |(prime, covers)| {
                let dominates = |other: usize, wider: &Bits| {
                    other != prime
                        && covers.is_within(wider)
                        && literals(other) <= literals(prime)
                        && (other < prime || covers != wider || literals(other) < literals(prime))
                };
                at.choices.iter().any(|(other, wider)| dominates(*other, wider)).then_some(prime)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId;

    use super::*;
    use crate::testing::cond;

    fn shown(tree: &BoolTree, value: bool) -> String {
        let literal = |(condition, value): &(ConditionId, bool)| {
            let name = char::from(b'a' + condition.index() as u8);
            if *value { name.to_string() } else { format!("!{name}") }
        };
        let implicants = minimal(tree, value).expect("within the limits");
        let shown: Vec<String> =
            implicants.iter().map(|i| i.literals.iter().map(literal).collect()).collect();
        shown.join(" + ")
    }

    fn b(tree: BoolTree) -> Box<BoolTree> {
        Box::new(tree)
    }

    #[test]
    fn a_sum_of_products_and_its_negation_are_minimal() {
        // a && (b || !c)
        let tree = BoolTree::And(cond(0), b(BoolTree::Or(cond(1), b(BoolTree::Not(cond(2))))));
        assert_eq!(shown(&tree, true), "ab + a!c");
        assert_eq!(shown(&tree, false), "!a + !bc");
    }

    #[test]
    fn an_equality_has_two_products_each_way() {
        // a == (b && c)
        let tree = BoolTree::Eq(cond(0), b(BoolTree::And(cond(1), cond(2))));
        assert_eq!(shown(&tree, true), "!a!b + !a!c + abc");
        assert_eq!(shown(&tree, false), "a!b + a!c + !abc");
    }

    #[test]
    fn a_choice_needs_no_consensus_term() {
        let tree = BoolTree::Ite(cond(0), cond(1), cond(2));
        assert_eq!(shown(&tree, true), "ab + !ac");
        assert_eq!(shown(&tree, false), "a!b + !a!c");
    }

    #[test]
    fn constants_leave_one_empty_product_or_none() {
        let tree = BoolTree::Or(cond(0), b(BoolTree::Const(true)));
        assert_eq!(minimal(&tree, true), Ok(vec![Implicant { literals: Vec::new() }]));
        assert_eq!(minimal(&tree, false), Ok(Vec::new()));
    }

    #[test]
    fn a_sum_of_many_conditions_is_no_trouble_but_a_parity_of_many_is() {
        let wide = (1..100).fold(*cond(0), |tree, c| BoolTree::And(b(tree), cond(c)));
        assert_eq!(minimal(&wide, true).map(|i| i.len()), Ok(1));
        assert_eq!(minimal(&wide, false).map(|i| i.len()), Ok(100));
        let parity = |n| (1..n).fold(*cond(0), |tree, c| BoolTree::Xor(b(tree), cond(c)));
        assert_eq!(minimal(&parity(10), true).map(|i| i.len()), Ok(512));
        assert_eq!(minimal(&parity(11), true), Err(DnfError::Conditions(11)));
        let pairs = |n| {
            (1..n).fold(BoolTree::Or(cond(0), cond(1)), |tree, k| {
                BoolTree::And(b(tree), b(BoolTree::Or(cond(2 * k), cond(2 * k + 1))))
            })
        };
        assert_eq!(minimal(&pairs(10), true).map(|i| i.len()), Ok(1024));
        assert_eq!(minimal(&pairs(11), true), Err(DnfError::Implicants));
    }

    /// Covers of any function, not only of trees: a point is a bit of `function`.
    fn cover_of(function: u32, count: usize) -> Vec<Cube> {
        let points: Vec<u32> = (0..1 << count).filter(|point| function >> point & 1 == 1).collect();
        cheapest_cover(&primes(&points, count), &points).expect("few steps")
    }

    #[test]
    fn no_cover_of_a_function_of_three_conditions_is_cheaper() {
        for function in 0..256u32 {
            let cover = cover_of(function, 3);
            for point in 0..8 {
                let covered = cover.iter().any(|cube| cube.covers(point));
                assert_eq!(covered, function >> point & 1 == 1, "{function:#x} at {point}");
            }
            let points: Vec<u32> = (0..8).filter(|point| function >> point & 1 == 1).collect();
            let primes = primes(&points, 3);
            let cost = |cubes: &[Cube]| {
                (cubes.len(), cubes.iter().map(|cube| cube.literals()).sum::<u32>())
            };
            for subset in 0..1u32 << primes.len() {
                let chosen: Vec<Cube> = (0..primes.len())
                    .filter(|at| subset >> at & 1 == 1)
                    .map(|at| primes[at])
                    .collect();
                if points.iter().all(|point| chosen.iter().any(|cube| cube.covers(*point))) {
                    assert!(cost(&cover) <= cost(&chosen), "{function:#x}: {chosen:?}");
                }
            }
        }
    }
}
