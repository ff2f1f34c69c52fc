//! Proofs of infeasibility: value analysis, bounded model checking, induction, abstraction refinement.
