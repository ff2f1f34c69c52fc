//! The goals, and the ways to them that were found.

pub(crate) mod labels;
pub(crate) mod sequences;

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::Arena;
use lydian_ir::{Callee, FuncId, Program, Stmt};
use lydian_smt::{Term, TermPool};

use crate::encode::encoded::GoalMeaning;
use crate::encode::inlined::Inlined;
use crate::encode::inlined::calls::{is_assertion, is_error, is_left_out};
use crate::encode::request::Goals;
use crate::system::GoalId;

/// The ways from a point to a goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) condition: Term,
    /// How many inputs were read before.
    pub(crate) inputs: usize,
}

/// The goals.
#[derive(Debug)]
pub(crate) struct GoalTable<'a> {
    pub(crate) all: Arena<GoalId, GoalMeaning>,
    ids: BTreeMap<GoalMeaning, GoalId>,
    /// The calls of error functions in each function of the program that has some.
    errors_in: BTreeMap<FuncId, Vec<GoalMeaning>>,
    asked: Goals<'a>,
    /// The goals that were hit since the point.
    pub(crate) hits: BTreeMap<GoalId, Hit>,
}

impl<'a> GoalTable<'a> {
    /// With a goal for each call of an error function that is inlined, and for each label.
    pub(crate) fn new(inlined: &Inlined<'a>, goals: Goals<'a>) -> Self {
        let mut table = Self {
            all: Arena::new(),
            ids: BTreeMap::new(),
            errors_in: BTreeMap::new(),
            asked: goals,
            hits: BTreeMap::new(),
        };
        if goals.errors {
            table.errors_in = errors_in(inlined.program);
        }
        let functions: BTreeSet<FuncId> =
            inlined.instances.values().map(|instance| instance.function).collect();
        for meaning in table.errors_of(&functions) {
            table.add(meaning);
        }
        for meaning in table.labels_and_sequences() {
            table.add(meaning);
        }
        table
    }

    /// The labels and sequences that are goals.
    fn labels_and_sequences(&self) -> Vec<GoalMeaning> {
        let asked = self.asked;
        let labels = asked.labels.iter().flat_map(|of| {
            let function = of.function;
            let chosen = of.labels.ids().filter(move |label| asked.has_label((function, *label)));
            chosen.map(move |label| GoalMeaning::Label { function, label })
        });
        let sequences = asked.sequences.iter().flat_map(|of| {
            let function = of.function;
            let chosen = of.sequences.ids().filter(move |id| asked.has_sequence((function, *id)));
            chosen.map(move |sequence| GoalMeaning::Sequence { function, sequence })
        });
        labels.chain(sequences).collect()
    }

    fn add(&mut self, meaning: GoalMeaning) -> GoalId {
        *self.ids.entry(meaning).or_insert_with(|| self.all.push(meaning))
    }

    /// The calls of error functions in some functions.
    fn errors_of(&self, functions: &BTreeSet<FuncId>) -> Vec<GoalMeaning> {
        let all = self.errors_in.iter().filter(|(function, _)| functions.contains(function));
        all.flat_map(|(_, errors)| errors).copied().collect()
    }

    /// Notes that a goal is reached where a condition holds.
    pub(crate) fn hit(
        &mut self,
        pool: &mut TermPool,
        meaning: GoalMeaning,
        condition: Term,
        inputs: usize,
    ) {
        let is_wanted = self.asked.errors || !matches!(meaning, GoalMeaning::Error { .. });
        if !is_wanted || pool.as_bool(condition) == Some(false) {
            return;
        }
        let goal = self.add(meaning);
        let hit = self.hits.entry(goal).or_insert(Hit { condition: pool.ff(), inputs });
        hit.condition = pool.or(hit.condition, condition);
        hit.inputs = hit.inputs.max(inputs);
    }

    /// Notes that all goals may be reached.
    pub(crate) fn hit_all(&mut self, pool: &mut TermPool, condition: Term, inputs: usize) {
        let all: Vec<GoalMeaning> = self.all.values().copied().collect();
        all.into_iter().for_each(|meaning| self.hit(pool, meaning, condition, inputs));
    }

    /// Notes that the goals inside of some functions may be reached.
    pub(crate) fn hit_inside(
        &mut self,
        pool: &mut TermPool,
        functions: &BTreeSet<FuncId>,
        condition: Term,
        inputs: usize,
    ) {
        let mut reached = self.errors_of(functions);
        let labels = self.labels_and_sequences().into_iter();
        reached.extend(labels.filter(|meaning| self.is_inside(*meaning, functions)));
        reached.into_iter().for_each(|meaning| self.hit(pool, meaning, condition, inputs));
    }

    /// Whether some functions have a label that a goal is or is made of.
    fn is_inside(&self, meaning: GoalMeaning, functions: &BTreeSet<FuncId>) -> bool {
        match meaning {
            GoalMeaning::Label { function, .. } => functions.contains(&function),
            GoalMeaning::Sequence { function, sequence } => {
                let of = self.asked.sequences.iter().find(|of| of.function == function);
                let mut atoms = of.iter().flat_map(|of| &of.sequences[sequence].atoms);
                functions.contains(&function)
                    || atoms.any(|atom| functions.contains(&atom.function))
            }
            GoalMeaning::Error { .. } => false,
        }
    }
}

/// The calls in each function that may be of error functions, or run code that is not understood: any
/// call through a pointer, if the address of such a function is taken.
fn errors_in(program: &Program) -> BTreeMap<FuncId, Vec<GoalMeaning>> {
    let mut all: BTreeMap<FuncId, Vec<GoalMeaning>> = BTreeMap::new();
    let is_wanted = |callee: FuncId| {
        let callee = &program.functions[callee];
        is_error(callee) || is_assertion(callee) || is_left_out(callee)
    };
    let by_pointer = program.addressed_functions().into_iter().any(is_wanted);
    for (function, caller) in program.defined().filter(|(_, caller)| !is_error(caller)) {
        for (call, stmt) in caller.body.iter().flat_map(|body| body.stmts.iter()) {
            let Stmt::Call { callee, .. } = stmt else { continue };
            let may_be_error = match callee {
                Callee::Direct(callee) => is_wanted(*callee),
                Callee::Indirect(_) => by_pointer,
            };
            if may_be_error {
                all.entry(function).or_default().push(GoalMeaning::Error { function, call });
            }
        }
    }
    all
}
