//! Atomic builtins (`__atomic_*`, `__c11_atomic_*`, `__sync_*`), with the meaning that they have
//! while no other thread runs: plain reads and writes, one after the other.

use lydian_ir::{CmpOp, Expr, ExprId, Stmt, Terminator, UnOp};

use crate::ast::{self, BinaryOp};
use crate::ctypes::{CType, QualType};
use crate::lower::builder::FunctionLowering;
use crate::lower::expressions::convert;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::Scalar;

/// The operations of atomic builtins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum AtomicOp {
    /// Gives the value.
    Load,
    /// Sets it.
    Store,
    /// Sets it and gives the old one.
    Exchange,
    /// Computes a new value; gives the old or the new one.
    Update {
        /// How.
        op: BinaryOp,
        /// `nand`: the result's complement.
        negated: bool,
        /// Whether it gives the new value.
        gives_new: bool,
    },
    /// Sets it to the lesser or greater of the two; gives the old or the new one.
    Choose {
        /// Whether the greater is kept.
        greater: bool,
        /// Whether it gives the new value.
        gives_new: bool,
    },
    /// Sets it to zero.
    Clear,
    /// Sets a flag; gives whether it was set.
    TestAndSet,
    /// Copies it to where the second operand points.
    LoadInto,
    /// Copies to it from where the second operand points.
    StoreFrom,
    /// Copies to it from the second operand, and the old value to the third.
    ExchangeThrough,
    /// Sets it if it is the expected one.
    CompareExchange(ExchangeForm),
}

/// The forms of compare-and-exchange: where the expected value is, and the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum ExchangeForm {
    /// Through a pointer, where the value that was found is written; gives whether it was equal.
    Pointer,
    /// Through a pointer, as the desired value is; gives whether it was equal.
    Pointers,
    /// As a value; gives whether it was equal.
    Equal,
    /// As a value; gives the value that was found.
    Found,
}

/// The object of a compare-and-exchange, with the value that it had.
#[derive(Clone, Copy)]
struct ExchangeTarget {
    addr: ExprId,
    old: ExprId,
    scalar: Scalar,
    object: QualType,
}

impl AtomicOp {
    /// The operation of a builtin.
    pub(in crate::lower) fn of_name(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("__sync_") {
            // Clang names the variant for the size of the object.
            let rest = rest.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
            return match rest {
                "bool_compare_and_swap" => Some(Self::CompareExchange(ExchangeForm::Equal)),
                "val_compare_and_swap" => Some(Self::CompareExchange(ExchangeForm::Found)),
                "lock_test_and_set" | "swap" => Some(Self::Exchange),
                "lock_release" => Some(Self::Clear),
                "fetch_and_umax" | "fetch_and_max" => {
                    Some(Self::Choose { greater: true, gives_new: false })
                }
                "fetch_and_umin" | "fetch_and_min" => {
                    Some(Self::Choose { greater: false, gives_new: false })
                }
                _ => match (rest.strip_prefix("fetch_and_"), rest.strip_suffix("_and_fetch")) {
                    (Some(op), _) => Self::update(op, false),
                    (_, Some(op)) => Self::update(op, true),
                    _ => None,
                },
            };
        }
        let rest = name.strip_prefix("__atomic_").or_else(|| name.strip_prefix("__c11_atomic_"))?;
        let is_c11 = name.starts_with("__c11");
        match rest {
            "load_n" => Some(Self::Load),
            "store_n" => Some(Self::Store),
            "exchange_n" => Some(Self::Exchange),
            "load" if is_c11 => Some(Self::Load),
            "store" | "init" if is_c11 => Some(Self::Store),
            "exchange" if is_c11 => Some(Self::Exchange),
            "load" => Some(Self::LoadInto),
            "store" => Some(Self::StoreFrom),
            "exchange" => Some(Self::ExchangeThrough),
            "compare_exchange" => Some(Self::CompareExchange(ExchangeForm::Pointers)),
            "clear" => Some(Self::Clear),
            "test_and_set" => Some(Self::TestAndSet),
            "compare_exchange_n" => Some(Self::CompareExchange(ExchangeForm::Pointer)),
            "compare_exchange_strong" | "compare_exchange_weak" if is_c11 => {
                Some(Self::CompareExchange(ExchangeForm::Pointer))
            }
            _ => match (rest.strip_prefix("fetch_"), rest.strip_suffix("_fetch")) {
                (Some(op), _) => Self::update(op, false),
                (_, Some(op)) => Self::update(op, true),
                _ => None,
            },
        }
    }

    fn update(op: &str, gives_new: bool) -> Option<Self> {
        let op_of = |op| Some(Self::Update { op, negated: false, gives_new });
        match op {
            "add" => op_of(BinaryOp::Add),
            "sub" => op_of(BinaryOp::Sub),
            "and" => op_of(BinaryOp::BitAnd),
            "or" => op_of(BinaryOp::BitOr),
            "xor" => op_of(BinaryOp::BitXor),
            "max" => Some(Self::Choose { greater: true, gives_new }),
            "min" => Some(Self::Choose { greater: false, gives_new }),
            "nand" => Some(Self::Update { op: BinaryOp::BitAnd, negated: true, gives_new }),
            _ => None,
        }
    }

    /// Positions of the operands in clang's order (pointer, memory order, values) for the
    /// builtins that take memory orders.
    const fn values(self) -> &'static [usize] {
        match self {
            Self::Load | Self::Clear | Self::TestAndSet => &[],
            Self::CompareExchange(_) => &[2, 4],
            Self::ExchangeThrough => &[2, 3],
            _ => &[2],
        }
    }
}

impl FunctionLowering<'_, '_> {
    /// Lowers `__atomic_*` and `__c11_atomic_*`; gives the value, if there is one.
    pub(in crate::lower) fn atomic(
        &mut self,
        e: ast::ExprId,
        name: &str,
        args: &[ast::ExprId],
    ) -> Lowering<Option<ExprId>> {
        let span = self.unit.exprs[e].span;
        let unsupported =
            || UnsupportedConstruct::new(format!("the atomic operation `{name}`"), span);
        let op = AtomicOp::of_name(name).ok_or_else(unsupported)?;
        let pointer = *args.first().ok_or_else(unsupported)?;
        // `__c11_atomic_init` has no memory order.
        let without_order = name.ends_with("_init");
        let position = |at: &usize| if without_order { at - 1 } else { *at };
        let values: Option<Vec<_>> =
            op.values().iter().map(|at| args.get(position(at)).copied()).collect();
        self.atomic_operation(e, op, pointer, &values.ok_or_else(unsupported)?)
    }

    /// Lowers `__sync_*`.
    pub(in crate::lower) fn sync(
        &mut self,
        e: ast::ExprId,
        op: AtomicOp,
        args: &[ast::ExprId],
    ) -> Lowering<Option<ExprId>> {
        match args.split_first() {
            Some((pointer, values)) => self.atomic_operation(e, op, *pointer, values),
            None => {
                Err(UnsupportedConstruct::new("this atomic operation", self.unit.exprs[e].span))
            }
        }
    }

    fn atomic_operation(
        &mut self,
        e: ast::ExprId,
        op: AtomicOp,
        pointer: ast::ExprId,
        values: &[ast::ExprId],
    ) -> Lowering<Option<ExprId>> {
        let text = self.text(e);
        let result = self.apart(|l| l.within(text, |l| l.atomic_value(e, op, pointer, values)))?;
        if let Some(value) = result {
            match self.body.exprs[value] {
                Expr::Local(temp) => self.capture(self.text(e), temp),
                _ => self.captures.opaque = true,
            }
        }
        Ok(result)
    }

    fn atomic_value(
        &mut self,
        e: ast::ExprId,
        op: AtomicOp,
        pointer: ast::ExprId,
        values: &[ast::ExprId],
    ) -> Lowering<Option<ExprId>> {
        let unit = self.unit;
        let span = unit.exprs[e].span;
        let CType::Pointer(object) = *unit.ty(unit.exprs[pointer].ty) else {
            return Err(UnsupportedConstruct::new("this atomic operation", span));
        };
        if self.is_aggregate(object.ty) {
            return self.atomic_copy(op, pointer, values, object, span);
        }
        if matches!(op, AtomicOp::LoadInto | AtomicOp::StoreFrom | AtomicOp::ExchangeThrough) {
            return self.atomic_copy(op, pointer, values, object, span);
        }
        let scalar = match op {
            // A flag is a byte, whatever the pointer is to.
            AtomicOp::TestAndSet | AtomicOp::Clear if matches!(unit.ty(object), CType::Void) => {
                Scalar::BOOL
            }
            _ => self.scalar(object.ty, span)?,
        };
        self.refuse_narrow(scalar, span)?;
        let later = self.effects_of_all(values);
        let addr = self.operand(pointer, &later)?;
        let mut operands = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let later = self.effects_of_all(&values[index + 1..]);
            operands.push((self.operand(*value, &later)?, *value));
        }
        let old = self.load_object(addr, scalar);
        if op == AtomicOp::Store {
            let new = self.atomic_operand(&operands, 0, scalar, span)?;
            self.store_object(addr, new, scalar);
            return Ok(None);
        }
        if op == AtomicOp::Clear {
            let zero = self.zero(scalar.ty);
            self.store_object(addr, zero, scalar);
            return Ok(None);
        }
        if op == AtomicOp::TestAndSet {
            let result = self.scalar(unit.exprs[e].ty.ty, span)?;
            let was_set = self.test(old);
            let was_set = self.test_value(was_set, result);
            let (_, kept) = self.keep(was_set, unit.exprs[e].ty.ty, span)?;
            let one = self.constant(scalar.ty, 1);
            self.store_object(addr, one, scalar);
            return Ok(Some(self.read(kept)));
        }
        let (_, old) = self.keep(old, object.ty, span)?;
        let old = self.read(old);
        match op {
            AtomicOp::Choose { greater, gives_new } => {
                let by = self.atomic_operand(&operands, 0, scalar, span)?;
                let new = self.lesser_or_greater(greater, old, by, (object.ty, scalar), span)?;
                self.store_object(addr, new, scalar);
                Ok(Some(if gives_new { new } else { old }))
            }
            AtomicOp::Load
            | AtomicOp::Store
            | AtomicOp::Clear
            | AtomicOp::TestAndSet
            | AtomicOp::LoadInto
            | AtomicOp::StoreFrom
            | AtomicOp::ExchangeThrough => Ok(Some(old)),
            AtomicOp::Exchange => {
                let new = self.atomic_operand(&operands, 0, scalar, span)?;
                self.store_object(addr, new, scalar);
                Ok(Some(old))
            }
            AtomicOp::Update { op, negated, gives_new } => {
                let by = self.atomic_operand(&operands, 0, scalar, span)?;
                let new = self.atomic_update(op, negated, (old, scalar), by, span)?;
                let (_, new) = self.keep(new, object.ty, span)?;
                let new = self.read(new);
                self.store_object(addr, new, scalar);
                Ok(Some(if gives_new { new } else { old }))
            }
            AtomicOp::CompareExchange(expected) => {
                let target = ExchangeTarget { addr, old, scalar, object };
                self.compare_exchange(e, expected, target, &operands).map(Some)
            }
        }
    }

    /// Operations that copy bytes, and those on structs.
    fn atomic_copy(
        &mut self,
        op: AtomicOp,
        pointer: ast::ExprId,
        values: &[ast::ExprId],
        object: QualType,
        span: lydian_base::Span,
    ) -> Lowering<Option<ExprId>> {
        let unsupported = || UnsupportedConstruct::new("an atomic operation on this type", span);
        let through = |value: &ast::ExprId| {
            matches!(self.unit.ty(self.unit.exprs[*value].ty), CType::Pointer(_))
        };
        let pointers =
            matches!(op, AtomicOp::LoadInto | AtomicOp::StoreFrom | AtomicOp::ExchangeThrough);
        if pointers && !values.iter().all(through) {
            return Err(unsupported());
        }
        let later = self.effects_of_all(values);
        let addr = self.operand(pointer, &later)?;
        let addr = self.pointer_temp(addr);
        let addr = self.read(addr);
        let mut operands = Vec::new();
        for value in values {
            let place = if pointers { self.rvalue(*value)? } else { self.aggregate(*value)? };
            let place = self.pointer_temp(place);
            operands.push(self.read(place));
        }
        match (op, &operands[..]) {
            (AtomicOp::Load, []) => {
                let temp = self.memory_temp(object.ty, span)?;
                self.copy(temp, addr, object.ty, span)?;
                Ok(Some(temp))
            }
            (AtomicOp::LoadInto, [to]) => {
                self.copy(*to, addr, object.ty, span)?;
                Ok(None)
            }
            (AtomicOp::Store | AtomicOp::StoreFrom, [from]) => {
                self.copy(addr, *from, object.ty, span)?;
                Ok(None)
            }
            (AtomicOp::Exchange, [from]) => {
                let temp = self.memory_temp(object.ty, span)?;
                self.copy(temp, addr, object.ty, span)?;
                self.copy(addr, *from, object.ty, span)?;
                Ok(Some(temp))
            }
            (AtomicOp::ExchangeThrough, [from, to]) => {
                // The two may be one object.
                let temp = self.memory_temp(object.ty, span)?;
                self.copy(temp, *from, object.ty, span)?;
                self.copy(*to, addr, object.ty, span)?;
                self.copy(addr, temp, object.ty, span)?;
                Ok(None)
            }
            _ => Err(unsupported()),
        }
    }

    /// The lesser or greater of two integers, chosen by a branch.
    fn lesser_or_greater(
        &mut self,
        greater: bool,
        old: ExprId,
        by: ExprId,
        (ty, scalar): (crate::ctypes::TypeId, Scalar),
        span: lydian_base::Span,
    ) -> Lowering<ExprId> {
        let op = match (greater, scalar.signed) {
            (true, true) => CmpOp::GtS,
            (true, false) => CmpOp::GtU,
            (false, true) => CmpOp::LtS,
            (false, false) => CmpOp::LtU,
        };
        let (_, by) = self.keep(by, ty, span)?;
        let by = self.read(by);
        let dst = self.temp(ty, span)?;
        self.emit(Stmt::Assign { dst, value: old });
        let cond = self.expr(Expr::Cmp(op, by, old));
        let (then_to, else_to) = (self.new_block(), self.new_block());
        self.terminate_user(Terminator::Branch { cond, then_to, else_to, origin: None });
        self.start(then_to);
        self.emit(Stmt::Assign { dst, value: by });
        self.goto_and_start(else_to);
        Ok(self.read(dst))
    }

    fn load_object(&mut self, addr: ExprId, scalar: Scalar) -> ExprId {
        self.expr(Expr::Load { ty: scalar.ty, addr, volatile: false })
    }

    fn store_object(&mut self, addr: ExprId, value: ExprId, scalar: Scalar) {
        self.emit(Stmt::Store { addr, value, ty: scalar.ty, volatile: false });
    }

    fn atomic_operand(
        &mut self,
        operands: &[(ExprId, ast::ExprId)],
        index: usize,
        to: Scalar,
        span: lydian_base::Span,
    ) -> Lowering<ExprId> {
        let Some((value, e)) = operands.get(index) else {
            return Err(UnsupportedConstruct::new("this atomic operation", span));
        };
        let from = self.scalar(self.unit.exprs[*e].ty.ty, span)?;
        Ok(self.convert(*value, from, to))
    }

    fn atomic_update(
        &mut self,
        op: BinaryOp,
        negated: bool,
        (old, scalar): (ExprId, Scalar),
        by: ExprId,
        span: lydian_base::Span,
    ) -> Lowering<ExprId> {
        // Atomic arithmetic wraps, whatever the type.
        let unsigned = Scalar::new(scalar.ty, false);
        let is_integer = matches!(scalar.ty, lydian_ir::Type::Int(_)) && !scalar.is_bool;
        let Some(ir_op) = convert::arithmetic(op, unsigned).filter(|_| is_integer) else {
            return Err(UnsupportedConstruct::new("an atomic operation on this type", span));
        };
        let new = self.expr(Expr::Binary(ir_op, old, by));
        Ok(if negated { self.unary(UnOp::Not, new) } else { new })
    }

    fn compare_exchange(
        &mut self,
        e: ast::ExprId,
        expected: ExchangeForm,
        target: ExchangeTarget,
        operands: &[(ExprId, ast::ExprId)],
    ) -> Lowering<ExprId> {
        let ExchangeTarget { addr, old, scalar, object } = target;
        let span = self.unit.exprs[e].span;
        let desired = match (expected, operands.get(1)) {
            (ExchangeForm::Pointers, Some((pointer, _))) => self.load_object(*pointer, scalar),
            _ => self.atomic_operand(operands, 1, scalar, span)?,
        };
        let (_, desired) = self.keep(desired, object.ty, span)?;
        let desired = self.read(desired);
        let at = match expected {
            ExchangeForm::Pointer | ExchangeForm::Pointers => {
                operands.first().map(|(pointer, _)| *pointer)
            }
            ExchangeForm::Equal | ExchangeForm::Found => None,
        };
        let wanted = match at {
            Some(pointer) => self.load_object(pointer, scalar),
            None => self.atomic_operand(operands, 0, scalar, span)?,
        };
        let equal = self.expr(Expr::Cmp(CmpOp::Eq, old, wanted));
        let result_type = self.unit.exprs[e].ty.ty;
        let result = match expected {
            ExchangeForm::Found => old,
            ExchangeForm::Pointer | ExchangeForm::Pointers | ExchangeForm::Equal => {
                let to = self.scalar(result_type, span)?;
                let truth = self.test_value(equal, to);
                let (_, temp) = self.keep(truth, result_type, span)?;
                self.read(temp)
            }
        };
        let (same, differs, join) = (self.new_block(), self.new_block(), self.new_block());
        let cond = match expected {
            ExchangeForm::Found => equal,
            ExchangeForm::Pointer | ExchangeForm::Pointers | ExchangeForm::Equal => {
                self.test(result)
            }
        };
        let branch = Terminator::Branch { cond, then_to: same, else_to: differs, origin: None };
        self.terminate_user(branch);
        self.start(same);
        self.store_object(addr, desired, scalar);
        self.terminate(Terminator::Goto(join));
        self.start(differs);
        if let Some(pointer) = at {
            self.store_object(pointer, old, scalar);
        }
        self.terminate(Terminator::Goto(join));
        self.start(join);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_builtins_are_known_by_their_names() {
        let add = |gives_new| AtomicOp::Update { op: BinaryOp::Add, negated: false, gives_new };
        for (name, op) in [
            ("__atomic_load_n", Some(AtomicOp::Load)),
            ("__c11_atomic_load", Some(AtomicOp::Load)),
            ("__atomic_load", Some(AtomicOp::LoadInto)),
            ("__atomic_frobnicate", None),
            ("__sync_lock_release_4", Some(AtomicOp::Clear)),
            ("__atomic_fetch_add", Some(add(false))),
            ("__atomic_add_fetch", Some(add(true))),
            ("__sync_fetch_and_add_4", Some(add(false))),
            ("__sync_add_and_fetch", Some(add(true))),
            (
                "__sync_bool_compare_and_swap_8",
                Some(AtomicOp::CompareExchange(ExchangeForm::Equal)),
            ),
        ] {
            assert_eq!(AtomicOp::of_name(name), op, "{name}");
        }
    }
}
