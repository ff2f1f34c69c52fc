//! The writes of an undefined function through its parameters.
//!
//! A parameter that points to a variable sets it: the variable has a fresh value after the call. Larger
//! targets (arrays, structs, bytes behind a `void *`) get values only for bytes that were never
//! written, since the function may only read the others. So the first call that gets `char line[80]`
//! fills it, and a struct that was filled keeps its members.

use lydian_ir::outside::OutParameter;
use lydian_ir::test::WriteBase;
use lydian_ir::{CType, CTypeId, Type};
use lydian_objective::AssumptionKind;
use lydian_smt::{Sort, Term};

use super::{Builder, Site};
use crate::bounds::Reach;
use crate::build::layout::{Bits, Leaf, layout};
use crate::guess::written_place;
use crate::place::InputPlace;
use crate::plan::{PlanError, PointerChain, WriteContents, WritePlan};
use crate::spec::Trail;

/// The most bytes that are written through one pointer.
pub const MOST_WRITTEN: u64 = 256;

/// Memory of the program's own that an argument of a call of an undefined function points to.
#[derive(Clone, Debug)]
pub struct OutTarget {
    /// The parameter.
    pub parameter: OutParameter,
    /// The condition under which the argument points there, a Boolean.
    pub guard: Term,
    /// Bytes from there to the end of the object.
    pub room: u64,
    /// The number of these bytes that belong to the object, a 64-bit term; none where it does not
    /// depend on the input.
    pub length: Option<Term>,
    /// For each of the first bytes, at most [`MOST_WRITTEN`], whether it was never written.
    pub unwritten: Vec<bool>,
    /// The previous value, if the target is a single pointer.
    pub old: PreviousPointer,
}

/// The value of a pointer before a call that may set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousPointer {
    /// It has none, or it is no pointer.
    None,
    /// It may stay.
    Kept(Term),
    /// It has too many alternatives already, and is replaced.
    Lost,
}

/// A write whose pointers wait for their values.
pub(super) struct OpenWrite {
    target: usize,
    offset: u64,
    size: u64,
    block: usize,
    /// For a pointer that may keep its value: the condition under which it changes, and the previous
    /// value.
    old: Option<(Term, Term)>,
}

impl Builder<'_> {
    /// Lays what a call writes.
    pub(super) fn open_writes(
        &mut self,
        targets: &[OutTarget],
    ) -> Result<Vec<OpenWrite>, PlanError> {
        let mut open = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            let place = written_place(self.program, self.function, target.parameter.position);
            if self.is_variable(target) {
                let run = (0, target.room);
                if let Some(mut write) = self.open_run(number, target, &place, run)? {
                    write.old = self.old_choice(target, &place.index(0));
                    open.push(write);
                }
            } else {
                for run in runs(&target.unwritten) {
                    open.extend(self.open_run(number, target, &place, run)?);
                }
            }
        }
        Ok(open)
    }

    /// Whether a parameter points to a scalar with which the object ends.
    fn is_variable(&self, target: &OutTarget) -> bool {
        let types = &self.program.types;
        let pointee = target.parameter.pointee;
        let lone = types.size(pointee) == Some(target.room) && target.length.is_none();
        lone && types.scalar(pointee).is_some()
    }

    /// A choice to leave a pointer as it is.
    fn old_choice(&mut self, target: &OutTarget, place: &InputPlace) -> Option<(Term, Term)> {
        let shown = self.shown(place);
        match target.old {
            PreviousPointer::None => None,
            // Its default is false, so that the pointer keeps its value where it can.
            PreviousPointer::Kept(old) => {
                Some((self.symbol(format!("changed({shown})"), Sort::Bool), old))
            }
            PreviousPointer::Lost => {
                let kind = AssumptionKind::ExternalWrites;
                let sentence = format!("{shown} is another pointer");
                self.bound((kind, place), sentence, false, Reach::Always);
                None
            }
        }
    }

    /// Lays the scalars that lie between two distances from a parameter's target; `None` where
    /// there are none.
    fn open_run(
        &mut self,
        target: usize,
        of: &OutTarget,
        place: &InputPlace,
        (from, to): (u64, u64),
    ) -> Result<Option<OpenWrite>, PlanError> {
        let Some(element) = self.element_written(of.parameter.pointee) else { return Ok(None) };
        let size = self.program.types.size(element).unwrap_or(1).max(1);
        let (leaves, bits) = self.parts_between(element, place, (from, to));
        let ends = leaves.iter().map(|leaf| leaf.offset + leaf.size(&self.program.types));
        let (Some(first), Some(end)) = (leaves.first().map(|leaf| leaf.offset), ends.max()) else {
            return Ok(None);
        };
        // Whole elements where they can be, with their padding.
        let start = first - first % size;
        let start = if start >= from { start } else { first };
        let whole = end.next_multiple_of(size);
        let end = if whole <= to { whole } else { end };
        let block = self.add_block(None);
        let site = Site { block, depth: 0, global: None };
        for leaf in leaves {
            self.lay_leaf(site, Leaf { offset: leaf.offset - start, ..leaf })?;
        }
        for part in bits.into_iter().filter(|part| part.bit_offset >= start * 8) {
            self.lay_bits(site, Bits { bit_offset: part.bit_offset - start * 8, ..part })?;
        }
        Ok(Some(OpenWrite { target, offset: start, size: end - start, block, old: None }))
    }

    /// The type of the elements written through a pointer to `pointee`: bytes for `void`.
    fn element_written(&self, pointee: CTypeId) -> Option<CTypeId> {
        match self.program.types.get(pointee) {
            CType::Void => self.byte_type(),
            _ => Some(pointee),
        }
    }

    /// The scalars and bit-fields of an array that lie between two distances from its start.
    fn parts_between(
        &self,
        element: CTypeId,
        place: &InputPlace,
        (from, to): (u64, u64),
    ) -> (Vec<Leaf>, Vec<Bits>) {
        let types = &self.program.types;
        let size = types.size(element).unwrap_or(1).max(1);
        let (mut leaves, mut bits) = (Vec::new(), Vec::new());
        for index in from / size..to.div_ceil(size) {
            let place = place.index(index as i64);
            let parts = layout(self.program, element, index * size, &place, &Trail::new());
            let inside = |leaf: &Leaf| leaf.offset >= from && leaf.offset + leaf.size(types) <= to;
            leaves.extend(parts.leaves.into_iter().filter(inside));
            bits.extend(parts.bits);
        }
        (leaves, bits)
    }

    /// Makes the writes when all pointers have their values.
    pub(super) fn close_writes(
        &mut self,
        open: Vec<OpenWrite>,
        targets: &[OutTarget],
    ) -> Vec<WritePlan> {
        let closed = open.into_iter().map(|write| {
            let target = &targets[write.target];
            let mut cells = self.take_cells(write.block);
            let mut when = target.guard;
            if let (Some((changed, old)), [cell]) = (write.old, &mut cells[..]) {
                debug_assert_eq!(cell.ty, Type::Ptr, "only pointers stay by choice");
                cell.value = self.pool.ite(changed, cell.value, old);
                when = self.pool.and(when, changed);
            }
            let to = WriteBase::Argument(target.parameter.position);
            WritePlan {
                chain: PointerChain { to, through: Vec::new(), from: None },
                target: write.target,
                offset: write.offset,
                contents: WriteContents::Cells { size: write.size, cells },
                when,
                length: target.length,
            }
        });
        closed.collect()
    }
}

/// The stretches of bytes that were never written.
fn runs(unwritten: &[bool]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (at, _) in unwritten.iter().enumerate().filter(|(_, unwritten)| **unwritten) {
        let at = at as u64;
        match found.last_mut().filter(|run| run.1 == at) {
            Some(run) => run.1 += 1,
            None => found.push((at, at + 1)),
        }
    }
    found
}
