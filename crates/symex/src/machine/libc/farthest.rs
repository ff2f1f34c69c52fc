//! How far texts of the inputs are followed.

use lydian_ir::{Expr, FuncId, Program, Type};

/// So far texts of the inputs are followed at least.
pub(crate) const NEAR: u64 = 64;
/// Numbers of bytes after which a function that looks for an end is asked whether it goes on.
pub(crate) const SIGHTS: [u64; 4] = [16, 64, 256, 1024];
/// No function looks further for an end of its own accord.
pub(crate) const FARTHEST: u64 = SIGHTS[SIGHTS.len() - 1];

/// How far texts of the inputs are followed that have no end in sight: beyond the numbers of the functions
/// that look at them, as far as there is a sight for that.
pub(crate) fn farthest(program: &Program, functions: &[FuncId]) -> u64 {
    let own = functions.iter().map(|id| &program.functions[*id]).filter(|own| !own.library);
    let bodies = own.filter_map(|function| function.body.as_ref());
    let numbers = bodies.flat_map(|body| body.exprs.values()).filter_map(|expr| match *expr {
        Expr::Const(Type::Int(_), bits) => u64::try_from(bits).ok(),
        _ => None,
    });
    let sights = || SIGHTS.into_iter().filter(|sight| *sight >= NEAR);
    let sight = |number: u64| sights().find(|sight| *sight > number.saturating_add(1));
    numbers.filter_map(sight).max().unwrap_or(NEAR)
}
