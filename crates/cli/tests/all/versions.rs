//! Versions of a file: `lydian diff`, `lydian gen --against` and `--since`.

mod after_edits;
mod attempts;
mod differences;
mod impacts;
mod revisions;
