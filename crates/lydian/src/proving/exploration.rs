//! The exploration of a whole program, with its error calls as objectives.
//!
//! It finds runs, and where all paths end it has proved that no run gets to the others. *Unreachable* is
//! said only where nothing was cut off and nothing was assumed: neither about inputs nor about functions
//! that the program does not define.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use lydian_base::{Budget, Place};
use lydian_inputs::{InputSpec, Settings};
use lydian_ir::libc::{LibFn, model_named, model_of};
use lydian_ir::outside::writes_nothing;
use lydian_ir::test::{ExternalResult, Test};
use lydian_ir::{
    CType, Callee, Expr, FuncId, GlobalInit, LocalId, Program, Stmt, StmtId, Storage, Target, Type,
};
use lydian_objective::{Assumption, FunctionObjectives, Label, LabelKey, Pred, Site};
use lydian_prove::call_graph::called_from;
use lydian_prove::encode::is_error;
use lydian_prove::system::GoalId;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{
    Config, Cut, Event, FoundTest, LabelRef, Limits, Pause, Summary, Task, Workers,
};

use super::board::{Board, Finding, Party};
use super::confirmation::confirm;
use super::verdicts::{EXPLORATION, InputValue, MAIN, spelled};
use crate::project::linked::LinkedProgram;

/// The most time of one question.
const QUESTION: Duration = Duration::from_secs(2);
/// The states that may be alive at once.
const MOST_STATES: u64 = 100_000;
/// The calls that may be open at once.
const MOST_CALLS: u32 = 10_000;
/// How often a choice between values forks at one place before it becomes a term: programs that read
/// inputs for ever come back to their states only where these are numbers.
const CHOICE_FORKS: u32 = 1000;
/// The most memory of the process, in bytes.
const MOST_MEMORY: u64 = 4 << 30;

/// The call of an error function that a goal stands for.
pub(super) type ErrorCall = (FuncId, StmtId);

/// A program to be explored for errors.
pub(super) struct ErrorExploration<'a> {
    pub(super) program: &'a LinkedProgram,
    pub(super) main: FuncId,
    /// The goals, each with the call that it stands for.
    pub(super) goals: Vec<(GoalId, ErrorCall)>,
    pub(super) workers: usize,
}

impl ErrorExploration<'_> {
    /// Explores until everything is decided, all paths have ended, or the budget is used up. The board
    /// gets what is found.
    pub(super) fn run(&self, board: &Arc<Board>, budget: &Budget) {
        let _party = Party(board);
        let open = |why: &str| {
            let all = self.goals.iter();
            all.for_each(|(goal, _)| board.note(*goal, Finding::Open(why.to_owned())));
        };
        let (program, reachable) = match explored(&self.program.linked.program, self.main) {
            Ok(explored) => explored,
            Err(why) => return open(&why),
        };
        let objectives = Objectives::new(&program, &self.goals);
        let spec = InputSpec::new(&program, settings(MAIN));
        let waiting = board.clone();
        let config = config(Pause::new(move || waiting.await_exploration()));
        let task = Task {
            program: &program,
            func: self.main,
            spec: &spec,
            objectives: &objectives.functions,
            known: &[],
            config: &config,
            budget,
        };
        let mut sink = |event: Event| {
            if let Event::Test(found) = event {
                self.take_test(&objectives, &found, board);
            }
        };
        let chain = ChainConfig::default();
        let solver = || standard_chain(&chain);
        board.await_exploration();
        match task.run_among(&Workers::new(self.workers, &solver), &mut sink) {
            Ok(summary) => {
                let left_out = self.program.left_out.first().map(String::as_str);
                let beyond = assumption(&program, left_out, &reachable, &summary);
                for left in &summary.left {
                    if let Some(goal) = objectives.goals.get(&left.label) {
                        board.note(
                            *goal,
                            conclusion(&summary, (&left.reasons, &left.bounds), beyond.as_deref()),
                        );
                    }
                }
            }
            Err(error) => open(&error.to_string()),
        }
    }

    /// Notes the errors that a test reaches, as the interpreter confirms.
    fn take_test(&self, objectives: &Objectives, found: &FoundTest, board: &Board) {
        let program = &self.program.linked.program;
        for label in &found.covers {
            let Some(goal) = objectives.goals.get(label) else { continue };
            let call = self.goals.iter().find(|(known, _)| known == goal);
            let Some((_, call)) = call else { continue };
            let finding = match confirm(program, &found.test, *call) {
                Ok(()) => Finding::Reached(inputs(program, &found.test), EXPLORATION),
                Err(why) => Finding::Open(why),
            };
            board.note(*goal, finding);
        }
    }
}

/// An assumption of the exploration that the rules of proofs do not have.
pub(super) fn assumption(
    program: &Program,
    left_out: Option<&str>,
    reachable: &BTreeSet<FuncId>,
    summary: &Summary,
) -> Option<String> {
    if let Some(function) = left_out {
        return Some(format!("`{function}` uses a construct that is not supported"));
    }
    if let Some(assumption) = summary.assumptions.iter().chain(&summary.bounds).next() {
        return Some(assumption.sentence.clone());
    }
    let mut outside = reachable.iter().map(|function| &program.functions[*function]);
    let unknown = outside.find(|function| {
        function.body.is_none()
            && !writes_nothing(&function.name)
            && !is_error(function)
            && model_of(&program.types, &function.name, function.ty).is_none()
    });
    unknown.map(|function| format!("nothing is known of `{}`", function.name))
}

/// The result for an objective that no test covers, by the cuts before it and the bounds on inputs that it
/// meets.
pub(super) fn conclusion(
    summary: &Summary,
    (reasons, bounds): (&[Cut], &[Assumption]),
    beyond: Option<&str>,
) -> Finding {
    if let Some(cut) = reasons.first() {
        return Finding::Open(match cut {
            Cut::Stopped(_) => "out of time".to_owned(),
            other => other.to_string(),
        });
    }
    let assumption = bounds.first().map(|bound| bound.sentence.as_str()).or(beyond);
    match assumption {
        Some(assumption) => Finding::Open(format!("it is not reached if {assumption}")),
        None => Finding::Unreachable(match summary.path_count() {
            1 => "the only path of the program ends elsewhere".to_owned(),
            paths => format!("all {paths} paths of the program end elsewhere"),
        }),
    }
}

/// The labels at error calls.
struct Objectives {
    functions: Vec<FunctionObjectives>,
    goals: BTreeMap<LabelRef, GoalId>,
}

impl Objectives {
    /// With a label at each call by name of an error function.
    fn new(program: &Program, calls: &[(GoalId, ErrorCall)]) -> Self {
        let mut functions: BTreeMap<FuncId, FunctionObjectives> = BTreeMap::new();
        let mut goals = BTreeMap::new();
        for (goal, (func, call)) in calls {
            let Some(body) = &program.functions[*func].body else { continue };
            let is_named = match &body.stmts[*call] {
                Stmt::Call { callee: Callee::Direct(callee), .. } => {
                    is_error(&program.functions[*callee])
                }
                _ => false,
            };
            if !is_named || body.source.is_copied(*call) {
                continue;
            }
            let of_function = functions
                .entry(*func)
                .or_insert_with(|| FunctionObjectives::none(*func, body.exprs.clone()));
            let key = LabelKey(goal.to_string());
            let label = of_function.labels.push(error_label(*call, Pred::Const(true), key));
            goals.insert(LabelRef { func: *func, label }, *goal);
        }
        Self { functions: functions.into_values().collect(), goals }
    }
}

/// The label of an error at a call.
pub(crate) fn error_label(call: StmtId, pred: Pred, key: LabelKey) -> Label {
    Label {
        site: Site::Stmt(call),
        pred,
        text: "an error".into(),
        place: Place { file: "".into(), line: 0, column: 0 },
        key,
    }
}

/// A program as it is explored, and the functions that its runs may enter; or why it is not.
pub(super) fn explored(
    program: &Program,
    main: FuncId,
) -> Result<(Program, BTreeSet<FuncId>), String> {
    let mut program = program.clone();
    drop_bodies(&mut program);
    lydian_inputs::prepare(&mut program);
    let reachable = called_from(&program, main);
    match unsupported(&program, &reachable) {
        Some(why) => Err(why),
        None => Ok((program, reachable)),
    }
}

/// Leaves functions of the library without a body that are errors or have models: runs end at the former,
/// and the latter are followed by their models. An error function of the program may return.
fn drop_bodies(program: &mut Program) {
    let Program { functions, types, .. } = program;
    for (_, function) in functions.iter_mut() {
        let is_modelled = || model_of(types, &function.name, function.ty).is_some();
        if function.library && (is_error(function) || is_modelled()) {
            function.body = None;
        }
    }
}

/// Variables have their initial values where the program begins.
pub(super) fn settings(entry: &str) -> Settings {
    let mut settings = Settings::default();
    settings.function.entry(entry.to_owned()).or_default().globals.get_or_insert_default();
    settings
}

/// Without bounds other than those of time and memory, which would leave out paths.
pub(super) fn config(pause: Pause) -> Config {
    let half = lydian_base::memory::available().map_or(MOST_MEMORY, |bytes| bytes / 2);
    let limits = Limits {
        query_time: Some(QUESTION),
        states: Some(MOST_STATES),
        memory: Some(half.min(MOST_MEMORY)),
        path_steps: u64::MAX,
        recursion: MOST_CALLS,
        call_depth: MOST_CALLS,
        ..Limits::unbounded()
    };
    Config {
        limits,
        crash_tests: false,
        allocation_succeeds: true,
        matches_states: true,
        choice_forks: CHOICE_FORKS,
        pause: Some(pause),
        ..Config::default()
    }
}

/// Why a program is not explored.
fn unsupported(program: &Program, reachable: &BTreeSet<FuncId>) -> Option<String> {
    if !program.startup.is_empty() {
        return Some("code that runs before `main` is not explored".to_owned());
    }
    let stores_pointers = program.types.target == Target::I386
        && reachable.iter().any(|function| keeps_pointers(program, *function));
    stores_pointers.then(|| "pointers in memory of a 32-bit program are not explored".to_owned())
}

/// Whether a function may read or write a pointer in memory.
fn keeps_pointers(program: &Program, function: FuncId) -> bool {
    let Some(body) = &program.functions[function].body else { return false };
    let reads = body.exprs.values().any(|expr| match expr {
        Expr::Load { ty, .. } => *ty == Type::Ptr,
        Expr::AddrGlobal(global) => matches!(
            &program.globals[*global].init,
            GlobalInit::Data { relocations, .. } if !relocations.is_empty()
        ),
        _ => false,
    });
    let writes = body.stmts.values().any(|stmt| match stmt {
        Stmt::Store { ty, .. } => *ty == Type::Ptr,
        Stmt::VaStart { .. } | Stmt::VaArg { .. } => true,
        _ => false,
    });
    let in_memory = |local: &LocalId| {
        let local = &body.locals[*local];
        matches!(local.storage, Storage::Memory { .. })
            && program.types.scalar(local.ty) == Some(Type::Ptr)
    };
    reads || writes || body.params.iter().any(in_memory)
}

/// The values that a test gives to calls of functions, in order.
pub(super) fn inputs(program: &Program, test: &Test) -> Vec<InputValue> {
    let is_allocation = |name: &str| {
        let model = model_named(name);
        model.is_some_and(|model| matches!(model.function, LibFn::Allocation(_)))
    };
    let given = test.externals.iter().filter(|given| !is_allocation(&given.function));
    let value = |given: &ExternalResult| InputValue {
        function: given.function.clone(),
        ty: result_type(program, &given.function),
        bytes: given.result.bytes.clone(),
    };
    given.map(value).collect()
}

/// The C type of a function's result.
fn result_type(program: &Program, function: &str) -> Option<String> {
    let function = &program.functions[program.function_named(function)?];
    match program.types.get(function.ty) {
        CType::Function { result, .. } => Some(spelled(&program.types, *result)),
        _ => None,
    }
}
