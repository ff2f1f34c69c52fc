//! Additional explorations beside the main one, which explores all objectives with the inputs as they
//! are planned.

mod control;
mod default_tests;
mod leading_elements;
mod relaxed_lengths;
