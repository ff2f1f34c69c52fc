//! `lydian gen` on functions and whole programs: the tests that it finds, and how it is run.

mod augmented;
mod from_source_to_tests;
mod generated_hyperlabels;
mod library_calls;
mod programs_with_main;
mod several_jobs;
mod traces;
mod variable_arguments;
mod whole_programs;
