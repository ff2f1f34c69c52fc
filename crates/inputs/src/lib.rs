//! The inputs of a function: assumptions about them, and tests made of them.
//!
//! 1. [`prepare`] adds synthetic functions to a program, which function pointers among the inputs lead
//!    to.
//! 2. [`guess`](guess::guess) reads signatures and bodies and guesses, with reasons, what each pointer
//!    leads to. [`Settings`] are the user's statements, in `lydian.toml`. An [`InputSpec`] combines
//!    both, and the user's statements come first.
//! 3. [`plan`] makes an [`InputPlan`] of it: cells, addresses and constraints in terms.
//!    [`external_result`] does the same for one call of an undefined function.
//! 4. [`concretise`] makes a test of a plan and a model.

pub mod bounds;
pub mod callback;
pub mod concretise;
pub mod globals;
pub mod guess;
pub mod lazy;
pub mod learned;
pub mod place;
pub mod plan;
pub mod settings;
pub mod settings_file;
pub mod spec;

mod build;
mod type_names;
mod value;

pub use bounds::{Bound, Reach};
pub use build::layout::has_pointers;
pub use build::{
    ExternalCall, FurtherCall, MOST_WRITTEN, OutTarget, PreviousPointer, VariableRead, asked_for,
    external_result, further_call, plan, variable_argument,
};
pub use callback::prepare;
pub use concretise::{HeldObject, concretise, concretise_with_objects};
pub use plan::{
    Addresses, ArgPlan, CellPlan, Cursor, ExternalPlan, GlobalPlan, InputPlan, ObjectPlan,
    PlanError, PointerChain, RawPointer, Start, WriteContents, WritePlan,
};
pub use settings::{PlaceSettings, Settings, SettingsError};
pub use spec::{Contract, InputSpec, Invariant};
