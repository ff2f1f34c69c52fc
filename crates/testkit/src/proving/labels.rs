//! The labels and sequences of a function under test as goals, against runs in random memory.
//!
//! A label that a run covers must not be out of reach. The engines are asked for those that runs cover, and
//! for some others. What they call unreachable among these is attacked by further runs.

use std::collections::BTreeMap;
use std::time::Instant;

use lydian_base::Rng;
use lydian_clib::Purpose;
use lydian_ir::interp::Options;
use lydian_ir::test::Test;
use lydian_ir::verify::verify_body;
use lydian_ir::{Body, Program};
use lydian_objective::trace::Tracer;
use lydian_objective::{
    CoverageInterpreter, Criterion, FunctionObjectives, RecordRequest, Request, annotate,
};
use lydian_prove::Semantics;
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, GoalMeaning, Goals, Rules, UninitialisedRead, encode,
};
use lydian_prove::engines::{Decision, Schedule, decide};
use lydian_prove::system::GoalId;
use lydian_smt::{ChainConfig, Limits, TermPool, Z3Use, standard_chain};

use super::judgement::{Judgement, Times};
use super::random_memory::random_test;
use super::runs::{Loader, read};

/// The criteria with labels.
const CRITERIA: [Criterion; 10] = [
    Criterion::Fc,
    Criterion::Stmt,
    Criterion::Bbc,
    Criterion::Bc,
    Criterion::Dcc,
    Criterion::Mcc,
    Criterion::Gacc,
    Criterion::Wm,
    Criterion::Bva,
    Criterion::Mcdc,
];
/// The criteria with sequences.
const OF_SEQUENCES: [Criterion; 3] = [Criterion::AllUses, Criterion::AllDefs, Criterion::Mlo];
/// How many tests there are for a function.
const TESTS: usize = 200;
/// How many labels or sequences of a function are asked for.
const MOST_ASKED: usize = 30;
/// How many of a function that no test covers are asked for.
const MOST_UNCOVERED: usize = 12;
/// How many further tests attack what is called unreachable.
const FURTHER_TESTS: usize = 1500;
/// The most steps of a test.
const MOST_STEPS: u64 = 20_000;

/// A function under test, `run`, with the functions that it calls.
pub struct UnderTest {
    program: Program,
    labels: FunctionObjectives,
    sequences: FunctionObjectives,
}

impl UnderTest {
    /// Reads a text and makes the objectives of `run`.
    ///
    /// # Errors
    /// The message of whoever rejects it.
    pub fn read(loader: &Loader, text: &str) -> Result<Self, String> {
        let linked = loader.linked(read(text)?, Purpose::Explore)?;
        let program = linked.program;
        let function = program.function_named("run").ok_or("no function run")?;
        let objectives = |criteria: &[Criterion]| {
            let request = Request::new(criteria);
            let annotation = annotate(&program, &linked.source, function, &request);
            annotation.map(|annotation| annotation.objectives).map_err(|error| error.to_string())
        };
        let (labels, sequences) = (objectives(&CRITERIA)?, objectives(&OF_SEQUENCES)?);
        for made in [&labels, &sequences] {
            well_formed(&program, made)?;
        }
        Ok(Self { program, labels, sequences })
    }

    /// Runs the function in random memory, and compares.
    pub fn judge(&self, seed: u64, times: Times) -> Judgement {
        let mut judgement = Judgement::default();
        let mut rng = Rng::new(seed ^ 0x7e57);
        let tests: Vec<Test> = (0..TESTS)
            .map(|_| random_test(&self.program, self.labels.function, &mut rng))
            .collect();
        self.judge_labels(&tests, (times, &mut rng), &mut judgement);
        self.judge_sequences(&tests, (times, &mut rng), &mut judgement);
        judgement
    }

    fn judge_labels(&self, tests: &[Test], by: (Times, &mut Rng), to: &mut Judgement) {
        let function = self.labels.function;
        let objectives = std::slice::from_ref(&self.labels);
        let interpreter = CoverageInterpreter::new(&self.program, objectives, false);
        let covered_by = |test: &Test| -> Vec<GoalMeaning> {
            let Ok(run) = interpreter.run(test, &options()) else { return Vec::new() };
            let labels = run.covered[0].iter();
            labels.map(|label| GoalMeaning::Label { function, label: *label }).collect()
        };
        let goals = Goals { labels: std::slice::from_ref(&self.labels), ..Goals::default() };
        self.judge_goals(goals, tests, &covered_by, by, to);
    }

    /// Compares what tests cover with what the engines say, and attacks what they call unreachable.
    fn judge_goals(
        &self,
        goals: Goals<'_>,
        tests: &[Test],
        covered_by: &dyn Fn(&Test) -> Vec<GoalMeaning>,
        (times, rng): (Times, &mut Rng),
        to: &mut Judgement,
    ) {
        let mut covered = BTreeMap::new();
        for test in tests {
            to.runs += 1;
            for goal in covered_by(test) {
                covered.entry(goal).or_insert(test);
            }
        }
        let claimed = self.compare(goals, &covered, (times, rng), to);
        if claimed.is_empty() {
            return;
        }
        to.unreachable += claimed.len();
        for _ in 0..FURTHER_TESTS {
            let test = random_test(&self.program, self.labels.function, rng);
            for goal in covered_by(&test).iter().filter(|goal| claimed.contains_key(goal)) {
                let (text, engine) = (self.shown(*goal), claimed[goal]);
                let told =
                    format!("{text} is unreachable by {engine}, and a further run covers it");
                if !to.contradictions.contains(&told) {
                    to.contradictions.push(told);
                }
            }
        }
    }

    fn judge_sequences(&self, tests: &[Test], by: (Times, &mut Rng), to: &mut Judgement) {
        let function = self.sequences.function;
        let tracer = Tracer::new(&self.program, std::slice::from_ref(&self.sequences), false);
        let covered_by = |test: &Test| -> Vec<GoalMeaning> {
            let Ok((trace, _)) = tracer.run(test, &options()) else { return Vec::new() };
            let record = trace.record(&self.sequences, &RecordRequest::default());
            let all = self.sequences.sequences.ids();
            let covered = all.filter(|sequence| record.covers_sequence(*sequence));
            covered.map(|sequence| GoalMeaning::Sequence { function, sequence }).collect()
        };
        let goals = Goals { sequences: std::slice::from_ref(&self.sequences), ..Goals::default() };
        self.judge_goals(goals, tests, &covered_by, by, to);
    }

    /// Asks for what runs cover, and for some goals that they do not. Returns those of the latter that are
    /// called unreachable, with the engines that say so.
    fn compare(
        &self,
        goals: Goals<'_>,
        covered: &BTreeMap<GoalMeaning, &Test>,
        (times, rng): (Times, &mut Rng),
        to: &mut Judgement,
    ) -> BTreeMap<GoalMeaning, &'static str> {
        let mut claimed = BTreeMap::new();
        let mut pool = TermPool::new();
        let encoded = match self.encoded(&mut pool, goals) {
            Ok(encoded) => encoded,
            Err(why) => {
                to.skipped = Some(why);
                return claimed;
            }
        };
        to.errors += encoded.goals.len();
        to.reached += covered.len();
        to.exact += usize::from(encoded.system.inexact.is_empty());
        for reason in &encoded.system.inexact {
            *to.inexact.entry(reason.clone()).or_default() += 1;
        }
        let meanings: BTreeMap<GoalMeaning, GoalId> =
            encoded.goals.iter().map(|(goal, meaning)| (*meaning, goal)).collect();
        let missing = covered.keys().filter(|meaning| !meanings.contains_key(meaning));
        to.contradictions.extend(missing.map(|meaning| format!("no goal for {meaning:?}")));
        let (of_runs, others): (Vec<_>, Vec<_>) =
            meanings.iter().partition(|(meaning, _)| covered.contains_key(meaning));
        let mut asked = Vec::new();
        for (part, most) in [(of_runs, MOST_ASKED), (others, MOST_UNCOVERED)] {
            let mut part: Vec<GoalId> = part.into_iter().map(|(_, goal)| *goal).collect();
            while part.len() > most {
                part.swap_remove(rng.below(part.len() as u64) as usize);
            }
            asked.extend(part);
        }
        let mut solver = standard_chain(&ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() });
        let limits = Limits { end: Some(Instant::now() + times.pinned), ..Limits::none() };
        let schedule = Schedule { rounds: u32::MAX, limits, ..Schedule::default() };
        for verdict in decide(&mut pool, &encoded.system, &asked, &mut *solver, &schedule) {
            match verdict.decision {
                Decision::Unreachable(_) => {
                    let meaning = encoded.goals[verdict.goal];
                    let Some(test) = covered.get(&meaning) else {
                        claimed.insert(meaning, verdict.engine);
                        continue;
                    };
                    let text = self.shown(meaning);
                    to.contradictions.push(format!(
                        "{text} is covered, and unreachable by {}: {test:?}",
                        verdict.engine
                    ));
                }
                Decision::Reached(_) => to.found += 1,
                Decision::Unknown(why) if why.starts_with("internal") => {
                    to.contradictions
                        .push(format!("{}: {why}", self.shown(encoded.goals[verdict.goal])));
                }
                Decision::Unknown(_) => {}
            }
        }
        claimed
    }

    fn encoded(&self, pool: &mut TermPool, goals: Goals<'_>) -> Result<Encoded, String> {
        let request = EncodeRequest {
            program: &self.program,
            entry: self.labels.function,
            whole: false,
            goals,
            semantics: Semantics::default(),
            rules: Rules { uninitialised: UninitialisedRead::EndsPath, allocation_succeeds: false },
            limits: EncodeLimits { blocks: 2000, ..EncodeLimits::default() },
            time: None,
        };
        encode(pool, &request).map_err(|error| error.to_string())
    }

    fn shown(&self, meaning: GoalMeaning) -> String {
        match meaning {
            GoalMeaning::Label { label, .. } => {
                let label = &self.labels.labels[label];
                format!("{:?} at {}: {}", label.site, label.place, label.text)
            }
            GoalMeaning::Sequence { sequence, .. } => {
                let atoms = &self.sequences.sequences[sequence].atoms;
                let labels = atoms.iter().map(|atom| &self.sequences.labels[atom.label]);
                let texts: Vec<String> =
                    labels.map(|label| format!("{:?} at {}", label.site, label.place)).collect();
                texts.join(", then ")
            }
            GoalMeaning::Error { call, .. } => format!("{call}"),
        }
    }
}

/// Checks the expressions of labels by the rules of the IR.
fn well_formed(program: &Program, objectives: &FunctionObjectives) -> Result<(), String> {
    let function = objectives.function;
    let body = program.functions[function].body.as_ref().ok_or("no body")?;
    let extended = Body { exprs: objectives.exprs.clone(), ..body.clone() };
    let violations = verify_body(program, function, &extended);
    match violations.first() {
        None => Ok(()),
        Some(first) => Err(format!("an expression of a label is ill-formed: {first}")),
    }
}

fn options() -> Options {
    Options { max_steps: MOST_STEPS, ..Options::default() }
}
