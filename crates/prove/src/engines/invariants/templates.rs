//! Candidates of fixed forms that all states which were seen at a point satisfy.
//!
//! - Atoms of guards and approaches, their negations, and the same before a transition (weakest
//!   preconditions).
//! - Bounds of variables, signed and unsigned; comparisons of two variables.
//! - Bounds of differences and sums (Miné: *The Octagon Abstract Domain*, 2006), and of elements of
//!   arrays that the system reads. Operations wrap around, and a candidate is no more than a formula.
//! - Remainders by small numbers (Granger: *Static Analysis of Arithmetical Congruences*, 1989), and
//!   that a word has at most one bit set.
//! - Candidates under the condition that a flag has one of its values, or that a guard's atom holds.

use lydian_base::EntityId as _;
use lydian_smt::{BinOp, Evaluator, Model, Node, Sort, Term, TermPool, UnOp, ones};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::invariants::{Invariants, later_terms, words};
use crate::engines::sampling::Samples;
use crate::engines::stage::{conjuncts, subterms};
use crate::system::{PointId, System};

/// The most variables of which pairs are formed.
const MOST_PAIRED: usize = 12;
/// The most candidates of a point.
const MOST_CANDIDATES: usize = 600;
/// The most atoms that are followed back through transitions.
const MOST_ATOMS: usize = 48;
/// The most elements of arrays that are bounded.
const MOST_ELEMENTS: usize = 8;
/// The most values of a variable that is a flag.
const MOST_FLAG_VALUES: usize = 4;
/// The most atoms that candidates are tried under.
const MOST_SPLITS: usize = 4;
/// The most values of a variable that is a divisor.
const MOST_DIVISORS: u64 = 16;
/// The moduli of remainders. Powers of two are in equations.
const MODULI: [u64; 3] = [3, 5, 7];

/// How many forms of candidates are tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// Atoms, bounds and comparisons.
    Low,
    /// All forms.
    High,
}

/// The candidates of each point that its states satisfy.
pub(crate) fn candidates(
    pool: &mut TermPool,
    system: &System,
    samples: &Samples<'_>,
    effort: Effort,
) -> Invariants {
    let atoms = atoms(pool, system);
    let elements = elements(pool, system);
    let words = words(pool, system);
    let mut all = vec![Vec::new(); system.points.len()];
    let targets: FxHashSet<PointId> = system.transitions.iter().map(|t| t.to).collect();
    for point in system.points.ids().filter(|point| targets.contains(point)) {
        let mut forms = Forms::new(pool, system, &words, samples, point);
        forms.propose_each(&atoms);
        forms.comparisons();
        forms.bounds(&words);
        if effort >= Effort::High {
            forms.bounds(&elements);
            forms.octagons();
            forms.remainders();
            forms.remainders_by_divisor(system);
            forms.cases(&atoms);
        }
        if forms.models.is_empty() {
            let never = forms.pool.ff();
            forms.found.insert(0, never);
        }
        all[point.index()] = forms.found;
    }
    all
}

/// The candidates of one point.
struct Forms<'a> {
    pool: &'a mut TermPool,
    /// The states that were seen.
    models: Vec<Model>,
    evaluator: Evaluator,
    /// Numbers of at most 64 bits.
    words: &'a [Term],
    flags: Vec<Term>,
    /// Constants of the system.
    constants: &'a [u64],
    found: Vec<Term>,
    seen: FxHashSet<Term>,
}

impl<'a> Forms<'a> {
    fn new(
        pool: &'a mut TermPool,
        system: &System,
        words: &'a [Term],
        samples: &'a Samples<'_>,
        point: PointId,
    ) -> Self {
        let symbols: Vec<Term> = system.symbols().collect();
        let models = samples.models(point);
        let is_flag = |term: &Term| matches!(pool.sort(*term), Sort::Bool | Sort::BitVec(1));
        let flags = symbols.iter().copied().filter(is_flag).collect();
        let seen = [pool.tt(), pool.ff()].into_iter().collect();
        let constants = samples.constants();
        let (evaluator, found) = (Evaluator::new(), Vec::new());
        Self { pool, models, evaluator, words, flags, constants, found, seen }
    }

    /// Whether a formula holds in all states, and in some of them.
    fn holds(&mut self, formula: Term) -> bool {
        self.models.iter().all(|model| self.evaluator.holds(self.pool, model, formula))
    }

    /// Adds a formula that holds in all states.
    fn propose(&mut self, formula: Term) {
        if self.found.len() < MOST_CANDIDATES && self.seen.insert(formula) && self.holds(formula) {
            self.found.push(formula);
        }
    }

    fn propose_each(&mut self, formulas: &[Term]) {
        for formula in formulas.iter().copied() {
            let negation = self.pool.not(formula);
            self.propose(formula);
            self.propose(negation);
        }
        for flag in self.flags.clone() {
            let flag = truth(self.pool, flag);
            let negation = self.pool.not(flag);
            self.propose(flag);
            self.propose(negation);
        }
    }

    /// Pairs of variables of one width.
    fn pairs(&self) -> Vec<(Term, Term)> {
        let words = &self.words[..self.words.len().min(MOST_PAIRED)];
        let pairs =
            words.iter().enumerate().flat_map(|(at, a)| words[..at].iter().map(move |b| (*b, *a)));
        pairs.filter(|(a, b)| self.pool.width(*a) == self.pool.width(*b)).collect()
    }

    fn comparisons(&mut self) {
        for (a, b) in self.pairs() {
            let pool = &mut *self.pool;
            let equal = pool.eq(a, b);
            let unequal = pool.not(equal);
            self.propose(equal);
            for (x, y) in [(a, b), (b, a)] {
                let pool = &mut *self.pool;
                let forms = [pool.slt(x, y), pool.sle(x, y), pool.ult(x, y), pool.ule(x, y)];
                forms.into_iter().for_each(|form| self.propose(form));
            }
            self.propose(unequal);
        }
    }

    /// Bounds of terms by the values that were seen and by constants of the system next to these.
    fn bounds(&mut self, terms: &[Term]) {
        for term in terms {
            self.bound(*term, Reading::Signed);
            self.bound(*term, Reading::Unsigned);
        }
    }

    fn bound(&mut self, term: Term, reading: Reading) {
        let width = self.pool.width(term);
        let mut values = Vec::new();
        for model in &self.models {
            let bits = self.evaluator.eval_u64(self.pool, model, term);
            values.push(reading.number(bits, width));
        }
        let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else {
            return;
        };
        if least == most {
            let constant = self.pool.bv(width, *least as u64);
            let formula = self.pool.eq(term, constant);
            self.propose(formula);
        }
        for limit in self.thresholds(width, reading, *most, 1) {
            let constant = self.pool.bv(width, limit as u64);
            let formula = reading.at_most(self.pool, term, constant);
            self.propose(formula);
        }
        for limit in self.thresholds(width, reading, *least, -1) {
            let constant = self.pool.bv(width, limit as u64);
            let formula = reading.at_most(self.pool, constant, term);
            self.propose(formula);
        }
    }

    /// A number that was seen, and the next constants of the system in one direction.
    fn thresholds(&self, width: u32, reading: Reading, seen: i128, direction: i128) -> Vec<i128> {
        let mask = ones(width);
        let near = self
            .constants
            .iter()
            .flat_map(|number| [number.wrapping_sub(1), *number, number.wrapping_add(1)]);
        let numbers = near.map(|number| reading.number(number & mask, width));
        let zero = [0, seen];
        let mut beyond: Vec<i128> =
            numbers.chain(zero).filter(|number| (number - seen) * direction >= 0).collect();
        beyond.sort_by_key(|number| number * direction);
        beyond.dedup();
        beyond.truncate(4);
        beyond
    }

    fn octagons(&mut self) {
        for (a, b) in self.pairs() {
            let (difference, sum) = (self.pool.sub(a, b), self.pool.add(a, b));
            self.bounds(&[difference, sum]);
        }
    }

    fn remainders(&mut self) {
        for word in self.words.iter().copied() {
            self.one_bit(word);
            for modulus in MODULI {
                let width = self.pool.width(word);
                if width < 4 {
                    continue;
                }
                let modulus = self.pool.bv(width, modulus);
                let remainder = self.pool.urem(word, modulus);
                if let [value] = self.values(remainder)[..] {
                    let value = self.pool.bv(width, value);
                    let formula = self.pool.eq(remainder, value);
                    self.propose(formula);
                }
            }
        }
    }

    /// Remainders by a variable that never changes and has few values, one value at a time.
    fn remainders_by_divisor(&mut self, system: &System) {
        for divisor in constant_words(self.pool, system) {
            let values = self.values(divisor);
            let (Some(least), Some(most)) = (values.first(), values.last()) else { continue };
            if most - least >= MOST_DIVISORS || least == most {
                continue;
            }
            for value in *least..=*most {
                for word in self.words.iter().copied().filter(|word| *word != divisor) {
                    if self.pool.width(word) == self.pool.width(divisor) {
                        self.remainder_by((divisor, value), word);
                    }
                }
            }
        }
    }

    /// The remainder of a word by a value of another one, where that has the value.
    fn remainder_by(&mut self, (divisor, value): (Term, u64), word: Term) {
        let width = self.pool.width(word);
        let number = self.pool.bv(width, value);
        let case = self.pool.eq(divisor, number);
        // By zero it is the word itself.
        let remainder = self.pool.urem(word, number);
        let first = self.models.iter().find(|model| self.evaluator.holds(self.pool, model, case));
        let rest = first.map_or(0, |model| self.evaluator.eval_u64(self.pool, model, remainder));
        let rest = self.pool.bv(width, rest);
        let equal = self.pool.eq(remainder, rest);
        let formula = self.pool.implies(case, equal);
        self.propose(formula);
    }

    /// The values of a word in the states, in order.
    fn values(&mut self, word: Term) -> Vec<u64> {
        let mut values = Vec::new();
        for model in &self.models {
            values.push(self.evaluator.eval_u64(self.pool, model, word));
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// That a word has at most one bit set.
    fn one_bit(&mut self, word: Term) {
        let one = self.pool.bv(self.pool.width(word), 1);
        let zero = self.pool.bv(self.pool.width(word), 0);
        let less = self.pool.sub(word, one);
        let common = self.pool.bvand(word, less);
        let formula = self.pool.eq(common, zero);
        self.propose(formula);
    }

    /// The values of variables that have few.
    fn flag_values(&mut self) -> Vec<Term> {
        let mut conditions = Vec::new();
        for symbol in self.flags.clone().into_iter().chain(self.words.iter().copied()) {
            let values = self.values(symbol);
            let is_flag = (2..=MOST_FLAG_VALUES).contains(&values.len())
                && self.models.len() >= 2 * values.len();
            if !is_flag {
                continue;
            }
            for value in values {
                let condition = match self.pool.sort(symbol) {
                    Sort::Bool if value == 0 => self.pool.not(symbol),
                    Sort::Bool => symbol,
                    _ => {
                        let value = self.pool.bv(self.pool.width(symbol), value);
                        self.pool.eq(symbol, value)
                    }
                };
                conditions.push(condition);
            }
        }
        conditions
    }

    /// Candidates under conditions: those that hold only in the states where the condition does.
    fn cases(&mut self, atoms: &[Term]) {
        let mut conditions = self.flag_values();
        for atom in atoms.iter().take(MOST_SPLITS) {
            conditions.push(*atom);
            conditions.push(self.pool.not(*atom));
        }
        let all = std::mem::take(&mut self.models);
        for condition in conditions {
            let holds = |model: &&Model| self.evaluator.holds(self.pool, model, condition);
            let in_case: Vec<Model> = all.iter().filter(holds).cloned().collect();
            let (outer, seen) = (std::mem::take(&mut self.found), self.seen.clone());
            let known: FxHashSet<Term> = outer.iter().copied().collect();
            (self.models, self.seen) = (in_case, known);
            self.seen.extend([self.pool.tt(), self.pool.ff()]);
            self.propose_each(atoms);
            self.comparisons();
            self.bounds(self.words);
            let inner = std::mem::replace(&mut self.found, outer);
            self.seen = seen;
            for formula in inner {
                let formula = self.pool.implies(condition, formula);
                if self.found.len() < MOST_CANDIDATES && self.seen.insert(formula) {
                    self.found.push(formula);
                }
            }
        }
        self.models = all;
    }
}

/// The number that bits stand for.
#[derive(Clone, Copy)]
enum Reading {
    Signed,
    Unsigned,
}

impl Reading {
    fn number(self, bits: u64, width: u32) -> i128 {
        match self {
            Self::Unsigned => i128::from(bits),
            Self::Signed => i128::from((bits << (64 - width)) as i64 >> (64 - width)),
        }
    }

    fn at_most(self, pool: &mut TermPool, a: Term, b: Term) -> Term {
        match self {
            Self::Signed => pool.sle(a, b),
            Self::Unsigned => pool.ule(a, b),
        }
    }
}

/// The words that only transitions from the entry set.
fn constant_words(pool: &TermPool, system: &System) -> Vec<Term> {
    let mut found = Vec::new();
    for (at, symbol) in system.symbols().enumerate() {
        let mut later = system.transitions.iter().filter(|t| t.from != system.entry);
        let is_word = matches!(pool.sort(symbol), Sort::BitVec(4..=64));
        if is_word && later.all(|transition| transition.next[at] == symbol) {
            found.push(symbol);
        }
    }
    found
}

/// Whether a flag is set.
fn truth(pool: &mut TermPool, flag: Term) -> Term {
    match pool.sort(flag) {
        Sort::Bool => flag,
        _ => pool.is_nonzero(flag),
    }
}

/// The atoms over variables in guards and approaches, and the same before each transition.
pub(crate) fn atoms(pool: &mut TermPool, system: &System) -> Vec<Term> {
    let guards = system.transitions.iter().map(|transition| transition.guard);
    let conditions = system.approaches().map(|approach| approach.condition);
    let mut found = Found::new(system);
    for term in guards.chain(conditions) {
        found.add_parts(pool, term);
    }
    let first: Vec<Term> = found.atoms.iter().copied().take(MOST_ATOMS).collect();
    for atom in &first {
        // A guard that held before a turn holds after it, or its sides are equal.
        let turned = match pool.node(*atom) {
            Node::Bin(BinOp::Slt, a, b) => pool.slt(b, a),
            Node::Bin(BinOp::Ult, a, b) => pool.ult(b, a),
            _ => continue,
        };
        found.add(pool, turned);
    }
    for transition in system.transitions.iter().filter(|t| t.from != system.entry) {
        let mut known: FxHashMap<Term, Term> = system.at(&transition.next);
        for atom in &first {
            let before = pool.substituted(*atom, &mut known);
            found.add(pool, before);
        }
    }
    found.atoms.truncate(4 * MOST_ATOMS);
    found.atoms
}

/// Formulas over variables, each once, of two opposites only one.
pub(crate) struct Found {
    seen: FxHashSet<Term>,
    atoms: Vec<Term>,
    variables: FxHashSet<Term>,
}

impl Found {
    /// None yet.
    pub(crate) fn new(system: &System) -> Self {
        let variables = system.symbols().collect();
        Self { seen: FxHashSet::default(), atoms: Vec::new(), variables }
    }

    /// The formulas in the order in which they were found.
    pub(crate) fn formulas(&self) -> &[Term] {
        &self.atoms
    }

    /// Adds the conjuncts of a formula, and its atoms.
    pub(crate) fn add_parts(&mut self, pool: &mut TermPool, formula: Term) {
        for part in conjuncts(pool, formula) {
            self.add(pool, part);
            self.add_atoms(pool, part);
        }
    }

    /// Adds a formula, if it reads variables only.
    pub(crate) fn add(&mut self, pool: &mut TermPool, formula: Term) {
        let formula = match pool.node(formula) {
            Node::Un(UnOp::Not, inner) => inner,
            _ => formula,
        };
        let symbols = pool.vars_of(formula);
        let fits = !symbols.is_empty() && symbols.iter().all(|s| self.variables.contains(s));
        if fits && self.seen.insert(formula) {
            self.atoms.push(formula);
        }
    }

    /// Adds the Boolean terms in a formula that are built of no Boolean ones.
    fn add_atoms(&mut self, pool: &mut TermPool, formula: Term) {
        for term in subterms(pool, [formula]) {
            let has_none = pool.children(term).iter().all(|child| pool.sort(*child) != Sort::Bool);
            if pool.sort(term) == Sort::Bool && has_none {
                self.add(pool, term);
            }
        }
    }
}

/// The elements of arrays at variable or constant indexes that the system's terms read.
fn elements(pool: &mut TermPool, system: &System) -> Vec<Term> {
    let variables: FxHashSet<Term> = system.symbols().collect();
    let mut found = later_terms(pool, system);
    found.retain(|term| {
        matches!(pool.node(*term), Node::Bin(BinOp::Select, ..))
            && pool.vars_of(*term).iter().all(|symbol| variables.contains(symbol))
    });
    found.sort_unstable();
    found.truncate(MOST_ELEMENTS);
    found
}
