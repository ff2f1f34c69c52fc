//! The simulation of paths: what its parts share.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lydian_base::EntityId;
use lydian_ir::{
    CType, CTypeId, FuncId, GlobalId, GlobalInit, Program, RelocationTarget, StmtId, Storage, Type,
};
use rustc_hash::FxHashSet;

use crate::checking::invariants::Invariants;
use crate::document::{Origin, Place};
use crate::library::may_run;
use crate::meaning::sort_of;
use crate::monitor::Monitor;
use crate::objects::{Layout, Object, Objects, initial_number};
use crate::pointers::Pointers;
use crate::pointers::targets::Targets;
use crate::recursion::Kept;
use crate::state::{Base, Key, OFFSET_BITS, State, Value};
use crate::terms::{Sort, Term, Terms};
use crate::unfolding::Unfolding;

/// The most elements of an initial array that are given one by one.
const MOST_ELEMENTS: u64 = 1 << 12;

/// The program and what is known of it, whatever the state is.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) unfolding: Unfolding<'a>,
    pub(crate) objects: Objects,
    pub(crate) pointers: Pointers,
    /// The call that no run comes to, if that is the goal.
    pub(crate) error: Option<(FuncId, StmtId)>,
    /// The objectives that are goals otherwise.
    pub(crate) monitor: Monitor,
    /// The parts of the certificate's state that keep values from the beginning of an activation.
    pub(crate) kept: Vec<Kept>,
    /// The objects that recursive functions may know.
    pub(crate) visible: BTreeSet<usize>,
}

impl<'a> Scene<'a> {
    pub(crate) fn program(&self) -> &'a Program {
        self.unfolding.program
    }

    pub(crate) const fn address_bits(&self) -> u32 {
        self.objects.address_bits()
    }

    /// The functions that the goals lie in, by goal.
    pub(crate) fn goal_functions(&self) -> impl Iterator<Item = FuncId> {
        self.error.map(|(function, _)| function).into_iter().chain(self.monitor.goal_functions())
    }

    /// Whether nothing writes to an object, so that it has its initial contents.
    pub(crate) fn is_constant(&self, object: usize) -> bool {
        let Origin::Global { global } = self.objects.all[object].origin else { return false };
        let init = &self.program().globals[GlobalId::from_index(global as usize)].init;
        let pointers = &self.pointers;
        let is_known = pointers.calls_unknown && pointers.known_outside.contains(&object);
        let is_written = pointers.written.contains(&object) || is_known;
        let is_kept = !is_written && self.unfolding.beginning.is_of_program();
        *init != GlobalInit::Extern && (self.objects.all[object].read_only || is_kept)
    }

    /// The sort of a variable that is no ghost.
    pub(crate) fn sort(&self, key: Key) -> Sort {
        match key {
            Key::Register(instance, local) => {
                let locals = &self.unfolding.instances[instance].body.locals;
                match locals[lydian_ir::LocalId::from_index(local as usize)].storage {
                    Storage::Register(ty) => sort_of(ty, self.address_bits()),
                    Storage::Memory { .. } => Sort::Bits(self.address_bits()),
                }
            }
            Key::Result(_) => Sort::Bits(self.address_bits()),
            Key::Cell(object, at) => match &self.objects.all[object].layout {
                Layout::Cells(cells) => Sort::Bits(cells[at].1 as u32 * 8),
                Layout::Array { grain, .. } => Sort::Bits(*grain as u32 * 8),
            },
            Key::Array(object) => match self.objects.all[object].layout {
                Layout::Array { grain, index_bits } => Sort::Array(index_bits, grain as u32 * 8),
                Layout::Cells(_) => Sort::Array(1, 8),
            },
            Key::Before(part) => match self.kept.iter().find(|kept| kept.part == part) {
                Some(Kept { now: Place::Register { instance, local }, .. }) => {
                    self.sort(Key::Register(*instance, *local))
                }
                Some(Kept { now: Place::Bytes { size, .. }, .. }) => Sort::Bits(*size as u32 * 8),
                _ => Sort::Bool,
            },
            Key::Returned(instance) => {
                let program = self.program();
                let function = self.unfolding.instances[instance].function;
                match result_type(program, program.functions[function].ty) {
                    Some(ty) => sort_of(ty, self.address_bits()),
                    None => Sort::Bool,
                }
            }
            Key::End(_) | Key::Ghost(_) => Sort::Bits(64),
            Key::Note(_) => Sort::Bool,
        }
    }

    /// The name of a variable for people.
    fn name(&self, key: Key) -> String {
        match key {
            Key::Register(instance, local) => {
                let instance = &self.unfolding.instances[instance];
                let local = lydian_ir::LocalId::from_index(local as usize);
                let function = &self.program().functions[instance.function].name;
                match instance.body.locals[local].name.as_str() {
                    "" => format!("{function}::{local}"),
                    name => format!("{function}::{name}"),
                }
            }
            Key::Cell(object, _) | Key::Array(object) => self.objects.all[object].name.clone(),
            Key::End(object) => format!("{}.end", self.objects.all[object].name),
            Key::Result(_) | Key::Returned(_) => "result".to_owned(),
            Key::Ghost(part) | Key::Before(part) => format!("x{part}"),
            Key::Note(_) => "note".to_owned(),
        }
    }

    /// The functions that a call through a pointer may run without being followed.
    pub(crate) fn not_followed(&self, call: (usize, StmtId), targets: &Targets) -> Vec<FuncId> {
        let functions = targets.functions.iter().copied();
        let mut left: Vec<FuncId> =
            functions.filter(|function| !self.unfolding.follows(call, *function)).collect();
        if targets.any {
            left.extend(self.program().addressed_functions());
        }
        left
    }

    /// The variables of an object's contents.
    pub(crate) fn contents(&self, object: usize) -> Vec<Key> {
        match &self.objects.all[object].layout {
            Layout::Cells(cells) => (0..cells.len()).map(|at| Key::Cell(object, at)).collect(),
            Layout::Array { .. } => vec![Key::Array(object)],
        }
    }
}

/// Simulates paths. One machine makes one condition.
pub(crate) struct Machine<'s, 'a> {
    pub(crate) scene: &'s Scene<'a>,
    /// The invariants, of which those where functions return are contracts.
    pub(crate) invariants: &'s Invariants,
    pub(crate) terms: Terms,
    /// Where each goal was reached since the point.
    pub(crate) goals: Vec<Term>,
    may_run: BTreeMap<Vec<FuncId>, Rc<BTreeSet<FuncId>>>,
    /// The terms that are addresses of objects and functions.
    pub(crate) addresses: FxHashSet<Term>,
    /// The symbols for the parts of the certificate's state that are any values.
    pub(crate) any_values: BTreeMap<u32, Term>,
}

impl<'s, 'a> Machine<'s, 'a> {
    pub(crate) fn new(scene: &'s Scene<'a>, invariants: &'s Invariants) -> Self {
        let mut terms = Terms::default();
        let goals = vec![terms.truth(false); scene.goal_functions().count()];
        let (may_run, addresses) = (BTreeMap::new(), FxHashSet::default());
        let any_values = BTreeMap::new();
        Self { scene, invariants, terms, goals, may_run, addresses, any_values }
    }

    /// Any value of a variable.
    pub(crate) fn fresh(&mut self, key: Key) -> Value {
        fresh(self.scene, &mut self.terms, key)
    }

    /// The value of a variable.
    pub(crate) fn get(&mut self, state: &mut State, key: Key) -> Value {
        if let Some(value) = state.values.get(&key) {
            return *value;
        }
        let value = self.fresh(key);
        state.set(key, value);
        value
    }

    /// A state of any values, but for what nothing ever writes to.
    pub(crate) fn any_state(&mut self, guard: Term) -> State {
        let mut state = State { guard, values: BTreeMap::new() };
        for (at, instance) in self.scene.unfolding.instances.iter().enumerate() {
            for (local, content) in instance.body.locals.iter() {
                if matches!(content.storage, Storage::Register(_)) {
                    let key = Key::Register(at, local.index() as u32);
                    let value = self.fresh(key);
                    state.set(key, value);
                }
            }
            let value = self.fresh(Key::Result(at));
            state.set(Key::Result(at), value);
            if instance.ends.is_some() {
                let value = self.fresh(Key::Returned(at));
                state.set(Key::Returned(at), value);
            }
        }
        for note in &self.scene.monitor.notes {
            let value = self.fresh(Key::Note(*note));
            state.set(Key::Note(*note), value);
        }
        for kept in &self.scene.kept {
            let value = self.fresh(Key::Before(kept.part));
            state.set(Key::Before(kept.part), value);
        }
        for object in 0..self.scene.objects.all.len() {
            let is_constant = self.scene.is_constant(object);
            self.set_contents(&mut state, object, is_constant);
            if self.scene.objects.all[object].site.is_some() {
                let value = self.fresh(Key::End(object));
                state.set(Key::End(object), value);
            }
        }
        state
    }

    /// The state where runs begin.
    pub(crate) fn initial_state(&mut self) -> State {
        let guard = self.terms.truth(true);
        let mut state = self.any_state(guard);
        let is_whole = self.scene.unfolding.beginning.is_of_program();
        let no = Value::plain(self.terms.truth(false));
        for note in self.scene.monitor.notes.iter().filter(|_| is_whole) {
            state.set(Key::Note(*note), no);
        }
        for (object, content) in self.scene.objects.all.iter().enumerate() {
            let is_known = match content.origin {
                Origin::Global { .. } => is_whole || self.scene.is_constant(object),
                Origin::Local { .. } => false,
                Origin::Allocated { .. } => {
                    let zero = self.terms.bits(64, 0);
                    state.set(Key::End(object), Value::plain(zero));
                    content.site.is_some_and(|site| site.zeroed)
                }
            };
            if is_known {
                self.set_contents(&mut state, object, true);
            }
        }
        state
    }

    /// Gives an object its initial contents, or any.
    pub(crate) fn set_contents(&mut self, state: &mut State, object: usize, initial: bool) {
        for key in self.scene.contents(object) {
            let known = if initial { self.initial(object, key) } else { None };
            let value = known.unwrap_or_else(|| self.fresh(key));
            state.set(key, value);
        }
    }

    /// The initial value of a variable of an object.
    fn initial(&mut self, object: usize, key: Key) -> Option<Value> {
        let content = &self.scene.objects.all[object];
        match (&content.layout, key) {
            (Layout::Cells(cells), Key::Cell(_, at)) => self.initial_bytes(content, cells[at]),
            (Layout::Array { grain, index_bits }, _) => {
                self.initial_array(content, (*grain, *index_bits)).map(Value::plain)
            }
            _ => None,
        }
    }

    fn initial_array(&mut self, object: &Object, (grain, index_bits): (u64, u32)) -> Option<Term> {
        let sort = Sort::Array(index_bits, grain as u32 * 8);
        let zero = self.terms.bits(grain as u32 * 8, 0);
        let mut array = self.terms.uniform(sort, zero);
        let Origin::Global { global } = object.origin else { return Some(array) };
        let global = &self.scene.program().globals[GlobalId::from_index(global as usize)];
        let end = match &global.init {
            GlobalInit::Extern => return None,
            GlobalInit::Zero => return Some(array),
            GlobalInit::Data { items, relocations } => {
                let items = items.iter().map(|item| item.offset + item.bytes.len() as u64);
                let addresses = relocations.iter().map(|address| address.offset + 8);
                items.chain(addresses).max().unwrap_or(0)
            }
        };
        let count = end.min(global.size).div_ceil(grain);
        if count > MOST_ELEMENTS {
            return None;
        }
        for at in 0..count {
            let value = self.initial_bytes(object, (at * grain, grain));
            let element = match value {
                Some(value) => value.term,
                None => self.terms.fresh("initial", Sort::Bits(grain as u32 * 8)),
            };
            if element != zero {
                let index = self.terms.bits(index_bits, at.into());
                array = self.terms.store(array, index, element);
            }
        }
        Some(array)
    }

    /// The initial value of some bytes of an object.
    fn initial_bytes(&mut self, object: &Object, (offset, size): (u64, u64)) -> Option<Value> {
        let Origin::Global { global } = object.origin else {
            return Some(Value::plain(self.terms.bits(size as u32 * 8, 0)));
        };
        let id = GlobalId::from_index(global as usize);
        let program = self.scene.program();
        if let Some(number) = initial_number(program, id, (offset, size)) {
            return Some(Value::plain(self.terms.bits(size as u32 * 8, number)));
        }
        let GlobalInit::Data { relocations, .. } = &program.globals[id].init else { return None };
        let relocation = relocations.iter().find(|relocation| relocation.offset == offset)?;
        if size != program.types.target.pointer_bytes() {
            return None;
        }
        match relocation.target {
            RelocationTarget::Function(function) => Some(self.function_address(function)),
            RelocationTarget::Global(global) => {
                let object = self.scene.objects.global(global)?;
                let width = OFFSET_BITS;
                let offset = self.terms.bits(width, relocation.addend as u128);
                Some(self.address(Base { object, offset }))
            }
        }
    }

    /// The address of a function.
    pub(crate) fn function_address(&mut self, function: FuncId) -> Value {
        let address = self.scene.objects.functions.get(&(function.index() as u32));
        let width = self.scene.address_bits();
        let address = match address {
            Some(address) => self.terms.bits(width, (*address).into()),
            None => self.terms.fresh("function", Sort::Bits(width)),
        };
        self.addresses.insert(address);
        Value::plain(address)
    }

    /// An address in an object.
    pub(crate) fn address(&mut self, base: Base) -> Value {
        let start = self.scene.objects.all[base.object].address;
        let width = self.scene.address_bits();
        let start = self.terms.bits(width, start.into());
        let offset = self.terms.resize(base.offset, width);
        let term = self.terms.add(start, offset);
        self.addresses.insert(term);
        Value { term, base: Some(base) }
    }

    /// The functions that code which is not followed may run when some functions are called.
    pub(crate) fn may_run(&mut self, from: Vec<FuncId>) -> Rc<BTreeSet<FuncId>> {
        let program = self.scene.program();
        let run = |from: &Vec<FuncId>| Rc::new(may_run(program, from));
        self.may_run.entry(from).or_insert_with_key(run).clone()
    }

    /// Notes that a goal is reached where a condition holds.
    pub(crate) fn reach_goal(&mut self, goal: usize, condition: Term) {
        self.goals[goal] = self.terms.or(self.goals[goal], condition);
    }

    /// Notes that every goal is reached where a condition holds.
    pub(crate) fn reach_all(&mut self, condition: Term) {
        (0..self.goals.len()).for_each(|goal| self.reach_goal(goal, condition));
    }
}

/// The type of the number that functions of a type give, if they give one.
pub(crate) fn result_type(program: &Program, function: CTypeId) -> Option<Type> {
    match program.types.get(function) {
        CType::Function { result, .. } => program.types.scalar(*result),
        _ => None,
    }
}

/// Any value of a variable.
pub(crate) fn fresh(scene: &Scene<'_>, terms: &mut Terms, key: Key) -> Value {
    Value::plain(terms.fresh(&scene.name(key), scene.sort(key)))
}
