//! Functions that a whole program never calls.
//!
//! Nothing in a function that is never entered is covered. A function is entered by a call of its
//! name in a function that is entered itself, or through a pointer to it: every function whose
//! address is taken anywhere in the program, be it in dead code, is taken for entered, with what
//! it calls. So are those that run before or after `main`. Of the rest nothing can call one.
//!
//! Code that is not known may call anything: where the program may run inline assembly, or a
//! function without a body that is no model of a library's, nothing is said.

use std::collections::BTreeSet;

use lydian_ir::libc::model_of;
use lydian_ir::test::INPUT_PREFIX;
use lydian_ir::{Callee, FuncId, Program, Stmt};

/// How names of functions begin that give inputs, assume, or stand for the system.
const KNOWN: [&str; 3] = [INPUT_PREFIX, "__VERIFIER_", "__lydian_"];

/// The functions that no run of the program enters which begins with `entry`.
pub fn never_called(program: &Program, entry: FuncId) -> BTreeSet<FuncId> {
    let mut entered: BTreeSet<FuncId> = BTreeSet::new();
    let mut waiting: Vec<FuncId> = program.addressed_functions().into_iter().collect();
    waiting.push(entry);
    waiting.extend(program.startup.iter().map(|startup| startup.function));
    while let Some(next) = waiting.pop() {
        if !entered.insert(next) {
            continue;
        }
        let Some(body) = &program.functions[next].body else {
            if is_known(program, next) {
                continue;
            }
            return BTreeSet::new();
        };
        for stmt in body.stmts.values() {
            match stmt {
                Stmt::Havoc(_) => return BTreeSet::new(),
                Stmt::Call { callee: Callee::Direct(callee), .. } => waiting.push(*callee),
                _ => {}
            }
        }
    }
    program.functions.iter().map(|(id, _)| id).filter(|id| !entered.contains(id)).collect()
}

/// Whether it is known what a function without a body does: it calls nothing that is not handed to
/// it.
fn is_known(program: &Program, func: FuncId) -> bool {
    let function = &program.functions[func];
    KNOWN.iter().any(|prefix| function.name.starts_with(prefix))
        || model_of(&program.types, &function.name, function.ty).is_some()
}
