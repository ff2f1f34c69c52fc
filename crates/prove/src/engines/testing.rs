//! Small systems for tests: as text, and random; and a search of all states as the independent party.

pub(crate) mod loops;
pub(crate) mod search;
mod text;

use lydian_base::{Arena, Rng, Span};
use lydian_smt::{
    Answer, ChainConfig, Limits, Reason, Solver, Sort, Term, TermPool, Z3Use, standard_chain,
};

use crate::engines::slicing::Slice;
use crate::engines::testing::search::{Reachable, reachable};
use crate::system::{Approach, Goal, GoalId, Point, PointId, System, Transition, Variable};

/// A system with its pool.
pub(crate) struct Fixture {
    pub(crate) pool: TermPool,
    pub(crate) system: System,
}

impl Fixture {
    /// All goals.
    pub(crate) fn goals(&self) -> Vec<GoalId> {
        self.system.goals.ids().collect()
    }
}

/// A system from text, with numbers of some bits.
///
/// - `vars x y`, `flags b` and `inputs a` name symbols; flags are Boolean variables.
/// - `start x = 0, y = a` gives initial values; another variable `z` begins with any value, `z_0`.
///   `assume z_0 > 0` limits them.
/// - `p0 -> p1 if x < y: x := x + 1, y := a` is a transition. Points are known by their mention, and the
///   first is the entry.
/// - `p1 -> !bad if x == y` is an approach to the goal `bad`.
///
/// Comparisons are signed, and unsigned with a `u` behind.
pub(crate) fn system(width: u32, text: &str) -> Fixture {
    text::parsed(width, text)
}

/// A solver that often has no answer, and never a core.
pub(crate) struct Reluctant {
    inner: Box<dyn Solver>,
    rng: Rng,
}

impl Reluctant {
    pub(crate) fn new(seed: u64) -> Self {
        Self { inner: solver(), rng: Rng::new(seed) }
    }
}

impl Solver for Reluctant {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        if self.rng.below(4) == 0 {
            return Answer::Unknown(Reason::GaveUp("it is reluctant".to_owned()));
        }
        match self.inner.check(pool, assumptions, limits) {
            Answer::Unsat { .. } => Answer::Unsat { core: None },
            answer => answer,
        }
    }

    fn name(&self) -> String {
        "a reluctant solver".to_owned()
    }
}

/// A chain without Z3.
pub(crate) fn solver() -> Box<dyn Solver> {
    standard_chain(&ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() })
}

/// A random system with few states: numbers of three bits, a flag, an array of two elements in every
/// second system, and one input.
pub(crate) fn random(seed: u64) -> Fixture {
    let mut rng = Rng::new(seed);
    let mut pool = TermPool::new();
    let (word, flag) = (Sort::BitVec(3), Sort::Bool);
    let words = [pool.var("x", word), pool.var("y", word)];
    let (truth, input) = (pool.var("b", flag), pool.var("a", word));
    let points: Arena<PointId, Point> = (0..2 + rng.below(3))
        .map(|at| Point { name: format!("p{at}"), span: Span::NONE })
        .collect();
    let ids: Vec<PointId> = points.ids().collect();
    let mut symbols = vec![words[0], words[1], truth];
    let has_array = rng.below(2) == 0;
    let array = has_array.then(|| pool.var("t", Sort::Array { index: 1, element: 3 }));
    symbols.extend(array);
    let mut make = Maker { pool: &mut pool, rng: &mut rng, words, truth, input, array };
    let mut transitions = Vec::new();
    for at in 0..2 + make.rng.below(5) as usize {
        let from = if at == 0 { ids[0] } else { ids[make.rng.below(ids.len() as u64) as usize] };
        let to = ids[1 + make.rng.below(ids.len() as u64 - 1) as usize];
        let guard = make.condition();
        let mut next = vec![make.next(words[0]), make.next(words[1]), make.next_truth()];
        next.extend(array.map(|array| make.next_array(array)));
        transitions.push(Transition { from, to, guard, next });
    }
    let mut goals = Arena::new();
    for at in 0..2 {
        let from = ids[make.rng.below(ids.len() as u64) as usize];
        let (a, b) = (make.condition(), make.condition());
        let condition = make.pool.and(a, b);
        let approaches = vec![Approach { from, condition }];
        goals.push(Goal { name: format!("g{at}"), approaches });
    }
    let mut initial = vec![make.initial(), make.initial(), make.pool.ff()];
    initial.extend(array.map(|_| make.initial_array()));
    let assumed = make.assumption();
    let variables = symbols.iter().zip(["x", "y", "b", "t"]);
    let variables =
        variables.map(|(symbol, name)| Variable { symbol: *symbol, name: name.to_owned() });
    let system = System {
        variables: variables.collect(),
        entry: ids[0],
        points,
        initial,
        assumed,
        transitions,
        goals,
        inexact: Vec::new(),
    };
    Fixture { pool, system }
}

/// A random system of few states in which each transition that is not from the entry is a turn of a loop.
pub(crate) fn random_loop(seed: u64) -> Fixture {
    let Fixture { mut pool, mut system } = random(seed);
    let mut rng = Rng::new(seed);
    let symbol = |name: &str| pool.find_var(name).expect("all random systems have it");
    let (words, truth, input) = ([symbol("x"), symbol("y")], symbol("b"), symbol("a"));
    let mut make = Maker { pool: &mut pool, rng: &mut rng, words, truth, input, array: None };
    for transition in system.transitions.iter_mut().filter(|t| t.from != system.entry) {
        transition.to = transition.from;
        transition.next = system.variables.values().map(|variable| variable.symbol).collect();
        for (next, own) in transition.next.iter_mut().zip(words) {
            *next = make.turn(own);
        }
    }
    Fixture { pool, system }
}

/// The slice of a random system for all goals, and everything that runs of it reach.
pub(crate) fn random_slice(seed: u64) -> (Fixture, Reachable) {
    sliced(random(seed))
}

/// The slice of a system of few states for all goals, and everything that runs of it reach.
pub(crate) fn sliced(Fixture { mut pool, system }: Fixture) -> (Fixture, Reachable) {
    let goals: Vec<GoalId> = system.goals.ids().collect();
    let Slice { system, .. } = Slice::new(&mut pool, &system, &goals);
    let mut fixture = Fixture { pool, system };
    let reached = reachable(&mut fixture);
    (fixture, reached)
}

/// Makes random terms.
struct Maker<'a> {
    pool: &'a mut TermPool,
    rng: &'a mut Rng,
    words: [Term; 2],
    truth: Term,
    input: Term,
    array: Option<Term>,
}

impl Maker<'_> {
    fn constant(&mut self) -> Term {
        let value = self.rng.below(8);
        self.pool.bv(3, value)
    }

    fn initial(&mut self) -> Term {
        if self.rng.below(4) == 0 { self.input } else { self.constant() }
    }

    /// A condition on the input at the entry.
    fn assumption(&mut self) -> Term {
        let constant = self.constant();
        match self.rng.below(3) {
            0 => self.pool.ult(self.input, constant),
            1 => self.pool.slt(constant, self.input),
            _ => self.pool.tt(),
        }
    }

    fn index(&mut self) -> Term {
        let word = self.words[self.rng.below(2) as usize];
        self.pool.extract(0, 0, word)
    }

    fn initial_array(&mut self) -> Term {
        let value = self.initial();
        self.pool.uniform_array(1, value)
    }

    fn next_array(&mut self, array: Term) -> Term {
        match self.rng.below(4) {
            0 | 1 => {
                let (index, value) = (self.index(), self.word());
                self.pool.store(array, index, value)
            }
            2 => {
                let (condition, index, value) = (self.condition(), self.index(), self.word());
                let changed = self.pool.store(array, index, value);
                self.pool.ite(condition, changed, array)
            }
            _ => array,
        }
    }

    fn word(&mut self) -> Term {
        if let (Some(array), 0) = (self.array, self.rng.below(6)) {
            let index = self.index();
            return self.pool.select(array, index);
        }
        match self.rng.below(8) {
            0..=2 => self.words[0],
            3..=4 => self.words[1],
            5..=6 => self.constant(),
            _ => self.input,
        }
    }

    fn next(&mut self, own: Term) -> Term {
        let one = self.pool.bv(3, 1);
        match self.rng.below(8) {
            0..=2 => own,
            3 => self.pool.add(own, one),
            4 => {
                let other = self.word();
                self.pool.add(own, other)
            }
            5 => {
                let (condition, other) = (self.condition(), self.word());
                self.pool.ite(condition, other, own)
            }
            6 => {
                let other = self.word();
                self.pool.sub(own, other)
            }
            _ => self.word(),
        }
    }

    /// The value of a word after a turn of a loop.
    fn turn(&mut self, own: Term) -> Term {
        let step = match self.rng.below(6) {
            0 => return own,
            1 => return self.word(),
            2 => self.word(),
            _ => self.constant(),
        };
        let sum = self.pool.add(own, step);
        match self.rng.below(3) {
            0 => {
                let condition = self.condition();
                self.pool.ite(condition, sum, own)
            }
            _ => sum,
        }
    }

    fn next_truth(&mut self) -> Term {
        match self.rng.below(4) {
            0 => self.condition(),
            1 => self.pool.not(self.truth),
            _ => self.truth,
        }
    }

    fn condition(&mut self) -> Term {
        let (a, b) = (self.word(), self.word());
        match self.rng.below(9) {
            0 => self.pool.tt(),
            1..=2 => self.pool.ult(a, b),
            3..=4 => self.pool.slt(a, b),
            5 => self.pool.eq(a, b),
            6 => {
                let equal = self.pool.eq(a, b);
                self.pool.not(equal)
            }
            7 => self.truth,
            _ => self.pool.not(self.truth),
        }
    }
}
