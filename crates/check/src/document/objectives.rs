//! Objectives in a certificate: labels and sequences of labels that no run covers.
//!
//! A label is an event and a predicate: a run covers it if the event happens where the predicate is true.
//! A *flag* says that a run is in the midst of a sequence ([001] 4.3, Figure 2): it is set where its label
//! is covered while the flag before it is set, and reset by certain events. The last label of a sequence
//! counts as covered only while the flag before it is set.

use serde::{Deserialize, Serialize};

/// The objectives that a certificate is about, and what their meaning needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objectives {
    /// Whether a condition that evaluation does not reach has no value. Else it has its value on the state,
    /// where evaluating it only computes and does not trap.
    pub short_circuit: bool,
    /// The events. Of those at one place the earlier ones in this list happen first.
    pub events: Vec<Event>,
    /// The flags, each after the one before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// The objectives. No run covers any of them.
    pub goals: Vec<Objective>,
}

/// An event: control comes to one of some places of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The function's number.
    pub function: u32,
    /// Its name, for people.
    pub name: String,
    /// The places.
    pub at: Vec<Moment>,
}

/// A place of a function at which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Moment {
    /// Before the first function is entered. It is a place of each function.
    Start,
    /// The function is entered.
    Entry,
    /// A block is entered.
    Block(u32),
    /// Just before a statement.
    Statement(u32),
    /// Just before the terminator of a block.
    Terminator(u32),
    /// A way out of a block is taken: those of a terminator, in the order of the text.
    Edge {
        /// The block.
        block: u32,
        /// The position of the way.
        way: u32,
    },
    /// A decision has its outcome.
    Decision(u32),
    /// A condition was evaluated.
    Condition {
        /// Its decision.
        decision: u32,
        /// The condition.
        condition: u32,
    },
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The event, by its position.
    pub event: usize,
    /// The predicate.
    pub predicate: Predicate,
}

/// A predicate, in Kleene's logic. A label is covered where it is surely true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Predicate {
    /// A constant.
    Constant(bool),
    /// An expression of the event's function, by its number; unknown where it traps.
    Expression(u32),
    /// The value of a condition. Where evaluation did not reach it, see [`Objectives::short_circuit`].
    Condition(u32),
    /// Whether evaluation of the decision reached a condition.
    Reached(u32),
    /// The value of an expression in place of a condition.
    Mutant {
        /// The condition.
        condition: u32,
        /// The expression.
        expression: u32,
    },
    /// Negation.
    Not(Box<Predicate>),
    /// Conjunction.
    All(Vec<Predicate>),
    /// Disjunction.
    Any(Vec<Predicate>),
    /// Exclusive or.
    Either(Box<(Predicate, Predicate)>),
}

/// A flag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// The flag that must be set before it, by its position; none for the first of a sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// The label that sets it.
    pub label: Label,
    /// The events that reset it, by their positions. One that does both resets it first.
    pub ends: Vec<usize>,
    /// Its scope.
    pub scope: Scope,
}

/// The scope of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One activation of the function of its label. It is reset where that is entered.
    Activation,
    /// The run.
    Run,
}

/// An objective: a label, or the last one of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// The objectives of criteria that it is, or is a part of.
    pub of: Vec<Named>,
    /// The flag that has to be set, by its position; none for a label by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// The label.
    pub label: Label,
}

/// An objective of a criterion, for people and for ledgers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The criterion.
    pub criterion: String,
    /// The objective in words.
    pub text: String,
    /// Its place in the source.
    pub place: String,
    /// Its key, which identifies it across runs.
    pub key: String,
}

impl Predicate {
    /// Calls `visit` with it and each predicate in it.
    pub fn for_each(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        match self {
            Self::Not(a) => a.for_each(visit),
            Self::All(all) | Self::Any(all) => all.iter().for_each(|one| one.for_each(visit)),
            Self::Either(both) => {
                both.0.for_each(visit);
                both.1.for_each(visit);
            }
            Self::Constant(_)
            | Self::Expression(_)
            | Self::Condition(_)
            | Self::Reached(_)
            | Self::Mutant { .. } => {}
        }
    }
}

impl Objectives {
    /// All labels: of flags, and of goals.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        let of_flags = self.flags.iter().map(|flag| &flag.label);
        of_flags.chain(self.goals.iter().map(|goal| &goal.label))
    }
}
