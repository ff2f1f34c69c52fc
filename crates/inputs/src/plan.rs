//! The planned inputs of one function, as a description in terms.
//!
//! The exploration places a plan in its memory, and [`crate::concretise`] turns a model of its symbols
//! into a test. The plan has everything that a path can observe of its inputs, so the same plan, model
//! and path give the same test in every run.
//!
//! Invariants:
//! - Cells of one object do not overlap and are sorted by offset. Bytes of arguments and objects
//!   that no cell covers are zero (padding); those of a global keep their initial contents (zero
//!   for an `extern` one).
//! - Objects lie in the region of inputs, each aligned, at least [`GAP`] bytes apart.
//! - A pointer's value is built from constants and symbols, so that it is 0, the address of a
//!   global or a function, or an address of an object of the plan (its end included).

use std::sync::Arc;

use lydian_ir::test::WriteBase;
use lydian_ir::{CTypeId, FuncId, GlobalId, Type};
use lydian_objective::Assumption;
use lydian_smt::{Node, Term, TermPool};

use crate::bounds::Bound;
use crate::lazy::shape::PartKind;
use crate::lazy::{LazyInputs, LazyObject, Row};

/// Least distance in bytes between two objects, so that a small overrun meets no other object.
pub const GAP: u64 = 64;

/// The engine's addresses of globals, functions and streams, which input pointers can point to as well.
pub trait Addresses {
    /// The address of a global.
    fn global(&self, global: GlobalId) -> u64;
    /// The address of a function.
    fn function(&self, function: FuncId) -> u64;
    /// The standard streams: the variables that hold them, with what these point to.
    fn streams(&self) -> &[(GlobalId, u64)] {
        &[]
    }
    /// The lazily initialised memory that input pointers lead to; none if all of it is planned.
    fn lazy(&self) -> Option<&LazyInputs> {
        None
    }
}

/// The inputs of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPlan {
    /// The function that is called.
    pub function: FuncId,
    /// Its arguments, in order.
    pub args: Vec<ArgPlan>,
    /// The objects that pointers among the inputs may point to, by address.
    pub objects: Vec<ObjectPlan>,
    /// The globals that are inputs, in the order of the program.
    pub globals: Vec<GlobalPlan>,
    /// Boolean terms that every input meets: ranges, lengths, choices.
    pub constraints: Vec<Term>,
    /// Boolean terms that an input meets where it can, the weightiest first: declared values of
    /// enumerations, initial values of globals. No path is given up for them.
    pub preferences: Vec<Term>,
    /// Functions of the program that take the same arguments and return non-zero exactly for the inputs
    /// to be considered. They run first, in order, and write nothing.
    pub preconditions: Vec<FuncId>,
    /// The greatest sizes of inputs, stated or not, as sentences for the user. If there are any, inputs
    /// may exist that the plan cannot express.
    pub assumptions: Vec<String>,
    /// Bounds that the user did not state: default or guessed sizes, lengths and shapes. If one of them
    /// makes a difference to an exploration, the exploration is a complete argument only under its
    /// assumption.
    pub bounds: Vec<Bound>,
    /// Numbers at places that the program may use as pointers.
    pub raw_pointers: Vec<RawPointer>,
    /// The next free address: the start for [`super::external_result`].
    pub cursor: Cursor,
}

/// An argument that points to the first byte of an object of the plan where it is not null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its position.
    pub argument: usize,
    /// The place in the inputs that the object is named by.
    pub name: String,
    /// The object's address, or that of the first one.
    pub address: u64,
    /// Type of its elements.
    pub element: CTypeId,
}

impl InputPlan {
    /// The arguments that point to the first byte of an object of the plan where they are not null.
    pub fn starts(&self, pool: &TermPool) -> Vec<Start> {
        let args = self.args.iter().enumerate();
        let start = |(argument, arg): (usize, &ArgPlan)| match &arg.cells[..] {
            [cell] if cell.ty == Type::Ptr => {
                let ObjectPlan { name, address, element, .. } =
                    self.object_begun(pool, cell.value)?;
                let (name, address, element) = (name.clone(), *address, *element);
                Some(Start { argument, name, address, element })
            }
            _ => None,
        };
        args.filter_map(start).collect()
    }

    /// The first object to whose first byte a pointer leads; none if the pointer may be an address that
    /// is neither null nor such a byte.
    fn object_begun(&self, pool: &TermPool, pointer: Term) -> Option<&ObjectPlan> {
        let (mut waiting, mut begun) = (vec![pointer], None);
        while let Some(term) = waiting.pop() {
            match (pool.as_u64(term), pool.node(term)) {
                (Some(0), _) => {}
                (Some(address), _) => {
                    let object = self.objects.iter().find(|object| object.address == address)?;
                    begun.get_or_insert(object);
                }
                (None, Node::Ite(_, a, b)) => waiting.extend([b, a]),
                _ => return None,
            }
        }
        begun
    }
}

/// The bytes of a union with a pointer that hold a number instead. Inputs on which the program uses
/// them as an address although they are no pointer are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPointer {
    /// The symbol of the number.
    pub bits: Term,
    /// The assumption `v.p is a pointer wherever it is used as one`.
    pub assumption: Assumption,
}

/// The next free address in the region of inputs. Each state has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The address; never reached by an object before it.
    pub next: u64,
}

/// A scalar among the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPlan {
    /// Offset in bytes from the start of what holds it.
    pub offset: u64,
    /// Its machine type, never `i1`.
    pub ty: Type,
    /// Its value, of the sort of that type.
    pub value: Term,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgPlan {
    /// The parameter's name; `arg0` and so on where it has none.
    pub name: String,
    /// Its C type.
    pub ty: CTypeId,
    /// Size in bytes.
    pub size: u64,
    /// A scalar's one cell at offset 0, or those of a struct or union.
    pub cells: Vec<CellPlan>,
}

/// An object that input pointers may point to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPlan {
    /// The place in the inputs that first points to it: `buf`, `ctx->out.buf`.
    pub name: String,
    /// Its address, in the region of inputs.
    pub address: u64,
    /// Type of an element.
    pub element: CTypeId,
    /// The greatest number of elements.
    pub capacity: u64,
    /// Its greatest size in bytes. More than `capacity` elements take only if a flexible array member
    /// follows.
    pub size: u64,
    /// Its size in bytes: a 64-bit term, at most `size` wherever the constraints hold. `None`: always
    /// `size`.
    pub byte_length: Option<Term>,
    /// Alignment in bytes.
    pub align: u64,
    /// Whether a write to it is a fault.
    pub read_only: bool,
    /// Its scalars, for all of `size`.
    pub cells: Vec<CellPlan>,
}

/// A global that is an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalPlan {
    /// The global.
    pub global: GlobalId,
    /// Its scalars.
    pub cells: Vec<CellPlan>,
}

/// The chain of pointers through which a call of an undefined function reaches a target that it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerChain {
    /// The argument or global that it begins with.
    pub to: WriteBase,
    /// The pointers that are followed: the offset in bytes of each from the target of the one before.
    pub through: Vec<u64>,
    /// The distance in bytes from the start of the target's object, a 64-bit term, if it depends on the
    /// input. Offsets then count from that start.
    pub from: Option<Term>,
}

/// A write of an undefined function to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// The pointers that lead there.
    pub chain: PointerChain,
    /// The position of the target among those that the plan was requested for.
    pub target: usize,
    /// Bytes from the end of the chain to the first written byte, modulo 2 to the 64.
    pub offset: u64,
    /// The written values.
    pub contents: WriteContents,
    /// The condition under which it is written, a Boolean.
    pub when: Term,
    /// The number of bytes from the end of the chain that belong to the object, a 64-bit term, if it
    /// depends on the input. Bytes beyond are not written.
    pub length: Option<Term>,
}

/// The values written to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteContents {
    /// Scalars.
    Cells {
        /// The number of written bytes. Those that no cell covers had no value, and keep none.
        size: u64,
        /// The scalars, by their offset from the first byte.
        cells: Vec<CellPlan>,
    },
    /// The elements of an array symbol that the claims of a test depend on.
    Row {
        /// The array.
        symbol: Term,
        /// The kind of its elements.
        kind: PartKind,
        /// The object and row that the array stands for; none if its elements are consecutive.
        of: Option<(Arc<LazyObject>, Row)>,
    },
}

impl WritePlan {
    /// The scalars that are written.
    pub fn cells(&self) -> &[CellPlan] {
        match &self.contents {
            WriteContents::Cells { cells, .. } => cells,
            WriteContents::Row { .. } => &[],
        }
    }
}

/// Marks an [`ExternalPlan`] as an argument for `...` of the function under test, in place of a
/// function's name.
pub(crate) const VARIABLE_ARGUMENT: &str = "...";

/// Marks an [`ExternalPlan`] as a further call of the function under test. Its cells are the call's
/// arguments, each at a multiple of [`ARGUMENT_ROOM`].
pub(crate) const FURTHER_CALL: &str = "(call)";

/// Bytes between the arguments of a further call.
pub(crate) const ARGUMENT_ROOM: u64 = 16;

/// The inputs that one call of an undefined function returns and writes, an argument for `...`, or a
/// further call of the function under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPlan {
    /// The function's name.
    pub function: String,
    /// The number of earlier calls of it on the path.
    pub nth: u32,
    /// The program's name for the input, if it has one.
    pub object: Option<String>,
    /// The C type of the result.
    pub ty: CTypeId,
    /// Size of the result in bytes; 0 for `void`.
    pub size: u64,
    /// The result's scalars.
    pub cells: Vec<CellPlan>,
    /// Its writes, in their order.
    pub writes: Vec<WritePlan>,
    /// Fresh objects that the result and the written values may point to.
    pub objects: Vec<ObjectPlan>,
    /// As in [`InputPlan`].
    pub constraints: Vec<Term>,
    /// As in [`InputPlan`].
    pub preferences: Vec<Term>,
    /// As in [`InputPlan`].
    pub assumptions: Vec<String>,
    /// As in [`InputPlan`].
    pub bounds: Vec<Bound>,
    /// As in [`InputPlan`].
    pub raw_pointers: Vec<RawPointer>,
    /// The next free address.
    pub cursor: Cursor,
}

impl ExternalPlan {
    /// Whether it is an argument for `...` of the function under test.
    pub fn is_variable_argument(&self) -> bool {
        self.function == VARIABLE_ARGUMENT
    }

    /// Whether it is a further call of the function under test.
    pub fn is_further_call(&self) -> bool {
        self.function == FURTHER_CALL
    }
}

/// The reason for which there is no plan for a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A setting does not fit the program.
    #[error("{function}: {place}: {why}")]
    Setting {
        /// The function whose inputs are planned.
        function: String,
        /// The place that the setting is about.
        place: String,
        /// The error, as the end of a sentence.
        why: String,
    },
    /// An argument or global has no size.
    #[error("{function}: {place} has the incomplete type {ty}")]
    Incomplete {
        /// The function whose inputs are planned.
        function: String,
        /// The place.
        place: String,
        /// The type as C spells it.
        ty: String,
    },
    /// The inputs need more than the region of inputs holds.
    #[error("{function}: the inputs take more than {limit} bytes at {place}")]
    TooLarge {
        /// The function whose inputs are planned.
        function: String,
        /// The place that did not fit.
        place: String,
        /// The region's size in bytes.
        limit: u64,
    },
}
