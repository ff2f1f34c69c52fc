//! The basis of all other crates: typed ids and arenas, places in the source, diagnostics, budgets with
//! typed reasons, seeded randomness, a cache.
//!
//! This crate knows nothing of C, of the IR or of solvers, and starts no processes.

pub mod arena;
pub mod budget;
pub mod cache;
mod columns;
pub mod diagnostic;
pub mod literals;
pub mod macros;
pub mod memory;
pub mod names;
pub mod random;
pub mod span;

pub use arena::{Arena, EntityId, SideTable};
pub use budget::{Budget, CancelToken, StopReason};
pub use cache::Cache;
pub use diagnostic::{Diagnostic, Severity};
pub use macros::MacroUses;
pub use names::NameSet;
pub use random::Rng;
pub use span::{Place, SourceMap, SourceMapBuilder, Span};
