//! A static analysis of aliasing: for which pointers of the inputs does it make a difference
//! whether they lead into the same object?
//!
//! Two pointers into one object differ from two pointers into two objects with the same contents
//! only in three cases: one of them is written through and the other read, pointers are compared or
//! subtracted, or an object ends its life. The analysis finds once what the code does on any path.
//! For pointers to values that are never written in this way, an object of its own is no
//! restriction.

use std::collections::BTreeSet;

use lydian_inputs::lazy::shape::Shape;
use lydian_ir::expr::type_of;
use lydian_ir::libc::{library_function, model_of};
use lydian_ir::{
    AddressOrigin, Body, CType, CTypeId, CTypes, Callee, Expr, ExprId, FuncId, GlobalId, IntKind,
    Program, Stmt, Storage, Type,
};

/// Operations of some functions on pointers.
#[derive(Debug, Default)]
pub(crate) struct Aliasing {
    /// The machine types that are written through pointers.
    written: BTreeSet<Type>,
    /// Whether any memory may be written, or end its life.
    anything: bool,
    /// Whether pointers are compared with each other.
    compares: bool,
    /// The sizes of elements by which pointers are moved.
    moved_by: BTreeSet<u64>,
    /// The globals that are written.
    globals: BTreeSet<GlobalId>,
}

impl Aliasing {
    /// The operations of functions.
    pub(crate) fn of(program: &Program, functions: &[FuncId]) -> Self {
        let mut found = Self::default();
        for func in functions {
            if let Some(body) = &program.functions[*func].body {
                found.add_body(program, body);
            }
        }
        found
    }

    fn add_body(&mut self, program: &Program, body: &Body) {
        for expr in body.exprs.values() {
            self.add_expr(body, expr);
        }
        for stmt in body.stmts.values() {
            self.add_stmt(program, body, stmt);
        }
    }

    fn add_expr(&mut self, body: &Body, expr: &Expr) {
        match expr {
            Expr::Cmp(_, a, b) => {
                let is_pointer = |expr: &ExprId| {
                    let ty =
                        type_of(&body.exprs, *expr, |local| match body.locals[local].storage {
                            Storage::Register(ty) => ty,
                            Storage::Memory { .. } => Type::Ptr,
                        });
                    ty == Type::Ptr && !matches!(body.exprs[*expr], Expr::Const(..))
                };
                self.compares |= is_pointer(a) && is_pointer(b);
            }
            Expr::PtrDiff { .. } => self.compares = true,
            Expr::Index { base, index, size, .. }
                if is_through_pointer(body, *base)
                    && !matches!(body.exprs[*index], Expr::Const(_, 0)) =>
            {
                self.moved_by.insert(*size);
            }
            _ => {}
        }
    }

    fn add_stmt(&mut self, program: &Program, body: &Body, stmt: &Stmt) {
        match stmt {
            Stmt::Store { addr, ty, .. } => match AddressOrigin::of(&body.exprs, *addr) {
                AddressOrigin::Pointer => _ = self.written.insert(*ty),
                AddressOrigin::Global(global) => _ = self.globals.insert(global),
                AddressOrigin::Local => {}
            },
            Stmt::StoreBits { addr, .. } | Stmt::VaStart { list: addr } => {
                self.add_any(body, *addr);
            }
            Stmt::Copy { dst, .. } | Stmt::Zero { dst, .. } => self.add_any(body, *dst),
            Stmt::Call { callee: Callee::Direct(func), dst_addr, .. } => {
                dst_addr.iter().for_each(|dst| self.add_any(body, *dst));
                let function = &program.functions[*func];
                self.anything |= function.body.is_none() && may_write(program, *func);
            }
            Stmt::Call { callee: Callee::Indirect(_), .. } | Stmt::Havoc(_) => self.anything = true,
            _ => {}
        }
    }

    fn add_any(&mut self, body: &Body, addr: ExprId) {
        match AddressOrigin::of(&body.exprs, addr) {
            AddressOrigin::Pointer => self.anything = true,
            AddressOrigin::Global(global) => _ = self.globals.insert(global),
            AddressOrigin::Local => {}
        }
    }

    /// Whether the functions may show that two pointers to values of a shape lead into the same
    /// object.
    pub(crate) fn may_show(&self, shape: &Shape) -> bool {
        self.anything || self.compares || has_part(shape, &|ty| self.written.contains(&ty))
    }

    /// Whether the functions may show that a pointer leads to a global.
    pub(crate) fn may_show_global(&self, global: GlobalId, shape: &Shape) -> bool {
        self.globals.contains(&global) || self.may_show(shape)
    }

    /// Whether pointers are moved by elements of a size.
    pub(crate) fn moves_by(&self, size: u64) -> bool {
        self.moved_by.contains(&size)
    }
}

fn is_through_pointer(body: &Body, addr: ExprId) -> bool {
    matches!(AddressOrigin::of(&body.exprs, addr), AddressOrigin::Pointer)
}

/// Whether a function without a body may write to memory that its arguments point to, or free it.
fn may_write(program: &Program, func: FuncId) -> bool {
    let function = &program.functions[func];
    if let Some(model) = model_of(&program.types, &function.name, function.ty) {
        let effects = library_function(model.name).and_then(|row| row.effects);
        return effects.is_none_or(|of| !of.writes.is_empty() || !of.frees.is_empty());
    }
    let CType::Function { params, variadic, .. } = program.types.get(function.ty) else {
        return true;
    };
    let writable =
        |ty: &CTypeId| matches!(program.types.get(*ty), CType::Pointer { to_const: false, .. });
    *variadic || params.iter().any(writable)
}

/// Whether a shape has a number or pointer of a machine type that `is_meant`, or bytes without a
/// type.
fn has_part(shape: &Shape, is_meant: &dyn Fn(Type) -> bool) -> bool {
    match shape {
        Shape::Number { machine, .. } => is_meant(*machine),
        Shape::Pointer(_) => is_meant(Type::Ptr),
        Shape::Raw { .. } => true,
        Shape::Array { element, .. } => has_part(element, is_meant),
        Shape::Record { members, tail, .. } => {
            let is_gap = |name: &Option<String>, shape: &Shape| {
                name.is_none() && matches!(shape, Shape::Raw { .. })
            };
            let mut members = members.iter().filter(|member| !is_gap(&member.name, &member.shape));
            members.any(|member| has_part(&member.shape, is_meant))
                || tail.as_ref().is_some_and(|tail| has_part(&tail.element, is_meant))
        }
    }
}

/// The places of values of a type within another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacesWithin {
    /// The first place.
    pub(crate) first: u64,
    /// The distance from one to the next, in bytes, and their number.
    pub(crate) elements: (u64, u64),
}

/// Adjacent members of one type. For a pointer to the first of them they are like an array: C does
/// not allow that, but programs walk over them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberRun {
    /// The number of bytes with values of the type, from a place on.
    pub(crate) bytes: u64,
    /// Whether such a value lies directly before that place.
    pub(crate) follows: bool,
}

impl PlacesWithin {
    /// The run from the first place on, given all places of the type.
    pub(crate) fn run_among(self, all: &[Self]) -> MemberRun {
        let bytes = |place: &Self| place.elements.0 * place.elements.1;
        let alike = || all.iter().filter(|place| place.elements.0 == self.elements.0);
        let mut end = self.first + bytes(&self);
        while let Some(next) = alike().find(|place| place.first == end) {
            end += bytes(next);
        }
        let follows = alike().any(|place| place.first + bytes(place) == self.first);
        MemberRun { bytes: end - self.first, follows }
    }
}

/// The most places of one type within another.
const MOST_PLACES: usize = 64;

/// The places in a value of a type at which a value of another type lies, itself included, and
/// whether these are all. Integer types that differ only in their sign are alike.
pub(crate) fn places_within(
    types: &CTypes,
    whole: CTypeId,
    part: CTypeId,
) -> (Vec<PlacesWithin>, bool) {
    let mut found = Vec::new();
    add_places(types, whole, part, 0, &mut found);
    let are_all = found.len() <= MOST_PLACES;
    found.truncate(MOST_PLACES);
    (found, are_all)
}

fn add_places(
    types: &CTypes,
    whole: CTypeId,
    part: CTypeId,
    at: u64,
    found: &mut Vec<PlacesWithin>,
) {
    if found.len() > MOST_PLACES {
        return;
    }
    if are_alike(types, whole, part) {
        let size = types.size(whole).unwrap_or(1).max(1);
        found.push(PlacesWithin { first: at, elements: (size, 1) });
        return;
    }
    match types.get(whole) {
        CType::Array { element, length: Some(length) } => {
            let size = types.size(*element).unwrap_or(1).max(1);
            let mut inner = Vec::new();
            add_places(types, *element, part, at, &mut inner);
            for place in inner {
                if place.elements.1 == 1 {
                    found.push(PlacesWithin { first: place.first, elements: (size, *length) });
                    continue;
                }
                for index in (0..*length).take(MOST_PLACES + 1 - found.len().min(MOST_PLACES)) {
                    found.push(PlacesWithin { first: place.first + index * size, ..place });
                }
            }
        }
        CType::Record(record) => {
            for field in types.records[*record].fields.iter().filter(|field| field.bits.is_none()) {
                add_places(types, field.ty, part, at + field.bit_offset / 8, found);
            }
        }
        _ => {}
    }
}

/// Whether values of a type are single characters, with which C allows access to any memory.
pub(crate) fn is_character(types: &CTypes, ty: CTypeId) -> bool {
    types.scalar(ty) == Some(Type::Int(8))
}

/// Whether two types are one type for C's rules on access (strict aliasing). A pointer to `void` or
/// to characters counts as any pointer, since programs exchange pointers through such.
fn are_alike(types: &CTypes, a: CTypeId, b: CTypeId) -> bool {
    if a == b {
        return true;
    }
    if let (Some(to), Some(other)) = (types.pointee(a), types.pointee(b)) {
        let is_general = |ty: CTypeId| *types.get(ty) == CType::Void || is_character(types, ty);
        let is_function = |ty: CTypeId| matches!(types.get(ty), CType::Function { .. });
        return is_general(to)
            || is_general(other)
            || is_function(to) && is_function(other)
            || are_alike(types, to, other);
    }
    let is_bool = |ty| matches!(types.get(ty), CType::Int { kind: IntKind::Bool, .. });
    match (types.scalar(a), types.scalar(b)) {
        (Some(x), Some(y)) => x == y && x != Type::Ptr && is_bool(a) == is_bool(b),
        _ => false,
    }
}
