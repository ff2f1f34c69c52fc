//! Invariants of types: conditions that, as the user states, every object of a type among the
//! inputs meets when the function is called.
//!
//! An invariant is a function of a pointer to the object. It is evaluated where a path is about to
//! look at an object of the type for the first time. The evaluation is separate from the path, and
//! works on memory as the inputs first are ([`Engine::first_contents`]). The ordinary steps follow
//! all ways through the function, and their results are combined to one condition, under which the
//! path goes on. So the path does not fork, its own writes have no influence, and a way on which
//! the invariant traps does not meet it.
//!
//! Lazy objects behind pointers that the function follows come into being as on a path. They stay
//! with the path, since the condition refers to them: a pointer that is followed later may lead to
//! one of them. Their own invariants are not supposed before the path itself looks at them, so that
//! the evaluation of `self->next->prev` ends. No input is lost by that: paths suppose less than
//! holds. A test contains more objects than its path looked at, so [`Engine::meeting_invariants`]
//! supposes the invariants of all objects of a test before the test is given.

use std::collections::BTreeMap;
use std::sync::Arc;

use lydian_eval::to_bytes;
use lydian_inputs::concretise_with_objects;
use lydian_inputs::lazy::{LazyObject, PointerEntry, REACH, ROOM};
use lydian_inputs::{HeldObject, Invariant};
use lydian_ir::CType;
use lydian_smt::Term;
use rustc_hash::FxHashSet;

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::flow::Flow;
use crate::exploration::outcome::Unmet;
use crate::goals::hyper_rows::Trail;
use crate::goals::hyper_sequences::SequencesUnderWay;
use crate::limits::Cut;
use crate::machine::decision_log::DecisionLog;
use crate::machine::ending::Ending;
use crate::machine::inputs::invariants::MOST_OBJECTS;
use crate::machine::memory::PointerPlace;
use crate::machine::memory::{Background, Contents, Memory, NewObject, ObjectKind};
use crate::machine::program::context::Context;
use crate::machine::questions::Feasible;
use crate::machine::setup::add_input_object;
use crate::machine::state::Check;
use crate::machine::state::ReturnTo;

/// The most steps that the evaluation of one invariant takes.
const MOST_STEPS: u64 = 1 << 14;
/// The most objects that are tried as targets of one pointer.
const MOST_NEAR: usize = 32;
/// Message for a path on which no object meets its invariant.
const NONE_MEETS: &str = "a path on which an object does not meet its invariant";
/// Message where no test was found.
const NO_TEST: &str = "a test all of whose objects meet their invariants was not found";

/// The result of evaluating an invariant for an object.
struct InvariantCondition {
    /// The condition under which the object meets the invariant.
    holds: Term,
    /// Lazy objects that the evaluation looked at and that the path does not have.
    objects: Vec<Arc<LazyObject>>,
    /// Conditions under which pointers lead to these objects.
    leading: Vec<Term>,
    /// The addresses of the pointers that the evaluation followed and the path did not.
    followed: Vec<Term>,
}

/// An object of a test with an invariant that its path does not suppose.
struct UnsupposedObject {
    invariant: usize,
    address: u64,
    /// The lazy object that contains it, if any.
    lazy: Option<Arc<LazyObject>>,
}

impl Engine<'_, '_> {
    /// Supposes the invariants of structs that are passed by value, since the call itself looks at
    /// them.
    pub(crate) fn suppose_of_arguments(&mut self, state: &mut State) -> Result<(), Flow> {
        if self.machine.context.invariants.is_empty() {
            return Ok(());
        }
        let mut all = Vec::new();
        for (value, arg) in self.machine.arguments().iter().zip(&self.machine.plan.args) {
            if let (CType::Record(_), Some(address)) =
                (self.machine.context.program.types.get(arg.ty), self.machine.pool.as_u64(*value))
            {
                self.machine.context.invariants_within(arg.ty, address, &mut all);
            }
        }
        for (invariant, address) in all {
            let object = self.machine.pool.bv(64, address);
            if let flow @ Flow::Infeasible = self.suppose_invariant(state, invariant, object) {
                return Err(flow);
            }
        }
        Ok(())
    }

    /// Restricts the path to the inputs on which an object meets an invariant. The path is about to
    /// look at this object.
    pub(crate) fn suppose_invariant(
        &mut self,
        state: &mut State,
        invariant: usize,
        object: Term,
    ) -> Flow {
        let evaluated = self.evaluate_invariant(state, invariant, object);
        self.invariants_met.entry(invariant).or_default();
        if !self.machine.narrow(state, evaluated.holds, Cut::Unsupported(NONE_MEETS.into())) {
            self.retract_for(state, Cut::Unsupported(NONE_MEETS.into()));
            return Flow::Infeasible;
        }
        self.invariants_met.insert(invariant, true);
        Arc::make_mut(&mut state.inputs.met).insert((invariant, object));
        if !state.log.is_played() {
            self.lead_near(state, &evaluated.followed);
        }
        match add_objects(&mut state.memory, &evaluated.objects) {
            true => Flow::Yield,
            false => Flow::unsupported("more memory"),
        }
    }

    /// Lets pointers that an invariant followed lead to objects that already meet it, if possible.
    /// The test then has fewer objects, and no array for an element that may lie anywhere. Returns
    /// the condition, if it holds then.
    fn lead_near(&mut self, state: &mut State, followed: &[Term]) -> Option<Term> {
        if followed.is_empty() {
            return None;
        }
        let mut known: Vec<Term> = state.inputs.met.iter().map(|(_, object)| *object).collect();
        known.sort_unstable();
        known.dedup();
        known.truncate(MOST_NEAR);
        let pointers = self.machine.context.inputs.pointers(&self.machine.pool);
        let mut wish = self.machine.pool.tt();
        for address in followed {
            let pointer = pointers.iter().find(|pointer| pointer.address == *address);
            let null = pointer.and_then(|pointer| pointer.is_null);
            let places: Vec<Term> =
                known.iter().map(|object| self.machine.pool.eq(*address, *object)).collect();
            let near = self.machine.pool.or_all(places.into_iter().chain(null));
            wish = self.machine.pool.and(wish, near);
        }
        if !self.machine.evaluator.holds(&self.machine.pool, &state.model, wish) {
            let Feasible::Yes(model) = self.machine.ask_for_wish(state, wish) else {
                return None;
            };
            state.model = model;
        }
        Some(wish)
    }

    /// As [`Self::lead_near`]. With `keeps`, later models of a test must keep these targets.
    fn keep_near(&mut self, whole: &mut State, followed: &[Term], keeps: bool) -> bool {
        match self.lead_near(whole, followed) {
            Some(near) => !keeps || whole.add_fact(&mut self.machine.pool, near),
            None => false,
        }
    }

    /// As [`Self::keep_near`], for all pointers in the path's facts: together, or one by one where
    /// they cannot all lead to near objects.
    fn pull_near(&mut self, whole: &mut State, keeps: bool) {
        let mut symbols: FxHashSet<Term> = FxHashSet::default();
        for fact in whole.path.facts.iter() {
            symbols.extend(self.machine.pool.vars_of(*fact).iter());
        }
        let types = &self.machine.context.program.types;
        let mut pointers = self.machine.context.inputs.pointers(&self.machine.pool);
        pointers.retain(|PointerEntry { pointer, .. }| {
            let is_asked = pointer.symbol().is_some_and(|(symbol, _)| symbols.contains(&symbol));
            let to = types.pointee(pointer.ty);
            is_asked
                && pointer.depth > 0
                && to.is_some_and(|to| self.machine.context.has_invariants(to))
        });
        let all: Vec<Term> = pointers.iter().map(|pointer| pointer.address).collect();
        if !self.keep_near(whole, &all, keeps) {
            all.iter().for_each(|address| _ = self.keep_near(whole, &[*address], keeps));
        }
    }

    /// Evaluates an invariant on an object's first contents.
    fn evaluate_invariant(
        &mut self,
        state: &State,
        invariant: usize,
        object: Term,
    ) -> InvariantCondition {
        let known = state.path.facts.len();
        let ways = self.ways_through(state, invariant, object);
        let mut conditions = Vec::new();
        let (holds, followed) = (self.machine.pool.ff(), followed_by(&ways, state));
        let mut evaluated =
            InvariantCondition { holds, objects: Vec::new(), leading: Vec::new(), followed };
        let mut objects: BTreeMap<u64, Arc<LazyObject>> = BTreeMap::new();
        for way in &ways {
            let Some(value) = way.course.check.as_ref().and_then(|check| check.value) else {
                continue;
            };
            let value = to_bytes(&mut self.machine.pool, value);
            let value = self.machine.pool.is_nonzero(value);
            let facts: Vec<Term> =
                way.path.facts.iter().skip(known).copied().chain([value]).collect();
            let condition = self.machine.pool.and_all(facts);
            conditions.push((self.machine.pool.structure(condition), condition));
            if !collect_objects(state, way, &mut objects) {
                self.machine
                    .cut(Cut::Unsupported("an object that an invariant takes for two".into()));
                conditions.pop();
            }
        }
        conditions.sort_unstable();
        let conditions = conditions.into_iter().map(|(_, condition)| condition);
        evaluated.holds = self.machine.pool.or_all(conditions);
        evaluated.leading = leading_to(&ways, &objects);
        evaluated.objects = objects.into_values().collect();
        evaluated
    }

    /// Follows all ways through an invariant for an object, on memory as the inputs first are. A
    /// way that cannot be followed to its end is left out, and noted.
    fn ways_through(&mut self, state: &State, invariant: usize, object: Term) -> Vec<Box<State>> {
        let func = self.machine.context.invariants[invariant].function;
        let Some(body) = &self.machine.context.program.functions[func].body else {
            return Vec::new();
        };
        let mut first = beside(state);
        first.course.check = Some(Check::default());
        first.memory = self.first_contents(state);
        first.frames.clear();
        let taken = self.merging.scopes.take_forks();
        let mut ways = Vec::new();
        let entered = self.machine.enter(&mut first, func, body, &[object], ReturnTo::default());
        if self.settle(&mut first, entered).is_ok() {
            let mut waiting = vec![first];
            let mut steps = MOST_STEPS;
            while let Some(way) = waiting.pop() {
                ways.extend(self.follow_way(way, &mut steps));
                waiting.append(&mut self.merging.scopes.forks());
            }
        }
        self.merging.scopes.give_back(taken);
        ways
    }

    /// Follows one way to its end. Returns `None` where it does not return.
    fn follow_way(&mut self, mut way: Box<State>, steps: &mut u64) -> Option<Box<State>> {
        loop {
            if !self.activate_now(&mut way) {
                return None;
            }
            if *steps == 0 || self.is_out_of_time() {
                self.machine.cut(Cut::Unsupported("an invariant that takes too many steps".into()));
                return None;
            }
            *steps -= 1;
            match self.step(&mut way) {
                Ok(()) | Err(Flow::Yield) => {}
                Err(Flow::End(Ending::Returned)) if way.depends.are_some() => {
                    way.depends.cuts().into_iter().for_each(|cut| self.machine.cut(cut));
                    return None;
                }
                Err(Flow::End(Ending::Returned)) => return Some(way),
                Err(Flow::End(Ending::Cut(cut))) => {
                    self.machine.cut(cut);
                    return None;
                }
                // The invariant has no value on these inputs, so they do not meet it.
                Err(Flow::End(_) | Flow::Infeasible) => return None,
            }
        }
    }

    /// Memory as the inputs first are, with all lazy objects of a path.
    fn first_contents(&mut self, state: &State) -> Memory {
        let mut memory = self.machine.first_memory().clone();
        for object in state.inputs.externals.iter().flat_map(|call| &call.objects) {
            add_input_object(&mut self.machine.pool, &mut memory, object);
        }
        let firsts: Vec<Arc<LazyObject>> =
            state.memory.inputs().filter_map(|object| object.first.clone()).collect();
        add_objects(&mut memory, &firsts);
        memory
    }

    /// The path of a test with the invariants of all objects of the test, and a model that meets
    /// them. The result is `None` where no such path was found, and no test may be given then. It
    /// is `Some(None)` where there is no invariant to meet.
    #[expect(clippy::option_option, reason = "whether, and then what")]
    pub(crate) fn meeting_invariants(&mut self, state: &mut State) -> Option<Option<Box<State>>> {
        if self.machine.context.invariants.is_empty() || !state.has_begun(self.machine.roots.len())
        {
            return Some(None);
        }
        // A model that keeps the choices for one object may prevent those for another.
        let found = self.meeting_all(state, true);
        match found.or_else(|_| self.meeting_all(state, false)) {
            Ok(whole) => Some(Some(whole)),
            Err(cut) => {
                self.machine.cut(cut.clone());
                self.retract_for(state, cut);
                state.claims.keep = false;
                None
            }
        }
    }

    fn meeting_all(&mut self, state: &State, keeps: bool) -> Result<Box<State>, Cut> {
        let mut whole = beside(state);
        whole.claims.promises.clone_from(&state.claims.promises);
        self.pull_near(&mut whole, keeps);
        let mut count = 0;
        loop {
            let open = self.not_met(&whole);
            if open.is_empty() {
                return Ok(whole);
            }
            for UnsupposedObject { invariant, address, lazy } in open {
                count += 1;
                if count > MOST_OBJECTS || self.is_out_of_time() {
                    return Err(Cut::Unsupported(NO_TEST.into()));
                }
                if let Some(new) = lazy.filter(|lazy| !has_object(&whole.memory, lazy)) {
                    if self.do_without(&mut whole, &new) {
                        break; // the test has other objects now
                    }
                    add_objects(&mut whole.memory, &[new]);
                }
                let object = self.machine.pool.bv(64, address);
                self.meet_one(&mut whole, (invariant, object), keeps)?;
            }
        }
    }

    /// Lets pointers to an object that nobody followed be null in a test's model, or lead to an
    /// existing object, or at least to their home. Returns whether that is possible.
    fn do_without(&mut self, whole: &mut State, new: &LazyObject) -> bool {
        let known: Vec<u64> = whole
            .memory
            .inputs()
            .filter_map(|object| object.first.as_ref())
            .filter(|first| first.own.laid() == new.own.laid())
            .map(|first| first.home)
            .collect();
        let (mut fewer, mut homes) = (Vec::new(), Vec::new());
        for entry in self.machine.context.inputs.pointers(&self.machine.pool) {
            let PointerEntry { pointer, address, is_null: null } = entry;
            let (pool, evaluator) = (&mut self.machine.pool, &mut self.machine.evaluator);
            let is_null = null.is_some_and(|null| evaluator.holds(pool, &whole.model, null));
            let value = evaluator.eval_u64(pool, &whole.model, address);
            if is_null || value / ROOM != new.home / ROOM {
                continue;
            }
            let places = known.iter().copied().map(|home| {
                let home = pool.bv(64, home);
                pool.eq(address, home)
            });
            let elsewhere: Vec<Term> = places.collect();
            fewer.push(pool.or_all(elsewhere.into_iter().chain(null)));
            let home = pool.bv(64, pointer.home);
            homes.push(pool.eq(address, home));
        }
        let wishes = [self.machine.pool.and_all(fewer), self.machine.pool.and_all(homes)];
        wishes.into_iter().any(|wish| self.grant(whole, wish))
    }

    /// Makes a test's model meet a wish, if it does not and can. Returns whether it does.
    fn grant(&mut self, whole: &mut State, wish: Term) -> bool {
        if self.machine.evaluator.holds(&self.machine.pool, &whole.model, wish) {
            return false;
        }
        let Feasible::Yes(model) = self.machine.ask_for_wish(whole, wish) else {
            return false;
        };
        whole.model = model;
        whole.add_fact(&mut self.machine.pool, wish)
    }

    /// Makes the model of a test's path meet an invariant of one more object, with as few more
    /// objects as possible.
    fn meet_one(
        &mut self,
        whole: &mut State,
        (invariant, object): (usize, Term),
        keeps: bool,
    ) -> Result<(), Cut> {
        let InvariantCondition { holds, objects, leading, followed } =
            self.evaluate_invariant(whole, invariant, object);
        if !self.machine.evaluator.holds(&self.machine.pool, &whole.model, holds) {
            whole.model = match self.machine.ask_with_promises(whole, holds) {
                Feasible::Yes(model) => model,
                Feasible::No => return Err(Cut::Unsupported(NO_TEST.into())),
                Feasible::Unknown(cut) => return Err(cut),
            };
        }
        if !whole.add_fact(&mut self.machine.pool, holds) {
            return Err(Cut::Unsupported(NO_TEST.into()));
        }
        Arc::make_mut(&mut whole.inputs.met).insert((invariant, object));
        if !add_objects(&mut whole.memory, &objects) {
            return Err(Cut::Unsupported("more memory".into()));
        }
        if self.keep_near(whole, &followed, keeps) {
            return Ok(());
        }
        let led = leading
            .iter()
            .any(|way| self.machine.evaluator.holds(&self.machine.pool, &whole.model, *way));
        if led {
            let any = self.machine.pool.or_all(leading);
            let none = self.machine.pool.not(any);
            if let Feasible::Yes(model) = self.machine.ask_for_wish(whole, none) {
                whole.model = model;
            }
        }
        Ok(())
    }

    /// The objects of a test with invariants that its path does not suppose.
    fn not_met(&mut self, whole: &State) -> Vec<UnsupposedObject> {
        let model = &whole.model;
        let claims = whole.path.facts.iter().chain(&whole.claims.promises).copied();
        let needs = self.machine.needs_of(&whole.memory, model, claims);
        let (pool, evaluator) = (&self.machine.pool, &mut self.machine.evaluator);
        let met: FxHashSet<(usize, u64)> = whole
            .inputs
            .met
            .iter()
            .map(|(invariant, object)| (*invariant, evaluator.eval_u64(pool, model, *object)))
            .collect();
        let Context { program, .. } = &self.machine.context;
        let externals = &whole.inputs.externals;
        let (_, held) = concretise_with_objects(
            program,
            pool,
            &self.machine.plan,
            externals,
            model,
            &self.machine.context,
            needs,
        );
        let globals = self.machine.plan.globals.iter().map(|planned| {
            let global = &program.globals[planned.global];
            let address = lydian_inputs::Addresses::global(&self.machine.context, planned.global);
            HeldObject { address, element: global.ty, size: global.size, lazy: None }
        });
        let mut all = Vec::new();
        for HeldObject { address, element, size, lazy } in held.into_iter().chain(globals) {
            if !self.machine.context.has_invariants(element) {
                continue;
            }
            let period = program.types.size(element).unwrap_or(1).max(1);
            let mut within = Vec::new();
            for start in (address..address + size).step_by(period as usize) {
                self.machine.context.invariants_within(element, start, &mut within);
            }
            within.retain(|one| !met.contains(one));
            let open =
                |(invariant, address)| UnsupposedObject { invariant, address, lazy: lazy.clone() };
            all.extend(within.into_iter().map(open));
        }
        all
    }

    /// The user's statements about the inputs, as sentences.
    pub(crate) fn preconditions(&self) -> Vec<String> {
        let Context { program, spec, invariants, .. } = &self.machine.context;
        let stated = spec.preconditions_of(program, self.machine.plan.function).into_iter();
        let stated = stated.map(|(text, _)| format!("`{text}` holds when it is called"));
        let asked = self.invariants_met.keys().map(|at| invariants[*at].sentence());
        let sizes = self.machine.bounds.preconditions(&self.machine.plan.assumptions);
        stated.chain(asked).chain(sizes).collect()
    }

    /// The user's statements that no input meets, if everything was looked at.
    pub(crate) fn unmet(&mut self) -> Vec<Unmet> {
        if !self.machine.omissions.is_empty() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let stated = self
            .machine
            .context
            .spec
            .preconditions_of(self.machine.context.program, self.machine.plan.function);
        if !self.machine.begun && !stated.is_empty() {
            let texts = stated.into_iter().map(|(text, _)| text).collect();
            let is_bounded = !self.machine.bounds.met().is_empty();
            all.push(Unmet::Preconditions { texts, is_bounded });
        }
        let never = self.invariants_met.iter().filter(|(_, met)| !**met);
        let never: Vec<usize> = never.map(|(at, _)| *at).collect();
        for at in never {
            if self.contradicts_itself(at) {
                let Invariant { name, text, .. } = self.machine.context.invariants[at].clone();
                all.push(Unmet::Invariant { name, text });
            }
        }
        all
    }

    /// Whether no object at all meets an invariant.
    fn contradicts_itself(&mut self, invariant: usize) -> bool {
        let Context { program, inputs, .. } = &self.machine.context;
        let Invariant { ty, function, .. } = self.machine.context.invariants[invariant];
        let CType::Function { params, .. } = program.types.get(program.functions[function].ty)
        else {
            return false;
        };
        let Some(start) = self.machine.start() else { return false };
        let mut start = beside(start);
        let pool = &mut self.machine.pool;
        let address = inputs.pointer(pool, "any object", params[0], 0, false);
        let Some(pointer) = inputs.pointer_at(address) else { return false };
        let object = inputs.object(&program.types, &pointer, (ty, 0));
        let home = self.machine.pool.bv(64, object.home);
        add_objects(&mut start.memory, &[object]);
        let InvariantCondition { holds, .. } = self.evaluate_invariant(&start, invariant, home);
        self.machine.omissions.is_empty()
            && matches!(self.machine.ask(&start, Some(holds)), Feasible::No)
    }
}

/// Adds lazy objects of another memory. Returns false where there is no room.
fn add_objects(memory: &mut Memory, objects: &[Arc<LazyObject>]) -> bool {
    objects.iter().all(|object| {
        let object = object.clone();
        let (home, name) = (object.home, object.own.name.clone());
        let new = NewObject {
            size: ROOM,
            alignment: 1,
            length: None,
            kind: ObjectKind::Lazy,
            read_only: false,
            name,
            contents: Contents::new(Background::Lazy { object, rows: Default::default() }),
        };
        memory.object_near(home).is_some() || memory.allocate_at(home - REACH, new).is_some()
    })
}

/// Whether memory has a lazy object, at any address.
fn has_object(memory: &Memory, object: &LazyObject) -> bool {
    let mut firsts = memory.inputs().filter_map(|found| found.first.as_ref());
    firsts.any(|first| first.home == object.home)
}

/// The addresses of the pointers that some ways followed and a path did not.
fn followed_by(ways: &[Box<State>], state: &State) -> Vec<Term> {
    let all = ways.iter().flat_map(|way| way.path.expanded.keys().copied());
    let mut all: Vec<Term> =
        all.filter(|address| !state.path.expanded.contains_key(address)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The conditions under which pointers that some ways followed lead home, for homes in `objects`.
fn leading_to(ways: &[Box<State>], objects: &BTreeMap<u64, Arc<LazyObject>>) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for expansion in ways.iter().flat_map(|way| way.path.expanded.values()) {
        for PointerPlace { guard, address, distance } in &expansion.places {
            if distance.is_none() && objects.contains_key(address) && !found.contains(guard) {
                found.push(*guard);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Adds the lazy objects that an evaluation looked at and a path does not have. Returns whether
/// each is the same object in all ways.
fn collect_objects(
    state: &State,
    way: &State,
    objects: &mut BTreeMap<u64, Arc<LazyObject>>,
) -> bool {
    way.memory.inputs().all(|found| {
        let Some(first) = &found.first else { return true };
        let of_path = state.memory.inputs().filter_map(|object| object.first.as_ref());
        let known = of_path.into_iter().find(|known| known.home == first.home);
        match known.or_else(|| objects.get(&first.home)) {
            Some(known) => known == first,
            None => objects.insert(first.home, first.clone()).is_none(),
        }
    })
}

/// A new state with the facts and lazy objects of a path, to evaluate an invariant on.
fn beside(state: &State) -> Box<State> {
    let mut beside = state.fork();
    beside.passing.queue.clear();
    (beside.passing.evaluated, beside.passing.arrival) = (None, None);
    (beside.notes.goals.trail, beside.notes.goals.underway) =
        (Trail::default(), SequencesUnderWay::default());
    (beside.pending, beside.course.replay) = (false, false);
    (beside.log, beside.notes.merging.start) = (DecisionLog::default(), None);
    beside
}
