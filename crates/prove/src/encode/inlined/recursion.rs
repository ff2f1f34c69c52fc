//! The recursive functions that have one instance for all their calls.
//!
//! A function is recursive if calls by name lead from it back to it. Recursion through pointers does not
//! count: such calls are opaque where they come back.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{CType, Callee, FuncId, Program, Stmt, Type};

use crate::encode::inlined::calls::{handled_model, is_error, is_variadic};

/// The functions that calls by name lead to from some roots and that are recursive, but for the roots
/// and for those that a summary cannot stand for.
pub(crate) fn recursive_functions(program: &Program, roots: &[FuncId]) -> BTreeSet<FuncId> {
    let mut callees: BTreeMap<FuncId, BTreeSet<FuncId>> = BTreeMap::new();
    let mut waiting = roots.to_vec();
    while let Some(function) = waiting.pop() {
        if callees.contains_key(&function) {
            continue;
        }
        let found = called_by_name(program, function);
        waiting.extend(&found);
        callees.insert(function, found);
    }
    let is_wanted = |function: &FuncId| {
        !roots.contains(function) && is_suited(program, *function) && returns(&callees, *function)
    };
    callees.keys().copied().filter(is_wanted).collect()
}

/// The defined functions that a function calls by name.
fn called_by_name(program: &Program, function: FuncId) -> BTreeSet<FuncId> {
    let callee = |stmt: &Stmt| match stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
        _ => None,
    };
    let is_followed = |callee: &FuncId| {
        let function = &program.functions[*callee];
        function.body.is_some() && handled_model(program, function).is_none()
    };
    let body = program.functions[function].body.iter();
    let stmts = body.flat_map(|body| body.stmts.values());
    stmts.filter_map(callee).filter(is_followed).collect()
}

/// Whether calls lead from a function back to it.
fn returns(callees: &BTreeMap<FuncId, BTreeSet<FuncId>>, function: FuncId) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![function];
    while let Some(next) = waiting.pop() {
        let own = callees.get(&next).into_iter().flatten();
        for callee in own {
            if *callee == function {
                return true;
            }
            if seen.insert(*callee) {
                waiting.push(*callee);
            }
        }
    }
    false
}

/// Whether a summary can stand for a function: it gives a number or nothing.
fn is_suited(program: &Program, function: FuncId) -> bool {
    let function = &program.functions[function];
    let gives_number = match program.types.get(function.ty) {
        CType::Function { result, .. } => match program.types.get(*result) {
            CType::Void => true,
            _ => program.types.scalar(*result).is_some_and(|ty| ty != Type::Ptr),
        },
        _ => false,
    };
    gives_number && !is_variadic(program, function) && !is_error(function)
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId;
    use lydian_ir::text;

    use super::*;

    /// The positions of the recursive functions of a program whose functions call the given ones.
    fn recursive(calls: &[&[usize]]) -> Vec<usize> {
        let mut source = String::from("ty0 = int \"int\" 32 signed\nty1 = function ty0 ()\n");
        for (at, callees) in calls.iter().enumerate() {
            source += &format!("function f{at} \"f{at}\" ty1 external () {{ params () entry bb0 ");
            source += "bb0: ";
            for (nth, callee) in callees.iter().enumerate() {
                source += &format!("s{nth}: call f{callee} ty1 () () ");
            }
            source += "return 0:i32 }\n";
        }
        let program = text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let found = recursive_functions(&program, &[FuncId::from_index(0)]);
        found.into_iter().map(EntityId::index).collect()
    }

    #[test]
    fn a_function_is_recursive_if_calls_lead_back_to_it() {
        assert_eq!(recursive(&[&[1], &[1], &[2]]), [1]);
        assert_eq!(recursive(&[&[1, 4], &[2], &[3], &[1, 4], &[5], &[]]), [1, 2, 3]);
    }

    #[test]
    fn where_runs_begin_is_no_summary() {
        assert_eq!(recursive(&[&[0, 1], &[0]]), [1]);
    }
}
