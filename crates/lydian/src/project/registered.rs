//! Functions that run though the program does not call them: at its exit, on signals, in other threads.
//!
//! Explorations of whole programs end with `main` and follow one thread. What such functions do is not
//! explored.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::outside::{CALLING_BESIDE, CALLING_LATER};
use lydian_ir::{Body, Callee, Expr, ExprId, FuncId, Program, Stmt};
use lydian_objective::fingerprint::reachable;
use lydian_objective::{Assumption, AssumptionKind};

/// The functions of a program that the system may call, and all that these call.
#[derive(Default)]
pub(crate) struct Registered {
    /// Each with the function of the system that has it called.
    all: BTreeMap<FuncId, &'static str>,
    /// One of those that run beside other code, with the function of the system.
    beside: Option<(FuncId, &'static str)>,
}

impl Registered {
    /// What a program may register.
    pub(crate) fn of(program: &Program) -> Self {
        let mut registered = Self::default();
        for body in program.functions.values().filter_map(|function| function.body.as_ref()) {
            for stmt in body.stmts.values() {
                let Stmt::Call { callee: Callee::Direct(callee), args, .. } = stmt else {
                    continue;
                };
                let system = &program.functions[*callee];
                let named = |name: &&&str| **name == system.name && system.body.is_none();
                let Some(name) = CALLING_LATER.iter().chain(&CALLING_BESIDE).find(named) else {
                    continue;
                };
                for function in given(program, body, args) {
                    registered.add(program, function, name);
                }
            }
        }
        registered
    }

    fn add(&mut self, program: &Program, function: FuncId, by: &'static str) {
        if CALLING_BESIDE.contains(&by) {
            self.beside.get_or_insert((function, by));
        }
        let (entered, _) = reachable(program, function);
        for entered in entered.into_values() {
            self.all.entry(entered).or_insert(by);
        }
    }

    /// The function of the system that may have a function called.
    pub(crate) fn by(&self, function: FuncId) -> Option<&'static str> {
        self.all.get(&function).copied()
    }

    /// The assumption of an argument about the program's other code, where something runs beside it.
    pub(crate) fn assumption(&self, program: &Program) -> Option<Assumption> {
        let (function, by) = self.beside?;
        let name = &program.functions[function].name;
        let sentence =
            format!("what `{by}` has run, as `{name}`, changes nothing that other code reads");
        Some(Assumption::new(AssumptionKind::Other, by, sentence))
    }
}

/// The functions that a call may be given: those that it names, or else all whose addresses are taken.
/// Constants are none, as `SIG_IGN` is.
fn given(program: &Program, body: &Body, args: &[ExprId]) -> BTreeSet<FuncId> {
    let args: Vec<&Expr> = args.iter().map(|arg| without_casts(body, *arg)).collect();
    let named = args.iter().filter_map(|arg| match arg {
        Expr::AddrFunc(function) => Some(*function),
        _ => None,
    });
    let named: BTreeSet<FuncId> = named.collect();
    match named.is_empty() && !args.iter().all(|arg| matches!(arg, Expr::Const(..))) {
        true => program.addressed_functions(),
        false => named,
    }
}

fn without_casts(body: &Body, expr: ExprId) -> &Expr {
    match &body.exprs[expr] {
        Expr::Cast(_, _, inner) => without_casts(body, *inner),
        other => other,
    }
}
