//! The machine: a state, and what one step of the program does to it.
//!
//! A [`State`](state::State) is one path prefix: frames, memory, the facts that inputs of the path satisfy,
//! and a model, which is one input that takes the path.

pub(crate) mod aliasing;
pub(crate) mod behind;
pub(crate) mod bounds_monitor;
pub(crate) mod calls;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod control_flow;
pub(crate) mod decision_log;
pub(crate) mod ending;
pub(crate) mod evaluation;
pub(crate) mod invariants;
pub(crate) mod jump;
pub(crate) mod lazy;
pub(crate) mod learning;
pub(crate) mod left_out;
pub(crate) mod libc;
pub mod memory;
pub(crate) mod narrow;
pub(crate) mod outbox;
pub(crate) mod overwrites;
pub(crate) mod permitted;
pub(crate) mod places;
pub(crate) mod questions;
pub(crate) mod reachable;
pub(crate) mod setup;
pub(crate) mod site;
pub(crate) mod stack;
pub(crate) mod state;
pub(crate) mod static_values;
pub(crate) mod step;
pub(crate) mod traps;
pub(crate) mod undetermined;
pub(crate) mod writes;
