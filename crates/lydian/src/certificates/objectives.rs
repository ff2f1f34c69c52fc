//! Certificates of objectives: labels, and the last labels of sequences.
//!
//! Objectives with one argument share a document. It says by itself where a label is asked, what its
//! predicate is, and what sets and resets the flags of a sequence.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::EntityId;
use lydian_check::Certificate;
use lydian_check::document::objectives::{
    Event, Flag, Label, Moment, Named, Objective, Objectives, Predicate, Scope,
};
use lydian_ir::source::Point;
use lydian_ir::{Body, ConditionId, FuncId, MarkKind, Stmt, text};
use lydian_objective::hyper::SequenceScope;
use lydian_objective::{FunctionObjectives, LabelId, Pred, Site};
use lydian_prove::encode::provenance::{SequenceEnd, VariablePlace};
use lydian_prove::encode::{Encoded, GoalMeaning};
use lydian_prove::engines::{self, Contracts};
use lydian_smt::TermPool;

use super::formulas::Symbol;
use super::{Certificates, FlagNumbers, ProgramSource, Writer};

/// An objective, or a part of some, that no run covers.
pub(crate) struct ObjectiveGoal<'p> {
    pub(crate) meaning: GoalMeaning,
    pub(crate) certificate: &'p engines::Certificate,
    /// The objectives of criteria that it is or is a part of.
    pub(crate) of: Vec<Named>,
}

/// The functions with the labels of objectives, and the meaning of conditions that are not reached.
#[derive(Clone, Copy)]
pub(crate) struct ObjectiveSource<'p> {
    pub(crate) functions: &'p [FunctionObjectives],
    pub(crate) short_circuit: bool,
}

/// Goals with one argument, which share a document.
struct SharedArgument<'p> {
    certificate: engines::Certificate,
    goals: Vec<&'p ObjectiveGoal<'p>>,
}

/// The most formulas of a document for several goals.
const MOST_FORMULAS: usize = 100;

impl<'p> SharedArgument<'p> {
    /// Takes in a goal if its argument is one of the same kind, and both together are not too large. If the
    /// invariants of each preserve themselves, so do those of all.
    fn takes(&mut self, goal: &'p ObjectiveGoal<'p>) -> bool {
        let (own, other) = (&mut self.certificate, goal.certificate);
        let is_of_kind = (own.depth, own.argument) == (other.depth, other.argument)
            && own.parameters.symbols == other.parameters.symbols
            && own.parameters.instances == other.parameters.instances;
        if !is_of_kind {
            return false;
        }
        let mut new = Vec::new();
        for (point, formulas) in other.invariants.iter().enumerate() {
            let known = &own.invariants[point];
            let formulas = formulas.iter().filter(|formula| !known.contains(formula));
            new.extend(formulas.map(|formula| (point, *formula)));
        }
        let count = own.invariants.iter().map(Vec::len).sum::<usize>() + new.len();
        if !new.is_empty() && count > MOST_FORMULAS {
            return false;
        }
        new.into_iter().for_each(|(point, formula)| own.invariants[point].push(formula));
        self.goals.push(goal);
        true
    }
}

/// A place of a function where labels are asked.
type Spot = (FuncId, Site);

impl Certificates {
    /// The certificates of some objectives.
    pub(crate) fn of_objectives(
        (source, objectives): (ProgramSource<'_>, ObjectiveSource<'_>),
        (encoded, pool): (&Encoded, &TermPool),
        contracts: &Contracts,
        goals: &[ObjectiveGoal<'_>],
    ) -> Self {
        let mut found = Self::default();
        if goals.is_empty() {
            return found;
        }
        found.text = text::print(source.program);
        let writer = Writer::new((source, &found.text), (encoded, pool), contracts);
        let mut shared: Vec<SharedArgument<'_>> = Vec::new();
        for goal in goals {
            if !shared.iter_mut().any(|argument| argument.takes(goal)) {
                let certificate = goal.certificate.clone();
                shared.push(SharedArgument { certificate, goals: vec![goal] });
            }
        }
        for argument in shared {
            match writer.of_goals(objectives, &argument) {
                Ok(certificate) => {
                    let at = found.all.len();
                    found.goals.extend(argument.goals.iter().map(|goal| (goal.meaning, at)));
                    found.all.push(certificate);
                }
                Err(why) => {
                    let names = argument.goals.iter().flat_map(|goal| &goal.of);
                    found.missing.extend(names.map(|of| (shown_name(of), why.clone())));
                }
            }
        }
        found
    }
}

/// An objective for people.
pub(crate) fn shown_name(of: &Named) -> String {
    format!("{}: {}: {}", of.place, of.criterion, of.text)
}

impl Writer<'_> {
    /// The certificate of goals with one argument.
    fn of_goals(
        &self,
        objectives: ObjectiveSource<'_>,
        SharedArgument { certificate: proof, goals }: &SharedArgument<'_>,
    ) -> Result<Certificate, String> {
        let mut ends = Vec::new();
        for goal in goals {
            ends.push(self.end_of(goal.meaning)?);
        }
        let flags = self.flags_of(proof, &ends);
        let mut events = self.events(objectives, &flags, &ends)?;
        let statements = self.statements(proof, &flags)?;
        let origins = &self.encoded.provenance.flags;
        let mut written = Vec::new();
        for flag in flags.keys() {
            let origin = &origins[*flag];
            written.push(Flag {
                after: origin.before.map(|before| flags[&before]),
                label: events.label(objectives, origin.label)?,
                ends: origin.resets.iter().filter_map(|spot| events.number(*spot)).collect(),
                scope: match origin.scope {
                    SequenceScope::Activation => Scope::Activation,
                    SequenceScope::Run => Scope::Run,
                },
            });
        }
        let mut asked = Vec::new();
        for (goal, end) in goals.iter().zip(&ends) {
            let label = end.label.ok_or(UNKNOWN_END)?;
            asked.push(Objective {
                of: goal.of.clone(),
                after: end.flag.map(|flag| flags[&flag]),
                label: events.label(objectives, label)?,
            });
        }
        let objectives = Objectives {
            short_circuit: objectives.short_circuit,
            events: std::mem::take(&mut events.written),
            flags: written,
            goals: asked,
        };
        let certificate =
            Certificate { objectives: Some(objectives), ..self.document(proof, statements) };
        // Predicates that nest too deep do not read back.
        let reads_back = Certificate::parse(&certificate.json()).is_ok();
        reads_back.then_some(certificate).ok_or_else(|| "a predicate nests too deep".to_owned())
    }

    /// The last label of a goal, and the flag before it.
    fn end_of(&self, meaning: GoalMeaning) -> Result<SequenceEnd, String> {
        match meaning {
            GoalMeaning::Label { function, label } => {
                Ok(SequenceEnd { flag: None, label: Some((function, label)) })
            }
            GoalMeaning::Sequence { function, sequence } => {
                let end = self.encoded.provenance.sequences.get(&(function, sequence)).copied();
                end.filter(|end| end.label.is_some()).ok_or_else(|| UNKNOWN_END.to_owned())
            }
            GoalMeaning::Error { .. } => Err("it is no objective".to_owned()),
        }
    }

    /// The numbers of the flags that goals and invariants need.
    fn flags_of(&self, proof: &engines::Certificate, ends: &[SequenceEnd]) -> FlagNumbers {
        let origins = &self.encoded.provenance;
        let mut translation = self.translation(proof);
        proof.invariants.iter().flatten().for_each(|one| _ = translation.text(*one));
        let used = translation.used().iter().filter_map(|symbol| match symbol {
            Symbol::Variable(variable) => match origins.variables[*variable] {
                Some(VariablePlace::Flag(_, flag)) => Some(flag),
                _ => None,
            },
            Symbol::Parameter(..) => None,
        });
        let mut waiting: Vec<usize> = ends.iter().filter_map(|end| end.flag).chain(used).collect();
        let mut needed = BTreeSet::new();
        while let Some(flag) = waiting.pop() {
            if needed.insert(flag) {
                waiting.extend(origins.flags[flag].before);
            }
        }
        needed.into_iter().enumerate().map(|(number, flag)| (flag, number)).collect()
    }

    /// The events that flags and goals need.
    fn events(
        &self,
        objectives: ObjectiveSource<'_>,
        flags: &FlagNumbers,
        ends: &[SequenceEnd],
    ) -> Result<Events<'_>, String> {
        let origins = &self.encoded.provenance.flags;
        let of_flags = flags.keys().map(|flag| origins[*flag].label);
        let labels = of_flags.chain(ends.iter().filter_map(|end| end.label));
        let mut spots: BTreeSet<Spot> =
            flags.keys().flat_map(|flag| &origins[*flag].resets).copied().collect();
        for (function, label) in labels {
            spots.insert((function, objectives.label(function, label)?.site));
        }
        let mut spots: Vec<Spot> = spots.into_iter().collect();
        // A statement's own event comes before those of what it evaluates.
        spots.sort_by_key(|spot| (spot.0, matches!(spot.1, Site::Root(_)), spot.1));
        let mut events =
            Events { program: self.program, numbers: BTreeMap::new(), written: Vec::new() };
        for spot in spots {
            events.add(spot);
        }
        Ok(events)
    }
}

/// The reason why the end of a sequence has no certificate.
const UNKNOWN_END: &str = "the last label of its sequence is of a function without objectives";

impl<'p> ObjectiveSource<'p> {
    /// A label of a function.
    fn label(
        &self,
        function: FuncId,
        label: LabelId,
    ) -> Result<&'p lydian_objective::Label, String> {
        let of = self.functions.iter().find(|of| of.function == function);
        let found = of.and_then(|of| of.labels.get(label));
        found.ok_or_else(|| "a label of it is not there".to_owned())
    }
}

/// The events of a document.
struct Events<'w> {
    program: &'w lydian_ir::Program,
    numbers: BTreeMap<Spot, usize>,
    written: Vec<Event>,
}

impl Events<'_> {
    /// Adds an event, if the program has its place.
    fn add(&mut self, (function, site): Spot) {
        let content = &self.program.functions[function];
        let Some(body) = &content.body else { return };
        let at = moments(body, site);
        if at.is_empty() {
            return;
        }
        self.numbers.insert((function, site), self.written.len());
        let name = content.name.clone();
        self.written.push(Event { function: function.index() as u32, name, at });
    }

    fn number(&self, spot: Spot) -> Option<usize> {
        self.numbers.get(&spot).copied()
    }

    fn label(
        &self,
        objectives: ObjectiveSource<'_>,
        (function, label): (FuncId, LabelId),
    ) -> Result<Label, String> {
        let label = objectives.label(function, label)?;
        let body = self.program.functions[function].body.as_ref();
        let event = self.number((function, label.site));
        let (Some(body), Some(event)) = (body, event) else {
            return Err("a label of it is at no place of the program".to_owned());
        };
        Ok(Label { event, predicate: predicate((body, label.site), &label.pred) })
    }
}

/// The places at which a label of a site is asked.
fn moments(body: &Body, site: Site) -> Vec<Moment> {
    let of_point = |point: Point| match point {
        Point::Stmt(stmt) => Moment::Statement(stmt.index() as u32),
        Point::Term(block) => Moment::Terminator(block.index() as u32),
    };
    let statements = |is_one: &dyn Fn(lydian_ir::StmtId, &Stmt) -> bool| {
        let here = body.stmts.iter().filter(|(id, stmt)| is_one(*id, stmt));
        here.map(|(id, _)| Moment::Statement(id.index() as u32)).collect()
    };
    match site {
        Site::Start => vec![Moment::Start],
        Site::Entry => vec![Moment::Entry],
        Site::Mark(mark) => statements(&|_, stmt| *stmt == Stmt::Mark(mark)),
        Site::Edge(edge) => {
            vec![Moment::Edge { block: edge.from.index() as u32, way: edge.way }]
        }
        Site::Decision(decision) => vec![Moment::Decision(decision.index() as u32)],
        Site::Root(root) => body.source.roots[root].points().map(of_point).collect(),
        Site::Stmt(stmt) => {
            let original = body.source.original(stmt);
            statements(&|id, _| body.source.original(id) == original)
        }
        Site::Block(block) => vec![Moment::Block(block.index() as u32)],
        Site::Condition(decision, condition) => vec![Moment::Condition {
            decision: decision.index() as u32,
            condition: condition.index() as u32,
        }],
    }
}

/// A predicate. Conditions of a label of the user's are its expressions.
fn predicate((body, site): (&Body, Site), pred: &Pred) -> Predicate {
    let inner = |pred: &Pred| predicate((body, site), pred);
    match pred {
        Pred::Const(value) => Predicate::Constant(*value),
        Pred::Cond(condition) => match of_user_label((body, site), *condition) {
            Some(expr) => Predicate::Expression(expr),
            None => Predicate::Condition(condition.index() as u32),
        },
        Pred::Reached(condition) => Predicate::Reached(condition.index() as u32),
        Pred::Mutant(condition, expr) => Predicate::Mutant {
            condition: condition.index() as u32,
            expression: expr.index() as u32,
        },
        Pred::Expr(expr) => Predicate::Expression(expr.index() as u32),
        Pred::Not(a) => Predicate::Not(Box::new(inner(a))),
        Pred::And(a, b) => {
            let mut all = Vec::new();
            for side in [inner(a), inner(b)] {
                match side {
                    Predicate::All(parts) => all.extend(parts),
                    part => all.push(part),
                }
            }
            Predicate::All(all)
        }
        Pred::Or(a, b) => {
            let mut any = Vec::new();
            for side in [inner(a), inner(b)] {
                match side {
                    Predicate::Any(parts) => any.extend(parts),
                    part => any.push(part),
                }
            }
            Predicate::Any(any)
        }
        Pred::Xor(a, b) => Predicate::Either(Box::new((inner(a), inner(b)))),
    }
}

/// The expression of a condition of the label of the user's that stands at a site.
fn of_user_label((body, site): (&Body, Site), condition: ConditionId) -> Option<u32> {
    let Site::Mark(mark) = site else { return None };
    match &body.marks[mark].kind {
        MarkKind::UserLabel { predicate, .. } => {
            Some(predicate.conditions.get(condition)?.expr.index() as u32)
        }
        MarkKind::Statement => None,
    }
}
