//! Certificates of the engines' proofs about objectives, for the ledger.
//!
//! The check of certificates knows runs of a program from its beginning and runs of a function from any
//! state, signed overflow that wraps, and allocations that succeed. Proofs about code that allocates memory
//! have none, nor have those about functions that read memory which is no object of the program: there the
//! check knows less than the engines.

use std::collections::BTreeMap;

use lydian_check::document::objectives::Named;
use lydian_ir::{Overflow, Program};
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_prove::Semantics;
use lydian_prove::encode::{Encoded, GoalMeaning};
use lydian_prove::engines::{Certificate, Contracts};
use lydian_smt::TermPool;

use super::implied_verdicts::CONJUNCTIONS;
use crate::certificates::{Certificates, ObjectiveGoal, ObjectiveSource, ProgramSource};
use crate::project::undefined::allocates;
use crate::session::goals::{FunctionUnderTest, Goal};
use crate::session::state::Session;

/// The objectives that each goal of the engines is or is a part of.
pub(super) type GoalNames = BTreeMap<GoalMeaning, Vec<Named>>;

/// The certificates of goals that no run reaches.
#[derive(Default)]
pub(super) struct CertifiedGoals {
    /// Programs and certificates, by their digests.
    pub(super) documents: Vec<(String, String)>,
    by_goal: BTreeMap<GoalMeaning, String>,
}

/// The names of some objectives of a function under test at a position, by the goals that they are made of.
pub(super) fn goal_names(
    (at, target): (usize, &FunctionUnderTest<'_>),
    goals: &[Goal],
) -> GoalNames {
    let objectives = target.objectives;
    let function = objectives.function;
    let mut criteria: BTreeMap<Goal, Criterion> = BTreeMap::new();
    for entry in target.entries(at) {
        criteria.entry(entry.goal).or_insert(entry.criterion);
    }
    let mut names = GoalNames::new();
    for goal in goals {
        let text = match *goal {
            Goal::Label(_, label) => &objectives.labels[label].text,
            Goal::Hyper(_, hyper) => &objectives.hypers[hyper].text,
        };
        let named = Named {
            criterion: criteria.get(goal).map_or_else(String::new, ToString::to_string),
            text: text.to_string(),
            place: target.place(*goal).to_string(),
            key: target.key(*goal).to_string(),
        };
        for meaning in parts(objectives, *goal).into_iter().flatten() {
            names.entry(meaning).or_default().push(named.clone());
        }
    }
    // Each label that is out of reach has a verdict of its own.
    for (label, content) in objectives.labels.iter() {
        let of = names.entry(GoalMeaning::Label { function, label }).or_default();
        let key = content.key.to_string();
        if !of.iter().any(|named| named.key == key) {
            let (text, place) = (content.text.to_string(), content.place.to_string());
            of.push(Named { criterion: "label".to_owned(), text, place, key });
        }
    }
    names
}

/// The goals that an objective is made of, as a disjunction of conjunctions; nothing where these are too many.
fn parts(objectives: &FunctionObjectives, goal: Goal) -> Vec<Vec<GoalMeaning>> {
    let function = objectives.function;
    let hyper = match goal {
        Goal::Label(_, label) => return vec![vec![GoalMeaning::Label { function, label }]],
        Goal::Hyper(_, hyper) => &objectives.hypers[hyper].hyper,
    };
    let Ok(form) = hyper.normal_form(CONJUNCTIONS) else { return Vec::new() };
    let meaning = |part: &Part<'_>| match part {
        Part::Atom(atom) => GoalMeaning::Label { function: atom.function, label: atom.label },
        Part::Sequence(sequence) => GoalMeaning::Sequence { function, sequence: *sequence },
    };
    form.iter().map(|one| one.parts.iter().map(meaning).collect()).collect()
}

impl CertifiedGoals {
    /// The certificates for which an objective cannot be covered: one for each conjunction that it is made
    /// of; nothing where some has none.
    pub(super) fn of(&self, objectives: &FunctionObjectives, goal: Goal) -> Vec<String> {
        let mut found = Vec::new();
        for conjunction in parts(objectives, goal) {
            let name = conjunction.iter().find_map(|meaning| self.by_goal.get(meaning));
            let Some(name) = name else { return Vec::new() };
            if !found.contains(name) {
                found.push(name.clone());
            }
        }
        found
    }
}

impl Session<'_, '_> {
    /// The certificates of some goals.
    pub(super) fn certified(
        &self,
        (objectives, names): (&FunctionObjectives, &dyn Fn() -> GoalNames),
        (encoded, pool): (&Encoded, &TermPool),
        semantics: Semantics,
        proofs: &[(GoalMeaning, Certificate)],
    ) -> CertifiedGoals {
        let is_known = !proofs.is_empty()
            && encoded.provenance.outside.is_none()
            && semantics.overflow == Overflow::Wrap
            && !allocates(&self.project.program, self.entry);
        if !is_known {
            return CertifiedGoals::default();
        }
        let names = names();
        let goals = proofs.iter().filter_map(|(meaning, certificate)| {
            let of = names.get(meaning)?.clone();
            Some(ObjectiveGoal { meaning: *meaning, certificate, of })
        });
        let goals: Vec<ObjectiveGoal<'_>> = goals.collect();
        if goals.is_empty() {
            return CertifiedGoals::default();
        }
        let program = with_predicates(&self.project.program, objectives);
        let source = ProgramSource { program: &program, texts: &self.project.texts.all };
        let labels = ObjectiveSource {
            functions: std::slice::from_ref(objectives),
            short_circuit: semantics.short_circuit,
        };
        let contracts = Contracts::none(&encoded.system);
        let of = (encoded, pool);
        let written = Certificates::of_objectives((source, labels), of, &contracts, &goals);
        let documents = written.documents();
        let of = |(meaning, at): &(GoalMeaning, usize)| (*meaning, documents[at + 1].0.clone());
        let by_goal = written.goals.iter().map(of).collect();
        CertifiedGoals { documents, by_goal }
    }
}

/// A program whose function has the expressions of its objectives' predicates behind its own.
fn with_predicates(program: &Program, objectives: &FunctionObjectives) -> Program {
    let mut program = program.clone();
    if let Some(body) = &mut program.functions[objectives.function].body {
        body.exprs = objectives.exprs.clone();
    }
    program
}
