//! Augmented exploration against the interpreter, on random functions: each test satisfies, at its place,
//! the transformed conditions that it was made for, on the part of a path that they keep.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds.

use std::collections::BTreeSet;

use lydian_ir::FuncId;
use lydian_ir::interp::Options;
use lydian_ir::test::Test;
use lydian_objective::trace::{Trace, TraceEvent, Tracer};
use lydian_objective::{Criterion, LabelId};
use lydian_symex::{
    Augmentation, AugmentationKind, Config, FoundTest, LabelRef, Limits, Mode, Summary,
};
use lydian_testkit::oracle::{ExplorationResult, seeds};

use crate::functions::Function;

const CRITERIA: [Criterion; 5] = [
    Criterion::Bc,
    Criterion::AugBoundary,
    Criterion::AugMutation,
    Criterion::AugLogic,
    Criterion::AugErrors,
];

fn augmented(kind: AugmentationKind, each_occurrence: bool) -> Config {
    let limits = Limits { paths: Some(300), steps: Some(60_000), calls: 1, ..Limits::unbounded() };
    let augmentation = Some(Augmentation { kind, each_occurrence });
    Config { limits, augmentation, ..Config::default() }
}

/// The traces of tests in the interpreter.
struct Runs<'f> {
    function: &'f Function,
    tracer: Tracer<'f>,
}

impl<'f> Runs<'f> {
    fn of(function: &'f Function) -> Self {
        let subject = &function.subject;
        Self { function, tracer: Tracer::new(&subject.program, &subject.objectives, false) }
    }

    fn trace(&self, test: &Test) -> Trace {
        let run = self.tracer.run(test, &Options::default());
        run.unwrap_or_else(|error| panic!("{error}: {test:?}")).0
    }

    /// The branches that a run of a test takes, in order: its path.
    fn path(&self, test: &FoundTest) -> Vec<LabelRef> {
        let events = self.trace(&test.test).events;
        let of_event = |event: TraceEvent| {
            let labels = event.labels.into_iter();
            labels.map(move |label| LabelRef { func: event.function, label })
        };
        events.into_iter().flat_map(of_event).filter(|label| self.is_branch(*label)).collect()
    }

    fn is_branch(&self, label: LabelRef) -> bool {
        self.criteria_of(label.func, label.label).contains(&Criterion::Bc)
    }

    /// Whether an event has a label.
    fn has(event: &TraceEvent, func: FuncId, label: LabelId) -> bool {
        event.function == func && event.labels.contains(&label)
    }

    /// The position of a function among those with objectives.
    fn index(&self, func: FuncId) -> usize {
        let mut functions = self.function.subject.functions.iter();
        functions.position(|one| *one == func).expect("it has objectives")
    }

    fn text(&self, label: LabelRef) -> String {
        self.function.subject.describe(self.index(label.func), label.label)
    }

    /// The criteria that count a label.
    fn criteria_of(&self, func: FuncId, label: LabelId) -> BTreeSet<Criterion> {
        let objectives = &self.function.subject.objectives[self.index(func)];
        let counting = objectives.criteria.iter();
        let counting = counting.filter(|(_, all)| all.iter().any(|entry| entry.label == label));
        counting.map(|(criterion, _)| *criterion).collect()
    }
}

/// Checks the claims of all tests. Returns how many tests satisfy transformed conditions.
fn check_claims(runs: &Runs<'_>, found: &ExplorationResult, what: &str) -> usize {
    let mut made = 0;
    for test in &found.tests {
        let trace = runs.trace(&test.test);
        let turns = test.transformed.iter().map(|(label, _)| label);
        for label in test.covers.iter().chain(turns) {
            let satisfied =
                trace.events.iter().any(|event| Runs::has(event, label.func, label.label));
            let text = runs.text(*label);
            assert!(satisfied, "{what}: {text} by {:?}", test.test);
        }
        for (label, turn) in &test.transformed {
            let of_place = trace.events.iter().filter(|event| {
                let objectives = &runs.function.subject.objectives[runs.index(label.func)];
                event.function == label.func && event.site == objectives.labels[label.label].site
            });
            let at = of_place.clone().nth(*turn as usize - 1);
            let holds = at.is_some_and(|event| Runs::has(event, label.func, label.label));
            let text = runs.text(*label);
            assert!(holds, "{what}, turn {turn}: {text} by {:?}", test.test);
        }
        let is_augmented = |label: &LabelRef| {
            let criteria = runs.criteria_of(label.func, label.label);
            criteria.iter().all(|criterion| criterion.is_of_augmentation())
        };
        made += usize::from(test.covers.iter().any(is_augmented));
    }
    made
}

#[test]
fn tests_satisfy_the_transformed_conditions_that_they_are_made_for() {
    let mut made = 0;
    for seed in seeds(0..12) {
        let function = Function::random(seed, &CRITERIA);
        let runs = Runs::of(&function);
        for kind in [AugmentationKind::Weak, AugmentationKind::Strict] {
            for each in [false, true] {
                let found = function.explore(&augmented(kind, each), 1);
                let what = format!("seed {seed}, {kind:?}, each occurrence: {each}");
                made += check_claims(&runs, &found, &what);
            }
        }
    }
    assert!(made > 50, "{made} tests satisfy transformed conditions");
}

#[test]
fn original_tests_stay_so_that_augmentation_covers_no_branch_less() {
    for seed in seeds(40..56) {
        let function = Function::random(seed, &CRITERIA);
        let plain = Function::random(seed, &CRITERIA[..1]);
        let config = Config { augmentation: None, ..augmented(AugmentationKind::Weak, false) };
        let before = plain.explore(&config, 1).summary;
        for kind in [AugmentationKind::Weak, AugmentationKind::Strict] {
            let after = function.explore(&augmented(kind, false), 1).summary;
            let branches = |covered: &[LabelRef], of: &Function| -> BTreeSet<String> {
                let runs = Runs::of(of);
                let branches = covered.iter().filter(|label| runs.is_branch(**label));
                // Each program has a folder of its own.
                let text =
                    |label| runs.text(label).split_once("subject.c").map(|(_, at)| at.to_owned());
                branches.filter_map(|label| text(*label)).collect()
            };
            let (old, new) =
                (branches(&before.covered, &plain), branches(&after.covered, &function));
            assert!(old.is_subset(&new), "seed {seed}, {kind:?}: {old:?}, {new:?}");
        }
    }
}

#[test]
fn strict_augmentation_takes_paths_of_tests_without_it_and_weak_augmentation_others_too() {
    let (mut followed, mut left) = (0, 0);
    for seed in seeds(80..92) {
        let function = Function::random(seed, &CRITERIA[..2]);
        let runs = Runs::of(&function);
        for kind in [AugmentationKind::Strict, AugmentationKind::Weak] {
            let found = function.explore(&augmented(kind, true), 1);
            let (made, original): (Vec<&FoundTest>, Vec<&FoundTest>) =
                found.tests.iter().partition(|test| !test.transformed.is_empty());
            let original: BTreeSet<_> = original.iter().map(|test| runs.path(test)).collect();
            for test in made {
                let follows = original.contains(&runs.path(test));
                let strict = kind == AugmentationKind::Strict;
                assert!(follows || !strict, "seed {seed}: {:?} takes another path", test.test);
                *(if follows { &mut followed } else { &mut left }) += 1;
            }
        }
    }
    assert!(followed > 0 && left > 0, "{followed} tests follow a path, {left} leave it");
}

#[test]
fn labels_of_augmentation_are_ordinary_goals_without_augmentation() {
    let function = Function::random(7, &CRITERIA);
    let config = Config {
        augmentation: None,
        mode: Mode::Tight,
        ..augmented(AugmentationKind::Weak, false)
    };
    let ordinary = function.explore(&config, 1).summary;
    assert_eq!(ordinary.statistics.augmented_queries, 0);
    let augmented = function.explore(&augmented(AugmentationKind::Weak, false), 1).summary;
    let covered = |summary: &Summary| -> BTreeSet<_> { summary.covered.iter().copied().collect() };
    assert!(covered(&augmented).is_subset(&covered(&ordinary)));
}
