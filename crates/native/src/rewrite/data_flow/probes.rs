//! The probes of a function's data flow, as the passes for variables and for cells collect them.

use indexmap::IndexMap;
use lydian_base::Span;
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, ConditionId, DecisionId, LocalId, StmtId};
use lydian_objective::SequenceId;
use lydian_objective::dataflow::UseSite;

use crate::rewrite::edges::ExitProbes;
use crate::rewrite::redundant::last_definitions::NumberSet;

/// The probes of one function's data flow.
#[derive(Debug, Default)]
pub(crate) struct FlowProbes {
    /// Probes where a condition is false, and where it is true.
    pub(crate) conditions: IndexMap<(DecisionId, ConditionId), [String; 2]>,
    /// Cells that are set where a condition is false, and where it is true, on every state.
    pub(crate) condition_cells: IndexMap<(DecisionId, ConditionId), [u32; 2]>,
    /// The cells that are set before expressions, each with the place of its use.
    pub(crate) cells: Vec<UseCell>,
    /// The probes of uses that set one of several cells.
    pub(crate) tables: Vec<UseTable>,
    /// Probes on a way out of a switch, without tables.
    pub(crate) switches: IndexMap<(BlockId, u32), ExitProbes>,
    /// Variables at the start of the function's body.
    pub(crate) declarations: String,
    /// The number with which that of a local begins, and the definitions that set it.
    pub(crate) numbers: IndexMap<LocalId, (u32, Vec<NumberSet>)>,
    /// The sequences whose uses are in a condition.
    pub(crate) of_conditions: IndexMap<(DecisionId, ConditionId), Vec<(u32, SequenceId)>>,
}

/// A cell that is set before an expression, for a use that one definition reaches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UseCell {
    pub(crate) cell: u32,
    pub(crate) around: Span,
    /// The statement that uses, or the block that returns.
    pub(crate) at: UseSite,
}

/// Cells of which a use sets one, by the definition that reached it.
#[derive(Clone, Debug)]
pub(crate) struct UseTable {
    /// The first cell, and the number of cells.
    pub(crate) cells: (u32, u32),
    /// The text of the index of the cell that is set.
    pub(crate) index: String,
    pub(crate) place: TablePlace,
    /// The local whose definition number is looked up at the probe, and the statement that reads
    /// it, if that is not the use itself.
    pub(crate) local: Option<(LocalId, Option<StmtId>)>,
}

/// Where the probe of a table stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TablePlace {
    /// Before an expression, for a use: a statement, or the block that returns.
    Before { around: Span, at: UseSite },
    /// Where a condition has this value.
    Way(DecisionId, ConditionId, bool),
    /// On a way out of a switch.
    Out(Edge),
}

impl FlowProbes {
    /// Adds probes to the two ways of a condition for sequences.
    pub(crate) fn at_condition(
        &mut self,
        at: (DecisionId, ConditionId),
        ways: &[String; 2],
        sequences: &[(u32, SequenceId)],
    ) {
        self.of_conditions.entry(at).or_default().extend(sequences);
        let texts = self.conditions.entry(at).or_default();
        texts.iter_mut().zip(ways).for_each(|(text, way)| text.push_str(way));
    }

    /// The sequences that cannot be measured because a decision's text cannot be rewritten.
    pub(crate) fn sequences_with_decision(&self, decision: DecisionId) -> Vec<(u32, SequenceId)> {
        let own = |key: &&(DecisionId, ConditionId)| key.0 == decision;
        let affected = self.of_conditions.iter().filter(|(key, _)| own(key));
        affected.flat_map(|(_, sequences)| sequences.iter().copied()).collect()
    }
}
