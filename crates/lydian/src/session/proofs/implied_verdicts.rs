//! Verdicts that follow from others: a hyperlabel is infeasible if each conjunction of its normal form
//! needs an infeasible label.

use lydian_ir::{Callee, FuncId, Program, Stmt};
use lydian_objective::assumption::abridged;
use lydian_objective::evidence::{Evidence, Verdict};
use lydian_objective::hyper::normal::Part;
use lydian_objective::hyper::{Atom, SequenceScope};
use lydian_objective::{Assumption, FunctionObjectives, Hyper, LabelId};
use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::session::goals::{FunctionUnderTest, Goal, Verdicts};
use crate::session::state::Session;

/// The most conjunctions of a normal form that are examined.
pub(crate) const CONJUNCTIONS: usize = 4096;

/// The labels of a function that objectives are or are made of, each once, in order.
pub(crate) fn labels_of(objectives: &FunctionObjectives, goals: &[Goal]) -> Vec<LabelId> {
    let mut found: FxHashSet<LabelId> = FxHashSet::default();
    for goal in goals {
        match goal {
            Goal::Label(_, label) => _ = found.insert(*label),
            Goal::Hyper(_, hyper) => {
                objectives.hypers[*hyper].hyper.for_each_part(&mut |part| {
                    let own = atoms_of(objectives, part).iter();
                    found
                        .extend(own.filter(|a| a.function == objectives.function).map(|a| a.label));
                });
            }
        }
    }
    objectives.labels.iter().map(|(id, _)| id).filter(|id| found.contains(id)).collect()
}

fn atoms_of<'h>(objectives: &'h FunctionObjectives, part: Part<'h>) -> &'h [Atom] {
    match part {
        Part::Atom(atom) => std::slice::from_ref(atom),
        Part::Sequence(id) => &objectives.sequences[id].atoms,
    }
}

/// Whether runs that do not begin with a call of the function may cover a hyperlabel of it that no
/// other run covers: it mentions only sites of other functions, or several activations or functions
/// while other code of the program may call this one.
pub(crate) fn others_may_cover(
    program: &Program,
    target: &FunctionUnderTest<'_>,
    goal: Goal,
) -> bool {
    let Goal::Hyper(_, hyper) = goal else { return false };
    let objectives = target.objectives;
    let own = |atom: &Atom| atom.function == objectives.function;
    let (mut elsewhere, mut of_run) = (false, false);
    objectives.hypers[hyper].hyper.for_each_part(&mut |part| {
        elsewhere |= !atoms_of(objectives, part).iter().any(own);
        if let Part::Sequence(id) = part {
            of_run |= objectives.sequences[id].scope == SequenceScope::Run;
        }
    });
    elsewhere || of_run && may_be_called(program, objectives.function)
}

/// Whether the program may call a function.
fn may_be_called(program: &Program, func: FuncId) -> bool {
    let ty = program.functions[func].ty;
    let calls = |stmt: &Stmt| match stmt {
        Stmt::Call { callee: Callee::Indirect(_), ty: called, .. } => *called == ty,
        _ => false,
    };
    let mut bodies = program.functions.values().filter_map(|function| function.body.as_ref());
    program.is_used(func) || bodies.any(|body| body.stmts.values().any(calls))
}

impl Session<'_, '_> {
    /// Records implied verdicts on hyperlabels without a verdict.
    pub(crate) fn record_implied_verdicts(&mut self) -> Result<(), Error> {
        let mut derived: Vec<(Goal, Evidence)> = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            if target.objectives.hypers.is_empty() {
                continue;
            }
            let left = self.open_goals_of(at, target)?;
            if !left.iter().any(|goal| matches!(goal, Goal::Hyper(..))) {
                continue;
            }
            let verdicts = self.verdicts(target)?;
            let follows = |goal: &Goal| Some((*goal, infeasible(target, *goal, &verdicts)?));
            derived.extend(left.iter().filter_map(follows));
        }
        self.record_evidence(&derived)
    }
}

/// The reason for which a hyperlabel is infeasible, if the verdicts on labels of its own function imply
/// it.
fn infeasible(target: &FunctionUnderTest<'_>, goal: Goal, verdicts: &Verdicts) -> Option<Evidence> {
    let Goal::Hyper(_, id) = goal else { return None };
    let objectives = target.objectives;
    let hyper: &Hyper = &objectives.hypers[id].hyper;
    let form = hyper.normal_form(CONJUNCTIONS).ok()?;
    let argument_on = |atom: &Atom| {
        let own = atom.function == objectives.function;
        let label = own.then(|| &objectives.labels[atom.label])?;
        match verdicts.get(&label.key)?.as_ref().ok()? {
            Verdict::Infeasible { argument } | Verdict::InfeasibleAssumed { argument, .. } => {
                Some(argument)
            }
            _ => None,
        }
    };
    let (mut under, mut assumed) = (Vec::<&str>::new(), Vec::<Assumption>::new());
    let mut explored = false;
    for conjunction in &form {
        let atoms = conjunction.parts.iter().flat_map(|part| atoms_of(objectives, *part));
        let arguments = atoms.filter_map(argument_on);
        // Of several arguments, the one with the fewest assumptions.
        let argument = arguments.min_by_key(|argument| argument.assumptions().map(<[_]>::len))?;
        if let Evidence::Complete { preconditions, assumptions, .. } = argument {
            explored = true;
            if !under.contains(&preconditions.as_str()) {
                under.push(preconditions);
            }
            assumed.extend(assumptions.iter().cloned());
        }
    }
    let method = Evidence::DERIVED.to_owned();
    let (preconditions, assumptions) = (under.join("; "), abridged(assumed));
    Some(match explored {
        true => {
            let (invariants, certificates) = Default::default();
            Evidence::Complete { method, preconditions, assumptions, invariants, certificates }
        }
        false => Evidence::LocalProof { method },
    })
}
