//! Explorations that are made beside that of all objectives with the inputs as they are planned.

mod control;
mod leading_elements;
mod relaxed_lengths;
