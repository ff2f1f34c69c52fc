//! The context that the functions of one program share while they are annotated.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use lydian_base::{SourceMap, Span};
use lydian_ir::device::volatile_variables;
use lydian_ir::{FuncId, GlobalId, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::request::Request;
use crate::dataflow::unit::{UnitFlow, UnitFlows};
use crate::htol::HtolError;
use crate::htol::references::References;
use crate::hyper::{Atom, Obligation};

/// A program, the request, and results that the annotators of several functions need.
#[derive(Debug)]
pub(crate) struct ProgramContext<'a> {
    pub(crate) program: &'a Program,
    pub(crate) map: &'a SourceMap,
    pub(crate) request: &'a Request,
    /// The text that pairs of globals are within: that of the user's units.
    pub(super) own: &'a SourceMap,
    /// The offsets at which the units begin in the text, in ascending order.
    pub(super) starts: &'a [u32],
    pub(super) flows: UnitFlows,
    /// The variables that some function accesses as volatile, found when they are first asked for.
    pub(super) volatile: OnceCell<FxHashSet<GlobalId>>,
    /// The items of the user's files and the references between functions in them.
    pub(super) references: References<'a>,
    /// The references to each function, bound to it. A function is missing until it is asked for.
    pub(super) bound: RefCell<FxHashMap<FuncId, BoundReferences>>,
}

/// A reference of one function's objective to another function, bound to the labels and sites of the
/// function that it names.
#[derive(Clone, Debug)]
pub(crate) enum BoundReference {
    /// A label as an atom, with the text that shows it.
    Atom(Atom, Span),
    /// A duty of a passage.
    Duty(Obligation),
}

/// The references to one function in the order of the files, each bound or with its error.
pub(crate) type BoundReferences = Rc<Vec<Result<BoundReference, HtolError>>>;

impl<'a> ProgramContext<'a> {
    /// Prepares the functions of a program for a request. `map` is the text that the program was
    /// lowered from.
    pub(super) fn new(program: &'a Program, map: &'a SourceMap, request: &'a Request) -> Self {
        Self {
            program,
            map,
            request,
            own: map,
            starts: &[],
            flows: UnitFlows::default(),
            volatile: OnceCell::new(),
            references: References::of(program, &request.htol),
            bound: RefCell::default(),
        }
    }

    /// The same for functions of the first of several units ([`super::Annotators::of_units`]).
    pub(super) fn of_units(self, own: &'a SourceMap, starts: &'a [u32]) -> Self {
        Self { own, starts, flows: UnitFlows::default(), ..self }
    }

    /// The variables that some function accesses as volatile.
    pub(super) fn volatile(&self) -> &FxHashSet<GlobalId> {
        self.volatile.get_or_init(|| volatile_variables(self.program).collect())
    }

    /// The data flow of whole variables.
    pub(super) fn flow(&self) -> &UnitFlow {
        self.flows.whole(self.program, self.own)
    }

    /// The data flow of cells.
    pub(super) fn cells(&self) -> &UnitFlow {
        self.flows.cells(self.program, self.own)
    }

    /// The number of the unit that an offset of the text lies in.
    pub(super) fn unit_at(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}
