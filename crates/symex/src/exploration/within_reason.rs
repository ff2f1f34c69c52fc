//! Inputs of a size that a test can have. A path may be followed for objects of any size; before its
//! test is given, its input is exchanged for one whose objects and blocks are small enough for the test to
//! be written down and run, if there is one that covers the same.

use lydian_inputs::lazy::REACH;
use lydian_smt::{Model, Term};

use crate::Machine;
use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::inputs::lazy::looked_at;
use crate::machine::memory::{AccessPlace, Region, distance};
use crate::machine::questions::Feasible;

/// No object of a test has bytes further from where its pointer leads than the first of these that
/// an input of the path allows.
const REASONABLE: [u64; 3] = [1 << 10, 1 << 16, 1 << 20];

/// Nor are they of more bytes together: the runner has room for twice that.
const MOST_TOGETHER: u64 = 4 << 20;

/// Blocks that a run allocates have no more bytes together than this, if each has no more than one of
/// [`BLOCKS`] where that is needed: what runs tests has room for twice that.
const MOST_ALLOCATED: u64 = 128 << 20;
const BLOCKS: [u64; 2] = [1 << 16, 1 << 24];

impl Engine<'_, '_> {
    /// Lets the state's model have objects of a size that a test can have; whether it is another model
    /// than before. None where no input has that which keeps what the model covers: then what it covers
    /// is open again.
    pub(crate) fn bring_within_reason(&mut self, state: &mut State) -> Option<bool> {
        let blocks = self.bring_blocks_within_reason(state)?;
        Some(self.bring_objects_within_reason(state)? || blocks)
    }

    /// The same for the blocks that the path allocates.
    fn bring_blocks_within_reason(&mut self, state: &mut State) -> Option<bool> {
        let blocks = state.memory.objects(Region::Dynamic).map(|(_, object)| object);
        let blocks = blocks.filter(|object| object.first.is_none());
        let lengths: Vec<Term> = blocks.filter_map(|object| object.length).collect();
        let sizes = self.sizes_of(state, &lengths);
        let fits = sizes.iter().copied().fold(0, u64::saturating_add) <= MOST_ALLOCATED;
        if fits {
            self.promise_lengths(state, &lengths, &sizes);
            return Some(false);
        }
        for most in BLOCKS {
            let fit = self.no_longer(&lengths, std::iter::repeat(most));
            if let Feasible::Yes(model) = self.machine.ask_with_promises(state, fit) {
                state.model = model;
                let sizes = self.sizes_of(state, &lengths);
                self.promise_lengths(state, &lengths, &sizes);
                return Some(true);
            }
        }
        self.give_up(state, "blocks of more than 128 MiB together");
        None
    }

    /// How long blocks are on the state's model.
    fn sizes_of(&mut self, state: &State, lengths: &[Term]) -> Vec<u64> {
        let Machine { pool, evaluator, .. } = &mut self.machine;
        lengths.iter().map(|length| evaluator.eval_u64(pool, &state.model, *length)).collect()
    }

    /// Nothing that makes the state's model nicer makes blocks longer, or longer than the first of
    /// [`BLOCKS`].
    fn promise_lengths(&mut self, state: &mut State, lengths: &[Term], sizes: &[u64]) {
        let fit = self.no_longer(lengths, sizes.iter().map(|size| BLOCKS[0].max(*size)));
        if self.machine.pool.as_bool(fit) != Some(true) {
            state.claims.promises.push(fit);
        }
    }

    /// Whether blocks are no longer than so many bytes each.
    fn no_longer(&mut self, lengths: &[Term], most: impl Iterator<Item = u64>) -> Term {
        let mut all = self.machine.pool.tt();
        for (length, most) in lengths.iter().zip(most) {
            let most = self.machine.pool.bv(64, most);
            let fits = self.machine.pool.ule(*length, most);
            all = self.machine.pool.and(all, fits);
        }
        all
    }

    /// The same for the objects of the inputs.
    fn bring_objects_within_reason(&mut self, state: &mut State) -> Option<bool> {
        let touched = state.memory.inputs().flat_map(|object| object.touched.at());
        let is_open = |at: &&AccessPlace| self.machine.pool.as_u64(at.place).is_none();
        let places: Vec<AccessPlace> = touched.filter(is_open).copied().collect();
        if places.is_empty() {
            return Some(false);
        }
        let is_far = |engine: &mut Self, at: &AccessPlace| {
            let place =
                engine.machine.evaluator.eval_u64(&engine.machine.pool, &state.model, at.place);
            distance(place).unsigned_abs() > REASONABLE[0]
        };
        if !places.iter().any(|at| is_far(self, at)) {
            let near = self.near(&places, REASONABLE[0]);
            state.claims.promises.push(near);
            return Some(false);
        }
        // Small numbers are nicer everywhere, though only what is accessed makes a test large.
        let everywhere =
            places.iter().map(|at| AccessPlace { guard: self.machine.pool.tt(), ..*at });
        let everywhere: Vec<AccessPlace> = everywhere.collect();
        for (places, most) in
            [(&everywhere, REASONABLE[0])].into_iter().chain(REASONABLE.map(|most| (&places, most)))
        {
            let near = self.near(places, most);
            if let Feasible::Yes(model) = self.machine.ask_with_promises(state, near)
                && self.bytes_looked_at(state, &model) <= MOST_TOGETHER
            {
                state.model = model;
                state.claims.promises.push(near);
                return Some(true);
            }
        }
        self.give_up(state, "an object of more than 1 MiB, or objects of more than 4 MiB together");
        None
    }

    /// A path has no test. It was followed all the same: nothing but what the test was to cover is open.
    fn give_up(&mut self, state: &mut State, what: &str) {
        self.retract_for(state, Cut::Unsupported(what.to_owned()));
        state.claims.keep = false;
    }

    /// Whether some places lie no further than so many bytes from where the objects' pointers lead.
    fn near(&mut self, places: &[AccessPlace], most: u64) -> Term {
        let mut all = self.machine.pool.tt();
        for at in places {
            let least = self.machine.pool.bv(64, REACH - most);
            let behind = self.machine.pool.sub(at.place, least);
            let room = self.machine.pool.bv(64, 2 * most);
            let near = self.machine.pool.ule(behind, room);
            let near = self.machine.pool.implies(at.guard, near);
            all = self.machine.pool.and(all, near);
        }
        all
    }

    /// How many bytes a test would have for the objects of the inputs that a path looked at.
    fn bytes_looked_at(&mut self, state: &State, model: &Model) -> u64 {
        let all = looked_at(&self.machine.pool, &mut self.machine.evaluator, &state.memory, model);
        let sizes = all.iter().map(|object| {
            let ranges = object.touched.iter();
            let (from, to) =
                ranges.fold((0, 0), |(from, to), range| (range.0.min(from), range.1.max(to)));
            to.abs_diff(from)
        });
        sizes.sum()
    }
}
