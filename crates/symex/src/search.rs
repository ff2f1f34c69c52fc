//! Search: the waiting states, and the choice of the next one.

pub(crate) mod cut_points;
pub(crate) mod directed;
pub(crate) mod distance;
pub(crate) mod frontier;
pub(crate) mod graph;
pub(crate) mod hard;
pub(crate) mod rank;
pub(crate) mod searcher;
