//! Lvalues: the objects that expressions designate, and reading and writing them.

use lydian_base::Span;
use lydian_ir as ir;
use lydian_ir::{BitField, Expr, ExprId, LocalId, Stmt, StmtId, Type};

use crate::ast::{
    self, CastKind, DeclRef, ExprKind, FieldRef, UnaryOp, ValueCategory, VarId, VarStorage,
};
use crate::ctypes::{ArrayLength, CType, Quals};
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, scalar_of};

/// The object that an lvalue designates.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) enum LValue {
    /// A register.
    Register(LocalId),
    /// Memory at an address.
    Memory {
        /// The address.
        addr: ExprId,
        /// Whether C calls it volatile.
        volatile: bool,
    },
    /// A bit-field.
    Bits {
        /// Address of the first byte that holds a bit of it.
        addr: ExprId,
        /// Which bits.
        field: BitField,
        /// Whether C calls it volatile.
        volatile: bool,
    },
}

impl FunctionLowering<'_, '_> {
    /// Whether a variable is kept in a register.
    pub(in crate::lower) fn is_register(&self, var: VarId) -> bool {
        let decl = &self.unit.vars[var];
        matches!(decl.storage, VarStorage::Local(_) | VarStorage::Param(_))
            && !decl.ty.quals.has(Quals::VOLATILE)
            && !self.facts.address_taken.contains(&var)
            && scalar_of(self.unit, decl.ty.ty).is_some()
    }

    /// Lowers an lvalue.
    pub(in crate::lower) fn lvalue(&mut self, e: ast::ExprId) -> Lowering<LValue> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        let volatile = expr.ty.quals.has(Quals::VOLATILE);
        let addr = match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Constant { inner, .. }
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                return self.lvalue(*inner);
            }
            ExprKind::DeclRef(DeclRef::Var(var)) => return self.variable(*var, expr.span),
            ExprKind::DeclRef(DeclRef::Function(function)) => {
                let function = self.module.function(*function);
                self.expr(Expr::AddrFunc(function))
            }
            ExprKind::Member { base, arrow, field } => {
                return self.member(*base, *arrow, *field, volatile);
            }
            ExprKind::Subscript { pointer, index } => self.subscript(e, *pointer, *index)?,
            ExprKind::VectorElement { vector, index } => self.vector_element(*vector, *index)?,
            ExprKind::Swizzle { base, arrow, lanes } if lanes.len() == 1 => {
                self.swizzle_address(*base, *arrow, lanes[0], expr.span)?
            }
            ExprKind::Unary { op: op @ (UnaryOp::Real | UnaryOp::Imag), operand }
                if self.is_complex(*operand) && expr.category == ValueCategory::LValue =>
            {
                self.complex_part_address(*op, *operand)?
            }
            ExprKind::Unary { op: UnaryOp::Real, operand }
                if expr.category == ValueCategory::LValue =>
            {
                return self.lvalue(*operand);
            }
            ExprKind::Unary { op: UnaryOp::Deref, operand } => self.rvalue(*operand)?,
            ExprKind::String(_) => match self.module.string(e) {
                Some(global) => self.expr(Expr::AddrGlobal(global)),
                None => return Err(UnsupportedConstruct::new("this string literal", expr.span)),
            },
            ExprKind::Predefined { literal, .. } => return self.lvalue(*literal),
            ExprKind::CompoundLiteral { init, file_scope } => {
                self.compound_literal(e, *init, *file_scope)?
            }
            ExprKind::Cast { kind: CastKind::LValueBitCast, operand, .. }
            | ExprKind::Cast { kind: CastKind::NoOp, operand, .. }
                if expr.category == ValueCategory::LValue =>
            {
                return self.lvalue(*operand);
            }
            _ if self.is_aggregate(expr.ty.ty) => self.aggregate(e)?,
            ExprKind::Unsupported(name) => {
                return Err(UnsupportedConstruct::new(unsupported_name(name), expr.span));
            }
            _ => return Err(UnsupportedConstruct::new("this lvalue", expr.span)),
        };
        self.note_span(addr, expr.span);
        Ok(LValue::Memory { addr, volatile })
    }

    /// The address of an lvalue that is no register and no bit-field.
    pub(in crate::lower) fn address(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        match self.lvalue(e)? {
            LValue::Memory { addr, .. } => Ok(addr),
            LValue::Register(_) | LValue::Bits { .. } => Err(UnsupportedConstruct::new(
                "the address of this expression",
                self.unit.exprs[e].span,
            )),
        }
    }

    fn variable(&mut self, var: VarId, span: Span) -> Lowering<LValue> {
        let decl = &self.unit.vars[var];
        let volatile = decl.ty.quals.has(Quals::VOLATILE);
        let addr = match decl.storage {
            VarStorage::Global { .. } | VarStorage::StaticLocal(_) => {
                let global = self.module.global(var);
                self.expr(Expr::AddrGlobal(global))
            }
            VarStorage::Local(_) | VarStorage::Param(_) => {
                if let Some(addr) = self.array_address(var) {
                    return Ok(LValue::Memory { addr, volatile });
                }
                let local = self.local_of(var, span)?;
                if self.is_register(var) {
                    return Ok(LValue::Register(local));
                }
                self.expr(Expr::AddrLocal(local))
            }
        };
        Ok(LValue::Memory { addr, volatile })
    }

    fn member(
        &mut self,
        base: ast::ExprId,
        arrow: bool,
        field: FieldRef,
        volatile: bool,
    ) -> Lowering<LValue> {
        let base = if arrow { self.rvalue(base)? } else { self.address(base)? };
        self.member_lvalue(base, field, volatile)
    }

    /// A member of the record at an address.
    pub(in crate::lower) fn member_lvalue(
        &mut self,
        base: ExprId,
        field: FieldRef,
        volatile: bool,
    ) -> Lowering<LValue> {
        let decl = self.unit.field(field);
        let record = self.module.record(field.record);
        let Some(width) = decl.bit_width else {
            let addr = self.expr(Expr::Field { base, record, field: field.index });
            return Ok(LValue::Memory { addr, volatile });
        };
        let first = (decl.bit_offset % 8) as u32;
        if first + width > 128 {
            return Err(UnsupportedConstruct::new(
                "a bit-field over more than 16 bytes",
                decl.span,
            ));
        }
        let scalar = scalar_of(self.unit, decl.ty.ty).unwrap_or(Scalar::INT);
        let byte_offset = decl.bit_offset / 8;
        let field = BitField {
            record,
            field: field.index,
            byte_offset,
            bit: (decl.bit_offset % 8) as u8,
            bits: width as u8,
            signed: scalar.signed,
            ty: scalar.ty,
        };
        let addr = self.offset_addr(base, byte_offset);
        if volatile {
            self.note_volatile_part();
        }
        Ok(LValue::Bits { addr, field, volatile })
    }

    fn subscript(
        &mut self,
        e: ast::ExprId,
        pointer: ast::ExprId,
        index: ast::ExprId,
    ) -> Lowering<ExprId> {
        let exprs = &self.unit.exprs;
        let span = exprs[e].span;
        let index_scalar = self.scalar(exprs[index].ty.ty, span)?;
        let in_order = exprs[pointer].span.start <= exprs[index].span.start;
        let (base, offset) = if in_order {
            let later = self.effects_of(index);
            let base = self.operand(pointer, &later)?;
            (base, self.rvalue(index)?)
        } else {
            let later = self.effects_of(pointer);
            let offset = self.operand(index, &later)?;
            (self.rvalue(pointer)?, offset)
        };
        let index = self.index(offset, index_scalar);
        let step = self.step_of(pointer)?;
        let bound = self.subscript_bound(pointer);
        Ok(self.stepped(base, index, step, bound))
    }

    /// The length of the array that is subscripted. An array of at most one element at the end of
    /// a struct that a pointer reaches is one that older C allocates longer.
    fn subscript_bound(&self, pointer: ast::ExprId) -> Option<u64> {
        let pointer = self.unit.strip_parens(pointer);
        let ExprKind::Cast { kind: CastKind::ArrayToPointerDecay, operand, .. } =
            self.unit.exprs[pointer].kind
        else {
            return None;
        };
        let array = self.unit.strip_parens(operand);
        let CType::Array { length: ArrayLength::Constant(length), .. } =
            *self.unit.ty(self.unit.exprs[array].ty)
        else {
            return None;
        };
        if length <= 1
            && let ExprKind::Member { arrow: true, field, .. } = self.unit.exprs[array].kind
            && field.index as usize + 1 == self.unit.records[field.record].fields.len()
        {
            return None;
        }
        Some(length)
    }

    /// The value in a place, of a machine type; a volatile one is read into a temporary, which the
    /// caller captures.
    pub(in crate::lower) fn read_lvalue(
        &mut self,
        place: LValue,
        scalar: Scalar,
        e: ast::ExprId,
    ) -> Lowering<ExprId> {
        let ty = scalar.ty;
        let (value, volatile) = match place {
            // Whoever calls, or wrote the bytes, may have left anything beyond the width.
            LValue::Register(local) => {
                let value = self.read(local);
                (self.extended(value, scalar), false)
            }
            LValue::Memory { addr, volatile } => {
                let value = self.expr(Expr::Load { ty, addr, volatile });
                (self.extended(value, scalar), volatile)
            }
            LValue::Bits { addr, field, volatile } => {
                (self.expr(Expr::LoadBits { field, addr }), volatile)
            }
        };
        let span = self.text(e);
        self.note_span(value, span);
        if !volatile {
            return Ok(value);
        }
        let (_, temp) = self.within(span, |l| l.keep(value, l.unit.exprs[e].ty.ty, span))?;
        Ok(self.read(temp))
    }

    /// Notes that the function accesses a volatile object of which no statement says so.
    pub(in crate::lower) fn note_volatile_part(&mut self) {
        let func = self.module.function(self.function);
        self.module.volatile_parts.insert(func);
    }

    /// Writes a value of the place's machine type.
    pub(in crate::lower) fn write_lvalue(
        &mut self,
        place: LValue,
        value: ExprId,
        ty: Type,
    ) -> StmtId {
        match place {
            LValue::Register(dst) => self.emit(Stmt::Assign { dst, value }),
            LValue::Memory { addr, volatile } => {
                self.emit(Stmt::Store { addr, value, ty, volatile })
            }
            LValue::Bits { addr, field, .. } => self.emit(Stmt::StoreBits { addr, field, value }),
        }
    }

    /// The value of a bit-field after `value` was written to it.
    pub(in crate::lower) fn as_read_back(&mut self, place: LValue, value: ExprId) -> ExprId {
        let LValue::Bits { field, .. } = place else { return value };
        let unused = field.ty.bits().saturating_sub(u32::from(field.bits));
        if unused == 0 {
            return value;
        }
        if !field.signed {
            let mask = ir::arith::mask(u32::from(field.bits)) as i128;
            let mask = self.constant(field.ty, mask);
            return self.expr(Expr::Binary(ir::BinOp::And, value, mask));
        }
        let amount = self.constant(field.ty, i128::from(unused));
        let high = self.expr(Expr::Binary(ir::BinOp::ShlU, value, amount));
        self.expr(Expr::Binary(ir::BinOp::ShrS, high, amount))
    }
}

/// Whether [`FunctionLowering::lvalue`] knows what an lvalue of this kind is without asking what its
/// value is.
pub(in crate::lower) const fn is_lvalue(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Constant { .. }
            | ExprKind::DeclRef(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Unary { op: UnaryOp::Deref, .. }
            | ExprKind::String(_)
            | ExprKind::Predefined { .. }
            | ExprKind::CompoundLiteral { .. }
            | ExprKind::Cast { kind: CastKind::LValueBitCast, .. }
    )
}

/// A construct that the tree does not model, as a noun for a diagnostic.
pub(in crate::lower) fn unsupported_name(name: &str) -> String {
    format!("the construct `{name}`")
}
