//! Edges of the control-flow graph that decisions and switches take, and the probes on them.

use lydian_ir::stmt::{Edge, Terminator};
use lydian_ir::{Body, ConditionId, DecisionId};
use rustc_hash::FxHashMap;

/// The edges on which evaluations of decisions go.
#[derive(Debug, Default)]
pub(crate) struct DecisionEdges {
    /// Where a condition is false, and where it is true.
    ways: FxHashMap<(DecisionId, ConditionId), [Vec<Edge>; 2]>,
    /// Where a decision ends with false, and with true.
    outcomes: FxHashMap<DecisionId, [Vec<Edge>; 2]>,
}

impl DecisionEdges {
    /// Reads the branches of a body.
    pub(crate) fn new(body: &Body) -> Self {
        let mut this = Self::default();
        for (from, block) in body.blocks.iter() {
            let Terminator::Branch { origin: Some(origin), .. } = &block.term else { continue };
            let outcomes = [origin.then_outcome, origin.else_outcome];
            for ((way, outcome), value) in (0..).zip(outcomes).zip([true, false]) {
                let edge = Edge { from, way };
                let ways = this.ways.entry((origin.decision, origin.condition)).or_default();
                ways[usize::from(value)].push(edge);
                if let Some(outcome) = outcome {
                    let ends = this.outcomes.entry(origin.decision).or_default();
                    ends[usize::from(outcome)].push(edge);
                }
            }
        }
        this
    }

    /// The edges with which a decision's evaluation ends with an outcome.
    pub(crate) fn of_outcome(&self, decision: DecisionId, outcome: bool) -> Vec<Edge> {
        self.outcomes.get(&decision).map_or(Vec::new(), |ends| ends[usize::from(outcome)].clone())
    }

    /// The edges that a condition's value takes.
    pub(crate) fn of_condition(
        &self,
        decision: DecisionId,
        condition: ConditionId,
        value: bool,
    ) -> Vec<Edge> {
        let ways = self.ways.get(&(decision, condition));
        ways.map_or(Vec::new(), |ways| ways[usize::from(value)].clone())
    }
}

/// The probes on a way out of a switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitProbes {
    /// Cells that are set, whatever the state is.
    pub(crate) cells: Vec<u32>,
    /// Statements.
    pub(crate) text: String,
}
