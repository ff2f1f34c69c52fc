//! Proofs that follow control flow, of objectives that exploration left.
//!
//! An objective is a place and a predicate, so that it is infeasible where no run reaches the place with
//! the predicate true ([001] 4.3). `lydian-prove` encodes the function under test as a transition
//! system whose inputs have any value, and decides whether its goals can be reached. Inputs of every
//! size and shape are among these, so a proof needs no assumptions but one: that undefined functions call
//! nothing back, if there are some.
//!
//! Goals are the labels and the sequences that open objectives are or are made of, and the vectors of
//! decisions with open hyperlabels. What the engines reach becomes a test, which counts as it is measured
//! (`engine_runs`). A hyperlabel is infeasible if each conjunction of its normal form has
//! a part that is, or if the vectors that are left do not cover it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use lydian_base::{Budget, EntityId, StopReason};
use lydian_inputs::bounds::nothing_kept;
use lydian_ir::test::Test;
use lydian_objective::evidence::Evidence;
use lydian_objective::hyper::SequenceId;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Assumption, FunctionObjectives, Label, LabelId};
use lydian_prove::call_graph::may_be_entered;
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, GoalChoice, GoalMeaning, Goals, Rules, encode,
};
use lydian_prove::engines::{Decision, Flaw, Schedule, decide};
use lydian_prove::system::GoalId;
use lydian_smt::{ChainConfig, Limits, TermPool, Z3Use, standard_chain};
use lydian_symex::{Config, Cut, Mode, Summary};

use super::certified::{CertifiedGoals, GoalNames, goal_names};
use super::engine_runs::tests_of_run;
use super::implied_verdicts::{self, CONJUNCTIONS};
use super::infeasible_vectors::{self, LabelQuestions};
use super::local::semantics;
use crate::error::Error;
use crate::measurement::placement::with_moved_objects;
use crate::measurement::test_runner::Patience;
use crate::project::undefined::calls_what_is_undefined;
use crate::proving::invariants::PointInvariants;
use crate::session::goals::{FunctionUnderTest, Goal};
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{MeasuredTest, Session};

/// The most blocks of inlined functions: an encoding of more takes longer than it is worth here.
const MOST_BLOCKS: usize = 2_000;
/// The time of one question of the engines.
const QUESTION: Duration = Duration::from_millis(500);
/// The time of a question that checks an argument.
const CHECK: Duration = Duration::from_secs(2);
/// The share of the time in which engines search.
const SEARCH: f64 = 0.55;
/// The share of the time after which runs are taken as they are. The rest is for their tests.
const MAKING: f64 = 0.75;
/// How often values of a run that reaches something are changed to more ordinary ones.
const TRIES: usize = 150;
/// The fraction (one n-th) of a session's time that is reserved for these proofs.
const SHARE: u32 = 4;

impl Session<'_, '_> {
    /// The time that is reserved for these proofs.
    pub(crate) fn time_for_proofs(&self, config: &Config, budget: &Budget) -> Duration {
        let share = budget.remaining().map_or(Duration::ZERO, |remaining| remaining / SHARE);
        if self.makes_proofs(config) { share } else { Duration::ZERO }
    }

    fn makes_proofs(&self, config: &Config) -> bool {
        let wanted = self.options.proofs && config.mode != Mode::Plain;
        wanted && self.may_fit() && !self.calls_what_is_left_out()
    }

    /// Whether an encoding, which has the functions under test inlined, may be small enough.
    fn may_fit(&self) -> bool {
        let functions = self.targets.iter().map(|target| target.objectives.function);
        let mut bodies =
            functions.filter_map(|id| self.project.program.functions[id].body.as_ref());
        bodies.all(|body| body.blocks.len() <= MOST_BLOCKS)
    }

    /// Proves objectives infeasible that an exploration left and no run reaches, and records the proofs.
    pub(crate) fn prove_unreachable(
        &mut self,
        summary: &Summary,
        config: &Config,
        budget: &Budget,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Error> {
        // Proofs have no limit of memory of their own.
        let is_full = |cut: &Cut| matches!(cut, Cut::Stopped(StopReason::Memory(_)));
        let is_short = summary.cuts.keys().any(is_full);
        if is_short || !self.makes_proofs(config) {
            return Ok(());
        }
        let whole = self.project.entry().is_some();
        for (at, target) in self.targets.iter().enumerate() {
            // Other code may call the function with other states.
            let is_tested = whole || target.objectives.function == self.entry;
            if is_tested && budget.exceeded().is_none() {
                let mut found = self.ask((at, target), config, budget)?;
                contradictions.append(&mut found.refuted);
                self.record_documents(&found.documents)?;
                self.record_evidence(&found.evidence)?;
                self.try_runs(found.runs, budget, hyper_coverage)?;
            }
        }
        Ok(())
    }

    /// Whether runs may enter a function that is not supported, which could do anything.
    fn calls_what_is_left_out(&self) -> bool {
        let program = &self.project.program;
        let is_left_out = |name: &String| self.project.left_out.contains(name);
        !self.project.left_out.is_empty()
            && may_be_entered(program, self.entry)
                .iter()
                .any(|function| is_left_out(&program.functions[*function].name))
    }

    /// Measures the tests that the engines' runs may stand for, the first of a run before others, and
    /// records those that cover something new.
    fn try_runs(
        &mut self,
        runs: Vec<Vec<Test>>,
        budget: &Budget,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Result<(), Error> {
        let (count, mut kept) = (runs.len(), 0);
        for tests in runs {
            for test in tests {
                if budget.exceeded().is_some() {
                    break;
                }
                if let Some(measured) = self.try_run(test, hyper_coverage)? {
                    self.record_tests(vec![measured])?;
                    kept += 1;
                    break;
                }
            }
        }
        log::info!("{}: {kept} of {count} runs of the engines are kept", self.name());
        Ok(())
    }

    /// The measurement of a test, if it covers something new, wherever its objects lie.
    fn try_run(
        &mut self,
        test: Test,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Result<Option<MeasuredTest>, Error> {
        let measured = match self.runner.measure_with(&test, Patience::Short)? {
            Ok(measured) => measured,
            Err(misfit) => {
                log::debug!("{}: a run of the engines is no test: {misfit}", self.name());
                return Ok(None);
            }
        };
        log::debug!("{}: a run of the engines: {}", self.name(), measured.run.outcome);
        log::trace!("{}: ran {test:?}", self.name());
        let covered = self.covered_by(&measured);
        for moved in with_moved_objects(&test) {
            let again = self.runner.measure_with(&moved, Patience::Short)?;
            if again.ok().is_none_or(|again| self.covered_by(&again) != covered) {
                log::debug!("{}: it depends on where objects lie", self.name());
                return Ok(None);
            }
        }
        let found = self.measured_test(test, &measured, hyper_coverage);
        let is_known = |goal: &Goal| self.recorded.goals.contains(goal);
        if found.covered.iter().all(is_known) && found.completes.is_empty() {
            return Ok(None);
        }
        self.recorded.keep(&found.test, &measured);
        Ok(Some(found))
    }

    /// The answers about the open objectives of the function under test at a position.
    fn ask(
        &self,
        (at, target): (usize, &FunctionUnderTest<'_>),
        config: &Config,
        budget: &Budget,
    ) -> Result<Answers, Error> {
        let whole = self.project.entry().is_some();
        let program = &self.project.program;
        let objectives = target.objectives;
        let Some(body) = &program.functions[objectives.function].body else {
            return Ok(Answers::default());
        };
        let mut left = self.open_goals_of(at, target)?;
        left.retain(|goal| whole || !implied_verdicts::others_may_cover(program, target, *goal));
        if left.is_empty() {
            return Ok(Answers::default());
        }
        let short_circuit = semantics(config).short_circuit;
        let mut vectors = VectorLabels { labels: Vec::new() };
        infeasible_vectors::infeasible(objectives, body, &left, short_circuit, &mut vectors);
        let asked = Asked::new(objectives, &left, vectors.labels);
        let names = || goal_names((at, target), &left);
        let Some(mut proofs) = self.search((&asked, &names), config, budget) else {
            return Ok(Answers::default());
        };
        let mut found: IndexMap<Goal, Vec<String>> = IndexMap::new();
        for goal in &left {
            found.extend(proofs.of(objectives, *goal).map(|invariants| (*goal, invariants)));
        }
        let by_vectors = proofs.of_vectors(objectives);
        for hyper in
            infeasible_vectors::infeasible(objectives, body, &left, short_circuit, &mut proofs)
        {
            found.entry(Goal::Hyper(at, hyper)).or_insert_with(|| by_vectors.clone());
        }
        for (label, invariants) in &proofs.labels {
            if label.index() < objectives.labels.len() {
                found.entry(Goal::Label(at, *label)).or_insert_with(|| invariants.clone());
            }
        }
        let argument = self.argument();
        let evidence = found.into_iter().map(|(goal, invariants)| {
            (goal, argument(invariants, proofs.certified.of(objectives, goal)))
        });
        Ok(Answers {
            evidence: evidence.collect(),
            documents: proofs.certified.documents,
            runs: proofs.runs,
            refuted: proofs.refuted,
        })
    }

    /// The evidence that no run reaches a goal, by its invariants and certificates.
    fn argument(&self) -> impl Fn(Vec<String>, Vec<String>) -> Evidence {
        let preconditions = self.project.surroundings().join("; ");
        let assumed = calls_what_is_undefined(self.project, self.entry).then(nothing_kept);
        let assumed: Vec<Assumption> =
            assumed.into_iter().chain(self.project.undisturbed(self.entry)).collect();
        move |invariants, certificates| Evidence::Complete {
            method: Evidence::ALL_RUNS.to_owned(),
            preconditions: preconditions.clone(),
            assumptions: assumed.clone(),
            invariants,
            certificates,
        }
    }

    /// Asks the engines about goals; none if the function has no encoding.
    fn search<'a>(
        &self,
        (asked, names): (&'a Asked, &dyn Fn() -> GoalNames),
        config: &Config,
        budget: &Budget,
    ) -> Option<Proofs<'a>> {
        let begun = Instant::now();
        let limits = Limits {
            end: budget.remaining().map(|time| begun + time),
            interrupt: Some(budget.cancel_token().flag().clone()),
            ..Limits::none()
        };
        let part = |share: f64| budget.remaining().map(|time| begun + time.mul_f64(share));
        let searching = Limits { end: part(SEARCH), ..limits.clone() };
        let making = Limits { end: part(MAKING), ..limits.clone() };
        let mut pool = TermPool::new();
        let encoded = self.encoded(&mut pool, asked, config, &searching)?;
        log::info!(
            "{}: a system of {} points, {} transitions, {} variables and {} goals after {:.1?}",
            self.name(),
            encoded.system.points.len(),
            encoded.system.transitions.len(),
            encoded.system.variables.len(),
            encoded.goals.len(),
            begun.elapsed()
        );
        let goals: Vec<GoalId> = encoded.system.goals.ids().collect();
        let chain = ChainConfig { z3: Z3Use::Off, ..self.chain(self.entry) };
        let mut solver = standard_chain(&chain);
        let schedule = Schedule { query: QUESTION, limits: searching, ..Schedule::default() };
        let verdicts = decide(&mut pool, &encoded.system, &goals, &mut *solver, &schedule);
        let mut proofs = Proofs::new(asked);
        let whole = self.project.entry().is_some();
        let is_restricted = self.project.spec.restricts(self.name(), whole);
        let limits = Limits { time: Some(CHECK), ..limits };
        let mut stand = Vec::new();
        for verdict in verdicts {
            let (goal, decision) = (encoded.goals[verdict.goal], verdict.decision.name());
            log::debug!("{}: {goal:?} is {decision} by {}", self.name(), verdict.engine);
            let (system, goal) = (&encoded.system, verdict.goal);
            let certificate = match &verdict.decision {
                Decision::Unreachable(certificate) => certificate,
                // A run need not meet statements about inputs.
                Decision::Reached(_) if is_restricted => continue,
                Decision::Reached(trace) => {
                    let program = &self.project.program;
                    let changes = (&making, TRIES);
                    let trace = trace.clone().made_ordinary(&mut pool, system, goal, changes);
                    let to = (goal, &trace);
                    let of = (program, &self.project.spec.globals, self.entry);
                    proofs.runs.push(tests_of_run(of, (&mut pool, &encoded), to));
                    continue;
                }
                Decision::Unknown(_) => continue,
            };
            match certificate.check(&mut pool, system, goal, &mut *solver, &limits) {
                Ok(()) => {
                    let texts = &self.project.texts.all;
                    let invariants =
                        PointInvariants::of(&pool, &encoded, &certificate.invariants, texts);
                    proofs.add(encoded.goals[verdict.goal], &invariants);
                    stand.push((encoded.goals[verdict.goal], certificate.clone()));
                }
                Err(Flaw::Open(_)) => {}
                Err(flaw @ Flaw::Refuted(_)) => {
                    let name = self.name();
                    proofs.refuted.push(format!("internal error: a proof about `{name}`: {flaw}"));
                }
            }
        }
        let about = (&asked.objectives, names);
        proofs.certified = self.certified(about, (&encoded, &pool), semantics(config), &stand);
        log::info!(
            "{}: {} goals are out of reach after {:.1?}",
            self.name(),
            proofs.labels.len() + proofs.sequences.len(),
            begun.elapsed()
        );
        Some(proofs)
    }

    fn encoded(
        &self,
        pool: &mut TermPool,
        asked: &Asked,
        config: &Config,
        limits: &Limits,
    ) -> Option<Encoded> {
        let request = EncodeRequest {
            program: &self.project.program,
            entry: self.entry,
            whole: self.project.entry().is_some(),
            goals: Goals {
                errors: false,
                labels: std::slice::from_ref(&asked.objectives),
                sequences: std::slice::from_ref(&asked.objectives),
                choice: Some(&asked.goals),
            },
            semantics: semantics(config),
            rules: Rules::default(),
            limits: EncodeLimits { blocks: MOST_BLOCKS, ..EncodeLimits::default() },
            time: Some(limits),
        };
        match encode(pool, &request) {
            Ok(encoded) => Some(encoded),
            Err(error) => {
                log::info!("{}: no proofs that follow control flow: {error}", self.name());
                None
            }
        }
    }
}

/// The engines' answers about a function under test.
#[derive(Default)]
struct Answers {
    evidence: Vec<(Goal, Evidence)>,
    /// The documents that it names, and those that they need, by their names.
    documents: Vec<(String, String)>,
    /// For each run that reaches something, the tests that it may stand for.
    runs: Vec<Vec<Test>>,
    /// One sentence for each argument that is false, an internal error.
    refuted: Vec<String>,
}

/// The objectives that are asked about.
struct Asked {
    /// Those of the function, and a label more for each vector.
    objectives: FunctionObjectives,
    goals: GoalChoice,
}

impl Asked {
    fn new(objectives: &FunctionObjectives, left: &[Goal], vectors: Vec<Label>) -> Self {
        let mut objectives = objectives.clone();
        let mut goals = GoalChoice::default();
        let function = objectives.function;
        let labels = implied_verdicts::labels_of(&objectives, left);
        goals.labels.extend(labels.into_iter().map(|label| (function, label)));
        for goal in left {
            let Goal::Hyper(_, hyper) = goal else { continue };
            objectives.hypers[*hyper].hyper.for_each_part(&mut |part| {
                if let Part::Sequence(id) = part {
                    goals.sequences.insert((function, id));
                }
            });
        }
        for vector in vectors {
            goals.labels.insert((function, objectives.labels.push(vector)));
        }
        Self { objectives, goals }
    }
}

/// Notes the labels that are asked about, and answers nothing.
struct VectorLabels {
    labels: Vec<Label>,
}

impl LabelQuestions for VectorLabels {
    fn is_possible(&mut self, label: &Label) -> bool {
        self.labels.push(label.clone());
        false
    }

    fn is_impossible(&mut self, _: &Label) -> bool {
        false
    }
}

/// The goals that no run reaches, with the invariants of the proofs.
struct Proofs<'a> {
    asked: &'a Asked,
    labels: BTreeMap<LabelId, Vec<String>>,
    sequences: BTreeMap<SequenceId, Vec<String>>,
    certified: CertifiedGoals,
    /// For each run that leads to a goal, the tests that it may stand for.
    runs: Vec<Vec<Test>>,
    /// One sentence for each argument that is false, an internal error.
    refuted: Vec<String>,
}

impl<'a> Proofs<'a> {
    fn new(asked: &'a Asked) -> Self {
        let (labels, sequences) = (BTreeMap::new(), BTreeMap::new());
        let certified = CertifiedGoals::default();
        Self { asked, labels, sequences, certified, runs: Vec::new(), refuted: Vec::new() }
    }

    fn add(&mut self, goal: GoalMeaning, invariants: &[PointInvariants]) {
        let invariants = invariants.iter().map(ToString::to_string).collect();
        match goal {
            GoalMeaning::Label { label, .. } => _ = self.labels.insert(label, invariants),
            GoalMeaning::Sequence { sequence, .. } => {
                self.sequences.insert(sequence, invariants);
            }
            GoalMeaning::Error { .. } => {}
        }
    }

    /// The invariants for which an objective cannot be covered, if it cannot: it is a label out of reach,
    /// or each conjunction of its normal form has a part out of reach.
    fn of(&self, objectives: &FunctionObjectives, goal: Goal) -> Option<Vec<String>> {
        let Goal::Hyper(_, hyper) = goal else {
            return self.labels.get(&goal.label()?).cloned();
        };
        let form = objectives.hypers[hyper].hyper.normal_form(CONJUNCTIONS).ok()?;
        let of_part = |part: &Part<'_>| match part {
            Part::Atom(atom) if atom.function == objectives.function => {
                self.labels.get(&atom.label)
            }
            Part::Atom(_) => None,
            Part::Sequence(id) => self.sequences.get(id),
        };
        let mut found = Vec::new();
        for conjunction in &form {
            let invariants = conjunction.parts.iter().find_map(of_part)?;
            let new: Vec<String> =
                invariants.iter().filter(|one| !found.contains(*one)).cloned().collect();
            found.extend(new);
        }
        Some(found)
    }

    /// The invariants for which vectors of decisions are impossible.
    fn of_vectors(&self, objectives: &FunctionObjectives) -> Vec<String> {
        let vectors = self.labels.iter().filter(|(id, _)| id.index() >= objectives.labels.len());
        let all: BTreeSet<&String> = vectors.flat_map(|(_, invariants)| invariants).collect();
        all.into_iter().cloned().collect()
    }
}

impl LabelQuestions for Proofs<'_> {
    fn is_possible(&mut self, _: &Label) -> bool {
        false
    }

    fn is_impossible(&mut self, label: &Label) -> bool {
        let labels = &self.asked.objectives.labels;
        let same = |id: &LabelId| labels[*id].site == label.site && labels[*id].pred == label.pred;
        self.labels.keys().any(same)
    }
}
