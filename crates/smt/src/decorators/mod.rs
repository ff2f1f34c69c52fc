//! Decorators: solvers that wrap solvers, each with one concern.

/// Makes the named methods of a decorator's [`Solver`](crate::solver::Solver): each calls that of
/// the field `inner`.
macro_rules! forward_to_inner {
    ($($method:ident),+) => {
        $(forward_to_inner!(@ $method);)+
    };
    (@ offer) => {
        fn offer(
            &mut self,
            pool: &crate::terms::pool::TermPool,
            model: &crate::terms::value::Model,
        ) {
            self.inner.offer(pool, model);
        }
    };
    (@ forget) => {
        fn forget(&mut self) {
            self.inner.forget();
        }
    };
    (@ effort) => {
        fn effort(&self) -> u64 {
            self.inner.effort()
        }
    };
    (@ name) => {
        fn name(&self) -> String {
            self.inner.name()
        }
    };
}

mod branching;
mod caching;
mod chain;
mod cross_check;
mod fallback;
mod independent_slices;
mod linear_refutation;
mod model_repair;
mod model_reuse;
mod narrowing;
mod query_log;

pub use branching::Branching;
pub use caching::Caching;
pub use chain::{ChainConfig, Z3Use, standard_chain};
pub use cross_check::CrossCheck;
pub use fallback::Fallback;
pub use independent_slices::IndependentSlices;
pub use linear_refutation::LinearRefutation;
pub use model_repair::ModelRepair;
pub use model_reuse::ModelReuse;
pub use narrowing::Narrowing;
pub use query_log::{LogTarget, Logging, QueryLog};
