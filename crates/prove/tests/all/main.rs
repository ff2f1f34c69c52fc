//! Local proofs: what they prove, and what they must not prove. The encoder: what its systems do.
//! Recursion: what contracts decide.

mod encoding;
mod local_proofs;
mod recursion;
