//! What the user says that an undefined function writes at most ([`lydian_inputs::InputSpec::contract_of`]),
//! as ways from a call's arguments and from variables.

use std::ops::Range;

use lydian_inputs::guess::parameter_name;
use lydian_inputs::place::{InputPlace, Step};
use lydian_ir::test::WriteBase;
use lydian_ir::{CType, CTypeId, FuncId, Program};

use crate::machine::program::context::Context;

/// Places that a call may write to: all of them, or these.
pub(crate) struct PermittedWrites(Option<Vec<Target>>);

/// Bytes behind the end of a way.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    to: WriteBase,
    through: Vec<u64>,
    bytes: Range<u64>,
}

impl PermittedWrites {
    /// What a function may write to by its contract.
    pub(crate) fn by_contract(context: &Context<'_>, func: FuncId) -> Self {
        let program = context.program;
        let places = context.spec.contract_of(program, func).writes;
        let targets = |places: Vec<InputPlace>| {
            places.iter().filter_map(|place| Target::of(program, func, place)).collect()
        };
        Self(places.map(targets))
    }

    /// Whether the user says anything.
    pub(crate) const fn is_stated(&self) -> bool {
        self.0.is_some()
    }

    /// Whether some bytes at the end of a way may be written.
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

impl Target {
    /// The bytes that a place names, which begins with a parameter or a variable.
    fn of(program: &Program, func: FuncId, place: &InputPlace) -> Option<Self> {
        let types = &program.types;
        let CType::Function { params, .. } = types.get(program.functions[func].ty) else {
            return None;
        };
        let position =
            (0..params.len()).find(|at| parameter_name(program, func, *at) == place.root);
        let (to, mut walk) = match position {
            Some(at) => (WriteBase::Argument(at as u32), Walk::new(params[at], true)),
            None => {
                let global = program.global_named(&place.root)?;
                (
                    WriteBase::Global(place.root.clone()),
                    Walk::new(program.globals[global].ty, false),
                )
            }
        };
        for step in &place.steps {
            walk.step(program, step)?;
        }
        let Walk { through, offset, ty, to_end, .. } = walk;
        let size = types.size(ty).filter(|_| !to_end);
        let end = size.map_or(u64::MAX, |size| offset + size);
        Some(Self { to, through, bytes: offset..end })
    }
}

/// How far a place was followed.
struct Walk {
    through: Vec<u64>,
    offset: u64,
    ty: CTypeId,
    /// Whether the next pointer that is followed is the argument itself.
    is_argument: bool,
    /// Whether all that follows belongs to the place.
    to_end: bool,
}

impl Walk {
    const fn new(ty: CTypeId, is_argument: bool) -> Self {
        Self { through: Vec::new(), offset: 0, ty, is_argument, to_end: false }
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
