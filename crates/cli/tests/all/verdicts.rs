//! What is covered, infeasible or unknown, worked out by hand.

mod aligned_memory;
mod all_runs;
mod assumed_verdicts;
mod certificates;
mod certificates_in_ledgers;
mod certificates_of_objectives;
mod idioms;
mod nothing_vanishes;
mod ordinary_c;
mod outside_checkers;
mod proofs;
mod proofs_about_objectives;
mod proofs_with_exploration;
mod structures;
mod types_of_values;
mod undetermined;
mod unreached_conditions;
mod what_counts;
mod witnesses;
mod worked_by_hand;
