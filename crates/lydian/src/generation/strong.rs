//! The criterion of strong mutation, after all others: the suite so far kills mutants, and tests are made
//! for the others.

use std::time::Instant;

use lydian_ledger::{EvidenceScope, FunctionName, NoteKind};
use lydian_mutate::{Operator, on_one_line};
use lydian_native::Build;
use lydian_objective::Criterion;
use lydian_objective::evidence::AssumedObjective;
use lydian_report::{CriterionSummary, FunctionSummary, ObjectiveSummary, Summary, VerdictKind};
use lydian_symex::{Config, Limits};

use super::{Run, Task};
use crate::error::Error;
use crate::measurement::test_runner::TestRunner;
use crate::mutation::killing::{KillRequest, Killing, StrongObjective, StrongVerdict};
use crate::mutation::known_mutants::KnownMutants;
use crate::mutation::patterns;
use crate::session::FunctionUnderTest;
use crate::shared_ledger::SharedLedger;
use crate::shared_ledger::digest;
use crate::suite::Suite;

impl Run<'_> {
    /// Adds tests that kill mutants, and the verdicts on these, if the criterion is asked for: then there is a
    /// runner. Returns whether
    /// verdicts contradict each other.
    ///
    /// # Errors
    /// Mutants that cannot be compiled or run. The suite and the summary are whole without them.
    pub(super) fn kill_mutants(
        &self,
        (suite, summary): (&mut Suite, &mut Summary),
        runner: Option<&mut TestRunner<'_>>,
        build: &Build,
        (tasks, ledger): (&[Task<'_>], Option<&SharedLedger>),
    ) -> Result<bool, Error> {
        let Some(runner) = runner else { return Ok(false) };
        let begun = Instant::now();
        let functions: Vec<String> =
            summary.functions.iter().map(|function| function.name.clone()).collect();
        let request = KillRequest {
            project: self.project,
            build,
            operators: &Operator::ALL,
            patterns: &patterns(&self.project.request.configuration)?,
            functions,
            time: self.options.time,
            exploration: &self.exploration(),
            jobs: self.options.jobs,
            cancel: self.cancel,
            observer: self.observer,
        };
        let before = suite.tests.len();
        let mut known = self.known_mutants(tasks, ledger)?;
        let killing = Killing { request, runner, suite: &mut *suite, known: &mut known };
        let found = { killing }.run(&|_| true);
        if found.is_ok() && !self.cancel.is_cancelled() {
            self.record_mutants(&known, tasks, ledger)?;
        }
        let added = suite.tests[before..].iter().map(|test| test.test.function.as_str());
        let added: Vec<&str> = added.collect();
        let share = begun.elapsed().as_secs_f64() / summary.functions.len().max(1) as f64;
        let is_program = self.project.entry().is_some();
        for (at, function) in summary.functions.iter_mut().enumerate() {
            // The first function has the tests of a program.
            let is_own = |name: &&&str| if is_program { at == 0 } else { **name == function.name };
            function.tests += added.iter().filter(is_own).count();
            function.seconds += share;
        }
        let found = found?;
        for function in &mut summary.functions {
            let own: Vec<&StrongObjective> =
                found.iter().filter(|it| it.mutant.function == function.name).collect();
            add(function, &own);
        }
        Ok(found.iter().any(StrongObjective::is_contradictory))
    }
}

impl Run<'_> {
    /// The key of what is known of a function's mutants: all that it depends on.
    fn mutant_key(&self, target: &FunctionUnderTest<'_>) -> Result<String, Error> {
        let EvidenceScope { code, configuration } = &target.scope;
        let exploration = Config { limits: Limits::default(), ..self.exploration() };
        let exploration = Config { traces: false, measure_terms: false, ..exploration };
        let limits = Limits { memory: None, ..self.options.exploration.limits.clone() };
        let patterns = patterns(&self.project.request.configuration)?;
        let version = env!("CARGO_PKG_VERSION");
        let text =
            format!("{version} {code} {configuration} {exploration:?} {limits:?} {patterns:?}");
        Ok(digest::of(&text))
    }

    /// What earlier runs found out about the mutants of all functions.
    fn known_mutants(
        &self,
        tasks: &[Task<'_>],
        ledger: Option<&SharedLedger>,
    ) -> Result<KnownMutants, Error> {
        let mut known = KnownMutants::new();
        let Some(ledger) = ledger.filter(|_| !self.options.again) else { return Ok(known) };
        for target in tasks.iter().flat_map(|task| &task.targets) {
            let name = self.project.name(target.objectives.function);
            let function = FunctionName { unit: &self.unit, name };
            let key = self.mutant_key(target)?;
            let note =
                ledger.lock().note(function, NoteKind::Mutants, &key).map_err(Error::from)?;
            let record = note.and_then(|text| serde_json::from_str(&text).ok());
            known.extend(record.map(|record| (name.to_owned(), record)));
        }
        Ok(known)
    }

    /// Records what is known of the mutants of all functions.
    fn record_mutants(
        &self,
        known: &KnownMutants,
        tasks: &[Task<'_>],
        ledger: Option<&SharedLedger>,
    ) -> Result<(), Error> {
        let Some(ledger) = ledger else { return Ok(()) };
        for target in tasks.iter().flat_map(|task| &task.targets) {
            let name = self.project.name(target.objectives.function);
            let (Some(record), key) = (known.get(name), self.mutant_key(target)?) else { continue };
            let detail = serde_json::to_string(record).expect("a record is valid JSON");
            let function = FunctionName { unit: &self.unit, name };
            let mut ledger = ledger.lock();
            let mut recording = ledger.record(function, &target.scope).map_err(Error::from)?;
            recording.note(NoteKind::Mutants, &key, &detail).map_err(Error::from)?;
            recording.commit().map_err(Error::from)?;
        }
        Ok(())
    }
}

/// Adds the verdicts on a function's mutants.
fn add(function: &mut FunctionSummary, found: &[&StrongObjective]) {
    let objectives: Vec<ObjectiveSummary> = found.iter().map(|it| summary_of(it)).collect();
    let row = row(&objectives);
    match function.criteria.iter_mut().find(|row| row.criterion == Criterion::Sm) {
        Some(known) => *known = row,
        None => function.criteria.push(row),
    }
    function.objectives.extend(objectives);
}

fn summary_of(StrongObjective { mutant, verdict }: &StrongObjective) -> ObjectiveSummary {
    let (original, replacement) = (on_one_line(&mutant.original), on_one_line(&mutant.replacement));
    let text = format!("{original} -> {replacement}");
    let (verdict, reason, assumptions, tests) = match verdict {
        StrongVerdict::Killed(test) => {
            (VerdictKind::Covered, String::new(), Vec::new(), vec![test.clone()])
        }
        StrongVerdict::Equivalent(how) => {
            let reason = format!("the mutant is equivalent ({how})");
            (VerdictKind::Infeasible, reason, Vec::new(), Vec::new())
        }
        StrongVerdict::EquivalentAsAssumed(all) => {
            let reason = "the mutant is equivalent (complete exploration of both)".to_owned();
            (VerdictKind::InfeasibleAsAssumed, reason, all.clone(), Vec::new())
        }
        StrongVerdict::Unknown(reason) => {
            (VerdictKind::Unknown, reason.clone(), Vec::new(), Vec::new())
        }
        StrongVerdict::Contradictory(test) => {
            let reason = "it is said to be equivalent, and a test kills it".to_owned();
            (VerdictKind::Contradictory, reason, Vec::new(), vec![test.clone()])
        }
    };
    ObjectiveSummary {
        criterion: Criterion::Sm,
        name: mutant.name.clone(),
        file: mutant.file.clone(),
        line: mutant.start.line,
        column: mutant.start.column,
        text,
        verdict,
        reason,
        assumptions,
        only_by: None,
        tests,
    }
}

/// The counts of the verdicts.
fn row(objectives: &[ObjectiveSummary]) -> CriterionSummary {
    let count = |kind: VerdictKind| objectives.iter().filter(|it| it.verdict == kind).count();
    let is_open = |it: &&ObjectiveSummary| {
        matches!(it.verdict, VerdictKind::Unknown | VerdictKind::Contradictory)
    };
    let unknown = objectives.iter().filter(is_open);
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for ObjectiveSummary { reason, .. } in unknown {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason.clone(), 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let assumed = objectives.iter().filter(|it| it.verdict == VerdictKind::InfeasibleAsAssumed);
    let assumed = assumed.map(|it| AssumedObjective {
        name: it.name.clone(),
        place: lydian_base::Place {
            file: it.file.as_str().into(),
            line: it.line,
            column: it.column,
        },
        text: it.text.clone(),
        assumptions: it.assumptions.clone(),
    });
    CriterionSummary {
        criterion: Criterion::Sm,
        objectives: objectives.len(),
        covered: count(VerdictKind::Covered),
        infeasible: count(VerdictKind::Infeasible),
        infeasible_as_assumed: count(VerdictKind::InfeasibleAsAssumed),
        duplicate: 0,
        unknown: objectives.iter().filter(is_open).count(),
        reasons,
        assumed: assumed.collect(),
        granted: Vec::new(),
    }
}
