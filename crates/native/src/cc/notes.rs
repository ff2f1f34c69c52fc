//! Notes: the meanings of a unit's cells, and everything else that a report needs of it.
//!
//! Notes are made when the unit is compiled, so that a report needs neither the compiler nor the
//! flags. They are kept packed: a format version, then deflated postcard. Their hash is the unit's
//! id, which stands in front of its cells: counters and notes of different compilations never meet.

use std::fmt;
use std::io::Read as _;
use std::sync::Arc;

use indexmap::IndexMap;
use lydian_base::{Arena, Place};
use lydian_ir::{BlockId, BoolTree, Decision, DecisionId, ExprArena, FuncId};
use lydian_objective::dataflow::SharedFlow;
use lydian_objective::hyper::{
    HyperEntry, HyperId, Hyperlabel, Passage, SameCell, Sequence, SequenceId,
};
use lydian_objective::{Criterion, FunctionObjectives, Label, LabelEntry, LabelId};
use serde::{Deserialize, Serialize};

use super::text::UnitTables;
use crate::plan::{
    BoundOf, CellMeaning, Column, Count, Plan, RedundantCell, ShortCell, UnmeasuredLabel,
    UnmeasuredSequence,
};

/// The version of the notes' form. Notes of another one cannot be read.
const FORMAT: u32 = 10;

const MAGIC: &[u8; 8] = b"LYDIANN1";

/// Names a compilation of a unit: the hash of its notes.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId(pub [u8; 16]);

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for UnitId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text.len() != 32 || !text.is_ascii() {
            return Err(());
        }
        let mut id = [0; 16];
        for (byte, at) in id.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| ())?;
        }
        Ok(Self(id))
    }
}

/// The notes of one instrumented unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Notes {
    /// The source, as the compiler was given it.
    pub source: String,
    /// The directory that relative names start from.
    pub directory: String,
    /// The criteria, in the order in which the user named them.
    pub criteria: Vec<Criterion>,
    /// Whether conditions that evaluation does not reach are unknown.
    pub short_circuit: bool,
    /// The files that the functions stand in.
    pub files: Vec<NotedFile>,
    /// The functions that are watched.
    pub functions: Vec<NotedFunction>,
    /// The meanings of the cells.
    pub plan: NotedPlan,
    /// The functions of which not all that was asked for is measured.
    pub unmeasured: Vec<NotedUnmeasured>,
    /// The parts of the unit that are not measured, with the reason: one sentence each.
    pub remarks: Vec<String>,
    /// The files of hyperlabels, and the unit's comments.
    pub written: Vec<NotedWritten>,
    /// The shared variables, if pairs across units are wanted.
    pub shared: Option<NotedShared>,
}

/// The definitions and uses of a unit's shared variables.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NotedShared {
    /// The data flow of its functions through them.
    pub flow: SharedFlow,
    /// The base that is added to the numbers of its definitions.
    pub base: u64,
    /// Where definitions of other units are entered that reach its uses.
    pub table: Option<ForeignTable>,
    /// The variables of the graph.
    pub variables: Vec<NotedVariable>,
    /// The uses of the graph.
    pub uses: Vec<NotedUse>,
}

/// A variable that units share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedVariable {
    /// Its name in C.
    pub name: String,
    /// Whether criteria of array cells tell its cells apart.
    pub has_cells: bool,
    /// Its definitions in this unit, by number from 1.
    pub definitions: Vec<NotedDefinition>,
    /// Why not all of them are recorded.
    pub uninstrumentable: Option<String>,
}

/// A definition of a variable that units share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedDefinition {
    /// Its function, by position, if that is watched.
    pub function: Option<u32>,
    /// Where it is.
    pub place: Place,
    /// It in words.
    pub text: String,
    /// Why it is not recorded.
    pub uninstrumentable: Option<String>,
}

/// A use of a variable that units share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedUse {
    /// Its function, by position, if that is watched.
    pub function: Option<u32>,
    /// Where it is.
    pub place: Place,
    /// Its name in criteria.
    pub name: String,
    /// Its ways: the name of each, and the use in words.
    pub ways: Vec<(String, String)>,
    /// Whether it is in a condition.
    pub is_condition: bool,
    /// The cell that stands for its first way in the table, and how much more it is for each next.
    pub cells: (u32, u32),
    /// Why it is not recorded.
    pub uninstrumentable: Option<String>,
}

/// A file of hyperlabels as the unit's compilation saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedWritten {
    /// Its path.
    pub path: String,
    /// The functions that it is about, of this unit or not.
    pub functions: Vec<String>,
    /// Its errors: one message with its place each.
    pub wrong: Vec<String>,
}

/// A source file, as it was when the unit was compiled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedFile {
    /// Its name, as line markers have it.
    pub path: String,
    /// The BLAKE3 hash of its contents; `None` if it could not be read.
    pub hash: Option<[u8; 32]>,
}

/// A function of which some criteria are not measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedUnmeasured {
    /// Its name.
    pub name: String,
    /// Where its name is declared.
    pub place: Place,
    /// The last line of its body.
    pub end_line: u32,
    /// These criteria.
    pub criteria: Vec<Criterion>,
    /// Why, with the place that the reason is about.
    pub reason: String,
}

/// A watched function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedFunction {
    /// Its name.
    pub name: String,
    /// Where its name is declared.
    pub place: Place,
    /// The last line of its body.
    pub end_line: u32,
    /// Its number in the unit.
    pub function: FuncId,
    /// Its labels. The keys are left out.
    pub labels: Arena<LabelId, Label>,
    /// The labels of each criterion.
    pub criteria: IndexMap<Criterion, Vec<LabelEntry>>,
    /// The sequences that hyperlabels are made of.
    pub sequences: Arena<SequenceId, Sequence>,
    /// Its hyperlabels. The keys are left out.
    pub hypers: Arena<HyperId, Hyperlabel>,
    /// The hyperlabels of each criterion.
    pub hyper_criteria: IndexMap<Criterion, Vec<HyperEntry>>,
    /// Its decisions, in the order of the source.
    pub decisions: Vec<NotedDecision>,
    /// Its switches, in the order of the source.
    pub switches: Vec<NotedSwitch>,
    /// The labels in its text (`case 1:`, `out:`), each with the label of the statement behind it.
    pub text_labels: Vec<(LabelId, Place)>,
    /// Its definitions and uses, if sequences ask for pairs of them.
    pub flow: NotedFlow,
    /// The same of the cells of arrays.
    pub cells: NotedFlow,
}

/// The definitions and uses of a function, by their ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NotedFlow {
    /// The variable of each definition, and its place.
    pub definitions: Vec<(String, Place)>,
    /// The place of each use, and whether it is in a condition.
    pub uses: Vec<(Place, bool)>,
}

/// A decision of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedDecision {
    /// Its tree and its conditions.
    pub decision: Decision,
    /// The tree that criteria ask about, without conditions whose value is constant.
    pub asked: BoolTree,
    /// Where it begins.
    pub place: Place,
    /// Its text, macros expanded.
    pub text: String,
    /// Whether some of it comes from a macro.
    pub from_macro: bool,
    /// Its conditions.
    pub conditions: Vec<NotedCondition>,
}

/// A condition of a decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedCondition {
    /// Where it begins.
    pub place: Place,
    /// Its text.
    pub text: String,
}

/// A switch of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedSwitch {
    /// The block that it ends.
    pub block: BlockId,
    /// Where it begins.
    pub place: Place,
    /// Its ways, in the order of their numbers.
    pub ways: Vec<NotedWay>,
}

/// A way out of a switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedWay {
    /// Its name.
    pub name: String,
    /// Where its label stands.
    pub place: Place,
}

/// The plan of a unit, packed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NotedPlan {
    /// How many cells there are, from the first after the header on.
    pub cells: u32,
    /// Cells that stand for labels, without the cells of decisions' vectors.
    pub labels: Vec<NotedLabels>,
    /// Cells that stand for sequences.
    pub sequences: Vec<NotedSequence>,
    /// Decisions whose evaluations set one of 2^n cells.
    pub vectors: Vec<NotedVectors>,
    /// Decisions whose outcomes set one of two cells.
    pub outcomes: Vec<NotedOutcome>,
    /// Decisions whose evaluations are kept in tables.
    pub tables: Vec<NotedTable>,
    /// Labels that the text cannot record.
    pub unmeasured_labels: Vec<UnmeasuredLabel>,
    /// Sequences that the text cannot record.
    pub unmeasured_sequences: Vec<UnmeasuredSequence>,
    /// The tables of the values that labels and sequences bind.
    pub bound: Vec<NotedBound>,
    /// The cells that say that not all of such values could be kept.
    pub short: Vec<ShortCell>,
    /// Labels whose bound values the text cannot record.
    pub unbound_labels: Vec<UnmeasuredLabel>,
    /// The redundant cells: no probe sets them, since they follow from others.
    pub redundant: Vec<RedundantCell>,
    /// The counts, as sums of counters.
    pub counts: Vec<Count>,
}

/// A cell that stands for labels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedLabels {
    /// The cell.
    pub cell: u32,
    /// The function, by position.
    pub function: u32,
    /// The labels that a run covers if it sets the cell.
    pub labels: Vec<LabelId>,
}

/// A cell that stands for a sequence.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct NotedSequence {
    /// The cell.
    pub cell: u32,
    /// The function, by position.
    pub function: u32,
    /// The sequence that a run covers if it sets the cell.
    pub sequence: SequenceId,
}

/// A decision whose outcomes set one of two cells.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct NotedOutcome {
    /// The function, by position.
    pub function: u32,
    /// The decision.
    pub decision: DecisionId,
    /// The cell of the outcome false; that of true follows it.
    pub first: u32,
}

/// A table of the distinct values that a label or a sequence binds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedBound {
    /// The function, by position.
    pub function: u32,
    /// The label or sequence that binds them.
    pub of: BoundOf,
    /// How each of them is kept.
    pub columns: Vec<Column>,
    /// Where it begins, in words of 64 bits from the start of the unit's tables.
    pub at: u32,
    /// How many rows it can hold: a power of two.
    pub capacity: u32,
    /// Words of 64 bits of a row.
    pub words: u32,
}

/// The table of the definitions in other units that reached uses: rows of a definition's number
/// with its base, and the cell that stands for the use's way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ForeignTable {
    /// Where it begins, in words of 64 bits from the start of the unit's tables.
    pub at: u32,
    /// How many rows it can hold: a power of two.
    pub capacity: u32,
}

/// A decision whose evaluations set one of 2^n cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedVectors {
    /// The function, by position.
    pub function: u32,
    /// The decision.
    pub decision: DecisionId,
    /// The first of its cells.
    pub first: u32,
    /// How many bits stand for a vector.
    pub bits: u32,
    /// The conditions, as bits, whose values are in vectors even if they are not reached: the
    /// conditions on which objectives depend.
    pub settled: u64,
}

/// A table of the distinct evaluations of a wide decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedTable {
    /// The function, by position.
    pub function: u32,
    /// The decision.
    pub decision: DecisionId,
    /// Where it begins, in words of 64 bits from the start of the unit's tables.
    pub at: u32,
    /// How many evaluations it can hold: a power of two.
    pub capacity: u32,
    /// Words of 64 bits for the values of the conditions.
    pub words: u32,
}

impl NotedFunction {
    /// The noted form of a function's objectives; decisions, switches and places are the caller's.
    pub fn new(name: String, place: Place, end_line: u32, objectives: &FunctionObjectives) -> Self {
        let no_key = lydian_objective::LabelKey(String::new());
        let labels = objectives.labels.values();
        let labels = labels.map(|label| Label { key: no_key.clone(), ..label.clone() });
        let hypers = objectives.hypers.values();
        let hypers = hypers.map(|hyper| Hyperlabel { key: no_key.clone(), ..hyper.clone() });
        Self {
            name,
            place,
            end_line,
            function: objectives.function,
            labels: labels.collect(),
            criteria: objectives.criteria.clone(),
            sequences: objectives.sequences.values().map(judged_by_last_definition).collect(),
            hypers: hypers.collect(),
            hyper_criteria: objectives.hyper_criteria.clone(),
            decisions: Vec::new(),
            switches: Vec::new(),
            text_labels: Vec::new(),
            flow: NotedFlow::default(),
            cells: NotedFlow::default(),
        }
    }
}

/// A sequence without the list of definitions that it must not pass, which may be very long. It is
/// not needed: records are made by last definitions.
fn judged_by_last_definition(sequence: &Sequence) -> Sequence {
    fn short(passage: &Passage) -> Passage {
        match passage {
            Passage::Clear(_) => Passage::Free,
            Passage::Cell(same) => Passage::Cell(SameCell { of: Arc::default(), ..same.clone() }),
            Passage::By(nodes, other) => Passage::By(nodes.clone(), Box::new(short(other))),
            other => other.clone(),
        }
    }
    Sequence {
        atoms: sequence.atoms.clone(),
        passages: sequence.passages.iter().map(short).collect(),
        scope: sequence.scope,
        flow: sequence.flow,
    }
}

impl NotedFunction {
    /// The starts of its lines: statements, and labels of the text with the statement after them,
    /// each with its place.
    pub fn lines(&self) -> impl Iterator<Item = (LabelId, &Place)> {
        let statements = self.criteria.get(&Criterion::Stmt).into_iter().flatten();
        let statements = statements.map(|entry| (entry.label, &self.labels[entry.label].place));
        statements.chain(self.text_labels.iter().map(|(label, place)| (*label, place)))
    }

    /// The objectives again, without their expressions.
    pub fn objectives(&self) -> FunctionObjectives {
        FunctionObjectives {
            function: self.function,
            exprs: ExprArena::default(),
            labels: self.labels.clone(),
            criteria: self.criteria.clone(),
            sequences: self.sequences.clone(),
            hypers: self.hypers.clone(),
            hyper_criteria: self.hyper_criteria.clone(),
        }
    }
}

impl NotedPlan {
    /// Packs a plan.
    pub fn new(plan: &Plan, tables: UnitTables) -> Self {
        let UnitTables { wide: tables, bound, foreign: _ } = tables;
        let cells = plan.cells.len() as u32;
        let (short, redundant, counts) =
            (plan.short.clone(), plan.redundant.clone(), plan.counts.clone());
        let mut noted = Self { cells, tables, bound, short, redundant, counts, ..Self::default() };
        let mut of_vectors = vec![false; plan.cells.len()];
        for found in &plan.decisions {
            let (function, decision, first) = (found.function, found.decision, found.first);
            match found.meaning {
                CellMeaning::Outcome => {
                    noted.outcomes.push(NotedOutcome { function, decision, first });
                }
                CellMeaning::Vector { bits } => {
                    let settled = found.settled;
                    let vectors = NotedVectors { function, decision, first, bits, settled };
                    noted.vectors.push(vectors);
                    let cells = first as usize..first as usize + (1 << bits);
                    of_vectors[cells].fill(true);
                }
            }
        }
        for (at, cell) in plan.cells.iter().enumerate() {
            if !of_vectors[at] && !cell.labels.is_empty() {
                let (cell, function, labels) = (at as u32, cell.function, cell.labels.clone());
                noted.labels.push(NotedLabels { cell, function, labels });
            }
            let own = cell.sequences.iter().map(|sequence| (cell.function, *sequence));
            let all = own.chain(cell.elsewhere.iter().copied());
            noted.sequences.extend(all.map(|(function, sequence)| NotedSequence {
                cell: at as u32,
                function,
                sequence,
            }));
        }
        noted.unmeasured_labels.clone_from(&plan.unmeasured_labels);
        noted.unbound_labels.clone_from(&plan.unbound_labels);
        noted.unmeasured_sequences.clone_from(&plan.unmeasured_sequences);
        noted
    }
}

/// Why notes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadNotes {
    /// Another version of Lydian made them.
    #[error("another version of Lydian compiled it; build it again")]
    Version,
    /// They are cut off or overwritten.
    #[error("its notes are damaged; build it again")]
    Damaged,
}

impl Notes {
    /// Packs the notes and gives them their id.
    pub fn pack(&self) -> (UnitId, Vec<u8>) {
        let packed = FORMAT.to_le_bytes().to_vec();
        let deflate = flate2::write::DeflateEncoder::new(packed, flate2::Compression::fast());
        // Writing to memory cannot fail.
        let written = postcard::to_io(self, std::io::BufWriter::with_capacity(1 << 16, deflate));
        let deflate = written.ok().and_then(|writer| writer.into_inner().ok());
        let packed = deflate.and_then(|deflate| deflate.finish().ok()).unwrap_or_default();
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(&packed).as_bytes()[..16]);
        (UnitId(id), packed)
    }

    /// Reads packed notes that have this id.
    ///
    /// # Errors
    /// Another version's notes, or damaged ones.
    pub fn unpack(id: UnitId, packed: &[u8]) -> Result<Self, BadNotes> {
        let Some((version, rest)) = packed.split_first_chunk::<4>() else {
            return Err(BadNotes::Damaged);
        };
        if u32::from_le_bytes(*version) != FORMAT {
            return Err(BadNotes::Version);
        }
        if blake3::hash(packed).as_bytes()[..16] != id.0 {
            return Err(BadNotes::Damaged);
        }
        let mut plain = Vec::new();
        flate2::read::DeflateDecoder::new(rest)
            .read_to_end(&mut plain)
            .map_err(|_| BadNotes::Damaged)?;
        postcard::from_bytes(&plain).map_err(|_| BadNotes::Damaged)
    }
}

/// Packed notes as they lie in an object's section, before the notes themselves.
pub(crate) fn section_header(id: UnitId, size: usize) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend(id.0);
    header.extend((size as u64).to_le_bytes());
    header
}

/// The packed notes of all units in a section of a linked file. Stops at the first bytes that are
/// no notes.
pub(crate) fn in_section(mut section: &[u8]) -> Vec<(UnitId, &[u8])> {
    let mut found = Vec::new();
    loop {
        // A linker may put zeros between the parts of a section.
        let zeros = section.iter().take_while(|byte| **byte == 0).count();
        section = &section[zeros..];
        let Some((header, rest)) = section.split_first_chunk::<32>() else { return found };
        let (magic, id_and_size) = header.split_at(8);
        let (id, size) = id_and_size.split_at(16);
        let (Ok(id), Ok(size)) = (id.try_into(), size.try_into()) else { return found };
        let size = usize::try_from(u64::from_le_bytes(size)).unwrap_or(usize::MAX);
        if magic != MAGIC || size > rest.len() {
            return found;
        }
        found.push((UnitId(id), &rest[..size]));
        section = &rest[size..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> Notes {
        Notes {
            source: "a.c".into(),
            directory: "/d".into(),
            criteria: vec![Criterion::Dc],
            short_circuit: false,
            files: vec![NotedFile { path: "a.c".into(), hash: Some([7; 32]) }],
            functions: Vec::new(),
            plan: NotedPlan::default(),
            unmeasured: Vec::new(),
            remarks: vec!["a remark".into()],
            written: Vec::new(),
            shared: None,
        }
    }

    #[test]
    fn packed_notes_are_read_back_and_their_id_is_their_hash() {
        let (id, packed) = notes().pack();
        assert_eq!(notes().pack().0, id);
        let back = Notes::unpack(id, &packed).expect("they can be read");
        assert_eq!((back.source.as_str(), back.remarks.len()), ("a.c", 1));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn damaged_notes_and_those_of_another_version_are_told_apart() {
        let (id, mut packed) = notes().pack();
        let cut = &packed[..packed.len() - 1];
        assert_eq!(Notes::unpack(id, cut).err(), Some(BadNotes::Damaged));
        packed[0] += 1;
        assert_eq!(Notes::unpack(id, &packed).err(), Some(BadNotes::Version));
    }

    #[test]
    fn notes_are_found_in_a_section_behind_zeros_and_up_to_what_is_no_note() {
        let mut section = vec![0; 3];
        for text in [b"one".as_slice(), b"three"] {
            section.extend(section_header(UnitId([text.len() as u8; 16]), text.len()));
            section.extend(text);
        }
        section.extend(b"something else that is long enough to be read as a header");
        let found = in_section(&section);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], (UnitId([5; 16]), b"three".as_slice()));
    }
}
