//! Monitors of sequences: a word of bits beside each activation, or each run.
//!
//! Bit `i` of `lydian_wF_S` says that the first `i + 1` atoms of sequence `S` of function `F` were
//! covered in order, and that all passages between them were kept so far. All bits move at once at
//! an event of a site: an atom sets its bit if its predecessor's was set before the event, and an
//! obligation that does not hold at the site clears the bits of its passages. This is the automaton
//! of the sequence made deterministic, so that no choice of earlier events is lost ([002] VII-A). A
//! sequence whose bound values matter has sets of environments in the place of bits
//! ([`super::environments`]).
//!
//! The atoms of a sequence of a run may lie in any watched functions. Its word is a variable of the
//! whole text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_base::EntityId as _;
use lydian_ir::{FuncId, Target};
use lydian_objective::coverage_record::{RequestedValues, SequenceValues};
use lydian_objective::hyper::{Atom, BoundValue, Formula, Passage, Sequence, SequenceScope};
use lydian_objective::{Pred, RecordRequest, SequenceId, Site};
use rustc_hash::FxHashMap;

use crate::plan::{BoundOf, BoundTable, Column, Plan, ShortOf};
use crate::rewrite::paths::is_node_path;
use crate::rewrite::predicates::writer::{PredicateWriter, TextContext};
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::sequences::environments::{ACTIVATION, ACTIVATIONS, SetMonitor, SetStep};
use crate::rewrite::sequences::site::{SiteAtom, SiteEvents};
use crate::rewrite::sequences::values::{ValueWriter, formula_functions, value_column};
use crate::rewrite::uninstrumentable;

/// The monitors of sequences, and the probes of values that labels bind, of all functions.
#[derive(Debug, Default)]
pub(crate) struct SequenceMonitors<'a> {
    /// By watched function.
    pub(crate) functions: Vec<FunctionMonitors<'a>>,
    /// Variables of the whole text.
    pub(crate) declarations: String,
}

impl SequenceMonitors<'_> {
    /// The declarations of the whole text.
    pub(crate) fn declarations(&self, target: Target, plan: &Plan) -> String {
        let mut text = String::new();
        let has_steps = self.functions.iter().any(|own| !own.steps.is_empty());
        let has_wide_integers = target.pointer_bits() == 64;
        if has_steps && has_wide_integers && (plan.environments > 0 || self.has_formulas()) {
            text.push_str(&formula_functions());
        }
        if plan.environments > 0 {
            text.push_str(ACTIVATIONS);
        }
        text + &self.declarations
    }

    fn has_formulas(&self) -> bool {
        let steps = self.functions.iter().flat_map(|own| own.steps.values().flatten());
        steps.into_iter().any(|step| match step {
            MonitorStep::Bits(step) => {
                step.duties.iter().any(|(_, holds)| **holds != Formula::Number(0))
            }
            MonitorStep::Row(step) => step.filter.is_some(),
            MonitorStep::Sets(_) => false,
        })
    }
}

/// The monitors of one function.
#[derive(Debug, Default)]
pub(crate) struct FunctionMonitors<'a> {
    /// By site, in the order of the sequences, labels after them.
    pub(crate) steps: IndexMap<Site, Vec<MonitorStep<'a>>>,
    /// Variables at the start of the function's body.
    pub(crate) declarations: String,
}

/// A step at an event of a site.
#[derive(Debug)]
pub(crate) enum MonitorStep<'a> {
    /// The word of a sequence moves.
    Bits(BitStep<'a>),
    /// The sets of a sequence do.
    Sets(SetStep<'a>),
    /// The values that a label binds are entered into a table.
    Row(RowStep<'a>),
}

/// The move of a sequence's word.
#[derive(Debug)]
pub(crate) struct BitStep<'a> {
    /// The function, by position, whose sequence it is, and the sequence.
    sequence: (u32, SequenceId),
    /// The atoms of the site.
    atoms: Vec<SiteAtom<'a>>,
    /// The bits that are cleared unless a formula on the state holds.
    duties: Vec<(usize, &'a Formula)>,
    /// The position of the last atom.
    last: usize,
    /// The cell that is set where the last atom ends nothing; that of the sequence follows it.
    cell: usize,
}

/// The probe of the values that a label binds, at an event that covers it.
#[derive(Debug)]
pub(crate) struct RowStep<'a> {
    function: u32,
    pred: &'a Pred,
    /// The number of the table.
    table: u32,
    values: Vec<&'a BoundValue>,
    columns: Vec<Column>,
    /// The condition under which a row is kept.
    filter: Option<&'a Formula>,
    short: u32,
}

impl MonitorStep<'_> {
    /// The statement for it where the state is that of a place.
    pub(crate) fn text(&self, predicates: &PredicateWriter<'_>, at: u32) -> Result<String, String> {
        match self {
            Self::Bits(step) => {
                let preds: Vec<&Pred> = step.atoms.iter().map(|atom| atom.pred).collect();
                let (mut text, mut truths) = predicates.truths(&preds, at)?;
                let mut writer = ValueWriter::new(predicates, TextContext::at(at));
                for (atom, truth) in step.atoms.iter().zip(&mut truths) {
                    for binding in &atom.atom.bindings {
                        let value = writer.bound(&binding.value)?;
                        let _ = write!(truth, " & {}", value.known);
                    }
                    *truth = format!("({truth})");
                }
                let kept = step.duties.iter().map(|(_, formula)| match formula {
                    Formula::Number(0) => Ok("0".to_owned()),
                    formula => writer.formula(formula, &|_| None),
                });
                let kept: Vec<String> = kept.collect::<Result<_, _>>()?;
                text.push_str(&writer.finish());
                Ok(format!("{{ {text}{}}} ", step.text(&truths, &kept)))
            }
            Self::Sets(step) => step.text(predicates, at),
            Self::Row(step) => {
                let (mut text, truths) = predicates.truths(&[step.pred], at)?;
                let mut writer = ValueWriter::new(predicates, TextContext::at(at));
                let values: Result<Vec<_>, String> =
                    step.values.iter().map(|value| writer.bound(value)).collect();
                let values = values?;
                let holds = match step.filter {
                    Some(filter) => {
                        let name = |name: &str| {
                            let position: usize = name.parse().ok()?;
                            let words = values.get(position)?.words.clone();
                            Some((*step.columns.get(position)?, words))
                        };
                        format!(" && {}", writer.formula(filter, &name)?)
                    }
                    None => String::new(),
                };
                text.push_str(&writer.finish());
                let known: String = values.iter().map(|v| format!(" & {}", v.known)).collect();
                let words: Vec<&str> =
                    values.iter().flat_map(|v| v.words.iter().map(String::as_str)).collect();
                Ok(format!(
                    "{{ {text}if (({}{known}){holds}) {{ unsigned long long lydian_x[] = {{{}}}; \
                     if (!lydian_row({}, {}, lydian_x)) lydian_hit[{}] = 1; }} }} ",
                    truths[0],
                    words.join(", "),
                    step.table,
                    words.len(),
                    step.short,
                ))
            }
        }
    }

    /// Adds its sequence or label to the uninstrumentable ones.
    pub(crate) fn add_uninstrumentable(&self, reason: &str, plan: &mut Plan) {
        match self {
            Self::Bits(step) => add_uninstrumentable(step.sequence, reason, plan),
            Self::Sets(step) => add_uninstrumentable(step.sequence, reason, plan),
            Self::Row(step) => {
                let label = plan.tables.get(step.table as usize).map(|table| &table.of);
                if let Some(BoundOf::Label(values)) = label {
                    let (function, label) = (step.function, values.label);
                    let reason = reason.to_owned();
                    plan.unbound_labels.push(crate::plan::UnmeasuredLabel {
                        function,
                        label,
                        reason,
                    });
                }
            }
        }
    }

    /// The sequence that a statement of its own needs, as the plan knows it.
    pub(crate) fn sequence(&self) -> Option<(u32, SequenceId)> {
        match self {
            Self::Bits(step) => Some(step.sequence),
            Self::Sets(step) => Some(step.sequence),
            Self::Row(_) => None,
        }
    }
}

fn add_uninstrumentable((function, sequence): (u32, SequenceId), reason: &str, plan: &mut Plan) {
    uninstrumentable::add_sequences(function, &[sequence], reason, plan);
}

impl BitStep<'_> {
    /// The sequence.
    pub(crate) const fn sequence(&self) -> (u32, SequenceId) {
        self.sequence
    }

    /// The predicates of its atoms.
    pub(crate) fn preds(&self) -> impl Iterator<Item = &Pred> {
        self.atoms.iter().map(|atom| atom.pred)
    }

    /// Whether its predicates alone decide: it binds nothing, and its obligations are to keep out
    /// of the site.
    pub(crate) fn is_plain(&self) -> bool {
        self.atoms.iter().all(|atom| atom.atom.bindings.is_empty())
            && self.duties.iter().all(|(_, formula)| **formula == Formula::Number(0))
    }

    /// The truth of each obligation, if all of them forbid the site.
    pub(crate) fn forbidden(&self) -> Vec<String> {
        vec!["0".to_owned(); self.duties.len()]
    }

    /// The statement for it. `holds` has, for each atom, a C expression for whether it is surely
    /// covered, and `kept` one for whether each obligation holds.
    pub(crate) fn text(&self, holds: &[String], kept: &[String]) -> String {
        let word = word(self.sequence);
        let mut text = format!("{{ unsigned long long lydian_u = {word}; ");
        let mut next = "lydian_u".to_owned();
        let mut clears = 0u64;
        for ((position, _), kept) in self.duties.iter().zip(kept) {
            match kept.as_str() {
                "0" => clears |= 1 << position,
                _ => {
                    let bit = 1u64 << position;
                    next = format!("({next} & ~(({kept}) ? 0ull : {bit}ull))");
                }
            }
        }
        if clears != 0 {
            next = format!("({next} & ~{clears}ull)");
        }
        for (SiteAtom { position, .. }, holds) in self.atoms.iter().zip(holds) {
            let before = match position.checked_sub(1) {
                None if holds == "0" => holds.clone(),
                None => format!("({holds})"),
                Some(_) if holds == "0" => holds.clone(),
                Some(before) => format!("({holds} & (int)(lydian_u >> {before} & 1))"),
            };
            if before == "0" {
                continue;
            }
            if *position == self.last {
                // To choose the cell is cheaper than to choose whether one is set.
                let _ = write!(text, "lydian_hit[{} + !!{before}] = 1; ", self.cell);
            } else {
                let _ = write!(next, " | (unsigned long long){before} << {position}");
            }
        }
        let _ = write!(text, "{word} = {next}; }} ");
        text
    }
}

fn word((function, sequence): (u32, SequenceId)) -> String {
    format!("lydian_w{function}_{}", sequence.index())
}

/// Makes the steps of sequences that neither data flow nor paths record, and of labels that bind
/// values. Sequences that cannot be followed become uninstrumentable.
pub(crate) fn sequence_monitors<'a>(
    request: &'a RewriteRequest<'a>,
    wanted: &'a [RecordRequest],
    plan: &mut Plan,
) -> SequenceMonitors<'a> {
    let numbers = request.watched.iter().enumerate();
    let numbers: FxHashMap<FuncId, usize> = numbers.map(|(n, of)| (of.function, n)).collect();
    let mut builder = MonitorBuilder {
        request,
        numbers,
        out: SequenceMonitors {
            functions: request.watched.iter().map(|_| FunctionMonitors::default()).collect(),
            declarations: String::new(),
        },
        positions: 1,
    };
    for (owner, objectives) in (0..).zip(request.watched) {
        let nothing: &[RequestedValues<SequenceValues>] = &[];
        let values = wanted.get(owner as usize).map_or(nothing, |wanted| &wanted.sequences);
        for (id, sequence) in objectives.sequences.iter() {
            if sequence.is_pair() || is_node_path(objectives, sequence) {
                continue;
            }
            let values: Vec<_> =
                values.iter().filter(|asked| asked.values.sequence == id).collect();
            builder.sequence((owner, id), sequence, &values, plan);
        }
    }
    for (number, wanted) in (0..).zip(wanted) {
        builder.labels(number, wanted, plan);
    }
    builder.out
}

struct MonitorBuilder<'a> {
    request: &'a RewriteRequest<'a>,
    numbers: FxHashMap<FuncId, usize>,
    out: SequenceMonitors<'a>,
    /// How many positions of sequences have sets, and one.
    positions: u64,
}

/// The most atoms that a sequence can have.
const ATOMS: usize = 64;

impl<'a> MonitorBuilder<'a> {
    fn sequence(
        &mut self,
        key: (u32, SequenceId),
        sequence: &'a Sequence,
        wanted: &[&'a RequestedValues<SequenceValues>],
        plan: &mut Plan,
    ) {
        let has_values = !wanted.is_empty() || names_bound(sequence);
        if let Some(reason) = self.obstacle(sequence, has_values) {
            return add_uninstrumentable(key, reason, plan);
        }
        let sites = self.sites(sequence);
        let cell = plan.cells.len();
        if has_values {
            plan.sequences_cell(&[key]);
            let made = SetMonitor::new(
                self.request,
                key,
                sequence,
                wanted,
                (cell, &mut self.positions),
                &self.numbers,
                plan,
            );
            let made = match made {
                Ok(made) => made,
                Err(reason) => return add_uninstrumentable(key, reason, plan),
            };
            self.declare(sequence, &made.declaration(), true);
            for ((number, site), here) in sites {
                let step = MonitorStep::Sets(made.step(here));
                self.out.functions[number].steps.entry(site).or_default().push(step);
            }
            return;
        }
        plan.sequences_cell(&[]);
        plan.sequences_cell(&[key]);
        self.declare(sequence, &format!("unsigned long long {} = 0; ", word(key)), false);
        let last = sequence.atoms.len() - 1;
        for ((number, site), SiteEvents { atoms, duties }) in sites {
            let step = BitStep { sequence: key, atoms, duties, last, cell };
            self.out.functions[number].steps.entry(site).or_default().push(MonitorStep::Bits(step));
        }
    }

    /// Declares the variables of a sequence where its atoms can see them.
    fn declare(&mut self, sequence: &Sequence, text: &str, of_sets: bool) {
        match sequence.scope {
            SequenceScope::Run => {
                let _ = writeln!(self.out.declarations, "static {text}");
            }
            SequenceScope::Activation => {
                let number = self.numbers[&sequence.atoms[0].function];
                let own = &mut self.out.functions[number].declarations;
                if of_sets && !own.contains(ACTIVATION) {
                    own.push_str(ACTIVATION);
                }
                own.push_str(text);
            }
        }
    }

    /// The sites of a sequence. Sites of other functions do not matter in a sequence of one
    /// activation.
    fn sites(&self, sequence: &'a Sequence) -> IndexMap<(usize, Site), SiteEvents<'a>> {
        let mut sites: IndexMap<(usize, Site), SiteEvents<'a>> = IndexMap::new();
        for (position, atom) in sequence.atoms.iter().enumerate() {
            let number = self.numbers[&atom.function];
            let label = &self.request.watched[number].labels[atom.label];
            let here = sites.entry((number, label.site)).or_default();
            here.atoms.push(SiteAtom { position, pred: &label.pred, atom });
        }
        for (position, passage) in sequence.passages.iter().enumerate() {
            let Passage::Obliged(obligations) = passage else { continue };
            for duty in obligations {
                let Some(number) = self.numbers.get(&duty.function) else { continue };
                let is_elsewhere = duty.function != sequence.atoms[0].function;
                if sequence.scope == SequenceScope::Activation && is_elsewhere {
                    continue;
                }
                let here = sites.entry((*number, duty.site)).or_default();
                here.duties.push((position, &duty.holds));
            }
        }
        sites
    }

    /// Why a sequence cannot be followed.
    fn obstacle(&self, sequence: &Sequence, has_values: bool) -> Option<&'static str> {
        let is_watched = |function: &FuncId| self.numbers.contains_key(function);
        let duties = || {
            sequence.passages.iter().flat_map(|passage| match passage {
                Passage::Obliged(all) => all.as_slice(),
                _ => &[],
            })
        };
        let mut functions = sequence.atoms.iter().map(|atom| &atom.function);
        if !functions.clone().chain(duties().map(|duty| &duty.function)).all(is_watched) {
            return Some("it is about a function that is not measured");
        }
        if sequence.scope == SequenceScope::Activation {
            let first = functions.next();
            if functions.any(|function| Some(function) != first) {
                return Some("its atoms lie in several functions, and so in several activations");
            }
        }
        let has_event = |function: &FuncId, site: Site| {
            self.request.program.functions[*function].body.is_some() && has_event(site, has_values)
        };
        let site = |atom: &Atom| {
            self.request.watched[self.numbers[&atom.function]].labels[atom.label].site
        };
        let plain = |passage: &Passage| matches!(passage, Passage::Free | Passage::Obliged(_));
        let binds = |atom: &Atom| !atom.bindings.is_empty();
        let at_decision = |atom: &&Atom| matches!(site(atom), Site::Decision(_));
        match () {
            () if sequence.atoms.len() > ATOMS => Some("it has more than 64 atoms"),
            () if !sequence.passages.iter().all(plain) => {
                Some("what it asks of a passage is not recorded")
            }
            () if !duties().all(|duty| has_event(&duty.function, duty.site)) => {
                Some("what it asks of a passage is not recorded")
            }
            () if !sequence.atoms.iter().all(|atom| has_event(&atom.function, site(atom))) => {
                Some("it has an atom whose site is not recorded")
            }
            () if sequence.atoms.iter().filter(at_decision).any(binds) => {
                Some("it binds values at a decision")
            }
            () => None,
        }
    }

    /// Adds the steps of labels that bind values.
    fn labels(&mut self, number: u32, wanted: &'a RecordRequest, plan: &mut Plan) {
        let objectives = &self.request.watched[number as usize];
        for RequestedValues { values, filter } in &wanted.labels {
            let label = &objectives.labels[values.label];
            if !matches!(label.site, Site::Entry | Site::Mark(_) | Site::Stmt(_) | Site::Edge(_)) {
                plan.unbound_labels.push(crate::plan::UnmeasuredLabel {
                    function: number,
                    label: values.label,
                    reason: "it binds values at a site where they are not recorded".to_owned(),
                });
                continue;
            }
            let column = |value| value_column(self.request, number as usize, value);
            let columns: Vec<Column> = values.values.iter().map(column).collect();
            let table = plan.tables.len() as u32;
            plan.tables.push(BoundTable {
                function: number,
                of: BoundOf::Label(values.clone()),
                columns: columns.clone(),
            });
            let step = RowStep {
                columns,
                function: number,
                pred: &label.pred,
                table,
                values: values.values.iter().collect(),
                filter: filter.as_ref(),
                short: plan.short_cell(number, ShortOf::Label(values.label)),
            };
            let steps = &mut self.out.functions[number as usize].steps;
            steps.entry(label.site).or_default().push(MonitorStep::Row(step));
        }
    }
}

/// Whether an obligation of a sequence uses values that its atoms bound.
fn names_bound(sequence: &Sequence) -> bool {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for passage in &sequence.passages {
        if let Passage::Obliged(all) = passage {
            all.iter()
                .for_each(|duty| duty.holds.for_each_name(&mut |name| _ = names.insert(name)));
        }
    }
    !names.is_empty()
}

/// Whether the text has an event for a site to which a step can be put.
const fn has_event(site: Site, has_values: bool) -> bool {
    match site {
        Site::Entry | Site::Mark(_) | Site::Stmt(_) | Site::Edge(_) => true,
        Site::Decision(_) => !has_values,
        _ => false,
    }
}
