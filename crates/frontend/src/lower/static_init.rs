//! Initialisers of objects with static storage: bytes and addresses, computed while lowering.

use lydian_ir::{GlobalInit, InitItem, Relocation, RelocationTarget, Target};

use crate::ast::{CastKind, ExprId, ExprKind, FieldRef, InitList, UnaryOp};
use crate::ctypes::{CType, QualType};
use crate::lower::constant::{ConstBase, Constant};
use crate::lower::module::{Module, string_bytes};
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{layout_of, scalar_of, target_of};

/// Zeros of at least this many bytes end a run of initial bytes.
const ZERO_RUN: usize = 16;

/// Contents under construction.
struct Contents {
    /// Bytes of an address.
    pointer: u64,
    /// From offset 0 to the last byte that was written.
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Contents {
    fn new(target: Target) -> Self {
        Self { pointer: target.pointer_bytes(), bytes: Vec::new(), relocations: Vec::new() }
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(bytes);
        // What is written later replaces an address too (overlapping designators).
        self.relocations
            .retain(|old| old.offset + self.pointer <= offset || end as u64 <= old.offset);
    }

    fn write_bits(&mut self, first_bit: u64, width: u32, value: u128) {
        for bit in 0..width.min(128) {
            let at = first_bit + u64::from(bit);
            let (byte, mask) = ((at / 8) as usize, 1u8 << (at % 8));
            if self.bytes.len() <= byte {
                self.bytes.resize(byte + 1, 0);
            }
            if value >> bit & 1 == 1 {
                self.bytes[byte] |= mask;
            } else {
                self.bytes[byte] &= !mask;
            }
        }
    }

    fn finish(mut self) -> GlobalInit {
        self.relocations.sort_by_key(|relocation| relocation.offset);
        let mut items = Vec::new();
        let mut from = 0;
        // Stretches do not reach over addresses.
        let ends = self.relocations.iter().map(|relocation| relocation.offset as usize);
        for end in ends.chain([self.bytes.len()]) {
            let end = end.min(self.bytes.len());
            if from < end {
                items.extend(stretches(from, &self.bytes[from..end]));
            }
            from = end + self.pointer as usize;
        }
        if items.is_empty() && self.relocations.is_empty() {
            return GlobalInit::Zero;
        }
        GlobalInit::Data { items, relocations: self.relocations }
    }
}

/// The stretches of bytes between long runs of zeros; the first byte is at `offset`.
fn stretches(offset: usize, bytes: &[u8]) -> Vec<InitItem> {
    let mut items: Vec<InitItem> = Vec::new();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(|byte| *byte != 0).map(|n| at + n) {
        let mut end = start + 1;
        let mut zeros = 0;
        while end + zeros < bytes.len() && zeros < ZERO_RUN {
            if bytes[end + zeros] == 0 {
                zeros += 1;
            } else {
                end += zeros + 1;
                zeros = 0;
            }
        }
        items.push(InitItem { offset: (offset + start) as u64, bytes: bytes[start..end].to_vec() });
        at = end;
    }
    items
}

impl Module<'_> {
    /// The contents that an initialiser gives an object of type `ty`.
    pub(super) fn static_init(&mut self, ty: QualType, init: ExprId) -> Lowering<GlobalInit> {
        let mut contents = Contents::new(target_of(self.unit));
        self.write_value(&mut contents, 0, ty, init)?;
        Ok(contents.finish())
    }

    /// How many bytes an object takes whose flexible array member is initialised.
    pub(super) fn flexible_tail(&self, ty: QualType, init: ExprId) -> u64 {
        let CType::Record(record) = self.unit.ty(ty) else { return 0 };
        let ExprKind::InitList(InitList::Struct(fields)) = &self.unit.exprs[init].kind else {
            return 0;
        };
        let Some((field, value)) = fields.last() else { return 0 };
        let last = self.unit.records[*record].fields.len().checked_sub(1);
        if last != Some(field.index as usize) {
            return 0;
        }
        let tail = layout_of(self.unit, self.unit.exprs[*value].ty.ty).map_or(0, |l| l.size);
        self.unit.field(*field).byte_offset() + tail
    }

    fn write_value(
        &mut self,
        out: &mut Contents,
        offset: u64,
        ty: QualType,
        init: ExprId,
    ) -> Lowering<()> {
        let unit = self.unit;
        let expr = &unit.exprs[init];
        if let CType::Complex(part) = *unit.ty(expr.ty) {
            let size = layout_of(unit, part).map(|layout| layout.size);
            let bytes = scalar_of(unit, part).map(|scalar| scalar.ty.bytes() as usize);
            let (Some(size), Some(bytes), Some((re, im))) =
                (size, bytes, self.constant_complex(init))
            else {
                return Err(self.not_constant(init));
            };
            out.write(offset, &re.to_le_bytes()[..bytes]);
            out.write(offset + size, &im.to_le_bytes()[..bytes]);
            return Ok(());
        }
        match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Constant { inner, .. }
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                self.write_value(out, offset, ty, *inner)
            }
            ExprKind::InitList(InitList::Scalar(Some(inner))) => {
                self.write_value(out, offset, ty, *inner)
            }
            ExprKind::ImplicitValueInit | ExprKind::InitList(InitList::Scalar(None)) => {
                self.clear(out, offset, ty);
                Ok(())
            }
            ExprKind::NoInit => Ok(()),
            ExprKind::InitList(list) => self.write_list(out, offset, ty, list, init),
            ExprKind::DesignatedInitUpdate { base, updater } => {
                self.write_value(out, offset, ty, *base)?;
                self.write_value(out, offset, ty, *updater)
            }
            ExprKind::String(literal) if matches!(unit.ty(expr.ty), CType::Array { .. }) => {
                let size = layout_of(unit, ty.ty).map_or(0, |layout| layout.size);
                let size = if size == 0 {
                    layout_of(unit, expr.ty.ty).map_or(0, |l| l.size)
                } else {
                    size
                };
                out.write(offset, &string_bytes(literal, size));
                Ok(())
            }
            ExprKind::Predefined { literal, .. } => self.write_value(out, offset, ty, *literal),
            ExprKind::CompoundLiteral { init, .. } => self.write_value(out, offset, ty, *init),
            ExprKind::Cast { kind: CastKind::ToUnion, operand, .. } => {
                self.write_value(out, offset, unit.exprs[*operand].ty, *operand)
            }
            ExprKind::Cast { kind: CastKind::VectorSplat, operand, .. } => {
                let CType::Vector { length, .. } = *unit.ty(expr.ty) else {
                    return Err(self.not_constant(init));
                };
                let from = unit.exprs[*operand].ty;
                let size = layout_of(unit, from.ty).map_or(0, |layout| layout.size);
                (0..length).try_for_each(|index| {
                    self.write_value(out, offset + index * size, from, *operand)
                })
            }
            ExprKind::Cast { kind: CastKind::BitCast, operand, .. }
                if matches!(unit.ty(expr.ty), CType::Vector { .. }) =>
            {
                self.write_value(out, offset, unit.exprs[*operand].ty, *operand)
            }
            ExprKind::Cast { kind: CastKind::LValueToRValue | CastKind::NoOp, operand, .. }
                if scalar_of(unit, expr.ty.ty).is_none() =>
            {
                self.write_value(out, offset, ty, *operand)
            }
            _ => self.write_scalar(out, offset, init),
        }
    }

    /// A later, whole initialiser replaces earlier ones.
    fn clear(&self, out: &mut Contents, offset: u64, ty: QualType) {
        let size = layout_of(self.unit, ty.ty).map_or(0, |layout| layout.size);
        let end = (offset + size).min(out.bytes.len() as u64);
        if offset < end {
            out.write(offset, &vec![0; (end - offset) as usize]);
        }
        out.relocations.retain(|old| old.offset < offset || offset + size <= old.offset);
    }

    fn write_list(
        &mut self,
        out: &mut Contents,
        offset: u64,
        ty: QualType,
        list: &InitList,
        init: ExprId,
    ) -> Lowering<()> {
        match list {
            InitList::Array { elements, filler } => {
                // The list's own type has the length where the object's is `[]`.
                let (element, length) = match *self.unit.ty(self.unit.exprs[init].ty) {
                    CType::Array { element, length } => (element, length),
                    CType::Vector { .. } => return self.write_vector(out, offset, elements),
                    _ => {
                        let span = self.unit.exprs[init].span;
                        return Err(UnsupportedConstruct::new("this initialiser", span));
                    }
                };
                let Some(layout) = layout_of(self.unit, element.ty) else {
                    return Err(self.not_constant(init));
                };
                for (index, value) in elements.iter().enumerate() {
                    let at = offset + index as u64 * layout.size;
                    self.write_value(out, at, element, *value)?;
                }
                let crate::ctypes::ArrayLength::Constant(length) = length else { return Ok(()) };
                if let Some(filler) = filler
                    && !self.is_zero(*filler)
                {
                    for index in elements.len() as u64..length {
                        self.write_value(out, offset + index * layout.size, element, *filler)?;
                    }
                }
                Ok(())
            }
            InitList::Struct(fields) => fields
                .iter()
                .try_for_each(|(field, value)| self.write_field(out, offset, *field, *value)),
            InitList::Union(field) => field
                .iter()
                .try_for_each(|(field, value)| self.write_field(out, offset, *field, *value)),
            InitList::Scalar(Some(value)) => self.write_value(out, offset, ty, *value),
            InitList::Scalar(None) => Ok(()),
        }
    }

    /// Elements one after the other, vectors among them.
    fn write_vector(
        &mut self,
        out: &mut Contents,
        mut offset: u64,
        elements: &[ExprId],
    ) -> Lowering<()> {
        for element in elements {
            let ty = self.unit.exprs[*element].ty;
            self.write_value(out, offset, ty, *element)?;
            offset += match *self.unit.ty(ty) {
                CType::Vector { element, length } => {
                    layout_of(self.unit, element).map_or(0, |layout| layout.size * length)
                }
                _ => layout_of(self.unit, ty.ty).map_or(0, |layout| layout.size),
            };
        }
        Ok(())
    }

    /// Whether an initialiser gives nothing but zeros, as clang's fillers do.
    pub(super) fn is_zero(&self, init: ExprId) -> bool {
        match &self.unit.exprs[init].kind {
            ExprKind::ImplicitValueInit | ExprKind::NoInit => true,
            ExprKind::InitList(InitList::Array { elements, filler }) => {
                elements.iter().chain(filler).all(|element| self.is_zero(*element))
            }
            ExprKind::InitList(InitList::Struct(fields)) => {
                fields.iter().all(|(_, value)| self.is_zero(*value))
            }
            ExprKind::InitList(InitList::Union(field)) => {
                field.iter().all(|(_, value)| self.is_zero(*value))
            }
            ExprKind::InitList(InitList::Scalar(value)) => {
                value.iter().all(|value| self.is_zero(*value))
            }
            _ => false,
        }
    }

    fn write_field(
        &mut self,
        out: &mut Contents,
        offset: u64,
        field: FieldRef,
        value: ExprId,
    ) -> Lowering<()> {
        let decl = self.unit.field(field);
        let Some(width) = decl.bit_width else {
            return self.write_value(out, offset + decl.byte_offset(), decl.ty, value);
        };
        if matches!(self.unit.exprs[value].kind, ExprKind::NoInit) {
            return Ok(());
        }
        match self.constant(value) {
            Some(Constant::Bits(bits)) => {
                out.write_bits(offset * 8 + decl.bit_offset, width, bits);
                Ok(())
            }
            _ => Err(self.not_constant(value)),
        }
    }

    fn write_scalar(&mut self, out: &mut Contents, offset: u64, init: ExprId) -> Lowering<()> {
        let expr = &self.unit.exprs[init];
        let Some(value) = self.constant(init) else { return Err(self.not_constant(init)) };
        match value {
            Constant::Bits(bits) => {
                let size = match scalar_of(self.unit, expr.ty.ty) {
                    Some(scalar) => target_of(self.unit).stored_bytes(scalar.ty) as usize,
                    None => return Err(self.not_constant(init)),
                };
                out.write(offset, &bits.to_le_bytes()[..size]);
            }
            Constant::Address(base, addend) => {
                let target = target_of(self.unit);
                let size =
                    scalar_of(self.unit, expr.ty.ty).map(|scalar| target.stored_bytes(scalar.ty));
                if size != Some(out.pointer) {
                    return Err(self.not_constant(init));
                }
                let target = self.relocation_target(base).ok_or_else(|| self.not_constant(init))?;
                self.clear_address(out, offset);
                out.relocations.push(Relocation { offset, target, addend });
            }
        }
        Ok(())
    }

    fn clear_address(&self, out: &mut Contents, offset: u64) {
        if (offset as usize) < out.bytes.len() {
            out.write(offset, &vec![0; out.pointer as usize]);
        }
        out.relocations.retain(|old| old.offset != offset);
    }

    fn not_constant(&self, init: ExprId) -> UnsupportedConstruct {
        UnsupportedConstruct::new(
            "a value that cannot be computed here",
            self.unit.exprs[init].span,
        )
    }

    /// The target of a constant address, made if it is a literal.
    pub(super) fn relocation_target(&mut self, base: ConstBase) -> Option<RelocationTarget> {
        Some(match base {
            ConstBase::Var(var) => RelocationTarget::Global(self.global(var)),
            ConstBase::Function(function) => RelocationTarget::Function(self.function(function)),
            ConstBase::Labels(function) => RelocationTarget::Global(self.labels_of(function)),
            ConstBase::Literal(e) => {
                let literal = match self.unit.exprs[e].kind {
                    ExprKind::String(_) => self.string(e)?,
                    _ => self.file_literal(e)?,
                };
                RelocationTarget::Global(literal)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_zeros_are_left_out_of_the_contents() {
        let mut bytes = vec![0; 100];
        bytes[3] = 1;
        bytes[5] = 2;
        bytes[90] = 3;
        let items = stretches(0, &bytes);
        let found: Vec<_> = items.iter().map(|item| (item.offset, item.bytes.clone())).collect();
        assert_eq!(found, [(3, vec![1, 0, 2]), (90, vec![3])]);
    }
}
