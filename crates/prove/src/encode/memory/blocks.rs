//! Copies and fills of stretches of memory, piece by piece: a piece is what one cell, or one element of a
//! lane, has of the stretch.

use lydian_eval::Traps;
use lydian_smt::{Sort, Term, TermPool};

use crate::encode::ids::{ObjectId, SlotId};
use crate::encode::machine::Machine;
use crate::encode::memory::layout::Layout;
use crate::encode::memory::{Candidate, Resolution};
use crate::encode::pointers::Targets;
use crate::encode::state::State;

/// A part of a stretch of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// The distance from the stretch's beginning.
    start: u64,
    size: u64,
}

/// The place that is copied.
struct Source {
    addr: Term,
    found: Resolution,
}

impl Machine<'_, '_> {
    /// Copies bytes from one address to another. Neither is less than the other by less than `size`.
    pub(crate) fn copy(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (to, from): ((Term, &Targets), (Term, &Targets)),
        size: u64,
    ) {
        if size == 0 {
            return;
        }
        let mut traps = Traps::none();
        let source =
            Source { addr: from.0, found: self.resolve(pool, state, from, size, &mut traps) };
        let found = self.resolve_for_write(pool, state, to, size, &mut traps);
        Self::leave(pool, state, &traps);
        self.write_to_all(pool, state, &found, |machine, pool, state, candidate| {
            machine.copy_to(pool, state, candidate, (&source, size));
        });
    }

    fn copy_to(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        to: &Candidate,
        (source, size): (&Source, u64),
    ) {
        if let Some(from) = self.whole_source(to, &source.found, size) {
            let slots = self.slots_of(to.object).into_iter().zip(self.slots_of(from));
            for (to_slot, from_slot) in slots {
                let value = self.value(pool, state, from_slot);
                self.set_where(pool, state, to.hit, (to_slot, value));
            }
            return;
        }
        let Some(pieces) = self.pieces(to, size) else {
            self.more("a large stretch of memory is copied");
            self.havoc_object(state, to.object);
            return;
        };
        let mut values = Vec::new();
        for piece in &pieces {
            values.push(self.read_piece(pool, state, source, *piece));
        }
        for (piece, bits) in pieces.into_iter().zip(values) {
            let to = moved(pool, to, piece.start);
            self.write_bits(pool, state, &to, (bits, piece.size));
        }
    }

    fn slots_of(&self, object: ObjectId) -> Vec<SlotId> {
        self.analysed.slots.of_object(self.analysed.layouts, object)
    }

    /// The object that is copied as a whole to another of the same layout.
    fn whole_source(&self, to: &Candidate, sources: &Resolution, size: u64) -> Option<ObjectId> {
        let [from] = &sources.candidates[..] else { return None };
        let layouts = self.analysed.layouts;
        let same = !sources.unknown && layouts.of(to.object) == layouts.of(from.object);
        let whole = self.is_whole_object(to, size) && self.is_whole_object(from, size);
        (same && whole).then_some(from.object)
    }

    /// Whether a stretch is all of an object.
    fn is_whole_object(&self, at: &Candidate, size: u64) -> bool {
        let bytes = self.analysed.objects.all[at.object].size;
        at.at.exact() == Some(0) && bytes.is_some_and(|bytes| bytes <= size)
    }

    fn read_piece(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        source: &Source,
        piece: Piece,
    ) -> Term {
        let sources = &source.found;
        let sort = Sort::BitVec(piece.size as u32 * 8);
        let mut result = None;
        if sources.unknown || sources.candidates.is_empty() {
            self.more("memory that is not known is read");
            let distance = pool.bv(64, piece.start);
            let addr = pool.add(source.addr, distance);
            result = Some(match sources.unknown {
                true => self.read_outside(pool, state, addr, piece.size),
                false => Self::anything(pool, sort),
            });
        }
        for from in &sources.candidates {
            let from = moved(pool, from, piece.start);
            let bits = self.read_bits(pool, state, &from, piece.size);
            result = Some(match result {
                Some(other) => pool.ite(from.hit, bits, other),
                None => bits,
            });
        }
        result.unwrap_or_else(|| Self::anything(pool, sort))
    }

    /// Sets all of some bytes to one value.
    pub(crate) fn fill(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        to: (Term, &Targets),
        (byte, size): (Term, u64),
    ) {
        if size == 0 {
            return;
        }
        let mut traps = Traps::none();
        let found = self.resolve_for_write(pool, state, to, size, &mut traps);
        Self::leave(pool, state, &traps);
        self.write_to_all(pool, state, &found, |machine, pool, state, candidate| {
            machine.fill_one(pool, state, candidate, (byte, size));
        });
    }

    fn fill_one(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        to: &Candidate,
        (byte, size): (Term, u64),
    ) {
        if self.is_whole_object(to, size)
            && matches!(self.analysed.layouts.of(to.object), Layout::Lanes(_))
        {
            for slot in self.slots_of(to.object) {
                let Sort::Array { index, element } = self.analysed.slots.all[slot].sort else {
                    continue;
                };
                let value = repeated(pool, byte, u64::from(element) / 8);
                let array = pool.uniform_array(index, value);
                self.set_where(pool, state, to.hit, (slot, array));
            }
            return;
        }
        let Some(pieces) = self.pieces(to, size) else {
            self.more("a large stretch of memory is filled");
            self.havoc_object(state, to.object);
            return;
        };
        for piece in pieces {
            let bits = repeated(pool, byte, piece.size);
            let to = moved(pool, to, piece.start);
            self.write_bits(pool, state, &to, (bits, piece.size));
        }
    }

    /// The pieces of a stretch; none if there are too many.
    fn pieces(&self, to: &Candidate, size: u64) -> Option<Vec<Piece>> {
        let most = self.request.limits.pieces;
        let mut pieces = Vec::new();
        let mut add = |base: u64, from: u64, end: u64| {
            let (from, end) = (from.max(base), end.min(base.saturating_add(size)));
            if from < end {
                pieces.push(Piece { start: from - base, size: end - from });
            }
        };
        match self.analysed.layouts.of(to.object) {
            Layout::Cells(cells) => {
                let base = to.at.exact()? as u64;
                cells.iter().for_each(|cell| add(base, cell.offset, cell.offset + cell.size));
            }
            Layout::Lanes(lanes) => {
                let base = to.at.start.rem_euclid(lanes.period as i64) as u64;
                let periods = base.saturating_add(size).div_ceil(lanes.period);
                if periods.saturating_mul(lanes.lanes.len() as u64) > most as u64 {
                    return None;
                }
                for period in 0..periods {
                    for lane in &lanes.lanes {
                        let start = period * lanes.period + lane.offset;
                        add(base, start, start + lane.size);
                    }
                }
            }
        }
        (pieces.len() <= most).then_some(pieces)
    }
}

fn moved(pool: &mut TermPool, candidate: &Candidate, by: u64) -> Candidate {
    let step = pool.bv(64, by);
    let distance = pool.add(candidate.distance, step);
    Candidate { at: candidate.at.plus(by as i64), distance, ..*candidate }
}

/// A byte many times.
fn repeated(pool: &mut TermPool, byte: Term, count: u64) -> Term {
    let mut bits = byte;
    for _ in 1..count {
        bits = pool.concat(bits, byte);
    }
    bits
}
