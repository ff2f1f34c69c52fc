//! Random programs against the proofs about them: a proof must never say that no run gets to a place
//! which a run of the interpreter gets to.
//!
//! - `grammar` has the sentences that programs are made of, by subject.
//! - [`writing`] makes whole programs of them, and functions under test.
//! - [`runs`] runs a program on many inputs, and notes which errors it gets to.
//! - [`judgement`] compares that with the program's transition system and with what the engines say of it.
//! - [`labels`] does the same for the labels and sequences of a function under test, in the memory of
//!   [`random_memory`].
//! - [`reduction`] makes a program smaller that shows a contradiction.
//!
//! Only this direction is checked. A system may have more runs than the program, and a variable without a
//! value is zero in the interpreter and any number in the system.

mod grammar;
pub mod judgement;
pub mod labels;
mod numbers;
pub mod random_memory;
pub mod reduction;
pub mod runs;
pub mod writing;
