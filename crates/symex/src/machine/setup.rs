//! Lays out a plan of inputs and a program's globals in memory.

use lydian_base::EntityId;
use lydian_inputs::{CellPlan, InputPlan, ObjectPlan, PlanError};
use lydian_ir::GlobalId;
use lydian_ir::libc::STREAM_BYTES;
use lydian_ir::program::{GlobalInit, RelocationTarget};
use lydian_smt::{Term, TermPool};

use crate::machine::memory::{
    Background, Contents, Memory, NewObject, ObjectId, ObjectKind, function_address,
};
use crate::machine::program::context::{Context, TouchedSymbols};

/// Why an exploration cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExploreError {
    /// The function has no body, or one that is not supported.
    #[error("`{0}` has no body that can be explored")]
    NoBody(String),
    /// Its inputs cannot be planned.
    #[error(transparent)]
    Inputs(#[from] PlanError),
    /// There is no room for its globals and inputs.
    #[error("the globals and inputs have no room in memory")]
    NoRoom,
}

/// Makes all objects. Returns the arguments: scalars, and the addresses of structs that are copied.
/// `None` where an object has no room.
pub(crate) fn lay_out(
    context: &Context<'_>,
    plan: &InputPlan,
    touched: &TouchedSymbols,
    pool: &mut TermPool,
    memory: &mut Memory,
) -> Option<Vec<Term>> {
    let mut globals = Vec::new();
    for id in &touched.globals {
        globals.push((*id, add_global(context, *id, pool, memory)?));
    }
    for (id, address) in &context.streams {
        let new = NewObject {
            size: STREAM_BYTES,
            alignment: 1,
            length: None,
            kind: ObjectKind::Stream,
            read_only: false,
            name: context.program.globals[*id].name.as_str().into(),
            contents: Contents::new(Background::Undefined(*address)),
        };
        memory.allocate_at(*address, new)?;
    }
    for global in &plan.globals {
        let (_, object) = globals.iter().find(|(id, _)| *id == global.global)?;
        let contents = &mut memory.object_mut(*object).contents;
        for cell in &global.cells {
            contents.write(pool, cell.offset, cell.ty.bytes(), cell.value);
        }
    }
    for object in &plan.objects {
        add_input_object(pool, memory, object)?;
    }
    let mut arguments = Vec::with_capacity(plan.args.len());
    for arg in &plan.args {
        if let [cell] = &arg.cells[..]
            && context.program.types.scalar(arg.ty).is_some()
        {
            arguments.push(cell.value);
            continue;
        }
        let object = memory.allocate(NewObject {
            size: arg.size,
            alignment: 1,
            length: None,
            kind: ObjectKind::Local,
            read_only: false,
            name: arg.name.as_str().into(),
            contents: contents_of(pool, Background::Zero, &arg.cells),
        })?;
        arguments.push(pool.bv(64, memory.object(object).base));
    }
    Some(arguments)
}

/// Makes contents of cells over a background.
pub(crate) fn contents_of(
    pool: &mut TermPool,
    background: Background,
    cells: &[CellPlan],
) -> Contents {
    let mut contents = Contents::new(background);
    for cell in cells {
        contents.write(pool, cell.offset, cell.ty.bytes(), cell.value);
    }
    contents
}

/// Adds an object that input pointers may point to, at its planned address.
pub(crate) fn add_input_object(
    pool: &mut TermPool,
    memory: &mut Memory,
    plan: &ObjectPlan,
) -> Option<ObjectId> {
    let new = NewObject {
        size: plan.size,
        alignment: 1,
        length: plan.byte_length,
        kind: ObjectKind::Input,
        read_only: plan.read_only,
        name: plan.name.as_str().into(),
        contents: contents_of(pool, Background::Zero, &plan.cells),
    };
    memory.allocate_at(plan.address, new)
}

fn add_global(
    context: &Context<'_>,
    id: GlobalId,
    pool: &mut TermPool,
    memory: &mut Memory,
) -> Option<ObjectId> {
    let global = &context.program.globals[id];
    let new = NewObject {
        size: global.size,
        alignment: global.align,
        length: None,
        kind: ObjectKind::Global,
        read_only: global.read_only,
        name: global.name.as_str().into(),
        contents: initial_contents(context, id, pool),
    };
    memory.allocate_at(context.globals[id.index()], new)
}

fn initial_contents(context: &Context<'_>, id: GlobalId, pool: &mut TermPool) -> Contents {
    let global = &context.program.globals[id];
    if let Some((_, stream)) = context.streams.iter().find(|(holder, _)| *holder == id) {
        let mut contents = Contents::new(Background::Zero);
        let address = pool.bv(64, *stream);
        contents.write(pool, 0, 8, address);
        return contents;
    }
    let GlobalInit::Data { items, relocations } = &global.init else {
        return Contents::new(Background::Zero);
    };
    let mut bytes = vec![0u8; global.size as usize];
    for item in items {
        let at = item.offset as usize;
        bytes[at..at + item.bytes.len()].copy_from_slice(&item.bytes);
    }
    let mut contents = Contents::new(Background::Bytes(bytes.into()));
    for relocation in relocations {
        let base = match relocation.target {
            RelocationTarget::Global(id) => context.globals[id.index()],
            RelocationTarget::Function(id) => function_address(id.index()),
        };
        let address = pool.bv(64, base.wrapping_add_signed(relocation.addend));
        contents.write(pool, relocation.offset, 8, address);
    }
    contents
}
