//! What is assumed about the inputs of one function, as a pure description in terms.
//!
//! The executor lays a plan out in its memory; [`super::concretise`] turns a model of its symbols
//! into a test. Everything that a path can observe of its inputs is in the plan, so that the same
//! plan, model and path give the same test in every run.
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

use super::bounds::Bound;
use super::lazy::{LazyInputs, LazyObject, Row};
use super::shape::PartKind;

/// Least distance in bytes between two objects, so that a small overrun meets nobody's memory.
pub const GAP: u64 = 64;

/// Where the engine keeps what is no input, which an input pointer can point to all the same.
pub trait Addresses {
    /// The address of a global.
    fn global(&self, global: GlobalId) -> u64;
    /// The address of a function.
    fn function(&self, function: FuncId) -> u64;
    /// The standard streams: the variables that hold them, with what these point to.
    fn streams(&self) -> &[(GlobalId, u64)] {
        &[]
    }
    /// Where memory that input pointers lead to comes into being; none where all of it is planned.
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
    /// What pointers among the inputs may point to, by address.
    pub objects: Vec<ObjectPlan>,
    /// The globals that are inputs, in the order of the program.
    pub globals: Vec<GlobalPlan>,
    /// Boolean terms that every input meets: ranges, lengths, choices.
    pub constraints: Vec<Term>,
    /// Boolean terms that an input had better meet, the weightiest first: declared values of
    /// enumerations, initial values of globals. No path may be given up for them.
    pub preferences: Vec<Term>,
    /// Functions of the program that take the same arguments and give non-zero exactly for the
    /// inputs to be considered. They run first, in order; they write nothing.
    pub preconditions: Vec<FuncId>,
    /// How large inputs are at most, stated or not, as sentences for the user. With any of these an
    /// input that the plan cannot express may exist.
    pub assumptions: Vec<String>,
    /// Bounds that the user did not state: default or guessed sizes, lengths and shapes. An exploration
    /// in which one of them makes a difference is a complete argument only under its assumption.
    pub bounds: Vec<Bound>,
    /// Numbers that may lie where the program sees a pointer.
    pub raw_pointers: Vec<RawPointer>,
    /// Where the next object can go: the start for [`super::external_result`].
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

    /// The first object to whose first byte a pointer leads; none if it may be an address that is
    /// neither such a one nor null.
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

/// The bytes of a union that has a pointer there, where they hold a number. A program that uses them
/// as an address takes them for a pointer, and inputs for which they are none are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPointer {
    /// The symbol of the number.
    pub bits: Term,
    /// That `v.p is a pointer wherever it is used as one`.
    pub assumption: Assumption,
}

/// The next free address in the region of inputs. A state carries its own.
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
    /// How many bytes it has at most. More than `capacity` elements take only where a flexible
    /// array member follows.
    pub size: u64,
    /// How many bytes it has: a 64-bit term, at most `size` wherever the constraints hold. `None`:
    /// always `size`.
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
    /// Which.
    pub global: GlobalId,
    /// Its scalars.
    pub cells: Vec<CellPlan>,
}

/// The way to what a call of an undefined function writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where it begins.
    pub to: WriteBase,
    /// The pointers that are followed, each so many bytes behind where the one before leads.
    pub through: Vec<u64>,
    /// How many bytes behind the start of an object it ends, a 64-bit term, where that depends on the
    /// input; then offsets count from that start.
    pub from: Option<Term>,
}

/// What one call of an undefined function writes to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// The way there.
    pub way: Way,
    /// Which of the targets that the plan was asked for.
    pub target: usize,
    /// Bytes from where the way ends to the first byte that is written, modulo 2 to the 64.
    pub offset: u64,
    /// What is written.
    pub written: Written,
    /// Whether it is written, a Boolean.
    pub when: Term,
    /// How many bytes behind where the way ends belong to the object, a 64-bit term, where that depends
    /// on the input. What lies further is not written.
    pub length: Option<Term>,
}

/// What is written to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Scalars.
    Cells {
        /// How many bytes are written. Those that no cell covers had no value, and keep none.
        size: u64,
        /// The scalars, by their offset from the first byte.
        cells: Vec<CellPlan>,
    },
    /// Those elements of an array symbol on which the claims of a test hang.
    Row {
        /// The array.
        symbol: Term,
        /// What its elements are.
        kind: PartKind,
        /// The object of the inputs and its row that it is; otherwise its elements stand one after the
        /// other.
        of: Option<(Arc<LazyObject>, Row)>,
    },
}

impl WritePlan {
    /// The scalars that are written.
    pub fn cells(&self) -> &[CellPlan] {
        match &self.written {
            Written::Cells { cells, .. } => cells,
            Written::Row { .. } => &[],
        }
    }
}

/// Instead of a function's name in an [`ExternalPlan`]: it is an argument for `...` of the function
/// under test.
pub(crate) const VARIABLE_ARGUMENT: &str = "...";

/// The same: it is a further call of the function under test, whose arguments are its cells, each at a
/// multiple of [`ARGUMENT_ROOM`].
pub(crate) const FURTHER_CALL: &str = "(call)";

/// Bytes that an argument of a further call has for itself.
pub(crate) const ARGUMENT_ROOM: u64 = 16;

/// What one call of an undefined function returns and writes, an argument for `...`, or a further call of
/// the function under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPlan {
    /// The function's name.
    pub function: String,
    /// How many calls of it lie before this one on the path.
    pub nth: u32,
    /// The name that the program gives the input, where it gives one.
    pub object: Option<String>,
    /// The C type of the result.
    pub ty: CTypeId,
    /// Size of the result in bytes; 0 for `void`.
    pub size: u64,
    /// The result's scalars.
    pub cells: Vec<CellPlan>,
    /// What it writes, in this order.
    pub writes: Vec<WritePlan>,
    /// Fresh objects that the result and what is written may point to.
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
    /// Where the next object can go.
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

/// Why there is no plan for a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A setting does not fit the program.
    #[error("{function}: {place}: {why}")]
    Setting {
        /// The function whose inputs are planned.
        function: String,
        /// The place that the setting is about.
        place: String,
        /// What is wrong, as the end of a sentence.
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
