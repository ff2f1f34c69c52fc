//! The globals that predicates of labels read, besides those of the program's own code.

use std::collections::BTreeSet;

use lydian_ir::{Expr, FuncId, GlobalId, Program};
use lydian_objective::FunctionObjectives;

use crate::machine::program::context::TouchedSymbols;

/// The globals that predicates of labels name, in a function and the functions that it may call.
/// Mutants may name globals that the functions do not.
pub(crate) fn observed_globals(
    program: &Program,
    func: FuncId,
    objectives: &[FunctionObjectives],
) -> BTreeSet<GlobalId> {
    let touched = TouchedSymbols::by(program, &[func], std::iter::empty());
    let of_touched = objectives.iter().filter(|of| touched.functions.contains(&of.function));
    let exprs = of_touched.flat_map(|of| of.exprs.values());
    let global = |expr: &Expr| match expr {
        Expr::AddrGlobal(global) => Some(*global),
        _ => None,
    };
    exprs.filter_map(global).filter(|global| !touched.globals.contains(global)).collect()
}
