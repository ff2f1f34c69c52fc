//! Memory objects: their sizes, the numbers that stand for their addresses, and the variables that hold
//! their contents.
//!
//! The certificate chooses the numbers. They are accepted if no two objects share an address, ends
//! included, and none is near null. A run can use them for nothing else than to tell objects apart.
//!
//! Contents are cells at fixed offsets, or one array of elements. Which of them is a matter of speed alone:
//! an access that fits neither gives any value, or leaves any contents.

use std::collections::BTreeMap;

use lydian_base::EntityId;
use lydian_ir::stmt::Callee;
use lydian_ir::{
    CType, CTypeId, CTypes, Expr, ExprId, GlobalId, GlobalInit, LocalId, Program, RelocationTarget,
    Stmt, StmtId, Storage, Target,
};

use crate::document::{Certificate, Origin, Place};
use crate::fault::Fault;
use crate::library::{Effect, effect_of};
use crate::pointers::NULL_PAGE;
use crate::unfolding::Unfolding;

/// Runs that allocate more bytes at one place are none of those that proofs are about. Where the
/// certificate sets a lower limit, the goal counts as reached beyond it.
pub(crate) const MOST_AT_ONE_PLACE: u64 = 1 << 38;

/// An object with more scalars than this is an array.
const MOST_CELLS: usize = 32;

/// The variables that hold the contents of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One for each of some stretches, by offset and size.
    Cells(Vec<(u64, u64)>),
    /// One array with elements of a size, a power of two, and the bits of an index.
    Array {
        /// Bytes of an element.
        grain: u64,
        /// Bits of an index.
        index_bits: u32,
    },
}

/// The blocks that a place allocates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) zeroed: bool,
    pub(crate) repeats: bool,
    pub(crate) step: Option<u64>,
    pub(crate) most: u64,
}

/// A memory object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) address: u64,
    /// The size; none for what is allocated.
    pub(crate) size: Option<u64>,
    pub(crate) site: Option<Site>,
    pub(crate) read_only: bool,
    pub(crate) layout: Layout,
}

impl Object {
    /// The most bytes that it has.
    pub(crate) fn extent(&self) -> u64 {
        self.size.or(self.site.map(|site| site.most)).unwrap_or(0)
    }

    /// Whether it may be more than one block.
    pub(crate) fn repeats(&self) -> bool {
        self.site.is_some_and(|site| site.repeats)
    }

    /// Whether some bytes may lie in it.
    pub(crate) fn has(&self, offset: u64, size: u64) -> bool {
        offset.checked_add(size).is_some_and(|end| end <= self.extent())
    }
}

/// All objects, and the addresses of functions.
#[derive(Debug)]
pub(crate) struct Objects {
    pub(crate) all: Vec<Object>,
    globals: BTreeMap<u32, usize>,
    locals: BTreeMap<(usize, u32), usize>,
    allocated: BTreeMap<(usize, u32), usize>,
    pub(crate) functions: BTreeMap<u32, u64>,
    pub(crate) target: Target,
}

impl Objects {
    pub(crate) fn new(unfolding: &Unfolding<'_>, certificate: &Certificate) -> Result<Self, Fault> {
        let target = unfolding.program.types.target;
        let mut objects = Self {
            all: Vec::new(),
            globals: BTreeMap::new(),
            locals: BTreeMap::new(),
            allocated: BTreeMap::new(),
            functions: certificate.functions.iter().copied().collect(),
            target,
        };
        for (at, object) in certificate.objects.iter().enumerate() {
            let made = objects.object(unfolding, object);
            let made = made.map_err(|what| Fault::form(format!("object {at}: {what}")))?;
            let other = match made.origin {
                Origin::Global { global } => objects.globals.insert(global, at),
                Origin::Local { instance, local } => objects.locals.insert((instance, local), at),
                Origin::Allocated { instance, statement, .. } => {
                    objects.allocated.insert((instance, statement), at)
                }
            };
            if other.is_some() {
                return Err(Fault::form(format!("object {at} is listed twice")));
            }
            objects.all.push(made);
        }
        refuse_unknown_sizes(unfolding)?;
        objects.check_complete(unfolding)?;
        objects.check_addresses(unfolding.program)?;
        objects.lay_out(unfolding, certificate);
        Ok(objects)
    }

    fn object(
        &self,
        unfolding: &Unfolding<'_>,
        wanted: &crate::document::Object,
    ) -> Result<Object, String> {
        let (mut size, mut site, mut read_only) = (None, None, false);
        match wanted.origin {
            Origin::Global { global } => {
                let globals = &unfolding.program.globals;
                let global = globals.get(GlobalId::from_index(global as usize));
                let global = global.ok_or("there is no such global")?;
                if global.name != wanted.name {
                    return Err(format!("it is {} and not {}", global.name, wanted.name));
                }
                (size, read_only) = (Some(global.size), global.read_only);
            }
            Origin::Local { instance, local } => {
                let instance = unfolding.instances.get(instance).ok_or("no such instance")?;
                let local = instance.body.locals.get(LocalId::from_index(local as usize));
                match local.map(|local| local.storage) {
                    Some(Storage::Memory { size: bytes, .. }) => size = Some(bytes),
                    _ => return Err("the local is not in memory".to_owned()),
                }
            }
            Origin::Allocated { instance, statement, step, repeats, most } => {
                let stmt = StmtId::from_index(statement as usize);
                site = Some(checked_site(unfolding, (instance, stmt), (step, repeats), most)?);
            }
        }
        let (origin, name, address) = (wanted.origin, wanted.name.clone(), wanted.address);
        let layout = Layout::Cells(Vec::new());
        Ok(Object { origin, name, address, size, site, read_only, layout })
    }

    /// Each global and each local in memory has an object.
    fn check_complete(&self, unfolding: &Unfolding<'_>) -> Result<(), Fault> {
        for (id, global) in unfolding.program.globals.iter() {
            if self.global(id).is_none() {
                return Err(Fault::form(format!("{} has no address", global.name)));
            }
        }
        for (at, instance) in unfolding.instances.iter().enumerate() {
            for (id, local) in instance.body.locals.iter() {
                let in_memory = matches!(local.storage, Storage::Memory { .. });
                if in_memory && self.local(at, id).is_none() {
                    let what = format!("{} of instance {at} has no address", local.name);
                    return Err(Fault::form(what));
                }
            }
        }
        for (function, content) in unfolding.program.functions.iter() {
            if !self.functions.contains_key(&(function.index() as u32)) {
                return Err(Fault::form(format!("{} has no address", content.name)));
            }
        }
        Ok(())
    }

    /// No two objects or functions share an address, and none is near null or beyond the target's range.
    fn check_addresses(&self, program: &Program) -> Result<(), Fault> {
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for object in &self.all {
            taken.push((object.address, object.extent()));
        }
        let functions = self.functions.iter();
        let functions = functions.filter(|(at, _)| (**at as usize) < program.functions.len());
        taken.extend(functions.map(|(_, address)| (*address, 1)));
        taken.sort_unstable();
        let last = match self.target {
            Target::X86_64 => u64::MAX,
            Target::I386 => u32::MAX.into(),
        };
        let mut free = NULL_PAGE;
        for (address, extent) in taken {
            let end = address.checked_add(extent).filter(|end| *end < last);
            let (true, Some(end)) = (address >= free, end) else {
                return Err(Fault::form(format!("the address {address:#x} is not free")));
            };
            free = end + 1;
        }
        Ok(())
    }

    /// The object of a global.
    pub(crate) fn global(&self, global: GlobalId) -> Option<usize> {
        self.globals.get(&(global.index() as u32)).copied()
    }

    /// The object of a local in memory.
    pub(crate) fn local(&self, instance: usize, local: LocalId) -> Option<usize> {
        self.locals.get(&(instance, local.index() as u32)).copied()
    }

    /// The object that a statement allocates in.
    pub(crate) fn allocated(&self, instance: usize, stmt: StmtId) -> Option<usize> {
        self.allocated.get(&(instance, stmt.index() as u32)).copied()
    }

    /// The bits of an address.
    pub(crate) const fn address_bits(&self) -> u32 {
        self.target.pointer_bits() as u32
    }

    fn lay_out(&mut self, unfolding: &Unfolding<'_>, certificate: &Certificate) {
        let accesses = smallest_access(unfolding);
        for at in 0..self.all.len() {
            let mut grain = 0;
            let mut cells = Some(Vec::new());
            for part in &certificate.state {
                match part.place {
                    Place::Elements { object, offset, size, period, .. } if object == at => {
                        grain = gcd(grain, gcd(gcd(offset, size), period));
                        cells = None;
                    }
                    Place::Bytes { object, offset, size, .. }
                        if object == at && self.all[at].has(offset, size) =>
                    {
                        grain = gcd(grain, gcd(offset, size));
                        cells.iter_mut().for_each(|cells| cells.push((offset, size)));
                    }
                    _ => {}
                }
            }
            let object = &self.all[at];
            let ty = match object.origin {
                Origin::Global { global } => {
                    Some(unfolding.program.globals[GlobalId::from_index(global as usize)].ty)
                }
                Origin::Local { instance, local } => {
                    let locals = &unfolding.instances[instance].body.locals;
                    Some(locals[LocalId::from_index(local as usize)].ty)
                }
                Origin::Allocated { .. } => None,
            };
            let layout = layout(&unfolding.program.types, object, (ty, accesses), (cells, grain));
            self.all[at].layout = layout;
        }
    }
}

/// The layout of an object. `cells` are the stretches that invariants speak of, if they are no elements,
/// and the sizes and offsets of what they speak of are multiples of `grain`.
fn layout(
    types: &CTypes,
    object: &Object,
    (ty, accesses): (Option<CTypeId>, u64),
    (cells, grain): (Option<Vec<(u64, u64)>>, u64),
) -> Layout {
    let mut scalars = Vec::new();
    let is_known = ty.is_some_and(|ty| add_scalars(types, ty, 0, &mut scalars));
    if let Some(cells) = cells
        && !object.repeats()
    {
        if is_known && scalars.len() <= MOST_CELLS {
            return Layout::Cells(disjoint(scalars));
        }
        if !cells.is_empty() && ty.is_none() {
            return Layout::Cells(disjoint(cells));
        }
    }
    let of_type = match ty {
        Some(ty) => unit_of(types, ty, 0),
        None => accesses,
    };
    let all = gcd(gcd(of_type, grain), 8).max(1);
    let grain = 1 << all.trailing_zeros().min(3);
    let count = object.extent().div_ceil(grain).max(1);
    let index_bits = (64 - (count - 1).leading_zeros()).max(1);
    Layout::Array { grain, index_bits }
}

/// Stretches without those that overlap others.
fn disjoint(mut stretches: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    stretches.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (offset, size) in stretches {
        let end = all.last().map_or(0, |(offset, size)| offset + size);
        let fits = offset >= end && (1..=16).contains(&size);
        if fits {
            all.push((offset, size));
        }
    }
    all
}

/// Adds the scalars that a type consists of. False if there are too many, or some are bit-fields or lie
/// in a union.
fn add_scalars(types: &CTypes, ty: CTypeId, offset: u64, all: &mut Vec<(u64, u64)>) -> bool {
    if all.len() > MOST_CELLS {
        return false;
    }
    match types.get(ty) {
        CType::Record(record) => {
            let record = &types.records[*record];
            !record.is_union
                && record.fields.iter().all(|field| {
                    let at = offset.saturating_add(field.bit_offset / 8);
                    field.bits.is_none() && add_scalars(types, field.ty, at, all)
                })
        }
        CType::Array { element, length: Some(length) } => {
            let Some(size) = types.size(*element) else { return false };
            *length <= MOST_CELLS as u64
                && (0..*length).all(|at| {
                    let at = offset.saturating_add(at.saturating_mul(size));
                    add_scalars(types, *element, at, all)
                })
        }
        _ => match types.scalar(ty) {
            Some(scalar) => {
                all.push((offset, types.target.stored_bytes(scalar)));
                true
            }
            None => false,
        },
    }
}

/// A size of which those and the offsets of all scalars of a type are multiples.
fn unit_of(types: &CTypes, ty: CTypeId, depth: u32) -> u64 {
    if depth > 20 {
        return 1;
    }
    match types.get(ty) {
        CType::Record(record) => types.records[*record].fields.iter().fold(0, |all, field| {
            let unit = match field.bits {
                Some(_) => 1,
                None => gcd(unit_of(types, field.ty, depth + 1), field.bit_offset / 8),
            };
            gcd(all, unit)
        }),
        CType::Array { element, .. } => unit_of(types, *element, depth + 1),
        _ => types.scalar(ty).map_or(1, |scalar| types.target.stored_bytes(scalar)),
    }
}

/// A size of which those of all accesses of the instances are multiples.
fn smallest_access(unfolding: &Unfolding<'_>) -> u64 {
    let target = unfolding.program.types.target;
    let mut all = 0;
    for instance in &unfolding.instances {
        for expr in instance.body.exprs.values() {
            match expr {
                Expr::Load { ty, .. } => all = gcd(all, target.stored_bytes(*ty)),
                Expr::LoadBits { .. } => all = 1,
                _ => {}
            }
        }
        for stmt in instance.body.stmts.values() {
            match stmt {
                Stmt::Store { ty, .. } => all = gcd(all, target.stored_bytes(*ty)),
                Stmt::StoreBits { .. } => all = 1,
                _ => {}
            }
        }
    }
    all
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The size of an array that another file defines may not be known.
fn refuse_unknown_sizes(unfolding: &Unfolding<'_>) -> Result<(), Fault> {
    let program = unfolding.program;
    let is_unknown = |id: GlobalId| {
        let global = &program.globals[id];
        global.init == GlobalInit::Extern && global.size == 0
    };
    let exprs = unfolding.instances.iter().flat_map(|instance| instance.body.exprs.values());
    let named = exprs.filter_map(|expr| match expr {
        Expr::AddrGlobal(global) => Some(*global),
        _ => None,
    });
    let relocations = program.globals.values().flat_map(|global| match &global.init {
        GlobalInit::Data { relocations, .. } => relocations.as_slice(),
        _ => &[],
    });
    let led_to = relocations.filter_map(|relocation| match relocation.target {
        RelocationTarget::Global(global) => Some(global),
        RelocationTarget::Function(_) => None,
    });
    match named.chain(led_to).find(|global| is_unknown(*global)) {
        Some(global) => {
            let name = &program.globals[global].name;
            Err(Fault::unsupported(format!("{name}, whose size is not known,")))
        }
        None => Ok(()),
    }
}

/// The largest distance between blocks of a size: that of blocks whose size is not known, rounded up to
/// a power of two, so that a place has room for as many blocks as they need.
fn widest_step(size: u64) -> u64 {
    (size.saturating_add(31) & !15).checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// The place that allocates memory, if it does as the certificate says.
fn checked_site(
    unfolding: &Unfolding<'_>,
    (instance, stmt): (usize, StmtId),
    (step, repeats): (Option<u64>, bool),
    most: u64,
) -> Result<Site, String> {
    let content = unfolding.instances.get(instance).ok_or("no such instance")?;
    let number = |expr: ExprId| unfolding.constant(instance, expr);
    let (size, zeroed) = match content.body.stmts.get(stmt).ok_or("no such statement")? {
        Stmt::Alloca { size, .. } => (number(*size), false),
        Stmt::Call { callee: Callee::Direct(callee), args, .. } => {
            match (effect_of(unfolding.program, *callee), &args[..]) {
                (Effect::Malloc, [size]) | (Effect::Realloc, [_, size]) => (number(*size), false),
                (Effect::Calloc, [count, size]) => {
                    let size = number(*count).zip(number(*size));
                    (size.and_then(|(count, size)| count.checked_mul(size)), true)
                }
                _ => return Err("the statement allocates nothing".to_owned()),
            }
        }
        _ => return Err("the statement allocates nothing".to_owned()),
    };
    if let Some(step) = step
        && size.and_then(|size| size.checked_add(1)).is_none_or(|least| step < least)
    {
        return Err("its blocks may touch".to_owned());
    }
    if let Some((step, size)) = step.zip(size)
        && step > widest_step(size)
    {
        return Err("its blocks are further apart than they need to be".to_owned());
    }
    if !repeats {
        let node = unfolding.node_of(instance, stmt);
        if node.is_some_and(|node| unfolding.is_in_cycle(node)) {
            return Err("it may allocate more than one block".to_owned());
        }
    }
    if most == 0 || most > 1 << 40 {
        return Err("the room for its blocks".to_owned());
    }
    Ok(Site { zeroed, repeats, step, most })
}

/// The initial bytes of a global from an offset on, least significant first; none where they are not
/// known or are part of an address.
pub(crate) fn initial_number(
    program: &Program,
    global: GlobalId,
    (offset, size): (u64, u64),
) -> Option<u128> {
    let (items, relocations) = match &program.globals[global].init {
        GlobalInit::Extern => return None,
        GlobalInit::Zero => return Some(0),
        GlobalInit::Data { items, relocations } => (items, relocations),
    };
    let pointer = program.types.target.pointer_bytes();
    let overlaps = |at: u64, bytes: u64| at < offset + size && offset < at + bytes;
    if size > 16 || relocations.iter().any(|relocation| overlaps(relocation.offset, pointer)) {
        return None;
    }
    let mut number = 0;
    for item in items.iter().filter(|item| overlaps(item.offset, item.bytes.len() as u64)) {
        for (at, byte) in (item.offset..).zip(&item.bytes) {
            if (offset..offset + size).contains(&at) {
                number |= u128::from(*byte) << (8 * (at - offset));
            }
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_at_most_as_far_apart_as_a_power_of_two_needs() {
        assert_eq!([0, 1, 16, 17].map(widest_step), [16, 32, 32, 64]);
        assert_eq!([32, 64].map(widest_step), [64, 128]);
    }
}
