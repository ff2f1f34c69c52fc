//! State transfer: states on their way from one worker to another.

use lydian_ir::{ConditionId, DecisionId};
use lydian_smt::{Model, PortableTerms, Sort, TermPool, Value};
use smallvec::SmallVec;

use crate::State;
use crate::exploration::eviction::{ActivationPlace, activation_places};
use crate::exploration::explore::Engine;
use crate::exploration::workers::portable_notes::PortableNotes;
use crate::goals::labels::GoalId;
use crate::machine::decision_log::DecisionLog;
use crate::machine::program::site::SiteKey;
use crate::machine::reports::undetermined::Dependences;
use crate::machine::state::PassedSite;
use crate::notes::Home;
use crate::search::directed::Progress;
use crate::search::searcher::Origin;

/// The most states that one worker gives another at once.
const MOST: usize = 2048;

/// The data of which any worker can make a state again.
pub(crate) struct Parcel {
    /// The worker that evicted it.
    home: usize,
    /// Whether it goes back to that worker, since another could not replay it.
    returned: bool,
    fingerprint: u64,
    places: SmallVec<[ActivationPlace; 4]>,
    log: DecisionLog,
    model: NamedModel,
    /// The labels to be looked at.
    queue: SmallVec<[PortableSite; 4]>,
    /// The conditions of the labels of the queue with a known condition, in their order.
    terms: PortableTerms,
    /// The notes about hyperlabels.
    seen: Option<Box<PortableNotes>>,
    pending: bool,
    tries: u8,
    evaluated: Option<(DecisionId, ConditionId)>,
    arrival: Option<SiteKey>,
    haste: bool,
    depends: Dependences,
    steps: u64,
    idle: u32,
    root: usize,
}

/// A model by the names of symbols.
pub(crate) struct NamedModel(Vec<(String, Sort, Value)>);

impl NamedModel {
    /// The values of a pool's symbols by their names.
    pub(crate) fn take(pool: &TermPool, model: &Model) -> Self {
        let named = model.iter().filter_map(|(var, value)| {
            Some((pool.var_name(var)?.to_owned(), pool.sort(var), value.clone()))
        });
        Self(named.collect())
    }

    /// The same model over the symbols of another pool.
    pub(crate) fn make(&self, pool: &mut TermPool) -> Model {
        let values = self.0.iter();
        let values = values.map(|(name, sort, value)| (pool.var(name, *sort), value.clone()));
        Model::from_values(values.collect())
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Labels to be looked at.
#[derive(Clone, Copy)]
enum PortableSite {
    /// All labels of a site.
    Site(SiteKey),
    /// One label, with a known condition under which it holds.
    Where(SiteKey, GoalId),
}

/// Whether a parcel can hold everything of a state.
fn is_portable(state: &State) -> bool {
    !state.course.replay
        && !state.claims.keep
        && state.claims.covered.is_empty()
        && state.claims.promises.is_empty()
        && state.notes.goals.undecided.is_empty()
        && state.notes.eviction.home != Home::Here
        // Its log does not begin at the first state.
        && state.notes.merging.start.is_none()
}

impl Engine<'_, '_> {
    /// Takes waiting states for each of some other workers, and leaves a share of the same size. It
    /// takes those with the fewest steps.
    pub(crate) fn shares(&mut self, others: usize) -> Vec<Vec<Parcel>> {
        let portable = self.frontier.states().filter(|(_, state)| is_portable(state));
        let mut all: Vec<(u64, u64)> =
            portable.map(|(number, state)| (state.course.steps, number)).collect();
        all.sort_unstable();
        all.truncate(MOST * (others + 1));
        let mut shares: Vec<Vec<Parcel>> = (0..others).map(|_| Vec::new()).collect();
        for (at, (_, number)) in all.into_iter().enumerate() {
            // The first is kept, so that no worker gives all.
            let Some(share) = (at % (others + 1)).checked_sub(1) else { continue };
            let Some(mut state) = self.frontier.take(number) else { continue };
            if state.notes.eviction.evicted.is_none() {
                self.eviction.evict(&self.machine.pool, &mut state);
            }
            self.machine.statistics.handed_over += 1;
            let parcel = self.pack(&mut state, false);
            shares[share].extend(parcel);
        }
        shares
    }

    /// Sends an evicted state back to the worker that evicted it.
    pub(crate) fn give_back(&mut self, state: &mut State, worker: usize) {
        self.machine.statistics.given_back += 1;
        let parcel = self.pack(state, true);
        self.exchange.back.extend(parcel.map(|parcel| (worker, parcel)));
    }

    /// Packs an evicted state.
    fn pack(&self, state: &mut State, returned: bool) -> Option<Parcel> {
        let holds = state.passing.queue.iter().filter_map(|passed| match passed {
            PassedSite::Site(_) => None,
            PassedSite::Where { holds, .. } => Some(*holds),
        });
        let queued = |passed: &PassedSite| match passed {
            PassedSite::Site(site) => PortableSite::Site(*site),
            PassedSite::Where { site, goal, .. } => PortableSite::Where(*site, *goal),
        };
        Some(Parcel {
            home: match state.notes.eviction.home {
                Home::Elsewhere(home) => home,
                Home::Any | Home::Here => self.exchange.index,
            },
            returned,
            fingerprint: state.notes.eviction.evicted?,
            places: activation_places(state).collect(),
            model: NamedModel::take(&self.machine.pool, &state.model),
            terms: PortableTerms::take(&self.machine.pool, holds),
            queue: state.passing.queue.iter().map(queued).collect(),
            seen: PortableNotes::take(&self.machine.pool, state).map(Box::new),
            log: std::mem::take(&mut state.log),
            pending: state.pending,
            tries: state.tries,
            evaluated: state.passing.evaluated,
            arrival: state.passing.arrival,
            haste: state.notes.goals.haste,
            depends: state.depends.clone(),
            steps: state.course.steps,
            idle: state.notes.search.idle,
            root: state.course.root,
        })
    }

    /// Puts a received state in the queue.
    pub(crate) fn unpack(&mut self, parcel: Parcel) {
        let Some(start) = self.machine.start() else { return self.lose_a_worker() };
        let mut state = start.fork();
        self.eviction.empty(&mut state, &parcel.places);
        state.model = parcel.model.make(&mut self.machine.pool);
        let mut holds = parcel.terms.make(&mut self.machine.pool).into_iter();
        let passed = |queued| match queued {
            PortableSite::Site(site) => Some(PassedSite::Site(site)),
            PortableSite::Where(site, goal) => {
                holds.next().map(|holds| PassedSite::Where { site, goal, holds })
            }
        };
        state.passing.queue = parcel.queue.into_iter().filter_map(passed).collect();
        if let Some(seen) = parcel.seen {
            (state.notes.goals.trail, state.notes.goals.underway) =
                seen.make(&mut self.machine.pool);
        }
        state.notes.eviction.evicted = Some(parcel.fingerprint);
        state.notes.eviction.home = match parcel.returned {
            true => Home::Here,
            false if parcel.home == self.exchange.index => Home::Any,
            false => Home::Elsewhere(parcel.home),
        };
        state.log = parcel.log;
        state.pending = parcel.pending;
        state.tries = parcel.tries;
        state.passing.evaluated = parcel.evaluated;
        state.passing.arrival = parcel.arrival;
        state.notes.goals.haste = parcel.haste;
        state.depends = parcel.depends;
        state.course.steps = parcel.steps;
        state.notes.search.idle = parcel.idle;
        state.course.root = parcel.root;
        (state.notes.search.fresh_at, state.notes.search.progress) = (0, Progress::default());
        self.let_wait(state, Origin::Fork);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Mode};
    use crate::exploration::eviction::tests::{program, with_engine};

    /// Runs some states, and returns all states that wait then except the first.
    fn half_way(engine: &mut Engine<'_, '_>, first: Box<State>) -> Vec<Parcel> {
        engine.push(first);
        for _ in 0..40 {
            engine.run_one();
        }
        engine.shares(1).remove(0)
    }

    #[test]
    fn a_state_is_replayed_in_the_pool_of_another_worker() {
        let (program, func) = program();
        for merge in [false, true] {
            let config = Config { merge, mode: Mode::Plain, ..Config::default() };
            let mut parcels = Vec::new();
            with_engine(&program, func, &config, |engine, first| {
                parcels = half_way(engine, first);
            });
            assert!(parcels.len() > 5, "{}", parcels.len());
            with_engine(&program, func, &config, |engine, _| {
                engine.exchange.index = 1;
                // The other pool makes terms in another order.
                for parcel in parcels.into_iter().rev() {
                    let (fingerprint, named) = (parcel.fingerprint, parcel.model.len());
                    engine.unpack(parcel);
                    let mut state = engine.waiting().remove(0);
                    assert_eq!(
                        (state.notes.eviction.evicted, state.model.len()),
                        (Some(fingerprint), named)
                    );
                    // A replay compares the fingerprint of the state.
                    assert!(engine.revive(&mut state));
                    assert!(
                        state.notes.eviction.evicted.is_none()
                            && !state.frame().registers.is_empty()
                    );
                }
                assert!(!engine.machine.is_cut() && engine.exchange.back.is_empty());
            });
        }
    }

    #[test]
    fn a_state_that_another_worker_cannot_replay_comes_back_and_is_not_lost() {
        let (program, func) = program();
        let config = Config { mode: Mode::Plain, ..Config::default() };
        with_engine(&program, func, &config, |home, first| {
            let mut parcels = half_way(home, first);
            let mut parcel = parcels.remove(0);
            parcel.fingerprint ^= 1;
            let mut back = Vec::new();
            with_engine(&program, func, &config, |other, _| {
                other.exchange.index = 1;
                other.unpack(parcel);
                assert!(other.run_one());
                assert!(!other.machine.is_cut() && other.frontier.is_empty());
                back = std::mem::take(&mut other.exchange.back);
            });
            let (to, mut parcel) = back.remove(0);
            assert_eq!((to, parcel.home, parcel.returned), (0, 0, true));
            parcel.fingerprint ^= 1;
            drop(home.waiting());
            home.unpack(parcel);
            // It is not sent again.
            assert!(home.shares(1).remove(0).is_empty());
            let mut state = home.waiting().remove(0);
            assert!(home.revive(&mut state) && !home.machine.is_cut());
        });
    }
}
