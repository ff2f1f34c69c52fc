//! Runs of the interpreter, which confirm that inputs lead to a call.

use lydian_ir::interp::{self, BadTest, End, Location, Options, Outcome, Silent, View, run};
use lydian_ir::source::Point;
use lydian_ir::test::Test;
use lydian_ir::{Callee, FuncId, Program, Stmt, StmtId, TrapKind};
use lydian_prove::encode::is_assertion;

/// The most steps of the interpreter that confirm an answer.
const MOST_STEPS: u64 = 200_000_000;
/// The most calls that may be open at once in such a run.
const MOST_CALLS: u32 = 100_000;

/// Whether a test gets to a call.
///
/// # Errors
/// The reason why it does not count.
pub(crate) fn confirm(
    program: &Program,
    test: &Test,
    call: (FuncId, StmtId),
) -> Result<(), String> {
    let options = Options { max_steps: MOST_STEPS, max_depth: MOST_CALLS, ..Options::default() };
    let location = location(call);
    // A run that nobody watches is many times faster. Mostly it ends inside of the call.
    let outcome = run(program, test, &options, &mut Silent).map_err(|error| no_test(&error))?;
    if outcome.open_calls.contains(&location) && counts(program, call, &outcome) {
        return Ok(());
    }
    let options = Options { max_steps: outcome.steps.saturating_add(1), ..options };
    let mut watch = CallWatch::new(std::slice::from_ref(&location));
    match run(program, test, &options, &mut watch) {
        Ok(outcome) if watch.last.is_some() && counts(program, call, &outcome) => Ok(()),
        Ok(_) => {
            Err("a run that was found is none of the program's: the interpreter does not get there"
                .to_owned())
        }
        Err(error) => Err(no_test(&error)),
    }
}

fn no_test(error: &BadTest) -> String {
    format!("a run that was found is no test: {error}")
}

/// Whether a run that comes to a call shows the error: a call of an assertion may also pass.
fn counts(program: &Program, call: (FuncId, StmtId), outcome: &Outcome) -> bool {
    match is_assertion_call(program, call) {
        true => {
            outcome.end == End::Trapped(TrapKind::Abort) && outcome.location == Some(location(call))
        }
        false => outcome.end != End::Assumption,
    }
}

/// Whether a call is of an assertion without a body, which fails only for some arguments.
pub(super) fn is_assertion_call(program: &Program, (function, call): (FuncId, StmtId)) -> bool {
    let body = program.functions[function].body.as_ref();
    match body.map(|body| &body.stmts[call]) {
        Some(Stmt::Call { callee: Callee::Direct(callee), .. }) => {
            is_assertion(&program.functions[*callee])
        }
        _ => false,
    }
}

/// The place of a call.
pub(super) const fn location((function, call): (FuncId, StmtId)) -> Location {
    Location { function, point: Point::Stmt(call) }
}

/// Notes to which of some calls a run came last.
pub(super) struct CallWatch<'a> {
    calls: &'a [Location],
    pub(super) last: Option<Location>,
}

impl<'a> CallWatch<'a> {
    pub(super) const fn new(calls: &'a [Location]) -> Self {
        Self { calls, last: None }
    }
}

impl interp::Observer for CallWatch<'_> {
    fn hears_statements(&self) -> bool {
        true
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        let at = location((view.function(), stmt));
        if self.calls.contains(&at) {
            self.last = Some(at);
        }
    }
}
