//! A session takes the function that tests call, alone or as the entry of a whole program, from
//! objectives to their verdicts. Its steps are: results in the ledger, coverage by its tests, proofs,
//! exploration, and confirmation by measurement. Objectives are labels and hyperlabels; hyperlabels are
//! judged by all tests so far together ([`hyperlabel_coverage`]).

use std::collections::BTreeSet;
use std::time::Instant;

use lydian_base::Budget;
use lydian_native::Attempt;
use lydian_objective::LabelId;
use lydian_report::{CriterionSummary, Exploration, ObjectiveSummary, TakenOver};
use lydian_symex::{Config, ExploreError, Summary, Unmet};
use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::suite::KeptTest;
use attempts::Ended;
use exploration::{exploration_figures, one_after_the_other};
use goals::Goal;
use hyperlabel_coverage::HyperlabelCoverage;
use state::{Conclusion, LastDiscovery, Round};

pub(crate) use goals::FunctionUnderTest;
pub(crate) use kept_runs::{KeptRuns, ProgramNames};
pub(crate) use outside::SessionChecker;
pub(crate) use standing::Standing;
pub(crate) use state::{MeasuredFunctions, Session, SessionOptions, SessionRecords, TestMemory};
pub(crate) use unknown_reasons::NamedPlaces;

mod attempts;
mod augmentation;
mod evidence;
mod explanation;
mod exploration;
mod goals;
mod hyperlabel_coverage;
mod kept_runs;
mod left_alone;
mod novelty_filter;
mod open_objectives;
mod outside;
mod proofs;
mod rounds;
mod selection;
mod settled;
mod standing;
mod state;
mod test_validation;
mod unknown_reasons;

/// The reduction of a function's tests may take this fraction (one n-th) of the function's time.
const SHARE_OF_MAKING_SMALLER: u32 = 4;

/// The exploration with code merged in which no objective of a change lies may take this fraction (one n-th) of
/// the time that is left.
const SHARE_OF_MERGED_CODE: u32 = 4;

/// The outcome of a session.
pub(crate) struct SessionOutcome {
    /// The counts of each function under test, by criterion.
    pub(crate) rows: Vec<Vec<CriterionSummary>>,
    /// The kept tests, with their measurements.
    pub(crate) tests: Vec<KeptTest>,
    /// For each function under test the state of its objectives, with the positions of the tests that
    /// cover them.
    pub(crate) objectives: Vec<Vec<ExplainedObjective>>,
    /// One sentence for each internal error.
    pub(crate) contradictions: Vec<String>,
    /// The reason for which nothing could be explored, if nothing could.
    pub(crate) refused: Option<ExploreError>,
    /// The numbers of objectives of each function under test whose reasons an earlier attempt gave, where
    /// there are some.
    pub(crate) taken_over: Vec<TakenOver>,
    /// Statements of the user that no input meets.
    pub(crate) unmet: Vec<Unmet>,
    /// The figures of the exploration, if there was one.
    pub(crate) exploration: Option<Exploration>,
    /// The attempts of tests to reach out of the program.
    pub(crate) attempts: BTreeSet<Attempt>,
}

/// The state of an objective, with the tests of its own function that cover it.
pub(crate) struct ExplainedObjective {
    pub(crate) told: ObjectiveSummary,
    /// Positions among the tests that were kept with it.
    pub(crate) tests: Vec<usize>,
    /// The label that it is, if it is one.
    pub(crate) label: Option<LabelId>,
    /// Tests of other functions that cover it: the positions of the other session's outcome and of the
    /// test in it.
    pub(crate) elsewhere: Vec<(usize, usize)>,
}

/// What a session found about objectives that were open.
#[derive(Default)]
struct Work {
    /// Whether local proofs are left until tests have covered most objectives.
    leaves_proofs: bool,
    /// The exploration of the objectives of control flow alone, if there was one.
    control: Option<(Summary, LastDiscovery)>,
    /// The exploration with code merged in which no objective lies, if there was one.
    merged: Option<(Summary, LastDiscovery)>,
    /// The main exploration, if there was one.
    explored: Option<(Summary, LastDiscovery)>,
    /// The reason for which nothing could be explored, if nothing could.
    refused: Option<ExploreError>,
    /// One sentence for each internal error.
    contradictions: Vec<String>,
}

impl Session<'_, '_> {
    /// Runs a session. Findings until a limit or Ctrl-C are in the ledger.
    pub(crate) fn run(
        &mut self,
        config: &Config,
        budget: &Budget,
    ) -> Result<SessionOutcome, Error> {
        let limit = budget.remaining();
        let begun = Instant::now();
        self.recorded.augments = config.augmentation.is_some();
        self.runner.begin_function(budget, self.runs.is_settled);
        self.record_objectives()?;
        let time_for_small = limit.map(|limit| limit / SHARE_OF_MAKING_SMALLER);
        if let Some(outcome) = self.settled_outcome(config, time_for_small)? {
            return Ok(outcome);
        }
        let mut hyper_coverage = self.measured.hyper_coverage();
        self.measure_known_tests(&mut hyper_coverage)?;
        let taken_over = self.take_over(config)?;
        let mut work = Work::default();
        if taken_over.is_none() && self.has_work(config)? {
            self.decide(config, budget, &mut hyper_coverage, &mut work)?;
        }
        let Work { control, merged, explored, refused, mut contradictions, .. } = work;
        self.ask_outside(&mut hyper_coverage, budget)?;
        contradictions.extend(self.withdraw_contradicted()?);
        self.record_left_alone()?;
        let ended = Ended {
            refused: refused.is_some(),
            unmet: explored.as_ref().is_some_and(|(summary, _)| !summary.unmet.is_empty()),
            contradicted: !contradictions.is_empty(),
            interrupted: budget.cancel_token().is_cancelled(),
        };
        if taken_over.is_none() && ended.is_regular() {
            self.record_attempt(config, begun.elapsed())?;
        }
        let rows = self.targets.iter().map(|target| self.rows(target));
        let rows = rows.collect::<Result<_, _>>()?;
        let tests = self.tests_worth_keeping(time_for_small)?;
        if ended.is_regular() {
            self.record_runs()?;
        }
        log::info!(
            "{}: {} tests are kept; {} contradictions",
            self.name(),
            tests.len(),
            contradictions.len()
        );
        let longest = explored.as_ref().or(control.as_ref());
        let exploration = longest.map(|(summary, last)| {
            let augmentation = self.augmentation_figures(config, summary);
            Exploration { augmentation, ..exploration_figures(summary, *last) }
        });
        let before = merged.map(|(summary, last)| exploration_figures(&summary, last));
        let exploration = match (before, exploration) {
            (Some(before), Some(exploration)) => Some(one_after_the_other(&before, exploration)),
            (before, exploration) => before.or(exploration),
        };
        let unmet = explored.map(|(summary, _)| summary.unmet).unwrap_or_default();
        let objectives = self.objectives_with(&tests)?;
        let tests = tests.into_iter().map(|(kept, _)| kept).collect();
        let attempts = self.runner.take_attempts();
        Ok(SessionOutcome {
            rows,
            tests,
            objectives,
            contradictions,
            refused,
            taken_over: taken_over.unwrap_or_default(),
            unmet,
            exploration,
            attempts,
        })
    }

    /// Whether anything is to be proved or explored.
    fn has_work(&self, config: &Config) -> Result<bool, Error> {
        let of_occurrences = config.augmentation.is_some_and(|asked| asked.each_occurrence);
        Ok(!config.stop_when_covered || of_occurrences || !self.open_goals()?.is_empty())
    }

    /// Proves and explores what is open, and looks for better tests of what has poor ones.
    fn decide(
        &mut self,
        config: &Config,
        budget: &Budget,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        work: &mut Work,
    ) -> Result<(), Error> {
        let kept = Self::time_for_default_tests(config, budget);
        self.decide_open(config, &budget.with_reserve(kept), hyper_coverage, work)?;
        let contradictions = &mut work.contradictions;
        self.explore_for_default_tests(kept, hyper_coverage, config, budget, contradictions)
    }

    /// Proves and explores what has no verdict.
    fn decide_open(
        &mut self,
        config: &Config,
        budget: &Budget,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        work: &mut Work,
    ) -> Result<(), Error> {
        let contradictions = &mut work.contradictions;
        work.control = self.decide_control(hyper_coverage, config, budget, contradictions)?;
        let mut left = self.open_goals()?;
        log::info!("{}: {} objectives are open before proofs", self.name(), left.len());
        if config.augmentation.is_some() {
            // Most transformed conditions are satisfied without a question. The others are proved later.
            self.remove_transformed(&mut left);
        }
        work.leaves_proofs = !self.prove(&left, config, budget)? || config.augmentation.is_some();
        self.record_implied_verdicts()?;
        let left = self.goals_to_explore(config)?;
        log::info!("{}: {} objectives are open after proofs", self.name(), left.len());
        let wanted = !left.is_empty() || !config.stop_when_covered;
        if !wanted || budget.cancel_token().is_cancelled() {
            return Ok(());
        }
        if !config.merge_silent_code {
            return self.explore_left(&left, config, budget, hyper_coverage, work);
        }
        self.explore_merged(&left, config, budget, hyper_coverage, work)?;
        let left = self.goals_to_explore(config)?;
        log::info!("{}: {} objectives are open with merged code", self.name(), left.len());
        if left.is_empty() || budget.cancel_token().is_cancelled() {
            return Ok(());
        }
        let apart = Config { merge_silent_code: false, ..config.clone() };
        self.explore_left(&left, &apart, budget, hyper_coverage, work)
    }

    /// Explores objectives of a change with the code merged in which none of them lies. Merged values may make
    /// questions too hard, so this has a share of the time.
    fn explore_merged(
        &mut self,
        left: &[Goal],
        config: &Config,
        budget: &Budget,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        Work { merged, contradictions, .. }: &mut Work,
    ) -> Result<(), Error> {
        let left_time = budget.remaining().unwrap_or_default();
        let share = budget.keeping(left_time - left_time / SHARE_OF_MERGED_CODE);
        let (concludes, ends_well) = (Conclusion::IfComplete, false);
        let round = Round { spec: &self.project.spec, concludes, ends_well };
        // What cannot be explored so cannot be explored apart either, which says why.
        *merged = self.explore(&round, left, hyper_coverage, config, &share, contradictions)?.ok();
        self.record_implied_verdicts()
    }

    /// Explores what is left after proofs, and proves what exploration leaves.
    fn explore_left(
        &mut self,
        left: &[Goal],
        config: &Config,
        budget: &Budget,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        Work { leaves_proofs, explored, refused, contradictions, .. }: &mut Work,
    ) -> Result<(), Error> {
        let relaxed = self.without_lengths(config);
        let relaxed = relaxed.as_ref();
        let kept = self.time_for_proofs(config, budget);
        let first = budget.keeping(Self::time_for_relaxed_lengths(relaxed, budget)).keeping(kept);
        let (concludes, ends_well) = (Conclusion::Always, false);
        let round = Round { spec: &self.project.spec, concludes, ends_well };
        let found =
            match self.explore(&round, left, hyper_coverage, config, &first, contradictions)? {
                Ok(found) => explored.insert(found),
                Err(error) => {
                    self.record_refused(left, &error)?;
                    *refused = Some(error);
                    return Ok(());
                }
            };
        let summary = &found.0;
        self.explore_leading_elements(summary, hyper_coverage, config, &first, contradictions)?;
        let rest = budget.keeping(kept);
        self.explore_relaxed_lengths(relaxed, hyper_coverage, config, &rest, contradictions)?;
        self.prove_unreachable(summary, config, budget, hyper_coverage, contradictions)?;
        if *leaves_proofs {
            let left = self.open_goals()?;
            self.prove(&left, config, budget)?;
        }
        self.prove_assuming(summary, config, budget)?;
        self.record_implied_verdicts()
    }

    /// The state of the objectives of each function under test, with the positions of the tests that
    /// cover them.
    fn objectives_with(
        &self,
        tests: &[(KeptTest, FxHashSet<Goal>)],
    ) -> Result<Vec<Vec<ExplainedObjective>>, Error> {
        let of_target = |(at, target): (usize, &FunctionUnderTest<'_>)| {
            let all = self.explained(at, target)?.into_iter().map(|(goal, told)| {
                let covers =
                    |(_, (_, goals)): &(usize, &(KeptTest, FxHashSet<Goal>))| goals.contains(&goal);
                let tests = tests.iter().enumerate().filter(covers).map(|(position, _)| position);
                let label = goal.label();
                ExplainedObjective { told, tests: tests.collect(), label, elsewhere: Vec::new() }
            });
            Ok(all.collect())
        };
        self.targets.iter().enumerate().map(of_target).collect()
    }
}
