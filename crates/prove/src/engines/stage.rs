//! Terms of a system at one place of a run: a state in place of the variables, and the inputs' symbols
//! of that place in place of the inputs.

use lydian_smt::{BinOp, Evaluator, Model, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::system::{System, Transition};

/// The inputs of a system, and symbols for each of their uses.
pub(crate) struct Inputs {
    own: Vec<Term>,
    /// By use: a symbol for each input.
    uses: Vec<Vec<Term>>,
}

impl Inputs {
    /// The inputs that any term of the system mentions.
    pub(crate) fn new(pool: &mut TermPool, system: &System) -> Self {
        let mut own = Vec::new();
        let mut seen: FxHashSet<Term> = system.symbols().collect();
        for term in terms_of(system) {
            own.extend(pool.vars_of(term).iter().filter(|symbol| seen.insert(**symbol)));
        }
        Self { own, uses: Vec::new() }
    }

    /// The inputs themselves.
    pub(crate) fn own(&self) -> &[Term] {
        &self.own
    }

    /// The symbols of a use. They are made when the use is first mentioned.
    pub(crate) fn of_use(&mut self, pool: &mut TermPool, number: usize) -> &[Term] {
        while self.uses.len() <= number {
            let at = self.uses.len();
            let fresh = |pool: &mut TermPool, input: Term| {
                let name = format!("{}@{at}", pool.var_name(input).unwrap_or("input"));
                pool.fresh_var(&name, pool.sort(input))
            };
            let symbols = self.own.iter().map(|input| fresh(pool, *input)).collect();
            self.uses.push(symbols);
        }
        &self.uses[number]
    }

    /// The values of the inputs in a model's use of them.
    pub(crate) fn values(
        &mut self,
        pool: &mut TermPool,
        evaluator: &mut Evaluator,
        model: &Model,
        number: usize,
    ) -> Model {
        self.of_use(pool, number);
        let values = self.own.iter().zip(&self.uses[number]);
        let values = values.map(|(own, symbol)| (*own, evaluator.eval(pool, model, *symbol)));
        Model::from_values(values.collect())
    }

    /// The place of a run with this state, at which the inputs are used for the given time.
    pub(crate) fn stage(
        &mut self,
        pool: &mut TermPool,
        system: &System,
        state: &[Term],
        number: usize,
    ) -> Stage {
        let mut known = system.at(state);
        self.of_use(pool, number);
        known.extend(self.own.iter().copied().zip(self.uses[number].iter().copied()));
        Stage { known }
    }
}

/// All terms of a system.
pub(crate) fn terms_of(system: &System) -> impl Iterator<Item = Term> + '_ {
    let transitions = system.transitions.iter().flat_map(Transition::terms);
    let conditions = system.approaches().map(|approach| approach.condition);
    system.initial.iter().copied().chain([system.assumed]).chain(transitions).chain(conditions)
}

/// Some terms and all in them, each once.
pub(crate) fn subterms(pool: &TermPool, roots: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut waiting: Vec<Term> = roots.into_iter().collect();
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut found = Vec::new();
    while let Some(term) = waiting.pop() {
        if seen.insert(term) {
            found.push(term);
            waiting.extend(pool.children(term));
        }
    }
    found
}

/// A place of a run.
#[derive(Clone)]
pub(crate) struct Stage {
    known: FxHashMap<Term, Term>,
}

impl Stage {
    /// The place with this state, with the inputs as they are.
    pub(crate) fn with_own_inputs(system: &System, state: &[Term]) -> Self {
        Self { known: system.at(state) }
    }

    /// Adds terms in place of further symbols, before any term was asked for.
    pub(crate) fn extend(&mut self, symbols: impl IntoIterator<Item = (Term, Term)>) {
        self.known.extend(symbols);
    }

    /// A term of the system at this place.
    pub(crate) fn of(&mut self, pool: &mut TermPool, term: Term) -> Term {
        pool.substituted(term, &mut self.known)
    }
}

/// The conjuncts of a formula.
pub(crate) fn conjuncts(pool: &TermPool, term: Term) -> Vec<Term> {
    let mut waiting = vec![term];
    let mut found = Vec::new();
    while let Some(next) = waiting.pop() {
        match pool.node(next) {
            Node::Bin(BinOp::And, a, b) => waiting.extend([b, a]),
            _ => found.push(next),
        }
    }
    found
}
