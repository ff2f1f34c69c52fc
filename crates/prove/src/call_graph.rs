//! Functions that a program calls, or never calls.
//!
//! Nothing in a function that is never entered is covered. A function is entered by a call of its
//! name in a function that is entered itself, or through a pointer to it. Every function whose
//! address is taken anywhere in the program, even in dead code, counts as entered, and so do the
//! functions that run before or after `main` and all that these call. Nothing can call one of the
//! rest.
//!
//! Unknown code may call anything. If the program may run inline assembly, or a function without a
//! body that is no model of a library's, no function is returned.

use std::collections::BTreeSet;

use lydian_ir::libc::model_of;
use lydian_ir::test::INPUT_PREFIX;
use lydian_ir::{Callee, FuncId, Program, Stmt};

/// The prefixes of the names of functions that give inputs, assume, or stand for the system.
const KNOWN: [&str; 3] = [INPUT_PREFIX, "__VERIFIER_", "__lydian_"];

/// The functions that no run of the program enters which begins with `entry`.
pub fn never_called(program: &Program, entry: FuncId) -> BTreeSet<FuncId> {
    let entered = may_be_entered(program, entry);
    let may_call_anything = |id: &FuncId| match &program.functions[*id].body {
        Some(body) => body.stmts.values().any(|stmt| matches!(stmt, Stmt::Havoc(_))),
        None => !is_known(program, *id),
    };
    if entered.iter().any(may_call_anything) {
        return BTreeSet::new();
    }
    program.functions.ids().filter(|id| !entered.contains(id)).collect()
}

/// The functions that a run beginning with `entry` may enter, if code that is not known calls none: those
/// that are called by name, those whose address is taken, and those that run before or after `main`.
pub fn may_be_entered(program: &Program, entry: FuncId) -> BTreeSet<FuncId> {
    let mut roots: Vec<FuncId> = program.addressed_functions().into_iter().collect();
    roots.push(entry);
    roots.extend(program.startup.iter().map(|startup| startup.function));
    entered_from(program, roots, &BTreeSet::new())
}

/// The functions that calls lead to from `entry`: by their names and, where there is a call through a pointer,
/// as one of those whose address is taken.
pub fn called_from(program: &Program, entry: FuncId) -> BTreeSet<FuncId> {
    entered_from(program, vec![entry], &program.addressed_functions().into_iter().collect())
}

/// The functions that are entered from some, by calls of their names and, where there is a call through a
/// pointer, as one of those that pointers may lead to.
fn entered_from(
    program: &Program,
    roots: Vec<FuncId>,
    by_pointer: &BTreeSet<FuncId>,
) -> BTreeSet<FuncId> {
    let mut entered: BTreeSet<FuncId> = BTreeSet::new();
    let mut waiting = roots;
    while let Some(next) = waiting.pop() {
        if !entered.insert(next) {
            continue;
        }
        let body = program.functions[next].body.iter();
        for stmt in body.flat_map(|body| body.stmts.values()) {
            match stmt {
                Stmt::Call { callee: Callee::Direct(callee), .. } => waiting.push(*callee),
                Stmt::Call { callee: Callee::Indirect(_), .. } => waiting.extend(by_pointer),
                _ => {}
            }
        }
    }
    entered
}

/// Whether a function without a body is known to call nothing that is not handed to it.
fn is_known(program: &Program, func: FuncId) -> bool {
    let function = &program.functions[func];
    KNOWN.iter().any(|prefix| function.name.starts_with(prefix))
        || model_of(&program.types, &function.name, function.ty).is_some()
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId;
    use lydian_ir::text;

    use super::*;

    /// A program whose functions, from `f0` on, have the given statements and results; one without
    /// is defined nowhere.
    fn never_called_of(functions: &[(&str, Option<(&str, &str)>)]) -> Vec<usize> {
        let mut source = String::from(
            "ty0 = int \"int\" 32 signed\nty1 = function ty0 ()\nty2 = pointer ty1\n\
             ty3 = function ty2 ()\n",
        );
        for (index, (name, body)) in functions.iter().enumerate() {
            let ty = if body.is_some_and(|(_, result)| result.contains('&')) { 3 } else { 1 };
            source += &format!("function f{index} \"{name}\" ty{ty} external ()");
            if let Some((statements, result)) = body {
                source += &format!(" {{ params () entry bb0 bb0: {statements} return {result} }}");
            }
            source.push('\n');
        }
        let program = text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        never_called(&program, FuncId::from_index(0)).into_iter().map(EntityId::index).collect()
    }

    #[test]
    fn what_only_uncalled_functions_call_is_never_called() {
        let main = ("main", Some(("s0: call f1 ty1 () ()", "0:i32")));
        let called = ("called", Some(("", "1:i32")));
        let uncalled = ("uncalled", Some(("s0: call f3 ty1 () ()", "1:i32")));
        let deep = ("deep", Some(("", "1:i32")));
        assert_eq!(never_called_of(&[main, called, uncalled, deep]), [2, 3]);
    }

    #[test]
    fn a_function_whose_address_dead_code_takes_may_be_called_with_what_it_calls() {
        let main = ("main", Some(("", "0:i32")));
        let dead = ("dead", Some(("", "&f2")));
        let addressed = ("addressed", Some(("s0: call f3 ty1 () ()", "1:i32")));
        let deep = ("deep", Some(("", "1:i32")));
        assert_eq!(never_called_of(&[main, dead, addressed, deep]), [1]);
    }

    #[test]
    fn nothing_is_said_where_code_that_is_not_known_may_call_anything() {
        let main = ("main", Some(("s0: call f1 ty1 () ()", "0:i32")));
        let uncalled = ("uncalled", Some(("", "1:i32")));
        assert_eq!(never_called_of(&[main, ("elsewhere", None), uncalled]), [0; 0]);
        assert_eq!(never_called_of(&[main, ("__VERIFIER_nondet_int", None), uncalled]), [2]);
    }
}
