//! Questions to an outside checker about the errors of a program.
//!
//! The error call is a label: a place, and for an assertion a predicate. The checker's *reachable* counts
//! if the interpreter gets to the call with the inputs of the checker's run. Its *unreachable* counts as
//! the checker's word, where no bound limits it. Where the checker and Lydian say the opposite, that is
//! a disagreement, which is told and counted; if a run shows that Lydian's proof is wrong, it is an
//! internal error.

use lydian_base::{CancelToken, Place};
use lydian_ir::expr::{CmpOp, Expr};
use lydian_ir::{Callee, FuncId, Program, Stmt, StmtId};
use lydian_native::{CheckedGoal, RewriteRequest, checked_units};
use lydian_objective::{Criterion, FunctionObjectives, LabelEntry, LabelKey, Pred};
use lydian_prove::encode::{is_assertion, is_error};
use serde::Serialize;

use super::checkers::{
    CheckerAnswer, CheckerOptions, CheckerReport, Dialect, QuestionText, ReadyChecker,
};
use crate::error::Error;
use crate::proving::{
    Argument, ErrorAnswer, ErrorProof, InputValue, Proofs, ProvedProgram, confirm, error_label,
    run_of,
};

/// Which errors an outside checker is asked about, and how.
#[derive(Clone, Debug)]
pub struct OutsideRequest {
    /// The checker with its limits.
    pub options: CheckerOptions,
    /// Whether it is asked about all errors, to compare the answers, or only about those that are
    /// unknown.
    pub all: bool,
}

/// The answer of an outside checker about an error.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedError {
    /// The place of the call.
    pub place: Option<Place>,
    /// The function with the call.
    pub function: String,
    /// The checker's answer.
    pub report: CheckerReport,
    /// What follows from it.
    pub conclusion: Conclusion,
    /// The program that the checker was given, a text for each unit.
    #[serde(skip)]
    pub question: Vec<String>,
}

/// What follows from a checker's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Lydian found the same.
    Agrees,
    /// The checker decided what was unknown.
    Decides,
    /// Nothing, for this reason.
    Nothing(String),
    /// The answers contradict each other, as this sentence says.
    Disagrees(String),
}

impl Proofs {
    /// Asks a checker about errors, in their order, and notes what is decided.
    ///
    /// # Errors
    /// A checker that is not there or cannot be started. What is known stays.
    pub fn ask_outside(
        &mut self,
        request: &OutsideRequest,
        cancel: &CancelToken,
    ) -> Result<Vec<CheckedError>, Error> {
        let checker = ReadyChecker::find(&request.options)?;
        let proved = self.proved.clone();
        let outside = Outside { proved: &proved, cancel };
        let mut answers = Vec::new();
        for error in &mut self.errors {
            let is_open = matches!(error.answer, ErrorAnswer::Unknown(_));
            if cancel.is_cancelled() || !(is_open || request.all) {
                continue;
            }
            answers.push(outside.ask_about(error, &checker)?);
        }
        Ok(answers)
    }
}

/// A program whose errors are asked about.
struct Outside<'a> {
    proved: &'a ProvedProgram,
    cancel: &'a CancelToken,
}

impl Outside<'_> {
    fn ask_about(
        &self,
        error: &mut ErrorProof,
        checker: &ReadyChecker<'_>,
    ) -> Result<CheckedError, Error> {
        let (report, question) = match self.question(error.call, checker.dialect()) {
            Ok(question) => {
                let report = checker.ask(&question, self.cancel)?;
                (report, question.units().to_vec())
            }
            Err(why) => {
                let answer = CheckerAnswer::Open(format!("it cannot be asked: {why}"));
                let tool = checker.name().to_owned();
                (CheckerReport { tool, answer, seconds: 0.0 }, Vec::new())
            }
        };
        let conclusion = self.conclude(error, &report);
        let (place, function) = (error.place.clone(), error.function.clone());
        Ok(CheckedError { place, function, report, conclusion, question })
    }

    /// The program that asks about a call.
    fn question(&self, call: (FuncId, StmtId), dialect: Dialect) -> Result<QuestionText, String> {
        let watched = [error_objective(&self.proved.plain, call)?];
        let linked = &self.proved.linked.linked;
        let request = RewriteRequest {
            starts: &linked.starts,
            ..RewriteRequest::for_tests(&linked.source, &self.proved.plain, &watched)
        };
        let goal = CheckedGoal::Label(call.0, lydian_base::EntityId::from_index(0));
        let mut units = checked_units(&request, goal)?;
        units.truncate(self.proved.linked.files.len());
        let mut question = QuestionText::new(&self.proved.plain, units, dialect);
        question.add_beginnings(&linked.program);
        Ok(question)
    }

    /// What follows from an answer. Notes it where it decides.
    fn conclude(&self, error: &mut ErrorProof, report: &CheckerReport) -> Conclusion {
        let tool = &report.tool;
        match &report.answer {
            CheckerAnswer::Open(why) | CheckerAnswer::Failed(why) => {
                Conclusion::Nothing(why.clone())
            }
            CheckerAnswer::Reachable(inputs) => self.reachable(error, tool, inputs),
            CheckerAnswer::Unreachable { bounds, .. } if !bounds.is_empty() => {
                Conclusion::Nothing(format!("no run gets there if {}", bounds.join(" and ")))
            }
            CheckerAnswer::Unreachable { assumptions, .. } => match &error.answer {
                ErrorAnswer::Unreachable(_) => Conclusion::Agrees,
                ErrorAnswer::Reached(_) => Conclusion::Disagrees(format!(
                    "{tool} says that no run gets there, and the interpreter does"
                )),
                ErrorAnswer::Unknown(_) => {
                    error.answer = ErrorAnswer::Unreachable(by_checker(tool, assumptions));
                    error.engine.clone_from(tool);
                    Conclusion::Decides
                }
                ErrorAnswer::Unconfirmed(_) => Conclusion::Nothing("there is an error".to_owned()),
            },
        }
    }

    fn reachable(&self, error: &mut ErrorProof, tool: &str, inputs: &[InputValue]) -> Conclusion {
        let program = &self.proved.linked.linked.program;
        let test = run_of(program, self.proved.main, inputs);
        let confirmed = confirm(program, &test, error.call);
        match (&error.answer, confirmed) {
            (ErrorAnswer::Reached(_), _) => Conclusion::Agrees,
            (ErrorAnswer::Unreachable(_), Ok(())) => {
                let part =
                    format!("{tool} found a run, and the interpreter gets there with its inputs");
                error.answer = ErrorAnswer::Unconfirmed(part.clone());
                Conclusion::Disagrees(part)
            }
            (ErrorAnswer::Unreachable(_), Err(why)) => Conclusion::Disagrees(format!(
                "{tool} says that a run gets there, unconfirmed: {why}"
            )),
            (ErrorAnswer::Unknown(_), Ok(())) => {
                error.answer = ErrorAnswer::Reached(inputs.to_vec());
                tool.clone_into(&mut error.engine);
                Conclusion::Decides
            }
            (ErrorAnswer::Unknown(_), Err(why)) => {
                Conclusion::Nothing(format!("a run gets there, unconfirmed: {why}"))
            }
            (ErrorAnswer::Unconfirmed(_), _) => Conclusion::Nothing("there is an error".to_owned()),
        }
    }
}

/// The argument of a checker: its word, under what it takes for granted.
fn by_checker(tool: &str, assumptions: &[String]) -> Argument {
    let mut sentence = format!("{tool} shows it for all runs");
    if !assumptions.is_empty() {
        sentence += &format!(", if {}", assumptions.join(" and "));
    }
    Argument { depth: 0, exhaustive: true, invariants: Vec::new(), paths: Some(sentence) }
}

/// The objective of an error call.
fn error_objective(
    program: &Program,
    (function, call): (FuncId, StmtId),
) -> Result<FunctionObjectives, String> {
    let body = program.functions[function].body.as_ref();
    let body = body.ok_or("its function has no body")?;
    let mut exprs = body.exprs.clone();
    let pred = match &body.stmts[call] {
        Stmt::Call { callee: Callee::Direct(callee), args, .. } => {
            let callee = &program.functions[*callee];
            match args.first() {
                _ if is_error(callee) => Pred::Const(true),
                Some(arg) if is_assertion(callee) => {
                    let ty = body.types_in(&exprs)[*arg];
                    let zero = exprs.push(Expr::Const(ty, 0));
                    Pred::Expr(exprs.push(Expr::Cmp(CmpOp::Eq, *arg, zero)))
                }
                _ => return Err("its function is not followed".to_owned()),
            }
        }
        _ => return Err("it is called through a pointer".to_owned()),
    };
    let mut objectives = FunctionObjectives::none(function, exprs);
    let label = error_label(call, pred, LabelKey(String::new()));
    let label = objectives.labels.push(label);
    let entry = LabelEntry { label, name: String::new(), duplicate_of: None };
    objectives.criteria.insert(Criterion::Dc, vec![entry]);
    Ok(objectives)
}
