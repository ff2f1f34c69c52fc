//! A program as a transition system over terms: what the provers reason about.
//!
//! A [`System`] has state variables and *points*. A point is a place that every path without end
//! passes again and again: the entry, and the head of each loop. Between points the code has no
//! loop, so all paths from one point to another are one [`Transition`]: a guard and the new value of
//! each variable, both over the variables' values at the first point. Joins are choices (`ite`)
//! inside these terms.
//!
//! Symbols that are no variables' are *inputs*: they have any value of their sort, chosen anew each
//! time that a transition is taken. A guard says what inputs are possible.
//!
//! A system may have more runs than the program ([`System::inexact`]). What it cannot reach the
//! program cannot reach either; what it reaches must be tried on the program.

use lydian_base::{Arena, Span, entity_id};
use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashMap;

entity_id!(
    /// Names a state variable.
    VarId,
    "v"
);
entity_id!(
    /// Names a point: the entry or the head of a loop.
    PointId,
    "p"
);
entity_id!(
    /// Names a goal.
    GoalId,
    "g"
);

/// A state variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The symbol that stands for its value at the point where a transition begins.
    pub symbol: Term,
    /// Its name for people, such as `main::i` or `buffer[]`.
    pub name: String,
}

/// The entry or the head of a loop.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name for people: that of its function.
    pub name: String,
    /// Its place in the text; none for systems that are of no program.
    pub span: Span,
}

/// All paths from a point to the next one that lead to the same point.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where they begin.
    pub from: PointId,
    /// Where they end.
    pub to: PointId,
    /// Whether one of them is taken: a Boolean over variables and inputs.
    pub guard: Term,
    /// The value of each variable at the end where the guard holds, over variables and inputs.
    pub next: Vec<Term>,
}

/// Paths from a point that reach a goal before another point.
#[derive(Clone, Debug)]
pub struct Approach {
    /// Where they begin.
    pub from: PointId,
    /// Whether one of them is taken: a Boolean over variables and inputs.
    pub condition: Term,
}

/// What is to be reached, or proved out of reach.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Its name for people.
    pub name: String,
    /// The ways to it. A goal without one is out of reach.
    pub approaches: Vec<Approach>,
}

/// A call of a recursive function on paths from a point. Such a function has two points of its own: where
/// it is entered, and where it returns.
#[derive(Clone, Debug)]
pub struct RecursiveCall {
    /// Where the paths begin.
    pub from: PointId,
    /// An input that holds on paths on which the call has returned, and not where the callee is entered.
    pub returns: Term,
    /// Whether the call is reached: a Boolean over variables and inputs.
    pub condition: Term,
    /// The point where the callee is entered; none where nothing leads there.
    pub enter: Option<PointId>,
    /// The point where the callee returns; none where it never does.
    pub exit: Option<PointId>,
    /// What variables have as values at the callee's return: symbols, and terms over variables and inputs
    /// at the caller. Contracts speak of these variables. First come those that have their values from the
    /// entry.
    pub values: Vec<(Term, Term)>,
    /// How many of the values are from the entry.
    pub given: usize,
}

/// A transition system. Transitions from one point need not exclude one another.
#[derive(Clone, Debug)]
pub struct System {
    /// The state.
    pub variables: Arena<VarId, Variable>,
    /// The entry and the heads of loops.
    pub points: Arena<PointId, Point>,
    /// Where every run begins. No transition leads here.
    pub entry: PointId,
    /// The value of each variable at the entry: a constant, or an input that has any value.
    pub initial: Vec<Term>,
    /// What the inputs in `initial` satisfy.
    pub assumed: Term,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// The goals.
    pub goals: Arena<GoalId, Goal>,
    /// Why it may have more runs than the program, one reason a line; empty where it has the same.
    pub inexact: Vec<String>,
}

impl Transition {
    /// The values and the guard.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Term> {
        self.next.iter().copied().chain([self.guard])
    }
}

impl System {
    /// The symbols of the variables.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = Term> {
        self.variables.values().map(|variable| variable.symbol)
    }

    /// The positions of the transitions that begin at a point.
    pub(crate) fn leaving(&self, point: PointId) -> impl Iterator<Item = usize> {
        let all = self.transitions.iter().enumerate();
        all.filter(move |(_, transition)| transition.from == point).map(|(at, _)| at)
    }

    /// The approaches of all goals.
    pub(crate) fn approaches(&self) -> impl Iterator<Item = &Approach> {
        self.goals.values().flat_map(|goal| &goal.approaches)
    }

    /// Whether a symbol is that of a state variable.
    pub fn is_variable(&self, symbol: Term) -> bool {
        self.symbols().any(|own| own == symbol)
    }

    /// The transitions that begin at a point.
    pub fn from(&self, point: PointId) -> impl Iterator<Item = &Transition> {
        self.transitions.iter().filter(move |transition| transition.from == point)
    }

    /// What replaces the variables' symbols by other terms, for `TermPool::substituted`.
    pub fn at(&self, state: &[Term]) -> FxHashMap<Term, Term> {
        self.symbols().zip(state.iter().copied()).collect()
    }

    /// The system as text: points, transitions and goals, for tests and for people.
    pub fn text(&self, pool: &TermPool) -> String {
        use std::fmt::Write as _;
        let show = |term| pool.show(term).to_string();
        let mut text = String::new();
        for transition in &self.transitions {
            let (from, to) = (&self.points[transition.from].name, &self.points[transition.to].name);
            let _ = writeln!(text, "{from} -> {to} if {}", show(transition.guard));
            for (variable, next) in self.variables.values().zip(&transition.next) {
                if *next != variable.symbol {
                    let _ = writeln!(text, "    {} := {}", variable.name, show(*next));
                }
            }
        }
        for goal in self.goals.values() {
            for approach in &goal.approaches {
                let from = &self.points[approach.from].name;
                let _ =
                    writeln!(text, "{from} -> goal {} if {}", goal.name, show(approach.condition));
            }
        }
        text
    }
}
