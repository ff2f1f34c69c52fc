//! The plan: the meaning of each cell of an instrumented text.
//!
//! Instrumented code only sets cells, bytes that start as 0. What a cell means for which label is
//! worked out once, when the text is rewritten, so that reading what a run covered is a look-up. Only decisions
//! with very many conditions record vectors, which are judged afterwards.

use std::collections::BTreeSet;

use lydian_ir::{ConditionId, DecisionId, FuncId, GlobalId};
use lydian_objective::coverage_record::{LabelValues, Row, SequenceValues};
use lydian_objective::dataflow::UseId;
use lydian_objective::hyper::normal::Part;
use lydian_objective::hyper::{Atom, Hyper};
use lydian_objective::{CoverageRecord, FunctionObjectives, LabelId, SequenceId};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Bytes of the header before the cells of a unit of a user's program, before its tables, and
/// before its counters ([`crate::cc`]).
pub(crate) const HEADER: usize = 64;

/// The position of the first counter, behind the header of counters, in words of 64 bits.
pub(crate) const FIRST_COUNTER: usize = HEADER / 8;

/// The meanings of the cells of an instrumented text.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The cells, by position.
    pub cells: Vec<Cell>,
    /// The redundant cells: no probe sets them, since they follow from others.
    pub redundant: Vec<RedundantCell>,
    /// The cells that are stored in each turn of the innermost loop around them, or in each call of
    /// their function, as far as that is known. They are found where redundant probes are.
    pub steady: FxHashSet<u32>,
    /// The decisions whose evaluations set cells.
    pub decisions: Vec<DecisionCells>,
    /// The decisions whose vectors are recorded.
    pub wide: Vec<WideDecision>,
    /// Labels that the text cannot record, with the reason.
    pub unmeasured_labels: Vec<UnmeasuredLabel>,
    /// Sequences that the text cannot record, with the reason.
    pub unmeasured_sequences: Vec<UnmeasuredSequence>,
    /// The tables of the values that labels and sequences bind.
    pub tables: Vec<BoundTable>,
    /// The cells that say that a table had no room for some values.
    pub short: Vec<ShortCell>,
    /// Labels whose bound values the text cannot record, with the reason.
    pub unbound_labels: Vec<UnmeasuredLabel>,
    /// The records of variables that the unit shares with others.
    pub shared: SharedVariables,
    /// Whether texts of several units set cells.
    pub shares_cells: bool,
    /// The most words that an environment of a sequence under way has; 0 where there are none.
    pub environments: u32,
    /// The counts, as sums of counters.
    pub counts: Vec<Count>,
    /// How many counters there are.
    pub counters: u32,
}

/// A sum of counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The watched function, by position.
    pub function: u32,
    /// The counted event.
    pub of: CountOf,
    /// The counters, each with whether it is subtracted.
    pub terms: Vec<(u32, bool)>,
}

/// The counted event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CountOf {
    /// How often control passes the place of these labels.
    Labels(Vec<LabelId>),
    /// How often a condition has a value.
    Condition {
        /// The decision.
        decision: DecisionId,
        /// The condition.
        condition: ConditionId,
        /// The value.
        value: bool,
    },
}

/// The definitions and uses of variables that units share.
#[derive(Clone, Debug, Default)]
pub struct SharedVariables {
    /// The base that is added to the numbers of this unit's definitions.
    pub base: u64,
    /// The uses that record definitions of other units.
    pub uses: Vec<SharedUse>,
    /// The places that cannot be recorded, with the reasons.
    pub uninstrumentable: Vec<(SharedPlace, String)>,
}

/// A use that enters the last definition into a table if another unit made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedUse {
    /// Its function.
    pub function: FuncId,
    /// The use.
    pub usage: UseId,
    /// The cell that is entered with it on its first way, and the difference between the cells of
    /// consecutive ways.
    pub cells: (u32, u32),
    /// How many ways it has.
    pub ways: u32,
}

/// A place that concerns a shared variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedPlace {
    /// All of it.
    Variable(GlobalId),
    /// A definition, by its number.
    Definition(GlobalId, u32),
    /// A use.
    Use(FuncId, UseId),
}

/// The position in place of a function for uninstrumentable places of shared variables.
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
    /// The label or sequence that binds them.
    pub of: BoundOf,
    /// How each of them is kept.
    pub columns: Vec<Column>,
}

/// The label or the sequence that binds the values of a table, with the values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BoundOf {
    /// A label.
    Label(LabelValues),
    /// A sequence.
    Sequence(SequenceValues),
}

/// The form of a value in words of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// One word, unsigned.
    Unsigned,
    /// One word, signed.
    Signed,
    /// Two words, signed, the lower half first.
    Wide,
}

/// A cell that says that values could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortCell {
    /// The cell.
    pub cell: u32,
    /// The watched function, by position.
    pub function: u32,
    /// The label or sequence whose values are missing.
    pub of: ShortOf,
}

/// The label or sequence whose values could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShortOf {
    /// A label's.
    Label(LabelId),
    /// A sequence's.
    Sequence(SequenceId),
}

impl BoundOf {
    /// Adds values to the function's record.
    pub fn add(&self, row: Row, record: &mut CoverageRecord) {
        match self {
            Self::Label(values) => _ = record.add_label_values(values.clone(), row),
            Self::Sequence(values) => _ = record.add_sequence_values(values.clone(), row),
        }
    }
}

impl ShortOf {
    /// Notes in the function's coverage record that values are missing.
    pub fn add(self, record: &mut CoverageRecord) {
        match self {
            Self::Label(label) => record.mark_label_incomplete(label),
            Self::Sequence(sequence) => record.mark_sequence_incomplete(sequence),
        }
    }
}

impl Column {
    /// The number of words.
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

/// A cell that counts as set if one of other cells is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedundantCell {
    /// The cell.
    pub cell: u32,
    /// The cells that imply it, in rows: the first cell of each row, and the number of cells.
    pub of: Vec<(u32, u32)>,
}

/// Adds the redundant cells that follow from the cells that are set.
pub fn add_redundant(set: &mut BTreeSet<u32>, redundant: &[RedundantCell]) {
    // Redundant cells may follow from other redundant cells. Most probes have lower numbers than
    // their witnesses, so few rounds are needed.
    loop {
        let before = set.len();
        for RedundantCell { cell, of } in redundant.iter().rev() {
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
    /// The meaning of each of its cells: the vector, or the outcome only.
    pub meaning: CellMeaning,
    /// Whether hyperlabels are judged by its vectors.
    pub wanted: bool,
    /// The conditions, as bits, whose values are in vectors even if they are not reached: the
    /// conditions on which labels and hyperlabels depend.
    pub settled: u64,
}

/// The meaning of a decision's cell by its position among them.
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

/// A label that cannot be measured, or whose bound values cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmeasuredLabel {
    /// The watched function, by position.
    pub function: u32,
    /// The label.
    pub label: LabelId,
    /// Why: one sentence.
    pub reason: String,
}

/// A sequence that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmeasuredSequence {
    /// The watched function, by position.
    pub function: u32,
    /// The sequence.
    pub sequence: SequenceId,
    /// Why: one sentence.
    pub reason: String,
}

impl Plan {
    /// A plan for a unit of a user's program: its first cells stand for the header of the unit's
    /// cells.
    pub(crate) fn for_program() -> Self {
        Self { cells: vec![Cell::default(); HEADER], ..Self::default() }
    }

    /// Why a label of a watched function, by its position, cannot be measured; `None` where it can.
    pub fn why_label_unmeasured(&self, owner: usize, label: LabelId) -> Option<&str> {
        let is_it = |of: &&UnmeasuredLabel| of.function as usize == owner && of.label == label;
        self.unmeasured_labels.iter().find(is_it).map(|found| found.reason.as_str())
    }

    /// Why a hyperlabel of a watched function, by its position, cannot be measured; `None` where it
    /// can. `all` are the objectives of the watched functions.
    pub fn why_hyperlabel_unmeasured(
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
            let mut labels = self.unmeasured_labels.iter().chain(&self.unbound_labels);
            let is_it = |of: &&UnmeasuredLabel| {
                Some(of.function as usize) == number && of.label == atom.label
            };
            labels.find(is_it).map(|found| found.reason.as_str())
        };
        let of_sequence = |id: SequenceId| {
            let mut sequences = self.unmeasured_sequences.iter();
            let found = sequences.find(|of| of.function as usize == owner && of.sequence == id);
            found.map(|found| found.reason.as_str())
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

    /// Adds a cell that says whether sequences were covered, each with the position of its
    /// function.
    pub(crate) fn sequences_cell(&mut self, all: &[(u32, SequenceId)]) {
        let function = all.first().map_or(0, |(owner, _)| *owner);
        self.cells.push(Cell { function, ..Cell::default() });
        let cell = self.cells.len() - 1;
        all.iter().for_each(|(owner, sequence)| self.add_sequence(cell, *owner, *sequence));
    }

    /// Adds a sequence to a cell.
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
