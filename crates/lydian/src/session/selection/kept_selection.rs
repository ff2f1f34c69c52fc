//! Selections that the ledger keeps: which tests are in the suite, and what for.
//!
//! A selection follows from the tests of the ledger, what each did, the objectives, and the effort for
//! minimising. It is kept with what the tests did ([`kept_runs`](crate::session::kept_runs)), under the same key,
//! and counts only while the ledger has the same tests. Names and texts of tests are no part of it: they name
//! places of the text, which an edit elsewhere moves.

use std::time::Duration;

use lydian_ledger::PortableTest;

use super::kept_suite::{GoalNumbers, KeptSelection, SelectedTest};
use super::{ChosenTest, WorthKeeping};
use crate::error::Error;
use crate::session::state::Session;

impl Session<'_, '_> {
    /// Keeps which tests were chosen. Tests for occurrences of transformed conditions depend on explorations, so
    /// nothing is kept of them.
    pub(super) fn keep_selection(&mut self, chosen: &[(usize, ChosenTest)]) {
        if self.recorded.augments {
            self.runs.selection = None;
            return;
        }
        let mut tests = Vec::with_capacity(chosen.len());
        for (_, ChosenTest { test, covers, adds, .. }) in chosen {
            tests.push(SelectedTest {
                hash: self.hash(test),
                test: PortableTest::new(test, &self.project.program.types),
                covers: GoalNumbers::of(covers),
                adds: GoalNumbers::of(adds),
            });
        }
        let effort = format!("{:?}", self.options.minimise);
        let selection = Some(KeptSelection { effort, cut_after: self.runs.cut_after, tests });
        self.runs.has_new |= self.runs.selection != selection;
        self.runs.selection = selection;
    }

    /// The tests that an earlier session chose for the suite, with what each covers; none if this one is to
    /// choose. `time` is that for making tests small.
    pub(in crate::session) fn taken_selection(
        &mut self,
        time: Option<Duration>,
    ) -> Result<Option<WorthKeeping>, Error> {
        let Some(selection) = self.runs.selection.take() else { return Ok(None) };
        let is_enough = is_enough(selection.cut_after, time);
        if !is_enough || selection.effort != format!("{:?}", self.options.minimise) {
            return Ok(None);
        }
        let mut chosen = Vec::with_capacity(selection.tests.len());
        for SelectedTest { test, hash, covers, adds } in &selection.tests {
            let Some((test, measured)) = self.taken_test(test, hash) else { return Ok(None) };
            let (covers, adds) = (covers.goals(), adds.goals());
            chosen.push(ChosenTest { test, measured, covers, adds });
        }
        let kept = chosen.into_iter().map(|one| self.kept_test(one));
        kept.collect::<Result<_, _>>().map(Some)
    }
}

/// Whether tests that were made small in a time are what they are with another one. With more time, tests that
/// are not small yet may become so.
pub(super) fn is_enough(cut_after: Option<u64>, time: Option<Duration>) -> bool {
    match (cut_after, time) {
        (None, _) => true,
        (Some(had), Some(most)) => most.as_millis() as u64 <= had,
        (Some(_), None) => false,
    }
}
