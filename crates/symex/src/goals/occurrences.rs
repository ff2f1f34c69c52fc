//! Occurrences of conditions on paths, which augmentation transforms ([004] 3.2).
//!
//! A path leaves an *occurrence* at each site that it passes with labels of augmentation: a copy of its
//! state there, and the condition of each label that its model does not satisfy. Occurrences hang on a
//! chain of *prefixes*, one for each evaluation of a decision, which its two sides share, and one for
//! the sites between. When a path covers an objective that no path covered before, augmentation takes
//! its occurrences:
//!
//! - Weak augmentation keeps the conditions before the transformed one and drops the rest (Definition
//!   5). It takes the prefixes of the path with the occurrences of both sides, those of states that the
//!   search dropped too: the transformed condition may hold on either side.
//! - Strict augmentation keeps all conditions of the path (Definition 4). It takes the occurrences of the
//!   path itself, together with the facts that the path added after each.
//!
//! Paths, search and deletion of other labels are those of an exploration without augmentation, up to
//! labels that models cover by chance, with three exceptions:
//!
//! - Until the first path has a test, no state is dropped, and that path gives a test whatever it covers
//!   ([`AugmentationGoals::wants_first_path`]).
//! - Labels of augmentation keep no exploration going: it ends once all other objectives are covered.
//! - Where each occurrence is transformed, paths are not merged.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use lydian_ir::{DecisionId, FuncId};
use lydian_smt::{Model, Term};
use rustc_hash::FxHashMap;

use crate::Machine;
use crate::State;
use crate::config::{Augmentation, AugmentationKind};
use crate::goals::Goals;
use crate::goals::core_cache::OpenLabel;
use crate::goals::labels::GoalId;
use crate::machine::memory::Facts;
use crate::machine::program::site::{ProgramPoint, SiteKey};

/// How many occurrences of one place a path keeps, where not every occurrence is transformed. A
/// transformed condition that the first turns of a loop do not satisfy may hold in a later one.
const TURNS: u32 = 4;
/// The same where every occurrence is transformed. Each holds a state.
const MOST_TURNS: u32 = 256;
/// How often a transformed condition is asked for without success, where not every occurrence is
/// transformed.
const TRIES: u8 = 8;
/// The most models of earlier tests that are tried before an occurrence is asked about.
const MODELS: usize = 256;

/// A place on a path, with the labels that wait there.
#[derive(Debug)]
pub(crate) struct Occurrence {
    pub(crate) state: Box<State>,
    pub(crate) labels: Vec<OpenLabel>,
}

/// A part of a path: the evaluation of a decision, or sites between two of them.
#[derive(Debug)]
pub(crate) struct Prefix {
    previous: Option<Rc<Self>>,
    /// Whether it is the evaluation of a decision.
    decides: bool,
    /// Whether weak augmentation has taken it. Then it has taken all before it.
    is_taken: Cell<bool>,
    occurrences: RefCell<Vec<Rc<Occurrence>>>,
    /// States that the search dropped on one side of the decision.
    dropped: RefCell<Vec<Box<State>>>,
}

impl Drop for Prefix {
    /// Chains are as long as paths, so they are not dropped by recursion.
    fn drop(&mut self) {
        let mut next = self.previous.take();
        while let Some(prefix) = next {
            match Rc::try_unwrap(prefix) {
                Ok(mut last) => next = last.previous.take(),
                Err(_) => return,
            }
        }
    }
}

/// A place at which paths leave occurrences again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// The end of a decision, whichever way it is left.
    Decision(FuncId, DecisionId),
    Point(ProgramPoint),
}

/// The conditions of a path that augmentation may transform.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathOccurrences {
    last: Option<Rc<Prefix>>,
    /// How often labels of augmentation were open at a place of the path.
    left: Rc<FxHashMap<Place, u32>>,
    /// How often the path passed a site with labels of augmentation. Only where each occurrence is
    /// transformed.
    turns: Rc<FxHashMap<(FuncId, SiteKey), u32>>,
    /// The activation and the point that the path passed last, unless it passed another site since. A
    /// step that is taken again after a fork passes its point again.
    point: Option<(u64, ProgramPoint)>,
}

impl PathOccurrences {
    fn push(&mut self, decides: bool) {
        self.last = Some(Rc::new(Prefix {
            previous: self.last.take(),
            decides,
            is_taken: Cell::new(false),
            occurrences: RefCell::default(),
            dropped: RefCell::default(),
        }));
    }

    /// The prefixes of the path, the last first.
    fn prefixes(&self) -> impl Iterator<Item = &Rc<Prefix>> {
        std::iter::successors(self.last.as_ref(), |prefix| prefix.previous.as_ref())
    }
}

/// An occurrence that is to be transformed.
pub(crate) enum WaitingOccurrence {
    /// A place on a path that was followed, and facts that its tests are to satisfy, too.
    Passed { at: Rc<Occurrence>, along: Vec<Term> },
    /// A side of a decision that no path was followed on.
    Dropped(Box<State>),
}

/// The occurrences that are to be transformed.
#[derive(Default)]
pub(crate) struct AugmentationGoals {
    augmentation: Option<Augmentation>,
    /// Whether a path was augmented.
    has_begun: bool,
    /// The waiting ones, each with the number of states that had been run when it came.
    waiting: VecDeque<(u64, WaitingOccurrence)>,
    /// How often labels were asked for without success.
    tries: FxHashMap<GoalId, u8>,
    /// Models of tests that were given.
    models: VecDeque<Model>,
}

impl AugmentationGoals {
    pub(crate) fn new(augmentation: Option<Augmentation>) -> Self {
        Self { augmentation, ..Self::default() }
    }

    /// Whether paths are augmented.
    pub(crate) const fn is_on(&self) -> bool {
        self.augmentation.is_some()
    }

    /// Whether the first path is yet to be augmented. It covers the function, if nothing else.
    pub(crate) const fn wants_first_path(&self) -> bool {
        self.augmentation.is_some() && !self.has_begun
    }

    /// Whether each occurrence is transformed.
    pub(crate) fn takes_each(&self) -> bool {
        self.augmentation.is_some_and(|augmentation| augmentation.each_occurrence)
    }

    fn is_weak(&self) -> bool {
        self.augmentation.is_some_and(|one| one.kind == AugmentationKind::Weak)
    }

    /// Whether a label was not asked for in vain too often.
    pub(crate) fn may_ask(&self, goal: GoalId) -> bool {
        self.takes_each() || self.tries.get(&goal).is_none_or(|tries| *tries < TRIES)
    }

    /// Counts a question about a label without success.
    pub(crate) fn count_try(&mut self, goal: GoalId) {
        let tries = self.tries.entry(goal).or_default();
        *tries = tries.saturating_add(1);
    }

    /// The next occurrence to transform, if it has waited for `patience` states.
    pub(crate) fn due(&mut self, run: u64, patience: u64) -> Option<WaitingOccurrence> {
        let is_due = self.waiting.front().is_some_and(|(since, _)| since + patience <= run);
        let next = if is_due { self.waiting.pop_front() } else { None };
        next.map(|(_, waiting)| waiting)
    }

    /// Takes all waiting occurrences.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = WaitingOccurrence> + use<> {
        std::mem::take(&mut self.waiting).into_iter().map(|(_, waiting)| waiting)
    }

    /// Notes the model of a test, where each occurrence is transformed.
    pub(crate) fn note_model(&mut self, model: &Model) {
        if self.takes_each() {
            self.models.truncate(MODELS - 1);
            self.models.push_front(model.clone());
        }
    }

    /// Models of tests that were given, the newest first.
    pub(crate) const fn models(&self) -> &VecDeque<Model> {
        &self.models
    }
}

impl Goals<'_> {
    /// Notes that the evaluation of a decision begins on a path.
    pub(crate) fn begin_prefix(&self, state: &mut State, decision: DecisionId) {
        let func = state.frame().func;
        let site = SiteKey::Decision(decision);
        if !state.log.is_played() && self.labels.augments_at(func, site) {
            state.notes.occurrences.push(true);
        }
    }

    /// Counts that a path passes a site, if augmentation asks for labels there at each occurrence.
    pub(crate) fn count_turn(&self, state: &mut State, func: FuncId, site: SiteKey) {
        if !self.augmentation.takes_each() {
            return;
        }
        let is_point = matches!(site, SiteKey::Point(_));
        let point = is_point.then(|| (state.frame().serial, state.frame().point()));
        let before = std::mem::replace(&mut state.notes.occurrences.point, point);
        let again = point.is_some() && point == before;
        if !again && self.labels.augments_at(func, site) {
            let turns = Rc::make_mut(&mut state.notes.occurrences.turns);
            *turns.entry((func, site)).or_default() += 1;
        }
    }

    /// How often a path came to the place of a label, this time included.
    pub(crate) fn turn_of(&self, state: &State, goal: GoalId) -> u32 {
        let turns = &state.notes.occurrences.turns;
        let sites = self.labels.sites_of(goal).into_iter();
        let sites = sites.flat_map(|(func, keys)| keys.iter().map(move |key| (func, *key)));
        sites.filter_map(|site| turns.get(&site)).sum()
    }

    /// Removes the labels of augmentation from `open` that a test covers already, where each
    /// occurrence is transformed. That the state's model satisfies them says nothing: the state may
    /// give no test.
    pub(crate) fn set_aside_covered(&self, open: &mut Vec<OpenLabel>) -> Vec<OpenLabel> {
        if !self.augmentation.takes_each() {
            return Vec::new();
        }
        open.extract_if(.., |label| self.labels.is_asked_again(label.goal)).collect()
    }

    /// Counts that labels of augmentation are open where a path is. Returns the number of this time.
    pub(crate) fn count_open(&self, state: &mut State, open: &[OpenLabel]) -> u32 {
        let first = open.iter().find(|label| self.labels.augments(label.goal));
        let Some(first) = first else { return 0 };
        let place = match self.labels.decision_of(first.goal) {
            Some((func, decision)) => Place::Decision(func, decision),
            None => Place::Point(state.frame().point()),
        };
        let left = Rc::make_mut(&mut state.notes.occurrences.left).entry(place).or_default();
        *left += 1;
        *left
    }

    /// Removes the labels of augmentation from `open`, and notes them, and those of `again`, with the
    /// state's path, at the place of which some are open for the `count`th time.
    pub(crate) fn leave_occurrence(
        &mut self,
        state: &mut State,
        open: &mut Vec<OpenLabel>,
        again: Vec<OpenLabel>,
        count: u32,
    ) {
        if !self.augmentation.is_on() {
            return;
        }
        let own = open.extract_if(.., |label| self.labels.augments(label.goal));
        let mut left: Vec<OpenLabel> = again.into_iter().chain(own).collect();
        left.retain(|label| self.augmentation.may_ask(label.goal));
        let most = if self.augmentation.takes_each() { MOST_TURNS } else { TURNS };
        if !left.is_empty() && count <= most {
            self.hang_occurrence(state, left);
        }
    }

    fn hang_occurrence(&mut self, state: &mut State, labels: Vec<OpenLabel>) {
        let of_decision = labels.iter().all(|label| self.labels.decision_of(label.goal).is_some());
        let fits = |prefix: &Rc<Prefix>| !prefix.decides || of_decision;
        if !state.notes.occurrences.last.as_ref().is_some_and(fits) {
            state.notes.occurrences.push(false);
        }
        let Some(prefix) = state.notes.occurrences.last.clone() else { return };
        let at = Rc::new(Occurrence { state: copy_before(state, &prefix), labels });
        if prefix.is_taken.get() {
            self.wait_for_occurrence(WaitingOccurrence::Passed { at, along: Vec::new() });
        } else {
            prefix.occurrences.borrow_mut().push(at);
        }
    }

    /// Looks at the labels of the site that a state passes. Returns those of augmentation that its
    /// model does not satisfy.
    pub(crate) fn occurrences_at(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
    ) -> Option<Rc<Occurrence>> {
        state.notes.occurrences.push(true);
        let looked = self.look_at_labels(machine, state);
        let prefix = state.notes.occurrences.last.clone()?;
        state.notes.occurrences.last.clone_from(&prefix.previous);
        looked.ok()?;
        prefix.occurrences.take().pop()
    }

    fn wait_for_occurrence(&mut self, waiting: WaitingOccurrence) {
        let since = self.deferred.states_run();
        self.augmentation.waiting.push_back((since, waiting));
    }

    /// Keeps a state that the search drops where it is one side of a decision with labels of
    /// augmentation, unless memory was so short that it was evicted.
    pub(crate) fn keep_dropped(&mut self, state: &State) {
        let Some(site @ SiteKey::Decision(_)) = state.passing.arrival else { return };
        let last = state.notes.occurrences.last.as_ref();
        let Some(prefix) = last.filter(|prefix| prefix.decides).cloned() else { return };
        let is_whole = state.notes.eviction.evicted.is_none();
        if !is_whole
            || !self.augmentation.is_weak()
            || !self.labels.augments_at(state.frame().func, site)
        {
            return;
        }
        let copy = copy_before(state, &prefix);
        if prefix.is_taken.get() {
            self.wait_for_occurrence(WaitingOccurrence::Dropped(copy));
        } else {
            prefix.dropped.borrow_mut().push(copy);
        }
    }

    /// Takes the occurrences of a path that covers something new.
    pub(crate) fn augment_path(&mut self, state: &State) {
        self.augmentation.has_begun = true;
        if self.augmentation.is_weak() {
            self.take_prefixes(&state.notes.occurrences);
        } else {
            self.take_whole_path(state);
        }
    }

    fn take_prefixes(&mut self, path: &PathOccurrences) {
        let not_taken = path.prefixes().take_while(|prefix| !prefix.is_taken.get());
        let mut prefixes: Vec<&Rc<Prefix>> = not_taken.collect();
        prefixes.reverse();
        for prefix in prefixes {
            prefix.is_taken.set(true);
            for at in prefix.occurrences.take() {
                self.wait_for_occurrence(WaitingOccurrence::Passed { at, along: Vec::new() });
            }
            for state in prefix.dropped.take() {
                self.wait_for_occurrence(WaitingOccurrence::Dropped(state));
            }
        }
    }

    fn take_whole_path(&mut self, end: &State) {
        let mut found: Vec<Rc<Occurrence>> = Vec::new();
        for prefix in end.notes.occurrences.prefixes() {
            let occurrences = prefix.occurrences.borrow();
            let own = occurrences.iter().rev();
            found.extend(own.filter(|at| is_beginning(&at.state.path.facts, end)).cloned());
        }
        for at in found.into_iter().rev() {
            let facts = &at.state.path.facts;
            let later = end.path.facts.iter().filter(|fact| !facts.contains(fact));
            let along = later.copied().collect();
            self.wait_for_occurrence(WaitingOccurrence::Passed { at, along });
        }
    }
}

/// Whether a path has all these facts.
fn is_beginning(facts: &Facts, end: &State) -> bool {
    facts.iter().all(|fact| end.path.facts.contains(fact))
}

/// A copy of a state for what hangs on a prefix, which does not itself hold that prefix.
fn copy_before(state: &State, prefix: &Rc<Prefix>) -> Box<State> {
    let mut copy = state.fork();
    copy.notes.occurrences.last.clone_from(&prefix.previous);
    copy
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId as _;

    use super::*;

    #[test]
    fn questions_in_vain_are_counted_without_end() {
        let each = Augmentation { each_occurrence: true, ..Augmentation::default() };
        let mut goals = AugmentationGoals::new(Some(each));
        let goal = GoalId::from_index(0);
        for _ in 0..1000 {
            goals.count_try(goal);
        }
        assert!(goals.may_ask(goal));
    }

    #[test]
    fn a_long_chain_of_prefixes_is_dropped_without_recursion() {
        let mut path = PathOccurrences::default();
        for _ in 0..1_000_000 {
            path.push(true);
        }
        let fork = path.clone();
        assert_eq!(fork.prefixes().count(), 1_000_000);
        drop(path);
        drop(fork);
    }
}
