//! Evidence, and the one function that makes verdicts of it. An objective is a label or a hyperlabel.

use std::fmt;

use lydian_base::StopReason;
use serde::{Deserialize, Serialize};

use super::stored_test::TestHash;

/// What an engine found out about an objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evidence {
    /// A test covers it, as measured on the native program.
    Measured {
        /// The test.
        test: TestHash,
    },
    /// Tests cover it together, as measured on the native program: a hyperlabel that one run cannot
    /// cover alone.
    MeasuredTogether {
        /// The tests, none of which could be left out.
        tests: Vec<TestHash>,
    },
    /// An exploration with nothing cut off did not reach it, or no state makes the predicate true that
    /// the preconditions allow.
    Complete {
        /// Which engine and method.
        method: String,
        /// The preconditions under which it is complete, and the bounds that were proved
        /// sufficient, for the user to read.
        preconditions: String,
    },
    /// No state whatever makes the predicate true at its site.
    LocalProof {
        /// Which method.
        method: String,
    },
    /// Nothing was found out.
    Unknown {
        /// Why.
        reason: UnknownReason,
    },
    /// An engine claimed that a test covers it, and measuring did not confirm that: an internal
    /// error, kept for replay.
    Unconfirmed {
        /// Which engine claimed it.
        claimed_by: String,
        /// The test.
        test: TestHash,
        /// What was measured instead.
        measured: String,
    },
}

/// Why nothing is known about a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownReason {
    /// No engine has tried.
    NotTried,
    /// A budget ran out.
    Budget(StopReason),
    /// A bound was reached, such as that of a loop or of a recursion.
    Bound {
        /// What was bounded.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// Everything was explored, but only for inputs of limited size: the bounds, which nobody
    /// stated as preconditions.
    InputBounds(String),
    /// Something in the way is not followed: what.
    NotFollowed(String),
    /// The solver gave up.
    SolverGaveUp,
    /// A claim was not confirmed by measuring.
    Unconfirmed,
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTried => f.write_str("not tried"),
            Self::Budget(reason) => reason.fmt(f),
            Self::Bound { what, limit } => write!(f, "{what} bound of {limit}"),
            Self::InputBounds(bounds) => {
                write!(f, "not reached within bounds on inputs: {bounds}")
            }
            Self::NotFollowed(what) => f.write_str(what),
            Self::SolverGaveUp => f.write_str("the solver gave up"),
            Self::Unconfirmed => f.write_str("internal error: claim not confirmed by its test"),
        }
    }
}

/// What the evidence on a label adds up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Tests cover it.
    Covered {
        /// The first test that does, or the first ones that do together.
        tests: Vec<TestHash>,
    },
    /// No test can cover it.
    Infeasible {
        /// The argument: [`Evidence::Complete`] or [`Evidence::LocalProof`].
        argument: Evidence,
    },
    /// It has the site and predicate of an earlier objective of its criterion.
    Duplicate {
        /// The position of that objective.
        of: u32,
    },
    /// Neither is known.
    Unknown {
        /// Why.
        reason: UnknownReason,
    },
}

/// A label that is both covered and infeasible: an internal error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("internal error: {} covers what {} claims is infeasible", named(covered), infeasible.method())]
pub struct Contradictory {
    /// The tests that cover it.
    pub covered: Vec<TestHash>,
    /// The argument that it is infeasible.
    pub infeasible: Evidence,
}

fn named(tests: &[TestHash]) -> String {
    let names: Vec<&str> = tests.iter().map(|test| test.0.as_str()).collect();
    format!("{} {}", if names.len() == 1 { "test" } else { "tests" }, names.join(" with "))
}

/// The verdict that valid evidence, oldest first, adds up to.
///
/// # Errors
/// Evidence that a label is covered beside evidence that it is infeasible.
pub fn verdict(duplicate_of: Option<u32>, evidence: &[Evidence]) -> Result<Verdict, Contradictory> {
    let covered = evidence.iter().find_map(|evidence| match evidence {
        Evidence::Measured { test } => Some(std::slice::from_ref(test)),
        Evidence::MeasuredTogether { tests } => Some(tests.as_slice()),
        _ => None,
    });
    let infeasible = evidence.iter().find(|evidence| {
        let argues = matches!(evidence, Evidence::Complete { .. } | Evidence::LocalProof { .. });
        argues && !(covered.is_some() && evidence.gives_way())
    });
    match (duplicate_of, covered, infeasible) {
        (Some(of), ..) => Ok(Verdict::Duplicate { of }),
        (None, Some(covered), Some(infeasible)) => {
            Err(Contradictory { covered: covered.to_vec(), infeasible: infeasible.clone() })
        }
        (None, Some(tests), None) => Ok(Verdict::Covered { tests: tests.to_vec() }),
        (None, None, Some(argument)) => Ok(Verdict::Infeasible { argument: argument.clone() }),
        (None, None, None) => Ok(Verdict::Unknown { reason: last_reason(evidence) }),
    }
}

/// Why nothing is known: an unconfirmed claim outweighs what else went wrong.
fn last_reason(evidence: &[Evidence]) -> UnknownReason {
    let unconfirmed = |evidence: &Evidence| matches!(evidence, Evidence::Unconfirmed { .. });
    if evidence.iter().any(unconfirmed) {
        return UnknownReason::Unconfirmed;
    }
    let last = evidence.iter().rev().find_map(|evidence| match evidence {
        Evidence::Unknown { reason } => Some(reason.clone()),
        _ => None,
    });
    last.unwrap_or(UnknownReason::NotTried)
}

impl Evidence {
    /// Its kind, as stored.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Measured { .. } => "measured",
            Self::MeasuredTogether { .. } => "measured-together",
            Self::Complete { .. } => "complete",
            Self::LocalProof { .. } => "local-proof",
            Self::Unknown { .. } => "unknown",
            Self::Unconfirmed { .. } => "unconfirmed",
        }
    }

    /// The test that it names.
    pub const fn test(&self) -> Option<&TestHash> {
        match self {
            Self::Measured { test } | Self::Unconfirmed { test, .. } => Some(test),
            _ => None,
        }
    }

    /// Whether it holds only under the preconditions and the inputs for which it was found. What a
    /// test does, and what no state allows, does not hang on these.
    pub const fn depends_on_configuration(&self) -> bool {
        matches!(self, Self::Complete { .. } | Self::Unknown { .. })
    }

    /// The method of a proof that rests on an assumption which a test can show to be too narrow.
    pub const ASSUMING: &str = "local-unsat under assumptions";

    /// Whether a test that covers the label outweighs it.
    fn gives_way(&self) -> bool {
        matches!(self, Self::Complete { method, .. } if method == Self::ASSUMING)
    }

    fn method(&self) -> &str {
        match self {
            Self::Complete { method, .. } | Self::LocalProof { method } => method,
            other => other.kind(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Evidence {
        Evidence::Measured { test: TestHash("t".into()) }
    }

    fn proof() -> Evidence {
        Evidence::LocalProof { method: "local-unsat".into() }
    }

    #[test]
    fn without_evidence_a_label_was_not_tried() {
        assert_eq!(verdict(None, &[]), Ok(Verdict::Unknown { reason: UnknownReason::NotTried }));
    }

    #[test]
    fn a_measured_test_outweighs_reasons_for_knowing_nothing() {
        let unknown = Evidence::Unknown { reason: UnknownReason::SolverGaveUp };
        let found = verdict(None, &[measured(), unknown]);
        assert_eq!(found, Ok(Verdict::Covered { tests: vec![TestHash("t".into())] }));
    }

    #[test]
    fn a_test_outweighs_a_proof_under_an_assumption_and_contradicts_any_other() {
        let method = Evidence::ASSUMING.to_owned();
        let preconditions = "nothing lies before the elements of s".to_owned();
        let assumed = Evidence::Complete { method, preconditions };
        let alone = verdict(None, std::slice::from_ref(&assumed));
        assert_eq!(alone, Ok(Verdict::Infeasible { argument: assumed.clone() }));
        let found = verdict(None, &[assumed.clone(), measured()]);
        assert_eq!(found, Ok(Verdict::Covered { tests: vec![TestHash("t".into())] }));
        assert!(verdict(None, &[assumed, proof(), measured()]).is_err());
    }

    #[test]
    fn tests_that_cover_it_together_are_all_named() {
        let tests = vec![TestHash("t".into()), TestHash("u".into())];
        let together = Evidence::MeasuredTogether { tests: tests.clone() };
        let found = verdict(None, std::slice::from_ref(&together));
        assert_eq!(found, Ok(Verdict::Covered { tests }));
        let error = verdict(None, &[together, proof()]).unwrap_err().to_string();
        assert!(error.contains("tests t with u"), "{error}");
    }

    #[test]
    fn a_test_beside_a_proof_is_an_internal_error_that_names_both() {
        let error = verdict(None, &[proof(), measured()]).unwrap_err();
        assert_eq!(error.covered, [TestHash("t".into())]);
        assert_eq!(error.infeasible, proof());
        assert!(error.to_string().contains("local-unsat"), "{error}");
    }

    #[test]
    fn an_unconfirmed_claim_does_not_cover_and_shows_as_the_reason() {
        let claim = Evidence::Unconfirmed {
            claimed_by: "symex".into(),
            test: TestHash("t".into()),
            measured: "nothing".into(),
        };
        let expected = Verdict::Unknown { reason: UnknownReason::Unconfirmed };
        assert_eq!(verdict(None, &[claim]), Ok(expected));
    }

    #[test]
    fn a_duplicate_is_one_whatever_the_evidence() {
        assert_eq!(verdict(Some(3), &[measured()]), Ok(Verdict::Duplicate { of: 3 }));
    }
}
