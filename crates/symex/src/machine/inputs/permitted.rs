//! The user's contract for the writes of an undefined function
//! ([`lydian_inputs::InputSpec::contract_of`]), as ways from a call's arguments and from variables.

use std::ops::Range;

use lydian_inputs::guess::parameter_name;
use lydian_inputs::place::{InputPlace, Step};
use lydian_ir::test::WriteBase;
use lydian_ir::{CType, CTypeId, FuncId, Program};

use crate::machine::program::context::Context;

/// The places that a call may write to; `None` for all places.
pub(crate) struct PermittedWrites(Option<Vec<PermittedRange>>);

/// A range of bytes behind the end of a way.
#[derive(Debug, PartialEq, Eq)]
struct PermittedRange {
    to: WriteBase,
    through: Vec<u64>,
    bytes: Range<u64>,
}

impl PermittedWrites {
    /// The places that a function may write to by its contract.
    pub(crate) fn by_contract(context: &Context<'_>, func: FuncId) -> Self {
        let program = context.program;
        let places = context.spec.contract_of(program, func).writes;
        let targets = |places: Vec<InputPlace>| {
            places.iter().filter_map(|place| PermittedRange::of(program, func, place)).collect()
        };
        Self(places.map(targets))
    }

    /// Whether the user states a contract.
    pub(crate) const fn is_stated(&self) -> bool {
        self.0.is_some()
    }

    /// Whether bytes at the end of a way may be written.
    pub(crate) fn allow(&self, to: &WriteBase, through: &[u64], bytes: &Range<u64>) -> bool {
        let Some(targets) = &self.0 else { return true };
        targets.iter().any(|target| {
            target.to == *to
                && target.through == through
                && target.bytes.start <= bytes.start
                && bytes.end <= target.bytes.end
        })
    }
}

impl PermittedRange {
    /// The bytes that a place of a contract names, which begins with a parameter or a variable.
    fn of(program: &Program, func: FuncId, place: &InputPlace) -> Option<Self> {
        let types = &program.types;
        let CType::Function { params, .. } = types.get(program.functions[func].ty) else {
            return None;
        };
        let position =
            (0..params.len()).find(|at| parameter_name(program, func, *at) == place.root);
        let (to, mut walk) = match position {
            Some(at) => (WriteBase::Argument(at as u32), PlaceWalk::at_argument(params[at])),
            None => {
                let global = program.global_named(&place.root)?;
                (
                    WriteBase::Global(place.root.clone()),
                    PlaceWalk::at_variable(program.globals[global].ty),
                )
            }
        };
        for step in &place.steps {
            walk.step(program, step)?;
        }
        let PlaceWalk { through, offset, ty, to_end, .. } = walk;
        let size = types.size(ty).filter(|_| !to_end);
        let end = size.map_or(u64::MAX, |size| offset + size);
        Some(Self { to, through, bytes: offset..end })
    }
}

/// The position in a place of a contract, while it is followed.
struct PlaceWalk {
    through: Vec<u64>,
    offset: u64,
    ty: CTypeId,
    /// Whether the next pointer that is followed is the argument itself.
    is_argument: bool,
    /// Whether everything behind here belongs to the place.
    to_end: bool,
}

impl PlaceWalk {
    /// At the beginning of a place that is an argument.
    const fn at_argument(ty: CTypeId) -> Self {
        Self { through: Vec::new(), offset: 0, ty, is_argument: true, to_end: false }
    }

    /// At the beginning of a place that is a variable.
    const fn at_variable(ty: CTypeId) -> Self {
        Self { through: Vec::new(), offset: 0, ty, is_argument: false, to_end: false }
    }

    fn step(&mut self, program: &Program, step: &Step) -> Option<()> {
        let types = &program.types;
        if let CType::Pointer { pointee, .. } = types.get(self.ty) {
            if !std::mem::replace(&mut self.is_argument, false) {
                self.through.push(self.offset);
            }
            (self.offset, self.ty) = (0, *pointee);
            return match step {
                Step::Field(_) => self.step(program, step),
                Step::Index(_) | Step::Any => self.element(program, self.ty, step),
            };
        }
        match (types.get(self.ty), step) {
            (CType::Record(record), Step::Field(name)) => {
                let fields = &types.records[*record].fields;
                let field = fields.iter().find(|field| field.name == *name)?;
                self.offset += field.bit_offset / 8;
                self.ty = field.ty;
                Some(())
            }
            (CType::Array { element, .. }, Step::Index(_) | Step::Any) => {
                self.element(program, *element, step)
            }
            _ => None,
        }
    }

    fn element(&mut self, program: &Program, element: CTypeId, step: &Step) -> Option<()> {
        self.ty = element;
        match step {
            Step::Index(at) => {
                let size = program.types.size(element).unwrap_or(1) as i64;
                self.offset = self.offset.checked_add_signed(at.checked_mul(size)?)?;
            }
            _ => self.to_end = true,
        }
        Some(())
    }
}
