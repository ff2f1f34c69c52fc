//! From a model of a plan's symbols to a test.

pub mod relevant_inputs;
pub mod test_objects;

use std::collections::VecDeque;
use std::sync::Arc;

use lydian_ir::device::{DEVICE_READ, DevicePlace, ReadPlace};
use lydian_ir::test::{
    EarlierCall, ExternalResult, ExternalWrite, GlobalInput, Image, ImagePointer, PointerTarget,
    Test, TestObject, VariableArgument,
};
use lydian_ir::{CType, CTypeId, Global, GlobalId, GlobalInit, Program, Type};
use lydian_smt::{Evaluator, Model, Node, TermPool, UnOp, Value, Wide};

use crate::concretise::relevant_inputs::RelevantInputs;
use crate::concretise::test_objects::{Arena, Needs, canonical, is_address, signed_index};
use crate::lazy::shape::PartKind;
use crate::lazy::{LazyObject, REACH, Row, is_in_room};
use crate::plan::{
    ARGUMENT_ROOM, Addresses, CellPlan, ExternalPlan, GAP, InputPlan, ObjectPlan, WriteContents,
    WritePlan,
};

/// An object of a test and its counterpart in the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldObject {
    /// The address of the first byte in the engine.
    pub address: u64,
    /// The type of the elements, of which one begins there.
    pub element: CTypeId,
    /// Its size in bytes in the test.
    pub size: u64,
    /// The lazily initialised object that it was made from, if it was.
    pub lazy: Option<Arc<LazyObject>>,
}

/// The test for a model of a path. `needs` has the accesses to lazily initialised objects, and
/// `externals` the calls of undefined functions on the path and its variable arguments, in their order.
/// Objects that no pointer of the test reaches are left out. The others are exactly as long as the
/// model says.
pub fn concretise(
    program: &Program,
    pool: &TermPool,
    plan: &InputPlan,
    externals: &[Arc<ExternalPlan>],
    model: &Model,
    addresses: &dyn Addresses,
    needs: Needs,
) -> Test {
    concretise_with_objects(program, pool, plan, externals, model, addresses, needs).0
}

/// The same, with the objects behind pointers that the test has.
pub fn concretise_with_objects(
    program: &Program,
    pool: &TermPool,
    plan: &InputPlan,
    externals: &[Arc<ExternalPlan>],
    model: &Model,
    addresses: &dyn Addresses,
    mut needs: Needs,
) -> (Test, Vec<HeldObject>) {
    let next = externals.iter().map(|call| call.cursor.next).max();
    let next = next.unwrap_or(plan.cursor.next).max(plan.cursor.next);
    let objects = plan.objects.iter().chain(externals.iter().flat_map(|call| &call.objects));
    let mut evaluator = Evaluator::new();
    let writes = externals.iter().flat_map(|call| &call.writes);
    needs.touch_written((pool, &mut evaluator, model), writes);
    let mut reader = Reader {
        program,
        pool,
        model,
        addresses,
        evaluator,
        objects: objects.collect(),
        positions: Vec::new(),
        reached: Vec::new(),
        waiting: VecDeque::new(),
        arena: Arena::default(),
        relevant: &needs.relevant,
        next,
    };
    reader.positions = vec![None; reader.objects.len()];
    if let Some(inputs) = addresses.lazy() {
        let roots = reader.roots(plan, externals, &needs);
        let Reader { evaluator, .. } = &mut reader;
        reader.arena =
            Arena::lay_out(program, pool, inputs, evaluator, model, &needs, (&roots, next));
        reader.next = reader.arena.end().max(next);
    }
    let args = plan.args.iter().map(|arg| reader.image(arg.size, &arg.cells)).collect();
    let mut calls: Vec<Vec<Image>> = vec![args];
    let (further, externals): (Vec<_>, Vec<_>) =
        externals.iter().partition(|call| call.is_further_call());
    calls.extend(further.into_iter().map(|call| reader.further_arguments(plan, call)));
    let args = calls.pop().unwrap_or_default();
    let earlier = calls.into_iter().map(|args| EarlierCall { args, variable: Vec::new() });
    let globals =
        plan.globals.iter().filter_map(|global| reader.global(global.global, &global.cells));
    let globals = globals.collect();
    let (variable, externals): (Vec<_>, Vec<_>) =
        externals.into_iter().partition(|call| call.is_variable_argument());
    let variable = variable.into_iter().map(|argument| VariableArgument {
        ty: argument.ty,
        image: reader.image(argument.size, &argument.cells),
    });
    let variable = variable.collect();
    let results = externals.into_iter().map(|call| ExternalResult {
        function: call.function.clone(),
        result: reader.image(call.size, &call.cells),
        object: reader.named(call),
        writes: reader.writes(&call.writes),
    });
    let results = results.collect();
    let objects = reader.objects();
    let held = reader.held(&objects);
    let test = Test {
        function: program.functions[plan.function].name.clone(),
        earlier: earlier.collect(),
        objects,
        args,
        variable,
        globals,
        externals: results,
    };
    (test, held)
}

struct Reader<'a> {
    program: &'a Program,
    pool: &'a TermPool,
    model: &'a Model,
    addresses: &'a dyn Addresses,
    evaluator: Evaluator,
    /// All objects of the plan and of the calls.
    objects: Vec<&'a ObjectPlan>,
    /// The position of each in the test, once a pointer leads to it.
    positions: Vec<Option<u32>>,
    /// The objects in the order of the test.
    reached: Vec<ReachedObject>,
    /// Reached ones whose own pointers are not read yet.
    waiting: VecDeque<ReachedObject>,
    /// The lazily initialised objects.
    arena: Arena,
    /// The inputs that the test's claims depend on.
    relevant: &'a RelevantInputs,
    /// The next free address for objects.
    next: u64,
}

/// An object that a pointer of the test reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReachedObject {
    /// One of the plan or of a call, by its position.
    Planned(usize),
    /// A lazily initialised one, by its position.
    Lazy(usize),
    /// A string literal of the program, which has no name: the test has one with the same contents.
    Literal(GlobalId),
}

impl Reader<'_> {
    /// The image of some cells in zero bytes.
    fn image(&mut self, size: u64, cells: &[CellPlan]) -> Image {
        let mut image = Image { bytes: vec![0; size as usize], pointers: Vec::new() };
        self.write_cells(&mut image, cells);
        image
    }

    /// The arguments of a further call of the function under test.
    fn further_arguments(&mut self, plan: &InputPlan, call: &ExternalPlan) -> Vec<Image> {
        let images = plan.args.iter().enumerate().map(|(position, arg)| {
            let room = position as u64 * ARGUMENT_ROOM..(position as u64 + 1) * ARGUMENT_ROOM;
            let own = call.cells.iter().filter(|cell| room.contains(&cell.offset));
            let moved = |cell: &CellPlan| CellPlan { offset: cell.offset - room.start, ..*cell };
            let cells: Vec<CellPlan> = own.map(moved).collect();
            self.image(arg.size, &cells)
        });
        images.collect()
    }

    /// The values that a call writes under the model. Adjacent writes are one.
    fn writes(&mut self, plans: &[WritePlan]) -> Vec<ExternalWrite> {
        let mut writes: Vec<ExternalWrite> = Vec::new();
        for plan in plans {
            if !self.evaluator.holds(self.pool, self.model, plan.when) {
                continue;
            }
            for (offset, image) in self.pieces(plan) {
                match writes.last_mut() {
                    Some(last) if goes_on(last, plan, offset) => append(&mut last.image, image),
                    _ => writes.push(ExternalWrite {
                        to: plan.chain.to.clone(),
                        through: plan.chain.through.clone(),
                        offset,
                        image,
                    }),
                }
            }
        }
        for write in &mut writes {
            self.add_addresses_among_bytes(write);
        }
        writes
    }

    /// Makes pointers of words that are written byte by byte and that are addresses of objects of the
    /// test or of globals.
    fn add_addresses_among_bytes(&mut self, write: &mut ExternalWrite) {
        let first = write.offset.wrapping_neg() % 8;
        let end = write.image.bytes.len() as u64;
        for at in (first..end.saturating_sub(7)).step_by(8) {
            let known = &write.image.pointers;
            if known.iter().any(|pointer| pointer.offset.abs_diff(at) < 8) {
                continue;
            }
            let bytes = &write.image.bytes[at as usize..][..8];
            let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            if self.leads_into_test(word)
                && let Some(target) = self.target(word)
            {
                add_pointer(&mut write.image, at, target);
            }
        }
        write.image.pointers.sort_by_key(|pointer| pointer.offset);
    }

    /// Whether a number is the address of an object of the test, or of a global.
    fn leads_into_test(&self, number: u64) -> bool {
        match is_address(u128::from(number)) {
            true => self.arena.place_of(number).is_some(),
            false => self.global_at(number).is_some(),
        }
    }

    /// The pieces of one write, with their distances from the target.
    fn pieces(&mut self, plan: &WritePlan) -> Vec<(u64, Image)> {
        let from = plan.chain.from;
        let from = from.map_or(0, |from| self.evaluator.eval_u64(self.pool, self.model, from));
        let first = plan.offset.wrapping_sub(from);
        let length = plan.length;
        let length = length.map(|length| self.evaluator.eval_u64(self.pool, self.model, length));
        match &plan.contents {
            WriteContents::Cells { size, cells } => {
                let room = length.map_or(u64::MAX, |length| length.saturating_sub(plan.offset));
                let image = self.image((*size).min(room), cells);
                let is_any = !image.bytes.is_empty();
                is_any.then_some((first, image)).into_iter().collect()
            }
            WriteContents::Row { symbol, kind, of } => {
                let mut indices: Vec<u64> = self.relevant.elements(*symbol).collect();
                indices.sort_unstable();
                let array = self.evaluator.eval_array(self.pool, self.model, *symbol);
                let lazy = self.addresses.lazy();
                let mut pieces = Vec::new();
                for index in indices {
                    let element = WrittenElement { kind: *kind, of: of.as_ref(), index };
                    let Some(size) = self.written_bytes(plan, element, length) else { continue };
                    let bits = canonical(lazy, *kind, u128::from(array.get(index)));
                    let mut image = self.image_of(*kind, bits);
                    if size < kind.bytes() {
                        image.bytes.truncate(size as usize);
                        image.pointers.clear();
                    }
                    pieces.push((first.wrapping_add(element.place()), image));
                }
                pieces
            }
        }
    }

    /// The number of bytes of an element that the written object has; none if it has none. A claim
    /// may mention bytes beyond the object, which nothing reads.
    fn written_bytes(
        &self,
        plan: &WritePlan,
        element: WrittenElement<'_>,
        length: Option<u64>,
    ) -> Option<u64> {
        let size = element.kind.bytes();
        let size = match (length, element.of) {
            (Some(length), _) => {
                let at = plan.offset.wrapping_add(element.place());
                let room = (length as i64).saturating_sub(at as i64);
                size.min(u64::try_from(room).unwrap_or(0))
            }
            (None, Some((object, row))) => {
                let start = object.start_of(row, signed_index(element.index));
                size * u64::from(self.arena.has(object.home, (start, start + size as i64)))
            }
            (None, None) => size,
        };
        (size > 0).then_some(size)
    }

    /// The image of one value.
    fn image_of(&mut self, kind: PartKind, bits: u128) -> Image {
        let bytes = bits.to_le_bytes()[..kind.bytes() as usize].to_vec();
        let target = match kind {
            PartKind::Pointer(_) => self.target(bits as u64),
            _ => None,
        };
        let pointers = target.into_iter().map(|target| ImagePointer { offset: 0, target });
        Image { bytes, pointers: pointers.collect() }
    }

    fn write_cells(&mut self, image: &mut Image, cells: &[CellPlan]) {
        for cell in cells {
            let (offset, width) = (cell.offset as usize, cell.ty.bytes() as usize);
            if offset >= image.bytes.len() {
                continue; // beyond the object's length
            }
            let bits = self.bits(cell);
            let end = (offset + width).min(image.bytes.len());
            image.bytes[offset..end].copy_from_slice(&bits.to_le_bytes()[..end - offset]);
            // A number may be the address of an object of the test, or of a global.
            let may_be_pointer = match cell.ty {
                Type::Ptr => true,
                Type::Int(64) => self.leads_into_test(bits as u64),
                _ => false,
            };
            if may_be_pointer
                && end == offset + width
                && let Some(target) = self.target(bits as u64)
            {
                add_pointer(image, cell.offset, target);
            }
        }
    }

    /// The bits of a cell's value.
    fn bits(&mut self, cell: &CellPlan) -> u128 {
        // A float's bits are an input: as a value it may be a NaN, which has lost them.
        let bits = match self.pool.node(cell.value) {
            Node::Un(UnOp::FpFromBits, bits) => bits,
            _ => cell.value,
        };
        let value: Value = self.evaluator.eval(self.pool, self.model, bits);
        value.to_wide().as_ref().map_or(0, Wide::low_u128)
    }

    /// The program's name for the input of a call, or the place of a read in the script.
    fn named(&mut self, call: &ExternalPlan) -> Option<String> {
        let is_read = call.function == DEVICE_READ;
        if let (READ_ANYWHERE, [_, address]) = (call.object.as_deref()?, &call.cells[..]) {
            let address = self.bits(address) as u64;
            return Some(DevicePlace { address }.to_string());
        }
        let address = call.object.as_deref().filter(|_| is_read).and_then(read_address);
        match address.and_then(|address| self.target(address)) {
            Some(PointerTarget::Object(position, offset)) => {
                Some(ReadPlace::Object(position, offset).to_string())
            }
            _ => call.object.clone(),
        }
    }

    /// The target at an address; none for null and for bits that are no address.
    fn target(&mut self, address: u64) -> Option<PointerTarget> {
        if address == 0 {
            return None;
        }
        let function = self.addresses.lazy().and_then(|inputs| inputs.function_at(address));
        if let Some(function) = function {
            return Some(PointerTarget::Function(self.program.functions[function].name.clone()));
        }
        if is_address(u128::from(address)) {
            let (object, offset) = self.arena.place_of(address)?;
            return Some(PointerTarget::Object(
                self.position_of(ReachedObject::Lazy(object)),
                offset,
            ));
        }
        let holds = |object: &ObjectPlan| {
            object.address <= address && address <= object.address + object.size
        };
        if let Some(index) = self.objects.iter().copied().position(holds) {
            let offset = address - self.objects[index].address;
            return Some(PointerTarget::Object(self.position(index), offset));
        }
        let mut functions = self.program.functions.iter();
        if let Some((_, function)) =
            functions.find(|(id, _)| self.addresses.function(*id) == address)
        {
            return Some(PointerTarget::Function(function.name.clone()));
        }
        let mut streams = self.addresses.streams().iter();
        if let Some((holder, _)) = streams.find(|(_, stream)| *stream == address) {
            return Some(PointerTarget::Stream(self.program.globals[*holder].name.clone()));
        }
        let (id, offset) = self.global_at(address)?;
        Some(self.global_target(id, offset))
    }

    /// The global that an address leads into or just behind, and how far.
    fn global_at(&self, address: u64) -> Option<(GlobalId, u64)> {
        let globals = &self.program.globals;
        // They lie in their order, behind all small numbers.
        let (first, _) = globals.iter().next()?;
        if address < self.addresses.global(first) {
            return None;
        }
        globals.iter().find_map(|(id, global)| {
            let offset = address.checked_sub(self.addresses.global(id))?;
            (offset <= global.size).then_some((id, offset))
        })
    }

    /// The target of a pointer to a place in a global.
    fn global_target(&mut self, id: GlobalId, offset: u64) -> PointerTarget {
        let global = &self.program.globals[id];
        match is_literal(global) {
            true => PointerTarget::Object(self.position_of(ReachedObject::Literal(id)), offset),
            false => PointerTarget::Global(global.name.clone(), offset),
        }
    }

    fn position(&mut self, index: usize) -> u32 {
        if let Some(known) = self.positions[index] {
            return known;
        }
        let position = self.reach(ReachedObject::Planned(index));
        self.positions[index] = Some(position);
        position
    }

    fn position_of(&mut self, found: ReachedObject) -> u32 {
        match self.reached.iter().position(|known| *known == found) {
            Some(known) => known as u32,
            None => self.reach(found),
        }
    }

    fn reach(&mut self, found: ReachedObject) -> u32 {
        self.reached.push(found);
        self.waiting.push_back(found);
        (self.reached.len() - 1) as u32
    }

    /// The addresses that the values of the plan and of calls may be. A number is one if it leads to an
    /// object that the path accessed: a member of a union may be read as a pointer.
    fn roots(
        &mut self,
        plan: &InputPlan,
        externals: &[Arc<ExternalPlan>],
        needs: &Needs,
    ) -> Vec<u64> {
        let args = plan.args.iter().flat_map(|arg| &arg.cells);
        let globals = plan.globals.iter().flat_map(|global| &global.cells);
        let calls = externals.iter().flat_map(|call| {
            call.cells.iter().chain(call.writes.iter().flat_map(WritePlan::cells))
        });
        let objects: Vec<&ObjectPlan> = self.objects.clone();
        let objects = objects.into_iter().flat_map(|object| &object.cells);
        let cells = args.chain(globals).chain(calls).chain(objects);
        let words = cells.filter(|cell| matches!(cell.ty, Type::Ptr | Type::Int(64)));
        let words = words.map(|cell| (cell.ty, self.bits(cell) as u64));
        let accessed = || needs.accesses.iter().map(|seen| seen.object.home);
        let addresses = words.filter(|(ty, word)| {
            let leads = *ty == Type::Ptr || accessed().any(|home| is_in_room(home, *word));
            is_address(u128::from(*word)) && leads
        });
        addresses.map(|(_, word)| word).collect()
    }

    /// The objects that are reached, with those that they reach in turn.
    fn objects(&mut self) -> Vec<TestObject> {
        let mut made = Vec::new();
        while let Some(found) = self.waiting.pop_front() {
            made.push(match found {
                ReachedObject::Planned(index) => self.planned_object(index),
                ReachedObject::Lazy(object) => self.lazy_object(object),
                ReachedObject::Literal(global) => self.literal_object(global),
            });
        }
        made
    }

    /// The addresses of the test's objects in the engine.
    fn held(&self, objects: &[TestObject]) -> Vec<HeldObject> {
        let pairs = self.reached.iter().zip(objects);
        let held = pairs.map(|(found, object)| HeldObject {
            address: match found {
                ReachedObject::Planned(index) => self.objects[*index].address,
                ReachedObject::Lazy(at) => self.arena.first_byte(*at),
                ReachedObject::Literal(global) => self.addresses.global(*global),
            },
            element: object.ty,
            size: object.image.bytes.len() as u64,
            lazy: match found {
                ReachedObject::Planned(_) | ReachedObject::Literal(_) => None,
                ReachedObject::Lazy(at) => Some(self.arena.lazy_object(*at).clone()),
            },
        });
        held.collect()
    }

    fn planned_object(&mut self, index: usize) -> TestObject {
        let plan = self.objects[index];
        let length = plan.byte_length.map_or(plan.size, |length| {
            self.evaluator.eval_u64(self.pool, self.model, length).min(plan.size)
        });
        let element = self.program.types.size(plan.element).unwrap_or(1).max(1);
        TestObject {
            name: plan.name.clone(),
            address: plan.address,
            ty: plan.element,
            count: (length / element).min(plan.capacity),
            align: plan.align,
            image: self.image(length, &plan.cells),
            read_only: plan.read_only,
        }
    }

    /// An object with the contents of a string literal.
    fn literal_object(&mut self, id: GlobalId) -> TestObject {
        let global = &self.program.globals[id];
        let align = global.align.max(1);
        let address = self.next.next_multiple_of(align);
        self.next = address + global.size + GAP;
        let element = match self.program.types.get(global.ty) {
            CType::Array { element, .. } => *element,
            _ => global.ty,
        };
        let size = self.program.types.size(element).unwrap_or(1).max(1);
        TestObject {
            name: "literal".to_owned(),
            address,
            ty: element,
            count: global.size / size,
            align,
            image: Image::initial(self.program, id),
            read_only: true,
        }
    }

    /// A lazily initialised object, as far as the test has it.
    fn lazy_object(&mut self, object: usize) -> TestObject {
        let mut made = self.arena.object(object);
        for (offset, address) in self.arena.pointers(object) {
            if let Some(target) = self.target(address) {
                add_pointer(&mut made.image, offset, target);
            }
        }
        made
    }

    /// The contents of a global, if they are not its initial ones.
    fn global(&mut self, id: GlobalId, cells: &[CellPlan]) -> Option<GlobalInput> {
        let global = &self.program.globals[id];
        let initial = Image::initial(self.program, id);
        let mut image = initial.clone();
        let covered = |offset: u64| {
            cells.iter().any(|cell| cell.offset <= offset && offset < cell.offset + cell.ty.bytes())
        };
        image.pointers.retain(|pointer| !covered(pointer.offset));
        self.write_cells(&mut image, cells);
        image.pointers.sort_by_key(|pointer| pointer.offset);
        let pointers = |image: &Image| {
            let mut image = image.clone();
            for pointer in &image.pointers {
                let at = pointer.offset as usize;
                image.bytes[at..at + 8].fill(0);
            }
            image
        };
        let is_changed = pointers(&image) != pointers(&initial);
        if !is_changed && global.init != GlobalInit::Extern {
            return None;
        }
        for pointer in &mut image.pointers {
            let PointerTarget::Global(name, offset) = &pointer.target else { continue };
            if let Some(id) = self.program.global_named(name) {
                pointer.target = self.global_target(id, *offset);
            }
        }
        Some(GlobalInput { name: global.name.clone(), image })
    }
}

/// The place of a read at an address that depends on the input, until the test's model is known: the
/// address is the second cell.
pub const READ_ANYWHERE: &str = "@@";

/// The place of a read in an object of the inputs, until the objects of the test are known: an engine's
/// address.
pub fn read_at(address: u64) -> String {
    format!("@{address:x}")
}

/// The address of such a place.
fn read_address(place: &str) -> Option<u64> {
    u64::from_str_radix(place.strip_prefix('@')?, 16).ok()
}

/// An element of an array that a call writes.
#[derive(Clone, Copy)]
struct WrittenElement<'a> {
    kind: PartKind,
    /// The object and row that the array stands for; none if its elements are consecutive.
    of: Option<&'a (Arc<LazyObject>, Row)>,
    index: u64,
}

impl WrittenElement<'_> {
    /// The distance of its first byte from the start of the object's room.
    fn place(self) -> u64 {
        match self.of {
            Some((object, row)) => {
                REACH.wrapping_add_signed(object.start_of(row, signed_index(self.index)))
            }
            None => self.index * self.kind.bytes(),
        }
    }
}

/// Whether a write at an offset continues the one before it, along the same chain of pointers.
fn goes_on(last: &ExternalWrite, plan: &WritePlan, offset: u64) -> bool {
    last.to == plan.chain.to
        && last.through == plan.chain.through
        && last.offset.wrapping_add(last.image.bytes.len() as u64) == offset
}

/// Makes a pointer of the eight bytes at an offset, if there are so many: beyond the greatest size of an
/// object there are none.
fn add_pointer(image: &mut Image, offset: u64, target: PointerTarget) {
    let at = offset as usize;
    let Some(bytes) = image.bytes.get_mut(at..at.saturating_add(8)) else { return };
    if !matches!(target, PointerTarget::Object(..)) {
        // The engine's address has no meaning in the test.
        bytes.fill(0);
    }
    image.pointers.push(ImagePointer { offset, target });
}

/// Adds an image behind another.
fn append(image: &mut Image, more: Image) {
    let behind = image.bytes.len() as u64;
    image.bytes.extend(more.bytes);
    let moved = |pointer: ImagePointer| ImagePointer { offset: pointer.offset + behind, ..pointer };
    image.pointers.extend(more.pointers.into_iter().map(moved));
}

/// Whether a global is a string literal, which has no name in C.
fn is_literal(global: &Global) -> bool {
    global.name.starts_with(".str")
}
