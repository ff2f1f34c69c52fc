//! Facts about terms that are found without a search: intervals, substitution of what is known, inverse
//! evaluation, and refutation by linear arithmetic.
//!
//! All of them work within fixed limits and may find nothing. Each module says which of its results are
//! certain and which are guesses.

pub(crate) mod bounds;
pub(crate) mod boxes;
pub(crate) mod given;
pub(crate) mod inversion;
pub(crate) mod linear;
