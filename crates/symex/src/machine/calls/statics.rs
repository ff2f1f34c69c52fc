//! Several calls of the function under test in one run.
//!
//! A static variable of a function has its first value at the first call, and what earlier calls left in it
//! at the others. So a path that ends with other values of the function's own static variables than its
//! call began with goes on with a further call, which has arguments of its own. Where each path ends with
//! values that some call began with, all values were followed that the function's own code can give them,
//! and what is left is infeasible for every sequence of calls: a call from values that were followed
//! already does nothing new, since its arguments have any values again. Variables that others may write to
//! between two calls have what the earlier call left there: where it looked at one, that is an assumption of
//! what is left, and so it is where a static variable has a pointer to what others may write to.
//!
//! The static variables of functions that it calls have what the text says that they can have
//! ([`crate::machine::program::static_values`]): anybody may have called those before. Where paths began with each of these
//! values, whatever the function's own variables had then, nothing is assumed of them.
//!
//! Values are compared as terms, and those that are known numbers by what they are. No run has more calls
//! than [`Limits::calls`](crate::Limits::calls) says; where one would need more, that is an assumption of
//! what is left.

use std::collections::BTreeSet;
use std::sync::Arc;

use lydian_ir::{FuncId, Program};
use rustc_hash::FxHashSet;

use crate::config::{Config, Mode};
use crate::machine::memory::{Contents, Memory};

/// Bytes of static variables whose values are compared.
pub(crate) const MOST_BYTES: u64 = 256;

/// So many combinations of values of other functions' variables are followed.
const MOST_COMBINATIONS: usize = 16;

/// A static variable whose values are followed from call to call.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
    /// Whether it has a pointer, or may have one.
    pub(crate) has_pointer: bool,
}

/// The static variables of the function under test, and of functions that it calls, where runs of
/// several calls are followed.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    pub(crate) own: Vec<Variable>,
    /// Those of other functions.
    pub(crate) of_others: Vec<Variable>,
    /// Variables that the function gets at and that others may write to between two calls, each with what
    /// it has when the first call begins, from there on.
    pub(crate) shared: Vec<(Variable, Option<Contents>)>,
    /// All combinations of values that those of other functions can have, as bytes one after the other; none where
    /// there are no such variables.
    combinations: Vec<Vec<u8>>,
    /// Values with which calls began that are numbers: the function's own, and the others'.
    pub(crate) begun: FxHashSet<[Vec<u8>; 2]>,
    /// Whether there are values with which a call was not followed, or that are no numbers.
    pub(crate) omissions: bool,
}

impl Statics {
    /// What they have, the function's own first.
    pub(crate) fn contents(&self, memory: &Memory) -> Arc<[Contents]> {
        let variables = self.own.iter().chain(&self.of_others);
        let objects = variables.filter_map(|variable| memory.object_at(variable.address));
        objects.map(|object| memory.object(object).contents.clone()).collect()
    }

    pub(crate) fn are_none(&self) -> bool {
        self.own.is_empty() && self.of_others.is_empty()
    }

    /// Adds one of another function that can have these values, if there are few enough of all.
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

    /// Whether calls began with all that the variables of others can have, for each that those of the
    /// function's own had.
    pub(crate) fn were_all_followed(&self) -> bool {
        let all_began = |[own, _]: &[Vec<u8>; 2]| {
            let began = |others: &Vec<u8>| self.begun.contains(&[own.clone(), others.clone()]);
            self.combinations.iter().all(began)
        };
        !self.omissions && self.begun.iter().all(all_began)
    }
}

/// Whether a run begins with a function: `main`, where the program does not use it itself.
pub(crate) fn is_begin_of_program(program: &Program, function: FuncId) -> bool {
    program.functions[function].name == "main" && !program.is_used(function)
}

/// Whether an exploration may follow several calls: it looks for labels, and ends when none is left.
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
    fn all_was_followed_where_calls_began_with_each_value_of_others_for_each_of_its_own() {
        let variable =
            |name: &str| Variable { address: 0, size: 1, name: name.into(), has_pointer: false };
        let mut statics = Statics::default();
        statics.own.push(variable("own"));
        statics.add_of_other(variable("a"), &BTreeSet::from([vec![0], vec![1]]));
        statics.add_of_other(variable("b"), &BTreeSet::from([vec![5], vec![6]]));
        assert_eq!(statics.combinations.len(), 4);
        let all = statics.combinations.clone();
        for own in [0, 9] {
            for (count, others) in all.iter().enumerate() {
                assert!(!statics.were_all_followed() || count == 0, "{own} {count}");
                statics.begun.insert([vec![own], others.clone()]);
            }
            assert!(statics.were_all_followed());
        }
        statics.omissions = true;
        assert!(!statics.were_all_followed(), "what else its own was, was not begun with all");
    }
}
