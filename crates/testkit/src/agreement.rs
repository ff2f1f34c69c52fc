//! Comparison of native measurement with the trace semantics, objective by objective, on random
//! programs.
//!
//! The tests of a [`crate::cprogram::Case`] run natively as `lydian cover` runs them, and in the
//! interpreter, whose traces are judged by the rules of [002] Figure 5 ([`lydian_objective::trace`]).
//! For each criterion each objective must be covered by both or by none: by one test alone, and by
//! all tests of the case.
//!
//! As for `lydian cover`, a label whose predicate may trap counts as measured only where the
//! interpreter's own evaluation agrees ([`lydian_objective::CoverageInterpreter`]).

use std::cell::OnceCell;
use std::collections::BTreeMap;

use lydian_base::Rng;
use lydian_ir::FuncId;
use lydian_ir::interp::{End, Options};
use lydian_ir::test::{EarlierCall, Test};
use lydian_native::{MeasuredRun, Optimization, Outcome, Plan};
use lydian_objective::criterion::{Author, Construct};
use lydian_objective::trace::{self, Trace, Tracer};
use lydian_objective::{
    Consolidation, CoverageInterpreter, CoverageRecord, Criterion, Hyper, LabelId, Request,
};
use rustc_hash::FxHashSet;

use crate::cprogram::{Arguments, Case, Features, PRELUDE};
use crate::oracle::Subject;

/// The parameters of a batch of cases.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The number of cases in one file.
    pub cases: u64,
    /// The number of tests that are tried for each.
    pub tests: u64,
    /// The most events of a trace; tests with longer ones are left out.
    pub events: usize,
    /// The most paths of a function, for criteria of paths.
    pub paths: usize,
    /// Whether there are objectives of weak mutation, which are the largest part of all objectives and
    /// of the time.
    pub mutants: bool,
    /// The only criterion, if not all of them.
    pub only: Option<Criterion>,
    /// The most calls of the function that come before a test's last one.
    pub earlier: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let (only, earlier) = (None, 0);
        Self { cases: 20, tests: 6, events: 400, paths: 120, mutants: true, only, earlier }
    }
}

/// The results for the objectives of one criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Objectives that both judged, all tests together.
    pub judged: u64,
    /// Those of them that are covered by both.
    pub covered: u64,
    /// Objectives that the text cannot record.
    pub unmeasured: u64,
}

/// The result of a batch.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Cases with a test at least.
    pub cases: u64,
    /// Tests.
    pub tests: u64,
    /// By criterion.
    pub tallies: BTreeMap<Criterion, Tally>,
    /// The reasons for which objectives are not measured, with their numbers.
    pub reasons: BTreeMap<String, u64>,
    /// Disagreements, in words.
    pub mismatches: Vec<String>,
}

impl Report {
    /// Adds the result of another batch.
    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.tests += other.tests;
        for (criterion, tally) in other.tallies {
            let own = self.tallies.entry(criterion).or_default();
            own.judged += tally.judged;
            own.covered += tally.covered;
            own.unmeasured += tally.unmeasured;
        }
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.mismatches.extend(other.mismatches);
    }
}

/// Every criterion whose objectives need no text of the user's.
pub fn criteria() -> Vec<Criterion> {
    let all = Criterion::ALL.into_iter().map(|(criterion, _)| criterion);
    let of_text = |criterion: &Criterion| {
        matches!(criterion.author(), Author::Program | Author::Augmentation)
    };
    all.filter(|criterion| of_text(criterion) && !criterion.is_strong()).collect()
}

/// A batch: its cases in one text, read and annotated.
pub struct Batch {
    /// The cases, the first seed's first.
    pub cases: Vec<Case>,
    /// The seed of the first case.
    pub first: u64,
    /// The text.
    pub text: String,
    /// The texts of its files, where there are two.
    pub files: Vec<String>,
    /// The program that was read.
    pub subject: Subject,
    /// The criteria of its objectives.
    pub criteria: Vec<Criterion>,
    /// The text of the hyperlabels, if it is about those.
    pub htol: Option<String>,
    /// Whether runs may end with a fault.
    faults: bool,
}

/// An objective whose coverage is compared.
#[derive(Clone, Copy)]
struct JudgedObjective<'n> {
    criterion: Criterion,
    /// The position of its function.
    function: usize,
    /// The criterion's name for it.
    name: &'n str,
}

/// A test of a case with its run in the interpreter.
pub struct TracedTest {
    /// The arguments.
    pub arguments: Arguments,
    /// The test.
    pub test: Test,
    /// Its trace.
    pub trace: Trace,
    /// The bytes of its result.
    pub result: Option<Vec<u8>>,
    /// Whether it ends with a fault.
    pub traps: bool,
}

impl Batch {
    /// The cases of some seeds.
    pub fn new(first: u64, settings: &Settings, features: Features, short_circuit: bool) -> Self {
        let (cases, text) = cases(first, settings, features);
        let mut criteria = criteria();
        criteria.retain(|criterion| settings.mutants || criterion.construct() != Construct::Mutant);
        criteria.retain(|criterion| settings.only.is_none_or(|only| only == *criterion));
        let request =
            Request { short_circuit, paths: settings.paths, ..Request::new(criteria.clone()) };
        let subject = Subject::read_with(&text, &request);
        let faults = features == Features::Faults;
        let files = Vec::new();
        Self { cases, first, text, files, subject, criteria, htol: None, faults }
    }

    /// The cases of some seeds in two files, of which the second is a companion of the first, with
    /// objectives of data flow alone. `swapped` has the second file first, with the helpers that it
    /// has.
    pub fn in_two_files(first: u64, settings: &Settings, swapped: bool) -> Self {
        let features = Features::All;
        let (cases, _) = cases(first, settings, features);
        let mut files = [PRELUDE.to_owned(), PRELUDE.to_owned()];
        for (seed, case) in (first..).zip(&cases) {
            let halves = case.split(seed, features);
            files.iter_mut().zip(halves).for_each(|(file, half)| file.push_str(&half));
        }
        if swapped {
            files.reverse();
        }
        let mut criteria = criteria();
        criteria.retain(|criterion| criterion.is_data_flow());
        let request = Request { paths: settings.paths, ..Request::new(criteria.clone()) };
        let subject = Subject::read_files(&files, &request);
        let (text, files) = (files.concat(), files.to_vec());
        Self { cases, first, text, files, subject, criteria, htol: None, faults: false }
    }

    /// The cases of some seeds with random hyperlabels and paths alone ([`crate::hyperlabels`]).
    pub fn written(first: u64, settings: &Settings, features: Features) -> Self {
        let (cases, text) = cases(first, settings, features);
        let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
        let criteria = vec![Criterion::Htol, Criterion::Spc];
        let mut htol = None;
        let subject = Subject::read_asking(&text, |program, map| {
            let file = crate::hyperlabels::file(program, map, &names, first);
            htol = Some(file.text.clone());
            Request { htol: vec![file], ..Request::new(criteria.clone()) }
        });
        let faults = features == Features::Faults;
        let files = Vec::new();
        Self { cases, first, text, files, subject, criteria, htol, faults }
    }

    /// Tests of a case that end after few enough events.
    pub fn tests(&self, tracer: &Tracer<'_>, index: usize, settings: &Settings) -> Vec<TracedTest> {
        let case = &self.cases[index];
        let mut rng = Rng::new((self.first + index as u64) ^ 0x7e57);
        let options = Options { max_steps: 20_000, ..Options::default() };
        let traced = (0..settings.tests).filter_map(|_| {
            let arguments = case.arguments(&mut rng);
            let mut test = case.test(&arguments);
            if settings.earlier > 0 {
                let calls = (0..rng.below(settings.earlier + 1)).map(|_| EarlierCall {
                    args: case.test(&case.arguments(&mut rng)).args,
                    variable: Vec::new(),
                });
                test.earlier = calls.collect();
            }
            let (trace, outcome) = tracer.run(&test, &options).expect("tests suit their program");
            let traps = matches!(outcome.end, End::Trapped(_));
            let ends = outcome.end == End::Returned || (self.faults && traps);
            let fits = ends && trace.events.len() <= settings.events;
            fits.then_some(TracedTest { arguments, test, trace, result: outcome.result, traps })
        });
        traced.collect()
    }

    /// The functions of a case, by their positions among the objectives.
    pub(crate) fn functions(&self, case: &Case) -> std::ops::Range<usize> {
        let helper = format!("{}_", case.name);
        let is_own = |func: &FuncId| {
            let name = &self.subject.program.functions[*func].name;
            *name == case.name || name.starts_with(&helper)
        };
        let first = self.subject.functions.iter().position(is_own).unwrap_or(0);
        let count = self.subject.functions[first..].iter().take_while(|func| is_own(func)).count();
        first..first + count
    }
}

/// The cases of some seeds, and the text of them all.
fn cases(first: u64, settings: &Settings, features: Features) -> (Vec<Case>, String) {
    let names = first..first + settings.cases;
    let cases: Vec<Case> =
        names.map(|seed| Case::new(&format!("f{seed}"), seed, features)).collect();
    let mut text = PRELUDE.to_owned();
    cases.iter().for_each(|case| text.push_str(&case.text));
    (cases, text)
}

/// Runs and judges the cases of the seeds from `first` on.
pub fn check(first: u64, settings: &Settings, level: Optimization) -> Report {
    let short_circuit = first / settings.cases.max(1) % 3 == 2;
    let batch = Batch::new(first, settings, Features::All, short_circuit);
    check_batch(&batch, settings, level)
}

/// The same for programs with faults, whose runs must record what they pass before these. Uses of
/// cells are recorded where their text is evaluated, after what may trap in front of it.
pub fn check_faults(first: u64, settings: &Settings) -> Report {
    let short_circuit = first / settings.cases.max(1) % 3 == 2;
    let batch = Batch::new(first, settings, Features::Faults, short_circuit);
    check_batch(&batch, settings, Optimization::None)
}

/// The same for random hyperlabels and paths.
pub fn check_written(first: u64, settings: &Settings, level: Optimization) -> Report {
    check_batch(&Batch::written(first, settings, Features::All), settings, level)
}

/// The same for programs of two files, whose pairs of globals have an end in the first.
pub fn check_two_files(first: u64, settings: &Settings, level: Optimization) -> Report {
    check_batch(&Batch::in_two_files(first, settings, false), settings, level)
}

/// Runs and judges a batch.
pub fn check_batch(batch: &Batch, settings: &Settings, level: Optimization) -> Report {
    let subject = &batch.subject;
    let with_further = subject.with_further();
    let tracer = Tracer::new(&subject.program, &with_further, subject.short_circuit);
    let all: Vec<Vec<TracedTest>> =
        (0..batch.cases.len()).map(|index| batch.tests(&tracer, index, settings)).collect();
    let mut measurer = subject.measurer(level);
    let tests: Vec<Test> = all.iter().flatten().map(|traced| traced.test.clone()).collect();
    let measured = measurer.measure(&tests).unwrap_or_else(|error| panic!("{error}"));
    let mut judge = Judge {
        batch,
        plan: measurer.plan(),
        coverage_interpreter: OnceCell::new(),
        report: Report::default(),
    };
    let mut rest = measured.as_slice();
    for (case, traced) in batch.cases.iter().zip(&all) {
        let (own, others) = rest.split_at(traced.len());
        rest = others;
        if traced.is_empty() {
            continue;
        }
        judge.report.cases += 1;
        judge.report.tests += traced.len() as u64;
        judge.runs(case, traced, own);
        let alone = traced.len() / 2;
        judge.case(case, &traced[alone..=alone], &own[alone..=alone], false);
        judge.case(case, traced, own, true);
    }
    judge.report
}

struct Judge<'a> {
    batch: &'a Batch,
    plan: &'a Plan,
    /// Made when it is first needed, for a label that may trap.
    coverage_interpreter: OnceCell<CoverageInterpreter<'a>>,
    report: Report,
}

impl Judge<'_> {
    /// Checks that both runs give the same results.
    fn runs(&mut self, case: &Case, traced: &[TracedTest], measured: &[MeasuredRun]) {
        for (ours, native) in traced.iter().zip(measured) {
            let same = match &native.run.outcome {
                Outcome::Returned(bytes) => !ours.traps && Some(bytes) == ours.result.as_ref(),
                Outcome::Crashed(_) => ours.traps,
                _ => false,
            };
            if !same {
                let (name, arguments, ended) = (&case.name, &ours.arguments, &native.run.outcome);
                let text = format!("{name}{arguments:?}: {:?}, natively {ended}", ours.result);
                self.report.mismatches.push(text);
            }
        }
    }

    /// Checks that both cover the same objectives of a case's functions.
    fn case(&mut self, case: &Case, traced: &[TracedTest], measured: &[MeasuredRun], counts: bool) {
        let traces: Vec<Trace> = traced.iter().map(|traced| traced.trace.clone()).collect();
        let functions = self.batch.functions(case);
        let objectives = &self.batch.subject.objectives[functions.clone()];
        let mut records = vec![CoverageRecord::new(); objectives.len()];
        for (own, index) in records.iter_mut().zip(functions.clone()) {
            measured.iter().for_each(|one| one.add_to(own, index));
        }
        let mut consolidation = Consolidation::new(objectives);
        consolidation.update(&records);
        for (position, index) in functions.enumerate() {
            let own = &objectives[position];
            let covered: FxHashSet<LabelId> = traces
                .iter()
                .flat_map(|trace| &trace.events)
                .filter(|event| event.function == own.function)
                .flat_map(|event| event.labels.iter().copied())
                .collect();
            for (criterion, entries) in &own.criteria {
                for entry in entries {
                    let lost = self.label_lost(index, entry.label);
                    let ours = covered.contains(&entry.label);
                    let native = records[position].has_label(entry.label);
                    let native = native
                        && (ours || self.counts_anyway(index, entry.label, traced, measured));
                    let name = entry.name.as_str();
                    let what = JudgedObjective { criterion: *criterion, function: index, name };
                    let text = &own.labels[entry.label].text;
                    self.judge(what, text, (ours, native), lost, (traced, counts));
                }
            }
            let of_cells =
                [Criterion::AllDefsCells, Criterion::AllUsesCells, Criterion::AllDuPathsCells];
            for (criterion, entries) in &own.hyper_criteria {
                if self.batch.faults && of_cells.contains(criterion) {
                    continue;
                }
                for entry in entries {
                    let hyper = &own.hypers[entry.hyper];
                    let lost = consolidation
                        .judgement_error(position, entry.hyper)
                        .map(ToString::to_string)
                        .or_else(|| self.hyper_lost(index, &hyper.hyper));
                    let ours = trace::is_covered(&traces, own, &hyper.hyper);
                    let native = consolidation.is_covered(position, entry.hyper);
                    let name = entry.name.as_str();
                    let what = JudgedObjective { criterion: *criterion, function: index, name };
                    self.judge(what, &hyper.text, (ours, native), lost, (traced, counts));
                }
            }
        }
    }

    fn judge(
        &mut self,
        JudgedObjective { criterion, function, name }: JudgedObjective<'_>,
        text: &str,
        (ours, native): (bool, bool),
        lost: Option<String>,
        (traced, counts): (&[TracedTest], bool),
    ) {
        let tally = self.report.tallies.entry(criterion).or_default();
        if let Some(reason) = lost {
            if counts {
                tally.unmeasured += 1;
                let reason = format!("{criterion}: {reason}");
                *self.report.reasons.entry(reason).or_default() += 1;
            }
            return;
        }
        if counts {
            tally.judged += 1;
            tally.covered += u64::from(ours && native);
        }
        // A record at the place of a crash counts only if the trace has it.
        let is_more = native && traced.iter().any(|traced| traced.traps);
        if ours != native && !is_more {
            let subject = &self.batch.subject;
            let who = if native { "natively" } else { "by the trace semantics" };
            let func = &subject.program.functions[subject.functions[function]].name;
            let runs: Vec<String> =
                traced.iter().map(|traced| format!("{:?}", traced.arguments)).collect();
            self.report.mismatches.push(format!(
                "{func} {criterion} {name}: {text}: covered only {who}, by {}",
                runs.join(" ")
            ));
        }
    }

    /// Whether a label that the native run covers, and the trace does not, counts.
    fn counts_anyway(
        &self,
        index: usize,
        label: LabelId,
        traced: &[TracedTest],
        measured: &[MeasuredRun],
    ) -> bool {
        let coverage_interpreter =
            self.coverage_interpreter.get_or_init(|| self.batch.subject.coverage_interpreter());
        if !coverage_interpreter.may_trap(index, label) {
            return true;
        }
        traced.iter().zip(measured).any(|(traced, native)| {
            native.covered[index].contains(&label) && {
                let run = coverage_interpreter.run(&traced.test, &Options::default());
                run.is_ok_and(|run| run.covered[index].contains(&label))
            }
        })
    }

    fn label_lost(&self, index: usize, label: LabelId) -> Option<String> {
        let mut unwatched = self.plan.unmeasured_labels.iter();
        let lost = unwatched.find(|lost| lost.function as usize == index && lost.label == label);
        lost.map(|lost| lost.reason.clone())
    }

    fn hyper_lost(&self, index: usize, hyper: &Hyper) -> Option<String> {
        let all = &self.batch.subject.objectives;
        self.plan.why_hyperlabel_unmeasured(all, index, hyper).map(str::to_owned)
    }
}
