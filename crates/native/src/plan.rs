//! The plan: which label each cell of the shared memory stands for.
//!
//! Instrumented code only sets cells, bytes that start as 0. What a cell means for which label is
//! worked out once, when the text is rewritten, so that harvesting is a look-up. Only decisions
//! with very many conditions record vectors, which are judged afterwards.

use lydian_ir::DecisionId;
use lydian_objective::{LabelId, SequenceId};

/// What the cells of an instrumented text stand for.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The cells, by position.
    pub cells: Vec<Cell>,
    /// The decisions that are recorded as sets of cells.
    pub decisions: Vec<DecisionCells>,
    /// The decisions that are recorded as vectors.
    pub wide: Vec<WideDecision>,
    /// Labels that the text cannot record, with the reason.
    pub unwatched: Vec<Unwatched>,
    /// Sequences that the text cannot record, with the reason.
    pub unmeasured: Vec<UnmeasuredSequence>,
}

/// A byte that instrumented code sets to 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The watched function, by position.
    pub function: u32,
    /// The labels that a run covers if it sets the cell.
    pub labels: Vec<LabelId>,
    /// The sequences that it covers then.
    pub sequences: Vec<SequenceId>,
    /// The sequences of other watched functions, by position, that it covers then.
    pub elsewhere: Vec<(u32, SequenceId)>,
}

/// A decision whose evaluations set one cell each.
#[derive(Clone, Debug)]
pub struct DecisionCells {
    /// The watched function, by position.
    pub function: u32,
    /// The decision.
    pub decision: DecisionId,
    /// The first of its cells.
    pub first: u32,
    /// What each cell, from the first on, says: the vector, or just the outcome.
    pub meaning: CellMeaning,
    /// Whether hyperlabels are judged by its vectors.
    pub wanted: bool,
    /// The conditions, as bits, whose values vectors have where they are not reached too: those on
    /// which labels and hyperlabels depend.
    pub settled: u64,
}

/// What a decision's cell, by its position among them, says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMeaning {
    /// The outcome: 0 or 1.
    Outcome,
    /// The true conditions, as bits, of `conditions` conditions. Which were reached follows.
    Vector {
        /// How many conditions.
        conditions: u32,
    },
}

/// A decision whose evaluations are kept as vectors.
#[derive(Clone, Debug)]
pub struct WideDecision {
    /// The watched function, by position.
    pub function: u32,
    /// The decision.
    pub decision: DecisionId,
    /// The labels that depend on it.
    pub labels: Vec<LabelId>,
}

/// A label that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwatched {
    /// The watched function, by position.
    pub function: u32,
    /// The label.
    pub label: LabelId,
    /// Why: one sentence.
    pub reason: String,
}

/// A sequence that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmeasuredSequence {
    /// The watched function, by position.
    pub function: u32,
    /// The sequence.
    pub sequence: SequenceId,
    /// Why: one sentence.
    pub reason: String,
}

impl Plan {
    /// Adds a cell that says whether sequences were covered, each with the position of its function.
    pub(crate) fn sequences_cell(&mut self, all: &[(u32, SequenceId)]) {
        let function = all.first().map_or(0, |(owner, _)| *owner);
        let mut cell = Cell { function, ..Cell::default() };
        for (owner, sequence) in all {
            match *owner == function {
                true => cell.sequences.push(*sequence),
                false => cell.elsewhere.push((*owner, *sequence)),
            }
        }
        self.cells.push(cell);
    }

    /// Adds a cell and returns its position.
    pub(crate) fn cell(&mut self, function: u32, labels: Vec<LabelId>) -> u32 {
        let position = u32::try_from(self.cells.len()).expect("fewer than 2^32 cells");
        self.cells.push(Cell { function, labels, ..Cell::default() });
        position
    }
}
