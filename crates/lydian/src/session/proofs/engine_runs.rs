//! Tests made of the runs that the engines of proofs find.
//!
//! A run of the encoded function has a value for each parameter and each variable of the program, and one
//! array of bytes for the memory behind pointers. Types say where in this memory pointers are, and what they
//! lead to: from the parameters on, each pointer gets an object of its type with the bytes that lie at its
//! address. How large objects are is a guess. So a test counts as it is measured, and claims nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::measurement::placement::place_objects;
use lydian_inputs::globals::GlobalUses;
use lydian_inputs::place::InputPlace;
use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::scalars::{ScalarKind, scalars};
use lydian_ir::test::{
    ExternalResult, ExternalWrite, GlobalInput, INPUT_REGION, Image, ImagePointer, PointerTarget,
    Test, TestObject,
};
use lydian_ir::{CType, CTypeId, CTypes, Field, FuncId, IntKind, LocalId, Program, Storage};
use lydian_prove::encode::provenance::{OriginKind, VariablePlace};
use lydian_prove::encode::{Encoded, InputRead};
use lydian_prove::engines::Trace;
use lydian_prove::system::{GoalId, VarId};
use lydian_smt::{ArrayValue, Evaluator, Model, TermPool, Value};

/// The most objects of a test.
const MOST_OBJECTS: usize = 24;
/// The first address for pointers that the run says nothing about, and the distance to the next. As a number
/// that is no pointer such an address stands for one.
const FREE: (u64, u64) = (1 << 37, 1 << 20);

/// How large objects are.
#[derive(Clone, Copy)]
struct Room {
    /// The characters of a string, and of memory whose type is not known.
    characters: u64,
    /// The elements of other types.
    elements: u64,
}

/// The sizes of objects that are tried, the smallest first.
const ROOMS: [Room; 2] =
    [Room { characters: 32, elements: 1 }, Room { characters: 1024, elements: 64 }];

/// The tests that a run to a goal may stand for, the smallest first; none if its inputs have no form as a
/// test.
pub(super) fn tests_of_run(
    (program, uses, entry): (&Program, &GlobalUses, FuncId),
    (pool, encoded): (&mut TermPool, &Encoded),
    (goal, trace): (GoalId, &Trace),
) -> Vec<Test> {
    let Some(first) = trace.steps.first() else { return Vec::new() };
    let initial = encoded.system.variables.ids().zip(&encoded.system.initial);
    let free = initial
        .filter(|(_, term)| pool.var_name(**term).is_some() && trace.initial.get(**term).is_none());
    let free = free.map(|(variable, _)| variable).collect();
    let calls = calls(program, (pool, encoded), (goal, trace));
    let run = RunInputs { program, uses, entry, encoded, begin: &first.values, free, calls };
    let mut tests: Vec<Test> = Vec::new();
    for room in ROOMS {
        let test = TestMaker::new(&run, room).test();
        tests.extend(test.filter(|test| !tests.contains(test)));
    }
    tests
}

/// What a run takes from outside.
struct RunInputs<'a> {
    program: &'a Program,
    uses: &'a GlobalUses,
    entry: FuncId,
    encoded: &'a Encoded,
    /// The values where the run begins.
    begin: &'a Model,
    /// The variables that the run says nothing about.
    free: BTreeSet<VarId>,
    calls: Vec<OutsideCall<'a>>,
}

/// A call of an undefined function. The run says nothing about values that are none.
struct OutsideCall<'a> {
    read: &'a InputRead,
    result: Option<Value>,
    /// The memory that is no object of the program, behind the call, if the call may write there.
    memory: Option<Value>,
    /// Parts of objects that the arguments lead to, behind the call.
    parts: Vec<(VariablePlace, Option<Value>)>,
    /// The address that each argument is, and its type.
    args: Vec<(Option<u64>, CTypeId)>,
}

/// The calls of undefined functions in the order of a run.
fn calls<'a>(
    program: &Program,
    (pool, encoded): (&mut TermPool, &'a Encoded),
    (goal, trace): (GoalId, &Trace),
) -> Vec<OutsideCall<'a>> {
    let is_undefined = |name: &str| {
        let function = program.function_named(name);
        function.is_some_and(|function| program.functions[function].body.is_none())
    };
    let mut evaluator = Evaluator::new();
    let mut calls = Vec::new();
    for step in &trace.steps {
        for read in encoded.inputs_of_step(goal, step.choice) {
            let is_call =
                is_undefined(&read.function) && evaluator.holds(pool, &step.values, read.condition);
            if !is_call {
                continue;
            }
            let mut value = |term| {
                let is_free = pool.var_name(term).is_some() && step.values.get(term).is_none();
                (!is_free).then(|| evaluator.eval(pool, &step.values, term))
            };
            let result = value(read.symbol);
            let (mut parts, mut args, mut memory) = (Vec::new(), Vec::new(), None);
            if let Some(writes) = &read.writes {
                parts.extend(writes.parts.iter().map(|(place, term)| (*place, value(*term))));
                let address = |value: Value| value.to_u64();
                args.extend(
                    writes.args.iter().map(|(term, ty)| (value(*term).and_then(address), *ty)),
                );
                memory = writes.memory.map(|term| value(term).unwrap_or_else(nothing));
            }
            calls.push(OutsideCall { read, result, memory, parts, args });
        }
    }
    calls
}

/// Memory of zeros.
fn nothing() -> Value {
    Value::Array(Arc::new(ArrayValue { default: 0, elements: BTreeMap::new() }))
}

/// An object of the memory behind pointers.
struct Planned {
    /// The address of its first byte in the run.
    address: u64,
    ty: CTypeId,
    count: u64,
    contents: Vec<u8>,
    place: InputPlace,
}

impl Planned {
    fn has(&self, address: u64) -> bool {
        address.wrapping_sub(self.address) < self.contents.len() as u64
    }
}

/// Makes a test of a run.
struct TestMaker<'r, 'a> {
    run: &'r RunInputs<'a>,
    room: Room,
    /// The memory that is no object of the program, as it is meanwhile.
    memory: Option<&'r Value>,
    /// The next address for a pointer that the run says nothing about.
    next: u64,
    objects: Vec<Planned>,
    /// The first of the objects, with their contents.
    made: Vec<TestObject>,
}

impl<'r, 'a> TestMaker<'r, 'a> {
    fn new(run: &'r RunInputs<'a>, room: Room) -> Self {
        let variable = run.encoded.provenance.outside;
        let symbol = variable.map(|variable| run.encoded.system.variables[variable].symbol);
        let memory = symbol.and_then(|symbol| run.begin.get(symbol));
        Self { run, room, memory, next: FREE.0, objects: Vec::new(), made: Vec::new() }
    }

    fn test(mut self) -> Option<Test> {
        let function = &self.run.program.functions[self.run.entry];
        let body = function.body.as_ref()?;
        let mut args = Vec::new();
        for param in &body.params {
            let local = &body.locals[*param];
            let place = InputPlace::root(&local.name);
            let bytes = self.argument(*param, &local.storage, local.ty)?;
            args.push(self.image(bytes, local.ty, (&place, false)));
        }
        let globals = self.globals();
        self.finish();
        let externals = self.run.calls.iter().map(|call| self.external(call)).collect();
        place_objects(self.made.iter_mut(), 0);
        let test = Test::calling(function.name.clone(), args);
        Some(Test { objects: self.made, globals, externals, ..test })
    }

    /// The bytes of an argument.
    fn argument(&mut self, param: LocalId, storage: &Storage, ty: CTypeId) -> Option<Vec<u8>> {
        let size = self.run.program.types.size(ty)? as usize;
        if let Storage::Memory { .. } = storage {
            let mut bytes = vec![0; size];
            self.put_object(&mut bytes, OriginKind::Local(0, param));
            return Some(bytes);
        }
        let is_register = |place: &Option<VariablePlace>| matches!(place, Some(VariablePlace::Register(0, local)) if *local == param);
        let mut places = self.run.encoded.provenance.variables.iter();
        let variable = places.find(|(_, place)| is_register(place)).map(|(variable, _)| variable);
        let value = match variable.filter(|variable| !self.run.free.contains(variable)) {
            Some(variable) => self.value(variable).cloned().unwrap_or(Value::Bool(false)),
            None => self.free(size as u64),
        };
        Some(bytes_of(&value, size))
    }

    /// The value of a variable where the run begins.
    fn value(&self, variable: VarId) -> Option<&'r Value> {
        self.run.begin.get(self.run.encoded.system.variables[variable].symbol)
    }

    /// Puts the values of the variables that hold an object's contents into its bytes.
    fn put_object(&mut self, bytes: &mut [u8], kind: OriginKind) {
        for (variable, place) in self.run.encoded.provenance.variables.iter() {
            let (Some(place), Some(value)) = (place, self.value(variable)) else { continue };
            match self.run.free.contains(&variable) {
                true => {
                    let value = self.free_part(place);
                    self.put_part(bytes, (place, &value), kind);
                }
                false => _ = self.put_part(bytes, (place, value), kind),
            }
        }
    }

    /// Puts a part of an object into its bytes, if it is one.
    fn put_part(
        &self,
        bytes: &mut [u8],
        (place, value): (&VariablePlace, &Value),
        kind: OriginKind,
    ) -> bool {
        let is_it = |object: usize| self.run.encoded.provenance.objects[object].kind == kind;
        match (*place, value) {
            (VariablePlace::Bytes { object, offset, size, .. }, value) if is_it(object) => {
                put(bytes, offset, &bytes_of(value, size as usize));
                true
            }
            (VariablePlace::Elements { object, offset, size, period, .. }, Value::Array(array))
                if is_it(object) =>
            {
                let places = (offset..bytes.len() as u64).step_by(period as usize);
                for (index, at) in (0..).zip(places) {
                    let element = array.get(index).to_le_bytes();
                    put(bytes, at, &element[..(size as usize).min(8)]);
                }
                true
            }
            _ => false,
        }
    }

    /// A value of so many bytes that the run says nothing about: an address, or a small number.
    fn free(&mut self, size: u64) -> Value {
        self.next += FREE.1;
        Value::Bits { width: 64, value: if size == 8 { self.next } else { 1 } }
    }

    /// The same for a part of an object.
    fn free_part(&mut self, place: &VariablePlace) -> Value {
        match *place {
            VariablePlace::Bytes { size: size @ ..=8, float: false, .. } => self.free(size),
            _ => Value::Bool(false),
        }
    }

    /// The result of an undefined function, and what it writes.
    fn external(&mut self, call: &'r OutsideCall<'a>) -> ExternalResult {
        self.memory = call.memory.as_ref().or(self.memory);
        let types = &self.run.program.types;
        let (function, ty) = (&call.read.function, call.read.ty);
        let size = types.size(ty).unwrap_or(0);
        let place = InputPlace::root(format!("{function}()"));
        let value = call.result.clone().unwrap_or_else(|| self.free(size));
        let result = self.image(bytes_of(&value, size as usize), ty, (&place, false));
        let mut parts = Vec::new();
        for (place, value) in &call.parts {
            parts.push((*place, value.clone().unwrap_or_else(|| self.free_part(place))));
        }
        let mut writes = Vec::new();
        for (at, (address, ty)) in (0..).zip(&call.args) {
            let CType::Pointer { pointee, to_const: false } = *types.get(*ty) else { continue };
            let Some(address) = address else { continue };
            let Some((bytes, ty)) = self.written_at(*address, pointee, &parts) else { continue };
            let image = self.image(bytes, ty, (&place, true));
            writes.push(ExternalWrite::behind_argument(at, 0, image));
        }
        self.finish();
        ExternalResult { writes, ..ExternalResult::new(function, result) }
    }

    /// What a call wrote from an address on, and its type.
    fn written_at(
        &self,
        address: u64,
        pointee: CTypeId,
        parts: &[(VariablePlace, Value)],
    ) -> Option<(Vec<u8>, CTypeId)> {
        if let Some(object) = self.objects.iter().find(|object| object.has(address)) {
            let room = object.contents.len() as u64 - (address - object.address);
            return Some((self.outside(address, room), object.ty));
        }
        for origin in &self.run.encoded.provenance.objects {
            let size = self.size_of(&origin.kind)?;
            let distance = address.wrapping_sub(origin.address);
            if distance >= size {
                continue;
            }
            let mut bytes = vec![0; size as usize];
            let mut is_written = false;
            for (place, value) in parts {
                is_written |= self.put_part(&mut bytes, (place, value), origin.kind);
            }
            let of_type = self.run.program.types.size(pointee).unwrap_or(0);
            let length = if of_type > 1 { of_type.min(size - distance) } else { size - distance };
            bytes.drain(..distance as usize);
            bytes.truncate(length as usize);
            return is_written.then_some((bytes, pointee));
        }
        None
    }

    /// The bytes of an object of the program; none are known of allocated ones.
    fn size_of(&self, kind: &OriginKind) -> Option<u64> {
        match *kind {
            OriginKind::Global(global) => Some(self.run.program.globals[global].size),
            OriginKind::Local(instance, local) => {
                let function = self.run.encoded.provenance.instances[instance].function;
                let body = self.run.program.functions[function].body.as_ref()?;
                match body.locals[local].storage {
                    Storage::Memory { size, .. } => Some(size),
                    Storage::Register(_) => Some(0),
                }
            }
            OriginKind::Allocated { .. } => Some(0),
        }
    }

    /// The globals whose contents the run begins with. Others keep their first values: a test of a run that
    /// needs another one covers less.
    fn globals(&mut self) -> Vec<GlobalInput> {
        let origins = &self.run.encoded.provenance;
        let held: BTreeSet<usize> =
            origins.variables.values().flatten().filter_map(object).collect();
        let mut found = Vec::new();
        for kind in held.into_iter().map(|object| origins.objects[object].kind) {
            let OriginKind::Global(id) = kind else { continue };
            let global = &self.run.program.globals[id];
            if !self.run.uses.can_differ(self.run.program, id) {
                continue;
            }
            let Image { mut bytes, pointers } = Image::initial(self.run.program, id);
            self.put_object(&mut bytes, kind);
            let place = InputPlace::root(&global.name);
            let mut image = self.image(bytes, global.ty, (&place, false));
            let is_other = |pointer: &ImagePointer| {
                let word = image.bytes.get(pointer.offset as usize..).unwrap_or_default();
                word.iter().take(8).all(|byte| *byte == 0)
            };
            let kept: Vec<ImagePointer> = pointers.into_iter().filter(is_other).collect();
            image.pointers.extend(kept);
            image.pointers.sort_by_key(|pointer| pointer.offset);
            found.push(GlobalInput { name: global.name.clone(), image });
        }
        found
    }

    /// The bytes of a value, or of elements that a pointer leads to, with the pointers among them.
    fn image(
        &mut self,
        mut bytes: Vec<u8>,
        ty: CTypeId,
        (place, is_object): (&InputPlace, bool),
    ) -> Image {
        let types = &self.run.program.types;
        let size = types.size(ty).filter(|size| *size > 0).unwrap_or(1);
        let mut pointers = Vec::new();
        for scalar in scalars(types, ty, bytes.len() as u64) {
            let (from, to) = (scalar.offset as usize, (scalar.offset + scalar.size) as usize);
            let mut word = [0; 8];
            let taken = (to - from).min(8);
            word[..taken].copy_from_slice(&bytes[from..from + taken]);
            let address = u64::from_le_bytes(word);
            if scalar.kind != ScalarKind::Pointer {
                if taken == 8 && (FREE.0..=self.next).contains(&address) {
                    bytes[from..from + 8].copy_from_slice(&1u64.to_le_bytes());
                }
                continue;
            }
            let element = match is_object {
                true => place.index((scalar.offset / size) as i64),
                false => place.clone(),
            };
            let (own, pointer) = member(types, ty, scalar.offset % size, element);
            match self.target(address, types.pointee(pointer), own) {
                Some(target) => pointers.push(ImagePointer { offset: scalar.offset, target }),
                None => bytes[from..to].fill(0),
            }
        }
        Image { bytes, pointers }
    }

    /// What an address leads to; none for null.
    fn target(
        &mut self,
        address: u64,
        pointee: Option<CTypeId>,
        place: InputPlace,
    ) -> Option<PointerTarget> {
        if address < NULL_PAGE {
            return None;
        }
        let origins = &self.run.encoded.provenance;
        for (id, function) in self.run.program.functions.iter() {
            if origins.functions[id] == address {
                return Some(PointerTarget::Function(function.name.clone()));
            }
        }
        for origin in &origins.objects {
            let OriginKind::Global(global) = origin.kind else { continue };
            let global = &self.run.program.globals[global];
            let distance = address.wrapping_sub(origin.address);
            if distance <= global.size {
                return Some(PointerTarget::Global(global.name.clone(), distance));
            }
        }
        let index = match self.objects.iter().position(|object| object.has(address)) {
            Some(index) => index,
            None => self.plan(address, pointee?, place)?,
        };
        let distance = address - self.objects[index].address;
        Some(PointerTarget::Object(u32::try_from(index).ok()?, distance))
    }

    /// Plans an object at an address; none if there are enough.
    fn plan(&mut self, address: u64, pointee: CTypeId, place: InputPlace) -> Option<usize> {
        let types = &self.run.program.types;
        if self.objects.len() >= MOST_OBJECTS
            || matches!(types.get(pointee), CType::Function { .. })
        {
            return None;
        }
        let known = types.size(pointee).filter(|size| *size > 0);
        let character = || types.iter().map(|(ty, _)| ty).find(|ty| is_character(types, *ty));
        let (ty, size) = match known {
            Some(size) => (pointee, size),
            None => (character()?, 1),
        };
        let next = self.objects.iter().map(|object| object.address).filter(|at| *at > address);
        let room = next.min().map_or(u64::MAX, |next| next - address);
        let wanted = if size == 1 { self.room.characters } else { self.room.elements };
        let count = wanted.min(room / size);
        let contents = self.outside(address, count * size);
        (count > 0).then(|| {
            self.objects.push(Planned { address, ty, count, contents, place });
            self.objects.len() - 1
        })
    }

    /// Makes the objects that were planned since the last time, and those that they lead to.
    fn finish(&mut self) {
        while let Some(planned) = self.objects.get(self.made.len()) {
            let (ty, count, place) = (planned.ty, planned.count, planned.place.clone());
            let contents = planned.contents.clone();
            let image = self.image(contents, ty, (&place, true));
            self.made.push(TestObject {
                name: place.to_string(),
                address: INPUT_REGION,
                ty,
                count,
                align: self.run.program.types.align(ty).max(16),
                image,
                read_only: false,
            });
        }
    }

    /// Bytes of the memory that is no object of the program.
    fn outside(&self, address: u64, count: u64) -> Vec<u8> {
        let Some(Value::Array(array)) = self.memory else { return vec![0; count as usize] };
        (0..count).map(|at| array.get(address.wrapping_add(at)) as u8).collect()
    }
}

/// The innermost member of a value at an offset, with its type.
fn member(types: &CTypes, ty: CTypeId, offset: u64, place: InputPlace) -> (InputPlace, CTypeId) {
    match types.get(ty) {
        CType::Array { element, .. } => {
            let size = types.size(*element).filter(|size| *size > 0).unwrap_or(1);
            let place = place.index((offset / size) as i64);
            member(types, *element, offset % size, place)
        }
        CType::Record(record) => {
            let begins = |field: &&Field| field.bits.is_none() && field.bit_offset / 8 <= offset;
            let fields = types.records[*record].fields.iter().filter(begins);
            // The largest of a union, as its scalars are those of this one.
            let later = |field: &&Field| (field.bit_offset, types.size(field.ty));
            let Some(field) = fields.max_by_key(later) else { return (place, ty) };
            let place = match field.name.as_str() {
                "" => place,
                name => place.field(name),
            };
            member(types, field.ty, offset - field.bit_offset / 8, place)
        }
        _ => (place, ty),
    }
}

/// The object that a variable holds a part of.
const fn object(place: &VariablePlace) -> Option<usize> {
    match *place {
        VariablePlace::Bytes { object, .. } | VariablePlace::Elements { object, .. } => {
            Some(object)
        }
        _ => None,
    }
}

fn is_character(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Int { kind: IntKind::Char, .. })
}

/// The first bytes of a value, the lowest first.
fn bytes_of(value: &Value, size: usize) -> Vec<u8> {
    let bits = value.to_wide().map_or(0, |wide| wide.low_u128());
    let mut bytes = bits.to_le_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

fn put(bytes: &mut [u8], offset: u64, part: &[u8]) {
    let from = (offset as usize).min(bytes.len());
    let to = (from + part.len()).min(bytes.len());
    bytes[from..to].copy_from_slice(&part[..to - from]);
}
