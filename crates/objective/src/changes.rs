//! The difference between two versions of a program: what is matched, and what the difference may
//! affect ([003] IV-B; Person, Yang, Rungta and Khurshid, *Directed Incremental Symbolic Execution*).
//!
//! [`ProgramChanges`] matches functions and the nodes of changed functions, by their IR and not by
//! lines. No verdict may rest on what follows from it: the analysis only says what is worth asking
//! for.

mod affected;
mod dependence;
mod impact;
mod matching;
mod nodes;
mod places;

pub use affected::{AffectedNodes, AffectedPlaces, VersionFlow};
pub use impact::ImpactedObjectives;
pub use matching::{FunctionChange, FunctionStatus, NodeMatching, ProgramChanges, VersionOf};
pub use nodes::{NodeId, Nodes, global_text};
pub use places::{Effects, NamedGlobals, PlaceOf, ProgramPlaces};
