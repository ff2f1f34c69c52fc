//! Programs that are started as copies of one that is ready to run.

mod kept;
mod starts;
