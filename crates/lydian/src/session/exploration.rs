//! One exploration of the open objectives. Its tests are validated as they come. At its end, each open
//! objective is infeasible or has a reason for being open.

use std::time::Duration;

use lydian_base::{Budget, StopReason};
use lydian_objective::Assumption;
use lydian_objective::assumption::abridged;
use lydian_objective::evidence::{Engine, Evidence, UnknownReason};
use lydian_report::Exploration;
use lydian_smt::standard_chain;
use lydian_symex::Event;
use lydian_symex::{Config, Cut, ExploreError, Summary, Task, Unmet, Workers};

use super::goals::Goal;
use super::hyperlabel_coverage::HyperlabelCoverage;
use super::novelty_filter::NoveltyFilter;
use super::open_objectives::OpenObjectives;
use super::proofs::implied_verdicts;
use super::state::{Conclusion, LastDiscovery, Round, Session};
use super::test_validation::TestValidation;
use super::unknown_reasons::reason;
use crate::error::Error;
use crate::project::registered::Registered;

/// An objective that an exploration left.
struct OpenGoal<'s> {
    goal: Goal,
    /// The cuts of paths that might have reached it; empty if there were none.
    reasons: &'s [Cut],
    /// The bounds on inputs that it meets.
    bounds: &'s [Assumption],
}

impl Session<'_, '_> {
    /// Explores the open objectives with other inputs for a limited time, if there are any.
    pub(crate) fn explore_open(
        &mut self,
        round: &Round<'_>,
        time: Duration,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Error> {
        if budget.exceeded().is_some() {
            return Ok(());
        }
        let mut left = self.open_goals()?;
        if config.augmentation.is_some() {
            // Augmentation belongs to the main exploration.
            self.remove_transformed(&mut left);
        }
        self.explore_again(round, (left, time), hyper_coverage, config, budget, contradictions)
    }

    /// Explores some objectives after the main exploration, for a limited time, if there are any.
    pub(crate) fn explore_again(
        &mut self,
        round: &Round<'_>,
        (left, time): (Vec<Goal>, Duration),
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Error> {
        if left.is_empty() {
            return Ok(());
        }
        let time = budget.remaining().map_or(time, |remaining| remaining.min(time));
        let budget = budget.part(Some(time));
        // Crashes were found in the first exploration.
        let config = Config { crash_tests: false, augmentation: None, ..config.clone() };
        // An error with these inputs does not matter, since the main exploration had others.
        let _ = self.explore(round, &left, hyper_coverage, &config, &budget, contradictions)?;
        Ok(())
    }

    /// Runs one exploration. The inner error is the reason for which its inputs cannot be made.
    pub(crate) fn explore(
        &mut self,
        round: &Round<'_>,
        left: &[Goal],
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<Result<(Summary, LastDiscovery), ExploreError>, Error> {
        log::info!(
            "exploring {} for {} objectives, in {:.1?} at most",
            self.name(),
            left.len(),
            budget.remaining().unwrap_or(Duration::MAX)
        );
        let novelty = config.every_path.then(|| NoveltyFilter::of(left));
        let interrupts = self.project.interrupts(self.entry);
        let config = &Config { interrupts, ..config.clone() };
        let open = OpenObjectives::new(self.measured, self.targets, left, hyper_coverage);
        let task = Task {
            program: &self.project.program,
            func: self.entry,
            spec: round.spec,
            objectives: &open.objectives,
            known: &open.known,
            config,
            budget,
        };
        let chain = self.chain(self.entry);
        let solver = || standard_chain(&chain);
        // Occurrences stay with the worker whose path has them.
        let count = if config.augmentation.is_some() { 1 } else { self.options.workers };
        let workers = Workers::new(count, &solver);
        let mut trouble = None;
        let mut validation =
            TestValidation::new(self, &open, hyper_coverage, contradictions, budget, novelty);
        validation.ends_well = round.ends_well;
        let mut sink = |event: Event| {
            if trouble.is_none()
                && let Err(failure) = validation.take_finding(event)
            {
                budget.cancel_token().cancel();
                trouble = Some(failure);
            }
        };
        let summary = task.run_among(&workers, &mut sink);
        if let Some(failure) = trouble {
            return Err(failure);
        }
        let last = validation.finish()?;
        let summary = match summary {
            Ok(summary) => summary,
            Err(error) => return Ok(Err(error)),
        };
        let is_memory = |cut: &Cut| match cut {
            Cut::Stopped(StopReason::Memory(limit)) => Some(*limit),
            _ => None,
        };
        let memory = summary.cuts.keys().find_map(is_memory);
        self.recorded.memory = self.recorded.memory.max(memory);
        let decides = match round.concludes {
            Conclusion::Always => true,
            Conclusion::IfComplete => summary.complete,
            Conclusion::Never => false,
        };
        if decides {
            self.record_open(&summary, &open)?;
            // A contradiction of an earlier exploration counts against this one, too.
            if let Some(contradiction) = contradictions.first() {
                self.withdraw(Engine::Exploration, contradiction)?;
            }
        }
        Ok(Ok((summary, last)))
    }

    /// Records that objectives could not be explored.
    pub(crate) fn record_refused(
        &mut self,
        left: &[Goal],
        error: &ExploreError,
    ) -> Result<(), Error> {
        let reason = UnknownReason::NotFollowed(format!("no inputs could be made: {error}"));
        let evidence = Evidence::Unknown { reason };
        let all: Vec<_> = left.iter().map(|goal| (*goal, evidence.clone())).collect();
        self.record_evidence(&all)
    }

    /// Records evidence on the objectives that an exploration left: an argument that it is infeasible
    /// if no cut lies before it, else the reason for which it is unknown.
    pub(crate) fn record_open(
        &mut self,
        summary: &Summary,
        open: &OpenObjectives,
    ) -> Result<(), Error> {
        let labels = summary.left.iter();
        let labels = labels.filter_map(|found| {
            let goal = open.label(found.label)?;
            Some(OpenGoal { goal, reasons: &found.reasons, bounds: &found.bounds })
        });
        let hypers = summary.left_hypers.iter();
        let hypers = hypers.filter_map(|found| {
            let goal = open.hyper(found.hyper)?;
            Some(OpenGoal { goal, reasons: &found.reasons, bounds: &found.bounds })
        });
        let all: Vec<OpenGoal<'_>> = labels.chain(hypers).collect();
        let (program, whole) = (&self.project.program, self.project.entry().is_some());
        let registered = if whole { Registered::of(program) } else { Registered::default() };
        let beside = registered.assumption(program);
        let beside: Vec<Assumption> =
            beside.into_iter().chain(self.project.undisturbed(self.entry)).collect();
        let mut unmet = summary.unmet.iter();
        let none_begin = unmet.find(|unmet| matches!(unmet, Unmet::Preconditions { .. }));
        let evidence = all.iter().map(|OpenGoal { goal, reasons, bounds }| {
            let target = &self.targets[goal.target()];
            let complete = reasons.is_empty();
            let elsewhere =
                complete && !whole && implied_verdicts::others_may_cover(program, target, *goal);
            let evidence = if let Some(unmet) = none_begin {
                Evidence::Unknown { reason: UnknownReason::NotFollowed(unmet.to_string()) }
            } else if elsewhere {
                let what = "runs that begin in another function may cover it".to_owned();
                Evidence::Unknown { reason: UnknownReason::NotFollowed(what) }
            } else if let Some(by) = registered.by(target.objectives.function).filter(|_| complete)
            {
                let what = format!("it may run where `{by}` has it called, which is not explored");
                Evidence::Unknown { reason: UnknownReason::NotFollowed(what) }
            } else if complete {
                let bounds: Vec<Assumption> = bounds.iter().chain(&beside).cloned().collect();
                self.complete(summary, &bounds)
            } else {
                Evidence::Unknown { reason: reason(&self.places, reasons) }
            };
            (*goal, evidence)
        });
        let evidence: Vec<(Goal, Evidence)> = evidence.collect();
        self.record_evidence(&evidence)
    }

    /// The argument of an exploration without cuts for an objective that meets some bounds of its own.
    /// Assumptions that settings state are preconditions.
    pub(crate) fn complete(&self, summary: &Summary, bounds: &[Assumption]) -> Evidence {
        let all = summary.assumptions.iter().chain(&summary.bounds).chain(bounds).cloned();
        let spec = &self.project.spec;
        let is_stated = |one: &Assumption| spec.states(&self.project.program, self.entry, one);
        let (stated, assumed): (Vec<_>, Vec<_>) = all.partition(is_stated);
        let preconditions = self.project.surroundings().iter().chain(&summary.preconditions);
        let registers = self.project.stated_registers();
        let preconditions = preconditions.chain(&registers);
        let preconditions = preconditions.chain(stated.iter().map(|stated| &stated.sentence));
        let preconditions: Vec<&str> = preconditions.map(String::as_str).collect();
        Evidence::Complete {
            method: Evidence::EXPLORATION.to_owned(),
            preconditions: preconditions.join("; "),
            assumptions: abridged(assumed),
            invariants: Vec::new(),
            certificates: Vec::new(),
        }
    }
}

/// The figures of an exploration.
pub(crate) fn exploration_figures(summary: &Summary, last: LastDiscovery) -> Exploration {
    let statistics = &summary.statistics;
    Exploration {
        paths: summary.path_count(),
        complete: summary.complete,
        steps: statistics.steps,
        queries: statistics.queries,
        seconds: statistics.total_time.as_secs_f64(),
        solver_seconds: statistics.solver_time.as_secs_f64(),
        paths_to_last: last.paths,
        seconds_to_last: last.seconds,
        augmentation: None,
    }
}

/// The figures of two explorations of a function, the second of what the first left.
pub(crate) fn one_after_the_other(first: &Exploration, second: Exploration) -> Exploration {
    Exploration {
        paths: first.paths + second.paths,
        steps: first.steps + second.steps,
        queries: first.queries + second.queries,
        seconds: first.seconds + second.seconds,
        solver_seconds: first.solver_seconds + second.solver_seconds,
        paths_to_last: first.paths + second.paths_to_last,
        seconds_to_last: first.seconds + second.seconds_to_last,
        ..second
    }
}
