//! The inputs of a function: what they are assumed to be, and tests made of them.
//!
//! 1. [`prepare`] adds to a program what stands for functions behind input pointers.
//! 2. [`guess`](guess::guess) reads signatures and bodies and says, with reasons, what each pointer
//!    most likely is; [`Settings`] is what the user says, in `lydian.toml`; an [`InputSpec`] is
//!    both, the user's word first.
//! 3. [`plan`] makes an [`InputPlan`] of it: cells, addresses and constraints in terms.
//!    [`external_result`] does the same for one call of an undefined function.
//! 4. [`concretise`] makes a test of a plan and a model.

pub mod asked;
pub mod bounds;
pub mod callback;
pub mod concretise;
pub mod contract;
pub mod fit;
pub mod globals;
pub mod guess;
pub mod lazy;
pub mod learned;
pub mod length;
pub mod looked_at;
pub mod place;
pub mod plan;
pub mod settings;
pub mod shape;
pub mod spec;
pub mod usage;
pub mod write_learned;
pub mod write_toml;

mod build;
mod layout;
mod names;
mod relations;
mod value;

pub use bounds::{Bound, Reach};
pub use build::asked_for;
pub use build::{
    ExternalCall, FurtherCall, MOST_WRITTEN, Old, OutTarget, VariableRead, external_result,
    further_call, plan, variable_argument,
};
pub use callback::prepare;
pub use concretise::{HeldObject, concretise, concretise_with_objects};
pub use contract::Contract;
pub use layout::has_pointers;
pub use plan::{
    Addresses, ArgPlan, CellPlan, Cursor, ExternalPlan, GlobalPlan, InputPlan, ObjectPlan,
    PlanError, RawPointer, Start, Way, WritePlan, Written,
};
pub use settings::{PlaceSettings, Settings, SettingsError};
pub use spec::{InputSpec, Invariant};
