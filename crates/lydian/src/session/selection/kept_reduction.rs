//! Reductions that the ledger keeps.
//!
//! Making the tests of a function small takes more runs than finding them, and gives the same each time. So
//! the outcome stays in the ledger, under a key that follows from the code, the tests, and what each is needed
//! for. A later session measures the small tests, and takes them if they do what the tests do in whose place
//! they are.

use std::time::Duration;

use lydian_ir::test::Test;
use lydian_ledger::Reduction;
use lydian_native::MeasuredRun;
use rustc_hash::FxHashSet;

use super::kept_selection::is_enough;
use super::reduction::Patience;
use super::suite_minimisation::{Candidate, coverage_together};
use crate::error::Error;
use crate::measurement::claimed_ending::ends_alike;
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::Session;
use crate::shared_ledger::digest;

/// Tests with their measurements.
type MeasuredTests = Vec<(Test, MeasuredRun)>;
/// The same with what each covers.
type SmallTests = (MeasuredTests, Vec<Candidate<Goal>>);

impl Session<'_, '_> {
    /// The tests with the kept ones made small, as an earlier session did or anew.
    pub(super) fn reduced(
        &mut self,
        all: MeasuredTests,
        candidates: &mut Vec<Candidate<Goal>>,
        kept: &[usize],
        hyper_coverage: &HyperlabelCoverage<'_>,
        time: Option<Duration>,
    ) -> Result<MeasuredTests, Error> {
        let Some(target) = self.targets.first().filter(|_| !all.is_empty()) else {
            return Ok(all);
        };
        let key = self.reduction_key(&all, candidates, kept);
        let types = &self.project.program.types;
        let known = self.ledger.lock().reduction(self.function(target), &key, types);
        let most = time.map(|time| time.as_millis() as u64);
        let known = known.map_err(Error::from)?;
        if let Some(Reduction { tests: known, cut_after }) =
            known.filter(|known| is_enough(known.cut_after, time))
        {
            self.runs.cut_after = cut_after;
            let found = self.taken_reduction(known, &all, candidates, kept, hyper_coverage)?;
            if let Some((small, covers)) = found {
                *candidates = covers;
                return Ok(small);
            }
        }
        let all = self.with_memory(all)?;
        let patience = Patience::of(time);
        let before: Vec<Test> = all.iter().map(|(test, _)| test.clone()).collect();
        let small = self.smaller_tests(all, candidates, kept, hyper_coverage, &patience)?;
        small.iter().for_each(|(test, measured)| self.keep_run(test, measured));
        let changed = small.iter().zip(before);
        let changed = changed.map(|((new, _), old)| (*new != old).then(|| new.clone()));
        let cut_after = most.filter(|_| patience.is_late());
        self.runs.cut_after = cut_after;
        let reduction = Reduction { cut_after, tests: changed.collect() };
        self.record(|at, _, recording| match at {
            0 => recording.reduction(&key, &reduction, types),
            _ => Ok(()),
        })?;
        Ok(small)
    }

    /// All that a reduction depends on, as a digest.
    fn reduction_key(
        &mut self,
        all: &[(Test, MeasuredRun)],
        candidates: &[Candidate<Goal>],
        kept: &[usize],
    ) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &str| _ = hasher.update(part.as_bytes()).update(b"\n");
        add(env!("CARGO_PKG_VERSION"));
        self.targets.iter().for_each(|target| add(&target.scope.code));
        for ((test, measured), candidate) in all.iter().zip(candidates) {
            let hash = self.hash(test);
            let mut add = |part: &str| _ = hasher.update(part.as_bytes()).update(b"\n");
            add(&hash);
            let is_fixed = self.is_for_occurrence(test);
            add(&format!("{is_fixed} {}", measured.run.outcome.is_orderly()));
            let key = |goal: &Goal| self.targets[goal.target()].key(*goal).0.as_str();
            let mut covers: Vec<&str> = candidate.covers.iter().map(key).collect();
            covers.sort_unstable();
            add(&covers.join(" "));
        }
        hasher.update(format!("{kept:?}").as_bytes());
        digest::key(hasher.finalize())
    }

    /// The small tests of an earlier session with their measurements, and what each covers. None if they do
    /// not do together what the tests do.
    fn taken_reduction(
        &mut self,
        known: Vec<Option<Test>>,
        all: &[(Test, MeasuredRun)],
        candidates: &[Candidate<Goal>],
        kept: &[usize],
        hyper_coverage: &HyperlabelCoverage<'_>,
    ) -> Result<Option<SmallTests>, Error> {
        if known.len() != all.len() {
            return Ok(None);
        }
        let (mut small, mut covers) = (all.to_vec(), candidates.to_vec());
        for (at, test) in known.into_iter().enumerate() {
            let Some(test) = test else { continue };
            let Ok(measured) = self.measure_kept(&test)? else { return Ok(None) };
            if !ends_alike(&measured.run.outcome, &all[at].1.run.outcome) {
                return Ok(None);
            }
            covers[at] = self.candidate(&measured, &candidates[at], hyper_coverage);
            small[at] = (test, measured);
        }
        let labels = |all: &[Candidate<Goal>]| -> FxHashSet<Goal> {
            let goals = kept.iter().flat_map(|at| all[*at].covers.iter().copied());
            goals.filter(|goal| goal.label().is_some()).collect()
        };
        let has_all = labels(candidates).is_subset(&labels(&covers));
        let (before, now) = (coverage_together(candidates, kept), coverage_together(&covers, kept));
        let hypers = self.covered_hyperlabels(hyper_coverage, &before);
        let stay = hypers.into_iter().all(|hyper| hyper_coverage.covers(hyper, &now));
        Ok((has_all && stay).then_some((small, covers)))
    }

    /// What a test covers that is in the place of another one.
    pub(super) fn candidate(
        &self,
        measured: &MeasuredRun,
        of: &Candidate<Goal>,
        hyper_coverage: &HyperlabelCoverage<'_>,
    ) -> Candidate<Goal> {
        let (covers, has) = (self.covered_by(measured), hyper_coverage.of_run(measured));
        let hypers = of.covers.iter().filter(|goal| goal.label().is_none());
        let hypers = hypers.filter(|goal| {
            self.hyper_of(**goal).is_some_and(|hyper| hyper_coverage.covers(hyper, &has))
        });
        Candidate { covers: covers.into_iter().chain(hypers.copied()).collect(), has }
    }
}
