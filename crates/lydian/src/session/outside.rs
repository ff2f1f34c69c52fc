//! Questions to an outside checker about objectives of a whole program.
//!
//! An objective is asked as its parts: a label, or the labels and sequences of a hyperlabel's normal form.
//! A run that the checker found becomes a test, which is measured like others and counts for what it
//! covers. A part that the checker does not reach is evidence that the objective is infeasible, as far as
//! each conjunction has such a part; bounds and what the checker took for granted are assumptions.
//!
//! With all objectives asked, contradictions show like those between engines: evidence that a covered
//! objective is infeasible is an internal error, and its test is kept.

use std::collections::BTreeMap;

use lydian_base::{Budget, CancelToken, Diagnostic};
use lydian_ir::test::Test;
use lydian_native::CheckedGoal;
use lydian_objective::evidence::Evidence;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Assumption, AssumptionKind, FunctionObjectives, UnitFlows};

use super::goals::Goal;
use super::hyperlabel_coverage::HyperlabelCoverage;
use super::proofs::implied_verdicts::CONJUNCTIONS;
use super::state::Session;
use crate::error::Error;
use crate::events::tell;
use crate::measurement::test_runner::Patience;
use crate::outside::OutsideRequest;
use crate::outside::checkers::{CheckerAnswer, ReadyChecker};
use crate::proving::external;

/// A checker that sessions ask.
pub(crate) struct SessionChecker<'o> {
    pub(crate) checker: ReadyChecker<'o>,
    /// Whether it is asked about all objectives, or only about open ones.
    pub(crate) all: bool,
}

impl<'o> SessionChecker<'o> {
    /// Finds the checker.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn find(request: &'o OutsideRequest) -> Result<Self, Error> {
        Ok(Self { checker: ReadyChecker::find(&request.options)?, all: request.all })
    }
}

/// What the checker said about a part of an objective: the assumptions under which no run covers it, if it
/// said so.
type Answer = Option<Vec<Assumption>>;

/// The answers about the parts of objectives.
struct Answers {
    /// The objectives of all functions.
    watched: Vec<FunctionObjectives>,
    flows: UnitFlows,
    /// The token with which the user stops the checker.
    cancel: CancelToken,
    known: BTreeMap<CheckedGoal, Answer>,
}

impl Session<'_, '_> {
    /// Asks the checker, and records what it found.
    pub(crate) fn ask_outside(
        &mut self,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let (Some(asker), true) = (self.outside, self.project.entry().is_some()) else {
            return Ok(());
        };
        let watched = self.measured.all.iter().chain(self.measured.further).cloned().collect();
        let (flows, known) = (UnitFlows::default(), BTreeMap::new());
        let cancel = budget.cancel_token().clone();
        let mut answers = Answers { watched, flows, cancel, known };
        let targets = self.targets;
        for (at, target) in targets.iter().enumerate() {
            let goals: Vec<Goal> = match asker.all {
                true => target.entries(at).map(|entry| entry.goal).collect(),
                false => self.open_goals_of(at, target)?,
            };
            for goal in goals {
                if budget.cancel_token().is_cancelled() {
                    return Ok(());
                }
                let assumed =
                    self.ask_about((goal, target.objectives), asker, &mut answers, hyper_coverage)?;
                if let Some(assumptions) = assumed {
                    let evidence = self.by_checker(asker.checker.name(), assumptions);
                    self.record_evidence(&[(goal, evidence)])?;
                }
            }
        }
        Ok(())
    }

    fn by_checker(&self, tool: &str, assumptions: Vec<Assumption>) -> Evidence {
        Evidence::Complete {
            method: format!("the outside checker {tool}"),
            preconditions: self.project.surroundings().join("; "),
            assumptions,
            invariants: Vec::new(),
            certificates: Vec::new(),
        }
    }

    /// The assumptions under which no run covers an objective, if the checker says so. Each conjunction of
    /// its normal form needs a part that no run covers.
    fn ask_about(
        &mut self,
        (goal, objectives): (Goal, &FunctionObjectives),
        asker: &SessionChecker<'_>,
        answers: &mut Answers,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Result<Answer, Error> {
        let Goal::Hyper(_, hyper) = goal else {
            let label = goal.label().map(|label| CheckedGoal::Label(objectives.function, label));
            return match label {
                Some(part) => self.answer(part, asker, answers, hyper_coverage),
                None => Ok(None),
            };
        };
        let Ok(form) = objectives.hypers[hyper].hyper.normal_form(CONJUNCTIONS) else {
            return Ok(None);
        };
        let mut found: Vec<Assumption> = Vec::new();
        let mut is_infeasible = true;
        for conjunction in &form {
            let mut own: Answer = None;
            for part in &conjunction.parts {
                let part = match part {
                    Part::Atom(atom) => CheckedGoal::Label(atom.function, atom.label),
                    Part::Sequence(id) => CheckedGoal::Sequence(objectives.function, *id),
                };
                own = self.answer(part, asker, answers, hyper_coverage)?;
                if own.is_some() {
                    break;
                }
            }
            match own {
                Some(assumptions) => found.extend(assumptions),
                None => is_infeasible = false,
            }
        }
        found.dedup();
        Ok(is_infeasible.then_some(found))
    }

    /// What the checker says about a part. It is asked once about each.
    fn answer(
        &mut self,
        part: CheckedGoal,
        asker: &SessionChecker<'_>,
        answers: &mut Answers,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Result<Answer, Error> {
        if let Some(known) = answers.known.get(&part) {
            return Ok(known.clone());
        }
        let dialect = asker.checker.dialect();
        let question = match self.project.question(&answers.watched, part, &answers.flows, dialect)
        {
            Ok(question) => question,
            Err(why) => {
                log::info!("{part:?} cannot be asked: {why}");
                answers.known.insert(part, None);
                return Ok(None);
            }
        };
        let report = asker.checker.ask(&question, &answers.cancel)?;
        let answer = match report.answer {
            CheckerAnswer::Reachable(inputs) => {
                let externals = inputs.iter().map(external).collect();
                self.take_run(
                    Test { externals, ..Test::calling(self.name(), Vec::new()) },
                    hyper_coverage,
                )?;
                None
            }
            CheckerAnswer::Unreachable { bounds, assumptions } => {
                let bounds = bounds.into_iter().map(|one| (AssumptionKind::Size, one));
                let others =
                    assumptions.into_iter().map(|one| (AssumptionKind::ExternalWrites, one));
                let all = bounds.chain(others);
                Some(all.map(|(kind, sentence)| Assumption::new(kind, "", sentence)).collect())
            }
            CheckerAnswer::Open(_) => None,
            CheckerAnswer::Failed(why) => {
                let message = format!("{}: {why}", asker.checker.name());
                tell(self.records.observer, &[Diagnostic::warning("checker", message)]);
                None
            }
        };
        answers.known.insert(part, answer.clone());
        Ok(answer)
    }

    /// Measures the test of a run that the checker found, and records what it covers.
    fn take_run(
        &mut self,
        test: Test,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Result<(), Error> {
        let Ok(measured) = self.runner.measure_with(&test, Patience::Usual)? else { return Ok(()) };
        self.recorded.keep(&test, &measured);
        let found = self.measured_test(test, &measured, hyper_coverage);
        self.record_tests(vec![found])
    }
}
