//! The check of a certificate.

pub(crate) mod invariants;

use std::time::{Duration, Instant};

use lydian_base::EntityId;
use lydian_ir::{Callee, FuncId, Program, Stmt, StmtId, text, verify};

use crate::checking::invariants::Invariants;
use crate::conditions::{Asker, Conditions, Effort, Failure};
use crate::document::objectives::Objective;
use crate::document::{self, Document};
use crate::fault::Fault;
use crate::library::{goes_elsewhere, is_error, may_run};
use crate::machine::Scene;
use crate::monitor::Monitor;
use crate::objects::Objects;
use crate::pointers::Pointers;
use crate::recursion::{kept_parts, visible_objects};
use crate::solver::{Answer, Session, Solver, SolverError};
use crate::unfolding::Unfolding;

/// The part of the time for a condition that is asked otherwise if it has no answer.
const LITTLE: u32 = 10;
/// The stack of the thread that checks. The reader of programs follows their nesting.
const STACK: usize = 256 << 20;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The certificate stands.
    Checked,
    /// A condition is false.
    Refuted {
        /// The condition.
        condition: String,
        /// The values that show it, as the solver writes them.
        model: String,
    },
    /// The check has no answer.
    Open {
        /// The condition, or the part of the program.
        condition: String,
        /// Why.
        reason: String,
    },
    /// The certificate does not fit its program.
    IllFormed(String),
}

/// The result of a check, and its work.
#[derive(Clone, Debug)]
pub struct Report {
    /// The result.
    pub outcome: Outcome,
    /// The goal as the program's text has it; none if it was not found there, or is an objective.
    pub goal: Option<String>,
    /// The objectives that are goals; none if they were not found in the program's text.
    pub objectives: Vec<Objective>,
    /// How many conditions the solver was asked.
    pub conditions: u32,
    /// The time.
    pub time: Duration,
}

/// Checks a certificate.
///
/// # Errors
/// The solver does not run, or does not answer.
pub fn check(document: &Document, solver: &Solver) -> Result<Report, SolverError> {
    std::thread::scope(|scope| {
        let work = || check_here(document, solver);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(report)) => report,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => check_here(document, solver),
        }
    })
}

fn check_here(document: &Document, solver: &Solver) -> Result<Report, SolverError> {
    let begun = Instant::now();
    let mut asking = Asking {
        solver: solver.session(),
        goal: None,
        objectives: Vec::new(),
        asked: 0,
        error: None,
    };
    let result = conditions(document, &mut asking);
    if let Some(error) = asking.error {
        return Err(error);
    }
    let outcome = match result {
        Ok(()) => Outcome::Checked,
        Err(Failure::Fault(Fault::Form(what))) => Outcome::IllFormed(what),
        Err(Failure::Fault(Fault::Unsupported(reason))) => {
            let condition = "the program".to_owned();
            Outcome::Open { condition, reason: format!("{reason} is not followed") }
        }
        Err(Failure::Refuted(condition, model)) => Outcome::Refuted { condition, model },
        Err(Failure::Open(condition, reason)) => Outcome::Open { condition, reason },
    };
    let Asking { goal, objectives, asked, .. } = asking;
    Ok(Report { outcome, goal, objectives, conditions: asked, time: begun.elapsed() })
}

fn conditions(document: &Document, asking: &mut Asking<'_>) -> Result<(), Failure> {
    let certificate = &document.certificate;
    let program = text::parse(&document.text);
    let program = program.map_err(|error| Fault::form(format!("the program: {error}")))?;
    if let Some(violation) = verify::verify(&program).first() {
        return Err(Fault::form(format!("the program: {}", violation.message)).into());
    }
    if !certificate.rules.allocation_succeeds {
        return Err(Fault::unsupported("allocations that may fail").into());
    }
    let error = match (&certificate.goal, &certificate.objectives) {
        (Some(wanted), None) => Some(goal(&program, wanted)?),
        (None, Some(objectives)) if !objectives.goals.is_empty() => None,
        _ => return Err(Fault::form("it is about a call, or about objectives").into()),
    };
    asking.goal = error.as_ref().map(|goal| goal.text.clone());
    let error = error.map(|goal| goal.at);
    let unfolding = Unfolding::new(&program, certificate)?;
    let objects = Objects::new(&unfolding, certificate)?;
    let run: Vec<_> = unfolding.instances.iter().map(|instance| instance.function).collect();
    let run = may_run(&program, &run);
    if let Some(function) = run.iter().find(|at| goes_elsewhere(&program.functions[**at])) {
        let name = &program.functions[*function].name;
        return Err(Fault::unsupported(format!("a call of {name}")).into());
    }
    let pointers = Pointers::new(&unfolding, &objects);
    let visible = visible_objects(&unfolding, &objects, &pointers)?;
    let kept = kept_parts(certificate.state.iter().map(|part| part.place));
    let monitor = Monitor::new(&unfolding, certificate)?;
    if let Some(objectives) = &certificate.objectives {
        asking.objectives.clone_from(&objectives.goals);
    }
    let scene = Scene { unfolding, objects, pointers, error, monitor, kept, visible };
    let invariants = Invariants::new(&scene, certificate)?;
    Conditions::new(&scene, &invariants, certificate, asking).check()
}

/// The goal: a call.
struct Goal {
    at: (FuncId, StmtId),
    /// For people.
    text: String,
}

/// The goal, which is a call of a function that stands for an error or asserts.
fn goal(program: &Program, wanted: &document::Goal) -> Result<Goal, Fault> {
    let function = program.function_named(&wanted.function);
    let function = function.ok_or_else(|| Fault::form("the goal's function is not there"))?;
    let stmt = StmtId::from_index(wanted.statement as usize);
    let body = program.functions[function].body.as_ref();
    let Some(Stmt::Call { callee, .. }) = body.and_then(|body| body.stmts.get(stmt)) else {
        return Err(Fault::form("the goal is no call"));
    };
    match callee {
        Callee::Direct(callee) if is_error(program, *callee) => {
            let (name, within) =
                (&program.functions[*callee].name, &program.functions[function].name);
            let text = format!("the call of {name} in {within} (statement {})", wanted.statement);
            Ok(Goal { at: (function, stmt), text })
        }
        _ => Err(Fault::form("the goal is a call that is no error and no assertion")),
    }
}

/// Asks a solver, and counts.
struct Asking<'a> {
    solver: Session<'a>,
    goal: Option<String>,
    objectives: Vec<Objective>,
    asked: u32,
    error: Option<SolverError>,
}

impl Asker for Asking<'_> {
    fn ask(&mut self, script: &str, effort: Effort) -> Result<Answer, Failure> {
        self.asked += 1;
        let share = match effort {
            Effort::Low => LITTLE,
            Effort::Full => 1,
        };
        self.solver.ask_within(script, share).map_err(|error| {
            let message = error.to_string();
            self.error = Some(error);
            Failure::Open("the solver".to_owned(), message)
        })
    }
}
