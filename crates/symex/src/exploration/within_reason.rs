//! Inputs of a size that a test can have. A path may be followed for objects of any size. Before
//! its test is given, its input is exchanged for one with objects and blocks small enough for the
//! test to be written and run, if some input is and covers the same.

use lydian_inputs::lazy::REACH;
use lydian_ir::test::Test;
use lydian_smt::{Model, Term, TermPool};

use crate::Machine;
use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::inputs::lazy::looked_at;
use crate::machine::memory::{AccessPlace, Region, distance};
use crate::machine::questions::Feasible;

/// The most bytes between any accessed place of an object and the place that its pointer leads to.
/// The first of these values that an input of the path allows is taken.
const REASONABLE: [u64; 3] = [1 << 10, 1 << 16, 1 << 20];

/// Distances that keep the objects of a test short enough to be read. The first that an input of the
/// path allows is taken, if the solver finds one with little effort.
const READABLE: [u64; 2] = [8, 32];

/// The work that is spent on such objects, in steps: so much, and a part of an exploration's work, as
/// a divisor.
const WORK_ON_SHORTNESS: u64 = 50_000;
const PART_FOR_SHORTNESS: u64 = 32;

/// The most facts and promises of a path whose test gets such objects: a question about all of them
/// at once costs much on long paths.
const MOST_FACTS: usize = 48;

/// The most bytes of all objects of a test together. The runner has room for twice that.
const MOST_TOGETHER: u64 = 4 << 20;

/// The most bytes of all blocks that a run allocates. Where a run needs more, each block has at
/// most the first possible of [`BLOCKS`]. The runner has room for twice that.
const MOST_ALLOCATED: u64 = 128 << 20;
const BLOCKS: [u64; 2] = [1 << 16, 1 << 24];

/// The bytes that the runner needs for each pointer of an image.
const POINTER_RECORD: usize = 16;

/// The most bytes of the images of a test. Predicates of labels look at places that the path does
/// not, and a test has these, too. The runner has room for 8 MiB.
const MOST_OF_TEST: u64 = 7 << 20;

/// The bytes of a block behind its start, given its length from the first byte of its room.
fn behind(pool: &mut TermPool, length: Term, start: u64) -> Term {
    let start = pool.bv(64, start);
    pool.sub(length, start)
}

impl Engine<'_, '_> {
    /// Whether a test has more bytes than can be run.
    pub(crate) fn is_too_large(test: &Test) -> bool {
        let objects = test.objects.iter().map(|object| &object.image);
        let globals = test.globals.iter().map(|global| &global.image);
        let writes = test.externals.iter().flat_map(|call| &call.writes).map(|write| &write.image);
        let images = objects.chain(globals).chain(writes);
        let bytes = images.map(|image| {
            let of_pointers = image.pointers.len() * POINTER_RECORD;
            (image.bytes.len() + of_pointers) as u64
        });
        bytes.sum::<u64>() > MOST_OF_TEST
    }

    /// Gives the state a model with objects of a size that a test can have. Returns whether the
    /// model changed. Returns `None` where no such input keeps what the model covers: then those
    /// labels are open again.
    pub(crate) fn bring_within_reason(&mut self, state: &mut State) -> Option<bool> {
        let blocks = self.bring_blocks_within_reason(state)?;
        Some(self.bring_objects_within_reason(state)? || blocks)
    }

    /// As [`Self::bring_within_reason`], for the blocks that the path allocates.
    fn bring_blocks_within_reason(&mut self, state: &mut State) -> Option<bool> {
        let blocks = state.memory.objects(Region::Dynamic).map(|(_, object)| object);
        let lengths = blocks.filter_map(|object| Some((object.length?, object.start())));
        let lengths: Vec<(Term, u64)> = lengths.collect();
        let pool = &mut self.machine.pool;
        let lengths: Vec<Term> =
            lengths.into_iter().map(|(length, start)| behind(pool, length, start)).collect();
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

    /// The sizes of blocks on the state's model, in bytes.
    fn sizes_of(&mut self, state: &State, lengths: &[Term]) -> Vec<u64> {
        let Machine { pool, evaluator, .. } = &mut self.machine;
        lengths.iter().map(|length| evaluator.eval_u64(pool, &state.model, *length)).collect()
    }

    /// Promises that later improvements of the state's model make no block longer than it is, or
    /// than the first of [`BLOCKS`].
    fn promise_lengths(&mut self, state: &mut State, lengths: &[Term], sizes: &[u64]) {
        let fit = self.no_longer(lengths, sizes.iter().map(|size| BLOCKS[0].max(*size)));
        if self.machine.pool.as_bool(fit) != Some(true) {
            state.claims.promises.push(fit);
        }
    }

    /// The condition that blocks are no longer than so many bytes each.
    fn no_longer(&mut self, lengths: &[Term], most: impl Iterator<Item = u64>) -> Term {
        let mut all = self.machine.pool.tt();
        for (length, most) in lengths.iter().zip(most) {
            let most = self.machine.pool.bv(64, most);
            let fits = self.machine.pool.ule(*length, most);
            all = self.machine.pool.and(all, fits);
        }
        all
    }

    /// As [`Self::bring_within_reason`], for the objects of the inputs.
    fn bring_objects_within_reason(&mut self, state: &mut State) -> Option<bool> {
        let places = self.open_places(state);
        if places.is_empty() {
            return Some(false);
        }
        if self.farthest(state, &places) <= REASONABLE[0] {
            let near = self.near(&places, REASONABLE[0]);
            state.claims.promises.push(near);
            return Some(false);
        }
        // Small distances are better for all places, though only accessed ones make a test large.
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

    /// A model that covers what the state's model covers, with objects that are short enough to be
    /// read; `None` if the state's model has such, or none is found.
    pub(crate) fn near_model(&mut self, state: &State) -> Option<Model> {
        let (before, on_paths) = (self.work_of_all_questions(), self.work_on_paths());
        let facts = state.path.facts.len() + state.claims.promises.len();
        if facts > MOST_FACTS
            || self.work_on_shortness > WORK_ON_SHORTNESS + on_paths / PART_FOR_SHORTNESS
        {
            return None;
        }
        let found = self.look_for_near_model(state);
        self.work_on_shortness += self.work_of_all_questions() - before;
        found
    }

    fn look_for_near_model(&mut self, state: &State) -> Option<Model> {
        let places = self.open_places(state);
        let farthest = self.farthest(state, &places);
        READABLE.into_iter().take_while(|most| *most < farthest).find_map(|most| {
            let near = self.near(&places, most);
            match self.machine.ask_for_wish(state, near) {
                Feasible::Yes(model) => Some(model),
                Feasible::No | Feasible::Unknown(_) => None,
            }
        })
    }

    /// The accesses of objects of the inputs at places that depend on the input.
    fn open_places(&self, state: &State) -> Vec<AccessPlace> {
        let touched = state.memory.inputs().flat_map(|object| object.touched.at());
        let is_open = |at: &&AccessPlace| self.machine.pool.as_u64(at.place).is_none();
        touched.filter(is_open).copied().collect()
    }

    /// The greatest distance in bytes of these places from where their objects' pointers lead to, on
    /// the state's model.
    fn farthest(&mut self, state: &State, places: &[AccessPlace]) -> u64 {
        let Machine { pool, evaluator, .. } = &mut self.machine;
        let places = places.iter().map(|at| evaluator.eval_u64(pool, &state.model, at.place));
        places.map(|place| distance(place).unsigned_abs()).max().unwrap_or(0)
    }

    /// Notes that a path has no test. The path itself was followed, so only the labels that the
    /// test was to cover are open.
    pub(crate) fn give_up(&mut self, state: &mut State, what: &str) {
        self.retract_for(state, Cut::Unsupported(what.to_owned()));
        state.claims.keep = false;
    }

    /// The condition that places lie no further than so many bytes from the places that the
    /// objects' pointers lead to.
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

    /// The number of bytes that a test would have for the objects of the inputs that a path looked
    /// at.
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
