//! The answers about objectives: what the engines found about their parts, confirmed, and what the
//! exploration found.

use std::collections::BTreeMap;
use std::time::Instant;

use lydian_prove::engines::{self, Certificate, Decision, Trace, Verdict};
use lydian_prove::system::GoalId;

use super::super::answers::{AnswerReader, reconciled, run_of};
use super::super::board::Board;
use super::super::verdicts::{Argument, ErrorAnswer, InputValue};
use super::asked::{AskedObjectives, Conjunctions};
use super::coverage::CoverageJudge;

/// The steps in which a run that an engine found gets to its goal.
const FEW_STEPS: u64 = 1 << 17;

/// An answer, and who found it.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) answer: ErrorAnswer,
    pub(super) engine: String,
    /// The goals that no run reaches, on which the answer rests; none for answers of other kinds, and for
    /// those of the exploration.
    pub(super) goals: Vec<GoalId>,
}

/// The answers by the numbers of the objectives. Runs are confirmed until the end.
pub(super) fn answers(
    asked: &AskedObjectives<'_>,
    (parts, board): (&[Conjunctions], &Board<usize>),
    (verdicts, end): (&[Verdict], Instant),
    reader: &mut AnswerReader<'_>,
) -> Vec<Answered> {
    let mut by_goal: BTreeMap<GoalId, &Verdict> = BTreeMap::new();
    by_goal.extend(verdicts.iter().map(|verdict| (verdict.goal, verdict)));
    let mut confirmation = Confirmation {
        reader,
        by_goal,
        checked: BTreeMap::new(),
        reached: BTreeMap::new(),
        refused: BTreeMap::new(),
    };
    confirmation.runs(asked, (parts, board), end);
    confirmation.check_together();
    let of = |(number, conjunctions): (usize, &Conjunctions)| {
        let finding = board.finding(number);
        let found = confirmation.answer(number, conjunctions);
        let (answer, engine) = reconciled((found.answer, &found.engine), finding);
        let is_argued =
            matches!(&answer, ErrorAnswer::Unreachable(argument) if argument.paths.is_none());
        let goals = if is_argued { found.goals } else { Vec::new() };
        Answered { answer, engine: engine.to_owned(), goals }
    };
    parts.iter().enumerate().map(of).collect()
}

struct Confirmation<'c, 'r, 'v> {
    reader: &'c mut AnswerReader<'r>,
    by_goal: BTreeMap<GoalId, &'v Verdict>,
    /// The arguments that were checked.
    checked: BTreeMap<GoalId, ErrorAnswer>,
    /// By objective: inputs that cover it, and the engine that found the run.
    reached: BTreeMap<usize, (Vec<InputValue>, &'static str)>,
    /// By objective: why a run to it does not count.
    refused: BTreeMap<usize, String>,
}

impl<'v> Confirmation<'_, '_, 'v> {
    /// Lets the interpreter run what the engines found.
    fn runs(
        &mut self,
        asked: &AskedObjectives<'_>,
        (parts, board): (&[Conjunctions], &Board<usize>),
        end: Instant,
    ) {
        let mut judge = None;
        for (number, conjunctions) in parts.iter().enumerate() {
            if Instant::now() > end {
                break;
            }
            let run = self.run_to(conjunctions.as_ref());
            let Some((verdict, trace)) = run.filter(|_| asked.is_simple(number)) else { continue };
            if self.reached.contains_key(&number) || board.decides(number) {
                continue;
            }
            let program = self.reader.text.program;
            let judge = judge.get_or_insert_with(|| CoverageJudge::new(program, asked));
            let inputs = self.reader.inputs(verdict, trace);
            let test = run_of(program, self.reader.main, &inputs);
            let refusal = match judge.covered(&test, &[number], FEW_STEPS) {
                Ok(covered) => {
                    for one in &covered {
                        let known = self.reached.entry(*one);
                        known.or_insert_with(|| (inputs.clone(), verdict.engine));
                    }
                    let missed = "a run that was found is none of the program's: the interpreter \
                                  does not cover it";
                    (!covered.contains(&number)).then(|| missed.to_owned())
                }
                Err(why) => Some(why),
            };
            self.refused.extend(refusal.map(|why| (number, why)));
        }
    }

    /// The run to an objective of a single goal.
    fn run_to(&self, conjunctions: Option<&Vec<Vec<GoalId>>>) -> Option<(&'v Verdict, &'v Trace)> {
        let [conjunction] = &conjunctions?[..] else { return None };
        let [goal] = conjunction[..] else { return None };
        let verdict = *self.by_goal.get(&goal)?;
        match &verdict.decision {
            Decision::Reached(trace) => Some((verdict, trace)),
            _ => None,
        }
    }

    fn answer(&mut self, number: usize, conjunctions: &Conjunctions) -> Answered {
        if let Some((inputs, engine)) = self.reached.get(&number) {
            let answer = ErrorAnswer::Reached(inputs.clone());
            return Answered { answer, engine: (*engine).to_owned(), goals: Vec::new() };
        }
        let refused = self.refused.get(&number).cloned();
        let unknown = |why: &str| Answered {
            answer: ErrorAnswer::Unknown(refused.clone().unwrap_or_else(|| why.to_owned())),
            engine: "none".to_owned(),
            goals: Vec::new(),
        };
        let Some(conjunctions) = conjunctions else { return unknown("it has too many parts") };
        let mut argument: Option<(Argument, &str)> = None;
        let mut goals = Vec::new();
        for conjunction in conjunctions {
            let mut why = None;
            let excluded = conjunction.iter().find_map(|goal| {
                let verdict = *self.by_goal.get(goal)?;
                match self.checked(verdict) {
                    ErrorAnswer::Unreachable(part) => {
                        goals.push(*goal);
                        Some(Ok((part, verdict.engine)))
                    }
                    ErrorAnswer::Unconfirmed(part) => Some(Err((part, verdict.engine))),
                    ErrorAnswer::Unknown(reason) => {
                        why.get_or_insert(reason);
                        None
                    }
                    ErrorAnswer::Reached(_) => None,
                }
            });
            match excluded {
                Some(Ok((part, engine))) => {
                    argument = Some(match argument {
                        Some((all, first)) => (both(all, part), first),
                        None => (part, engine),
                    });
                }
                Some(Err((part, engine))) => {
                    let answer = ErrorAnswer::Unconfirmed(part);
                    return Answered { answer, engine: engine.to_owned(), goals: Vec::new() };
                }
                None => return unknown(why.as_deref().unwrap_or("no engine found an answer")),
            }
        }
        match argument {
            Some((argument, engine)) => {
                let answer = ErrorAnswer::Unreachable(argument);
                Answered { answer, engine: engine.to_owned(), goals }
            }
            None => unknown("it has no parts"),
        }
    }

    /// Checks arguments of the same kind together, which takes as long as one of them. What does not
    /// stand so is left to a check of its own.
    fn check_together(&mut self) {
        let mut kinds: BTreeMap<(u32, bool), Vec<(GoalId, &Certificate)>> = BTreeMap::new();
        for (goal, verdict) in &self.by_goal {
            if let Decision::Unreachable(certificate) = &verdict.decision
                && certificate.parameters.symbols.is_empty()
            {
                let is_exhaustive = certificate.argument == engines::Argument::Exhaustion;
                let kind = (certificate.depth, is_exhaustive);
                kinds.entry(kind).or_default().push((*goal, certificate));
            }
        }
        for all in kinds.into_values() {
            if let Some(checked) = self.reader.checked_together(&all) {
                self.checked.extend(checked);
            }
        }
    }

    /// The argument of an engine about a goal, if there is one and it stands.
    fn checked(&mut self, verdict: &Verdict) -> ErrorAnswer {
        match &verdict.decision {
            Decision::Unreachable(certificate) => {
                if let Some(known) = self.checked.get(&verdict.goal) {
                    return known.clone();
                }
                let answer = self.reader.checked(verdict.goal, certificate);
                self.checked.insert(verdict.goal, answer.clone());
                answer
            }
            Decision::Reached(_) => {
                ErrorAnswer::Unknown("parts of it are reached, and no run covers all".to_owned())
            }
            Decision::Unknown(why) => ErrorAnswer::Unknown(why.clone()),
        }
    }
}

/// The argument for two parts together.
fn both(mut all: Argument, part: Argument) -> Argument {
    all.depth = all.depth.max(part.depth);
    all.exhaustive &= part.exhaustive;
    let new = part.invariants.into_iter().filter(|one| !all.invariants.contains(one));
    let new: Vec<_> = new.collect();
    all.invariants.extend(new);
    all
}
