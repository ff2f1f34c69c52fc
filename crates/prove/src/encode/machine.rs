//! The simulation of statements on states: what all parts of it share.

pub(crate) mod call_effects;
mod equality;
pub(crate) mod library;
pub(crate) mod reader;
pub(crate) mod recursive_calls;
pub(crate) mod region;
pub(crate) mod statements;

use std::cell::RefCell;
use std::collections::BTreeSet;

use lydian_eval::{Traps, from_bytes, to_bytes};
use lydian_ir::{CTypeId, Target, Type};
use lydian_smt::{Sort, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::encode::encoded::InputRead;
use crate::encode::goals::GoalTable;
use crate::encode::goals::labels::LabelSites;
use crate::encode::goals::sequences::SequenceSites;
use crate::encode::ids::SlotId;
use crate::encode::machine::recursive_calls::SlotCall;
use crate::encode::request::EncodeRequest;
use crate::encode::state::State;
use crate::encode::state::liveness::Analysed;
use crate::encode::state::slots::SlotKind;

/// Simulates statements. The pool and the state are given with each call.
pub(crate) struct Machine<'s, 'a> {
    pub(crate) analysed: Analysed<'s, 'a>,
    pub(crate) request: EncodeRequest<'a>,
    /// Whether the run begins with the program, and not with a function that others call.
    pub(crate) is_whole: bool,
    /// Why there may be more runs than the program's.
    pub(crate) inexact: BTreeSet<String>,
    /// The inputs that were read since the point.
    pub(crate) reads: Vec<InputRead>,
    /// The calls of recursive functions since the point, in the order of the simulation.
    pub(crate) recursive_calls: Vec<SlotCall>,
    pub(crate) goals: GoalTable<'a>,
    /// Where the address that was evaluated last is computed by a subscript beyond an array.
    pub(crate) beyond: Option<Term>,
    /// The values of slots that never change, as far as they were asked for.
    pub(crate) constants: RefCell<FxHashMap<SlotId, Option<Term>>>,
    pub(crate) sites: &'s LabelSites<'a>,
    pub(crate) sequences: &'s SequenceSites<'a>,
}

impl Machine<'_, '_> {
    pub(crate) fn target(&self) -> Target {
        self.analysed.layouts.target
    }

    /// Notes why there may be more runs than the program's.
    pub(crate) fn more(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.inexact.contains(&reason) {
            self.inexact.insert(reason);
        }
    }

    /// The slot of a kind. Each kind that is asked for has one.
    pub(crate) fn slot(&self, kind: SlotKind) -> SlotId {
        self.analysed.slots.of(kind).expect("slots were made for all instances and objects")
    }

    /// The value of a slot. One that was never written has any value.
    pub(crate) fn value(&self, pool: &mut TermPool, state: &mut State, slot: SlotId) -> Term {
        if let Some(value) = self.known_value(pool, state, slot) {
            return value;
        }
        let value = self.any_value(pool, slot);
        state.set(slot, Some(value));
        value
    }

    fn known_value(&self, pool: &mut TermPool, state: &State, slot: SlotId) -> Option<Term> {
        if !self.analysed.layouts.is_constant(self.analysed.slots.all[slot].kind) {
            return state.get(slot);
        }
        let known = self.constants.borrow().get(&slot).copied();
        known.unwrap_or_else(|| {
            let value = self.initial_value(pool, slot);
            self.constants.borrow_mut().insert(slot, value);
            value
        })
    }

    /// Sets a slot to a value that may have another sort; to none for any value.
    pub(crate) fn set_coerced(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        slot: SlotId,
        value: Option<Term>,
    ) {
        let sort = self.analysed.slots.all[slot].sort;
        let value = value.map(|value| self.coerced(pool, value, sort));
        state.set(slot, value);
    }

    /// A symbol for any value of a slot.
    pub(crate) fn any_value(&self, pool: &mut TermPool, slot: SlotId) -> Term {
        let slot = &self.analysed.slots.all[slot];
        pool.fresh_var(&format!("any.{}", slot.name), slot.sort)
    }

    /// A symbol for any value of a sort.
    pub(crate) fn anything(pool: &mut TermPool, sort: Sort) -> Term {
        pool.fresh_var("any", sort)
    }

    /// Ends the path where a trap's condition holds.
    pub(crate) fn leave(pool: &mut TermPool, state: &mut State, traps: &Traps) {
        for (_, condition) in traps.iter() {
            let absent = pool.not(condition);
            state.assume(pool, absent);
        }
    }

    /// A value in memory, as bits.
    pub(crate) fn to_bits(&self, pool: &mut TermPool, ty: Type, value: Term) -> Term {
        if ty == Type::Ptr && self.target() == Target::I386 {
            return pool.extract(31, 0, value);
        }
        to_bytes(pool, value)
    }

    /// The value of a type that bits in memory are.
    pub(crate) fn of_bits(&self, pool: &mut TermPool, ty: Type, bits: Term) -> Term {
        if ty == Type::Ptr && self.target() == Target::I386 {
            return pool.zext(bits, 64);
        }
        from_bytes(pool, ty, bits)
    }

    /// A value as one of another sort: integers are cut or filled with zeros, as a call of a function
    /// through another type does. Else any value.
    pub(crate) fn coerced(&mut self, pool: &mut TermPool, value: Term, sort: Sort) -> Term {
        let from = pool.sort(value);
        if from == sort {
            return value;
        }
        match (from, sort) {
            (Sort::BitVec(_) | Sort::Bool, Sort::BitVec(bits)) => {
                let bytes = to_bytes(pool, value);
                pool.resize_unsigned(bytes, bits)
            }
            _ => {
                self.more("a value is passed as one of another type");
                Self::anything(pool, sort)
            }
        }
    }

    /// Notes that an input is read.
    pub(crate) fn note_read(
        &mut self,
        pool: &mut TermPool,
        state: &State,
        (symbol, ty): (Term, CTypeId),
        function: &str,
    ) {
        let condition = state.guard(pool);
        let function = function.to_owned();
        let (writes, part) = (None, None);
        self.reads.push(InputRead { symbol, condition, function, ty, part, writes });
    }
}
