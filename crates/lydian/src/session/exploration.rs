//! One exploration of what is left: its tests are validated as they come, and at its end it says of each
//! objective why it is still open, or that it is infeasible.

use std::time::Duration;

use lydian_base::Budget;
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

impl Session<'_, '_> {
    /// Explores what is left with other inputs for some time at most, if there is any.
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
        let left = self.open_goals()?;
        if left.is_empty() {
            return Ok(());
        }
        let time = budget.remaining().map_or(time, |remaining| remaining.min(time));
        let budget = budget.part(Some(time));
        // What crashes does so in the first exploration, too.
        let config = Config { crash_tests: false, ..config.clone() };
        // What cannot be made of these inputs was made of others.
        let _ = self.explore(round, &left, hyper_coverage, &config, &budget, contradictions)?;
        Ok(())
    }

    /// The inner error says why the inputs cannot be made.
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
        let open =
            OpenObjectives::new((self.all, self.further), self.targets, left, hyper_coverage);
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
        let workers = Workers::new(self.workers, &solver);
        let mut trouble = None;
        let mut validation =
            TestValidation::new(self, &open, hyper_coverage, contradictions, novelty);
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
        let decides = match round.concludes {
            Conclusion::Always => true,
            Conclusion::IfComplete => summary.complete,
            Conclusion::Never => false,
        };
        if decides {
            self.record_open(&summary, &open)?;
            // One of an earlier exploration speaks against this one, too.
            if let Some(contradiction) = contradictions.first() {
                self.withdraw(Engine::Exploration, contradiction)?;
            }
        }
        Ok(Ok((summary, last)))
    }

    /// Evidence on what nothing could be explored for.
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

    /// Evidence on what exploration left: an argument that it is infeasible if nothing that was cut off
    /// lies ahead of it, else why it is unknown.
    pub(crate) fn record_open(
        &mut self,
        summary: &Summary,
        open: &OpenObjectives,
    ) -> Result<(), Error> {
        let labels = summary.left.iter();
        let labels = labels.map(|found| (open.label(found.label), &found.reasons, &found.bounds));
        let hypers = summary.left_hypers.iter();
        let hypers = hypers.map(|found| (open.hyper(found.hyper), &found.reasons, &found.bounds));
        let all = labels.chain(hypers);
        let all = all.filter_map(|(goal, reasons, bounds)| Some((goal?, reasons, bounds)));
        let all: Vec<(Goal, &Vec<Cut>, &Vec<Assumption>)> = all.collect();
        let (program, whole) = (&self.project.program, self.project.entry.is_some());
        let mut unmet = summary.unmet.iter();
        let none_begin = unmet.find(|unmet| matches!(unmet, Unmet::Preconditions { .. }));
        let evidence = all.iter().map(|(goal, reasons, bounds)| {
            let target = &self.targets[goal.target()];
            let complete = reasons.is_empty();
            let elsewhere =
                complete && !whole && implied_verdicts::others_may_cover(program, target, *goal);
            let evidence = if let Some(unmet) = none_begin {
                Evidence::Unknown { reason: UnknownReason::NotFollowed(unmet.to_string()) }
            } else if elsewhere {
                let what = "runs that begin in another function may cover it".to_owned();
                Evidence::Unknown { reason: UnknownReason::NotFollowed(what) }
            } else if complete {
                self.complete(summary, bounds)
            } else {
                Evidence::Unknown { reason: reason(&self.project.map, reasons) }
            };
            (*goal, evidence)
        });
        let evidence: Vec<(Goal, Evidence)> = evidence.collect();
        self.record_evidence(&evidence)
    }

    /// The argument of an exploration with nothing cut off for an objective that meets some bounds of
    /// its own. What settings state of its assumptions is a precondition.
    pub(crate) fn complete(&self, summary: &Summary, bounds: &[Assumption]) -> Evidence {
        let all = summary.assumptions.iter().chain(&summary.bounds).chain(bounds).cloned();
        let spec = &self.project.spec;
        let is_stated = |one: &Assumption| spec.states(&self.project.program, self.entry, one);
        let (stated, assumed): (Vec<_>, Vec<_>) = all.partition(is_stated);
        let preconditions = self.project.surroundings.iter().chain(&summary.preconditions);
        let preconditions = preconditions.chain(stated.iter().map(|stated| &stated.sentence));
        let preconditions: Vec<&str> = preconditions.map(String::as_str).collect();
        Evidence::Complete {
            method: Evidence::EXPLORATION.to_owned(),
            preconditions: preconditions.join("; "),
            assumptions: abridged(assumed),
        }
    }
}

/// What an exploration took.
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
    }
}
