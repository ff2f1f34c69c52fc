//! Suites: tests with the observations of their native runs, and their forms.
//!
//! [`c`] and [`json`] are the forms of suites of functions, [`ktest`] and [`testcomp`] those of whole
//! programs. [`minimise`] chooses few tests, and [`names`] gives them names.

pub mod c;
mod elements;
mod image;
mod inputs;
pub mod json;
pub mod ktest;
pub mod minimise;
pub mod names;
mod observation;
pub mod registers;
mod signature;
mod test;
pub mod testcomp;
mod value;

pub use elements::pointee_at;
pub use image::{BlockPointer, ObservedImage};
pub use observation::{Memory, Observation, Outcome};
pub use test::SuiteTest;
