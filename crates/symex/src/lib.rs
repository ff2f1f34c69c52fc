//! Symbolic exploration: states, memory, searchers, tight instrumentation, label deletion.

pub mod inputs;
