//! Mutants of a decision's conditions.
//!
//! Each is evaluated just before its condition into a byte of its own: 0 means no value, 1 false,
//! and 2 true. Byte 0 belongs to no mutant: it says whether any was evaluated. The labels of the
//! mutants are judged at the outcome. Most labels say that a condition differs from its mutant and
//! decides the outcome. For these, each condition has one byte that its mutants must have, so that
//! a loop compares the bytes of all its mutants with it.

use lydian_base::EntityId;
use lydian_ir::source::Capture;
use lydian_ir::{ConditionId, ExprId};
use lydian_objective::Pred;
use rustc_hash::FxHashMap;

use crate::rewrite::decision::leaves::EventLeaves;
use crate::rewrite::decision::unreached::LateEvaluation;
use crate::rewrite::decision::{DecisionEdit, condition_captures};
use crate::rewrite::mutant_probes::{MutantProbes, ProbeEntries, ProbeGate, ProbeSite, open_flag};
use crate::rewrite::predicates::code::{CodeWriter, DecisionEvent, SharedValues, ValuePresence};
use crate::rewrite::predicates::dual_rail::{DualRail, DualRailWriter};
use crate::rewrite::predicates::parameters::ProbeParameters;
use crate::rewrite::predicates::writer::{LabelCell, PredicateWriter, TextContext};

/// The mutants of a decision's conditions, and their labels.
#[derive(Debug, Default)]
pub(crate) struct DecisionMutants {
    /// In the order of their bytes, from byte 1 on.
    all: Vec<Mutant>,
    bytes: FxHashMap<(ConditionId, ExprId), usize>,
    /// The parameters of each condition's mutants: of mutants that are text, and of mutants that
    /// are code.
    read: Vec<ProbeParameters>,
    read_by_code: Vec<(ProbeParameters, SharedValues)>,
    /// The parameters of the labels: of labels that are text, and of labels that are code.
    pub(crate) read_by_labels: ProbeParameters,
    read_by_coded_labels: (ProbeParameters, SharedValues),
    /// Parts of the predicates of labels that are text.
    writer: DualRailWriter,
    /// The labels that say that a condition differs from a mutant and decides.
    runs: Vec<MutantRun>,
    /// For each condition the code of the byte that a mutant must have for that.
    wanted: FxHashMap<ConditionId, Option<Vec<u8>>>,
    /// The other labels whose predicates are code.
    coded: Vec<CodedLabel>,
    /// The statements that judge the labels that are text, and their cells.
    judged: String,
    judged_cells: Vec<LabelCell>,
    /// Whether all mutants are evaluated and judged at the outcome. This is possible if the
    /// conditions have no effects, so that the state is still the same, and no bytes are kept.
    at_once: bool,
    /// The calls that judge.
    calls: ProbeCalls,
}

/// A mutant of a condition.
#[derive(Debug)]
struct Mutant {
    condition: usize,
    /// The cells of the labels that ask for it.
    cells: Vec<usize>,
    /// Evaluates it.
    value: MutantValue,
    /// Whether it has a value where its condition is not reached.
    pure: bool,
}

/// The evaluation of a mutant.
#[derive(Debug)]
enum MutantValue {
    /// Code whose result is the mutant's byte.
    Code(Vec<u8>),
    /// A statement that sets its byte.
    Text(String),
}

/// Mutants of a condition, and the cells of the labels that say that the condition differs from
/// them and decides. Both have consecutive numbers.
#[derive(Debug)]
struct MutantRun {
    condition: ConditionId,
    byte: usize,
    cell: usize,
    count: usize,
    /// The flag to set while a cell is not.
    open: &'static str,
    /// Whether code computes the byte that the mutants must have. Otherwise a variable has it.
    is_code: bool,
}

#[derive(Debug)]
struct CodedLabel {
    cell: usize,
    by_sign: bool,
    code: Vec<u8>,
}

/// The calls that judge a decision's mutants.
#[derive(Debug, Default)]
struct ProbeCalls {
    /// Of each condition, statements; its value is `lydian_c`.
    conditions: Vec<String>,
    /// Of each condition where it is not reached.
    late: Vec<String>,
    /// At the outcome, if a condition called.
    outcome: String,
}

/// The most conditions whose operands' signs are tested in every pass.
const MOST_TESTS: usize = 4;

/// A label that says that a condition differs from its mutant and decides the outcome.
struct DiffersLabel<'p> {
    condition: ConditionId,
    mutant: ExprId,
    decides: &'p Pred,
}

impl<'p> DiffersLabel<'p> {
    fn of(pred: &'p Pred) -> Option<Self> {
        let (differs, decides) = match pred {
            Pred::And(differs, decides) => (&**differs, &**decides),
            other => (other, &Pred::Const(true)),
        };
        let Pred::Xor(own, mutant) = differs else { return None };
        match (&**own, &**mutant) {
            (Pred::Cond(own), Pred::Mutant(condition, mutant))
                if own == condition && decides.is_of_event() =>
            {
                Some(Self { condition: *condition, mutant: *mutant, decides })
            }
            _ => None,
        }
    }
}

impl Mutant {
    const fn is_text(&self) -> bool {
        matches!(self.value, MutantValue::Text(_))
    }

    /// A statement, unless all labels that ask for the mutant are covered.
    fn unless_covered(&self, statement: &str) -> String {
        let open: Vec<_> = self.cells.iter().map(|cell| format!("!lydian_hit[{cell}]")).collect();
        format!("if ({}) {{ {statement} }} ", open.join(" | "))
    }
}

impl MutantRun {
    /// Takes the next label into the run, if it is the next.
    fn takes(&mut self, next: &Self) -> bool {
        let is_next = (self.byte + self.count, self.cell + self.count) == (next.byte, next.cell);
        let is_same =
            (self.condition, self.open, self.is_code) == (next.condition, next.open, next.is_code);
        self.count += usize::from(is_next && is_same);
        is_next && is_same
    }

    fn statement(&self, bytes: &str) -> String {
        let Self { condition, byte, cell, count, open, .. } = self;
        let wanted = wanted(*condition);
        format!("{open} |= lydian_differ({bytes} + {byte}, {cell}, {count}, {wanted}); ")
    }
}

/// The variable of the byte that a condition's mutants must have where the condition decides.
fn wanted(condition: ConditionId) -> String {
    format!("lydian_q{}", condition.index())
}

/// Whether a flag is that of labels which only a negative operand covers.
fn is_by_sign(open: &str) -> bool {
    open == open_flag(true)
}

impl DecisionMutants {
    /// `is_calm`: the text becomes a user's program, and no condition has effects.
    pub(crate) fn new(conditions: usize, is_calm: bool) -> Self {
        let mut new = Self { at_once: is_calm, ..Self::default() };
        new.read.resize_with(conditions, ProbeParameters::default);
        new.read_by_code.resize_with(conditions, Default::default);
        new
    }

    /// Whether bytes are kept while the decision is evaluated.
    pub(crate) fn keeps_bytes(&self) -> bool {
        let is_text = self.all.iter().any(Mutant::is_text)
            || !self.judged.is_empty()
            || self.runs.iter().any(|run| !run.is_code);
        !self.all.is_empty() && (!self.at_once || is_text)
    }

    /// Whether labels are judged at the outcome.
    pub(crate) const fn has_judged_labels(&self) -> bool {
        !self.judged.is_empty() || !self.runs.is_empty() || !self.coded.is_empty()
    }

    /// The bytes of the mutants: a declaration.
    pub(crate) fn declarations(&self, decision: usize) -> String {
        match self.keeps_bytes() {
            false => String::new(),
            true => format!("unsigned char lydian_m{decision}[{}]; ", self.all.len() + 1),
        }
    }

    /// The calls that a condition makes: statements.
    pub(crate) fn called(&self, index: usize) -> &str {
        self.calls.conditions.get(index).map_or("", String::as_str)
    }

    /// The calls that are made for a condition that is not reached.
    pub(crate) fn called_late(&self, index: usize) -> &str {
        self.calls.late.get(index).map_or("", String::as_str)
    }

    /// The probe at the outcome: a statement.
    pub(crate) fn at_outcome(&self, decision: usize) -> String {
        match self.has_judged_labels() {
            true if self.at_once => self.calls.outcome.clone(),
            true => format!("if (lydian_m{decision}[0]) {{ {}}} ", self.calls.outcome),
            false => String::new(),
        }
    }

    /// The statements that judge the labels that are text.
    fn text_of_labels(&self, bytes: &str, probes: &mut MutantProbes) -> String {
        let runs = self.runs.iter().filter(|run| !run.is_code);
        let runs: String = runs.map(|run| run.statement(bytes)).collect();
        if !runs.is_empty() {
            probes.compare();
        }
        if runs.is_empty() && self.judged.is_empty() {
            return String::new();
        }
        format!("{}{runs}{}", self.writer.common_declarations(), self.judged)
    }

    /// The mutants of a condition. With `late`, only those that have a value if the condition is
    /// not reached.
    fn of_condition(&self, index: usize, late: bool) -> impl Iterator<Item = (usize, &Mutant)> {
        let numbered = (1..).zip(&self.all);
        numbered.filter(move |(_, mutant)| mutant.condition == index && (!late || mutant.pure))
    }
}

impl DecisionEdit {
    /// Adds a label whose predicate depends on mutants.
    pub(crate) fn label_of_mutants(
        &mut self,
        pred: &Pred,
        cell: LabelCell,
        predicates: &mut PredicateWriter<'_>,
    ) -> Result<(), String> {
        let before = self.mutants.all.len();
        let mut writer = std::mem::take(&mut self.mutants.writer);
        let added = self.judged_label(pred, cell, predicates, &mut writer);
        writer.forget_own();
        self.mutants.writer = writer;
        if added.is_err() {
            self.mutants.all.truncate(before);
            self.mutants.bytes.retain(|_, byte| *byte <= before);
        }
        added
    }

    fn judged_label(
        &mut self,
        pred: &Pred,
        cell: LabelCell,
        predicates: &mut PredicateWriter<'_>,
        writer: &mut DualRailWriter,
    ) -> Result<(), String> {
        let differs = DiffersLabel::of(pred).zip(cell.open);
        if let Some((differs, open)) = differs {
            let byte = self.mutant(differs.condition, differs.mutant, predicates, cell)?;
            let is_code = predicates.is_program() && self.has_code_of_wanted(&differs, predicates);
            if !is_code {
                let mut leaves = EventLeaves { edit: self, predicates, cell, is_outside: true };
                let own = writer.write(&Pred::Cond(differs.condition), &mut leaves)?;
                let decides = writer.write(differs.decides, &mut leaves)?;
                declare_wanted(writer, (differs.condition, &own), &decides);
            }
            let (condition, cell) = (differs.condition, cell.number);
            let next = MutantRun { condition, byte, cell, count: 1, open, is_code };
            let runs = &mut self.mutants.runs;
            if !runs.last_mut().is_some_and(|run| run.takes(&next)) {
                runs.push(next);
            }
            return Ok(());
        }
        if predicates.is_program() && self.is_coded(pred, cell, predicates)? {
            return Ok(());
        }
        let mut leaves = EventLeaves { edit: self, predicates, cell, is_outside: true };
        let rails = writer.write(pred, &mut leaves)?;
        let (number, set) = (cell.number, cell.set_if(&rails.yes));
        let declarations = writer.own_declarations();
        let text = format!("if (!lydian_hit[{number}]) {{ {declarations}{set}}} ");
        self.mutants.judged.push_str(&text);
        self.mutants.judged_cells.push(cell);
        Ok(())
    }

    /// Adds a label whose predicate is code at the outcome. Whether it is.
    fn is_coded(
        &mut self,
        pred: &Pred,
        cell: LabelCell,
        predicates: &PredicateWriter<'_>,
    ) -> Result<bool, String> {
        let mut mutants = Vec::new();
        pred.for_each_mutant(&mut |condition, expr| mutants.push((condition, expr)));
        for (condition, expr) in mutants {
            self.mutant(condition, expr, predicates, cell)?;
        }
        let code = self.code_at_outcome(predicates, |coder| coder.pred(pred));
        let is_code = code.is_some();
        self.mutants.coded.extend(code.map(|code| CodedLabel {
            cell: cell.number,
            by_sign: cell.open.is_some_and(is_by_sign),
            code,
        }));
        Ok(is_code)
    }

    fn has_code_of_wanted(
        &mut self,
        differs: &DiffersLabel<'_>,
        predicates: &PredicateWriter<'_>,
    ) -> bool {
        let DiffersLabel { condition, decides, .. } = *differs;
        if let Some(known) = self.mutants.wanted.get(&condition) {
            return known.is_some();
        }
        let code = self.code_at_outcome(predicates, |coder| coder.wanted(condition, decides));
        let is_code = code.is_some();
        self.mutants.wanted.insert(condition, code);
        is_code
    }

    fn code_at_outcome(
        &mut self,
        predicates: &PredicateWriter<'_>,
        write: impl FnOnce(&mut CodeWriter<'_>) -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let known = self.unreached.iter().map(|late| match late {
            LateEvaluation::Never => ValuePresence::Reached,
            LateEvaluation::Always => ValuePresence::Always,
            LateEvaluation::WhereDefined { bit, .. } => ValuePresence::OrBit(*bit),
        });
        let known: Vec<ValuePresence> = known.collect();
        let at = self.spans.last().map_or(0, |span| span.start);
        let words = self.words();
        let DecisionMutants { bytes, read_by_coded_labels: (parameters, shared), .. } =
            &mut self.mutants;
        let outcome = DecisionEvent { words, known: &known, bytes };
        predicates.code(TextContext::at(at), (parameters, shared), Some(outcome), write)
    }

    /// The number of a mutant's byte, made on first use.
    pub(crate) fn mutant(
        &mut self,
        condition: ConditionId,
        expr: ExprId,
        predicates: &PredicateWriter<'_>,
        cell: LabelCell,
    ) -> Result<usize, String> {
        let mutants = &mut self.mutants;
        if let Some(byte) = mutants.bytes.get(&(condition, expr)) {
            let cells = &mut mutants.all[*byte - 1].cells;
            if cells.last() != Some(&cell.number) {
                cells.push(cell.number);
            }
            return Ok(*byte);
        }
        let index = condition.index();
        let captures: Vec<Capture> = condition_captures(predicates, self.id, condition)?;
        let standing = TextContext {
            guard_from: predicates.body().exprs.len(),
            captures: &captures,
            ..TextContext::at(self.spans[index].start)
        };
        let number = mutants.all.len() + 1;
        let code = match predicates.is_program() {
            true => self.code_of_mutant(expr, index, standing, predicates),
            false => None,
        };
        let mutants = &mut self.mutants;
        let value = match code {
            Some(code) => MutantValue::Code(code),
            None => {
                let parameters = Some(&mutants.read[index]);
                let value = predicates.text(expr, TextContext { parameters, ..standing })?;
                let byte = format!("lydian_m{}[{number}]", self.id.index());
                MutantValue::Text(format!(
                    "lydian_bad = 0; {byte} = ({value}) ? 2 : 1; if (lydian_bad) {byte} = 0;"
                ))
            }
        };
        let pure = self.of_one_expression[index] && predicates.cannot_trap(expr);
        mutants.all.push(Mutant { condition: index, cells: vec![cell.number], value, pure });
        mutants.bytes.insert((condition, expr), number);
        self.captures[index] = captures;
        Ok(number)
    }

    fn code_of_mutant(
        &mut self,
        expr: ExprId,
        index: usize,
        standing: TextContext<'_>,
        predicates: &PredicateWriter<'_>,
    ) -> Option<Vec<u8>> {
        let words = self.words();
        let mutants = &mut self.mutants;
        let (own, shared) = &mut mutants.read_by_code[index];
        let write = |coder: &mut CodeWriter<'_>| coder.test(expr);
        if !mutants.at_once {
            return predicates.code(standing, (own, shared), None, write);
        }
        // Among the words of the outcome.
        let parameters = &mutants.read_by_coded_labels.0;
        let outcome = DecisionEvent { words, known: &[], bytes: &FxHashMap::default() };
        predicates.code(standing, (parameters, shared), Some(outcome), write)
    }

    /// The bytes of its mutants.
    fn bytes(&self) -> String {
        format!("lydian_m{}", self.id.index())
    }

    /// The bytes as a parameter of a function: its declaration and its argument.
    fn bytes_parameter(&self) -> (String, String) {
        let bytes = self.bytes();
        (format!("unsigned char *{bytes}"), bytes)
    }

    /// Makes the bytes zero, if nothing was evaluated into them before: a statement.
    fn opened_bytes(&self) -> String {
        let (bytes, count) = (self.bytes(), self.mutants.all.len());
        format!(
            "if (!{bytes}[0]) {{ {bytes}[0] = 1; __builtin_memset({bytes} + 1, 0, {count}); }} "
        )
    }

    /// The words of the event and the bytes, as parameters of a function.
    fn event_parameters(&self) -> [(String, String); 3] {
        let id = self.id.index();
        let [value, reached] = match self.is_wide() {
            true => ["unsigned long long *"; 2],
            false => ["unsigned int ", "unsigned long "],
        };
        let words = [(value, format!("lydian_v{id}")), (reached, format!("lydian_r{id}"))];
        let [value, reached] = words.map(|(ty, name)| (format!("{ty}{name}"), name));
        [value, reached, self.bytes_parameter()]
    }

    /// The words of the event, as data is given them.
    fn event_words(&self) -> Vec<String> {
        let every = |of: &dyn Fn(usize) -> String| -> Vec<String> {
            (0..self.words()).map(|word| of(word * 64)).collect()
        };
        let mut words = every(&|bit| self.value_word(bit));
        words.extend(every(&|bit| self.reached_word(bit)));
        words
    }

    /// Makes the mutant probes in objects for tests, once all labels were added. `signs` has, for
    /// each condition, tests of operands' signs for mutants that differ only if an operand is
    /// negative.
    pub(crate) fn make_probes(
        &mut self,
        gate: &ProbeGate,
        signs: &[Vec<String>],
        probes: &mut MutantProbes,
    ) {
        let mutants = &self.mutants;
        let (own, open) = ([self.bytes_parameter()], self.opened_bytes());
        let mut calls = |index: usize, late: bool| {
            let statements = texts_of(mutants.of_condition(index, late));
            if statements.is_empty() {
                return String::new();
            }
            let call = probes.call(&own, &mutants.read[index], &statements);
            gate.pass(&signs[index], &open, &call)
        };
        let conditions = self.called_at(&mut calls);
        let statements = mutants.text_of_labels(&self.bytes(), probes) + &gate.update();
        let outcome = probes.call(&self.event_parameters(), &mutants.read_by_labels, &statements);
        self.mutants.calls = ProbeCalls { outcome, ..conditions };
    }

    /// Makes the mutant probes in a user's program, as [`Self::make_probes`] does in objects for
    /// tests. The cell `signs_only` says that only mutants that need a negative operand are open.
    pub(crate) fn make_sampled(
        &mut self,
        signs_only: Option<u32>,
        signs: &[Vec<String>],
        probes: &mut MutantProbes,
    ) {
        let mutants = &self.mutants;
        if mutants.at_once {
            let outcome = self.judged_at_once(signs_only, signs, probes);
            self.mutants.calls = ProbeCalls { outcome, ..ProbeCalls::default() };
            return;
        }
        let (own, bytes) = ([self.bytes_parameter()], self.bytes());
        // Each condition has a counter of passes for false, for true, and for not reached.
        let sampled = probes.sampled(3 * self.spans.len(), signs_only, self.most_slots());
        let mut calls = |index: usize, late: bool| {
            let mut entries = ProbeEntries::default();
            entries.bytes(mutants.all.len());
            let (parameters, shared) = &mutants.read_by_code[index];
            entries.shared(shared);
            let mut any = false;
            for (byte, mutant) in mutants.of_condition(index, late) {
                any = true;
                if let MutantValue::Code(code) = &mutant.value {
                    entries.mutant(byte, &mutant.cells, code);
                }
            }
            if !any {
                return String::new();
            }
            let turn = match late {
                true => sampled.turn(3 * index + 2).to_string(),
                false => format!("{} + lydian_c", sampled.turn(3 * index)),
            };
            let (before, bytes) = (&[][..], Some(bytes.as_str()));
            let place = ProbeSite { parameters, before, bytes, turn: Some(&turn) };
            let mut calls = probes.by_data(&entries, place);
            let statements = texts_of(mutants.of_condition(index, late));
            if !statements.is_empty() {
                calls.push_str(&probes.call(&own, &mutants.read[index], &statements));
            }
            sampled.pass(&turn, &signs[index], &calls)
        };
        let conditions = self.called_at(&mut calls);
        let mut entries = self.entries_of_labels();
        entries.gate(&sampled);
        let place = ProbeSite {
            parameters: &mutants.read_by_coded_labels.0,
            before: &self.event_words(),
            bytes: Some(&bytes),
            turn: None,
        };
        let outcome = self.text_at_outcome(probes) + &probes.by_data(&entries, place);
        self.mutants.calls = ProbeCalls { outcome, ..conditions };
    }

    /// The mutant probe of a decision whose conditions have no effects, at its outcome.
    fn judged_at_once(
        &self,
        signs_only: Option<u32>,
        signs: &[Vec<String>],
        probes: &mut MutantProbes,
    ) -> String {
        let (mutants, bytes) = (&self.mutants, self.bytes());
        let mut entries = ProbeEntries::default();
        entries.bytes(mutants.all.len());
        let mut texts = String::new();
        for index in 0..self.spans.len() {
            let coded = |pure: bool| {
                let mut entries = ProbeEntries::default();
                for (byte, mutant) in mutants.of_condition(index, false) {
                    if let MutantValue::Code(code) = &mutant.value
                        && mutant.pure == pure
                    {
                        entries.mutant(byte, &mutant.cells, code);
                    }
                }
                entries
            };
            // Shared values are parts of the condition, and may trap if none of it is pure.
            let (everywhere, mut reached) = (coded(true), ProbeEntries::default());
            let shared = &mutants.read_by_code[index].1;
            let of_all = if everywhere.is_empty() { &mut reached } else { &mut entries };
            of_all.shared(shared);
            entries.append(everywhere);
            reached.append(coded(false));
            entries.if_reached(index, self.words(), &reached);
            texts.push_str(&self.texts_at_once(index, probes));
        }
        entries.append(self.entries_of_labels());
        // Vectors are counted apart, as far as there are numbers for them.
        let value = self.value_word(0);
        let (kinds, kind) = match self.bits() {
            bits @ ..=4 => (1 << bits, value),
            _ if self.is_wide() => {
                (16, format!("((unsigned int)({value} ^ {value} >> 32) * 2654435769u >> 28)"))
            }
            _ => (16, format!("({value} * 2654435769u >> 28)")),
        };
        // Operands may be looked at where their condition was reached.
        let tests: Vec<String> = (signs.iter().enumerate())
            .filter(|(_, tests)| !tests.is_empty())
            .map(|(index, tests)| {
                format!("(({}) && ({}))", self.is_reached(index), tests.join(" | "))
            })
            .collect();
        let signs_only = signs_only.filter(|_| (1..=MOST_TESTS).contains(&tests.len()));
        let sampled = probes.sampled(kinds, signs_only, self.most_slots());
        entries.gate(&sampled);
        let turn = format!("{} + {kind}", sampled.turn(0));
        let place = ProbeSite {
            parameters: &mutants.read_by_coded_labels.0,
            before: &self.event_words(),
            bytes: mutants.keeps_bytes().then_some(bytes.as_str()),
            turn: Some(&turn),
        };
        let calls = texts + &probes.by_data(&entries, place) + &self.text_at_outcome(probes);
        sampled.pass(&turn, &tests, &calls)
    }

    /// The calls, at the outcome, that evaluate a condition's mutants that are text.
    fn texts_at_once(&self, index: usize, probes: &mut MutantProbes) -> String {
        let statements = texts_of(self.mutants.of_condition(index, false));
        if statements.is_empty() {
            return String::new();
        }
        let own = [self.bytes_parameter()];
        let call = probes.call(&own, &self.mutants.read[index], &statements);
        format!("if ({}) {{ {}{call}}} ", self.is_reached(index), self.opened_bytes())
    }

    /// Whether a condition was reached: text.
    fn is_reached(&self, index: usize) -> String {
        format!("{} >> {} & 1", self.reached_word(index), index % 64)
    }

    /// The entries that judge the labels. Labels that are text have entries that say whether they
    /// are open.
    fn entries_of_labels(&self) -> ProbeEntries {
        let mutants = &self.mutants;
        let mut entries = ProbeEntries::default();
        entries.shared(&mutants.read_by_coded_labels.1);
        for run in &mutants.runs {
            let by_sign = is_by_sign(run.open);
            match mutants.wanted.get(&run.condition) {
                Some(Some(code)) if run.is_code => {
                    entries.run([run.cell, run.byte], run.count, by_sign, code);
                }
                _ => (0..run.count).for_each(|index| entries.open(run.cell + index, by_sign)),
            }
        }
        for label in &mutants.coded {
            entries.label(label.cell, label.by_sign, &label.code);
        }
        for cell in &mutants.judged_cells {
            entries.open(cell.number, cell.open.is_some_and(is_by_sign));
        }
        entries
    }

    /// The call that judges the labels that are text.
    fn text_at_outcome(&self, probes: &mut MutantProbes) -> String {
        let mutants = &self.mutants;
        let statements = mutants.text_of_labels(&self.bytes(), probes);
        if statements.is_empty() {
            return String::new();
        }
        probes.call(&self.event_parameters(), &mutants.read_by_labels, &statements)
    }

    /// The most values that are shared at one of its places.
    fn most_slots(&self) -> usize {
        let DecisionMutants { read_by_code, read_by_coded_labels, .. } = &self.mutants;
        let all = read_by_code.iter().chain([read_by_coded_labels]);
        all.map(|(_, shared)| shared.slots()).max().unwrap_or(0)
    }

    /// The calls of each condition. `calls` makes the calls of one condition, for where it is
    /// reached or not.
    fn called_at(&self, calls: &mut impl FnMut(usize, bool) -> String) -> ProbeCalls {
        let all = 0..self.spans.len();
        let conditions = all.clone().map(|index| calls(index, false)).collect();
        let late = self.late();
        let of_late =
            |index| if late.contains(&index) { calls(index, true) } else { String::new() };
        ProbeCalls { conditions, late: all.map(of_late).collect(), outcome: String::new() }
    }
}

/// The statements that evaluate the mutants that are text.
fn texts_of<'a>(mutants: impl Iterator<Item = (usize, &'a Mutant)>) -> String {
    let text = |(_, mutant): (usize, &Mutant)| match &mutant.value {
        MutantValue::Text(text) => Some(mutant.unless_covered(text)),
        MutantValue::Code(_) => None,
    };
    mutants.filter_map(text).collect()
}

/// Declares the variable of the byte that a condition's mutants must have, on first use.
fn declare_wanted(
    writer: &mut DualRailWriter,
    (condition, own): (ConditionId, &DualRail),
    decides: &DualRail,
) {
    let value = format!("{} ? {} ? 1 : {} ? 2 : 0 : 0", decides.yes, own.yes, own.no);
    writer.declare_once(&wanted(condition), &value);
}
