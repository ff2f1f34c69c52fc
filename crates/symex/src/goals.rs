//! The goals: what is left to cover, and how it is decided where control passes.

pub(crate) mod cache_keys;
pub(crate) mod core_cache;
pub(crate) mod deferred;
pub(crate) mod hyper;
pub(crate) mod hyper_follow;
pub(crate) mod hyper_formula;
pub(crate) mod hyper_pairs;
pub(crate) mod hyper_rows;
pub(crate) mod hyper_sequences;
pub(crate) mod label_questions;
pub(crate) mod labels;
pub(crate) mod observed;
pub(crate) mod predicate_cache;
pub(crate) mod predicates;
pub(crate) mod reads;
pub(crate) mod shared;
pub(crate) mod site_table;
