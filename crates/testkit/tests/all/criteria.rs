//! A few random programs: every criterion measured natively as the trace semantics says. The
//! `criteria` bench does the same for as many as one likes.

use lydian_ir::interp::Options;
use lydian_ir::test::{Image, Test};
use lydian_native::Optimization;
use lydian_objective::trace::Tracer;
use lydian_objective::{Criterion, FunctionObjectives, HtolFile, Request};
use lydian_testkit::agreement::{
    self, Report, Settings, check, check_faults, check_two_files, check_written,
};
use lydian_testkit::oracle::Subject;

#[test]
fn native_measurement_is_the_trace_semantics_for_every_criterion() {
    let settings = Settings { cases: 3, tests: 5, ..Settings::default() };
    let mut report = Report::default();
    for (first, level) in [(0, Optimization::None), (24, Optimization::Some)] {
        report.merge(check(first, &settings, level));
    }
    assert!(report.mismatches.is_empty(), "{}", report.mismatches.join("\n"));
    for criterion in agreement::criteria() {
        let tally = report.tallies.get(&criterion).copied().unwrap_or_default();
        assert!(tally.judged > 0, "{criterion} has no objectives");
    }
    let covered = report.tallies.values().filter(|tally| tally.covered > 0).count();
    assert!(covered > 25, "objectives of {covered} criteria are covered");
    assert!(report.tests > report.cases, "most tests are run: {}", report.tests);
}

/// A program with constructs for every criterion.
const EVERYTHING: &str = r#"
int total;

static int limit(int n) { return n > 10 ? 10 : n; }

int weigh(int count, int *values, unsigned step)
{
  int sum = 0;
  int last[2] = { 0, 0 };
  for (int i = 0; i < count; i += step) {
    //! large: sum > 100
    if (values[i] > 0 && (sum < 50 || i != 3))
      sum += values[i] / count;
    else
      last[i & 1] = values[i];
  }
  total = limit(sum) + last[0];
  return total + last[count & 1];
}
"#;

/// Hyperlabels and paths of a user about it.
const WRITTEN: &str = "\
function weigh;
objective grows = [(entry, count > 0) -> (line 10, sum > 0)];
path through = entry -> ... -> line 18;
";

#[test]
fn every_criterion_has_objectives_in_a_program_that_has_what_it_asks_about() {
    let file = HtolFile::read("everything.htol", WRITTEN.to_owned()).expect("a file");
    let criteria = Criterion::ALL.into_iter().map(|(criterion, _)| criterion);
    let criteria: Vec<Criterion> = criteria.filter(|criterion| !criterion.is_strong()).collect();
    let subject = Subject::read_with(
        EVERYTHING,
        &Request { htol: vec![file], ..Request::new(criteria.clone()) },
    );
    for criterion in criteria {
        let count: usize = subject.objectives.iter().map(|of| count_of(of, criterion)).sum();
        assert!(count > 0, "{criterion} has no objectives");
    }
}

/// The number of objectives of a criterion in a function, in the list that the criterion's form says.
fn count_of(objectives: &FunctionObjectives, criterion: Criterion) -> usize {
    match criterion.is_hyper() {
        true => objectives.hyper_criteria[&criterion].len(),
        false => objectives.criteria[&criterion].len(),
    }
}

#[test]
fn pairs_across_two_files_are_those_of_the_trace_semantics() {
    let settings = Settings { cases: 8, tests: 6, ..Settings::default() };
    let mut report = Report::default();
    for (first, level) in [(0, Optimization::None), (800, Optimization::Some)] {
        report.merge(check_two_files(first, &settings, level));
    }
    assert!(report.mismatches.is_empty(), "{}", report.mismatches.join("\n"));
    for criterion in [Criterion::AllDefs, Criterion::AllUses, Criterion::AllUsesCells] {
        let tally = report.tallies[&criterion];
        assert!(tally.judged > 100 && tally.covered > 30, "{criterion}: {tally:?}");
    }
}

/// The coverage of a test's earlier calls counts, and its globals are those of one run.
#[test]
fn tests_of_several_calls_are_measured_as_the_trace_semantics_says() {
    let settings = Settings { cases: 3, tests: 5, earlier: 3, ..Settings::default() };
    let mut report = check(70, &settings, Optimization::None);
    report.merge(check(140, &settings, Optimization::Some));
    report.merge(check_faults(50, &settings));
    report.merge(check_written(60, &settings, Optimization::None));
    report.merge(check_two_files(900, &settings, Optimization::Some));
    assert!(report.mismatches.is_empty(), "{}", report.mismatches.join("\n"));
    assert!(report.tests > report.cases, "most tests are run: {}", report.tests);
}

/// The labels of one place are judged before anything there is evaluated, its roots in order.
#[test]
fn what_the_trace_semantics_has_before_a_fault_is_measured() {
    let settings = Settings { cases: 4, tests: 8, ..Settings::default() };
    let mut report = Report::default();
    for first in [0, 40] {
        report.merge(check_faults(first, &settings));
    }
    assert!(report.mismatches.is_empty(), "{}", report.mismatches.join("\n"));
    assert!(report.tests > report.cases, "most tests are run: {}", report.tests);
}

#[test]
fn native_measurement_is_the_trace_semantics_for_hyperlabels_and_paths() {
    let settings = Settings { cases: 6, tests: 5, events: 60, ..Settings::default() };
    let mut report = Report::default();
    for (first, level) in [(0, Optimization::None), (600, Optimization::Some)] {
        report.merge(check_written(first, &settings, level));
    }
    assert!(report.mismatches.is_empty(), "{}", report.mismatches.join("\n"));
    for criterion in [Criterion::Htol, Criterion::Spc] {
        let tally = report.tallies[&criterion];
        assert!(tally.judged > 60 && tally.covered > 10, "{criterion}: {tally:?}");
    }
}

/// The memory beyond the array belongs to another object.
#[test]
fn a_mutant_that_reads_beyond_an_array_has_no_value() {
    let text = "int f(int i)\n{\n    int t[4] = {1, 1, 1, 1};\n    int other[64] = {0};\n    \
                other[i & 3] = 2;\n    return t[i & 3];\n}\n";
    let subject = Subject::read(text, &[Criterion::Wm], false);
    let objectives = &subject.objectives[0];
    let beyond = |index: &&lydian_objective::LabelEntry| {
        index.name.ends_with("3 -> -1") && objectives.labels[index.label].text.contains("t[")
    };
    let entries = &objectives.criteria[&Criterion::Wm];
    let mutants: Vec<_> = entries.iter().filter(beyond).map(|entry| entry.label).collect();
    assert!(!mutants.is_empty(), "there is a mutant of the subscript");
    let tracer = Tracer::new(&subject.program, &subject.objectives, false);
    for index in -20..120i32 {
        let argument = Image { bytes: index.to_le_bytes().into(), pointers: Vec::new() };
        let test = Test::calling("f", vec![argument]);
        let (trace, _) = tracer.run(&test, &Options::default()).unwrap();
        let covered = trace.events.iter().flat_map(|event| &event.labels);
        assert!(covered.filter(|label| mutants.contains(label)).count() == 0, "f({index})");
    }
}
