//! Probes of def-use pairs: of whole variables, of array cells, and of pairs reached by a path.

use lydian_ir::{Body, FuncId, Program};

pub(crate) mod cells;
pub(crate) mod pairs;
pub(crate) mod path_history;
pub(crate) mod pointer_writes;
pub(crate) mod probes;
pub(crate) mod use_cells;
pub(crate) mod variables;

/// The function whose probes are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionContext<'a> {
    pub(crate) program: &'a Program,
    pub(crate) body: &'a Body,
    pub(crate) function: FuncId,
}
