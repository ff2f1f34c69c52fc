//! Versions of a file: `lydian diff`, `lydian gen --against` and `--since`.

mod differences;
mod impacts;
mod revisions;
