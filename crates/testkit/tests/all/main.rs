//! Engines against each other, on programs that are made at random and on the examples.

mod augmentation;
mod changes;
mod criteria;
mod engines_agree;
mod enumeration;
mod examples;
mod files;
mod functions;
mod fuzz;
mod hyperlabels_explored;
mod predicates;
mod proving;
mod stopped_explorations;
mod theorems;
mod value_ranges;
mod versions;
mod workers;
mod workers_and_hyperlabels;
