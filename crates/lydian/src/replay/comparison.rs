//! The comparison of a case's claims with its runs now.

use lydian_base::Diagnostic;
use lydian_ir::interp::{self, End};
use lydian_ir::test::Test;
use lydian_ledger::PortableTest;
use lydian_objective::{
    Consolidation, CoverageRecord, FunctionObjectives, HyperId, LabelId, RecordRequest,
};

use super::kept_case::{Claim, ClaimedVerdict, KeptCase, LYDIAN};
use crate::error::Error;
use crate::events::{Observer, tell};
use crate::measurement::claimed_ending::{agrees, agrees_when_interpreted};
use crate::measurement::compiled_program::Measurement;
use crate::measurement::confinement;
use crate::measurement::test_runner::{BothRuns, TestMisfit, TestRunner};
use crate::objectives::Objectives;
use crate::project::{Project, location_span};

/// The result of a replay of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The error, as it was reported to the user when the case was kept.
    pub trouble: String,
    /// The version of Lydian that kept it.
    pub lydian: String,
    /// The function that the test calls.
    pub function: String,
    /// The objectives that the case is about.
    pub objectives: Vec<ReplayedObjective>,
    /// The ends of the runs, or the reason why the test cannot be run.
    pub endings: Result<ReplayEndings, String>,
}

/// An objective that a case is about: the claim, and its coverage by the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedObjective {
    /// The claim.
    pub claim: Claim,
    /// Whether the run in the interpreter covers it; none if the interpreter does not follow the run far
    /// enough.
    pub interpreted: Option<bool>,
    /// Whether the native run covers it; none if that cannot be measured.
    pub measured: Option<bool>,
}

/// The ends of the runs of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayEndings {
    /// The end that the engine claims, if any.
    pub claimed: Option<String>,
    /// The end of the run in the interpreter, with its place.
    pub interpreted: String,
    /// The end of the native run.
    pub measured: String,
    /// Whether both runs end as claimed.
    pub agree: bool,
}

impl ReplayedObjective {
    /// Whether neither run contradicts the claim.
    pub fn agrees(&self) -> bool {
        let claimed = self.claim.verdict == ClaimedVerdict::Covered;
        [self.interpreted, self.measured].into_iter().flatten().all(|covered| covered == claimed)
    }
}

impl Replay {
    /// Whether the runs confirm all claims, so that the error does not show.
    pub fn agrees(&self) -> bool {
        let endings = self.endings.as_ref();
        endings.is_ok_and(|endings| endings.agree)
            && self.objectives.iter().all(ReplayedObjective::agrees)
    }
}

impl KeptCase {
    /// Loads the program again, and runs the test in the interpreter and natively. The current folder must
    /// be [`Self::directory`].
    ///
    /// # Errors
    /// A program that cannot be loaded, compiled or run, or whose text has changed; objectives that this
    /// version of Lydian does not know.
    pub fn replay(&self, observer: &dyn Observer) -> Result<Replay, Error> {
        if self.lydian != LYDIAN {
            let what = format!("Lydian {} kept this case, and {LYDIAN} replays it", self.lydian);
            tell(observer, &[Diagnostic::warning("replay", what)]);
        }
        self.check_texts()?;
        let silent = |_: crate::events::Event<'_>| {};
        let project = Project::load(&self.program, &silent)?;
        project.require_x86_64()?;
        let objectives = project.objectives(&self.objectives, &silent)?;
        let confinement = confinement::confinement(self.measurement.confined, observer);
        let measurement = Measurement::new(&project, &objectives, self.measurement, confinement);
        let compiled = measurement.begin();
        let comparison = Comparison {
            case: self,
            project: &project,
            objectives: &objectives,
            runner: measurement.runner(&compiled),
        };
        comparison.replay()
    }
}

/// The objective of a claim, with its function's position among the measured functions.
#[derive(Clone, Copy)]
enum ClaimedObjective {
    Label(usize, LabelId),
    Hyper(usize, HyperId),
}

/// A program that is loaded for a case.
struct Comparison<'a, 'm> {
    case: &'a KeptCase,
    project: &'a Project,
    objectives: &'a Objectives,
    runner: TestRunner<'m>,
}

impl Comparison<'_, '_> {
    fn replay(mut self) -> Result<Replay, Error> {
        let test = self.test(&self.case.test)?;
        let claims = self.case.claims.iter();
        let claimed = claims.map(|claim| Ok((claim, self.objective_of(claim)?)));
        let claimed: Vec<(&Claim, ClaimedObjective)> = claimed.collect::<Result<_, Error>>()?;
        let function = self.project.caller(&test.function).to_owned();
        let (objectives, endings) = match self.run_all(&test)? {
            Err(misfit) => {
                let unknown = |(claim, _): &(&Claim, ClaimedObjective)| ReplayedObjective {
                    claim: (*claim).clone(),
                    interpreted: None,
                    measured: None,
                };
                (claimed.iter().map(unknown).collect(), Err(misfit.to_string()))
            }
            Ok(runs) => {
                let objectives = self.compare(&claimed, &runs);
                (objectives, Ok(self.endings(&runs[0])))
            }
        };
        Ok(Replay {
            trouble: self.case.trouble.clone(),
            lydian: self.case.lydian.clone(),
            function,
            objectives,
            endings,
        })
    }

    /// A test of the case with the types of the program.
    fn test(&self, kept: &PortableTest) -> Result<Test, Error> {
        kept.to_test(&self.project.program.types).ok_or_else(|| {
            Error::usage("replay", "a test of the case has a type that the program has not")
        })
    }

    /// The objective of a claim.
    fn objective_of(&self, claim: &Claim) -> Result<ClaimedObjective, Error> {
        let mut functions = self.objectives.functions.iter().enumerate();
        let function = functions.find(|(_, of)| self.project.name(of.function) == claim.function);
        let found = function.and_then(|(index, of)| objective_in(index, of, claim));
        found.ok_or_else(|| {
            let Claim { function, criterion, name, .. } = claim;
            let what = format!("{function} has no objective {name} of {criterion} now");
            Error::usage("replay", what)
        })
    }

    /// Runs the test, and then the tests that count together with it.
    fn run_all(&mut self, test: &Test) -> Result<Result<Vec<BothRuns>, TestMisfit>, Error> {
        let earlier = self.case.earlier.iter().map(|kept| self.test(kept));
        let earlier: Vec<Test> = earlier.collect::<Result<_, _>>()?;
        let traces = self.case.claims.iter().any(|claim| claim.is_hyperlabel);
        let mut all = Vec::new();
        for test in std::iter::once(test).chain(&earlier) {
            match self.runner.run_both(test, traces)? {
                Ok(runs) => all.push(runs),
                Err(misfit) => return Ok(Err(misfit)),
            }
        }
        Ok(Ok(all))
    }

    /// The coverage of objectives by some runs. The first is that of the case's test.
    fn compare(
        &self,
        claimed: &[(&Claim, ClaimedObjective)],
        all: &[BothRuns],
    ) -> Vec<ReplayedObjective> {
        let first = &all[0];
        let functions = &self.objectives.functions;
        let native = native_records(functions, all);
        let interpreted = interpreted_records(functions, all);
        let consolidation = Consolidation::new(functions);
        let compared = claimed.iter().map(|(claim, objective)| {
            let (interpreted, measured) = match *objective {
                ClaimedObjective::Label(index, label) => {
                    let covered = first.interpreted.covered[index].contains(&label);
                    let measured = first.measured.covered[index].contains(&label);
                    let is_measured = self.runner.why_label_unmeasured(index, label).is_none();
                    let interpreted = (covered || first.is_followed).then_some(covered);
                    (interpreted, is_measured.then_some(measured))
                }
                ClaimedObjective::Hyper(index, hyper) => {
                    let covers = |records: &Vec<CoverageRecord>| {
                        consolidation.covers_with(index, hyper, records)
                    };
                    let is_measured =
                        self.runner.why_hyperlabel_unmeasured((index, hyper)).is_none();
                    let measured = covers(&native).filter(|_| is_measured);
                    (interpreted.as_ref().and_then(covers), measured)
                }
            };
            ReplayedObjective { claim: (*claim).clone(), interpreted, measured }
        });
        compared.collect()
    }

    /// The ends of the runs of the case's test, and whether they are as claimed.
    fn endings(&self, runs: &BothRuns) -> ReplayEndings {
        let (outcome, measured) = (&runs.interpreted.outcome, &runs.measured.run.outcome);
        let claimed = self.case.ending.as_ref();
        let agree = claimed.is_none_or(|claimed| {
            agrees(claimed, measured) && agrees_when_interpreted(claimed, outcome.end)
        });
        ReplayEndings {
            claimed: claimed.map(ToString::to_string),
            interpreted: self.shown_end(outcome),
            measured: measured.to_string(),
            agree,
        }
    }

    /// The end of a run in the interpreter, with its place, as text.
    fn shown_end(&self, outcome: &interp::Outcome) -> String {
        let Project { program, texts, .. } = self.project;
        let end = match outcome.end {
            End::Returned => "returned".to_owned(),
            End::Exited(status) => format!("exit({status})"),
            End::Trapped(kind) => format!("trapped: {kind}"),
            End::Assumption => "an assumption does not hold".to_owned(),
            End::OutrunsScript => "asked for another read of a device than the next".to_owned(),
            End::NoReturn(function) => format!("ended by {}", program.functions[function].name),
            End::Unknown(_) => "stopped at inline assembly".to_owned(),
            End::Stopped(reason) => format!("stopped: {reason}"),
            End::TooDeep(limit) => format!("stopped: more than {limit} calls are open"),
        };
        let span = outcome.location.and_then(|location| location_span(program, location));
        match span {
            Some(span) => format!("{end}, at {}", texts.all.place(span.start)),
            None => end,
        }
    }
}

/// The objective of a claim among those of a function, given with its position.
fn objective_in(index: usize, of: &FunctionObjectives, claim: &Claim) -> Option<ClaimedObjective> {
    let key = &claim.key;
    match claim.is_hyperlabel {
        false => {
            let mut labels = of.labels.iter();
            let found = labels.find(|(_, label)| label.key == *key);
            found.map(|(id, _)| ClaimedObjective::Label(index, id))
        }
        true => {
            let mut hypers = of.hypers.iter();
            let found = hypers.find(|(_, hyper)| hyper.key == *key);
            found.map(|(id, _)| ClaimedObjective::Hyper(index, id))
        }
    }
}

/// The coverage records of native runs together, one for each function.
fn native_records(functions: &[FunctionObjectives], all: &[BothRuns]) -> Vec<CoverageRecord> {
    let mut records = vec![CoverageRecord::new(); functions.len()];
    for runs in all {
        let of_functions = records.iter_mut().enumerate();
        of_functions.for_each(|(index, record)| runs.measured.add_to(record, index));
    }
    records
}

/// The same of the interpreter's runs; none if one of them has no trace.
fn interpreted_records(
    functions: &[FunctionObjectives],
    all: &[BothRuns],
) -> Option<Vec<CoverageRecord>> {
    let wanted = RecordRequest::of(functions);
    let mut records = vec![CoverageRecord::new(); functions.len()];
    for runs in all {
        let trace = runs.trace.as_ref()?;
        for ((record, of), wanted) in records.iter_mut().zip(functions).zip(&wanted) {
            record.merge(&trace.record(of, wanted));
        }
    }
    Some(records)
}
