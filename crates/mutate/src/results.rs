//! The outcomes of mutants, and scores.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::mutant::{Mutant, UnitMutants};

/// How a test failed on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// It ended with this exit status.
    Status(i32),
    /// A signal ended it.
    Signal(i32),
    /// It ran out of time.
    Timeout,
}

/// Why a mutant is equivalent to the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EquivalenceProof {
    /// A compiler makes the same code of both.
    SameCode,
    /// A prover showed it for all runs.
    Proof,
}

/// The outcome of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Outcome {
    /// A test passes on the original and fails on it.
    Killed {
        /// The test.
        test: String,
        /// Its failure.
        failure: Failure,
    },
    /// Tests infect it, and all of them pass.
    Survived,
    /// Tests reach it, and its state is that of the original there.
    NotInfected,
    /// No test reaches it.
    NotReached,
    /// It does what the original does, in every run.
    Equivalent {
        /// The argument.
        proof: EquivalenceProof,
    },
    /// It is no program, or could not be run.
    Invalid {
        /// The reason.
        reason: String,
    },
    /// It was not run: another one was asked for, or the command was interrupted.
    Pending,
}

impl Outcome {
    /// Whether no test tells it from the original, though it may differ.
    pub const fn is_alive(&self) -> bool {
        matches!(self, Self::Survived | Self::NotInfected | Self::NotReached)
    }

    /// The outcome in one word or two.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Killed { failure: Failure::Timeout, .. } => "timed out",
            Self::Killed { .. } => "killed",
            Self::Survived => "survived",
            Self::NotInfected => "not infected",
            Self::NotReached => "not reached",
            Self::Equivalent { .. } => "equivalent",
            Self::Invalid { .. } => "invalid",
            Self::Pending => "not run",
        }
    }
}

/// A mutant with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantResult {
    /// The mutant.
    pub mutant: Mutant,
    /// The outcome.
    pub outcome: Outcome,
    /// The tests that reach it.
    pub reached_by: Vec<String>,
    /// The tests that infect it.
    pub infected_by: Vec<String>,
    /// The tests that kill it, as far as they ran: the first alone, unless all were asked for.
    pub killed_by: Vec<String>,
    /// Whether tests that kill all other mutants kill it, too ([`MutationResults::mark_subsumed`]).
    pub subsumed: bool,
    /// The test that was made to kill it, as no test before does.
    pub generated: Option<String>,
    /// The other units with the same change, by their positions: those that include the same file.
    pub also_in: Vec<usize>,
}

/// The results of a unit.
#[derive(Clone, Debug)]
pub struct UnitResults {
    /// The unit.
    pub unit: UnitMutants,
    /// Its mutants that were asked for.
    pub mutants: Vec<MutantResult>,
}

/// The results of all units.
#[derive(Clone, Debug, Default)]
pub struct MutationResults {
    /// The units.
    pub units: Vec<UnitResults>,
    /// The tests, with the time of each on the original in microseconds.
    pub tests: Vec<(String, u64)>,
    /// Whether all tests that infect a mutant ran on it, so that all kills are known.
    pub all_tests: bool,
    /// The number of runs of tests on mutants.
    pub runs: u64,
    /// The number of runs whose results earlier runs had.
    pub taken_over: u64,
    /// The time of these runs in microseconds.
    pub micros: u64,
}

/// Counts of outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// All mutants.
    pub mutants: u32,
    /// Killed by a failure.
    pub killed: u32,
    /// Killed by the time limit.
    pub timed_out: u32,
    /// Infected, and not killed.
    pub survived: u32,
    /// Reached, and not infected.
    pub not_infected: u32,
    /// Not reached.
    pub not_reached: u32,
    /// Equivalent.
    pub equivalent: u32,
    /// Invalid, or not run.
    pub without_result: u32,
    /// Those of the killed ones that others subsume, where all tests ran.
    pub subsumed: u32,
}

impl Score {
    /// The heads of [`Self::counts`] in tables.
    pub const HEADS: [&'static str; 8] = [
        "mutants",
        "killed",
        "timed out",
        "survived",
        "not infected",
        "not reached",
        "equivalent",
        "no result",
    ];

    /// The counts, in the order of [`Self::HEADS`].
    pub const fn counts(&self) -> [u32; 8] {
        [
            self.mutants,
            self.killed,
            self.timed_out,
            self.survived,
            self.not_infected,
            self.not_reached,
            self.equivalent,
            self.without_result,
        ]
    }

    /// Adds a mutant with its outcome.
    pub fn add_result(&mut self, result: &MutantResult) {
        self.add(&result.outcome);
        self.subsumed += u32::from(result.subsumed);
    }

    /// Adds an outcome.
    pub const fn add(&mut self, outcome: &Outcome) {
        self.mutants += 1;
        *match outcome {
            Outcome::Killed { failure: Failure::Timeout, .. } => &mut self.timed_out,
            Outcome::Killed { .. } => &mut self.killed,
            Outcome::Survived => &mut self.survived,
            Outcome::NotInfected => &mut self.not_infected,
            Outcome::NotReached => &mut self.not_reached,
            Outcome::Equivalent { .. } => &mut self.equivalent,
            Outcome::Invalid { .. } | Outcome::Pending => &mut self.without_result,
        } += 1;
    }

    /// The mutants that count: neither equivalent nor without a result.
    pub const fn counted(&self) -> u32 {
        self.mutants - self.equivalent - self.without_result
    }

    /// The killed mutants.
    pub const fn detected(&self) -> u32 {
        self.killed + self.timed_out
    }

    /// The percentage of killed mutants among those that count; none if none counts.
    pub fn percent(&self) -> Option<f64> {
        let counted = self.counted();
        (counted > 0).then(|| f64::from(self.detected()) * 100.0 / f64::from(counted))
    }
}

impl MutationResults {
    /// All results.
    pub fn all(&self) -> impl Iterator<Item = &MutantResult> {
        self.units.iter().flat_map(|unit| &unit.mutants)
    }

    /// The score of all.
    pub fn score(&self) -> Score {
        let mut score = Score::default();
        self.all().for_each(|result| score.add_result(result));
        score
    }

    /// Marks the killed mutants that others subsume, where all tests ran on all mutants. A mutant
    /// subsumes another if each test that kills it kills the other, too; of mutants that the same tests
    /// kill, the first stays (dynamic subsumption). The others tell nothing more of these tests.
    pub fn mark_subsumed(&mut self) {
        let sets: Vec<BTreeSet<String>> =
            self.all().map(|result| result.killed_by.iter().cloned().collect()).collect();
        let mut distinct: Vec<&BTreeSet<String>> = sets.iter().collect();
        distinct.sort();
        distinct.dedup();
        distinct.retain(|set| !set.is_empty());
        let is_least = |set: &BTreeSet<String>| {
            !distinct.iter().any(|other| *other != set && other.is_subset(set))
        };
        let mut taken: BTreeSet<&BTreeSet<String>> = BTreeSet::new();
        let all = self.units.iter_mut().flat_map(|unit| &mut unit.mutants);
        for (result, set) in all.zip(&sets) {
            let is_needed = !set.is_empty() && is_least(set) && taken.insert(set);
            result.subsumed = !set.is_empty() && !is_needed;
        }
    }

    /// Scores by a property of mutants.
    pub fn scores_by<K: Ord>(&self, key: impl Fn(&Mutant) -> K) -> BTreeMap<K, Score> {
        let mut scores: BTreeMap<K, Score> = BTreeMap::new();
        for result in self.all() {
            scores.entry(key(&result.mutant)).or_default().add_result(result);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_mutants_leave_the_count() {
        let mut score = Score::default();
        let killed = Outcome::Killed { test: "t".into(), failure: Failure::Status(1) };
        [killed, Outcome::Survived, Outcome::Equivalent { proof: EquivalenceProof::SameCode }]
            .iter()
            .for_each(|outcome| score.add(outcome));
        assert_eq!((score.mutants, score.counted(), score.percent()), (3, 2, Some(50.0)));
    }
}
