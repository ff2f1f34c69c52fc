//! Explorations of C functions: what they reach, and what they take for infeasible.

mod augmented_paths;
mod bounds_that_matter;
mod common;
mod fewer_paths;
mod invariants_of_types;
mod lazy_inputs;
mod library_functions;
mod library_models_against_loops;
mod memory_against_bytes;
mod merged_states;
mod number_types;
mod out_parameters;
mod overwrites;
mod paths_of_c_programs;
mod paths_of_small_programs;
mod predictions_against_the_interpreter;
mod second_runs;
mod static_variables;
