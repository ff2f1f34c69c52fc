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
//! Values are compared as terms, and constants by their numbers. No run has more calls than
//! [`Limits::calls`](crate::Limits::calls); where one would need more, that is an assumption.

use std::collections::BTreeSet;
use std::sync::Arc;

use lydian_ir::{FuncId, Program};
use rustc_hash::FxHashSet;

use crate::config::{Config, Mode};
use crate::machine::memory::{Contents, Memory};

/// The most bytes of static variables with values that are compared.
pub(crate) const MOST_BYTES: u64 = 256;

/// The most combinations of values of other functions' variables that are followed.
const MOST_COMBINATIONS: usize = 16;

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
    /// The constant values with which calls began: those of the function's own variables, and those
    /// of the others.
    pub(crate) begun: FxHashSet<[Vec<u8>; 2]>,
    /// Whether there are values with which no call was followed, or that are no numbers.
    pub(crate) omissions: bool,
}

impl Statics {
    /// The contents of all variables, the function's own first.
    pub(crate) fn contents(&self, memory: &Memory) -> Arc<[Contents]> {
        let variables = self.own.iter().chain(&self.of_others);
        let objects = variables.filter_map(|variable| memory.object_at(variable.address));
        objects.map(|object| memory.object(object).contents.clone()).collect()
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
        let all_began = |[own, _]: &[Vec<u8>; 2]| {
            let began = |others: &Vec<u8>| self.begun.contains(&[own.clone(), others.clone()]);
            self.combinations.iter().all(began)
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
