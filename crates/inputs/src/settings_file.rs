//! The files of settings that `lydian init` writes: from guesses, or from an exploration.

pub mod guessed;
pub mod learned;
