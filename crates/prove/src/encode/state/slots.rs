//! The parts of the state: each is a register, a stretch of memory, or a note for goals.

use lydian_base::Arena;
use lydian_eval::sort_of;
use lydian_ir::{ConditionId, DecisionId, GlobalInit, LocalId, Program, Storage, Target, Type};
use lydian_smt::Sort;
use rustc_hash::FxHashMap;

use crate::encode::ids::{InstanceId, ObjectId, SlotId};
use crate::encode::inlined::Inlined;
use crate::encode::memory::layout::{Cell, Layout};
use crate::encode::pointers::accesses::Accesses;
use crate::encode::pointers::objects::{ObjectKind, Objects};

/// The content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SlotKind {
    Register(InstanceId, LocalId),
    /// The address that an instance's struct or union result is copied to.
    ResultAddress(InstanceId),
    /// A cell of an object, by its position.
    Cell(ObjectId, usize),
    /// A lane of an object, by its position.
    Lane(ObjectId, usize),
    /// How many bytes of a region are allocated.
    End(ObjectId),
    /// Whether the last evaluation of a decision reached a condition.
    Reached(InstanceId, DecisionId, ConditionId),
    /// The value that the condition had there.
    Value(InstanceId, DecisionId, ConditionId),
    /// A truth value about a condition that was reached, by its position.
    Mutant(InstanceId, DecisionId, usize),
    /// Whether a run is in the midst of a sequence, in one activation or over all.
    Flag(Option<InstanceId>, usize),
    /// Memory that is no object of the program.
    Outside,
    /// The value that a parameter or a global had where a recursive function was entered, by its position.
    Before(InstanceId, usize),
    /// The result of a recursive function.
    Result(InstanceId),
}

/// A part of the state.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: SlotKind,
    pub(crate) sort: Sort,
    pub(crate) name: String,
}

/// All slots.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    pub(crate) all: Arena<SlotId, Slot>,
    of_kind: FxHashMap<SlotKind, SlotId>,
}

/// The layouts of all objects.
#[derive(Debug)]
pub(crate) struct Layouts {
    all: Vec<Layout>,
    /// The objects that nothing writes to: they have their initial contents.
    constant: Vec<bool>,
    pub(crate) target: Target,
}

impl Layouts {
    /// `is_whole` says that the run begins with the program, so that globals have their initial values.
    pub(crate) fn new(
        program: &Program,
        objects: &Objects,
        accesses: &Accesses,
        is_whole: bool,
    ) -> Self {
        let all = objects.all.ids().map(|id| Layout::new(objects, id, accesses)).collect();
        let constant = objects.all.iter().map(|(id, object)| {
            let is_known = match object.kind {
                ObjectKind::Global(global) => program.globals[global].init != GlobalInit::Extern,
                _ => false,
            };
            is_known && (object.read_only || is_whole && !accesses.written.contains(&id))
        });
        let constant = constant.collect();
        let target = program.types.target;
        Self { all, constant, target }
    }

    pub(crate) fn of(&self, object: ObjectId) -> &Layout {
        &self.all[lydian_base::EntityId::index(object)]
    }

    /// Whether a slot is of an object that nothing writes to.
    pub(crate) fn is_constant(&self, kind: SlotKind) -> bool {
        match kind {
            SlotKind::Cell(object, _) | SlotKind::Lane(object, _) => {
                self.constant[lydian_base::EntityId::index(object)]
            }
            _ => false,
        }
    }

    /// The sort of a cell's value: a float where all accesses are of that type, else its bytes.
    pub(crate) fn sort_of_cell(cell: &Cell) -> Sort {
        match cell.ty {
            Some(ty @ (Type::F32 | Type::F64)) => sort_of(ty),
            _ => Sort::BitVec(cell.size as u32 * 8),
        }
    }
}

impl Slots {
    /// Slots for the registers of all instances, and for what each object's layout says.
    pub(crate) fn new(inlined: &Inlined<'_>, objects: &Objects, layouts: &Layouts) -> Self {
        let mut slots = Self::default();
        for (id, instance) in inlined.instances.iter() {
            for (local, content) in instance.body.locals.iter() {
                if let Storage::Register(ty) = content.storage {
                    let name = match content.name.as_str() {
                        "" => format!("{}::{local}", instance.name),
                        name => format!("{}::{name}", instance.name),
                    };
                    slots.add(SlotKind::Register(id, local), sort_of(ty), name);
                }
            }
            let name = format!("{}::result", instance.name);
            slots.add(SlotKind::ResultAddress(id), Sort::BitVec(64), name);
        }
        for (id, object) in objects.all.iter() {
            slots.add_object(layouts.of(id), id, &object.name);
            if objects.sites.contains_key(&id) {
                slots.add(SlotKind::End(id), Sort::BitVec(64), format!("{}.end", object.name));
            }
        }
        slots
    }

    fn add_object(&mut self, layout: &Layout, object: ObjectId, name: &str) {
        match layout {
            Layout::Cells(cells) => {
                for (at, cell) in cells.iter().enumerate() {
                    let is_whole = cells.len() == 1 && cell.offset == 0;
                    let name = match is_whole {
                        true => name.to_owned(),
                        false => format!("{name}+{}", cell.offset),
                    };
                    self.add(SlotKind::Cell(object, at), Layouts::sort_of_cell(cell), name);
                }
            }
            Layout::Lanes(lanes) => {
                for (at, lane) in lanes.lanes.iter().enumerate() {
                    let element = lane.size as u32 * 8;
                    let sort = Sort::Array { index: lanes.index_bits, element };
                    let name = match lanes.lanes.len() {
                        1 => format!("{name}[]"),
                        _ => format!("{name}[]+{}", lane.offset),
                    };
                    self.add(SlotKind::Lane(object, at), sort, name);
                }
            }
        }
    }

    /// The slot of a kind, made if there is none.
    pub(crate) fn add(&mut self, kind: SlotKind, sort: Sort, name: String) -> SlotId {
        *self.of_kind.entry(kind).or_insert_with(|| self.all.push(Slot { kind, sort, name }))
    }

    /// The slot of a kind.
    pub(crate) fn of(&self, kind: SlotKind) -> Option<SlotId> {
        self.of_kind.get(&kind).copied()
    }

    /// All slots of an object's contents.
    pub(crate) fn of_object(&self, layouts: &Layouts, object: ObjectId) -> Vec<SlotId> {
        let kinds: Vec<SlotKind> = match layouts.of(object) {
            Layout::Cells(cells) => (0..cells.len()).map(|at| SlotKind::Cell(object, at)).collect(),
            Layout::Lanes(lanes) => {
                (0..lanes.lanes.len()).map(|at| SlotKind::Lane(object, at)).collect()
            }
        };
        kinds.into_iter().filter_map(|kind| self.of(kind)).collect()
    }
}
