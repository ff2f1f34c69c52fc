//! How far strings of the inputs are followed.

use lydian_ir::{Expr, FuncId, Program, Type};

/// The least distance, in bytes, to which strings of the inputs are followed.
pub(crate) const NEAR: u64 = 64;
/// Distances, in bytes, at which a path of a function that looks for an end is split on whether it
/// goes on.
pub(crate) const SIGHTS: [u64; 4] = [16, 64, 256, 1024];
/// The greatest distance to which a function looks for an end by default.
pub(crate) const FARTHEST: u64 = SIGHTS[SIGHTS.len() - 1];

/// How far, in bytes, strings of the inputs without an end in sight are followed: beyond the
/// constants in the functions that look at them, as far as [`SIGHTS`] go.
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
