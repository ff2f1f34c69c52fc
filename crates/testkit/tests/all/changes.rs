//! What a change may affect, on random edits of random functions, against all inputs of both versions.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds; a failure names the seed and shows both texts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lydian_ir::interp::{Interpreter, Options};
use lydian_objective::changes::{
    AffectedPlaces, FunctionStatus, ImpactedObjectives, ProgramChanges, VersionFlow, VersionOf,
};
use lydian_objective::{CoverageInterpreter, Criterion, LabelId};
use lydian_symex::{Config, LabelRef, Limits};
use lydian_testkit::oracle::{Subject, seeds};
use lydian_testkit::versions::{SmallInput, VersionPair, first_difference};

const CRITERIA: [Criterion; 5] =
    [Criterion::Stmt, Criterion::Bc, Criterion::Mcc, Criterion::Wm, Criterion::Rte];
/// The functions of one text.
const FUNCTIONS: u64 = 12;

/// By the name and the text of an objective: the inputs that cover it. Of several objectives with one
/// name and text nothing is kept.
type Covering = BTreeMap<(String, String), (LabelId, BTreeSet<usize>)>;

fn covering(subject: &Subject, name: &str) -> Covering {
    let id = subject.program.function_named(name).expect("the text has it");
    let at = subject.functions.iter().position(|other| *other == id).expect("it has a body");
    let objectives = std::slice::from_ref(&subject.objectives[at]);
    let judge = CoverageInterpreter::new(&subject.program, objectives, false);
    let interpreter = Interpreter::new(&subject.program);
    let mut inputs: BTreeMap<LabelId, BTreeSet<usize>> = BTreeMap::new();
    for (number, input) in SmallInput::all().enumerate() {
        let options = Options { max_steps: 100_000, ..Options::default() };
        let run = judge.run_on(&interpreter, &input.test(name), &options).expect("it fits");
        for label in &run.covered[0] {
            inputs.entry(*label).or_default().insert(number);
        }
    }
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (criterion, entries) in &objectives[0].criteria {
        for entry in entries {
            let label = &objectives[0].labels[entry.label];
            let key = (format!("{criterion} {}", plain(&entry.name)), label.text.to_string());
            let covered = inputs.get(&entry.label).cloned().unwrap_or_default();
            found.entry(key).or_default().push((entry.label, covered));
        }
    }
    let single = found.into_iter().filter(|(_, all)| all.len() == 1);
    single.map(|(key, mut all)| (key, all.remove(0))).collect()
}

/// A name without numbers, which shift with edits.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[test]
fn the_inputs_that_cover_an_objective_stay_where_the_change_does_not_affect_it() {
    let (mut report, mut alone, mut impacted) = (String::new(), 0, 0);
    for seed in seeds(0..3) {
        let pair = VersionPair::random(seed, FUNCTIONS);
        let old = Subject::read(&pair.old, &CRITERIA, false);
        let new = Subject::read(&pair.new, &CRITERIA, false);
        let changes = ProgramChanges::between(version(&old), version(&new), "");
        let (mut before, mut after) =
            (VersionFlow::of(&old.program), VersionFlow::of(&new.program));
        for name in &pair.functions {
            let id = new.program.function_named(name).expect("the text has it");
            let at = new.functions.iter().position(|other| *other == id).expect("it has a body");
            let affected = AffectedPlaces::from(&changes, (&mut before, &mut after), id);
            let found = ImpactedObjectives::of(
                &changes,
                (&after, &affected),
                (&new.program, id),
                &new.objectives[at],
            );
            let first = covering(&old, name);
            for (key, (label, inputs)) in covering(&new, name) {
                if found.labels.contains(&label) {
                    impacted += 1;
                    continue;
                }
                alone += 1;
                if first.get(&key).is_some_and(|(_, earlier)| *earlier != inputs) {
                    report +=
                        &format!("seed {seed}, {name}: {key:?}\n{}\n{}\n", pair.old, pair.new);
                }
            }
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(alone > 100 && impacted > 100, "{alone} left alone, {impacted} impacted");
}

#[test]
fn functions_that_count_as_equal_differ_on_no_input() {
    let mut equal = 0;
    for seed in seeds(0..30) {
        let pair = VersionPair::random(seed, FUNCTIONS);
        let old = Subject::read(&pair.old, &[], false);
        let new = Subject::read(&pair.new, &[], false);
        let changes = ProgramChanges::between(version(&old), version(&new), "");
        for change in changes.functions.iter().filter(|it| pair.functions.contains(&it.name)) {
            if change.status == FunctionStatus::Equal {
                equal += 1;
                let found = first_difference(&old.program, &new.program, &change.name);
                assert_eq!(found, None, "seed {seed}, {}\n{}\n{}", change.name, pair.old, pair.new);
            }
        }
    }
    assert!(equal > 0);
}

/// The labels of one function that an exploration covers, and those that it shows to be infeasible. Asked
/// for are those that `wanted` holds for; none where a limit was hit.
fn decided(
    subject: &mut Subject,
    at: usize,
    config: &Config,
    wanted: impl Fn(LabelId) -> bool,
) -> Option<[BTreeSet<LabelId>; 2]> {
    let function = subject.functions[at];
    let before = subject.objectives.clone();
    for (position, objectives) in subject.objectives.iter_mut().enumerate() {
        let asks = |label| position == at && wanted(label);
        objectives.criteria.values_mut().for_each(|list| list.retain(|entry| asks(entry.label)));
    }
    let summary = subject.explore(function, "", config, Duration::from_secs(20)).summary;
    subject.objectives = before;
    let own = |of: &LabelRef| of.func == function;
    let infeasible = summary.left.iter().filter(|left| left.reasons.is_empty());
    let infeasible = infeasible.map(|left| left.label).filter(own).map(|of| of.label).collect();
    let covered = summary.covered.iter().copied().filter(own).map(|of| of.label).collect();
    summary.complete.then_some([covered, infeasible])
}

#[test]
fn exploring_for_impacted_objectives_alone_decides_them_as_exploring_for_all_does() {
    let limits = Limits { loop_bound: None, ..Limits::unbounded() };
    let full = Config { limits, stop_when_covered: false, crash_tests: false, ..Config::default() };
    let directed = Config { stop_when_covered: true, merge_silent_code: true, ..full.clone() };
    let (mut compared, mut infeasible) = (0, 0);
    for seed in seeds(50..53) {
        let pair = VersionPair::random(seed, FUNCTIONS);
        let old = Subject::read(&pair.old, &CRITERIA[..3], false);
        let mut new = Subject::read(&pair.new, &CRITERIA[..3], false);
        for name in &pair.functions {
            let id = new.program.function_named(name).expect("the text has it");
            let at = new.functions.iter().position(|other| *other == id).expect("it has a body");
            let changes = ProgramChanges::between(version(&old), version(&new), "");
            let mut flows = (VersionFlow::of(&old.program), VersionFlow::of(&new.program));
            let affected = AffectedPlaces::from(&changes, (&mut flows.0, &mut flows.1), id);
            let found = (&flows.1, &affected);
            let labels =
                ImpactedObjectives::of(&changes, found, (&new.program, id), &new.objectives[at])
                    .labels;
            let Some(whole) = decided(&mut new, at, &full, |_| true) else { continue };
            let part = decided(&mut new, at, &directed, |label| labels.contains(&label));
            // It stops early where all are covered.
            let Some([covered, left]) = part else { continue };
            let impacted = |all: &BTreeSet<LabelId>| -> BTreeSet<LabelId> {
                all.iter().copied().filter(|label| labels.contains(label)).collect()
            };
            let text = format!("seed {seed}, {name}\n{}\n{}", pair.old, pair.new);
            assert_eq!(impacted(&covered), impacted(&whole[0]), "{text}");
            assert_eq!(impacted(&left), impacted(&whole[1]), "{text}");
            compared += impacted(&covered).len();
            infeasible += impacted(&left).len();
        }
    }
    assert!(compared > 100 && infeasible > 5, "{compared} covered, {infeasible} infeasible");
}

const fn version(subject: &Subject) -> VersionOf<'_> {
    VersionOf { program: &subject.program, map: &subject.map }
}
