//! `va_start`, `va_arg`, `va_end`, `va_copy`, and `alloca`.
//!
//! `va_arg` is a load where the list's `overflow_arg_area` points, which then goes on to the next
//! slot: no argument of a function that the IR has is passed in registers ([`lydian_ir::variadic`]).

use lydian_ir::variadic::{list_bytes, list_is_array, next_argument, slot, slot_align};
use lydian_ir::{BinOp, CastOp, Expr, ExprId, LocalId, Stmt, Type};

use crate::ast;
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, layout_of};

/// The default alignment of `alloca`, in bytes.
const ALLOCA_ALIGN: u64 = 16;

/// The builtins for variable arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum VaOp {
    /// `va_start`.
    Start,
    /// `va_end`.
    End,
    /// `va_copy`.
    Copy,
}

impl FunctionLowering<'_, '_> {
    /// `va_start`, `va_end` and `va_copy`.
    pub(in crate::lower) fn va_builtin(
        &mut self,
        e: ast::ExprId,
        op: VaOp,
        args: &[ast::ExprId],
    ) -> Lowering<()> {
        let span = self.unit.exprs[e].span;
        let missing = || UnsupportedConstruct::new("this builtin", span);
        let list = *args.first().ok_or_else(missing)?;
        match op {
            VaOp::Start => {
                let list = self.apart(|l| l.list_address(list))?;
                self.within(span, |l| l.emit(Stmt::VaStart { list }));
                Ok(())
            }
            VaOp::End => self.discard(list),
            VaOp::Copy => {
                let from = *args.get(1).ok_or_else(missing)?;
                let later = self.effects_of(from);
                let dst = match list_is_array(self.target()) {
                    true => self.apart(|l| l.operand(list, &later))?,
                    false => {
                        let dst = self.apart(|l| l.address(list))?;
                        let dst = self.within(span, |l| l.pointer_temp(dst));
                        self.read(dst)
                    }
                };
                let src = self.apart(|l| l.list_address(from))?;
                let size = list_bytes(self.target());
                self.within(span, |l| l.emit(Stmt::Copy { dst, src, size }));
                Ok(())
            }
        }
    }

    /// The address of a `va_list`. Where that is an array, it is what the list's name means.
    fn list_address(&mut self, list: ast::ExprId) -> Lowering<ExprId> {
        match list_is_array(self.target()) {
            true => self.rvalue(list),
            false => self.address(list),
        }
    }

    /// The address of the next variable argument, in a new temporary; the list goes on to the one
    /// after it.
    pub(in crate::lower) fn va_arg(
        &mut self,
        e: ast::ExprId,
        list: ast::ExprId,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let Some(layout) = layout_of(self.unit, expr.ty.ty) else {
            return Err(UnsupportedConstruct::new(
                self.module.type_description(expr.ty.ty),
                expr.span,
            ));
        };
        let ty = self.ctype(expr.ty.ty);
        let list = self.apart(|l| l.list_address(list))?;
        let target = self.target();
        self.within(expr.span, |l| {
            let list = l.pointer_temp(list);
            let list = l.read(list);
            let next = l.offset_addr(list, next_argument(target));
            let mut here = l.expr(Expr::Load { ty: Type::Ptr, addr: next, volatile: false });
            let align = slot_align(target, layout.align);
            if align > slot(target) {
                here = l.aligned_up(here, align);
            }
            let here = l.pointer_temp(here);
            let here = l.read(here);
            let value = l.offset_addr(here, layout.size.next_multiple_of(slot(target)));
            l.emit(Stmt::Store { addr: next, value, ty: Type::Ptr, volatile: false });
            l.emit(Stmt::VaArg { at: here, ty });
            Ok(here)
        })
    }

    /// `va_arg` of a scalar type, as a value.
    pub(in crate::lower) fn va_arg_value(
        &mut self,
        e: ast::ExprId,
        list: ast::ExprId,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let scalar = self.scalar(expr.ty.ty, expr.span)?;
        let addr = self.va_arg(e, list)?;
        let value = self.expr(Expr::Load { ty: scalar.ty, addr, volatile: false });
        let value = self.extended(value, scalar);
        let (_, temp) = self.within(expr.span, |l| l.keep(value, expr.ty.ty, expr.span))?;
        self.capture(self.text(e), temp);
        Ok(self.read(temp))
    }

    /// An address, kept in a temporary.
    pub(in crate::lower) fn pointer_temp(&mut self, value: ExprId) -> LocalId {
        let void = self.module.program.types.void();
        let pointer = self.module.program.types.pointer(void);
        let dst = self.temp_of(pointer, Type::Ptr);
        self.emit(Stmt::Assign { dst, value });
        dst
    }

    /// An address rounded up to a power of two.
    fn aligned_up(&mut self, addr: ExprId, align: u64) -> ExprId {
        let word = Type::Int(64);
        let number = self.cast(CastOp::Bits, word, addr);
        let (more, mask) = (i128::from(align - 1), -i128::from(align));
        let (more, mask) = (self.constant(word, more), self.constant(word, mask));
        let sum = self.expr(Expr::Binary(BinOp::AddU, number, more));
        let cut = self.expr(Expr::Binary(BinOp::And, sum, mask));
        self.cast(CastOp::Bits, Type::Ptr, cut)
    }

    /// `alloca` and `__builtin_alloca_with_align`, whose alignment is in bits.
    pub(in crate::lower) fn alloca(
        &mut self,
        e: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let Some((size, rest)) = args.split_first() else {
            return Err(UnsupportedConstruct::new("this builtin", expr.span));
        };
        let align = match rest.first() {
            None => ALLOCA_ALIGN,
            Some(bits) => self
                .module
                .constant_integer(*bits)
                .and_then(|bits| u64::try_from(bits / 8).ok())
                .filter(|bytes| bytes.is_power_of_two())
                .ok_or_else(|| UnsupportedConstruct::new("this alignment", expr.span))?,
        };
        let from = self.scalar(self.unit.exprs[*size].ty.ty, expr.span)?;
        let size = self.apart(|l| l.rvalue(*size))?;
        let size = self.convert(size, from, Scalar::INDEX);
        let dst = self.temp(expr.ty.ty, expr.span)?;
        self.within(expr.span, |l| l.emit(Stmt::Alloca { dst, size, align, array: false }));
        self.capture(self.text(e), dst);
        Ok(self.read(dst))
    }
}
