//! The objectives that are asked for, and the goals of the system that they are or are made of.

use std::collections::BTreeMap;

use lydian_base::Place;
use lydian_check::document::objectives::Named;
use lydian_ir::FuncId;
use lydian_objective::LabelKey;
use lydian_objective::hyper::Passage;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Criterion, FunctionObjectives, Hyper, HyperId, LabelId, SequenceId};
use lydian_prove::encode::{Encoded, GoalChoice, GoalMeaning};
use lydian_prove::system::GoalId;

use super::super::verdicts::ErrorAnswer;
use super::answers::Answered;
use crate::certificates::shown_name;
use crate::objectives::Semantics;

/// The most conjunctions of a hyperlabel that the engines are asked about.
const CONJUNCTIONS: usize = 4096;

/// An objective of a function, by the function's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Objective {
    Label(usize, LabelId),
    Hyper(usize, HyperId),
}

/// An objective as a criterion counts it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) criterion: Criterion,
    pub(super) name: String,
    pub(super) function: FuncId,
    /// The number of the objective.
    pub(super) objective: usize,
}

/// The goals that an objective is made of: each of some conjunctions has all of its goals covered. None
/// where there are too many, or where values are compared.
pub(super) type Conjunctions = Option<Vec<Vec<GoalId>>>;

/// The objectives, each once, by their numbers.
pub(super) struct AskedObjectives<'a> {
    /// The functions with objectives, and those with labels that they mention.
    pub(super) functions: &'a [FunctionObjectives],
    /// Whether conditions that are not reached have no value.
    pub(super) short_circuit: bool,
    pub(super) all: Vec<Objective>,
    numbers: BTreeMap<Objective, usize>,
    pub(super) entries: Vec<Entry>,
    /// The objectives that are one sequence.
    of_sequences: BTreeMap<(usize, SequenceId), usize>,
    /// The labels and sequences that they are made of.
    pub(super) choice: GoalChoice,
    /// Whether tests have to be judged for labels: as objectives, or as parts of hyperlabels.
    pub(super) needs_labels: bool,
    /// Whether one run that covers a single goal covers any of the objectives.
    pub(super) are_simple: bool,
}

impl<'a> AskedObjectives<'a> {
    /// The objectives of the first of some functions.
    pub(super) fn new(
        functions: &'a [FunctionObjectives],
        own: usize,
        semantics: Semantics,
    ) -> Self {
        let mut asked = Self {
            functions,
            short_circuit: semantics == Semantics::ShortCircuit,
            all: Vec::new(),
            numbers: BTreeMap::new(),
            entries: Vec::new(),
            of_sequences: BTreeMap::new(),
            choice: GoalChoice::default(),
            needs_labels: false,
            are_simple: true,
        };
        for (at, of) in functions[..own].iter().enumerate() {
            for (criterion, entries) in &of.criteria {
                for entry in entries.iter().filter(|entry| entry.duplicate_of.is_none()) {
                    let objective = Objective::Label(at, entry.label);
                    asked.add(*criterion, &entry.name, objective);
                }
            }
            for (criterion, entries) in &of.hyper_criteria {
                for entry in entries.iter().filter(|entry| entry.duplicate_of.is_none()) {
                    asked.add(*criterion, &entry.name, Objective::Hyper(at, entry.hyper));
                }
            }
        }
        asked
    }

    fn add(&mut self, criterion: Criterion, name: &str, objective: Objective) {
        let next = self.all.len();
        let number = *self.numbers.entry(objective).or_insert(next);
        if number == next {
            self.all.push(objective);
            let is_simple = self.is_simple(number);
            self.are_simple &= is_simple;
            self.needs_labels |= !is_simple || matches!(objective, Objective::Label(..));
            self.choose(objective);
            if let Objective::Hyper(at, hyper) = objective
                && let Hyper::Sequence(sequence) = self.functions[at].hypers[hyper].hyper
            {
                self.of_sequences.insert((at, sequence), number);
            }
        }
        let function = self.functions[position(objective)].function;
        self.entries.push(Entry { criterion, name: name.to_owned(), function, objective: number });
    }

    /// Makes the parts of an objective goals.
    fn choose(&mut self, objective: Objective) {
        for meaning in self.meanings(objective).into_iter().flatten().flatten() {
            match meaning {
                GoalMeaning::Label { function, label } => {
                    self.choice.labels.insert((function, label));
                }
                GoalMeaning::Sequence { function, sequence } => {
                    self.choice.sequences.insert((function, sequence));
                }
                GoalMeaning::Error { .. } => {}
            }
        }
    }

    /// The number of objectives.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The number of an objective that is asked for.
    pub(super) fn number(&self, objective: Objective) -> Option<usize> {
        self.numbers.get(&objective).copied()
    }

    /// The number of the objective that a sequence is by itself.
    pub(super) fn of_sequence(&self, sequence: (usize, SequenceId)) -> Option<usize> {
        self.of_sequences.get(&sequence).copied()
    }

    /// The position of a function's objectives.
    pub(super) fn position(&self, function: FuncId) -> Option<usize> {
        self.functions.iter().position(|of| of.function == function)
    }

    /// The place and the text of an objective.
    pub(super) fn shown(&self, number: usize) -> (Place, String) {
        match self.all[number] {
            Objective::Label(at, label) => {
                let label = &self.functions[at].labels[label];
                (label.place.clone(), label.text.to_string())
            }
            Objective::Hyper(at, hyper) => {
                let hyper = &self.functions[at].hypers[hyper];
                (hyper.place.clone(), hyper.text.to_string())
            }
        }
    }

    /// An entry as certificates name it.
    pub(super) fn named(&self, entry: &Entry) -> Named {
        let (place, text) = self.shown(entry.objective);
        Named {
            criterion: entry.criterion.to_string(),
            text,
            place: place.to_string(),
            key: self.key(entry.objective).to_string(),
        }
    }

    /// The entries that are out of reach by arguments that have no certificates, with the reason.
    pub(super) fn without_argument(&self, found: &[Answered]) -> Vec<(String, String)> {
        let is_one = |entry: &&Entry| {
            let answered = &found[entry.objective];
            answered.goals.is_empty() && matches!(answered.answer, ErrorAnswer::Unreachable(_))
        };
        let why = "all paths were explored, and no engine had an argument in the time";
        let entries = self.entries.iter().filter(is_one);
        entries.map(|entry| (shown_name(&self.named(entry)), why.to_owned())).collect()
    }

    /// The key of an objective.
    pub(super) fn key(&self, number: usize) -> &'a LabelKey {
        match self.all[number] {
            Objective::Label(at, label) => &self.functions[at].labels[label].key,
            Objective::Hyper(at, hyper) => &self.functions[at].hypers[hyper].key,
        }
    }

    /// What an objective is made of, as a disjunction of conjunctions; none where these are too many.
    fn meanings(&self, objective: Objective) -> Option<Vec<Vec<GoalMeaning>>> {
        let of = &self.functions[position(objective)];
        let function = of.function;
        let hyper = match objective {
            Objective::Label(_, label) => {
                return Some(vec![vec![GoalMeaning::Label { function, label }]]);
            }
            Objective::Hyper(_, hyper) => &of.hypers[hyper].hyper,
        };
        let meaning = |part: &Part<'_>| match part {
            Part::Atom(atom) => GoalMeaning::Label { function: atom.function, label: atom.label },
            Part::Sequence(sequence) => GoalMeaning::Sequence { function, sequence: *sequence },
        };
        let form = hyper.normal_form(CONJUNCTIONS).ok()?;
        Some(form.iter().map(|one| one.parts.iter().map(meaning).collect()).collect())
    }

    /// The goals of a system that each objective is made of.
    pub(super) fn of_system(&self, encoded: &Encoded) -> Vec<Conjunctions> {
        let ids: BTreeMap<GoalMeaning, GoalId> =
            encoded.goals.iter().map(|(id, meaning)| (*meaning, id)).collect();
        let goals = |conjunction: &Vec<GoalMeaning>| {
            conjunction.iter().filter_map(|meaning| ids.get(meaning).copied()).collect()
        };
        let of =
            |objective: &Objective| Some(self.meanings(*objective)?.iter().map(goals).collect());
        self.all.iter().map(of).collect()
    }

    /// The goals of a system that have one variable, or one function.
    pub(super) fn groups(&self, encoded: &Encoded) -> Vec<Vec<GoalId>> {
        let mut groups: BTreeMap<(FuncId, &str), Vec<GoalId>> = BTreeMap::new();
        for (goal, meaning) in encoded.goals.iter() {
            let key = match meaning {
                GoalMeaning::Sequence { function, sequence } => {
                    (*function, self.variable(*function, *sequence))
                }
                GoalMeaning::Label { function, .. } | GoalMeaning::Error { function, .. } => {
                    (*function, "")
                }
            };
            groups.entry(key).or_default().push(goal);
        }
        groups.into_values().collect()
    }

    /// The variable that a sequence is about; empty if it is about none.
    fn variable(&self, function: FuncId, sequence: SequenceId) -> &'a str {
        let functions = self.functions;
        let of = self.position(function).map(|at| &functions[at]);
        let passage = of.and_then(|of| of.sequences[sequence].passages.first());
        match passage.map(Passage::otherwise) {
            Some(Passage::Clear(of)) => &of.variable,
            _ => "",
        }
    }

    /// Whether one run that covers a single goal covers the objective.
    pub(super) fn is_simple(&self, number: usize) -> bool {
        match self.all[number] {
            Objective::Label(..) => true,
            Objective::Hyper(at, hyper) => {
                matches!(self.functions[at].hypers[hyper].hyper, Hyper::Sequence(_))
            }
        }
    }
}

/// The position of an objective's function.
const fn position(objective: Objective) -> usize {
    match objective {
        Objective::Label(at, _) | Objective::Hyper(at, _) => at,
    }
}
