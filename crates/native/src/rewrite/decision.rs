//! A decision's text: its conditions note their values, and a probe at its outcome records them.
//!
//! Variable `v` has a bit for each true condition, and `r` one for each condition that was reached;
//! `r` is kept only if something asks for it. If each end of the evaluation belongs to one vector,
//! as in `a && b`, there are no bits: each end sets its cell, which depends on the conditions that
//! it did not reach and whose values matter. If all conditions are pure and those that are not
//! reached matter, all are evaluated first, and the decision is computed from the bits.
//!
//! A condition that has no value on some states is evaluated there by a text of its own, which
//! checks its operands, and has one more bit that says whether it has a value. Mutants of a
//! condition are evaluated just before it, on the same state, and judged at the outcome.

use std::fmt::Write as _;

use lydian_base::{EntityId, Span};
use lydian_ir::source::{Capture, DecisionSite, RootKind};
use lydian_ir::{Body, BoolTree, ConditionId, Decision, DecisionId, Purity};
use lydian_objective::{Pred, SequenceId};
use rustc_hash::FxHashSet;

use crate::rewrite::decision::boundary::{Boundary, DecisionBoundaries, pending_word};
use crate::rewrite::decision::leaves::EventLeaves;
use crate::rewrite::decision::mutants::DecisionMutants;
use crate::rewrite::decision::unreached::LateEvaluation;
use crate::rewrite::decision::vectors::{
    CELL_CONDITIONS, Recording, doubtful, ends, reached_with, truth_by_outcome,
};
use crate::rewrite::edges::DecisionEdges;
use crate::rewrite::predicates::dual_rail::DualRailWriter;
use crate::rewrite::predicates::writer::{LabelCell, PredicateWriter};
use crate::rewrite::redundant::Probe;
use crate::rewrite::request::{Purpose, RewriteRequest};
use crate::rewrite::sequences::monitors::BitStep;
use crate::rewrite::source::scan;

pub(crate) mod boundary;
mod eager;
mod leaves;
mod mutants;
pub(crate) mod unreached;
pub(crate) mod vectors;

/// Everything that rendering a decision needs.
#[derive(Debug)]
pub(crate) struct DecisionEdit {
    pub(crate) id: DecisionId,
    tree: BoolTree,
    recording: Recording,
    /// The first cell, or the number among the wide decisions.
    first: u32,
    /// The vectors with which evaluation ends at each condition ([`ends`]).
    ends: Option<Vec<[Option<u32>; 2]>>,
    /// The conditions, as bits, that are reached at each of these ends.
    reached_at_ends: Vec<[u64; 2]>,
    /// Steps of sequences where the outcome is false, and where it is true: statements.
    steps: [String; 2],
    /// The text of all of it.
    pub(crate) span: Span,
    /// The sequences with steps at its outcome.
    pub(crate) sequences: Vec<(u32, SequenceId)>,
    spans: Vec<Span>,
    purity: Vec<Purity>,
    /// The conditions' own texts, on one line.
    texts: Vec<String>,
    /// The value of each condition where evaluation does not reach it.
    unreached: Vec<LateEvaluation>,
    /// The conditions whose mutants have a value there, if they cannot trap.
    of_one_expression: Vec<bool>,
    /// The mutants of its conditions and their labels, which functions of their own judge.
    mutants: DecisionMutants,
    /// The statements that judge the other labels at the outcome.
    judged: Vec<String>,
    /// Captures of conditions that have mutants.
    captures: Vec<Vec<Capture>>,
    /// The conditions whose value may be undefined where evaluation does not reach them. An empty
    /// `asm` statement hides the origin of such a value from the compiler before a branch depends
    /// on it.
    doubtful: Vec<bool>,
    /// Further statements before a condition that has captures.
    root_probes: Vec<String>,
    /// Whether a condition's text contains probes, so that it must be evaluated in place only.
    in_place: bool,
    /// Whether the value of the text must be kept beside the outcome.
    keeps_value: bool,
    /// Whether that value is to be promoted, as that of a bit-field is.
    promoted: bool,
    /// Further probes where a condition is false, and where it is true: expressions, each followed
    /// by a comma.
    ways: Vec<[String; 2]>,
    /// The cells that are set there, whatever the state is.
    way_cells: Vec<[Vec<u32>; 2]>,
    /// The tables of which a cell is set where a condition has a value.
    tables: Vec<ConditionTable>,
    /// Where operands of conditions meet.
    boundaries: DecisionBoundaries,
    /// The redundant cells, which are not set.
    left_out: FxHashSet<u32>,
    /// Whether the text is that of a user's program.
    in_program: bool,
}

/// A probe on a way of a condition that sets one of several cells.
#[derive(Debug)]
struct ConditionTable {
    condition: ConditionId,
    value: bool,
    /// The first of them.
    first: u32,
    /// The text of the index of the cell that is set.
    index: String,
}

const KEPT: &str = "its decision's text is used for its value too";

impl DecisionEdit {
    pub(crate) fn new(
        id: DecisionId,
        decision: &Decision,
        body: &Body,
        request: &RewriteRequest<'_>,
        site: &DecisionSite,
        (recording, first): (Recording, u32),
        unreached: Vec<LateEvaluation>,
    ) -> Self {
        let of_one_expression =
            decision.conditions.values().map(|c| c.is_one_expression() && !request.short_circuit);
        let texts = site.conditions.iter().map(|span| one_line(request.map.slice(*span)));
        let ends = ends(decision);
        let has_effects =
            decision.conditions.values().any(|condition| condition.purity == Purity::Effects);
        let is_calm = request.purpose == Purpose::Program && !has_effects;
        let reached = |end: &Option<u32>| end.map_or(0, |bits| reached_with(decision, bits));
        let reached_at_ends =
            ends.iter().flatten().map(|by_value| [0, 1].map(|v| reached(&by_value[v])));
        Self {
            id,
            tree: decision.tree.clone(),
            recording,
            first,
            reached_at_ends: reached_at_ends.collect(),
            ends,
            steps: Default::default(),
            texts: texts.collect(),
            span: site.span,
            sequences: Vec::new(),
            spans: site.conditions.clone(),
            purity: decision.conditions.values().map(|condition| condition.purity).collect(),
            unreached,
            of_one_expression: of_one_expression.collect(),
            mutants: DecisionMutants::new(site.conditions.len(), is_calm),
            judged: Vec::new(),
            doubtful: doubtful(decision, request, body),
            captures: vec![Vec::new(); site.conditions.len()],
            root_probes: vec![String::new(); site.conditions.len()],
            in_place: false,
            keeps_value: site.keeps_value,
            promoted: false,
            ways: vec![Default::default(); site.conditions.len()],
            way_cells: vec![Default::default(); site.conditions.len()],
            tables: Vec::new(),
            boundaries: DecisionBoundaries::default(),
            left_out: FxHashSet::default(),
            in_program: request.purpose == Purpose::Program,
        }
    }

    /// Adds probes of boundary values. Gives them back with the reason if the text cannot have
    /// them.
    pub(crate) fn add_boundaries(
        &mut self,
        boundaries: DecisionBoundaries,
        predicates: &PredicateWriter<'_>,
    ) -> Result<(), (Vec<Boundary>, String)> {
        if self.keeps_value && !boundaries.all.is_empty() {
            return Err((boundaries.all, KEPT.to_owned()));
        }
        let of = |boundary: &Boundary| {
            let condition = ConditionId::from_index(boundary.condition);
            Ok((boundary.condition, condition_captures(predicates, self.id, condition)?))
        };
        let captures: Result<Vec<_>, String> = boundaries.all.iter().map(of).collect();
        match captures {
            Ok(captures) => {
                captures.into_iter().for_each(|(index, all)| self.captures[index] = all);
                self.boundaries = boundaries;
                Ok(())
            }
            Err(reason) => Err((boundaries.all, reason)),
        }
    }

    /// Whether the text that its conditions are part of is used for its value too.
    pub(crate) const fn keeps_value(&self) -> bool {
        self.keeps_value
    }

    /// The probes on edges that depend on no state, for the search of redundant probes.
    pub(crate) fn edge_probes(&self, ends: &DecisionEdges) -> Vec<Probe> {
        if self.keeps_value {
            return Vec::new();
        }
        let by_end = self.ends_with_cells();
        let mut probes = Vec::new();
        for (index, value) in (0..self.spans.len()).flat_map(|i| [(i, false), (i, true)]) {
            let edges = ends.of_condition(self.id, ConditionId::from_index(index), value);
            let cells = self.cells_on_way(index, value);
            probes.extend(cells.filter_map(|cell| Probe::on(edges.clone(), (cell, 1))));
        }
        probes.extend(self.own_probes(by_end, ends));
        probes
    }

    fn own_probes(&self, by_end: Option<&[[Option<u32>; 2]]>, ends: &DecisionEdges) -> Vec<Probe> {
        match (&self.recording, by_end) {
            (Recording::Outcome(labels), _) => {
                let is_recorded = |outcome: &usize| !labels[*outcome].is_empty();
                let on = |outcome: usize| {
                    let edges = ends.of_outcome(self.id, outcome == 1);
                    Probe::on(edges, (self.first + outcome as u32, 1))
                };
                [0, 1].into_iter().filter(is_recorded).filter_map(on).collect()
            }
            (Recording::Vector { .. }, Some(by_end)) => {
                let all = by_end.iter().enumerate().flat_map(|(index, by_value)| {
                    let condition = ConditionId::from_index(index);
                    [false, true].into_iter().zip(*by_value).filter_map(move |(value, end)| {
                        let edges = ends.of_condition(self.id, condition, value);
                        let late = self.late_at(index, usize::from(value));
                        let choices: Vec<_> =
                            late.into_iter().map(|late| self.cells_beyond(late)).collect();
                        Probe::on_one_of(edges, self.first + end?, &choices)
                    })
                });
                all.collect()
            }
            (Recording::Vector { labels, .. }, None) => {
                let outcomes = [false, true].map(|outcome| ends.of_outcome(self.id, outcome));
                let cells = (self.first, labels.len() as u32);
                Probe::on(outcomes.concat(), cells).into_iter().collect()
            }
            (Recording::Nothing | Recording::Wide(_), _) => Vec::new(),
        }
    }

    /// Says which cells need not be set.
    pub(crate) fn leave_out(&mut self, cells: &FxHashSet<u32>) {
        let ways = (0..self.spans.len()).flat_map(|i| [(i, false), (i, true)]);
        let on_ways = ways.flat_map(|(index, value)| self.cells_on_way(index, value));
        let mut own: Vec<u32> = on_ways.collect();
        own.extend(self.tables.iter().map(|table| table.first));
        if !self.keeps_values() {
            own.extend(self.first..self.first + (1 << self.bits().min(CELL_CONDITIONS)));
        }
        self.left_out = own.into_iter().filter(|cell| cells.contains(cell)).collect();
    }

    pub(crate) fn boundaries(&self) -> impl Iterator<Item = &Boundary> {
        self.boundaries.all.iter()
    }

    /// Whether the evaluation of the decision surely ends once a condition was evaluated: the
    /// conditions that may follow neither trap nor call.
    fn ends_after(&self, index: usize) -> bool {
        let from = if self.tree.is_in_order() { index + 1 } else { 0 };
        let mut rest = self.purity.iter().enumerate().skip(from).filter(|(at, _)| *at != index);
        rest.all(|(_, purity)| *purity == Purity::Pure)
    }

    /// The word of cells that wait for the decision's end, if there is one.
    fn pending_word(&self) -> Option<String> {
        let waits = self.boundaries().any(|boundary| !self.ends_after(boundary.condition));
        waits.then(|| pending_word(self.id))
    }

    /// How its evaluations are recorded.
    pub(crate) const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// How many conditions it has.
    pub(crate) const fn conditions(&self) -> usize {
        self.spans.len()
    }

    /// Adds probes to the two ways of a condition.
    pub(crate) fn on_ways(&mut self, condition: ConditionId, texts: &[String; 2]) {
        let ways = &mut self.ways[condition.index()];
        ways.iter_mut().zip(texts).for_each(|(way, text)| way.push_str(text));
    }

    /// Sets a cell of a table where a condition has a value: its first cell, and the text of the
    /// index.
    pub(crate) fn sets_one_of(
        &mut self,
        condition: ConditionId,
        value: bool,
        (first, index): (u32, String),
    ) {
        self.tables.push(ConditionTable { condition, value, first, index });
    }

    /// Notes that the text of its conditions contains probes, so that it must stay in place.
    pub(crate) fn keep_text(&mut self) {
        self.in_place = true;
    }

    /// Sets cells on the two ways of a condition.
    pub(crate) fn set_on_ways(&mut self, condition: ConditionId, cells: &[Vec<u32>; 2]) {
        let ways = &mut self.way_cells[condition.index()];
        ways.iter_mut().zip(cells).for_each(|(way, cells)| way.extend(cells));
    }

    fn has_ways(&self) -> bool {
        (0..self.ways.len()).any(|index| self.has_probes_on_ways(index))
    }

    fn has_probes_on_ways(&self, index: usize) -> bool {
        self.way_cells[index].iter().any(|cells| !cells.is_empty())
            || self.ways[index].iter().any(|text| !text.is_empty())
            || self.tables.iter().any(|table| table.condition.index() == index)
    }

    /// The probes on the two ways of a condition.
    fn on_ways_of(&self, index: usize) -> [String; 2] {
        let waits = self.pending_word().filter(|_| !self.ends_after(index));
        [false, true].map(|value| {
            let cells = self.cells_on_way(index, value);
            let set: String = cells.map(|cell| self.store_to(cell)).collect();
            let tables = self.tables.iter().filter(|table| {
                (table.condition.index(), table.value) == (index, value)
                    && !self.left_out.contains(&table.first)
            });
            let one_of: String =
                tables.map(|table| format!("lydian_hit[{}] = 1, ", table.index)).collect();
            let boundaries = self.boundaries.on_way(index, value, waits.as_deref());
            set + &one_of + &boundaries + &self.ways[index][usize::from(value)]
        })
    }

    /// The cells that are set where a condition has a value, whatever the state is, but for the
    /// decision's own.
    fn cells_on_way(&self, index: usize, value: bool) -> impl Iterator<Item = u32> {
        let equal = self.boundaries.equal(index, value).filter(move |_| self.ends_after(index));
        self.way_cells[index][usize::from(value)].iter().copied().chain(equal)
    }

    /// Says that the value which is kept is a bit-field's.
    pub(crate) fn promote(&mut self) {
        self.promoted = true;
    }

    /// Adds a label whose predicate depends on mutants or on the state: `cell` is set at an outcome
    /// where the predicate is surely true.
    pub(crate) fn label_at_outcome(
        &mut self,
        pred: &Pred,
        cell: LabelCell,
        predicates: &mut PredicateWriter<'_>,
    ) -> Result<(), String> {
        if self.keeps_value {
            return Err(KEPT.to_owned());
        }
        if pred.has_mutant() {
            return self.label_of_mutants(pred, cell, predicates);
        }
        let mut writer = DualRailWriter::default();
        let mut leaves = EventLeaves { edit: self, predicates, cell, is_outside: false };
        let rails = writer.write(pred, &mut leaves)?;
        let (number, set) = (cell.number, cell.set_if(&rails.yes));
        let declarations = writer.into_declarations();
        self.judged.push(format!("if (!lydian_hit[{number}]) {{ {declarations}{set}}} "));
        Ok(())
    }

    /// Adds a step of a sequence at the outcome.
    pub(crate) fn step(
        &mut self,
        step: &BitStep<'_>,
        short_circuit: bool,
        predicates: &mut PredicateWriter<'_>,
    ) -> Result<(), String> {
        if self.keeps_value {
            return Err(KEPT.to_owned());
        }
        if !step.is_plain() {
            return Err("it asks for values at a decision".to_owned());
        }
        let decision = &predicates.body().decisions[self.id];
        let truths = step.preds().map(|pred| truth_by_outcome(decision, short_circuit, pred));
        if let Some(truths) = truths.collect::<Option<Vec<[bool; 2]>>>() {
            for (outcome, steps) in self.steps.iter_mut().enumerate() {
                let holds = truths.iter().map(|truth| u8::from(truth[outcome]).to_string());
                steps.push_str(&step.text(&holds.collect::<Vec<_>>(), &step.forbidden()));
            }
            self.sequences.push(step.sequence());
            return Ok(());
        }
        let mut writer = DualRailWriter::default();
        let cell = LabelCell { number: 0, before_undefined: false, open: None };
        let mut leaves = EventLeaves { edit: self, predicates, cell, is_outside: false };
        let preds = step.preds().map(|pred| writer.write(pred, &mut leaves));
        let truths: Result<Vec<String>, String> = preds.map(|rails| Ok(rails?.yes)).collect();
        let text = step.text(&truths?, &step.forbidden());
        self.judged.push(format!("{{ {}{text}}} ", writer.into_declarations()));
        self.sequences.push(step.sequence());
        Ok(())
    }

    /// Takes the probes of a root that is the condition, if the condition declares its captures
    /// itself. Returns whether it took them.
    pub(crate) fn takes_root_probes(&mut self, condition: ConditionId, root_probes: &str) -> bool {
        self.in_place = true;
        let index = condition.index();
        let takes = !self.captures[index].is_empty();
        if takes {
            self.root_probes[index].push_str(root_probes);
        }
        takes
    }

    fn words(&self) -> usize {
        self.bits().div_ceil(64)
    }

    fn is_wide(&self) -> bool {
        self.bits() > CELL_CONDITIONS
    }

    fn value_word(&self, index: usize) -> String {
        match self.is_wide() {
            true => format!("lydian_v{}[{}]", self.id.index(), index / 64),
            false => format!("lydian_v{}", self.id.index()),
        }
    }

    fn reached_word(&self, index: usize) -> String {
        match self.is_wide() {
            true => format!("lydian_r{}[{}]", self.id.index(), index / 64),
            false => format!("lydian_r{}", self.id.index()),
        }
    }

    /// Whether labels are judged at the outcome.
    fn has_judged_labels(&self) -> bool {
        !self.judged.is_empty() || self.mutants.has_judged_labels()
    }

    fn bit(&self, index: usize) -> String {
        if self.is_wide() {
            format!("(1ull << {})", index % 64)
        } else {
            format!("{}u", 1u64 << index)
        }
    }

    fn keeps_reached(&self) -> bool {
        let effects = self.purity.contains(&Purity::Effects);
        let sometimes =
            |late: usize| matches!(self.unreached[late], LateEvaluation::WhereDefined { .. });
        let late = self.late();
        self.has_judged_labels()
            || (effects && !late.is_empty() && self.ends_with_cells().is_none())
            || (late.into_iter().any(sometimes) && self.ends_with_cells().is_none())
    }

    /// Whether all conditions are evaluated before the outcome is computed from them.
    fn is_eager(&self) -> bool {
        !self.has_judged_labels()
            && !self.in_place
            && !self.has_ways()
            && self.steps.iter().all(String::is_empty)
            && self.boundaries.all.is_empty()
            && !self.is_wide()
            && self.purity.iter().all(|purity| *purity == Purity::Pure)
            && self.unreached.iter().all(|late| *late == LateEvaluation::Always)
            && !self.late().is_empty()
    }

    /// The vectors with which evaluation ends at each condition, if it is there that cells are set.
    fn ends_with_cells(&self) -> Option<&[[Option<u32>; 2]]> {
        let suits = matches!(self.recording, Recording::Vector { .. })
            && !self.keeps_value
            && !self.has_judged_labels()
            && !self.is_eager();
        self.ends.as_deref().filter(|_| suits)
    }

    /// Whether the conditions' values are noted.
    fn keeps_values(&self) -> bool {
        if self.keeps_value || self.ends_with_cells().is_some() {
            return false;
        }
        self.has_judged_labels()
            || matches!(self.recording, Recording::Vector { .. } | Recording::Wide(_))
    }

    /// Variables at the start of the function's body.
    pub(crate) fn declarations(&self) -> String {
        let id = self.id.index();
        let mut text = String::new();
        if self.keeps_values() {
            let _ = match self.is_wide() {
                true => write!(text, "unsigned long long lydian_v{id}[{}]; ", self.words()),
                false => write!(text, "unsigned int lydian_v{id}; "),
            };
            let _ = write!(text, "int lydian_o{id}; ");
        }
        if self.keeps_reached() {
            let _ = match self.is_wide() {
                true => write!(text, "unsigned long long lydian_r{id}[{}]; ", self.words()),
                false => write!(text, "unsigned long lydian_r{id}; "),
            };
        }
        if let Some(word) = self.pending_word() {
            let _ = write!(text, "unsigned long long {word}; ");
        }
        text.push_str(&self.mutants.declarations(id));
        text
    }

    /// The conditions whose text is edited.
    pub(crate) fn condition_spans(&self) -> impl Iterator<Item = (usize, Span)> {
        let all = (self.keeps_values() && !self.is_eager()) || self.ends_with_cells().is_some();
        let has_ways = |index: &usize| self.has_probes_on_ways(*index);
        let edited: Vec<_> = (0..self.spans.len())
            .filter(|index| {
                !self.keeps_value && (all || has_ways(index) || self.boundaries.is_on(*index))
            })
            .map(|index| (index, self.spans[index]))
            .collect();
        edited.into_iter()
    }

    /// The captures of conditions that have mutants.
    pub(crate) fn captures(&self) -> impl Iterator<Item = &Capture> {
        self.captures.iter().flatten()
    }

    /// A condition that notes its value. `captures` declares the captured values of `text`.
    pub(crate) fn render_condition(&self, index: usize, text: &str, captures: &str) -> String {
        let noted = self.noted_condition(index, text);
        let (root_probes, call) = (&self.root_probes[index], self.mutants.called(index));
        if !call.is_empty() {
            return format!(
                "({{ {captures}{root_probes}int lydian_c = {noted}; {call}lydian_c; }})"
            );
        }
        if captures.is_empty() && root_probes.is_empty() {
            return noted;
        }
        format!("({{ {captures}{root_probes}{noted}; }})")
    }

    fn noted_condition(&self, index: usize, text: &str) -> String {
        let [no, yes] = self.on_ways_of(index);
        if let Some(ends) = self.ends_with_cells() {
            let probe = |value: usize| match (ends[index][value], self.late_at(index, value)) {
                (None, _) => String::new(),
                (Some(end), late) if late.is_empty() => self.store_to(self.first + end),
                (Some(end), late) => {
                    let beyond = |index: usize| format!(" + {}", self.beyond(index));
                    let bits: String = late.into_iter().map(beyond).collect();
                    format!("lydian_hit[{}{bits}] = 1, ", self.first + end)
                }
            };
            let [on_no, on_yes] = [0, 1].map(probe);
            return format!("(({text}) ? ({on_yes}{yes}1) : ({on_no}{no}0))");
        }
        if !self.keeps_values() {
            return format!("(({text}) ? ({yes}1) : ({no}0))");
        }
        let (value, bit) = (self.value_word(index), self.bit(index));
        let noted = format!("((({text}) ? ({value} |= {bit}, {yes}1) : ({no}0)))");
        match self.keeps_reached() {
            true => {
                let reached = self.reached_word(index);
                format!("({reached} |= 1ull << {}, {noted})", index % 64)
            }
            false => noted,
        }
    }

    /// The decision, `inner` being its text with its conditions rendered.
    pub(crate) fn render(&self, inner: &str) -> String {
        if self.keeps_value {
            return self.render_kept(inner);
        }
        let pending_word = self.pending_word();
        let begin = pending_word.as_ref().map_or(String::new(), |word| format!("{word} = 0, "));
        let end = pending_word.as_ref().map_or(String::new(), |word| self.boundaries.flush(word));
        if !self.keeps_values() {
            let probes = match &self.recording {
                Recording::Outcome(labels) => self.outcome_probes(labels),
                _ => Default::default(),
            };
            let with_steps = |outcome: usize| match self.steps[outcome].as_str() {
                "" => format!("{}{end}", probes[outcome]),
                steps => format!("{}({{ {steps}}}), {end}", probes[outcome]),
            };
            let [no, yes] = [0, 1].map(with_steps);
            return match no.is_empty() && yes.is_empty() {
                true => inner.to_owned(),
                false => format!("({begin}({inner}) ? ({yes}1) : ({no}0))"),
            };
        }
        let id = self.id.index();
        if self.is_eager() {
            return format!(
                "(lydian_v{id} = {}, {}{})",
                self.eager_bits(),
                self.vector_store(),
                self.computed(&self.tree)
            );
        }
        format!(
            "({begin}{}lydian_o{id} = ({inner}), {}{}{}{}{end}lydian_o{id})",
            self.reset(),
            self.late_values(),
            self.vector_store(),
            self.judge(),
            self.steps_taken()
        )
    }

    /// Steps of sequences, by the outcome that is kept.
    fn steps_taken(&self) -> String {
        let [no, yes] = &self.steps;
        match no.is_empty() && yes.is_empty() {
            true => String::new(),
            false => {
                format!("({{ if (lydian_o{}) {{ {yes}}} else {{ {no}}} }}), ", self.id.index())
            }
        }
    }

    /// The one condition is the whole text: its cell is the first one or the next.
    fn render_kept(&self, inner: &str) -> String {
        let promotion = if self.promoted { "+" } else { "" };
        match self.recording {
            Recording::Nothing | Recording::Wide(_) if !self.has_ways() => inner.to_owned(),
            Recording::Nothing | Recording::Wide(_) => format!(
                "({{ __auto_type lydian_k = {promotion}({inner}); {}lydian_k; }})",
                self.kept_ways()
            ),
            Recording::Outcome(_) | Recording::Vector { .. } => format!(
                "({{ __auto_type lydian_k = {promotion}({inner}); lydian_hit[{} + (lydian_k ? 1 : 0)] = 1; \
                 {}lydian_k; }})",
                self.first,
                self.kept_ways()
            ),
        }
    }

    /// The probes on the ways of the only condition, whose value is in `lydian_k`.
    fn kept_ways(&self) -> String {
        if self.ways.len() != 1 || !self.has_ways() {
            return String::new();
        }
        let [no, yes] = self.on_ways_of(0);
        format!("(void)(lydian_k ? ({yes}1) : ({no}0)); ")
    }

    /// The probes of the outcomes false and true: expressions, each followed by a comma.
    fn outcome_probes(&self, labels: &[Vec<lydian_objective::LabelId>; 2]) -> [String; 2] {
        [0, 1].map(|outcome| match labels[outcome].is_empty() {
            true => String::new(),
            false => self.store_to(self.first + outcome as u32),
        })
    }

    /// The store to a cell, followed by a comma; empty if the cell is redundant.
    fn store_to(&self, cell: u32) -> String {
        match self.left_out.contains(&cell) {
            true => String::new(),
            false => format!("lydian_hit[{cell}] = 1, "),
        }
    }

    fn reset(&self) -> String {
        let id = self.id.index();
        let mut text = String::new();
        match self.is_wide() {
            true => (0..self.words()).for_each(|word| {
                let _ = write!(text, "lydian_v{id}[{word}] = 0, ");
            }),
            false => _ = write!(text, "lydian_v{id} = 0, "),
        }
        if self.keeps_reached() {
            let words = (0..self.words()).map(|word| self.reached_word(word * 64));
            words.for_each(|word| _ = write!(text, "{word} = 0, "));
        }
        if self.mutants.keeps_bytes() {
            let _ = write!(text, "lydian_m{id}[0] = 0, ");
        }
        text
    }

    fn vector_store(&self) -> String {
        match &self.recording {
            Recording::Vector { .. } => {
                format!("lydian_hit[{} + lydian_v{}] = 1, ", self.first, self.id.index())
            }
            // A value that is passed is no variable in memory.
            Recording::Wide(_) if self.in_program && self.bits() < 64 => {
                format!("lydian_narrow({}, lydian_v{}[0]), ", self.first, self.id.index())
            }
            Recording::Wide(_) => format!(
                "lydian_wide({}, {}, lydian_v{}), ",
                self.first,
                self.words(),
                self.id.index()
            ),
            Recording::Outcome(labels) => {
                let cells = labels.iter().enumerate().filter(|(_, labels)| !labels.is_empty());
                let store = |(outcome, _): (usize, &Vec<_>)| {
                    let is = if outcome == 1 { "" } else { "!" };
                    let cell = self.first as usize + outcome;
                    format!("({is}lydian_o{} && (lydian_hit[{cell}] = 1)), ", self.id.index())
                };
                cells.map(store).collect()
            }
            Recording::Nothing => String::new(),
        }
    }

    fn judge(&self) -> String {
        if !self.has_judged_labels() {
            return String::new();
        }
        let text = self.judged.concat() + &self.mutants.at_outcome(self.id.index());
        format!("({{ {text}}}), ")
    }
}

/// The captures of a condition, from its root.
pub(crate) fn condition_captures(
    predicates: &PredicateWriter<'_>,
    decision: DecisionId,
    condition: ConditionId,
) -> Result<Vec<Capture>, String> {
    let wanted = RootKind::Condition { decision, condition };
    let root = predicates.body().source.roots.values().find(|root| root.kind == wanted);
    let root = root.ok_or_else(|| "its condition's place is not known".to_owned())?;
    if !root.rewritable || scan::has_compound_literal(predicates.slice(root.span)) {
        return Err("its text cannot be rewritten".to_owned());
    }
    Ok(root.captures.clone())
}

/// The text on one line, without line markers, for use at a second place.
fn one_line(text: &str) -> String {
    let lines = text.lines().enumerate();
    let kept = lines.filter(|(index, line)| *index == 0 || !line.trim_start().starts_with('#'));
    kept.map(|(_, line)| line).collect::<Vec<_>>().join(" ")
}
