//! Data flow: the definitions and uses of a function's variables, and the definitions that may reach
//! each use.
//!
//! # What counts ([001] 2, [002] III-B, Rapps and Weyuker)
//! - A variable is a named local (a parameter or an automatic variable), or a global of the user's
//!   that is not const and not thread-local, static locals among them; arrays and structs as a
//!   whole.
//! - Definitions: a parameter at the function's entry; the initial value of a global at the start of
//!   the run; an initialiser; an assignment, increment or copy to the variable or to a part of it; a
//!   call that gets its address through a parameter that is no pointer to const.
//! - A write through a pointer that may hit the variable (`aliases`) is a definition if it hits the
//!   variable at run time. In this analysis it does not end the reach of other definitions, so a pair
//!   with it or across it may be infeasible. Bit-fields are excepted.
//! - Uses: a c-use is a read by a statement, one for each statement of the graph that reads the
//!   variable; a p-use is a read by a condition (or the operand of a `switch`), once for each way
//!   that it can go. A read of a condition before an effect of its own (`n-- > 0`) counts as a read
//!   by the condition, too.
//! - A read through a pointer is no use.
//!
//! Reaching definitions of locals are computed on the function's graph by iteration to the least
//! fixed point, those of globals on the graph of all functions of the program ([`UnitFlow`]). A
//! definition of a part of a variable ends the reach of other definitions, because measuring keeps
//! one last definition for each variable. The definition and the use of a pair of a global may be in
//! different functions.

mod aliases;
pub mod cells;
pub(crate) mod def_use;
mod du_paths;
mod escape;
mod events;
mod globals;
mod graph;
mod linked;
mod local;
pub(crate) mod unit;

pub use cells::Access;
pub use def_use::{
    DataFlow, DefUse, Definition, DefinitionId, DefinitionSite, Use, UseId, UseSite, Variable,
    c_name, is_variable, root_of,
};
pub use du_paths::DuPaths;
pub use graph::{Extent, FlowBlock, FlowEvent, FlowFunction, FlowGraph, FlowUse, FlowVariable};
pub use linked::{ForeignPair, LinkedImage, SharedFlow, foreign_pairs};
pub use unit::{UnitFlow, UnitFlows, UnitShared};
