//! Evidence, and the one function that makes verdicts of it. An objective is a label or a hyperlabel.

use std::fmt;

use lydian_base::StopReason;
use serde::{Deserialize, Serialize};

use crate::assumption::{AcceptedAssumptions, Assumption};
pub use criterion_row::{AssumedObjective, CriterionRow};

mod criterion_row;

/// The hash of a test's contents, with types by their spelling. Hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestHash(pub String);

/// A finding of an engine about an objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evidence {
    /// A test covers it, as measured on the native program.
    Measured {
        /// The test.
        test: TestHash,
    },
    /// Tests cover it together, as measured on the native program: it is a hyperlabel that one run
    /// cannot cover alone.
    MeasuredTogether {
        /// The tests, none of which could be left out.
        tests: Vec<TestHash>,
    },
    /// A complete exploration did not reach it, or no state that the preconditions allow makes the
    /// predicate true.
    Complete {
        /// The engine and method.
        method: String,
        /// The preconditions that the user stated, and the bounds that were proved sufficient, for
        /// the user to read.
        preconditions: String,
        /// The assumptions that it needs and nobody stated.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        assumptions: Vec<Assumption>,
        /// The invariants that it rests on, for the user to read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        invariants: Vec<String>,
        /// The certificates that a second tool can check, by the names of documents in the ledger.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        certificates: Vec<String>,
    },
    /// No state whatever makes the predicate true at its site.
    LocalProof {
        /// The method.
        method: String,
    },
    /// Nothing was found out.
    Unknown {
        /// Why.
        reason: UnknownReason,
    },
    /// An engine claimed that a test covers it, and measuring did not confirm that. This is an
    /// internal error, kept for replay.
    Unconfirmed {
        /// The engine that claimed it.
        claimed_by: String,
        /// The test.
        test: TestHash,
        /// The measured result.
        measured: String,
    },
    /// An argument of a method about the objective no longer counts, because a claim of the same
    /// exploration or proof was contradicted. The argument itself is kept.
    Withdrawn {
        /// The method.
        method: String,
        /// The contradiction.
        contradiction: String,
    },
}

/// The engines that argue for infeasibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Symbolic exploration.
    Exploration,
    /// Proofs about the states at one place.
    Proof,
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
        /// The bounded quantity.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// Everything was explored, but only for inputs of limited size. These are the bounds, which
    /// nobody stated as preconditions.
    InputBounds(String),
    /// A construct on the way to it is not followed. This names it.
    NotFollowed(String),
    /// It depends on values that the program does not determine or no engine computes. These are
    /// listed, each with its place.
    Depends(Vec<String>),
    /// The solver gave up.
    SolverGaveUp,
    /// A claim was not confirmed by measuring.
    Unconfirmed,
    /// It was claimed to be infeasible, and another claim of the same exploration or proof was
    /// contradicted.
    Withdrawn,
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
            Self::Depends(all) => f.write_str(&all.join("; ")),
            Self::SolverGaveUp => f.write_str("the solver gave up"),
            Self::Unconfirmed => f.write_str("internal error: claim not confirmed by its test"),
            Self::Withdrawn => f.write_str("withdrawn: a contradiction in the same exploration"),
        }
    }
}

/// The verdict on a label, which follows from its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Tests cover it.
    Covered {
        /// The first test that covers it, or the first tests that cover it together.
        tests: Vec<TestHash>,
    },
    /// No test can cover it.
    Infeasible {
        /// The argument: [`Evidence::Complete`] or [`Evidence::LocalProof`].
        argument: Evidence,
    },
    /// No test can cover it under assumptions that nobody stated or accepted.
    InfeasibleAssumed {
        /// The argument: [`Evidence::Complete`].
        argument: Evidence,
        /// The assumptions.
        assumptions: Vec<Assumption>,
    },
    /// It has the site and predicate of an earlier objective of its criterion.
    Duplicate {
        /// The position of that objective.
        of: u32,
    },
    /// It is not known whether a test can cover it.
    Unknown {
        /// Why.
        reason: UnknownReason,
    },
}

/// A label that is both covered and infeasible: an internal error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("internal error: {} covers what {} claims is infeasible", named(covered), infeasible.method())]
pub struct Contradiction {
    /// The tests that cover it.
    pub covered: Vec<TestHash>,
    /// The argument that it is infeasible.
    pub infeasible: Box<Evidence>,
}

fn named(tests: &[TestHash]) -> String {
    let names: Vec<&str> = tests.iter().map(|test| test.0.as_str()).collect();
    format!("{} {}", if names.len() == 1 { "test" } else { "tests" }, names.join(" with "))
}

/// The verdict that follows from valid evidence, oldest first, for a user who accepts some
/// assumptions.
///
/// A test that covers the objective outweighs an argument under assumptions, since it shows these to
/// be too narrow.
///
/// # Errors
/// Evidence that a label is covered beside evidence that it is infeasible without any assumption,
/// whether that was withdrawn or not.
pub fn verdict(
    duplicate_of: Option<u32>,
    evidence: &[Evidence],
    accepted: &AcceptedAssumptions,
) -> Result<Verdict, Contradiction> {
    if let Some(of) = duplicate_of {
        return Ok(Verdict::Duplicate { of });
    }
    let covered = evidence.iter().find_map(|evidence| match evidence {
        Evidence::Measured { test } => Some(std::slice::from_ref(test)),
        Evidence::MeasuredTogether { tests } => Some(tests.as_slice()),
        _ => None,
    });
    if let Some(covered) = covered {
        let firm = |evidence: &&Evidence| evidence.assumptions().is_some_and(<[_]>::is_empty);
        return match evidence.iter().find(firm) {
            None => Ok(Verdict::Covered { tests: covered.to_vec() }),
            Some(infeasible) => {
                let (covered, infeasible) = (covered.to_vec(), Box::new(infeasible.clone()));
                Err(Contradiction { covered, infeasible })
            }
        };
    }
    let arguments = evidence.iter().filter(|argument| !argument.is_withdrawn(evidence));
    let open = arguments.filter_map(|argument| Some((argument, argument.open(accepted)?)));
    let best = open.min_by_key(|(_, open)| (bounds_of(open).count() > 0, open.len()));
    Ok(match best {
        None => Verdict::Unknown { reason: reason(evidence) },
        Some((argument, open)) if open.is_empty() => {
            Verdict::Infeasible { argument: argument.clone() }
        }
        Some((_, open)) if bounds_of(&open).count() > 0 => {
            Verdict::Unknown { reason: UnknownReason::InputBounds(shown_bounds(&open)) }
        }
        Some((argument, assumptions)) => {
            Verdict::InfeasibleAssumed { argument: argument.clone(), assumptions }
        }
    })
}

fn bounds_of(assumptions: &[Assumption]) -> impl Iterator<Item = &Assumption> {
    assumptions.iter().filter(|assumption| assumption.kind.is_bound())
}

/// The bounds among some assumptions, for the user.
fn shown_bounds(assumptions: &[Assumption]) -> String {
    let bounds: Vec<&str> = bounds_of(assumptions).map(|bound| bound.sentence.as_str()).collect();
    bounds.join("; ")
}

/// The reason for an unknown verdict: an unconfirmed claim outweighs other reasons, then a withdrawn
/// one.
fn reason(evidence: &[Evidence]) -> UnknownReason {
    let unconfirmed = |evidence: &Evidence| matches!(evidence, Evidence::Unconfirmed { .. });
    if evidence.iter().any(unconfirmed) {
        return UnknownReason::Unconfirmed;
    }
    if evidence.iter().any(|argument| argument.is_withdrawn(evidence)) {
        return UnknownReason::Withdrawn;
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
            Self::Withdrawn { .. } => "withdrawn",
        }
    }

    /// The test that it names.
    pub const fn test(&self) -> Option<&TestHash> {
        match self {
            Self::Measured { test } | Self::Unconfirmed { test, .. } => Some(test),
            _ => None,
        }
    }

    /// Whether it holds only under the preconditions and the inputs for which it was found. The
    /// effects of a test, and proofs that no state satisfies a predicate, do not depend on these.
    pub const fn depends_on_configuration(&self) -> bool {
        matches!(self, Self::Complete { .. } | Self::Unknown { .. })
    }

    /// The method of an exploration with nothing cut off.
    pub const EXPLORATION: &str = "complete exploration";
    /// The method of a proof that rests on an assumption which a test can show to be too narrow.
    pub const ASSUMING: &str = "local-unsat under assumptions";
    /// The method of a proof that no run of any length reaches it.
    pub const ALL_RUNS: &str = "proof over all runs";
    /// The method of an argument for a hyperlabel that rests on arguments of any method for labels.
    pub const DERIVED: &str = "labels that it needs are infeasible";

    /// The assumptions of an argument for infeasibility; `None` if it is no such argument.
    pub fn assumptions(&self) -> Option<&[Assumption]> {
        match self {
            Self::Complete { assumptions, .. } => Some(assumptions),
            Self::LocalProof { .. } => Some(&[]),
            _ => None,
        }
    }

    /// Whether it is an argument for infeasibility that an engine gave. An argument that is derived
    /// from others may rest on any engine.
    pub fn rests_on(&self, engine: Engine) -> bool {
        self.assumptions().is_some()
            && match self.method() {
                Self::DERIVED => true,
                Self::EXPLORATION => engine == Engine::Exploration,
                _ => engine == Engine::Proof,
            }
    }

    /// Its assumptions that the user does not accept; `None` if it is no argument for infeasibility.
    fn open(&self, accepted: &AcceptedAssumptions) -> Option<Vec<Assumption>> {
        let open = self.assumptions()?.iter().filter(|one| !accepted.includes(one));
        Some(open.cloned().collect())
    }

    /// The names of its certificates.
    pub fn certificates(&self) -> &[String] {
        match self {
            Self::Complete { certificates, .. } => certificates,
            _ => &[],
        }
    }

    /// Whether it is an argument for infeasibility that other evidence withdraws.
    pub fn is_withdrawn(&self, evidence: &[Self]) -> bool {
        let withdraws = |other: &Self| matches!(other, Self::Withdrawn { method, .. } if method == self.method());
        self.assumptions().is_some() && evidence.iter().any(withdraws)
    }

    /// How it was found.
    pub fn method(&self) -> &str {
        match self {
            Self::Complete { method, .. } | Self::LocalProof { method } => method,
            other => other.kind(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assumption::AssumptionKind;

    fn verdict(duplicate_of: Option<u32>, evidence: &[Evidence]) -> Result<Verdict, Contradiction> {
        super::verdict(duplicate_of, evidence, &AcceptedAssumptions::default())
    }

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

    fn assuming(kinds: &[AssumptionKind]) -> Evidence {
        let told = |kind: &AssumptionKind| Assumption::new(*kind, "s", format!("{kind} of s"));
        Evidence::Complete {
            method: Evidence::ASSUMING.to_owned(),
            preconditions: String::new(),
            assumptions: kinds.iter().map(told).collect(),
            invariants: Vec::new(),
            certificates: Vec::new(),
        }
    }

    #[test]
    fn a_test_outweighs_a_proof_under_an_assumption_and_contradicts_any_other() {
        let assumed = assuming(&[AssumptionKind::LeadingElements]);
        let found = verdict(None, &[assumed.clone(), measured()]);
        assert_eq!(found, Ok(Verdict::Covered { tests: vec![TestHash("t".into())] }));
        assert!(verdict(None, &[assumed, proof(), measured()]).is_err());
    }

    #[test]
    fn an_argument_under_an_assumption_is_infeasible_as_assumed_until_that_is_accepted() {
        let argument = assuming(&[AssumptionKind::ObjectSize, AssumptionKind::LeadingElements]);
        let evidence = std::slice::from_ref(&argument);
        let told = Assumption::new(AssumptionKind::LeadingElements, "s", "leading-elements of s");
        let assumed =
            Verdict::InfeasibleAssumed { argument: argument.clone(), assumptions: vec![told] };
        assert_eq!(verdict(None, evidence), Ok(assumed));
        let infeasible = Ok(Verdict::Infeasible { argument: argument.clone() });
        let accepted = AcceptedAssumptions::named(["leading-elements"]).expect("a kind");
        assert_eq!(super::verdict(None, evidence, &accepted), infeasible);
    }

    #[test]
    fn what_any_tester_grants_leaves_an_argument_plain() {
        let argument = assuming(&[AssumptionKind::ObjectSize]);
        let found = verdict(None, std::slice::from_ref(&argument));
        assert_eq!(found, Ok(Verdict::Infeasible { argument }));
    }

    #[test]
    fn the_argument_with_the_fewest_assumptions_counts() {
        let (two, one) = (
            assuming(&[AssumptionKind::Alias, AssumptionKind::Shape]),
            assuming(&[AssumptionKind::Alias]),
        );
        let found = verdict(None, &[two.clone(), one.clone()]);
        let expected =
            matches!(&found, Ok(Verdict::InfeasibleAssumed { argument, .. }) if *argument == one);
        assert!(expected, "{found:?}");
        assert_eq!(verdict(None, &[two, proof()]), Ok(Verdict::Infeasible { argument: proof() }));
    }

    #[test]
    fn a_bounded_argument_is_unknown_with_its_bounds_until_these_are_accepted() {
        let argument = assuming(&[AssumptionKind::Size, AssumptionKind::Alias]);
        let evidence = std::slice::from_ref(&argument);
        let reason = UnknownReason::InputBounds("size of s".into());
        assert_eq!(verdict(None, evidence), Ok(Verdict::Unknown { reason }));
        let accepted = AcceptedAssumptions::named(["size"]).expect("a kind");
        let found = super::verdict(None, evidence, &accepted);
        assert!(matches!(found, Ok(Verdict::InfeasibleAssumed { .. })), "{found:?}");
    }

    #[test]
    fn a_withdrawn_argument_counts_no_longer_and_an_argument_of_another_method_still_does() {
        let withdrawn = Evidence::Withdrawn {
            method: "local-unsat".into(),
            contradiction: "a test covers something".into(),
        };
        let found = verdict(None, &[proof(), withdrawn.clone()]);
        let reason = UnknownReason::Withdrawn;
        assert_eq!(found, Ok(Verdict::Unknown { reason: reason.clone() }));
        assert_eq!(reason.to_string(), "withdrawn: a contradiction in the same exploration");
        let other = assuming(&[AssumptionKind::ObjectSize]);
        let found = verdict(None, &[proof(), withdrawn.clone(), other.clone()]);
        assert_eq!(found, Ok(Verdict::Infeasible { argument: other }));
        assert!(verdict(None, &[proof(), withdrawn, measured()]).is_err());
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
        assert_eq!(*error.infeasible, proof());
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
