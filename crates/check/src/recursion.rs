//! Recursive functions, by contracts.
//!
//! A recursive instance is its function in any activation. A call of it goes on in two ways: to where the
//! function is entered, so that all that happens inside is seen; or, if it returns, behind the call, where
//! only the contract is known of the result and of memory that the function can know. A contract holds if
//! it is an invariant of the runs in which all calls satisfy it: of all returns, the first that does not
//! comes after calls that did (Hoare, *Procedures and Parameters: An Axiomatic Approach*, 1971). This is
//! partial correctness: a call that does not return leads to nothing behind it.
//!
//! All activations share the registers and objects of one instance. So none may know an object of another.

use std::collections::BTreeSet;

use lydian_ir::{StmtId, Storage};

use crate::checking::invariants::View;
use crate::document::{Origin, Place};
use crate::fault::Fault;
use crate::machine::{Machine, Scene};
use crate::objects::Objects;
use crate::pointers::Pointers;
use crate::state::{Key, OFFSET_BITS, State, Value};
use crate::terms::Sort;
use crate::unfolding::Unfolding;

/// A part of the state that has the value of another part where an activation began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) part: u32,
    pub(crate) instance: usize,
    /// The place of the other part.
    pub(crate) now: Place,
}

/// The parts of a certificate's state that keep values from the beginning of an activation.
pub(crate) fn kept_parts(places: impl Iterator<Item = Place>) -> Vec<Kept> {
    let kept = |(part, place): (usize, Place)| {
        let (instance, now) = match place {
            Place::Argument { instance, local } => (instance, Place::Register { instance, local }),
            Place::Before { instance, object, offset, size, float } => {
                (instance, Place::Bytes { object, offset, size, float })
            }
            _ => return None,
        };
        Some(Kept { part: part as u32, instance, now })
    };
    places.enumerate().filter_map(kept).collect()
}

/// The objects that recursive functions may know where they are entered: globals, what code that is not
/// known may know, what their parameters point to, and what can be reached from there.
///
/// # Errors
/// One of them is of an activation of a recursive function.
pub(crate) fn visible_objects(
    unfolding: &Unfolding<'_>,
    objects: &Objects,
    pointers: &Pointers,
) -> Result<BTreeSet<usize>, Fault> {
    let mut found = BTreeSet::new();
    if unfolding.instances.iter().all(|instance| instance.ends.is_none()) {
        return Ok(found);
    }
    let is_global = |object: &usize| matches!(objects.all[*object].origin, Origin::Global { .. });
    let mut waiting: Vec<usize> = (0..objects.all.len()).filter(is_global).collect();
    waiting.extend(&pointers.known_outside);
    let recursive = unfolding.instances.iter().enumerate();
    for (at, instance) in recursive.filter(|(_, instance)| instance.ends.is_some()) {
        for param in &instance.body.params {
            waiting.extend(match instance.body.locals[*param].storage {
                Storage::Register(_) => pointers.candidates(&pointers.of_register(at, *param)),
                Storage::Memory { .. } => match objects.local(at, *param) {
                    Some(own) => pointers.candidates(pointers.contents(own)),
                    None => BTreeSet::new(),
                },
            });
        }
    }
    while let Some(object) = waiting.pop() {
        if found.insert(object) {
            waiting.extend(pointers.candidates(pointers.contents(object)));
        }
    }
    for object in &found {
        let content = &objects.all[*object];
        let (Origin::Local { instance, .. } | Origin::Allocated { instance, .. }) = content.origin
        else {
            continue;
        };
        if unfolding.instances[unfolding.root(instance)].ends.is_some() {
            let what = format!("{}, which several activations may know,", content.name);
            return Err(Fault::unsupported(what));
        }
    }
    Ok(found)
}

impl Scene<'_> {
    /// The parts that keep values from the beginning of an activation of an instance.
    pub(crate) fn kept_of(&self, instance: usize) -> impl Iterator<Item = Kept> + '_ {
        self.kept.iter().copied().filter(move |kept| kept.instance == instance)
    }

    /// Whether a place is of a global variable.
    pub(crate) fn is_in_global(&self, place: Place) -> bool {
        let Place::Bytes { object, .. } = place else { return false };
        matches!(self.objects.all[object].origin, Origin::Global { .. })
    }
}

impl Machine<'_, '_> {
    /// Leaves a node by a call of a recursive instance: the states where it is entered, and behind the
    /// call.
    pub(crate) fn leave_by_recursion(
        &mut self,
        (caller, stmt): (usize, StmtId),
        mut state: State,
        (callee, next): (usize, usize),
    ) -> Vec<(usize, State)> {
        self.come_to_call(&mut state, (caller, stmt));
        let instances = &self.scene.unfolding.instances;
        let Some(ends) = instances[callee].ends else { return Vec::new() };
        let (mut enter, mut after) = (state.clone(), state);
        self.begin_call(&mut enter, (caller, stmt), callee);
        self.keep_values(&mut enter, callee);
        self.forget_blocks(&mut enter, callee);
        // The ways exclude each other.
        let returns = self.terms.fresh("returns", Sort::Bool);
        let stays = self.terms.not(returns);
        after.guard = enter.guard;
        enter.assume(&mut self.terms, stays);
        after.assume(&mut self.terms, returns);
        self.forget_visible(&mut after);
        self.begin_anything(&mut after);
        let result = self.fresh(Key::Returned(callee));
        self.assume_contract(&mut after, (&enter, callee), result);
        self.set_result_of(&mut after, (caller, stmt), Some(result));
        vec![(ends.enter, enter), (next, after)]
    }

    /// Keeps the values that are there where an instance is entered.
    pub(crate) fn keep_values(&mut self, state: &mut State, instance: usize) {
        for kept in self.scene.kept_of(instance) {
            let value = self.raw(state, kept.now);
            state.set(Key::Before(kept.part), value);
        }
    }

    /// The value of a place as registers and memory have it, not as a float.
    fn raw(&mut self, state: &mut State, place: Place) -> Value {
        match place {
            Place::Register { instance, local } => self.get(state, Key::Register(instance, local)),
            Place::Bytes { object, offset, size, .. } => {
                let offset = self.terms.bits(OFFSET_BITS, offset.into());
                Value::plain(self.read(state, object, offset, size))
            }
            _ => Value::plain(self.any_bytes(1)),
        }
    }

    /// Gives any contents to the blocks that an activation may allocate: they are its own.
    fn forget_blocks(&mut self, state: &mut State, callee: usize) {
        for (object, content) in self.scene.objects.all.iter().enumerate() {
            let Origin::Allocated { instance, .. } = content.origin else { continue };
            if self.scene.unfolding.root(instance) == callee {
                self.set_contents(state, object, false);
                let end = self.fresh(Key::End(object));
                state.set(Key::End(object), end);
            }
        }
    }

    /// Gives any contents to what a recursive function may know.
    fn forget_visible(&mut self, state: &mut State) {
        for object in &self.scene.visible {
            if !self.scene.is_constant(*object) {
                self.havoc(state, *object);
            }
        }
    }

    /// Assumes that a call satisfied the contract of its function. `enter` is the state where it began.
    fn assume_contract(
        &mut self,
        after: &mut State,
        (enter, callee): (&State, usize),
        result: Value,
    ) {
        let mut there = after.clone();
        there.values.retain(|key, _| !matches!(key, Key::Ghost(_)));
        for kept in self.scene.kept_of(callee) {
            let before = enter.values.get(&Key::Before(kept.part)).copied();
            let before = before.unwrap_or_else(|| self.fresh(Key::Before(kept.part)));
            there.set(Key::Before(kept.part), before);
        }
        there.set(Key::Returned(callee), result);
        let invariants = self.invariants;
        for formula in invariants.contract(self.scene, callee) {
            let holds = formula.on(&mut View::new(self, &mut there, invariants));
            after.assume(&mut self.terms, holds);
        }
    }

    /// Ends an activation of a recursive instance with a value, if there is one.
    pub(crate) fn return_recursive(
        &mut self,
        state: &mut State,
        instance: usize,
        value: Option<Value>,
    ) {
        let key = Key::Returned(instance);
        let value = match value {
            Some(value) => self.coerced(value, self.scene.sort(key)),
            None => self.fresh(key),
        };
        state.set(key, value);
    }
}
