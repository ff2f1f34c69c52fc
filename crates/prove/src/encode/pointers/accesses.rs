//! The accesses of an inlined program to its memory objects.
//!
//! A copy hands values on. So each access to the copy is one to what was copied, too: at the same place
//! in it, in the same way.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::libc::{LibFn, MemoryFn};
use lydian_ir::stmt::Terminator;
use lydian_ir::{BitField, Callee, Expr, ExprId, GlobalInit, Stmt, StmtId, Storage, Type};

use crate::encode::ids::{InstanceId, NodeId, ObjectId};
use crate::encode::inlined::calls::{CallEffect, effect_of};
use crate::encode::inlined::{Exit, Inlined};
use crate::encode::pointers::objects::{ObjectKind, Objects};
use crate::encode::pointers::offset::{Offset, gcd};
use crate::encode::pointers::{Place, PointsTo, Spot, constant};

/// The most accesses that are told apart within an object.
const MOST_ACCESSES: usize = 4096;
/// The bytes of a copy or fill that may have any size.
const UNKNOWN_SIZE: u64 = 1 << 40;

/// An access to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Access {
    pub(crate) at: Offset,
    /// In bytes.
    pub(crate) size: u64,
    pub(crate) ty: Type,
    /// The bytes among which those of the access are, as C has it: those of an array that is subscripted.
    pub(crate) within: Stretch,
    /// Whether it is one to a bit-field: only some bits of the bytes are meant.
    pub(crate) of_bits: bool,
}

/// Some bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    at: Offset,
    size: u64,
}

impl Access {
    pub(crate) const fn plain(at: Offset, size: u64, ty: Type) -> Self {
        Self { at, size, ty, within: Stretch { at, size }, of_bits: false }
    }

    /// Whether this access to a pointer may share bytes with another access that does not have all
    /// bits of the same bytes.
    fn may_be_torn_by(&self, other: &Self) -> bool {
        let is_whole = other.size == self.size && !other.of_bits;
        self.within.may_overlap(other.within)
            && self.at.may_overlap(self.size, other.at, other.size)
            && (!is_whole || self.at.may_cut(self.size, other.at, other.size))
    }
}

impl Stretch {
    fn may_overlap(self, other: Self) -> bool {
        self.at.may_overlap(self.size, other.at, other.size)
    }
}

/// A copy of bytes between objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copied {
    to: Spot,
    from: Spot,
    /// How many; none where that is not a constant.
    size: Option<u64>,
}

/// All accesses, by object.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    pub(crate) of: BTreeMap<ObjectId, BTreeSet<Access>>,
    /// The objects that are written to.
    pub(crate) written: BTreeSet<ObjectId>,
    /// What the distances between the places in an object where copies and fills begin have in common,
    /// where there are several.
    pub(crate) strides: BTreeMap<ObjectId, u64>,
    copies: BTreeSet<Copied>,
    /// Where values of many bytes are set without a copy, and how many; none where that is not a constant.
    fills: BTreeSet<(Spot, Option<u64>)>,
}

/// The objects whose pointers are not only read and written as such.
#[derive(Debug, Default)]
pub(super) struct Mixed {
    /// Those of which numbers are read where pointers were written, or the other way round, and their
    /// copies.
    pub(super) punned: BTreeSet<ObjectId>,
    /// Those that have pointers of which a part may be overwritten, and their copies.
    pub(super) torn: BTreeSet<ObjectId>,
}

/// The objects that are punned or torn.
pub(super) fn mixed_objects(
    inlined: &Inlined<'_>,
    objects: &Objects,
    pointers: &PointsTo<'_>,
) -> Mixed {
    let mut accesses = Accesses::new(inlined, objects, pointers);
    accesses.add_first_pointers(inlined, objects);
    let mixes = |of: &BTreeSet<Access>| {
        let (pointers, numbers): (Vec<&Access>, Vec<&Access>) =
            of.iter().partition(|access| access.ty == Type::Ptr);
        let meets = |a: &Access| numbers.iter().any(|b| a.within.may_overlap(b.within));
        pointers.into_iter().any(meets)
    };
    let of = accesses.of.iter();
    let punned = of.filter(|(_, of)| mixes(of)).map(|(object, _)| *object).collect();
    let torn = accesses.of.keys().copied().filter(|object| accesses.tears(*object)).collect();
    Mixed { punned: accesses.with_copies(punned), torn: accesses.with_copies(torn) }
}

impl Accesses {
    pub(crate) fn new(inlined: &Inlined<'_>, objects: &Objects, pointers: &PointsTo<'_>) -> Self {
        let found = Self::default();
        let mut scan = Scan { inlined, objects, pointers, found };
        for instance in inlined.instances.ids() {
            scan.reads(instance);
        }
        for node in inlined.nodes.ids() {
            scan.node(node);
        }
        let mut found = scan.found;
        found.written.extend(pointers.escaped_objects());
        let number = lydian_ir::libc::error_number(inlined.program).map(ObjectKind::Global);
        found.written.extend(number.and_then(|kind| objects.of(kind)));
        found.hand_on(objects);
        found
    }

    /// Some objects and their copies.
    fn with_copies(&self, mut found: BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
        let mut known = 0;
        while found.len() > known {
            known = found.len();
            let copies = self.copies.iter().filter(|copy| found.contains(&copy.from.object));
            let copies: Vec<ObjectId> = copies.map(|copy| copy.to.object).collect();
            found.extend(copies);
        }
        found
    }

    /// Whether a part of a pointer in an object may be overwritten or read.
    fn tears(&self, object: ObjectId) -> bool {
        let mut pointers = self.to(object).filter(|access| access.ty == Type::Ptr);
        let cuts = self.cuts(object);
        pointers.any(|pointer| {
            self.to(object).any(|other| pointer.may_be_torn_by(other))
                || cuts.iter().any(|(at, size)| match size {
                    Some(size) => pointer.at.may_cut(pointer.size, *at, *size),
                    None => pointer.at.may_overlap(pointer.size, *at, UNKNOWN_SIZE),
                })
        })
    }

    /// The stretches of an object that copies and fills are of.
    fn cuts(&self, object: ObjectId) -> BTreeSet<(Offset, Option<u64>)> {
        let copied =
            self.copies.iter().flat_map(|copy| [(copy.to, copy.size), (copy.from, copy.size)]);
        let all = copied.chain(self.fills.iter().copied());
        all.filter(|(spot, _)| spot.object == object).map(|(spot, size)| (spot.at, size)).collect()
    }

    /// The accesses to an object.
    pub(crate) fn to(&self, object: ObjectId) -> impl Iterator<Item = &Access> {
        self.of.get(&object).into_iter().flatten()
    }

    fn add(&mut self, object: ObjectId, access: Access) -> bool {
        let known = self.of.entry(object).or_default();
        if known.len() < MOST_ACCESSES {
            return known.insert(access);
        }
        let of_bits = access.of_bits;
        known.insert(Access { of_bits, ..Access::plain(Offset::ANY, access.size, access.ty) })
    }

    /// Adds the addresses that globals have at first, as if the program wrote them.
    fn add_first_pointers(&mut self, inlined: &Inlined<'_>, objects: &Objects) {
        let size = inlined.program.types.target.stored_bytes(Type::Ptr);
        for (id, global) in inlined.program.globals.iter() {
            let (Some(object), GlobalInit::Data { relocations, .. }) =
                (objects.of(ObjectKind::Global(id)), &global.init)
            else {
                continue;
            };
            for relocation in relocations {
                let at = Offset::ZERO.plus(relocation.offset as i64);
                self.add(object, Access::plain(at, size, Type::Ptr));
            }
        }
    }

    /// Makes each access to a copy one to what was copied.
    fn hand_on(&mut self, objects: &Objects) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let copies: Vec<Copied> = self.copies.iter().copied().collect();
            for copy in copies {
                let accesses: Vec<Access> = self.to(copy.to.object).copied().collect();
                let size = objects.all[copy.from.object].size;
                for access in accesses {
                    if let Some(access) = handed_on(&copy, access, size) {
                        changed |= self.add(copy.from.object, access);
                    }
                }
            }
        }
    }
}

/// The access to what was copied that an access to the copy is.
fn handed_on(copy: &Copied, access: Access, size: Option<u64>) -> Option<Access> {
    let copied = copy.size.unwrap_or(UNKNOWN_SIZE);
    if !access.at.may_overlap(access.size, copy.to.at, copied) {
        return None;
    }
    let stride = gcd(gcd(access.at.stride, copy.to.at.stride), copy.from.at.stride);
    let distance = copy.from.at.start.wrapping_sub(copy.to.at.start);
    let at = access.at.plus(distance).with_stride(stride);
    let is_in = |start: i64| {
        start.saturating_add(access.size as i64) > 0 && size.is_none_or(|size| start < size as i64)
    };
    let of_bits = access.of_bits;
    let plain = Access { of_bits, ..Access::plain(at, access.size, access.ty) };
    at.exact().is_none_or(is_in).then_some(plain)
}

struct Scan<'s, 'a> {
    inlined: &'s Inlined<'a>,
    objects: &'s Objects,
    pointers: &'s PointsTo<'a>,
    found: Accesses,
}

impl Scan<'_, '_> {
    fn spots(&self, instance: InstanceId, addr: ExprId) -> Vec<Spot> {
        self.pointers.spots(self.inlined, self.objects, (instance, addr))
    }

    fn access(&mut self, instance: InstanceId, addr: ExprId, ty: Type) {
        self.access_as(instance, addr, ty, false);
    }

    /// An access to a bit-field.
    fn access_bits(&mut self, instance: InstanceId, addr: ExprId, field: BitField) {
        self.access_as(instance, addr, Type::Int((field.bytes() * 8) as u8), true);
    }

    fn access_as(&mut self, instance: InstanceId, addr: ExprId, ty: Type, of_bits: bool) {
        let size = self.inlined.program.types.target.stored_bytes(ty);
        let arrays = self.pointers.subscripted(self.inlined, self.objects, (instance, addr), size);
        for Spot { object, at } in self.spots(instance, addr) {
            let mut access = Access { of_bits, ..Access::plain(at, size, ty) };
            if let Some((at, length)) = arrays.get(&Place::Object(object)) {
                access.within = Stretch { at: *at, size: length + size };
            }
            self.found.add(object, access);
        }
    }

    fn write(&mut self, instance: InstanceId, addr: ExprId) {
        let spots = self.spots(instance, addr);
        self.found.written.extend(spots.into_iter().map(|spot| spot.object));
    }

    /// A write of more than a scalar that is no copy.
    fn fill(&mut self, instance: InstanceId, addr: ExprId, size: Option<u64>) {
        let spots = self.spots(instance, addr).into_iter();
        self.found.fills.extend(spots.map(|spot| (spot, size)));
        self.write_many(instance, addr);
    }

    /// A write of more than a scalar.
    fn write_many(&mut self, instance: InstanceId, addr: ExprId) {
        for spot in self.spots(instance, addr) {
            self.found.written.insert(spot.object);
            let stride = self.found.strides.entry(spot.object).or_default();
            *stride = gcd(*stride, spot.at.stride);
        }
    }

    /// All loads of an instance, those of labels too.
    fn reads(&mut self, instance: InstanceId) {
        for expr in self.inlined.instances[instance].exprs.values() {
            match expr {
                Expr::Load { ty, addr, .. } => self.access(instance, *addr, *ty),
                Expr::LoadBits { field, addr } => {
                    self.access_bits(instance, *addr, *field);
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, node: NodeId) {
        let instance = self.inlined.nodes[node].instance;
        for stmt in self.inlined.stmts(node) {
            self.stmt(instance, stmt);
        }
        if let Exit::Call { stmt, callees, may_skip } = &self.inlined.nodes[node].exit {
            callees.iter().for_each(|callee| self.arguments(instance, *stmt, *callee));
            if *may_skip {
                self.stmt(instance, *stmt);
            }
        }
        if let Exit::Recursion { stmt, callee } = &self.inlined.nodes[node].exit {
            self.arguments(instance, *stmt, *callee);
        }
        if let Some(Terminator::Return(Some(value))) = self.inlined.terminator(node)
            && let Some((caller, Stmt::Call { dst_addr: Some(addr), .. })) =
                self.inlined.call_of(instance)
        {
            let size = self.inlined.result_size(instance);
            self.copy((caller, *addr), (instance, *value), size);
        }
    }

    fn stmt(&mut self, instance: InstanceId, id: StmtId) {
        match &self.inlined.instances[instance].body.stmts[id] {
            Stmt::Store { addr, ty, .. } => {
                self.access(instance, *addr, *ty);
                self.write(instance, *addr);
            }
            Stmt::StoreBits { addr, field, .. } => {
                self.access_bits(instance, *addr, *field);
                self.write(instance, *addr);
            }
            Stmt::Copy { dst, src, size } => {
                self.copy((instance, *dst), (instance, *src), Some(*size));
            }
            Stmt::Zero { dst, size, .. } => self.fill(instance, *dst, Some(*size)),
            Stmt::VaStart { list } => self.write(instance, *list),
            Stmt::Havoc(havoc) => {
                havoc.places.iter().for_each(|(addr, _)| self.write(instance, *addr));
            }
            Stmt::Call { callee: Callee::Direct(callee), args, arg_types, dst_addr, .. } => {
                dst_addr.iter().for_each(|addr| self.write(instance, *addr));
                if let CallEffect::Model(model) = effect_of(self.inlined.program, *callee) {
                    self.model(instance, model.function, (args, arg_types));
                    return;
                }
                args.iter().for_each(|arg| self.write(instance, *arg));
            }
            Stmt::Call { dst_addr, args, .. } => {
                dst_addr.iter().chain(args).for_each(|addr| self.write(instance, *addr));
            }
            Stmt::Assign { .. }
            | Stmt::Mark(_)
            | Stmt::Enter(_)
            | Stmt::Leave(_)
            | Stmt::Alloca { .. }
            | Stmt::Release { .. }
            | Stmt::VaArg { .. } => {}
        }
    }

    fn model(
        &mut self,
        instance: InstanceId,
        function: LibFn,
        (args, types): (&[ExprId], &[lydian_ir::CTypeId]),
    ) {
        match function {
            LibFn::Memory(MemoryFn::Memcpy | MemoryFn::Memmove) => {
                if let [to, from, size] = args {
                    let exprs = self.inlined.instances[instance].exprs;
                    let size = constant(exprs, *size);
                    self.copy((instance, *to), (instance, *from), size);
                }
            }
            LibFn::Overflow(_) => {
                let types_of = &self.inlined.program.types;
                let pointee = types.get(2).and_then(|ty| types_of.pointee(*ty));
                if let Some(ty) = pointee.and_then(|ty| types_of.scalar(ty))
                    && let Some(addr) = args.get(2)
                {
                    self.access(instance, *addr, ty);
                    self.write(instance, *addr);
                }
            }
            LibFn::Memory(MemoryFn::Memset) => {
                let exprs = self.inlined.instances[instance].exprs;
                let size = args.get(2).and_then(|size| constant(exprs, *size));
                args.first().into_iter().for_each(|to| self.fill(instance, *to, size));
            }
            _ => args.iter().for_each(|arg| self.write(instance, *arg)),
        }
    }

    fn copy(&mut self, to: (InstanceId, ExprId), from: (InstanceId, ExprId), size: Option<u64>) {
        self.write_many(to.0, to.1);
        let sources = self.spots(from.0, from.1);
        for to in self.spots(to.0, to.1) {
            for from in &sources {
                self.found.copies.insert(Copied { to, from: *from, size });
            }
        }
    }

    fn arguments(&mut self, caller: InstanceId, stmt: StmtId, callee: InstanceId) {
        let body = self.inlined.instances[callee].body;
        let Stmt::Call { args, .. } = &self.inlined.instances[caller].body.stmts[stmt] else {
            return;
        };
        for (param, arg) in body.params.iter().zip(args) {
            let Storage::Memory { size, .. } = body.locals[*param].storage else { continue };
            let Some(object) = self.objects.of(ObjectKind::Local(callee, *param)) else { continue };
            self.found.written.insert(object);
            let types = &self.inlined.program.types;
            if let Some(ty) = types.scalar(body.locals[*param].ty) {
                let size = types.target.stored_bytes(ty);
                self.found.add(object, Access::plain(Offset::ZERO, size, ty));
                continue;
            }
            let to = Spot { object, at: Offset::ZERO };
            for from in self.spots(caller, *arg) {
                self.found.copies.insert(Copied { to, from, size: Some(size) });
            }
        }
    }
}
