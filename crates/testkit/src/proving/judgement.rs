//! A whole program's transition system, and the engines' answers, against runs of the interpreter.
//!
//! 1. Each run's inputs are given to the system, step by step. Values that the program leaves open are
//!    zero there.
//! 2. Where the system does not come to all errors that the run gets to, the inputs are put into the
//!    system as constants, and the engines are asked: they must not say that an error is out of reach.
//! 3. The engines are asked with all inputs open, and their arguments are checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lydian_ir::{Callee, Program, Stmt};
use lydian_prove::Semantics;
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, GoalMeaning, Goals, Rules, UninitialisedRead, encode,
};
use lydian_prove::engines::{Certificate, Decision, Flaw, Schedule, Verdict, decide};
use lydian_prove::system::{GoalId, PointId, System};
use lydian_smt::{
    ChainConfig, Evaluator, Limits, Model, Solver, Sort, Term, TermPool, Value, Z3Use,
    standard_chain,
};

use super::runs::{ErrorCall, Inputs, RunResult, run};
use super::writing::{DOMAIN, FIRST_INPUTS};

/// The most transitions of a run of a system.
const MOST_STEPS: usize = 2000;
/// The input that is compared with the sum.
const SUM: &str = "__VERIFIER_nondet_ulong";
/// How many runs are asked of the engines.
const MOST_ASKED: usize = 3;
/// How many inputs a run may read.
const MOST_INPUTS: usize = 40;

/// The time for a program.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// For the engines on one run's inputs.
    pub pinned: Duration,
    /// For the engines on all inputs.
    pub open: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { pinned: Duration::from_millis(1500), open: Duration::from_millis(400) }
    }
}

/// What was seen of programs.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What must not be, in words.
    pub contradictions: Vec<String>,
    /// Why the program was not judged, if it was not.
    pub skipped: Option<String>,
    /// How many errors there are.
    pub errors: usize,
    /// How many of them some run gets to.
    pub reached: usize,
    /// How many the engines say to be out of reach.
    pub unreachable: usize,
    /// How many they find a run to.
    pub found: usize,
    /// How many runs there are.
    pub runs: usize,
    /// How many of them get to the end.
    pub whole_runs: usize,
    /// How many the system follows with zero for what is open.
    pub followed: usize,
    /// How many errors of runs the engines find with these inputs, of those that the system does not get
    /// to with zero.
    pub confirmed: usize,
    /// How many they do not.
    pub open: usize,
    /// How many systems have no more runs than their program.
    pub exact: usize,
    /// Why the others may have more, and how many do.
    pub inexact: BTreeMap<String, usize>,
}

impl Judgement {
    /// Adds what was seen of another program.
    pub fn add(&mut self, other: Self) {
        self.contradictions.extend(other.contradictions);
        self.errors += other.errors;
        self.reached += other.reached;
        self.unreachable += other.unreachable;
        self.found += other.found;
        self.runs += other.runs;
        self.whole_runs += other.whole_runs;
        self.followed += other.followed;
        self.confirmed += other.confirmed;
        self.open += other.open;
        self.exact += other.exact;
        for (reason, count) in other.inexact {
            *self.inexact.entry(reason).or_default() += count;
        }
    }

    /// The counts in words.
    pub fn summary(&self) -> String {
        format!(
            "{} errors, {} reached by runs, {} out of reach, {} found, of {} runs {} to the end and {} \
             followed, else {} errors confirmed and {} open, {} systems exact, {} contradictions",
            self.errors,
            self.reached,
            self.unreachable,
            self.found,
            self.runs,
            self.whole_runs,
            self.followed,
            self.confirmed,
            self.open,
            self.exact,
            self.contradictions.len()
        )
    }
}

/// Runs a program on all its first inputs, some late ones each, and compares.
pub fn judge(program: &Program, seed: u64, times: Times) -> Judgement {
    let mut judgement = Judgement::default();
    let mut pool = TermPool::new();
    let encoded = match encoded(&mut pool, program) {
        Ok(encoded) => encoded,
        Err(why) => return Judgement { skipped: Some(why), ..judgement },
    };
    let runs = all_runs(program, seed);
    let mut judge = Judge { pool, encoded: &encoded, solver: solver(), times, program };
    judgement.runs = runs.len();
    judgement.whole_runs = runs.iter().filter(|run| run.sum.is_some()).count();
    judgement.exact = usize::from(encoded.system.inexact.is_empty());
    judgement.inexact = encoded.system.inexact.iter().map(|reason| (reason.clone(), 1)).collect();
    judge.follow(&runs, &mut judgement);
    judge.ask_open(&runs, &mut judgement);
    judgement
}

fn encoded(pool: &mut TermPool, program: &Program) -> Result<Encoded, String> {
    let entry = program.function_named("main").ok_or("no main")?;
    let request = EncodeRequest {
        program,
        entry,
        goals: Goals { errors: true, ..Goals::default() },
        semantics: Semantics::default(),
        rules: Rules { uninitialised: UninitialisedRead::AnyValue, allocation_succeeds: true },
        limits: EncodeLimits { blocks: 2000, ..EncodeLimits::default() },
    };
    encode(pool, &request).map_err(|error| error.to_string())
}

fn solver() -> Box<dyn Solver> {
    standard_chain(&ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() })
}

fn all_runs(program: &Program, seed: u64) -> Vec<RunResult> {
    let mut rng = lydian_base::Rng::new(seed ^ 0x5eed);
    let mut runs = Vec::new();
    for number in 0..DOMAIN.pow(FIRST_INPUTS as u32) {
        let first = std::array::from_fn(|at| number / DOMAIN.pow(at as u32) % DOMAIN);
        let late = (0..MOST_INPUTS).map(|_| rng.below(6)).collect();
        runs.extend(run(program, &Inputs { first, late }));
    }
    runs
}

struct Judge<'j> {
    pool: TermPool,
    encoded: &'j Encoded,
    solver: Box<dyn Solver>,
    times: Times,
    program: &'j Program,
}

impl Judge<'_> {
    fn follow(&mut self, runs: &[RunResult], judgement: &mut Judgement) {
        let (mut asked, mut asked_of) = (0, BTreeSet::new());
        for run in runs {
            let (mut wanted, missing) = self.goals_of(run);
            for call in missing {
                judgement.contradictions.push(format!("no goal for {call} {:?}", run.inputs));
            }
            let met = follow(&self.pool, self.encoded, run);
            wanted.retain(|goal| !met.contains(goal));
            if wanted.is_empty() {
                judgement.followed += 1;
                continue;
            }
            if asked == MOST_ASKED || !asked_of.insert(wanted.clone()) {
                continue;
            }
            asked += 1;
            self.ask_pinned(run, &wanted, judgement);
        }
    }

    /// The goals of the errors that a run gets to, and the errors without a goal. Runs to the end can get
    /// to the last error.
    fn goals_of(&self, run: &RunResult) -> (BTreeSet<GoalId>, Vec<String>) {
        let (mut goals, mut missing) = (BTreeSet::new(), Vec::new());
        let last = run.sum.and_then(|_| last_error(self.program));
        for call in run.reached.iter().copied().chain(last) {
            match goal_of(self.encoded, call) {
                Some(goal) => _ = goals.insert(goal),
                None => missing.push(self.shown(call)),
            }
        }
        (goals, missing)
    }

    fn shown(&self, (function, stmt): ErrorCall) -> String {
        format!("{stmt} of {}", self.program.functions[function].name)
    }

    fn decided(&mut self, system: &System, goals: &[GoalId], time: Duration) -> Vec<Verdict> {
        let limits = Limits { end: Some(Instant::now() + time), ..Limits::none() };
        let schedule = Schedule { rounds: u32::MAX, limits, ..Schedule::default() };
        decide(&mut self.pool, system, goals, &mut *self.solver, &schedule)
    }

    fn ask_pinned(&mut self, run: &RunResult, goals: &BTreeSet<GoalId>, to: &mut Judgement) {
        let system = pinned(&mut self.pool, self.encoded, run);
        let goals: Vec<GoalId> = goals.iter().copied().collect();
        for verdict in self.decided(&system, &goals, self.times.pinned) {
            to.confirmed += usize::from(matches!(verdict.decision, Decision::Reached(_)));
            to.open += usize::from(matches!(verdict.decision, Decision::Unknown(_)));
            if matches!(verdict.decision, Decision::Unreachable(_)) {
                let name = &self.encoded.system.goals[verdict.goal].name;
                to.contradictions.push(format!(
                    "{name} is reached with {:?} and sum {:?}, and unreachable by {} with these",
                    run.inputs.first, run.sum, verdict.engine
                ));
            }
        }
    }

    fn ask_open(&mut self, runs: &[RunResult], to: &mut Judgement) {
        let reached: BTreeSet<GoalId> = runs.iter().flat_map(|run| self.goals_of(run).0).collect();
        let goals: Vec<GoalId> = self.encoded.system.goals.ids().collect();
        to.errors = goals.len();
        to.reached = reached.len();
        for verdict in self.decided(&self.encoded.system, &goals, self.times.open) {
            let name = &self.encoded.system.goals[verdict.goal].name;
            match verdict.decision {
                Decision::Unreachable(certificate) => {
                    to.unreachable += 1;
                    if reached.contains(&verdict.goal) {
                        let text =
                            format!("{name} is reached, and unreachable by {}", verdict.engine);
                        to.contradictions.push(text);
                    }
                    self.check(verdict.goal, &certificate, to);
                }
                Decision::Reached(_) => to.found += 1,
                Decision::Unknown(why) if why.starts_with("internal") => {
                    to.contradictions.push(format!("{name}: {why}"));
                }
                Decision::Unknown(_) => {}
            }
        }
    }

    fn check(&mut self, goal: GoalId, certificate: &Certificate, to: &mut Judgement) {
        let limits = Limits { time: Some(self.times.open), ..Limits::none() };
        let system = &self.encoded.system;
        let checked = certificate.check(&mut self.pool, system, goal, &mut *self.solver, &limits);
        if let Err(Flaw::Refuted(part)) = checked {
            let name = &system.goals[goal].name;
            to.contradictions.push(format!("the argument for {name} is false: {part}"));
        }
    }
}

fn goal_of(encoded: &Encoded, (function, call): ErrorCall) -> Option<GoalId> {
    let wanted = GoalMeaning::Error { function, call };
    encoded.goals.iter().find(|(_, meaning)| **meaning == wanted).map(|(goal, _)| goal)
}

/// The error of `main` that all runs to its end get to if their sum is given: the one behind the read of
/// the sum.
fn last_error(program: &Program) -> Option<ErrorCall> {
    let main = program.function_named("main")?;
    let body = program.functions[main].body.as_ref()?;
    let place_of = |name: &str| {
        let calls = body.stmts.iter().filter(|(_, stmt)| match stmt {
            Stmt::Call { callee: Callee::Direct(callee), .. } => {
                program.functions[*callee].name == name
            }
            _ => false,
        });
        calls.map(|(id, _)| (body.source.stmts[id].start, id)).max()
    };
    let (sum, (error, call)) = (place_of(SUM)?.0, place_of("reach_error")?);
    (error > sum).then_some((main, call))
}

/// The system with a run's first inputs and its sum as constants.
fn pinned(pool: &mut TermPool, encoded: &Encoded, run: &RunResult) -> System {
    let mut system = encoded.system.clone();
    let mut known = rustc_hash::FxHashMap::default();
    let first = encoded.inputs[system.entry].iter().zip(run.inputs.first);
    for (read, value) in first {
        let width = pool.width(read.symbol);
        known.insert(read.symbol, pool.bv(width, value));
    }
    for point in system.points.ids() {
        for read in encoded.inputs[point].iter().filter(|read| read.function == SUM) {
            let sum = pool.bv(pool.width(read.symbol), run.sum.unwrap_or(0).into());
            known.insert(read.symbol, sum);
        }
    }
    let mut put = |term: &mut Term| *term = pool.substituted(*term, &mut known);
    for transition in &mut system.transitions {
        put(&mut transition.guard);
        transition.next.iter_mut().for_each(&mut put);
    }
    for (_, goal) in system.goals.iter_mut() {
        goal.approaches.iter_mut().for_each(|approach| put(&mut approach.condition));
    }
    system
}

/// The goals that a system comes to with a run's inputs, where all else that is open is zero.
fn follow(pool: &TermPool, encoded: &Encoded, run: &RunResult) -> BTreeSet<GoalId> {
    let system = &encoded.system;
    let (mut evaluator, mut met) = (Evaluator::new(), BTreeSet::new());
    let nothing = Model::new();
    let initial = system.initial.iter();
    let mut state: Vec<Value> =
        initial.map(|term| value(&mut evaluator, pool, &nothing, *term)).collect();
    let mut inputs = run.inputs.first.iter().chain(&run.inputs.late).copied();
    let mut point = system.entry;
    for _ in 0..MOST_STEPS {
        let model = step(pool, encoded, (point, &state), &mut inputs, run.sum);
        for (id, goal) in system.goals.iter() {
            let mut approaches = goal.approaches.iter().filter(|one| one.from == point);
            if approaches.any(|one| evaluator.holds(pool, &model, one.condition)) {
                met.insert(id);
            }
        }
        let mut taken = system.from(point);
        let Some(taken) = taken.find(|one| evaluator.holds(pool, &model, one.guard)) else {
            break;
        };
        state = taken.next.iter().map(|term| value(&mut evaluator, pool, &model, *term)).collect();
        point = taken.to;
    }
    met
}

/// The values of variables and inputs for the paths from a point.
fn step(
    pool: &TermPool,
    encoded: &Encoded,
    (point, state): (PointId, &[Value]),
    inputs: &mut impl Iterator<Item = u64>,
    sum: Option<u32>,
) -> Model {
    let symbols = encoded.system.variables.values().map(|variable| variable.symbol);
    let mut values: BTreeMap<Term, Value> = symbols.zip(state.iter().cloned()).collect();
    let mut evaluator = Evaluator::new();
    for read in &encoded.inputs[point] {
        let model = Model::from_values(values.clone().into_iter().collect());
        if evaluator.holds(pool, &model, read.condition) {
            let input = match read.function == SUM {
                true => sum.unwrap_or(0).into(),
                false => inputs.next().unwrap_or(0),
            };
            values.insert(read.symbol, Value::from_u64(pool.sort(read.symbol), input));
        }
    }
    Model::from_values(values.into_iter().collect())
}

fn value(evaluator: &mut Evaluator, pool: &TermPool, model: &Model, term: Term) -> Value {
    match pool.sort(term) {
        Sort::Array { .. } => Value::Array(Arc::new(evaluator.eval_array(pool, model, term))),
        _ => evaluator.eval(pool, model, term),
    }
}
