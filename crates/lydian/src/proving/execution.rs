//! Runs of the program itself, by the interpreter, with chosen inputs.
//!
//! They find errors behind long loops, which the engines would follow step by step. Short runs have many
//! kinds of inputs. A program that asks for no input has one run, which may be long.

use std::time::{Duration, Instant};

use lydian_base::Rng;
use lydian_ir::TrapKind;
use lydian_ir::interp::{End, Location, Observer, Options, Outcome, run};
use lydian_ir::source::Point;
use lydian_ir::test::{Image, Test};
use lydian_prove::encode::{Encoded, GoalMeaning, InputRead};
use lydian_prove::system::GoalId;
use rustc_hash::FxHashMap;

use super::answers::external;
use super::confirmation::{CallWatch, is_assertion_call, location};
use super::verdicts::{InputValue, MAIN, spelled};
use crate::project::linked::LinkedProgram;

/// The statements of a short run.
const FEW_STEPS: u64 = 50_000;
/// The most statements of a run.
const MOST_STEPS: u64 = 1 << 36;
/// The most statements of a run that is followed again with its calls watched, which is slower.
const MOST_WATCHED: u64 = 200_000_000;
/// The factor of the statements from one set of runs to the next.
const GROWTH: u32 = 8;
/// The most runs with inputs.
const MOST_RUNS: u64 = 48;
/// The answers that each function has for a run.
const ANSWERS: usize = 256;

/// By function: its results, in order.
type Answers = FxHashMap<String, Vec<InputValue>>;

/// A run that came to a goal.
pub(super) struct Hit {
    pub(super) goal: GoalId,
    pub(super) inputs: Vec<InputValue>,
}

/// A function that gives inputs.
#[derive(Clone)]
struct InputFunction {
    name: String,
    /// The size of its result.
    size: usize,
    /// The type of its result, as in C.
    ty: String,
}

/// Facts about some runs.
struct Runs {
    /// Whether one would have gone on.
    stopped: bool,
    /// Whether one asked for an input.
    asked: bool,
}

/// Ends a run where a function says so.
struct Stopper<'a>(&'a mut dyn FnMut() -> bool);

impl Observer for Stopper<'_> {
    fn listens(&self) -> bool {
        false
    }

    fn stops(&mut self) -> bool {
        self.0()
    }
}

/// Whether a run ended as those do that come to an error.
fn is_error(outcome: &Outcome) -> bool {
    outcome.end == End::Trapped(TrapKind::Abort)
}

/// Runs of a program.
pub(super) struct Execution<'a> {
    program: &'a LinkedProgram,
    /// The arguments of `main`.
    arguments: Vec<Image>,
    /// The goals, with the places of their calls.
    goals: Vec<(GoalId, Location)>,
    functions: Vec<InputFunction>,
    is_single: bool,
    rng: Rng,
}

impl<'a> Execution<'a> {
    pub(super) fn new(
        program: &'a LinkedProgram,
        encoded: &Encoded,
        arguments: Vec<Image>,
    ) -> Self {
        let goals = encoded.goals.iter().filter_map(|(goal, meaning)| match meaning {
            GoalMeaning::Error { function, call } => Some((goal, location((*function, *call)))),
            _ => None,
        });
        let types = &program.linked.program.types;
        let mut functions: Vec<InputFunction> = Vec::new();
        let points = encoded.system.points.ids();
        let reads = points.flat_map(|point| &encoded.inputs[point]);
        for InputRead { function, ty, .. } in reads.filter(|read| read.part.is_none()) {
            if !functions.iter().any(|known| known.name == *function) {
                functions.push(InputFunction {
                    name: function.clone(),
                    size: types.size(*ty).unwrap_or(0) as usize,
                    ty: spelled(types, *ty),
                });
            }
        }
        Self {
            program,
            arguments,
            goals: goals.collect(),
            functions,
            is_single: false,
            rng: Rng::new(7),
        }
    }

    /// Runs of few statements, then of more, for about so long. Gives the first run to each goal.
    pub(super) fn hits(&mut self, time: Duration) -> Vec<Hit> {
        let end = Instant::now() + time;
        let mut found: Vec<Hit> = Vec::new();
        // A function without its body may do anything, so a run without it shows nothing.
        if !self.program.left_out.is_empty() {
            return found;
        }
        let mut steps = FEW_STEPS;
        while steps <= MOST_STEPS {
            let begun = Instant::now();
            let Runs { stopped, asked } = self.runs(steps, end, &mut found);
            self.is_single = stopped && !asked;
            // Runs may take as many times longer as they have more statements.
            let (took, left) = (begun.elapsed(), end.saturating_duration_since(Instant::now()));
            if !stopped || !asked || found.len() == self.goals.len() || took * GROWTH > left {
                break;
            }
            steps *= u64::from(GROWTH);
        }
        found
    }

    /// Whether the program asks for no input, so that it has one run, and that is a long one.
    pub(super) const fn is_single(&self) -> bool {
        self.is_single
    }

    /// The one run of a program that asks for no input, until it ends or is told to stop.
    pub(super) fn whole_run(&self, stops: &mut dyn FnMut() -> bool) -> Option<Hit> {
        let answers = Answers::default();
        let outcome = self.run(&answers, MOST_STEPS, &mut Stopper(stops))?;
        if !is_error(&outcome) {
            return None;
        }
        let goal = self.goal(&answers, &outcome)?;
        Some(Hit { goal, inputs: self.inputs(&answers, &outcome) })
    }

    /// Runs of at most so many statements.
    fn runs(&mut self, steps: u64, end: Instant, found: &mut Vec<Hit>) -> Runs {
        let (mut stopped, mut asked) = (false, false);
        for number in 0..MOST_RUNS {
            if found.len() == self.goals.len() || Instant::now() >= end {
                break;
            }
            let answers = self.answers(number);
            let mut stops = || Instant::now() >= end;
            let Some(outcome) = self.run(&answers, steps, &mut Stopper(&mut stops)) else { break };
            stopped |= matches!(outcome.end, End::Stopped(_));
            asked |= !outcome.externals.is_empty();
            if is_error(&outcome) {
                let goal = self.goal(&answers, &outcome);
                let goal = goal.filter(|goal| !found.iter().any(|hit| hit.goal == *goal));
                let inputs = self.inputs(&answers, &outcome);
                found.extend(goal.map(|goal| Hit { goal, inputs }));
            }
            if !asked {
                break;
            }
        }
        Runs { stopped, asked }
    }

    fn run(&self, answers: &Answers, steps: u64, watch: &mut dyn Observer) -> Option<Outcome> {
        let test = Test {
            externals: answers.values().flatten().map(external).collect(),
            ..Test::calling(MAIN, self.arguments.clone())
        };
        let options = Options { max_steps: steps, ..Options::default() };
        run(&self.program.linked.program, &test, &options, watch).ok()
    }

    /// The goal whose call ended a run, or was open when it ended: an assertion may have passed.
    fn goal(&self, answers: &Answers, outcome: &Outcome) -> Option<GoalId> {
        let at = |location: Location| self.goals.iter().find(|(_, call)| *call == location);
        if let Some((goal, _)) = outcome.open_calls.iter().find_map(|call| at(*call)) {
            return Some(*goal);
        }
        if outcome.steps > MOST_WATCHED {
            return None;
        }
        // It may have ended in a function that was called there before.
        let program = &self.program.linked.program;
        let ends = |call: &Location| match call.point {
            Point::Stmt(stmt) => !is_assertion_call(program, (call.function, stmt)),
            Point::Term(_) => false,
        };
        let calls: Vec<Location> = self.goals.iter().map(|(_, call)| *call).filter(ends).collect();
        let mut watch = CallWatch::new(&calls);
        self.run(answers, outcome.steps + 1, &mut watch)?;
        watch.last.and_then(at).map(|(goal, _)| *goal)
    }

    /// The inputs that a run asked for, in order.
    fn inputs(&self, answers: &Answers, outcome: &Outcome) -> Vec<InputValue> {
        let mut given: FxHashMap<&str, usize> = FxHashMap::default();
        let mut inputs = Vec::new();
        for called in &outcome.externals {
            let name = self.program.linked.program.functions[*called].name.as_str();
            let known = self.functions.iter().find(|known| known.name == name);
            let Some(InputFunction { size, ty, .. }) = known else { continue };
            let count = given.entry(name).or_default();
            let value = answers.get(name).and_then(|values| values.get(*count));
            let zero = || InputValue {
                function: name.to_owned(),
                ty: Some(ty.clone()),
                bytes: vec![0; *size],
            };
            inputs.push(value.cloned().unwrap_or_else(zero));
            *count += 1;
        }
        inputs
    }

    /// The answers of a run. In the first all are zero.
    fn answers(&mut self, run: u64) -> Answers {
        let mut answers = Answers::default();
        if run == 0 {
            return answers;
        }
        let one = self.number(run);
        for InputFunction { name, size, ty } in self.functions.clone() {
            let mut values = Vec::new();
            for _ in 0..ANSWERS {
                let number = if run % 4 == 1 { one } else { self.number(run) };
                let bytes = u128::from(number).to_le_bytes()[..size.min(16)].to_vec();
                let (function, ty) = (name.clone(), Some(ty.clone()));
                values.push(InputValue { function, ty, bytes });
            }
            answers.insert(name, values);
        }
        answers
    }

    /// A number for an input. Those of one run are mostly of one kind.
    fn number(&mut self, run: u64) -> u64 {
        let some = self.rng.next_u64();
        match (run / 4 + some % 2) % 5 {
            0 => some / 2 % 4,
            1 => some / 2 % 100,
            2 => (some / 2 % 20).wrapping_neg(),
            3 => (1 << (some / 2 % 64)) - (some >> 8 & 1),
            _ => some.rotate_left(17),
        }
    }
}
