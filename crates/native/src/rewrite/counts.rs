//! Counters: how often control passed the entry of a function, its statements, and the ways of its
//! conditions and switches.
//!
//! A counter is a word of 64 bits of a second array. Statements that control passes one after the
//! other, with no call between that may not return, share one.

use lydian_base::EntityId as _;
use lydian_ir::{Body, ConditionId, MarkId, Stmt};
use lydian_objective::LabelId;
use rustc_hash::FxHashMap;

use super::Watch;
use super::vectors::Recording;
use crate::cc::FIRST_COUNTER;
use crate::plan::{Count, CountOf};

/// The statements of a function that share counters.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The run of statements to which a mark belongs.
    of: FxHashMap<MarkId, usize>,
    /// The counter of each run, where one has it already.
    counters: Vec<Option<u32>>,
}

impl Runs {
    /// The runs of a body; none where nothing is counted.
    pub(super) fn new(body: &Body, counts: bool) -> Self {
        let mut runs = Self::default();
        for (_, block) in body.blocks.iter().filter(|_| counts) {
            runs.counters.push(None);
            for stmt in &block.stmts {
                match &body.stmts[*stmt] {
                    Stmt::Mark(mark) => _ = runs.of.insert(*mark, runs.counters.len() - 1),
                    Stmt::Call { .. } | Stmt::Havoc(_) => runs.counters.push(None),
                    _ => {}
                }
            }
        }
        runs
    }
}

impl Watch<'_, '_> {
    /// What counts that control passes the place of some labels: an expression, if that is asked for.
    pub(super) fn count_labels(&mut self, labels: &[LabelId]) -> Option<String> {
        self.request.counts.then(|| {
            let counter = self.plan.new_counters(1);
            self.counts(counter, CountOf::Labels(labels.to_vec()));
            increment(counter)
        })
    }

    /// The same at a mark, unless a statement before or after it in its run is counted.
    pub(super) fn count_mark(&mut self, mark: MarkId, labels: &[LabelId]) -> Option<String> {
        let run = *self.runs.of.get(&mark)?;
        let shared = self.runs.counters[run];
        let counter = shared.unwrap_or_else(|| self.plan.new_counters(1));
        self.runs.counters[run] = Some(counter);
        self.counts(counter, CountOf::Labels(labels.to_vec()));
        shared.is_none().then(|| increment(counter))
    }

    /// Counts the ways of the conditions of all decisions that are measured.
    pub(super) fn count_conditions(&mut self) {
        if !self.request.counts {
            return;
        }
        for index in 0..self.function.decisions.len() {
            let edit = &self.function.decisions[index];
            if matches!(edit.recording(), Recording::Nothing) {
                continue;
            }
            let (decision, conditions) = (edit.id, edit.conditions());
            for condition in (0..conditions).map(ConditionId::from_index) {
                let first = self.plan.new_counters(2);
                self.counts(first, CountOf::Condition(decision, condition));
                let texts = [0, 1].map(|way| format!("{}, ", increment(first + way)));
                self.function.decisions[index].on_ways(condition, &texts);
            }
        }
    }

    fn counts(&mut self, counter: u32, of: CountOf) {
        self.plan.counts.push(Count { function: self.number, counter, of });
    }
}

fn increment(counter: u32) -> String {
    format!("lydian_counts[{}]++", FIRST_COUNTER + counter as usize)
}
