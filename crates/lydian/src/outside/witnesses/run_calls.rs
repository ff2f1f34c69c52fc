//! The calls that give a run its inputs, as the interpreter makes them.

use lydian_ir::interp::{Observer, Options, View, run};
use lydian_ir::libc::gives_inputs;
use lydian_ir::{Callee, FuncId, Program, Stmt, StmtId};

use crate::project::linked::LinkedProgram;
use crate::proving::{InputValue, run_of};

/// The most statements of such a run.
const MOST_STEPS: u64 = 20_000_000;

/// For each input the call that gave it, where that is known.
pub(super) fn calls(
    linked: &LinkedProgram,
    main: FuncId,
    inputs: &[InputValue],
) -> Vec<Option<(FuncId, StmtId)>> {
    let program = &linked.linked.program;
    let test = run_of(program, main, inputs);
    let mut watch = Calls { program, all: Vec::new() };
    let options = Options { max_steps: MOST_STEPS, ..Options::default() };
    let _ = run(program, &test, &options, &mut watch);
    let mut rest = watch.all.into_iter();
    let of_input = inputs.iter().map(|input| {
        let is_it =
            |(function, _): &(FuncId, _)| program.functions[*function].name == input.function;
        rest.by_ref().find(is_it).map(|(_, call)| call)
    });
    of_input.collect()
}

/// Notes the calls of functions that give inputs, in order.
struct Calls<'p> {
    program: &'p Program,
    all: Vec<(FuncId, (FuncId, StmtId))>,
}

impl Observer for Calls<'_> {
    fn hears_statements(&self) -> bool {
        true
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        let function = view.function();
        let body = self.program.functions[function].body.as_ref();
        if let Some(Stmt::Call { callee: Callee::Direct(callee), .. }) =
            body.map(|body| &body.stmts[stmt])
        {
            let called = &self.program.functions[*callee];
            if called.body.is_none() && (gives_inputs(&called.name) || !called.system) {
                self.all.push((*callee, (function, stmt)));
            }
        }
    }
}
