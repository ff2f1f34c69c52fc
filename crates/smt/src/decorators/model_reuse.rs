//! Reuse of recent models before a solver is asked.

use crate::solver::{Answer, Limits, Solver};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::terms::value::Model;
use std::collections::VecDeque;

/// Answers a query by a recent model where one satisfies it.
pub struct ModelReuse<S> {
    inner: S,
    /// Most recently useful first; each with its evaluator, so that its cache survives.
    models: VecDeque<(Model, Evaluator)>,
    capacity: usize,
    /// Queries answered without the inner solver.
    pub hits: u64,
}

impl<S: Solver> ModelReuse<S> {
    /// Keeps up to `capacity` models.
    pub fn new(inner: S, capacity: usize) -> ModelReuse<S> {
        ModelReuse { inner, models: VecDeque::new(), capacity, hits: 0 }
    }

    fn keep(&mut self, model: Model) {
        if self.capacity == 0 {
            return;
        }
        // The evaluator of the model that falls out keeps its memory for the new one.
        let evaluator = if self.models.len() >= self.capacity {
            self.models.pop_back().map(|(_, e)| e).unwrap_or_default()
        } else {
            Evaluator::new()
        };
        self.models.push_front((model, evaluator));
    }
}

impl<S: Solver> Solver for ModelReuse<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let found = self.models.iter_mut().position(|(model, evaluator)| {
            // The newest condition comes last and is the likeliest to be false.
            assumptions.iter().rev().all(|&a| evaluator.holds(pool, model, a))
        });
        if let Some(entry) = found.and_then(|i| self.models.remove(i)) {
            self.hits += 1;
            let model = entry.0.clone();
            self.models.push_front(entry);
            return Answer::Sat(model);
        }
        let answer = self.inner.check(pool, assumptions, limits);
        if let Answer::Sat(model) = &answer {
            self.keep(model.clone());
        }
        answer
    }

    fn forget(&mut self) {
        self.models.clear();
        self.inner.forget();
    }

    forward_to_inner!(offer, effort, name);
}
