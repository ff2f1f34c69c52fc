//! The memory objects of an inlined program, and the addresses that stand for theirs.
//!
//! An object is a global, a memory local of an instance, or a place that allocates memory. A place in a
//! loop allocates many blocks: its object is a region that they lie in one after the other.
//!
//! Addresses are numbers that tell objects apart, as in the exploration's memory. They mean nothing
//! else: where a program uses an address as a number, the encoding has any number there.

use lydian_base::{Arena, EntityId};
use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::libc::{AllocationFn, LibFn};
use lydian_ir::stmt::MAX_OBJECT;
use lydian_ir::{
    Callee, ExprId, FuncId, GlobalId, LocalId, Program, Stmt, StmtId, Storage, Target,
};
use rustc_hash::FxHashMap;

use crate::encode::ids::{InstanceId, ObjectId};
use crate::encode::inlined::Inlined;
use crate::encode::inlined::calls::{CallEffect, effect_of};
use crate::encode::inlined::graph::Graph;
use crate::encode::pointers::constant;
use crate::encode::request::EncodeError;

/// Bits of an address within an object, on 64-bit targets.
const AREA_SHIFT: u32 = 40;
/// The most objects on 64-bit targets.
const MOST_OBJECTS: usize = 1 << 22;
/// The address of the first function on 64-bit targets.
const FUNCTIONS: u64 = 1 << 62;
/// Bytes of a region on 32-bit targets.
const SMALL_REGION: u64 = 1 << 24;
/// The address of the first function on 32-bit targets.
const SMALL_FUNCTIONS: u64 = 0xf000_0000;

/// A memory object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    /// Its name for people.
    pub(crate) name: String,
    /// Its size in bytes; none where it is allocated while the program runs.
    pub(crate) size: Option<u64>,
    /// The address of its first byte.
    pub(crate) base: u64,
    /// Whether a write is a fault.
    pub(crate) read_only: bool,
}

/// The origin of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObjectKind {
    Global(GlobalId),
    Local(InstanceId, LocalId),
    Allocated(InstanceId, StmtId),
}

/// The blocks that a place allocates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocationSite {
    /// Whether it may allocate more than one.
    pub(crate) repeats: bool,
    /// The size of each block, if it is a constant.
    pub(crate) size: Option<u64>,
    /// Whether the bytes are zero at first.
    pub(crate) zeroed: bool,
}

impl AllocationSite {
    /// Distances between the beginnings of blocks are multiples of this. Blocks of a constant size are
    /// so far apart, and no address is the end of one and the beginning of the next.
    pub(crate) fn step(&self) -> u64 {
        let Some(size) = self.size else { return 16 };
        let size = size.min(MAX_OBJECT);
        let step = (size + 1).next_multiple_of(16);
        // Powers of two are simple to divide by.
        if size.is_power_of_two() { step.next_power_of_two() } else { step }
    }
}

/// All objects.
#[derive(Debug)]
pub(crate) struct Objects {
    pub(crate) all: Arena<ObjectId, Object>,
    pub(crate) sites: FxHashMap<ObjectId, AllocationSite>,
    of_kind: FxHashMap<ObjectKind, ObjectId>,
    target: Target,
}

impl Objects {
    pub(crate) fn new(inlined: &Inlined<'_>, graph: &Graph) -> Result<Self, EncodeError> {
        let target = inlined.program.types.target;
        let (all, of_kind) = (Arena::new(), FxHashMap::default());
        let mut objects = Self { all, sites: FxHashMap::default(), of_kind, target };
        for (id, global) in inlined.program.globals.iter() {
            let kind = ObjectKind::Global(id);
            let object = objects.add(kind, global.name.clone(), Some(global.size));
            objects.all[object].read_only = global.read_only;
        }
        for (id, instance) in inlined.instances.iter() {
            for (local, content) in instance.body.locals.iter() {
                if let Storage::Memory { size, .. } = content.storage {
                    let name = format!("{}::{}", instance.name, content.name);
                    objects.add(ObjectKind::Local(id, local), name, Some(size));
                }
            }
        }
        objects.add_sites(inlined, graph);
        objects.place()?;
        Ok(objects)
    }

    fn add(&mut self, kind: ObjectKind, name: String, size: Option<u64>) -> ObjectId {
        let id = self.all.push(Object { kind, name, size, base: 0, read_only: false });
        self.of_kind.insert(kind, id);
        id
    }

    fn add_sites(&mut self, inlined: &Inlined<'_>, graph: &Graph) {
        for (node, content) in inlined.nodes.iter() {
            let instance = &inlined.instances[content.instance];
            for stmt in inlined.stmts(node) {
                let Some(mut site) =
                    site_of(inlined.program, instance.body, &instance.body.stmts[stmt])
                else {
                    continue;
                };
                site.repeats = graph.is_in_cycle(node);
                let name = format!("{}::allocated{}", instance.name, stmt.index());
                let kind = ObjectKind::Allocated(content.instance, stmt);
                let object = self.add(kind, name, None);
                self.sites.insert(object, site);
            }
        }
    }

    /// Gives all objects their addresses.
    fn place(&mut self) -> Result<(), EncodeError> {
        let mut next = NULL_PAGE.next_multiple_of(1 << 16);
        for (id, object) in self.all.iter_mut() {
            if self.target == Target::X86_64 {
                let size = object.size.unwrap_or(0);
                if size >= 1 << (AREA_SHIFT - 2) || id.index() >= MOST_OBJECTS {
                    return Err(EncodeError::Unsupported(format!("the size of {}", object.name)));
                }
                let area = (id.index() as u64 + 1) << AREA_SHIFT;
                // In the middle, so that an address a little before it still tells the object.
                object.base = area | 1 << (AREA_SHIFT - 1);
                continue;
            }
            object.base = next;
            let size = object.size.unwrap_or(SMALL_REGION);
            next = next.saturating_add(size.saturating_mul(2).max(256)).next_multiple_of(256);
            if next >= SMALL_FUNCTIONS {
                return Err(EncodeError::Unsupported("so much memory".to_owned()));
            }
        }
        Ok(())
    }

    /// The most bytes that the blocks of a place may take together.
    pub(crate) fn region(&self) -> u64 {
        match self.target {
            Target::X86_64 => 1 << (AREA_SHIFT - 2),
            Target::I386 => SMALL_REGION,
        }
    }

    /// The first address of all objects, and how many bytes there are from there to their end.
    pub(crate) fn span(&self) -> (u64, u64) {
        if self.target == Target::X86_64 {
            return (1 << AREA_SHIFT, (self.all.len() as u64 + 1) << AREA_SHIFT);
        }
        let low = self.all.values().map(|object| object.base).min().unwrap_or(0);
        (low, SMALL_FUNCTIONS.saturating_sub(low))
    }

    /// The object of a kind.
    pub(crate) fn of(&self, kind: ObjectKind) -> Option<ObjectId> {
        self.of_kind.get(&kind).copied()
    }

    /// The address that stands for a function's.
    pub(crate) fn function_address(&self, function: FuncId) -> u64 {
        let first = match self.target {
            Target::X86_64 => FUNCTIONS,
            Target::I386 => SMALL_FUNCTIONS,
        };
        first + 16 * function.index() as u64
    }

    /// The object that was allocated at a place, if its address tells.
    pub(crate) fn at(&self, address: u64) -> Option<ObjectId> {
        if self.target != Target::X86_64 {
            return None;
        }
        let index = (address >> AREA_SHIFT).checked_sub(1)? as usize;
        (index < self.all.len()).then(|| ObjectId::from_index(index))
    }
}

/// The blocks that a statement allocates; none if it does not.
fn site_of(program: &Program, body: &lydian_ir::Body, stmt: &Stmt) -> Option<AllocationSite> {
    let constant = |expr: ExprId| constant(&body.exprs, expr);
    let site = |size, zeroed| Some(AllocationSite { repeats: false, size, zeroed });
    match stmt {
        Stmt::Alloca { size, .. } => site(constant(*size), false),
        Stmt::Call { callee: Callee::Direct(callee), args, .. } => {
            let CallEffect::Model(model) = effect_of(program, *callee) else { return None };
            match (model.function, &args[..]) {
                (LibFn::Allocation(AllocationFn::Malloc), [size]) => site(constant(*size), false),
                (LibFn::Allocation(AllocationFn::Calloc), [count, size]) => {
                    let size = constant(*count).zip(constant(*size));
                    site(size.and_then(|(count, size)| count.checked_mul(size)), true)
                }
                (LibFn::Allocation(AllocationFn::Realloc), [_, size]) => {
                    site(constant(*size), false)
                }
                (LibFn::Allocation(AllocationFn::Strdup | AllocationFn::Strndup), _) => {
                    site(None, false)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
