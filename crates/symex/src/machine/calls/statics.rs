//! Several calls of the function under test in one run.
//!
//! A static variable of a function has its initial value at the first call, and at later calls the
//! value that earlier calls left. So a path goes on with a further call, which has arguments of its
//! own, if it ends with other values of the function's own static variables than its call began
//! with. Where each path ends with values that some call began with, all values that the function's
//! own code can give them were followed. The labels left are then infeasible for every sequence of
//! calls. A call from values that were already followed does nothing new, since its arguments again
//! have any values.
//!
//! Variables that other code may write to between two calls keep the contents that the earlier call
//! left. Where a path looked at one, that is an assumption of the verdict *infeasible*. It is also
//! one where a static variable points to memory that other code may write to.
//!
//! The static variables of functions that it calls have the values that the text allows
//! ([`crate::machine::program::static_values`]): any code may have called those functions before.
//! Where paths began with each of these values, in combination with each value of the function's
//! own variables, nothing is assumed about them.
//!
//! A call also begins with the values that the call before left in variables which other code may
//! write to, and with the sequences of labels that are under way. A run's first call begins with any
//! values of such variables. A later call does something new where it begins with others than were
//! followed with the same values of the static variables. Only a few of these are followed. That no
//! others make a difference is an assumption.
//!
//! Values are compared as terms, and constants by their numbers. No run has more calls than
//! [`Limits::calls`](crate::Limits::calls); where one would need more, that is an assumption.

use std::collections::BTreeSet;
use std::sync::Arc;

use lydian_ir::{FuncId, Program};
use rustc_hash::FxHashMap;

use crate::config::{Config, Mode};
use crate::machine::memory::{Contents, Memory};

/// The most bytes of static variables with values that are compared.
pub(crate) const MOST_BYTES: u64 = 256;

/// The most combinations of values of other functions' variables that are followed.
const MOST_COMBINATIONS: usize = 16;

/// How many values of variables that other code may write to are followed with the same values of the
/// static variables.
const MOST_SHARED: usize = 4;

/// How many sets of sequences are followed with the same values of the static variables.
const MOST_ONGOING: usize = 16;

/// The beginning of a call on a path.
#[derive(Clone, Debug)]
pub(crate) struct CallStart {
    /// The contents of the static variables.
    pub(crate) statics: Arc<[Contents]>,
    /// The contents of the variables that other code may write to; none where the path has no such object.
    pub(crate) shared: Arc<[Option<Contents>]>,
    /// The sequences of labels that were under way.
    pub(crate) ongoing: Arc<[u64]>,
}

/// The sequences of labels that are under way between two calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OngoingSequences {
    /// A number for each, sorted.
    pub(crate) keys: Vec<u64>,
    /// Whether all of them began with the run, so that they are under way in its first call too.
    pub(crate) since_start: bool,
}

/// The constant values of static variables with which a call begins: those of the function's own, and
/// those of the others.
pub(crate) type StaticNumbers = [Vec<u8>; 2];

/// The value of a variable that other code may write to, where a call begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SharedValue {
    /// Any value.
    Any,
    /// A constant.
    Bytes(Vec<u8>),
    /// Another value, which is not compared.
    Other,
}

impl SharedValue {
    /// Whether a call that begins with it does all that one with the other value does.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            _ => false,
        }
    }
}

/// Whether a further call does anything new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// It may.
    New,
    /// A call with the same beginning is followed.
    Known,
    /// It may, and is one too many.
    LeftOut,
}

/// A static variable with values that are followed from call to call.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
    /// Whether it contains a pointer, or may contain one.
    pub(crate) has_pointer: bool,
}

/// The static variables of the function under test, and of functions that it calls, where runs of
/// several calls are followed.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    pub(crate) own: Vec<Variable>,
    /// The variables of other functions.
    pub(crate) of_others: Vec<Variable>,
    /// Variables that the function uses and that other code may write to between two calls, each
    /// with its contents at the beginning of the first call, once that has begun.
    pub(crate) shared: Vec<(Variable, Option<Contents>)>,
    /// All combinations of values that the variables of other functions can have, as concatenated
    /// bytes; empty where there are no such variables.
    combinations: Vec<Vec<u8>>,
    /// The beginnings of the calls that were followed: by the values of the static variables, the
    /// sequences under way and the values of `shared`.
    begun: FxHashMap<StaticNumbers, Vec<Beginning>>,
    /// The values with which the first call began.
    first: Option<StaticNumbers>,
    /// Whether there are values with which no call was followed, or that are no numbers.
    pub(crate) omissions: bool,
}

/// The sequences under way where a call began, and the values of shared variables with which such calls
/// were followed.
#[derive(Debug)]
struct Beginning {
    ongoing: Vec<u64>,
    shared: Vec<Vec<SharedValue>>,
}

impl Statics {
    /// Notes the beginning of the first call.
    pub(crate) fn begin_first(&mut self, numbers: StaticNumbers) {
        let shared = vec![vec![SharedValue::Any; self.shared.len()]];
        self.begun.insert(numbers.clone(), vec![Beginning { ongoing: Vec::new(), shared }]);
        self.first = Some(numbers);
    }

    /// Whether a call that begins so does anything new. One that does is noted.
    pub(crate) fn begin_again(
        &mut self,
        numbers: StaticNumbers,
        ongoing: &OngoingSequences,
        shared: Vec<SharedValue>,
    ) -> Novelty {
        if ongoing.since_start && self.first.as_ref() == Some(&numbers) {
            return Novelty::Known;
        }
        let begun = self.begun.entry(numbers).or_default();
        let Some(known) = begun.iter_mut().find(|known| known.ongoing == ongoing.keys) else {
            if begun.len() >= MOST_ONGOING {
                return Novelty::LeftOut;
            }
            begun.push(Beginning { ongoing: ongoing.keys.clone(), shared: vec![shared] });
            return Novelty::New;
        };
        let covers = |known: &Vec<SharedValue>| {
            known.iter().zip(&shared).all(|(known, value)| known.covers(value))
        };
        if known.shared.iter().any(covers) {
            return Novelty::Known;
        }
        if known.shared.len() >= MOST_SHARED {
            return Novelty::LeftOut;
        }
        known.shared.push(shared);
        Novelty::New
    }

    /// The contents of all variables, the function's own first.
    pub(crate) fn contents(&self, memory: &Memory) -> Arc<[Contents]> {
        let variables = self.own.iter().chain(&self.of_others);
        let objects = variables.filter_map(|variable| memory.object_at(variable.address));
        objects.map(|object| memory.object(object).contents.clone()).collect()
    }

    /// The contents of the variables that other code may write to.
    pub(crate) fn shared_contents(&self, memory: &Memory) -> Arc<[Option<Contents>]> {
        let contents = self.shared.iter().map(|(variable, _)| {
            let object = memory.object_at(variable.address)?;
            Some(memory.object(object).contents.clone())
        });
        contents.collect()
    }

    pub(crate) fn are_none(&self) -> bool {
        self.own.is_empty() && self.of_others.is_empty()
    }

    /// Adds a variable of another function that can have these values, if there are few enough
    /// combinations.
    pub(crate) fn add_of_other(&mut self, variable: Variable, values: &BTreeSet<Vec<u8>>) {
        if self.of_others.is_empty() {
            self.combinations = vec![Vec::new()];
        }
        let each = |value: &Vec<u8>| {
            self.combinations.iter().map(|first| [&first[..], value].concat()).collect::<Vec<_>>()
        };
        let combinations: Vec<Vec<u8>> = values.iter().flat_map(each).collect();
        if combinations.len() <= MOST_COMBINATIONS {
            self.combinations = combinations;
            self.of_others.push(variable);
        }
    }

    /// Whether calls began with all values of the variables of others, in combination with each
    /// value of the function's own.
    pub(crate) fn were_all_followed(&self) -> bool {
        let began_so = |own: &[u8], others: &[u8], ongoing: &[u64]| {
            let begun = self.begun.get(&[own.to_vec(), others.to_vec()]);
            begun.is_some_and(|begun| begun.iter().any(|one| one.ongoing == ongoing))
        };
        let all_began = |([own, _], begun): (&StaticNumbers, &Vec<Beginning>)| {
            begun.iter().all(|one| {
                self.combinations.iter().all(|others| began_so(own, others, &one.ongoing))
            })
        };
        !self.omissions && self.begun.iter().all(all_began)
    }
}

/// Whether a run begins with a function: it is `main`, and the program does not use it itself.
pub(crate) fn is_begin_of_program(program: &Program, function: FuncId) -> bool {
    program.functions[function].name == "main" && !program.is_used(function)
}

/// Whether an exploration may follow several calls: it looks for labels, and ends when none is
/// left.
pub(crate) fn follows_calls(config: &Config) -> bool {
    config.mode == Mode::Tight
        && config.label_deletion.deletes()
        && !config.every_path
        && config.limits.calls > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_were_followed_where_calls_began_with_each_combination() {
        let variable =
            |name: &str| Variable { address: 0, size: 1, name: name.into(), has_pointer: false };
        let mut statics = Statics::default();
        statics.own.push(variable("own"));
        statics.add_of_other(variable("a"), &BTreeSet::from([vec![0], vec![1]]));
        statics.add_of_other(variable("b"), &BTreeSet::from([vec![5], vec![6]]));
        assert_eq!(statics.combinations.len(), 4);
        let all = statics.combinations.clone();
        let none = OngoingSequences::default();
        for own in [0, 9] {
            for (count, others) in all.iter().enumerate() {
                assert!(!statics.were_all_followed() || count == 0, "{own} {count}");
                let begun = statics.begin_again([vec![own], others.clone()], &none, Vec::new());
                assert_eq!(begun, Novelty::New);
            }
            assert!(statics.were_all_followed());
        }
        statics.omissions = true;
        assert!(!statics.were_all_followed(), "what else its own was, was not begun with all");
    }

    #[test]
    fn a_call_is_new_where_no_followed_one_covers_its_beginning() {
        let shared = Variable { address: 0, size: 1, name: "g".into(), has_pointer: false };
        let mut statics = Statics { shared: vec![(shared, None)], ..Statics::default() };
        let numbers = |own: u8| [vec![own], Vec::new()];
        let none = OngoingSequences::default();
        let bytes = |byte| vec![SharedValue::Bytes(vec![byte])];
        statics.begin_first(numbers(0));
        assert_eq!(statics.begin_again(numbers(0), &none, bytes(3)), Novelty::Known);
        let ongoing = OngoingSequences { keys: vec![5], since_start: false };
        assert_eq!(statics.begin_again(numbers(0), &ongoing, bytes(3)), Novelty::New);
        assert_eq!(statics.begin_again(numbers(1), &none, bytes(3)), Novelty::New);
        assert_eq!(statics.begin_again(numbers(1), &none, bytes(3)), Novelty::Known);
        assert_eq!(statics.begin_again(numbers(1), &none, bytes(7)), Novelty::New);
        let other = || vec![SharedValue::Other];
        assert_eq!(statics.begin_again(numbers(1), &none, other()), Novelty::New);
        assert_eq!(statics.begin_again(numbers(1), &none, other()), Novelty::New);
        assert_eq!(statics.begin_again(numbers(1), &none, other()), Novelty::LeftOut);
    }
}
