//! Inputs from the outside: guesses on hand-made signatures, plans, and tests made of models.

mod contracts;
mod guesses;
mod plans;
mod sketch;
