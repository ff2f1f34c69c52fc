//! Counters of the cost of an exploration.

use std::time::Duration;

/// The cost of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Statements and terminators executed.
    pub steps: u64,
    /// Solver queries.
    pub queries: u64,
    /// Satisfiable queries.
    pub satisfiable: u64,
    /// Queries without an answer.
    pub unanswered: u64,
    /// Queries about labels.
    pub label_queries: u64,
    /// Queries about transformed conditions of augmented paths.
    pub augmented_queries: u64,
    /// Time spent in the solver.
    pub solver_time: Duration,
    /// Time spent on terms outside of the solver: making and evaluating them, memory, and looking
    /// up facts. Only with [`Config::measure_terms`](crate::Config::measure_terms).
    pub term_time: Duration,
    /// Time spent on measuring `term_time`, which does not include it.
    pub clock_time: Duration,
    /// The overall time.
    pub total_time: Duration,
    /// Branches with a side that was decided by the model or the path's facts.
    pub free_branches: u64,
    /// Decisions and choices for which one path stands instead of one for each way through them.
    pub merged: u64,
    /// Merge scopes that were run.
    pub scopes_run: u64,
    /// Pairs of states that were merged behind a scope.
    pub merged_states: u64,
    /// States dropped because no label that is left lay ahead of them.
    pub dropped: u64,
    /// Labels covered by a state's model without a query.
    pub free_labels: u64,
    /// The number of evictions.
    pub evicted: u64,
    /// Statements and terminators executed again in replays.
    pub replayed_steps: u64,
    /// Terms in the pool.
    pub terms: usize,
    /// States that a worker gave to another.
    pub handed_over: u64,
    /// States that were given back, since the other worker could not replay them.
    pub given_back: u64,
    /// Time that workers spent waiting for each other.
    pub waited: Duration,
}

impl Statistics {
    /// Adds the cost of another worker at the same time.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            steps,
            queries,
            satisfiable,
            unanswered,
            label_queries,
            augmented_queries,
            solver_time,
            term_time,
            clock_time,
            total_time: _,
            free_branches,
            merged,
            scopes_run,
            merged_states,
            dropped,
            free_labels,
            evicted,
            replayed_steps,
            terms,
            handed_over,
            given_back,
            waited,
        } = other;
        self.steps += steps;
        self.queries += queries;
        self.satisfiable += satisfiable;
        self.unanswered += unanswered;
        self.label_queries += label_queries;
        self.augmented_queries += augmented_queries;
        self.solver_time += *solver_time;
        self.term_time += *term_time;
        self.clock_time += *clock_time;
        self.free_branches += free_branches;
        self.merged += merged;
        self.scopes_run += scopes_run;
        self.merged_states += merged_states;
        self.dropped += dropped;
        self.free_labels += free_labels;
        self.evicted += evicted;
        self.replayed_steps += replayed_steps;
        self.terms += terms;
        self.handed_over += handed_over;
        self.given_back += given_back;
        self.waited += *waited;
    }
}
