//! Decisions: their evaluations, and predicates and forms that are made of their trees.
//!
//! [`vector`] has the event of a decision, [`predicates`] the predicates of a tree, [`masking`] those of
//! masking MC/DC, [`dnf`] minimal disjunctive forms. [`clause_pairs`] judges pairs of evaluations.

pub mod clause_pairs;
pub mod dnf;
pub mod masking;
pub mod predicates;
pub mod vector;
