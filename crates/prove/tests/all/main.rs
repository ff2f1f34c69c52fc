//! Local proofs: what they prove, and what they must not prove. The encoder: what its systems do.

mod encoding;
mod local_proofs;
