//! Local proofs: what they prove, and what they must not prove.

mod local_proofs;
