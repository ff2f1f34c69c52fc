//! The plan: which label each cell of the shared memory stands for.
//!
//! Instrumented code only sets cells, bytes that start as 0. What a cell means for which label is
//! worked out once, when the text is rewritten, so that harvesting is a look-up. Only decisions
//! with very many conditions record vectors, which are judged afterwards.

use std::collections::BTreeSet;

use lydian_ir::{ConditionId, DecisionId, FuncId, GlobalId};
use lydian_objective::coverage_record::{LabelValues, Row, SequenceValues};
use lydian_objective::dataflow::UseId;
use lydian_objective::hyper::normal::Part;
use lydian_objective::hyper::{Atom, Hyper};
use lydian_objective::{CoverageRecord, FunctionObjectives, LabelId, SequenceId};
use serde::{Deserialize, Serialize};

/// What the cells of an instrumented text stand for.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The cells, by position.
    pub cells: Vec<Cell>,
    /// Cells that nothing sets, since others say as much.
    pub implied: Vec<Implied>,
    /// The decisions that are recorded as sets of cells.
    pub decisions: Vec<DecisionCells>,
    /// The decisions that are recorded as vectors.
    pub wide: Vec<WideDecision>,
    /// Labels that the text cannot record, with the reason.
    pub unwatched: Vec<Unwatched>,
    /// Sequences that the text cannot record, with the reason.
    pub unmeasured: Vec<UnmeasuredSequence>,
    /// The tables of the values that labels and sequences bind.
    pub tables: Vec<BoundTable>,
    /// The cells that say that not all of such values could be kept, with whose.
    pub short: Vec<ShortCell>,
    /// Labels of which the text cannot record what they bind, with the reason.
    pub unbound: Vec<Unwatched>,
    /// What is recorded of the variables that the unit shares with others.
    pub shared: SharedRecords,
    /// Whether texts of several units set cells.
    pub shares_cells: bool,
    /// The most words that an environment of a sequence under way has; 0 where there are none.
    pub environments: u32,
    /// What counters count.
    pub counts: Vec<Count>,
    /// How many counters there are.
    pub counters: u32,
}

/// What a sum of counters says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The watched function, by position.
    pub function: u32,
    /// What is counted.
    pub of: CountOf,
    /// The counters, each with whether it is subtracted.
    pub terms: Vec<(u32, bool)>,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CountOf {
    /// How often control passes the place of these labels.
    Labels(Vec<LabelId>),
    /// How often a condition has a value.
    Way(DecisionId, ConditionId, bool),
}

/// The records of variables that units share.
#[derive(Clone, Debug, Default)]
pub struct SharedRecords {
    /// What is added to the numbers of this unit's definitions.
    pub base: u64,
    /// The uses that tell definitions of other units apart.
    pub uses: Vec<SharedUse>,
    /// The variables of which definitions, and the uses, that cannot be recorded, with the reasons.
    pub lost: Vec<(SharedPlace, String)>,
}

/// A use that enters the last definition into a table where that is another unit's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedUse {
    /// Its function.
    pub function: FuncId,
    /// The use.
    pub usage: UseId,
    /// The cell with which it does on its first way, and how much more it is on each next one.
    pub cells: (u32, u32),
    /// How many ways it has.
    pub ways: u32,
}

/// What of a shared variable is recorded somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedPlace {
    /// All of it.
    Variable(GlobalId),
    /// A definition, by its number.
    Definition(GlobalId, u32),
    /// A use.
    Use(FuncId, UseId),
}

/// Stands for the function of what is lost with a record of a shared variable.
pub(crate) const SHARED: u32 = u32::MAX;

impl SharedUse {
    /// The cell that stands for a way.
    pub const fn cell(&self, way: u32) -> u32 {
        self.cells.0 + way * self.cells.1
    }
}

/// A table of the distinct values that a label or a sequence binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundTable {
    /// The watched function, by position, to which the label or sequence belongs.
    pub function: u32,
    /// What binds them.
    pub of: BoundOf,
    /// How each of them is kept.
    pub columns: Vec<Column>,
}

/// What binds the values of a table, and which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BoundOf {
    /// A label.
    Label(LabelValues),
    /// A sequence.
    Sequence(SequenceValues),
}

/// How a value is kept in words of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// In one, without a sign.
    Unsigned,
    /// In one, with a sign.
    Signed,
    /// In two, the lower half first, with a sign.
    Wide,
}

/// A cell that says that values could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortCell {
    /// The cell.
    pub cell: u32,
    /// The watched function, by position.
    pub function: u32,
    /// Whose values.
    pub of: ShortOf,
}

/// Whose values could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShortOf {
    /// A label's.
    Label(LabelId),
    /// A sequence's.
    Sequence(SequenceId),
}

impl BoundOf {
    /// Adds values to what is known of the function.
    pub fn add(&self, row: Row, record: &mut CoverageRecord) {
        match self {
            Self::Label(values) => _ = record.add_label_values(values.clone(), row),
            Self::Sequence(values) => _ = record.add_sequence_values(values.clone(), row),
        }
    }
}

impl ShortOf {
    /// Adds that values are missing to what is known of the function.
    pub fn add(self, record: &mut CoverageRecord) {
        match self {
            Self::Label(label) => record.mark_label_incomplete(label),
            Self::Sequence(sequence) => record.mark_sequence_incomplete(sequence),
        }
    }
}

impl Column {
    /// How many words it takes.
    pub const fn words(self) -> usize {
        match self {
            Self::Unsigned | Self::Signed => 1,
            Self::Wide => 2,
        }
    }

    /// The values that are kept in some words; `None` where these are too few.
    pub fn row(columns: &[Self], words: &[u64]) -> Option<Row> {
        let mut rest = words.iter().copied();
        let value = |column: &Self| {
            let low = rest.next()?;
            Some(match column {
                Self::Unsigned => i128::from(low),
                Self::Signed => i128::from(low as i64),
                Self::Wide => i128::from(low) | i128::from(rest.next()? as i64) << 64,
            })
        };
        columns.iter().map(value).collect()
    }
}

/// A cell that counts as set where any of others is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implied {
    /// The cell.
    pub cell: u32,
    /// Of which it follows: the first cell of each row of them, and how many these are.
    pub of: Vec<(u32, u32)>,
}

/// Adds the cells that follow from those that are set.
pub fn add_implied(set: &mut BTreeSet<u32>, implied: &[Implied]) {
    // What follows from what follows: places precede those that speak for them, mostly by number.
    loop {
        let before = set.len();
        for Implied { cell, of } in implied.iter().rev() {
            let is_set =
                of.iter().any(|(first, count)| set.range(first..&(first + count)).next().is_some());
            if is_set {
                set.insert(*cell);
            }
        }
        if set.len() == before {
            return;
        }
    }
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
    /// The vector that so many bits stand for
    /// ([`lydian_objective::decision::vector::DecisionVector::from_bits`]).
    Vector {
        /// How many bits.
        bits: u32,
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
    /// How many bits stand for a vector.
    pub bits: u32,
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
    /// Why a label of a watched function, by its position, cannot be measured; `None` where it can.
    pub fn why_unwatched(&self, owner: usize, label: LabelId) -> Option<&str> {
        let is_it = |lost: &&Unwatched| lost.function as usize == owner && lost.label == label;
        self.unwatched.iter().find(is_it).map(|lost| lost.reason.as_str())
    }

    /// Why a hyperlabel of a watched function, by its position, cannot be measured; `None` where it
    /// can. `all` are the objectives of the watched functions.
    pub fn why_unmeasured(
        &self,
        all: &[FunctionObjectives],
        owner: usize,
        hyper: &Hyper,
    ) -> Option<&str> {
        let of_label = |atom: &Atom| {
            let number = match all[owner].function == atom.function {
                true => Some(owner),
                false => all.iter().position(|of| of.function == atom.function),
            };
            let mut lost = self.unwatched.iter().chain(&self.unbound);
            let is_it = |lost: &&Unwatched| {
                Some(lost.function as usize) == number && lost.label == atom.label
            };
            lost.find(is_it).map(|lost| lost.reason.as_str())
        };
        let of_sequence = |id: SequenceId| {
            let mut lost = self.unmeasured.iter();
            let found = lost.find(|lost| lost.function as usize == owner && lost.sequence == id);
            found.map(|lost| lost.reason.as_str())
        };
        let mut why = None;
        hyper.for_each_part(&mut |part| {
            why = why.or_else(|| match part {
                Part::Atom(atom) => of_label(atom),
                Part::Sequence(id) => of_sequence(id),
            });
        });
        why
    }

    /// Adds a cell that says that values could not be kept, and returns its position.
    pub(crate) fn short_cell(&mut self, function: u32, of: ShortOf) -> u32 {
        let cell = self.cell(function, Vec::new());
        self.short.push(ShortCell { cell, function, of });
        cell
    }

    /// Adds a cell that says whether sequences were covered, each with the position of its function.
    pub(crate) fn sequences_cell(&mut self, all: &[(u32, SequenceId)]) {
        let function = all.first().map_or(0, |(owner, _)| *owner);
        self.cells.push(Cell { function, ..Cell::default() });
        let cell = self.cells.len() - 1;
        all.iter().for_each(|(owner, sequence)| self.add_sequence(cell, *owner, *sequence));
    }

    /// Adds a sequence to those of a cell.
    pub(crate) fn add_sequence(&mut self, cell: usize, owner: u32, sequence: SequenceId) {
        let cell = &mut self.cells[cell];
        match owner == cell.function {
            true => cell.sequences.push(sequence),
            false => cell.elsewhere.push((owner, sequence)),
        }
    }

    /// Adds a cell and returns its position.
    pub(crate) fn cell(&mut self, function: u32, labels: Vec<LabelId>) -> u32 {
        let position = u32::try_from(self.cells.len()).expect("fewer than 2^32 cells");
        self.cells.push(Cell { function, labels, ..Cell::default() });
        position
    }
}
