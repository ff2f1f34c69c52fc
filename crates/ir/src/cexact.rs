//! An expression as C that computes exactly the same as the IR, for use inside the rewritten source.
//!
//! The text stands in GNU C (gcc or clang, a little-endian Unix target, `-fwrapv`), where the
//! user's variables are in scope. It has no side effect but on the poison flag.
//!
//! # What the caller does
//! 1. It puts [`prelude`] once before the first function of the file. The text needs no
//!    preprocessor, since the rewritten text is preprocessed already.
//! 2. It gives a [`Names`], which says what C calls a local, global or function at the place where
//!    the text will stand. [`ScopedNames`] does so by the scopes of C and asks a function of the
//!    caller's for the temporaries.
//! 3. It declares a variable for each temporary that the text names, of type [`c_type`] of the
//!    temporary's machine type, or of any C type that converts to it (a captured operand has the
//!    type `__typeof__` gives).
//! 4. It chooses a [`Guard`]. The operators with an id at or after `Guard::from` check their
//!    operands: where one would trap, the flag named `Guard::poison`, an `int` lvalue, is set to 1
//!    and the operator's value is 0. A mutant whose evaluation set the flag counts as unknown.
//!    Expressions before `from` are the user's own, which the program evaluates on the same state
//!    in any case, so they need no guard.
//!
//! # What a text's C type is
//! An integer of N bits is an unsigned one of N bits (`lydian_u8` ... `lydian_u128`), `i1` an `int`
//! that is 0 or 1, an address a `char *`, floats are `float`, `double` and `long double`. So the text of `e != e'`
//! for a mutant is just the text of the IR's comparison.
//!
//! # How memory is read
//! A variable that is loaded whole by its own type is read by its name. All else is read through
//! types that may alias every other and have no alignment, so that the reads are defined wherever
//! the bytes are there. Text is never evaluated more than once for one occurrence in the tree.
//!
//! # What cannot be said
//! What has no name at that place (a shadowed variable, the address of a literal) gives an
//! [`Unspeakable`]; the caller makes no objective there or reports it.

use std::borrow::Cow;
use std::fmt::Write as _;

use lydian_base::{EntityId, SideTable};

use crate::program::expr::{BinOp, BitField, CastOp, CmpOp, Expr, ExprArena, ExprId, Type, UnOp};
use crate::program::function::{Body, LocalId, LocalKind, Storage};
use crate::program::{FuncId, GlobalId, Program};

mod names;
mod prelude;

pub use names::{ScopedNames, string_literal};
pub use prelude::{prelude, prelude_for};

/// Names in C of locals, globals and functions at the place where a text will stand. `None`: there is no
/// name.
pub trait Names {
    /// An lvalue that is the local (for a register temporary: any expression of its value).
    fn local(&self, local: LocalId) -> Option<String>;
    /// An lvalue that is the global. Not asked for string literals whose address does not show.
    fn global(&self, global: GlobalId) -> Option<String>;
    /// The function's name.
    fn function(&self, function: FuncId) -> Option<String>;
    /// The name of the variable that has this expression's value, if [`Self::share`] has made one.
    fn shared(&self, _expr: ExprId) -> Option<String> {
        None
    }
    /// Asked once for an expression that needs no guard, with its type and text: the name of a
    /// variable that stands for it from now on, if texts at this place share values.
    fn share(&self, _expr: ExprId, _ty: Type, _text: &str) -> Option<String> {
        None
    }
}

/// Which operators check their operands before they compute.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    /// The flag, an lvalue of type `int`, that is set to 1 where an operator would trap.
    pub poison: &'a str,
    /// An array of [`prelude`]'s type `lydian_pages`, zero at first, that remembers pages of memory
    /// that were read, so that loads from them need not ask whether they can be. It may live only
    /// as long as no memory is given back.
    pub pages: Option<&'a str>,
    /// The first expression that is guarded; those with lesser ids are not. Take the length of the
    /// body's own arena to guard what was added, and 0 to guard all.
    pub from: usize,
    /// Whether signed overflow is checked: then it poisons, whatever the id.
    pub overflow_traps: bool,
    /// The check of loads.
    pub loads: Loads,
}

/// The check of a guarded load before it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Nothing.
    Nothing,
    /// That each subscript of an array of known length is one that the array has.
    Subscripts,
    /// Its subscripts, that it stays in the variable it reads, and that the memory can be read, by
    /// the function that [`prelude`] was given.
    Everything,
}

/// The use of an address.
#[derive(Clone, Copy)]
enum Use<'g> {
    /// For itself.
    Address,
    /// To read there. The guard, if there is one, checks subscripts.
    Read(Option<&'g Guard<'g>>),
}

impl Use<'_> {
    const fn reads(self) -> bool {
        matches!(self, Self::Read(_))
    }
}

/// A subscript of an array of known length; 0 where the array has no such element, which sets the
/// poison flag.
fn checked_subscript(index: String, bound: Option<u64>, guard: &Guard<'_>) -> String {
    match bound {
        Some(bound) => format!("lydian_element({index}, {bound}ull, &{})", guard.poison),
        None => index,
    }
}

/// The pages that a guarded load passes.
fn pages<'a>(guard: &Guard<'a>) -> &'a str {
    guard.pages.unwrap_or("0")
}

/// Why an expression has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unspeakable {
    /// A local that has no name here.
    #[error("local {0} has no name at this place")]
    Local(LocalId),
    /// A global that has no name here.
    #[error("global {0} has no name at this place")]
    Global(GlobalId),
    /// A function that has no name here.
    #[error("function {0} has no name at this place")]
    Function(FuncId),
    /// An expression that breaks the verifier's rules.
    #[error("expression {0} is not well formed")]
    IllFormed(ExprId),
    /// A bit-field of more than 64 bits.
    #[error("expression {0} is a bit-field of more than 64 bits")]
    WideBits(ExprId),
    /// An integer of more than 64 bits, or the bits of a `long double`, where the target has none so
    /// wide.
    #[error("expression {0} is wider than the integers that compilers for the target have")]
    WideInteger(ExprId),
    /// A value of a 16-bit float type, which not every compiler has.
    #[error("expression {0} is of a 16-bit float type")]
    HalfFloat(ExprId),
    /// An expression nested too deep for C compilers.
    #[error("the expression is nested too deep")]
    TooDeep,
}

/// Writes expressions of one arena that is or extends a body's.
pub struct ExactC<'a> {
    program: &'a Program,
    body: &'a Body,
    arena: &'a ExprArena,
    types: Cow<'a, SideTable<ExprId, Type>>,
    names: &'a dyn Names,
    guard: Option<Guard<'a>>,
}

/// The C type of a text of this machine type, declared in [`prelude`].
pub const fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Int(1) => "int",
        Type::Int(8) => "lydian_u8",
        Type::Int(16) => "lydian_u16",
        Type::Int(32) => "lydian_u32",
        Type::Int(64) => "lydian_u64",
        Type::Int(_) => "lydian_u128",
        Type::F16 => "_Float16",
        Type::BF16 => "__bf16",
        Type::F32 => "float",
        Type::F64 => "double",
        Type::F80 => "long double",
        Type::Ptr => "char *",
    }
}

/// The signed integer type as wide as `ty`.
const fn signed_type(ty: Type) -> &'static str {
    match ty {
        Type::Int(8) => "lydian_s8",
        Type::Int(16) => "lydian_s16",
        Type::Int(1 | 32) => "lydian_s32",
        Type::Int(64) | Type::Ptr => "lydian_s64",
        _ => "lydian_s128",
    }
}

/// The ending of the prelude's names for a type.
const fn suffix(ty: Type) -> &'static str {
    match ty {
        Type::Int(1 | 8) => "8",
        Type::Int(16) => "16",
        Type::Int(32) => "32",
        Type::Int(64) => "64",
        Type::Int(_) => "128",
        Type::F16 => "f16",
        Type::BF16 => "bf16",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::F80 => "f80",
        Type::Ptr => "ptr",
    }
}

/// Compilers accept 256 nested parentheses by default.
const MAX_DEPTH: u32 = 60;

/// Longer texts are not worth compiling, and shared operands could make one exponentially long.
const MAX_LENGTH: usize = 1 << 16;

impl<'a> ExactC<'a> {
    /// Prepares to write expressions of `arena`, which is `body`'s or extends it. Without a guard
    /// nothing is checked: an operator that would trap does what the compiled C does.
    pub fn new(
        program: &'a Program,
        body: &'a Body,
        arena: &'a ExprArena,
        names: &'a dyn Names,
        guard: Option<Guard<'a>>,
    ) -> Self {
        let types = Cow::Owned(body.types_in(arena));
        Self { program, body, arena, types, names, guard }
    }

    /// The same with the types of the arena's expressions, for writing many of them.
    pub fn with_types(
        program: &'a Program,
        body: &'a Body,
        (arena, types): (&'a ExprArena, &'a SideTable<ExprId, Type>),
        names: &'a dyn Names,
        guard: Option<Guard<'a>>,
    ) -> Self {
        Self { program, body, arena, types: Cow::Borrowed(types), names, guard }
    }

    /// The expression as C, in parentheses where it has more than one token.
    ///
    /// # Errors
    /// Where something in it has no name at this place.
    pub fn text(&self, expr: ExprId) -> Result<String, Unspeakable> {
        self.value(expr, 0)
    }

    fn value(&self, expr: ExprId, depth: u32) -> Result<String, Unspeakable> {
        if let Some(name) = self.names.shared(expr) {
            return Ok(name);
        }
        let text = self.value_of(expr, depth)?;
        if text.len() > MAX_LENGTH {
            return Err(Unspeakable::TooDeep);
        }
        let unguarded = self.guard.is_some_and(|guard| expr.index() < guard.from);
        let name = match unguarded && !self.arena[expr].is_leaf() {
            true => self.names.share(expr, self.types[expr], &text),
            false => None,
        };
        Ok(name.unwrap_or(text))
    }

    fn value_of(&self, id: ExprId, depth: u32) -> Result<String, Unspeakable> {
        if depth > MAX_DEPTH {
            return Err(Unspeakable::TooDeep);
        }
        if matches!(self.types[id], Type::F16 | Type::BF16) {
            return Err(Unspeakable::HalfFloat(id));
        }
        let is_wide = matches!(self.types[id], Type::Int(65..));
        if is_wide && self.program.types.target.pointer_bits() == 32 {
            return Err(Unspeakable::WideInteger(id));
        }
        let next = depth + 1;
        match self.arena.get(id).ok_or(Unspeakable::IllFormed(id))? {
            Expr::Const(ty, bits) => Ok(constant(*ty, *bits)),
            Expr::Local(local) => {
                let name = self.names.local(*local).ok_or(Unspeakable::Local(*local))?;
                Ok(self.variable(&name, self.types[id]))
            }
            Expr::AddrLocal(local) => {
                let name = self.names.local(*local).ok_or(Unspeakable::Local(*local))?;
                Ok(format!("((char *)&{name})"))
            }
            Expr::AddrGlobal(global) => self.global_address(*global, false),
            Expr::AddrFunc(function) => {
                let name = self.names.function(*function);
                Ok(format!("((char *){})", name.ok_or(Unspeakable::Function(*function))?))
            }
            Expr::Load { ty, addr, volatile } => self.load(id, *ty, *addr, *volatile, next),
            Expr::LoadBits { field, addr } => self.load_bits(id, field, *addr, next),
            Expr::Unary(op, a) => {
                let ty = self.types[*a];
                if ty == Type::BOOL && *op != UnOp::Not {
                    return Err(Unspeakable::IllFormed(id));
                }
                Ok(self.unary(*op, ty, &self.value(*a, next)?))
            }
            Expr::Binary(op, a, b) => {
                let ty = self.types[*a];
                if ty == Type::BOOL && !matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) {
                    return Err(Unspeakable::IllFormed(id));
                }
                let (a, b) = (self.value(*a, next)?, self.value(*b, next)?);
                Ok(self.binary(id, *op, ty, &a, &b))
            }
            Expr::Cmp(op, a, b) => {
                let ty = self.types[*a];
                Ok(compare(*op, ty, &self.value(*a, next)?, &self.value(*b, next)?))
            }
            Expr::Cast(op, to, a) => {
                let from = self.types[*a];
                Ok(self.cast(id, *op, from, *to, &self.value(*a, next)?))
            }
            Expr::Field { .. } | Expr::Index { .. } => self.address(id, depth, Use::Address),
            Expr::Select { test, then, otherwise } => {
                let test = self.value(*test, next)?;
                let (then, otherwise) = (self.value(*then, next)?, self.value(*otherwise, next)?);
                Ok(format!("({test} ? {then} : {otherwise})"))
            }
            Expr::PtrDiff { a, b, size } => {
                let (a, b) = (self.value(*a, next)?, self.value(*b, next)?);
                if *size == 0 || *size > i64::MAX as u64 {
                    return Ok("0ull".to_owned());
                }
                let (a, b) = (widened(Type::Ptr, &a), widened(Type::Ptr, &b));
                // As compilers divide where nothing is left over.
                let divided = match size.is_power_of_two() {
                    true => format!(">> {}", size.trailing_zeros()),
                    false => format!("/ {size}ll"),
                };
                Ok(format!("((lydian_u64)((lydian_s64)({a} - {b}) {divided}))"))
            }
        }
    }

    fn guards(&self, id: ExprId) -> Option<&Guard<'a>> {
        self.guard.as_ref().filter(|guard| id.index() >= guard.from)
    }

    /// The guard of a load, if that checks so.
    fn guards_loads(&self, id: ExprId, checks: Loads) -> Option<&Guard<'a>> {
        self.guards(id).filter(|guard| guard.loads == checks)
    }

    /// An address. Where only what it holds is asked for, a string literal may stand for itself,
    /// though its address is not the one that the program has.
    fn address(&self, id: ExprId, depth: u32, wanted: Use<'_>) -> Result<String, Unspeakable> {
        if depth > MAX_DEPTH {
            return Err(Unspeakable::TooDeep);
        }
        match self.arena.get(id).ok_or(Unspeakable::IllFormed(id))? {
            Expr::AddrGlobal(global) => self.global_address(*global, wanted.reads()),
            Expr::Field { base, record, field } => {
                let record = self.program.types.records.get(*record);
                let field = record.and_then(|record| record.fields.get(*field as usize));
                let offset = field.ok_or(Unspeakable::IllFormed(id))?.bit_offset / 8;
                Ok(format!("({} + {offset}l)", self.address(*base, depth + 1, wanted)?))
            }
            Expr::Index { base, index, size, bound } => {
                let base = self.address(*base, depth + 1, wanted)?;
                let index = self.value(*index, depth + 1)?;
                let index = match wanted {
                    Use::Read(Some(guard)) => checked_subscript(index, *bound, guard),
                    Use::Read(None) | Use::Address => index,
                };
                Ok(match size {
                    1 => format!("({base} + (lydian_s64){index})"),
                    _ => format!("({base} + (lydian_s64)({index} * {size}ull))"),
                })
            }
            _ => self.value(id, depth),
        }
    }

    fn global_address(&self, global: GlobalId, read: bool) -> Result<String, Unspeakable> {
        if let Some(name) = self.names.global(global) {
            return Ok(format!("((char *)&{name})"));
        }
        let literal = self.program.globals.get(global).filter(|_| read).and_then(string_literal);
        literal.map(|text| format!("((char *){text})")).ok_or(Unspeakable::Global(global))
    }

    /// The value of a variable of the user's as its machine type.
    fn variable(&self, name: &str, ty: Type) -> String {
        match ty {
            // A temporary: a test's value.
            Type::Int(1) => format!("(({name}) != 0)"),
            _ if ty.is_float() => format!("({name})"),
            _ => format!("(({})({name}))", c_type(ty)),
        }
    }

    /// The variable whose whole value a load at this address is.
    fn whole_variable(&self, ty: Type, addr: ExprId) -> Option<String> {
        let (name, c_ty) = match self.arena.get(addr)? {
            Expr::AddrLocal(local) => (self.names.local(*local)?, self.body.locals.get(*local)?.ty),
            Expr::AddrGlobal(global) => {
                (self.names.global(*global)?, self.program.globals.get(*global)?.ty)
            }
            _ => return None,
        };
        (self.program.types.scalar(c_ty)? == ty).then_some(name)
    }

    fn load(
        &self,
        id: ExprId,
        ty: Type,
        addr: ExprId,
        volatile: bool,
        depth: u32,
    ) -> Result<String, Unspeakable> {
        if let Some(name) = self.whole_variable(ty, addr) {
            return Ok(self.variable(&name, ty));
        }
        let suffix = suffix(ty);
        if let Some(guard) = self.guards_loads(id, Loads::Everything) {
            let addr = self.guarded_address(
                addr,
                self.program.types.target.stored_bytes(ty),
                guard,
                depth,
            )?;
            return Ok(format!("lydian_get{suffix}({addr}, &{}, {})", guard.poison, pages(guard)));
        }
        let checks = Use::Read(self.guards_loads(id, Loads::Subscripts));
        let addr = self.address(addr, depth, checks)?;
        let remembering =
            self.guard.as_ref().filter(|guard| guard.loads == Loads::Everything && !volatile);
        if let Some(pages) = remembering.and_then(|guard| guard.pages) {
            return Ok(format!("lydian_own{suffix}({addr}, {pages})"));
        }
        let qualifier = if volatile { "volatile " } else { "" };
        Ok(format!("(*({qualifier}lydian_a{suffix} *){addr})"))
    }

    /// The address of a guarded load. One that is made from a variable's must stay inside of that
    /// variable: whatever lies beside it is another object.
    fn guarded_address(
        &self,
        addr: ExprId,
        bytes: u64,
        guard: &Guard<'_>,
        depth: u32,
    ) -> Result<String, Unspeakable> {
        let (mut at, mut offset) = (addr, String::from("0l"));
        let size = loop {
            match self.arena.get(at).ok_or(Unspeakable::IllFormed(at))? {
                Expr::Field { base, record, field } => {
                    let record = self.program.types.records.get(*record);
                    let field = record.and_then(|record| record.fields.get(*field as usize));
                    let field = field.ok_or(Unspeakable::IllFormed(at))?;
                    let _ = write!(offset, " + {}l", field.bit_offset / 8);
                    at = *base;
                }
                Expr::Index { base, index, size, bound } => {
                    let index = self.value(*index, depth + 1)?;
                    let index = checked_subscript(index, *bound, guard);
                    let _ = write!(offset, " + (lydian_s64)({index} * {size}ull)");
                    at = *base;
                }
                Expr::AddrGlobal(global) => {
                    break self.program.globals.get(*global).map(|g| g.size);
                }
                Expr::AddrLocal(local) => {
                    break self.body.locals.get(*local).and_then(|local| match local.storage {
                        Storage::Memory { size, .. } => Some(size),
                        Storage::Register(_) => None,
                    });
                }
                _ => break None,
            }
        };
        let read = Use::Read(Some(guard));
        let Some(size) = size else { return self.address(addr, depth, read) };
        let base = self.address(at, depth, read)?;
        Ok(format!("lydian_within({base}, {offset}, {bytes}ul, {size}ul, &{})", guard.poison))
    }

    fn load_bits(
        &self,
        id: ExprId,
        field: &BitField,
        addr: ExprId,
        depth: u32,
    ) -> Result<String, Unspeakable> {
        if field.bits > 64 {
            return Err(Unspeakable::WideBits(id));
        }
        let (ty, bytes, sign) = (c_type(field.ty), field.bytes(), u8::from(field.signed));
        let place = format!("{bytes}, {}, {}, {sign}", field.bit, field.bits);
        let guard = self.guards_loads(id, Loads::Everything);
        let addr = match guard {
            Some(guard) => self.guarded_address(addr, bytes, guard, depth)?,
            None => {
                let checks = Use::Read(self.guards_loads(id, Loads::Subscripts));
                self.address(addr, depth, checks)?
            }
        };
        Ok(match guard {
            Some(guard) => {
                let (bad, pages) = (guard.poison, pages(guard));
                format!("(({ty})lydian_checked_bits({addr}, {place}, &{bad}, {pages}))")
            }
            None => format!("(({ty})lydian_bits({addr}, {place}))"),
        })
    }

    fn unary(&self, op: UnOp, ty: Type, a: &str) -> String {
        let checks = self.guard.as_ref().filter(|guard| guard.overflow_traps);
        match (op, checks) {
            (UnOp::NegS, Some(guard)) => {
                format!("lydian_subs{}(0, {a}, &{})", suffix(ty), guard.poison)
            }
            (UnOp::FNeg, _) => format!("(-{a})"),
            (UnOp::Not, _) if ty == Type::BOOL => format!("(!{a})"),
            (UnOp::Not, _) => format!("(({})~{a})", c_type(ty)),
            _ => format!("(({})-{})", c_type(ty), widened(ty, a)),
        }
    }

    fn binary(&self, id: ExprId, op: BinOp, ty: Type, a: &str, b: &str) -> String {
        let (u, s, n) = (c_type(ty), signed_type(ty), suffix(ty));
        let guard = self.guards(id);
        let checks = self.guard.as_ref().filter(|guard| guard.overflow_traps);
        let plain = |symbol| format!("(({u})({} {symbol} {}))", widened(ty, a), widened(ty, b));
        let call = |name, flag: &Guard<'_>| format!("lydian_{name}{n}({a}, {b}, &{})", flag.poison);
        match op {
            BinOp::AddS if checks.is_some() => call("adds", checks.expect("just tested")),
            BinOp::SubS if checks.is_some() => call("subs", checks.expect("just tested")),
            BinOp::MulS if checks.is_some() => call("muls", checks.expect("just tested")),
            BinOp::ShlS if checks.is_some() => call("shls", checks.expect("just tested")),
            BinOp::AddU | BinOp::AddS => plain("+"),
            BinOp::SubU | BinOp::SubS => plain("-"),
            BinOp::MulU | BinOp::MulS => plain("*"),
            BinOp::And => plain("&"),
            BinOp::Or => plain("|"),
            BinOp::Xor => plain("^"),
            BinOp::FAdd => format!("({a} + {b})"),
            BinOp::FSub => format!("({a} - {b})"),
            BinOp::FMul => format!("({a} * {b})"),
            BinOp::FDiv => format!("({a} / {b})"),
            _ => match guard {
                Some(guard) => call(guarded_name(op), guard),
                None => match op {
                    BinOp::DivU => plain("/"),
                    BinOp::RemU => plain("%"),
                    BinOp::DivS => format!("(({u})(({s}){a} / ({s}){b}))"),
                    BinOp::RemS => format!("(({u})(({s}){a} % ({s}){b}))"),
                    BinOp::ShrU => format!("(({u})({} >> {b}))", widened(ty, a)),
                    BinOp::ShrS => format!("(({u})(({s}){a} >> {b}))"),
                    _ => format!("(({u})({} << {b}))", widened(ty, a)),
                },
            },
        }
    }

    fn cast(&self, id: ExprId, op: CastOp, from: Type, to: Type, a: &str) -> String {
        let (u, s) = (c_type(to), signed_type(to));
        match op {
            CastOp::Trunc if to == Type::BOOL => format!("((int)({a} & 1))"),
            CastOp::SExt if from == Type::BOOL => format!("(({u})-(lydian_s64){a})"),
            CastOp::SExt => format!("(({u})({s})({}){a})", signed_type(from)),
            CastOp::SToF if from == Type::BOOL => format!("(({u})-{a})"),
            CastOp::SToF => format!("(({u})({}){a})", signed_type(from)),
            CastOp::FToS | CastOp::FToU => match self.guards(id) {
                Some(guard) => {
                    let sign = if op == CastOp::FToS { "s" } else { "u" };
                    let wide = if from == Type::F80 { "x" } else { "" };
                    let n = suffix(to);
                    format!("lydian_fto{sign}{wide}{n}({a}, &{})", guard.poison)
                }
                None if op == CastOp::FToS => format!("(({u})({s}){a})"),
                None => format!("(({u}){a})"),
            },
            CastOp::Bits if from == to => a.to_owned(),
            CastOp::Bits if from.is_float() || to.is_float() => {
                let is_pointer = from == Type::Ptr || to == Type::Ptr;
                match (from.is_float(), is_pointer) {
                    (true, false) => format!("lydian_bits_of_{}({a})", suffix(from)),
                    (true, true) => format!("((char *)lydian_bits_of_{}({a}))", suffix(from)),
                    (false, _) => format!("lydian_{}_of_bits(({}){a})", suffix(to), bits_type(to)),
                }
            }
            CastOp::Bits if from == Type::BOOL || to == Type::BOOL => a.to_owned(),
            CastOp::Bits if from == Type::Ptr => format!("(({u}){})", widened(from, a)),
            CastOp::Trunc | CastOp::ZExt | CastOp::UToF | CastOp::FToF | CastOp::Bits => {
                format!("(({u}){a})")
            }
        }
    }
}

const fn bits_type(ty: Type) -> &'static str {
    match ty {
        Type::F16 | Type::BF16 => "lydian_u16",
        Type::F32 => "lydian_u32",
        Type::F80 => "lydian_u128",
        _ => "lydian_u64",
    }
}

/// An operand that C will not promote to `int`, whose signed arithmetic could overflow.
fn widened(ty: Type, text: &str) -> String {
    match ty {
        Type::Int(8 | 16) => format!("(lydian_u32){text}"),
        // Conversion to a wider integer would extend the sign.
        Type::Ptr => format!("(lydian_u64)(unsigned long){text}"),
        _ => text.to_owned(),
    }
}

const fn guarded_name(op: BinOp) -> &'static str {
    match op {
        BinOp::DivU => "divu",
        BinOp::DivS => "divs",
        BinOp::RemU => "remu",
        BinOp::RemS => "rems",
        BinOp::ShrU => "shru",
        BinOp::ShrS => "shrs",
        // A left shift that is not checked for overflow is one of bits.
        _ => "shlu",
    }
}

fn compare(op: CmpOp, ty: Type, a: &str, b: &str) -> String {
    let symbol = op.c_symbol();
    let signed = matches!(op, CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS);
    match ty {
        _ if ty.is_float() && !op.is_float() => {
            let n = suffix(ty);
            let bits = |text| format!("lydian_bits_of_{n}({text})");
            format!("({} {symbol} {})", bits(a), bits(b))
        }
        Type::Int(1) if signed => format!("(-{a} {symbol} -{b})"),
        _ if signed => format!("(({s}){a} {symbol} ({s}){b})", s = signed_type(ty)),
        Type::Ptr => format!("({} {symbol} {})", widened(ty, a), widened(ty, b)),
        _ => format!("({a} {symbol} {b})"),
    }
}

fn constant(ty: Type, bits: u128) -> String {
    match ty {
        Type::Int(1) => (bits & 1).to_string(),
        Type::Int(8 | 16) => format!("(({}){bits})", c_type(ty)),
        Type::Int(32) => format!("{bits}u"),
        Type::Int(64) => format!("{bits}ull"),
        Type::Int(_) => {
            let (high, low) = ((bits >> 64) as u64, bits as u64);
            format!("(((lydian_u128){high}ull << 64) | {low}ull)")
        }
        Type::Ptr => format!("((char *){bits}ul)"),
        Type::F32 => format!("lydian_f32_of_bits({bits}u)"),
        Type::F64 => format!("lydian_f64_of_bits({bits}ull)"),
        Type::F16 | Type::BF16 => format!("lydian_{}_of_bits({bits}u)", suffix(ty)),
        Type::F80 => {
            let (high, low) = ((bits >> 64) as u64, bits as u64);
            format!("lydian_f80_of_words({high}ull, {low}ull)")
        }
    }
}

#[cfg(test)]
mod tests;
