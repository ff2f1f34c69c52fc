//! The exploration of a whole program for its objectives.

use std::sync::Arc;

use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_ir::FuncId;
use lydian_objective::{FunctionObjectives, Hyper, Site};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Event, FoundTest, Pause, Search, Summary, Task, Unreached, Workers};

use super::super::answers::ProvedText;
use super::super::board::{Board, Finding, Party};
use super::super::exploration::{assumption, conclusion, config, explored, inputs, settings};
use super::super::verdicts::EXPLORATION;
use super::asked::{AskedObjectives, Objective};
use super::coverage::CoverageJudge;
use super::monitor::is_plain;

/// The most steps of a run that confirms a test.
const MOST_STEPS: u64 = 1 << 20;
/// The same when the time is over.
const FEW_STEPS: u64 = 1 << 14;

/// A program to be explored for its objectives.
pub(super) struct ObjectiveExploration<'a> {
    pub(super) text: ProvedText<'a>,
    pub(super) entry: FuncId,
    pub(super) asked: &'a AskedObjectives<'a>,
    pub(super) search: Search,
    pub(super) workers: usize,
}

impl ObjectiveExploration<'_> {
    /// Explores until everything is decided, all paths have ended, or the budget is used up. The board
    /// gets what is found.
    pub(super) fn run(&self, board: &Arc<Board<usize>>, budget: &Budget) {
        let _party = Party(board);
        let (program, reachable) = match explored(self.text.program, self.entry) {
            Ok(explored) => explored,
            Err(why) => return self.open(board, &why),
        };
        let spec = InputSpec::new(&program, settings(&program.functions[self.entry].name));
        let waiting = board.clone();
        let config = Config {
            matches_states: self.asked.functions.iter().all(may_match_states),
            unreached: match self.asked.short_circuit {
                true => Unreached::Unknown,
                false => Unreached::Evaluated,
            },
            search: self.search,
            ..config(Pause::new(move || waiting.await_exploration()))
        };
        let task = Task {
            program: &program,
            func: self.entry,
            spec: &spec,
            objectives: self.asked.functions,
            known: &[],
            config: &config,
            budget,
        };
        let mut judge = CoverageJudge::new(self.text.program, self.asked);
        let mut sink = |event: Event| {
            if let Event::Test(found) = event {
                self.take_test(&mut judge, &found, (board, budget));
            }
        };
        let chain = ChainConfig::default();
        let solver = || standard_chain(&chain);
        board.await_exploration();
        match task.run_among(&Workers::new(self.workers, &solver), &mut sink) {
            Ok(summary) => {
                let beyond = assumption(&program, self.text.left_out, &reachable, &summary);
                self.conclude(board, &summary, beyond.as_deref());
            }
            Err(error) => self.open(board, &error.to_string()),
        }
    }

    /// Notes that nothing is known, for a reason.
    fn open(&self, board: &Board<usize>, why: &str) {
        (0..self.asked.count()).for_each(|one| board.note(one, Finding::Open(why.to_owned())));
    }

    /// Notes the objectives that a test covers in the interpreter, whatever was claimed of it.
    fn take_test(
        &self,
        judge: &mut CoverageJudge<'_>,
        found: &FoundTest,
        (board, budget): (&Board<usize>, &Budget),
    ) {
        let claimed = self.claims(found);
        let is_new = claimed.iter().any(|one| !board.decides(*one));
        if !is_new && self.asked.are_simple {
            return;
        }
        // Many tests come when the time is over.
        let most = if budget.exceeded().is_some() { FEW_STEPS } else { MOST_STEPS };
        match judge.covered(&found.test, &claimed, most) {
            Ok(covered) => {
                let inputs = inputs(self.text.program, &found.test);
                for objective in &covered {
                    board.note(*objective, Finding::Reached(inputs.clone(), EXPLORATION));
                }
                let missed = claimed.into_iter().filter(|one| !covered.contains(one));
                let why = "a run that was found is none of the program's: the interpreter does not \
                           cover it";
                missed.for_each(|one| board.note(one, Finding::Open(why.to_owned())));
            }
            Err(why) => {
                claimed.into_iter().for_each(|one| board.note(one, Finding::Open(why.clone())));
            }
        }
    }

    /// The objectives that a test is said to cover.
    fn claims(&self, found: &FoundTest) -> Vec<usize> {
        let labels = found
            .covers
            .iter()
            .filter_map(|one| Some(Objective::Label(self.asked.position(one.func)?, one.label)));
        let hypers = found
            .completes
            .iter()
            .filter_map(|one| Some(Objective::Hyper(self.asked.position(one.func)?, one.hyper)));
        labels.chain(hypers).filter_map(|one| self.asked.number(one)).collect()
    }

    /// Notes what the exploration says of the objectives that no test covers.
    fn conclude(&self, board: &Board<usize>, summary: &Summary, beyond: Option<&str>) {
        for left in &summary.left {
            let at = self.asked.position(left.label.func);
            let number =
                at.and_then(|at| self.asked.number(Objective::Label(at, left.label.label)));
            if let Some(number) = number {
                board.note(number, conclusion(summary, (&left.reasons, &left.bounds), beyond));
            }
        }
        for left in &summary.left_hypers {
            let at = self.asked.position(left.hyper.func);
            let number =
                at.and_then(|at| self.asked.number(Objective::Hyper(at, left.hyper.hyper)));
            if let Some(number) = number {
                board.note(number, conclusion(summary, (&left.reasons, &left.bounds), beyond));
            }
        }
    }
}

/// Whether paths with the same state may count as one: predicates say nothing about the state and about
/// evaluations of whole decisions, and hyperlabels relate no values and no runs.
fn may_match_states(of: &FunctionObjectives) -> bool {
    let labels = of.labels.values().all(|label| {
        let mut is_constant = !matches!(label.site, Site::Decision(_));
        label.pred.for_each_expr(&mut |_| is_constant = false);
        is_constant
    });
    let hypers = of.hypers.values().all(|hyper| matches!(hyper.hyper, Hyper::Sequence(_)));
    labels && hypers && of.sequences.values().all(is_plain)
}
