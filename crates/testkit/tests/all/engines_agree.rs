//! Random programs on which all engines must agree: interpreter, native measurement, symbolic
//! exploration, local proofs.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds; a failure names the seed and shows the program.

use std::time::Duration;

use lydian_base::Rng;
use lydian_ir::interp::{self, End};
use lydian_ir::test::Test;
use lydian_ir::{FuncId, Program};
use lydian_native::{MeasuredRun, Optimization, Outcome};
use lydian_objective::{CoverageInterpreter, Criterion, InterpretedRun, LabelId};
use lydian_symex::LabelRef;
use lydian_symex::{Config, Ending, Limits, Mode};
use lydian_testkit::cgen::{self, settings};
use lydian_testkit::oracle::{Subject, disturb, seeds};
use lydian_testkit::outside;

/// Every criterion whose labels need no comment of the user's.
const CRITERIA: [Criterion; 13] = [
    Criterion::Fc,
    Criterion::Stmt,
    Criterion::Bbc,
    Criterion::Bc,
    Criterion::Dc,
    Criterion::Cc,
    Criterion::Dcc,
    Criterion::Mcc,
    Criterion::Gacc,
    Criterion::Gicc,
    Criterion::Wm,
    Criterion::Idc,
    Criterion::Rte,
];

/// The beginning of programs whose mutants read beyond objects of which only the interpreter knows the
/// ends.
const NO_MUTANTS: &str = "/* No mutants";

/// Faults of one seed, each a line or more.
struct Check<'a> {
    subject: &'a Subject,
    coverage_interpreter: CoverageInterpreter<'a>,
    /// Whether the program reads values from undefined functions.
    outside: bool,
    faults: Vec<String>,
}

impl Check<'_> {
    fn fault(&mut self, text: String) {
        // One fault of a program often shows in many tests.
        if self.faults.len() < 4 {
            self.faults.push(text);
        }
    }

    fn names(&self, index: usize, labels: &[LabelId]) -> String {
        let shown: Vec<String> =
            labels.iter().take(5).map(|label| self.subject.describe(index, *label)).collect();
        shown.join("\n    ")
    }

    /// Compares the native run of a test with the interpreter's.
    fn same_run(&mut self, test: &Test, native: &MeasuredRun) -> Vec<Vec<LabelId>> {
        let run = self.coverage_interpreter.run(test, &interp::Options::default());
        let InterpretedRun { outcome, covered, .. } =
            run.unwrap_or_else(|error| panic!("{error}: {test:?}"));
        let inputs = inputs(test);
        if outcome.uninitialised.is_some() && self.outside {
            // A call writes less than on the path that the test was made for.
            return vec![Vec::new(); self.subject.functions.len()];
        }
        if outcome.uninitialised.is_some() {
            self.fault(format!("reads what was never written: {inputs}"));
        }
        match (&outcome.end, &native.run.outcome) {
            (End::Returned, Outcome::Returned(bytes)) => {
                if outcome.result.as_ref() != Some(bytes) {
                    let result = &outcome.result;
                    self.fault(format!(
                        "result: interpreter {result:?}, native {bytes:?}; {inputs}"
                    ));
                }
                if outcome.objects != native.run.objects {
                    let (ours, theirs) = (&outcome.objects, &native.run.objects);
                    self.fault(format!("objects: {ours:?}, native {theirs:?}; {inputs}"));
                }
            }
            (End::Trapped(_), Outcome::Crashed(_)) => {}
            (ours, theirs) => {
                self.fault(format!("end: interpreter {ours:?}, native {theirs}; {inputs}"));
            }
        }
        for (index, (ours, theirs)) in covered.iter().zip(&native.covered).enumerate() {
            let missing: Vec<LabelId> =
                ours.iter().filter(|label| !theirs.contains(label)).copied().collect();
            let extra: Vec<LabelId> =
                theirs.iter().filter(|label| !ours.contains(label)).copied().collect();
            if !missing.is_empty() {
                let names = self.names(index, &missing);
                self.fault(format!("only the interpreter covers, on {inputs}:\n    {names}"));
            }
            if !extra.is_empty() {
                let names = self.names(index, &extra);
                self.fault(format!("only the native run covers, on {inputs}:\n    {names}"));
            }
        }
        covered
    }

    /// Checks that no run covers a label that an engine calls infeasible.
    fn nothing_impossible(
        &mut self,
        who: &str,
        test: &Test,
        covered: &[Vec<LabelId>],
        impossible: &[Vec<LabelId>],
    ) {
        for (index, (covered, impossible)) in covered.iter().zip(impossible).enumerate() {
            let wrong: Vec<LabelId> =
                covered.iter().filter(|label| impossible.contains(label)).copied().collect();
            if !wrong.is_empty() {
                let names = self.names(index, &wrong);
                self.fault(format!(
                    "WRONG INFEASIBLE by {who}, covered on {}:\n    {names}",
                    inputs(test)
                ));
            }
        }
    }
}

fn inputs(test: &Test) -> String {
    let args: Vec<String> = test.args.iter().map(|image| format!("{:02x?}", image.bytes)).collect();
    let objects: Vec<String> =
        test.objects.iter().map(|object| format!("{:02x?}", object.image.bytes)).collect();
    format!("({}) {}", args.join(", "), objects.join(", "))
}

fn function(program: &Program, name: &str) -> FuncId {
    program.function_named(name).expect("the program was made with it")
}

/// Checks everything on one random program. Returns the faults.
fn check(seed: u64, text: &str) -> Vec<String> {
    let short_circuit = seed % 3 == 2;
    let mutants = !text.starts_with(NO_MUTANTS);
    let criteria = CRITERIA.into_iter().filter(|criterion| mutants || *criterion != Criterion::Wm);
    let subject = Subject::read(text, &criteria.collect::<Vec<_>>(), short_circuit);
    let func = function(&subject.program, "f");
    let level = if seed.is_multiple_of(4) { Optimization::None } else { Optimization::Some };
    let mut measurer = subject.measurer(level);
    let outside = text.starts_with(outside::HEAD);
    let coverage_interpreter = subject.coverage_interpreter();
    let mut check = Check { subject: &subject, coverage_interpreter, outside, faults: Vec::new() };
    let unwatched: Vec<String> =
        measurer.plan().unmeasured_labels.iter().map(|label| label.reason.clone()).collect();
    if let Some(first) = unwatched.first() {
        check.fault(format!("{} labels cannot be measured: {first}", unwatched.len()));
    }

    let config = Config {
        mode: if seed % 5 == 4 { Mode::Direct } else { Mode::Tight },
        limits: Limits { query_time: Some(Duration::from_millis(500)), ..Limits::default() },
        ..Config::default()
    };
    let limit = Duration::from_millis(1500);
    let explored = subject.explore(func, &settings("f"), &config, limit);
    let mut impossible = vec![Vec::new(); subject.functions.len()];
    if explored.summary.complete {
        for left in explored.summary.left.iter().filter(|left| left.reasons.is_empty()) {
            impossible[index(&subject, &left.label)].push(left.label.label);
        }
    }
    let proofs = Duration::from_millis(400);
    let proved: Vec<Vec<LabelId>> = (0..subject.functions.len())
        .map(|index| subject.proved_infeasible(index, proofs))
        .collect();

    let mut tests: Vec<Test> = Vec::new();
    for found in &explored.tests {
        tests.push(found.test.clone());
    }
    let claimed = tests.len();
    let mut rng = Rng::new(seed ^ 0x5eed);
    for number in 0..150 {
        let mut test = match claimed {
            0 => subject.random_test(func, cgen::ARRAY_LENGTH, &mut rng),
            _ if number % 2 == 0 => subject.random_test(func, cgen::ARRAY_LENGTH, &mut rng),
            _ => tests[number * 7 % claimed].clone(),
        };
        disturb(&subject.program, &mut test, &mut rng);
        tests.push(test);
    }
    let measured = measurer.measure(&tests).unwrap_or_else(|error| panic!("{error}"));
    for (at, (test, native)) in tests.iter().zip(&measured).enumerate() {
        let covered = check.same_run(test, native);
        check.nothing_impossible("exploration", test, &covered, &impossible);
        check.nothing_impossible("local proof", test, &covered, &proved);
        let Some(found) = explored.tests.get(at) else { continue };
        if covered.iter().all(Vec::is_empty) && check.outside {
            continue; // What it claims lies before a read of what was never written.
        }
        if found.ending == Ending::Returned && !matches!(native.run.outcome, Outcome::Returned(_)) {
            check.fault(format!("interpreted to return, but: {}", native.run.outcome));
        }
        for claim in &found.covers {
            let index = index(&subject, claim);
            let confirmed = native.covered[index].contains(&claim.label);
            if !confirmed || !covered[index].contains(&claim.label) {
                let who = if confirmed { "the interpreter" } else { "the native run" };
                let name = subject.describe(index, claim.label);
                check.fault(format!("claimed, not covered in {who}: {name}; {}", inputs(test)));
            }
        }
    }
    check.faults
}

fn index(subject: &Subject, label: &LabelRef) -> usize {
    let found = subject.functions.iter().position(|func| *func == label.func);
    found.expect("the label is of a function that was given")
}

fn check_all(seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> String + Sync) {
    let mut report = String::new();
    for seed in seeds {
        let text = generate(seed);
        let result = std::panic::catch_unwind(|| check(seed, &text));
        let faults = result.unwrap_or_else(|_| vec!["an engine panicked (see above)".into()]);
        if !faults.is_empty() {
            report += &format!("seed {seed}:\n  {}\n{text}\n", faults.join("\n  "));
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn interpreter_native_runs_exploration_and_proofs_agree_on_random_functions() {
    check_all(seeds(0..2), |seed| cgen::function("f", seed));
}

#[test]
fn engines_agree_on_small_functions_that_are_explored_completely() {
    check_all(seeds(0..6), |seed| cgen::small_function("f", seed));
}

#[test]
fn engines_agree_on_what_undefined_functions_write() {
    check_all(seeds(0..6), |seed| outside::function("f", seed));
}

/// Each construct of the language has a program of its own in `constructs`.
#[test]
fn engines_agree_on_every_construct_that_has_a_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts: Vec<String> =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    check_all(0..texts.len() as u64, |seed| texts[seed as usize].clone());
}
