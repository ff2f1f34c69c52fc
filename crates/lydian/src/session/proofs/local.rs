//! Local proofs for open objectives, before they are explored.

use std::collections::BTreeSet;
use std::time::Duration;

use lydian_base::Budget;
use lydian_objective::Label;
use lydian_objective::evidence::Evidence;
use lydian_prove::call_graph::never_called;
use lydian_prove::local::{LocalOutcome, LocalProver, Semantics};
use lydian_smt::{Limits, Solver, TermPool};
use lydian_symex::Config;
use lydian_symex::Unreached;

use super::{implied_verdicts, infeasible_vectors};
use crate::error::Error;
use crate::session::goals::{FunctionUnderTest, Goal};
use crate::session::state::Session;

/// The time for one local proof: most take almost none, and the others are left to exploration.
pub(crate) const PROOF_TIME: Duration = Duration::from_millis(200);

/// Local proofs may take this fraction (one n-th) of the remaining time: with thousands of labels,
/// exploration needs the rest.
const SHARE_OF_PROOFS: u32 = 4;

/// After this fraction (one n-th) of that, they go on only if they find something.
const SHARE_OF_TRIAL: u32 = 4;

/// One infeasible label among so many is worth it.
const MOST_OPEN: usize = 50;

impl Session<'_, '_> {
    /// Proves labels infeasible whose predicate no state satisfies, and records the proofs. Returns whether
    /// all labels were tried: those of a long function of which none is infeasible wait until tests have
    /// covered most of them.
    pub(crate) fn prove(
        &mut self,
        left: &[Goal],
        config: &Config,
        budget: &Budget,
    ) -> Result<bool, Error> {
        let budget = budget.part(budget.remaining().map(|time| time / SHARE_OF_PROOFS));
        let program = &self.project.program;
        let never_called =
            self.project.entry().map_or_else(BTreeSet::new, |entry| never_called(program, entry));
        let (mut proofs, mut is_complete) = (Vec::new(), true);
        for (at, target) in self.targets.iter().enumerate() {
            if never_called.contains(&target.objectives.function) {
                proofs.extend(self.proofs_by_calls(at, target)?);
            } else {
                let left = left.iter().filter(|goal| goal.target() == at).copied().collect();
                let (found, tried_all) = self.proofs_of((at, target), left, config, &budget)?;
                proofs.extend(found);
                is_complete &= tried_all;
            }
        }
        self.record_evidence(&proofs)?;
        Ok(is_complete)
    }

    /// Proofs for the function under test at a position, if the program never calls it.
    fn proofs_by_calls(
        &self,
        at: usize,
        target: &FunctionUnderTest<'_>,
    ) -> Result<Vec<(Goal, Evidence)>, Error> {
        let left: Vec<Goal> = self.open_goals_of(at, target)?;
        let labels = implied_verdicts::labels_of(target.objectives, &left).into_iter();
        let evidence = || Evidence::LocalProof { method: "call graph".to_owned() };
        Ok(labels.map(|label| (Goal::Label(at, label), evidence())).collect())
    }

    /// Local proofs for the open labels of the function under test at a position, and whether all labels
    /// were tried.
    fn proofs_of(
        &self,
        (at, target): (usize, &FunctionUnderTest<'_>),
        left: Vec<Goal>,
        config: &Config,
        budget: &Budget,
    ) -> Result<(Vec<(Goal, Evidence)>, bool), Error> {
        let program = &self.project.program;
        let objectives = target.objectives;
        let Some(body) = &program.functions[objectives.function].body else {
            return Ok((Vec::new(), true));
        };
        let semantics = semantics(config);
        let prover = LocalProver::new(&program.types, body, objectives, semantics);
        // What is known of memory from one statement to the next is not known where a handler may run.
        let prover = match self.project.undisturbed(self.entry) {
            Some(_) => prover,
            None => prover.with_ranges(program),
        };
        let mut limits = Limits::time(PROOF_TIME);
        limits.interrupt = Some(budget.cancel_token().flag().clone());
        let mut asking = Prover {
            prover,
            pool: TermPool::new(),
            solver: self.solver(target.objectives.function),
            limits,
            budget,
        };
        let labels = &objectives.labels;
        let trial = budget.remaining().map(|time| time - time / SHARE_OF_TRIAL);
        let is_long = || trial.is_some_and(|kept| budget.remaining() < Some(kept));
        let (mut proofs, mut is_complete) = (Vec::new(), true);
        for (tried, label) in implied_verdicts::labels_of(objectives, &left).into_iter().enumerate()
        {
            let is_barren = || is_long() && proofs.len() * MOST_OPEN < tried;
            if budget.exceeded().is_some() || is_barren() {
                is_complete = false;
                break;
            }
            let outcome = asking.prove(&labels[label]);
            proofs.extend(outcome.evidence().map(|evidence| (Goal::Label(at, label), evidence)));
        }
        let short_circuit = semantics.short_circuit;
        let hypers =
            infeasible_vectors::infeasible(objectives, body, &left, short_circuit, &mut asking);
        proofs.extend(hypers.into_iter().map(|hyper| {
            let method = "no vectors of the decision that states allow".to_owned();
            (Goal::Hyper(at, hyper), Evidence::LocalProof { method })
        }));
        Ok((proofs, is_complete))
    }
}

/// A prover with what it needs.
struct Prover<'a, 'b> {
    prover: LocalProver<'a>,
    pool: TermPool,
    solver: Box<dyn Solver>,
    limits: Limits,
    budget: &'b Budget,
}

impl Prover<'_, '_> {
    fn prove(&mut self, label: &Label) -> LocalOutcome {
        let outcome = self.prover.prove(&mut self.pool, &mut *self.solver, &self.limits, label);
        log::debug!("a proof that `{}` at {} is infeasible: {outcome}", label.text, label.place);
        outcome
    }
}

impl infeasible_vectors::LabelQuestions for Prover<'_, '_> {
    fn is_possible(&mut self, label: &Label) -> bool {
        self.prover.is_open(&mut self.pool, label)
    }

    fn is_impossible(&mut self, label: &Label) -> bool {
        self.budget.exceeded().is_none() && matches!(self.prove(label), LocalOutcome::Infeasible)
    }
}

/// The semantics of predicates in an exploration's configuration.
pub(crate) fn semantics(config: &Config) -> Semantics {
    let short_circuit = config.unreached == Unreached::Unknown;
    Semantics { overflow: config.overflow, short_circuit }
}
