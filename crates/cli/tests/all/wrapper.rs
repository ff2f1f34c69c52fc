//! `lydian cc`: builds of whole programs, their runs, and what is reported of these.

mod builds;
mod faults;
mod marked_tests;
mod pairs_across_files;
mod records;
mod runs;
mod written_objectives;
