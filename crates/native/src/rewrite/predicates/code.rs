//! Expressions as code of a stack machine, for the mutants of a user's program.
//!
//! A file has tens of thousands of mutants, and a compiler takes about a millisecond for each that
//! it gets as C. So expressions that are seldom evaluated become code of a stack machine
//! (`runtime/evaluate.h`), which means the same as the C of [`lydian_ir::cexact`]. Expressions for
//! which the machine has no operators stay C: numbers of more than 64 bits, and floats other than
//! `float` and `double`.

use lydian_base::{EntityId, SideTable};
use lydian_ir::{
    BinOp, BitField, Body, CastOp, CmpOp, ConditionId, Expr, ExprArena, ExprId, Program, Storage,
    Type, UnOp,
};
use lydian_objective::Pred;
use rustc_hash::FxHashMap;

use crate::rewrite::predicates::parameters::ParameterNames;

/// Defines an enum whose numbers C knows by name.
macro_rules! numbered {
    ($(#[$about:meta])* $visible:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        $visible enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// Their names, in the order of their numbers.
            $visible const NAMES: &[&str] = &[$(stringify!($variant)),*];
        }
    };
}

/// The members of a C enum for these names: a prefix and the name in capitals, with its number.
pub(crate) fn c_numbers(prefix: &str, names: &[&str]) -> String {
    let names = names.iter().enumerate();
    names.map(|(number, name)| format!(", {prefix}{} = {number}", name.to_uppercase())).collect()
}

pub(crate) use numbered;

numbered! {
    /// The operators of the machine.
    pub(crate) enum Op {
        End,
        Const,
        Word,
        Slot,
        Set,
        Load,
        Own,
        Get,
        Bits,
        GetBits,
        Neg,
        Not,
        FNeg,
        FAdd,
        FSub,
        FMul,
        FDiv,
        Eq,
        Ne,
        LtU,
        LeU,
        LtS,
        LeS,
        FEq,
        FNe,
        FLt,
        FLe,
        Mask,
        SExt,
        SToF,
        UToF,
        FToS,
        FToU,
        FToF,
        Element,
        Within,
        Difference,
        Known,
        Both,
        Either,
        Differ,
        Negated,
        /// A condition of an event: its value, and whether it has one.
        Event,
        /// Whether a condition was reached.
        Reached,
        /// The byte of a mutant.
        Byte,
        /// The byte that a mutant must have, by whether its condition decides and by the
        /// condition's value.
        Wanted,
        Add,
        Sub,
        Mul,
        And,
        Or,
        Xor,
        AddS,
        SubS,
        MulS,
        DivU,
        RemU,
        DivS,
        RemS,
        ShrU,
        ShrS,
        ShlU,
        ShlS,
    }
}

/// The most words on the stack.
const STACK: usize = 60;

/// The most shared values of a place.
const SLOTS: usize = 1024;

/// The numbers of the operators, and the size of the stack: C that stands before the machine.
pub(crate) fn operators() -> String {
    format!("enum {{ STACK = {STACK}{} }};\n", c_numbers("OP_", Op::NAMES))
}

/// Appends a number, seven bits a byte, the least first.
pub(crate) fn number(code: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        code.push(value as u8 | 128);
        value >>= 7;
    }
    code.push(value as u8);
}

/// The values that several labels and mutants of a place share: those of the program's own
/// expressions, and those of parts of predicates that depend on a decision's event only.
#[derive(Debug, Default)]
pub(crate) struct SharedValues {
    /// Computes them.
    pub(crate) code: Vec<u8>,
    slots: FxHashMap<SharedPart, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SharedPart {
    Own(ExprId),
    OfEvent(Pred),
}

impl SharedValues {
    /// How many there are.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    fn get(&self, part: &SharedPart) -> Option<ValueCode> {
        let slot = *self.slots.get(part)?;
        Some(ValueCode::with_number(Op::Slot, slot as u64))
    }

    /// Computes a value once, in a slot. Returns the value unchanged if all slots are taken.
    fn add(&mut self, part: SharedPart, value: ValueCode) -> Option<ValueCode> {
        if value.depth > STACK {
            return None;
        }
        let slot = self.slots.len();
        if slot == SLOTS {
            return Some(value);
        }
        self.slots.insert(part, slot);
        self.code.extend(value.then_number(Op::Set, &[slot as u64]).code);
        Some(ValueCode::with_number(Op::Slot, slot as u64))
    }
}

/// When the event of a decision has the value of a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValuePresence {
    /// Always.
    Always,
    /// Where the condition was reached.
    Reached,
    /// There, and where this bit of the values is set.
    OrBit(usize),
}

/// The event of a decision at its outcome. The first words of the place have a bit for each value,
/// and as many words after them have a bit for each reached condition.
#[derive(Clone, Copy)]
pub(crate) struct DecisionEvent<'a> {
    /// How many words there are for values.
    pub(crate) words: usize,
    /// By condition.
    pub(crate) known: &'a [ValuePresence],
    /// The numbers of mutants' bytes.
    pub(crate) bytes: &'a FxHashMap<(ConditionId, ExprId), usize>,
}

/// Writes expressions of one function as code.
pub(crate) struct CodeWriter<'a> {
    pub(crate) program: &'a Program,
    pub(crate) body: &'a Body,
    pub(crate) arena: &'a ExprArena,
    pub(crate) types: &'a SideTable<ExprId, Type>,
    pub(crate) names: &'a ParameterNames<'a>,
    /// The first expression that checks its operands.
    pub(crate) guard_from: usize,
    pub(crate) overflow_traps: bool,
    pub(crate) shared: &'a mut SharedValues,
    /// The event of the decision at whose outcome the code runs, if it does.
    pub(crate) outcome: Option<DecisionEvent<'a>>,
}

/// The code of a value, with its depth and whether it checks its operands.
#[derive(Default)]
struct ValueCode {
    code: Vec<u8>,
    /// How many words of the stack it takes.
    depth: usize,
    /// Whether it may find that it has no value.
    checks: bool,
}

impl ValueCode {
    fn with_number(op: Op, value: u64) -> Self {
        Self::default().pushed(op, &[value])
    }

    /// Appends an operator that pushes a value and takes none.
    fn pushed(self, op: Op, operands: &[u64]) -> Self {
        Self { depth: 1, ..self.then_number(op, operands) }
    }

    fn then(mut self, op: Op, operands: &[u8]) -> Self {
        self.code.push(op as u8);
        self.code.extend(operands);
        self
    }

    fn then_number(mut self, op: Op, operands: &[u64]) -> Self {
        self.code.push(op as u8);
        operands.iter().for_each(|operand| number(&mut self.code, *operand));
        self
    }

    fn checking(mut self) -> Self {
        self.checks = true;
        self
    }

    /// This and another one, which stands above it on the stack.
    fn and(mut self, other: &Self) -> Self {
        self.code.extend(&other.code);
        self.depth = self.depth.max(other.depth + 1);
        self.checks |= other.checks;
        self
    }
}

/// The bits of a value that a word holds.
const fn bits(ty: Type) -> Option<u8> {
    match ty {
        Type::Int(bits @ (1 | 8 | 16 | 32 | 64)) => Some(bits),
        Type::F32 => Some(32),
        Type::F64 | Type::Ptr => Some(64),
        _ => None,
    }
}

impl CodeWriter<'_> {
    /// The code of a predicate, which leaves its truth value. `None` if the machine has no
    /// operators for it, or the place lacks a name.
    pub(crate) fn pred(&mut self, pred: &Pred) -> Option<Vec<u8>> {
        let value = self.truth(pred)?;
        self.ended(value)
    }

    /// The code of a Boolean expression, which leaves its truth value.
    pub(crate) fn test(&mut self, expr: ExprId) -> Option<Vec<u8>> {
        let value = self.known(expr)?;
        self.ended(value)
    }

    /// The code of the byte that the mutants of a condition must have to differ from it where it
    /// decides.
    pub(crate) fn wanted(&mut self, condition: ConditionId, decides: &Pred) -> Option<Vec<u8>> {
        let decides = self.truth(decides)?;
        let own = self.truth(&Pred::Cond(condition))?;
        self.ended(decides.and(&own).then(Op::Wanted, &[]))
    }

    fn ended(&self, value: ValueCode) -> Option<Vec<u8>> {
        (value.depth <= STACK).then(|| value.then(Op::End, &[]).code)
    }

    fn known(&mut self, expr: ExprId) -> Option<ValueCode> {
        Some(self.value(expr)?.then(Op::Known, &[]))
    }

    fn truth(&mut self, pred: &Pred) -> Option<ValueCode> {
        match pred {
            Pred::Expr(expr) => return self.known(*expr),
            Pred::Const(value) => {
                return Some(ValueCode::with_number(Op::Const, 1 + u64::from(*value)));
            }
            Pred::Cond(condition) => return self.condition(*condition),
            Pred::Reached(condition) => {
                let index = condition.index() as u64;
                let words = self.outcome?.words as u64;
                return Some(ValueCode::default().pushed(Op::Reached, &[index, words]));
            }
            Pred::Mutant(condition, expr) => {
                let byte = *self.outcome?.bytes.get(&(*condition, *expr))?;
                return Some(ValueCode::with_number(Op::Byte, byte as u64));
            }
            Pred::Not(_) | Pred::And(..) | Pred::Or(..) | Pred::Xor(..) => {}
        }
        let part = SharedPart::OfEvent(pred.clone());
        if let Some(known) = self.shared.get(&part) {
            return Some(known);
        }
        let mut two = |a: &Pred, b: &Pred, op| {
            let (a, b) = (self.truth(a)?, self.truth(b)?);
            Some(a.and(&b).then(op, &[]))
        };
        let value = match pred {
            Pred::And(a, b) => two(a, b, Op::Both)?,
            Pred::Or(a, b) => two(a, b, Op::Either)?,
            Pred::Xor(a, b) => two(a, b, Op::Differ)?,
            Pred::Not(a) => self.truth(a)?.then(Op::Negated, &[]),
            _ => return None,
        };
        if !pred.is_of_event() {
            return (value.depth <= STACK).then_some(value);
        }
        self.shared.add(part, value)
    }

    fn condition(&self, condition: ConditionId) -> Option<ValueCode> {
        let event = self.outcome?;
        let index = condition.index();
        let known = match event.known.get(index)? {
            ValuePresence::Always => 0,
            ValuePresence::Reached => 1,
            ValuePresence::OrBit(bit) => 2 + *bit as u64,
        };
        Some(ValueCode::default().pushed(Op::Event, &[index as u64, event.words as u64, known]))
    }

    fn guards(&self, id: ExprId) -> bool {
        id.index() >= self.guard_from
    }

    fn pointer_bits(&self) -> u8 {
        self.program.types.target.pointer_bits()
    }

    fn width(&self, ty: Type) -> Option<u8> {
        if ty == Type::Ptr { Some(self.pointer_bits()) } else { bits(ty) }
    }

    fn value(&mut self, id: ExprId) -> Option<ValueCode> {
        if let Some(known) = self.shared.get(&SharedPart::Own(id)) {
            return Some(known);
        }
        let value = self.value_of(id)?;
        let is_own = !self.guards(id) && !self.arena[id].is_leaf();
        if !is_own || value.checks {
            return (value.depth <= STACK).then_some(value);
        }
        self.shared.add(SharedPart::Own(id), value)
    }

    fn value_of(&mut self, id: ExprId) -> Option<ValueCode> {
        let ty = self.types[id];
        let own = self.width(ty)?;
        match *self.arena.get(id)? {
            Expr::Const(_, value) => {
                let value = u64::try_from(value).ok()?;
                Some(ValueCode::with_number(Op::Const, value))
            }
            Expr::Local(local) => match self.body.locals[local].storage {
                Storage::Register(_) => self.word(self.names.register(local)),
                Storage::Memory { .. } => None,
            },
            Expr::AddrLocal(local) => self.word(self.names.local_address(local)),
            Expr::AddrGlobal(global) => self.word(self.names.global_address(global)),
            Expr::AddrFunc(function) => self.word(self.names.function_address(function)),
            Expr::Load { ty, addr, volatile } => self.load(id, ty, addr, volatile),
            Expr::LoadBits { field, addr } => self.bit_field(id, &field, addr),
            Expr::Unary(op, a) => self.unary(op, own, a),
            Expr::Binary(op, a, b) => self.binary(id, op, a, b),
            Expr::Cmp(op, a, b) => self.compare(op, a, b),
            Expr::Cast(op, to, a) => self.cast(op, to, a),
            Expr::Field { .. } | Expr::Index { .. } => self.address(id, false),
            Expr::PtrDiff { a, b, size } => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match size {
                    0 => Some(ValueCode::with_number(Op::Const, 0)),
                    _ if size > i64::MAX as u64 => Some(ValueCode::with_number(Op::Const, 0)),
                    // Compilers divide exactly by shifting.
                    _ if size.is_power_of_two() => {
                        let shift = ValueCode::with_number(Op::Const, size.trailing_zeros().into());
                        Some(a.and(&b).then(Op::Sub, &[64]).and(&shift).then(Op::ShrS, &[64]))
                    }
                    _ => Some(a.and(&b).then_number(Op::Difference, &[size])),
                }
            }
            Expr::Select { .. } => None,
        }
    }

    fn word(&self, word: Option<usize>) -> Option<ValueCode> {
        let before = self.outcome.map_or(0, |outcome| 2 * outcome.words);
        Some(ValueCode::with_number(Op::Word, (before + word?) as u64))
    }

    /// The code of an address. With `checks`, subscripts must be in range.
    fn address(&mut self, id: ExprId, checks: bool) -> Option<ValueCode> {
        let pointer = self.pointer_bits();
        match *self.arena.get(id)? {
            Expr::Field { base, record, field } => {
                let record = self.program.types.records.get(record)?;
                let offset = record.fields.get(field as usize)?.bit_offset / 8;
                let base = self.address(base, checks)?;
                if offset == 0 {
                    return Some(base);
                }
                let offset = ValueCode::with_number(Op::Const, offset);
                Some(base.and(&offset).then(Op::Add, &[pointer]))
            }
            Expr::Index { base, index, size, bound } => {
                let base = self.address(base, checks)?;
                let index = self.subscript(index, (size, bound), checks)?;
                Some(base.and(&index).then(Op::Add, &[pointer]))
            }
            _ => self.value(id),
        }
    }

    /// How far an element lies from the first.
    fn subscript(
        &mut self,
        index: ExprId,
        (size, bound): (u64, Option<u64>),
        checks: bool,
    ) -> Option<ValueCode> {
        let mut index = self.value(index)?;
        if let Some(bound) = bound.filter(|_| checks) {
            index = index.then_number(Op::Element, &[bound]).checking();
        }
        if size == 1 {
            return Some(index);
        }
        Some(index.and(&ValueCode::with_number(Op::Const, size)).then(Op::Mul, &[64]))
    }

    /// The code of an address for a checked read. An address in a variable must stay inside of the
    /// variable.
    fn guarded_address(&mut self, addr: ExprId, bytes: u64) -> Option<ValueCode> {
        let mut at = addr;
        let mut offset: Option<ValueCode> = None;
        let size = loop {
            let part = match *self.arena.get(at)? {
                Expr::Field { base, record, field } => {
                    let record = self.program.types.records.get(record)?;
                    let offset = record.fields.get(field as usize)?.bit_offset / 8;
                    at = base;
                    ValueCode::with_number(Op::Const, offset)
                }
                Expr::Index { base, index, size, bound } => {
                    at = base;
                    self.subscript(index, (size, bound), true)?
                }
                Expr::AddrGlobal(global) => {
                    break self.program.globals.get(global).map(|found| found.size);
                }
                Expr::AddrLocal(local) => {
                    break self.body.locals.get(local).and_then(|local| match local.storage {
                        Storage::Memory { size, .. } => Some(size),
                        Storage::Register(_) => None,
                    });
                }
                _ => break None,
            };
            offset = Some(match offset {
                None => part,
                Some(offset) => offset.and(&part).then(Op::Add, &[64]),
            });
        };
        let Some(size) = size else { return self.address(addr, true) };
        let offset = offset.unwrap_or_else(|| ValueCode::with_number(Op::Const, 0));
        let base = self.value(at)?;
        Some(base.and(&offset).then_number(Op::Within, &[bytes, size]).checking())
    }

    /// Whether a load reads a variable as it is.
    fn is_whole_variable(&self, ty: Type, addr: ExprId) -> bool {
        let of = match self.arena[addr] {
            Expr::AddrLocal(local) => self.body.locals.get(local).map(|local| local.ty),
            Expr::AddrGlobal(global) => self.program.globals.get(global).map(|global| global.ty),
            _ => None,
        };
        of.and_then(|of| self.program.types.scalar(of)) == Some(ty)
    }

    fn load(&mut self, id: ExprId, ty: Type, addr: ExprId, volatile: bool) -> Option<ValueCode> {
        let own = self.width(ty)?;
        let read = own.max(8);
        let loaded = if self.is_whole_variable(ty, addr) {
            self.value(addr)?.then(Op::Load, &[read])
        } else if self.guards(id) {
            let bytes = self.program.types.target.stored_bytes(ty);
            self.guarded_address(addr, bytes)?.then(Op::Get, &[read]).checking()
        } else {
            let op = if volatile { Op::Load } else { Op::Own };
            self.address(addr, false)?.then(op, &[read])
        };
        Some(if own == 1 { self.nonzero(loaded) } else { loaded })
    }

    /// A `_Bool`'s byte as 0 or 1.
    fn nonzero(&self, value: ValueCode) -> ValueCode {
        value.and(&ValueCode::with_number(Op::Const, 0)).then(Op::Ne, &[])
    }

    fn bit_field(&mut self, id: ExprId, field: &BitField, addr: ExprId) -> Option<ValueCode> {
        if field.bits > 64 || field.bits == 0 {
            return None;
        }
        let own = self.width(field.ty)?;
        let bytes = field.bytes();
        let place = [u8::try_from(bytes).ok()?, field.bit, field.bits, u8::from(field.signed), own];
        Some(match self.guards(id) {
            true => self.guarded_address(addr, bytes)?.then(Op::GetBits, &place).checking(),
            false => self.address(addr, false)?.then(Op::Bits, &place),
        })
    }

    fn unary(&mut self, op: UnOp, bits: u8, a: ExprId) -> Option<ValueCode> {
        let ty = self.types[a];
        let a = self.value(a)?;
        Some(match op {
            UnOp::NegS if self.overflow_traps => {
                let zero = ValueCode::with_number(Op::Const, 0);
                zero.and(&a).then(Op::SubS, &[bits]).checking()
            }
            UnOp::NegU | UnOp::NegS if ty != Type::BOOL => a.then(Op::Neg, &[bits]),
            UnOp::Not => a.then(Op::Not, &[bits]),
            UnOp::FNeg if ty.is_float() => a.then(Op::FNeg, &[bits]),
            _ => return None,
        })
    }

    fn binary(&mut self, id: ExprId, op: BinOp, a: ExprId, b: ExprId) -> Option<ValueCode> {
        let ty = self.types[a];
        let bits = self.width(ty)?;
        if ty == Type::BOOL && !matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) {
            return None;
        }
        let both = self.value(a)?.and(&self.value(b)?);
        let may_trap = |value: ValueCode| if self.guards(id) { value.checking() } else { value };
        let checked = self.overflow_traps;
        Some(match op {
            BinOp::AddS if checked => both.then(Op::AddS, &[bits]).checking(),
            BinOp::SubS if checked => both.then(Op::SubS, &[bits]).checking(),
            BinOp::MulS if checked => both.then(Op::MulS, &[bits]).checking(),
            BinOp::ShlS if checked => both.then(Op::ShlS, &[bits]).checking(),
            BinOp::AddU | BinOp::AddS => both.then(Op::Add, &[bits]),
            BinOp::SubU | BinOp::SubS => both.then(Op::Sub, &[bits]),
            BinOp::MulU | BinOp::MulS => both.then(Op::Mul, &[bits]),
            BinOp::And => both.then(Op::And, &[bits]),
            BinOp::Or => both.then(Op::Or, &[bits]),
            BinOp::Xor => both.then(Op::Xor, &[bits]),
            BinOp::FAdd => both.then(Op::FAdd, &[bits]),
            BinOp::FSub => both.then(Op::FSub, &[bits]),
            BinOp::FMul => both.then(Op::FMul, &[bits]),
            BinOp::FDiv => both.then(Op::FDiv, &[bits]),
            BinOp::DivU => may_trap(both.then(Op::DivU, &[bits])),
            BinOp::DivS => may_trap(both.then(Op::DivS, &[bits])),
            BinOp::RemU => may_trap(both.then(Op::RemU, &[bits])),
            BinOp::RemS => may_trap(both.then(Op::RemS, &[bits])),
            BinOp::ShrU => may_trap(both.then(Op::ShrU, &[bits])),
            BinOp::ShrS => may_trap(both.then(Op::ShrS, &[bits])),
            BinOp::ShlU | BinOp::ShlS => may_trap(both.then(Op::ShlU, &[bits])),
        })
    }

    fn compare(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> Option<ValueCode> {
        let ty = self.types[a];
        let bits = self.width(ty)?;
        let (a, b) = (self.value(a)?, self.value(b)?);
        // Greater-than is less-than with the operands exchanged.
        let (op, a, b) = match op {
            CmpOp::GtU => (CmpOp::LtU, b, a),
            CmpOp::GeU => (CmpOp::LeU, b, a),
            CmpOp::GtS => (CmpOp::LtS, b, a),
            CmpOp::GeS => (CmpOp::LeS, b, a),
            CmpOp::FGt => (CmpOp::FLt, b, a),
            CmpOp::FGe => (CmpOp::FLe, b, a),
            op => (op, a, b),
        };
        let both = a.and(&b);
        Some(match op {
            CmpOp::Eq => both.then(Op::Eq, &[]),
            CmpOp::Ne => both.then(Op::Ne, &[]),
            CmpOp::LtU => both.then(Op::LtU, &[]),
            CmpOp::LeU => both.then(Op::LeU, &[]),
            CmpOp::LtS => both.then(Op::LtS, &[bits]),
            CmpOp::LeS => both.then(Op::LeS, &[bits]),
            CmpOp::FEq => both.then(Op::FEq, &[bits]),
            CmpOp::FNe => both.then(Op::FNe, &[bits]),
            CmpOp::FLt => both.then(Op::FLt, &[bits]),
            CmpOp::FLe => both.then(Op::FLe, &[bits]),
            CmpOp::GtU | CmpOp::GeU | CmpOp::GtS | CmpOp::GeS | CmpOp::FGt | CmpOp::FGe => {
                return None;
            }
        })
    }

    fn cast(&mut self, op: CastOp, to: Type, a: ExprId) -> Option<ValueCode> {
        let from = self.types[a];
        let (wide, own) = (self.width(from)?, self.width(to)?);
        let a = self.value(a)?;
        Some(match op {
            CastOp::Trunc => a.then(Op::Mask, &[own]),
            CastOp::ZExt => a,
            CastOp::SExt => a.then(Op::SExt, &[wide, own]),
            CastOp::SToF => a.then(Op::SToF, &[wide, own]),
            CastOp::UToF => a.then(Op::UToF, &[wide, own]),
            CastOp::FToS => a.then(Op::FToS, &[wide, own]).checking(),
            CastOp::FToU => a.then(Op::FToU, &[wide, own]).checking(),
            CastOp::FToF => a.then(Op::FToF, &[wide, own]),
            CastOp::Bits if wide == own => a,
            CastOp::Bits => a.then(Op::Mask, &[own]),
        })
    }
}

#[cfg(test)]
mod tests;
