//! Counters of what an exploration costs.

use std::time::Duration;

/// What it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Statements and terminators executed.
    pub steps: u64,
    /// Solver queries.
    pub queries: u64,
    /// Of these, satisfiable.
    pub satisfiable: u64,
    /// Of these, without an answer.
    pub unanswered: u64,
    /// Queries about labels.
    pub label_queries: u64,
    /// Time in the solver.
    pub solver_time: Duration,
    /// Where it was asked for, time spent on terms outside of the solver: making and evaluating
    /// them, memory, and looking up what a path knows.
    pub term_time: Duration,
    /// Time spent on measuring that, which is no part of it.
    pub clock_time: Duration,
    /// Time overall.
    pub total_time: Duration,
    /// Branches whose side was decided by the model or by what the path knew.
    pub free_branches: u64,
    /// Decisions and choices for which one path stands instead of one for each way through them.
    pub merged: u64,
    /// Stretches that were gone through aside, so that their ways may meet again.
    pub stretches: u64,
    /// Pairs of states that were merged behind such stretches.
    pub merged_states: u64,
    /// States dropped as no label that is left lay ahead of them.
    pub dropped: u64,
    /// Labels covered by a state's model without a query.
    pub free_labels: u64,
    /// How often a state was evicted.
    pub evicted: u64,
    /// Statements and terminators executed again for such states.
    pub replayed_steps: u64,
    /// Terms in the pool.
    pub terms: usize,
    /// States that a worker gave another.
    pub handed_over: u64,
    /// Of these, those that went back, since the other could not make them again.
    pub given_back: u64,
    /// How long workers had nothing to do until others told them something.
    pub waited: Duration,
}

impl Statistics {
    /// Adds what another worker did at the same time.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            steps,
            queries,
            satisfiable,
            unanswered,
            label_queries,
            solver_time,
            term_time,
            clock_time,
            total_time: _,
            free_branches,
            merged,
            stretches,
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
        self.solver_time += *solver_time;
        self.term_time += *term_time;
        self.clock_time += *clock_time;
        self.free_branches += free_branches;
        self.merged += merged;
        self.stretches += stretches;
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
