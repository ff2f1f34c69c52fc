//! What tests did in earlier runs, in the ledger.
//!
//! A test does the same as long as all that it can reach is the same, with the same objectives in it. So what
//! was measured of a function's tests, and what the suite asserts of them, is kept under a key that follows
//! from these. A function with nothing new runs no test, and nothing of it is compiled for measurement.
//!
//! Runs that were stopped for their time are not kept: they may take less on another day.
//!
//! **Invariant:** what is kept has no number that an edit elsewhere changes: functions and literals have names
//! that follow from themselves.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lydian_ir::test::Test;
use lydian_ir::{DecisionId, FuncId, Program};
use lydian_ledger::{NoteKind, PortableTest, SpelledTypes, hash_of};
use lydian_native::{Attempt, BoundOf, MeasuredRun, Outcome, Run, ShortOf};
use lydian_objective::coverage_record::Row;
use lydian_objective::fingerprint::global_name;
use lydian_objective::hyper::SequenceId;
use lydian_objective::{DecisionVector, FunctionObjectives, LabelId};
use lydian_report::OnDemand;
use lydian_symex::Config;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::attempts::effort;
use super::goals::{FunctionUnderTest, Verdicts};
use super::selection::kept_suite::KeptSelection;
use super::standing::Standing;
use super::state::{Session, SessionOptions};
use crate::error::Error;
use crate::measurement::test_runner::TestMisfit;
use crate::project::COMPILER;
use crate::shared_ledger::digest;
use crate::suite::{self, ObservedTest};

/// What is known of the tests of the functions of a session.
#[derive(Default)]
pub(crate) struct KeptRuns {
    /// All that runs depend on, as a digest.
    key: String,
    known: FxHashMap<String, KeptRun>,
    /// The hashes of tests.
    hashes: FxHashMap<Test, String>,
    /// The hashes of the tests that this session asked about.
    used: BTreeSet<String>,
    /// Those among them whose measurements come from an earlier run, without the memory after them.
    without_memory: BTreeSet<String>,
    /// Whether a run or a selection is known that the ledger does not have.
    pub(super) has_new: bool,
    /// The time for making tests small, in milliseconds, where that was too short.
    pub(super) cut_after: Option<u64>,
    /// Whether nothing is expected to run: the ledger has all tests, and an answer for each objective.
    pub(crate) is_settled: bool,
    /// The suite's tests of an earlier session with the same tests in the ledger, or of this one.
    pub(super) selection: Option<KeptSelection>,
    /// The verdicts on the objectives of functions under test, by the function's position, as they were read
    /// since something was recorded.
    pub(super) verdicts: RefCell<FxHashMap<usize, Arc<Verdicts>>>,
    names: Arc<ProgramNames>,
}

/// Names in a program that say the same in others.
#[derive(Default)]
pub(crate) struct ProgramNames {
    types: SpelledTypes,
    /// The names of literals that follow from their contents, by those that they have.
    lasting: FxHashMap<String, String>,
    /// The other way round.
    current: FxHashMap<String, String>,
}

impl ProgramNames {
    pub(crate) fn of(program: &Program) -> Self {
        let (mut lasting, mut current) = (FxHashMap::default(), FxHashMap::default());
        for (id, global) in program.globals.iter().filter(|(_, of)| of.name.starts_with('.')) {
            let name = global_name(program, id).into_owned();
            current.entry(name.clone()).or_insert_with(|| global.name.clone());
            lasting.insert(global.name.clone(), name);
        }
        Self { types: SpelledTypes::of(&program.types), lasting, current }
    }
}

/// The record of a function's runs, as the ledger keeps it.
#[derive(Default, Serialize, Deserialize)]
struct RunRecord {
    /// The hashes of the tests of the ledger.
    tests: BTreeSet<String>,
    runs: FxHashMap<String, KeptRun>,
    /// The tests that the session kept for the suite.
    #[serde(default)]
    selection: Option<KeptSelection>,
}

/// What a test did.
#[derive(Clone, Serialize, Deserialize)]
struct KeptRun {
    outcome: Outcome,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<Attempt>,
    /// Its coverage, by the names of functions.
    functions: BTreeMap<String, FunctionCoverage>,
    /// Whether C leaves undefined what it does, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_undefined: Option<bool>,
    /// What the suite says of it, if it is in the suite. Literals have names by their contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observed: Option<ObservedTest>,
}

/// The coverage of a function, with numbers among its objectives.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct FunctionCoverage {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    covered: Vec<LabelId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sequences: Vec<SequenceId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vectors: Vec<(DecisionId, DecisionVector)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bound: Vec<(BoundOf, Row)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    short: Vec<ShortOf>,
}

impl KeptRuns {
    /// What the ledger knows of the tests of a task. `all` are the objectives of all functions.
    pub(crate) fn read(
        standing: &Standing<'_>,
        (entry, targets): (FuncId, &[FunctionUnderTest<'_>]),
        reached: &[&FunctionObjectives],
        (config, options): (&Config, &SessionOptions),
        names: &Arc<ProgramNames>,
    ) -> Result<Self, Error> {
        let Some(first) = targets.first() else { return Ok(Self::default()) };
        let key = run_key(&standing.project.program, targets, reached, options);
        let unknown = |key| Self { key, names: names.clone(), ..Self::default() };
        if options.again {
            return Ok(unknown(key));
        }
        let found = standing.ledger.lock().note(standing.function(first), NoteKind::Runs, &key);
        let record: Option<RunRecord> =
            found.map_err(Error::from)?.and_then(|text| serde_json::from_str(&text).ok());
        let Some(RunRecord { tests, runs, selection }) = record else { return Ok(unknown(key)) };
        let mut of_ledger = BTreeSet::new();
        for target in targets {
            let known =
                standing.ledger.lock().test_hashes(standing.function(target), &target.scope);
            of_ledger.extend(known.map_err(Error::from)?);
        }
        let selection = selection.filter(|_| tests == of_ledger);
        let has_tests = config.stop_when_covered
            && options.may_take_over(config)
            && tests == of_ledger
            && tests.iter().all(|hash| runs.contains_key(hash));
        if !has_tests {
            return Ok(Self { known: runs, selection, ..unknown(key) });
        }
        let verdicts = targets.iter().map(|target| Ok(Arc::new(standing.verdicts(target)?)));
        let verdicts: Vec<Arc<Verdicts>> = verdicts.collect::<Result<_, Error>>()?;
        let effort = || effort(standing.project, entry, config, options);
        let is_settled = standing.leaves_all(targets, &verdicts, effort)?;
        let verdicts = targets.iter().map(|target| target.index).zip(verdicts).collect();
        let verdicts = RefCell::new(verdicts);
        Ok(Self { known: runs, selection, is_settled, verdicts, ..unknown(key) })
    }
}

/// All that the runs of tests depend on, as a digest.
fn run_key(
    program: &Program,
    targets: &[FunctionUnderTest<'_>],
    reached: &[&FunctionObjectives],
    options: &SessionOptions,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| _ = hasher.update(part.as_bytes()).update(b"\n");
    add(env!("CARGO_PKG_VERSION"));
    add(COMPILER);
    add(&format!("{:?}", options.measurement));
    targets.iter().for_each(|target| add(&target.scope.code));
    for objectives in reached {
        add(&program.functions[objectives.function].name);
        objectives.labels.values().for_each(|label| add(&label.key.0));
        objectives.hypers.values().for_each(|hyper| add(&hyper.key.0));
    }
    digest::key(hasher.finalize())
}

impl Session<'_, '_> {
    /// The hash by which the ledger knows a test.
    pub(crate) fn hash(&mut self, test: &Test) -> String {
        if let Some(known) = self.runs.hashes.get(test) {
            return known.clone();
        }
        let hash = hash_of(test, &self.project.program.types).0;
        self.runs.hashes.insert(test.clone(), hash.clone());
        hash
    }

    /// Whether what all of some tests did is known from an earlier run. Then the ledger has what follows
    /// from it.
    pub(crate) fn knows_all(&self, tests: &[(Test, MeasuredRun)]) -> bool {
        let is_known = |(test, _): &(Test, MeasuredRun)| {
            let hash = self.runs.hashes.get(test);
            hash.is_some_and(|hash| self.runs.without_memory.contains(hash))
        };
        tests.iter().all(is_known)
    }

    /// Measures a test, or takes over what an earlier run measured.
    pub(crate) fn measure_kept(
        &mut self,
        test: &Test,
    ) -> Result<Result<MeasuredRun, TestMisfit>, Error> {
        let hash = self.hash(test);
        if let Some(run) = self.runs.known.get(&hash) {
            let measured = self.measured(run);
            self.runner.note_attempts(&run.attempts);
            self.runs.without_memory.insert(hash.clone());
            self.runs.used.insert(hash);
            return Ok(Ok(measured));
        }
        let measured = self.runner.measure(test)?;
        if let Ok(measured) = &measured {
            self.keep_run(test, measured);
        }
        Ok(measured)
    }

    /// The tests with measurements that have the memory after them. Some run once more.
    pub(crate) fn with_memory(
        &mut self,
        mut all: Vec<(Test, MeasuredRun)>,
    ) -> Result<Vec<(Test, MeasuredRun)>, Error> {
        for (test, measured) in &mut all {
            let hash = self.hash(test);
            if self.runs.without_memory.contains(&hash)
                && let Ok(again) = self.runner.measure(test)?
            {
                *measured = again;
            }
        }
        Ok(all)
    }

    /// Keeps what a test did.
    pub(crate) fn keep_run(&mut self, test: &Test, measured: &MeasuredRun) {
        let hash = self.hash(test);
        let may_differ = matches!(
            measured.run.outcome,
            Outcome::TimedOut(_) | Outcome::Killed(_) | Outcome::Assumption | Outcome::Damaged
        );
        if may_differ {
            return;
        }
        if !self.runs.known.contains_key(&hash) {
            let run = self.kept_run(measured);
            self.runs.known.insert(hash.clone(), run);
            self.runs.has_new = true;
        }
        self.runs.used.insert(hash);
    }

    /// Why the suite as C has a test behind a macro; none for one that it runs by default.
    pub(crate) fn on_demand(&mut self, test: &Test, measured: &MeasuredRun) -> Option<OnDemand> {
        suite::on_demand(&measured.run, || self.is_undefined(test))
    }

    /// Whether C leaves undefined what a test does.
    fn is_undefined(&mut self, test: &Test) -> bool {
        let hash = self.hash(test);
        let known = self.runs.known.get(&hash).and_then(|run| run.is_undefined);
        known.unwrap_or_else(|| {
            let is_undefined = self.runner.is_undefined(test);
            if let Some(run) = self.runs.known.get_mut(&hash) {
                run.is_undefined = Some(is_undefined);
                self.runs.has_new = true;
            }
            is_undefined
        })
    }

    /// What the suite says of a test: as an earlier run observed it, or anew.
    pub(crate) fn observed(
        &mut self,
        test: &Test,
        measured: &MeasuredRun,
    ) -> Result<ObservedTest, Error> {
        let hash = self.hash(test);
        let names = self.runs.names.clone();
        let kept = self.runs.known.get(&hash).and_then(|run| run.observed.clone());
        if let Some(kept) =
            kept.and_then(|kept| with_names(kept, &|name| names.current.get(name).cloned()))
        {
            self.runs.used.insert(hash);
            return Ok(kept);
        }
        let observed = ObservedTest::of(self.runner, test, measured)?;
        let lasting = with_names(observed.clone(), &|name| names.lasting.get(name).cloned());
        if let (Some(run), Some(lasting)) = (self.runs.known.get_mut(&hash), lasting) {
            run.observed = Some(lasting);
            self.runs.has_new = true;
            self.runs.used.insert(hash);
        }
        Ok(observed)
    }

    /// Records what tests did in this session, if the ledger does not have it.
    pub(crate) fn record_runs(&mut self) -> Result<(), Error> {
        let is_unused = |hash: &String| !self.runs.used.contains(hash);
        let is_known = !self.runs.has_new && !self.runs.known.keys().any(is_unused);
        let Some(_) = self.targets.first().filter(|_| !is_known) else { return Ok(()) };
        let mut tests = BTreeSet::new();
        for target in self.targets {
            let known = self.ledger.lock().test_hashes(self.function(target), &target.scope);
            tests.extend(known.map_err(Error::from)?);
        }
        let mut runs = std::mem::take(&mut self.runs.known);
        runs.retain(|hash, _| self.runs.used.contains(hash));
        let selection = self.runs.selection.take();
        let record = RunRecord { tests, runs, selection };
        let detail = serde_json::to_string(&record).expect("runs are valid JSON");
        let key = self.runs.key.clone();
        self.record(|at, _, recording| match at {
            0 => recording.note(NoteKind::Runs, &key, &detail),
            _ => Ok(()),
        })
    }

    /// Notes what tests of earlier runs tried outside of the program.
    pub(super) fn note_kept_attempts(&mut self) {
        let attempts = self.runs.known.values().flat_map(|run| &run.attempts);
        self.runner.note_attempts(attempts);
    }

    /// A test that is kept with a hash, with its measurement; none if the program lacks a type of it, or what
    /// it did is not known.
    pub(super) fn taken_test(
        &mut self,
        portable: &PortableTest,
        hash: &str,
    ) -> Option<(Test, MeasuredRun)> {
        let measured = self.measured(self.runs.known.get(hash)?);
        let test = portable.clone().into_test(&self.runs.names.types)?;
        self.runs.hashes.insert(test.clone(), hash.to_owned());
        self.runs.used.insert(hash.to_owned());
        Some((test, measured))
    }

    /// A measurement as it is kept.
    fn kept_run(&self, measured: &MeasuredRun) -> KeptRun {
        let mut functions = BTreeMap::new();
        for (index, objectives) in self.measured.all.iter().enumerate() {
            let coverage = FunctionCoverage {
                covered: measured.covered[index].clone(),
                sequences: measured.sequences[index].clone(),
                vectors: measured.vectors[index].clone(),
                bound: measured.bound[index].clone(),
                short: measured.short[index].clone(),
            };
            if coverage != FunctionCoverage::default() {
                let name = &self.project.program.functions[objectives.function].name;
                functions.insert(name.clone(), coverage);
            }
        }
        let (outcome, attempts) = (measured.run.outcome.clone(), measured.run.attempts.clone());
        KeptRun { outcome, attempts, functions, is_undefined: None, observed: None }
    }

    /// A measurement that was kept, without the memory after the run.
    fn measured(&self, run: &KeptRun) -> MeasuredRun {
        let count = self.measured.all.len();
        let mut measured = MeasuredRun {
            run: Run { attempts: run.attempts.clone(), ..Run::ended(run.outcome.clone()) },
            covered: vec![Vec::new(); count],
            sequences: vec![Vec::new(); count],
            vectors: vec![Vec::new(); count],
            bound: vec![Vec::new(); count],
            short: vec![Vec::new(); count],
        };
        for (index, objectives) in self.measured.all.iter().enumerate() {
            let name = &self.project.program.functions[objectives.function].name;
            let Some(coverage) = run.functions.get(name) else { continue };
            let FunctionCoverage { covered, sequences, vectors, bound, short } = coverage.clone();
            (measured.covered[index], measured.sequences[index]) = (covered, sequences);
            (measured.vectors[index], measured.bound[index]) = (vectors, bound);
            measured.short[index] = short;
        }
        measured
    }
}

/// An observation with other names of globals; none if one has no such name.
fn with_names(
    mut observed: ObservedTest,
    name: &dyn Fn(&str) -> Option<String>,
) -> Option<ObservedTest> {
    for global in observed.observation.names_of_globals() {
        if global.starts_with('.') {
            *global = name(global)?;
        }
    }
    Some(observed)
}
