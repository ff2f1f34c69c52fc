//! The table of verdicts: a row for each function and criterion.

use lydian_objective::Assumption;
use lydian_objective::Criterion;
use lydian_objective::evidence::{AssumedObjective, CriterionRow};
use serde::{Deserialize, Serialize};

/// The result of a command over several functions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// In the order of the source.
    pub functions: Vec<FunctionSummary>,
    /// The guesses about inputs, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guesses: Vec<GuessSummary>,
    /// The functions with unknown objectives that were not tried, since an earlier run with no less effort
    /// left them open. Their reasons are those of that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_over: Vec<TakenOver>,
}

/// The objectives of a function whose reasons for being unknown are those of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOver {
    /// The function.
    pub function: String,
    /// How many there are.
    pub objectives: usize,
}

/// A guess about inputs that settings can overrule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuessSummary {
    /// The type that it is about, as C spells it; `None` for a guess about parameters or globals.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The place, as settings write it.
    pub place: String,
    /// The guess.
    pub guess: String,
    /// Why.
    pub reason: String,
    /// The functions whose inputs it is about, in the order of the source.
    pub functions: Vec<String>,
}

/// The result for one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionSummary {
    /// Its name.
    pub name: String,
    /// In the order in which the user named them.
    pub criteria: Vec<CriterionSummary>,
    /// The number of tests for it. For a function within a program, the number of tests that cover an
    /// objective of it.
    pub tests: usize,
    /// Wall-clock time spent on it.
    pub seconds: f64,
    /// The effort of exploring it, if it was explored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<Exploration>,
    /// The attempts of tests outside of the program, each once. Tests that were not kept count, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptSummary>,
    /// Its objectives with their verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveSummary>,
}

/// Something that a test tried outside of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptSummary {
    /// The system call, or `signal` if only a signal showed the attempt.
    pub call: String,
    /// The attempt, worded to follow "tried to".
    pub what: String,
    /// Whether it was refused. Otherwise it was done in the folder of the run, which was deleted.
    pub refused: bool,
}

/// The verdict on one objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectiveSummary {
    /// The criterion that asks for it.
    pub criterion: Criterion,
    /// Its name in the criterion.
    pub name: String,
    /// The file that it lies in.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// The predicate that must hold there, as text.
    pub text: String,
    /// The verdict.
    pub verdict: VerdictKind,
    /// The earlier objective that it duplicates, the reason why it is unknown, or the argument that
    /// it is infeasible.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The assumptions of the argument.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    /// Why the suite as C covers it only where that is asked for: no test that runs otherwise does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_by: Option<OnDemand>,
    /// The tests of the suite that cover it, by name; if only several tests together cover it, the
    /// last of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// Why the suite as C has a test behind a macro. The first kinds are better than those after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnDemand {
    /// C leaves undefined what it does.
    Undefined,
    /// It tries something outside of the program.
    Unconfined,
    /// It crashes, aborts, or runs out of time.
    Crashing,
}

impl OnDemand {
    /// The macro that adds such tests to the suite.
    pub const fn macro_name(self) -> &'static str {
        match self {
            Self::Undefined => "LYDIAN_RUN_UNDEFINED",
            Self::Unconfined => "LYDIAN_RUN_UNCONFINED",
            Self::Crashing => "LYDIAN_RUN_CRASHING",
        }
    }
}

impl std::fmt::Display for OnDemand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Undefined => "tests whose runs C leaves undefined",
            Self::Unconfined => "tests that reach out of the program",
            Self::Crashing => "tests that crash, abort or run out of time",
        })
    }
}

/// The kinds of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Tests cover it.
    Covered,
    /// No test can.
    Infeasible,
    /// No test can, under assumptions.
    InfeasibleAsAssumed,
    /// It is the same as an earlier one.
    Duplicate,
    /// It is not known whether a test can cover it.
    Unknown,
    /// It is both covered and claimed to be infeasible: an internal error.
    Contradictory,
}

impl std::fmt::Display for VerdictKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Covered => "covered",
            Self::Infeasible => "infeasible",
            Self::InfeasibleAsAssumed => "infeasible as assumed",
            Self::Duplicate => "duplicate",
            Self::Unknown => "unknown",
            Self::Contradictory => "contradictory (internal error)",
        })
    }
}

/// The effort of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// Finished paths.
    pub paths: u64,
    /// Whether nothing was cut short.
    pub complete: bool,
    /// Statements and terminators executed.
    pub steps: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// Wall-clock time, with the tests that it ran.
    pub seconds: f64,
    /// The part of the solver. If several workers explore together, the sum of their parts.
    pub solver_seconds: f64,
    /// Finished paths before the last test that was given for something new.
    #[serde(default)]
    pub paths_to_last: u64,
    /// The time until that test was run.
    #[serde(default)]
    pub seconds_to_last: f64,
    /// The figures of augmentation, if there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub augmentation: Option<AugmentationFigures>,
}

/// The figures of augmented path conditions ([004] 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AugmentationFigures {
    /// Questions to the solver about transformed conditions.
    pub questions: u64,
    /// Tests before the suite was minimised, those of earlier runs among them.
    pub tests: usize,
    /// Of these, the tests that the heuristic of [004] 3.3 keeps.
    pub by_heuristic: usize,
    /// Of these, the tests that cover the same and are as few as the minimisation of suites finds.
    pub minimised: usize,
}

/// The counts of one criterion for one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionSummary {
    /// The criterion.
    pub criterion: Criterion,
    /// All objectives, duplicates too.
    pub objectives: usize,
    /// Those that a test covers as measured.
    pub covered: usize,
    /// Those that are proved to be out of reach.
    pub infeasible: usize,
    /// Those that are out of reach under assumptions that nobody stated or accepted.
    #[serde(default)]
    pub infeasible_as_assumed: usize,
    /// Those with the site and predicate of an earlier one.
    pub duplicate: usize,
    /// The rest.
    pub unknown: usize,
    /// Why the rest is unknown: each reason with its count, most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<(String, usize)>,
    /// Those that are infeasible as assumed, each with its assumptions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<AssumedObjective>,
    /// The assumptions that *infeasible* rests on and that are granted or accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Assumption>,
}

impl From<CriterionRow> for CriterionSummary {
    fn from(row: CriterionRow) -> Self {
        let CriterionRow {
            criterion,
            objectives,
            covered,
            infeasible,
            infeasible_as_assumed,
            duplicate,
            unknown,
            reasons,
            assumed,
            granted,
        } = row;
        Self {
            criterion,
            objectives,
            covered,
            infeasible,
            infeasible_as_assumed,
            duplicate,
            unknown,
            reasons,
            assumed,
            granted,
        }
    }
}

impl CriterionSummary {
    /// `covered / (objectives - infeasible - duplicate)`; 1 where there is nothing to cover.
    pub fn coverage(&self) -> f64 {
        match self.objectives - self.infeasible - self.duplicate {
            0 => 1.0,
            denominator => self.covered as f64 / denominator as f64,
        }
    }
}

impl Summary {
    /// The summary as JSON text with a final newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("counts and names are valid JSON");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_objective::AssumptionKind;

    fn alias() -> Assumption {
        Assumption::new(AssumptionKind::Alias, "p and q", "p and q are different objects")
    }

    fn row() -> CriterionSummary {
        CriterionSummary {
            criterion: Criterion::Mcc,
            objectives: 9,
            covered: 3,
            infeasible: 1,
            infeasible_as_assumed: 1,
            duplicate: 1,
            unknown: 3,
            reasons: vec![("time limit".into(), 3)],
            assumed: vec![AssumedObjective {
                name: "d1 true".into(),
                place: lydian_base::Place { file: "a.c".into(), line: 3, column: 7 },
                text: "p == q".into(),
                assumptions: vec![alias()],
            }],
            granted: Vec::new(),
        }
    }

    #[test]
    fn infeasible_and_duplicate_objectives_are_outside_of_the_denominator() {
        assert_eq!(row().coverage(), 3.0 / 7.0, "what is infeasible as assumed counts");
        let nothing = CriterionSummary { objectives: 2, covered: 0, unknown: 0, ..row() };
        assert_eq!(nothing.coverage(), 1.0);
    }

    #[test]
    fn the_json_form_reads_back() {
        let name = String::from("f");
        let exploration = Exploration {
            paths: 12,
            complete: true,
            steps: 340,
            queries: 11,
            seconds: 0.2,
            solver_seconds: 0.1,
            paths_to_last: 2,
            seconds_to_last: 0.2,
            augmentation: None,
        };
        let function = |exploration| FunctionSummary {
            attempts: Vec::new(),
            name: name.clone(),
            criteria: vec![row()],
            tests: 2,
            seconds: 0.25,
            exploration,
            objectives: Vec::new(),
        };
        let guess = GuessSummary {
            ty: None,
            place: "buf".into(),
            guess: "array with length n".into(),
            reason: "n counts it".into(),
            functions: vec![name.clone()],
        };
        let functions = vec![function(Some(exploration)), function(None)];
        let taken_over = vec![TakenOver { function: "f".into(), objectives: 2 }];
        let summary = Summary { functions, guesses: vec![guess], taken_over };
        let text = summary.to_json();
        assert!(text.contains("\"infeasible_as_assumed\": 1"), "{text}");
        assert!(text.contains("\"sentence\": \"p and q are different objects\""), "{text}");
        assert!(text.contains("\"criterion\": \"mcc\""), "{text}");
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }
}
