//! Filters: the parts of a coverage that count, by paths, by changed lines and by comments in the source.

pub mod changes;
mod comments;
pub mod exclusion;
pub mod paths;
