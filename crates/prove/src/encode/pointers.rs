//! The objects that pointers may point to, and at which offsets.
//!
//! The analysis is inclusion-based and ignores the order of statements (Andersen, *Program Analysis and
//! Specialization for the C Programming Language*). Instances are its contexts, objects have one set of
//! contents each, and each target has an [`Offset`].
//!
//! One target stands for all that is not known: memory behind a parameter, results of external
//! functions, addresses that were made from numbers. A pointer to it may also point into objects that
//! *escaped*: whose address was stored there, given to code that is not known, or used as a number.

pub(crate) mod accesses;
pub(crate) mod flows;
pub(crate) mod objects;
pub(crate) mod offset;

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::{EntityId, SideTable};
use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::scalars::{Scalar, ScalarKind, scalars};
use lydian_ir::test::Image;
use lydian_ir::{
    BinOp, CType, CTypes, CastOp, Expr, ExprId, FuncId, GlobalId, GlobalInit, LocalId, Program,
    RelocationTarget, Storage, Type,
};
use rustc_hash::FxHashMap;

use crate::encode::ids::{InstanceId, ObjectId};
use crate::encode::inlined::Inlined;
use crate::encode::pointers::objects::{ObjectKind, Objects};
use crate::encode::pointers::offset::{Offset, gcd};

/// A target of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    Object(ObjectId),
    Function(FuncId),
    /// Memory or a function that is not known.
    Unknown,
}

/// A place in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) object: ObjectId,
    pub(crate) at: Offset,
}

/// The targets of a pointer.
pub(crate) type Targets = BTreeMap<Place, Offset>;

/// The result of the analysis.
#[derive(Debug)]
pub(crate) struct PointsTo<'a> {
    pub(crate) types: ExprTypes,
    pub(super) ctypes: &'a CTypes,
    pub(super) registers: FxHashMap<(InstanceId, LocalId), Targets>,
    /// What pointers in each object point to.
    pub(super) contents: Vec<Targets>,
    pub(super) escaped: BTreeSet<Place>,
    /// The objects of which numbers are read where pointers were written, or the other way round.
    pub(super) punned: BTreeSet<ObjectId>,
    /// The objects with pointers of which a part may be overwritten.
    pub(super) torn: BTreeSet<ObjectId>,
    pub(super) changed: bool,
}

/// Whether other files decide how large a global is: it is an array, or may end with one.
fn has_open_size(program: &Program, global: GlobalId) -> bool {
    let global = &program.globals[global];
    let is_compound =
        matches!(program.types.get(global.ty), CType::Array { .. } | CType::Record(_));
    global.init == GlobalInit::Extern && (is_compound || global.size == 0)
}

/// The types of all expressions, by function.
#[derive(Debug)]
pub(crate) struct ExprTypes(FxHashMap<FuncId, SideTable<ExprId, Type>>);

impl ExprTypes {
    fn new(inlined: &Inlined<'_>) -> Self {
        let mut types = FxHashMap::default();
        for instance in inlined.instances.values() {
            types
                .entry(instance.function)
                .or_insert_with(|| instance.body.types_in(instance.exprs));
        }
        Self(types)
    }

    /// The type of an expression of an instance.
    pub(crate) fn of(&self, inlined: &Inlined<'_>, instance: InstanceId, expr: ExprId) -> Type {
        self.0[&inlined.instances[instance].function][expr]
    }
}

impl<'a> PointsTo<'a> {
    /// With the contents that globals have at first.
    pub(super) fn start(inlined: &Inlined<'a>, objects: &Objects) -> Self {
        let mut found = Self {
            types: ExprTypes::new(inlined),
            ctypes: &inlined.program.types,
            registers: FxHashMap::default(),
            contents: vec![Targets::new(); objects.all.len()],
            escaped: BTreeSet::new(),
            punned: BTreeSet::new(),
            torn: BTreeSet::new(),
            changed: false,
        };
        for (id, global) in inlined.program.globals.iter() {
            let Some(object) = objects.of(ObjectKind::Global(id)) else { continue };
            match &global.init {
                GlobalInit::Extern => found.escape_place(Place::Object(object)),
                GlobalInit::Zero => {}
                GlobalInit::Data { relocations, .. } => {
                    if has_numbers_as_pointers(inlined.program, id) {
                        let anything = std::iter::once((Place::Unknown, Offset::ANY)).collect();
                        found.write(object, &anything);
                    }
                    for relocation in relocations {
                        let place = match relocation.target {
                            RelocationTarget::Global(id) => {
                                objects.of(ObjectKind::Global(id)).map(Place::Object)
                            }
                            RelocationTarget::Function(id) => Some(Place::Function(id)),
                        };
                        let offset = Offset::ZERO.plus(relocation.addend);
                        let targets = place.map(|place| (place, offset)).into_iter().collect();
                        found.write(object, &targets);
                    }
                }
            }
        }
        found
    }

    /// Whether pointers to what is not known may point into an object.
    pub(crate) fn is_escaped(&self, object: ObjectId) -> bool {
        self.escaped.contains(&Place::Object(object))
    }

    /// What a register may point to.
    pub(crate) fn of_register(&self, instance: InstanceId, local: LocalId) -> Targets {
        self.registers.get(&(instance, local)).cloned().unwrap_or_default()
    }

    /// What pointers in an object may point to.
    pub(crate) fn contents(&self, object: ObjectId) -> &Targets {
        &self.contents[object.index()]
    }

    /// The objects that code which is not known may write to.
    pub(crate) fn escaped_objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.escaped.iter().filter_map(|place| match place {
            Place::Object(object) => Some(*object),
            _ => None,
        })
    }

    /// The functions that code which is not known may call.
    pub(crate) fn escaped_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.escaped.iter().filter_map(|place| match place {
            Place::Function(function) => Some(*function),
            _ => None,
        })
    }

    /// Whether an object has pointers that are read as numbers, or numbers as pointers.
    pub(crate) fn is_punned(&self, object: ObjectId) -> bool {
        self.punned.contains(&object)
    }

    /// Whether parts of a pointer in an object may be those of several values.
    pub(crate) fn is_torn(&self, object: ObjectId) -> bool {
        self.torn.contains(&object)
    }

    /// The targets of an expression's value as a pointer.
    pub(crate) fn targets(
        &self,
        inlined: &Inlined<'_>,
        objects: &Objects,
        at: (InstanceId, ExprId),
    ) -> Targets {
        let (instance, expr) = at;
        let exprs = inlined.instances[instance].exprs;
        let one = |place: Option<Place>| -> Targets {
            place.map(|place| (place, Offset::ZERO)).into_iter().collect()
        };
        let of = |expr: ExprId| self.targets(inlined, objects, (instance, expr));
        match &exprs[expr] {
            Expr::AddrLocal(local) => {
                one(objects.of(ObjectKind::Local(instance, *local)).map(Place::Object))
            }
            Expr::AddrGlobal(global) => {
                let mut targets = one(objects.of(ObjectKind::Global(*global)).map(Place::Object));
                if has_open_size(inlined.program, *global) {
                    targets.insert(Place::Unknown, Offset::ANY);
                }
                targets
            }
            Expr::AddrFunc(function) => one(Some(Place::Function(*function))),
            // Small numbers may be addresses of devices.
            Expr::Const(Type::Ptr, value) => one((*value != 0).then_some(Place::Unknown)),
            Expr::Const(_, value) => {
                let is_address = *value >= u128::from(NULL_PAGE);
                one(is_address.then_some(Place::Unknown))
            }
            Expr::Local(local) => {
                self.registers.get(&(instance, *local)).cloned().unwrap_or_default()
            }
            Expr::Load { ty: Type::Ptr, addr, volatile } => {
                let mut loaded = Targets::new();
                for place in of(*addr).into_keys() {
                    include(&mut loaded, &self.contents_of(place));
                }
                if *volatile {
                    loaded.insert(Place::Unknown, Offset::ANY);
                }
                loaded
            }
            Expr::Cast(CastOp::Bits, Type::Ptr, from) => {
                match self.moved(inlined, instance, *from) {
                    Some((base, distance)) => moved_by(&of(base), |at| at.plus(distance)),
                    None => {
                        let is_null = constant(exprs, *from).is_some_and(|value| value < 4096);
                        one((!is_null).then_some(Place::Unknown))
                    }
                }
            }
            Expr::Field { base, record, field } => {
                let field = &self.ctypes.records[*record].fields[*field as usize];
                let distance = (field.bit_offset / 8) as i64;
                moved_by(&of(*base), |at| at.plus(distance))
            }
            Expr::Index { base, index, size, .. } => {
                let base = of(*base);
                match constant(exprs, *index) {
                    Some(index) => {
                        let distance = (index as i64).wrapping_mul(*size as i64);
                        moved_by(&base, |at| at.plus(distance))
                    }
                    None => moved_by(&base, |at| at.with_stride(*size)),
                }
            }
            Expr::Select { then, otherwise, .. } => {
                let mut both = of(*then);
                include(&mut both, &of(*otherwise));
                both
            }
            Expr::Binary(_, a, b) if self.types.of(inlined, instance, expr) == Type::Ptr => {
                let mut both = of(*a);
                include(&mut both, &of(*b));
                moved_by(&both, |_| Offset::ANY)
            }
            Expr::Load { .. }
            | Expr::LoadBits { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cmp(..)
            | Expr::Cast(..)
            | Expr::PtrDiff { .. } => Targets::new(),
        }
    }

    /// The objects in which an expression's value may lie as a pointer, and where in them.
    pub(crate) fn spots(
        &self,
        inlined: &Inlined<'_>,
        objects: &Objects,
        at: (InstanceId, ExprId),
    ) -> Vec<Spot> {
        let spot = |(place, at): (Place, Offset)| match place {
            Place::Object(object) => Some(Spot { object, at }),
            Place::Function(_) | Place::Unknown => None,
        };
        self.targets(inlined, objects, at).into_iter().filter_map(spot).collect()
    }

    /// The places in which an address lies that is computed by subscripts of arrays of known length: the
    /// first bytes, and how many bytes further the last one is at most. What is subscripted otherwise is
    /// left out.
    pub(crate) fn subscripted(
        &self,
        inlined: &Inlined<'_>,
        objects: &Objects,
        (instance, addr): (InstanceId, ExprId),
        bytes: u64,
    ) -> BTreeMap<Place, (Offset, u64)> {
        let exprs = inlined.instances[instance].exprs;
        // Of arrays whose elements are accessed as wholes all bytes count, of others every so many.
        let (mut at, mut distance, mut length, mut stride) = (addr, 0_i64, 0_u64, 0_u64);
        loop {
            at = match &exprs[at] {
                Expr::Field { base, record, field } => {
                    let field = &self.ctypes.records[*record].fields[*field as usize];
                    distance = distance.wrapping_add((field.bit_offset / 8) as i64);
                    *base
                }
                Expr::Index { base, index, size, bound } => {
                    match (constant(exprs, *index), bound) {
                        (Some(index), _) => {
                            let by = (index as i64).wrapping_mul(*size as i64);
                            distance = distance.wrapping_add(by);
                        }
                        (None, Some(_)) if stride != 0 || *size > length + bytes => {
                            stride = gcd(stride, *size);
                        }
                        (None, Some(count @ 1..)) => {
                            length = length.saturating_add(size.saturating_mul(count - 1));
                        }
                        _ => break,
                    }
                    *base
                }
                _ => break,
            };
        }
        if length == 0 {
            return BTreeMap::new();
        }
        let base = self.targets(inlined, objects, (instance, at));
        let stretch =
            |(place, at): (Place, Offset)| (place, (at.plus(distance).with_stride(stride), length));
        base.into_iter().map(stretch).collect()
    }

    /// Whether there are pointers in an object.
    pub(crate) fn has_pointers(&self, object: ObjectId) -> bool {
        !self.contents[object.index()].is_empty()
    }

    /// The pointer and the constant of a number that is a moved address, as the evaluation of
    /// expressions finds it: in `(char *)((uintptr_t)p - 8)`.
    pub(super) fn moved(
        &self,
        inlined: &Inlined<'_>,
        instance: InstanceId,
        number: ExprId,
    ) -> Option<(ExprId, i64)> {
        let exprs = inlined.instances[instance].exprs;
        let constant = |expr: ExprId| match exprs[expr] {
            Expr::Const(Type::Int(64), value) => Some(value as i64),
            _ => None,
        };
        match exprs[number] {
            Expr::Cast(CastOp::Bits, Type::Int(64), pointer) => {
                let is_pointer = self.types.of(inlined, instance, pointer) == Type::Ptr;
                is_pointer.then_some((pointer, 0))
            }
            Expr::Binary(BinOp::AddU | BinOp::AddS, a, b) => {
                let (pointer, at) = self.moved(inlined, instance, a)?;
                Some((pointer, at.wrapping_add(constant(b)?)))
            }
            Expr::Binary(BinOp::SubU | BinOp::SubS, a, b) => {
                let (pointer, at) = self.moved(inlined, instance, a)?;
                Some((pointer, at.wrapping_sub(constant(b)?)))
            }
            _ => None,
        }
    }

    /// What pointers in a place point to.
    pub(super) fn contents_of(&self, place: Place) -> Targets {
        match place {
            Place::Object(object) => self.contents[object.index()].clone(),
            Place::Function(_) => Targets::new(),
            Place::Unknown => std::iter::once((Place::Unknown, Offset::ANY)).collect(),
        }
    }

    /// Adds targets to a register.
    pub(super) fn assign(&mut self, register: (InstanceId, LocalId), targets: &Targets) {
        let known = self.registers.entry(register).or_default();
        self.changed |= include(known, targets);
    }

    /// Adds targets to the contents of an object.
    pub(super) fn write(&mut self, object: ObjectId, targets: &Targets) {
        self.changed |= include(&mut self.contents[object.index()], targets);
        if self.is_escaped(object) {
            self.escape(targets);
        }
    }

    /// Adds targets to the contents of each of some places.
    pub(super) fn write_to(&mut self, places: &Targets, targets: &Targets) {
        for place in places.keys() {
            match place {
                Place::Object(object) => self.write(*object, targets),
                Place::Unknown => self.escape(targets),
                Place::Function(_) => {}
            }
        }
    }

    /// Gives addresses to code that is not known.
    pub(super) fn escape(&mut self, targets: &Targets) {
        targets.keys().for_each(|place| self.escape_place(*place));
    }

    pub(super) fn escape_place(&mut self, place: Place) {
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            if place == Place::Unknown || !self.escaped.insert(place) {
                continue;
            }
            self.changed = true;
            if let Place::Object(object) = place {
                let contents = &mut self.contents[object.index()];
                contents.insert(Place::Unknown, Offset::ANY);
                waiting.extend(contents.keys().copied());
            }
        }
    }

    /// Whether a local is a register for pointers.
    pub(super) fn is_pointer(inlined: &Inlined<'_>, at: InstanceId, local: LocalId) -> bool {
        let storage = inlined.instances[at].body.locals[local].storage;
        storage == Storage::Register(Type::Ptr)
    }
}

/// The value of a constant, also behind conversions that keep it, as a 64-bit number.
pub(crate) fn constant(exprs: &lydian_ir::ExprArena, expr: ExprId) -> Option<u64> {
    match &exprs[expr] {
        Expr::Const(Type::Int(_) | Type::Ptr, value) => u64::try_from(*value).ok(),
        Expr::Cast(CastOp::Bits | CastOp::ZExt, Type::Int(64) | Type::Ptr, inner) => {
            constant(exprs, *inner)
        }
        Expr::Cast(CastOp::SExt, Type::Int(64), inner) => match &exprs[*inner] {
            Expr::Const(Type::Int(bits), value) => {
                Some(lydian_ir::arith::signed(u32::from(*bits), *value) as u64)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Adds targets to others. Returns whether that changed them.
pub(super) fn include(to: &mut Targets, from: &Targets) -> bool {
    let mut changed = false;
    for (place, offset) in from {
        let new = to.get(place).map_or(*offset, |known| known.join(*offset));
        changed |= to.insert(*place, new) != Some(new);
    }
    changed
}

pub(super) fn moved_by(targets: &Targets, to: impl Fn(Offset) -> Offset) -> Targets {
    targets.iter().map(|(place, offset)| (*place, to(*offset))).collect()
}

/// Whether some pointer in a global is a number at first, such as the address of a device.
fn has_numbers_as_pointers(program: &Program, id: GlobalId) -> bool {
    let global = &program.globals[id];
    let first = Image::initial(program, id);
    let is_address = |place: &Scalar| {
        let range = place.offset as usize..(place.offset + place.size) as usize;
        let is_relocated = first.pointers.iter().any(|pointer| pointer.offset == place.offset);
        !is_relocated && first.bytes.get(range).is_some_and(|bytes| bytes.iter().any(|at| *at != 0))
    };
    let all = scalars(&program.types, global.ty, global.size);
    all.iter().filter(|place| place.kind == ScalarKind::Pointer).any(is_address)
}
