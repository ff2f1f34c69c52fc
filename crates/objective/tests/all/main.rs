//! Objectives of all criteria on programs and decisions that are made at random.

mod logic_predicates;
mod well_typed;
