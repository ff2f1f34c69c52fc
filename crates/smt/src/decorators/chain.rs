//! The chain of solvers that the engines use.

use super::{
    Branching, Caching, CrossCheck, Fallback, IndependentSlices, LinearRefutation, LogTarget,
    Logging, ModelRepair, ModelReuse, Narrowing,
};
use crate::bitblast::SatBackend;
use crate::bitblast::{BitBlastSolver, RebuildPolicy};
use crate::solver::Solver;
use crate::z3::{Z3Mode, Z3Solver};
use std::path::PathBuf;

/// The role of Z3. If it is not installed, queries that only Z3 gets are unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Z3Use {
    /// Nothing.
    Off,
    /// Queries that the embedded solver gives up on.
    #[default]
    Fallback,
    /// Every query a second time, to compare.
    CrossCheck,
    /// Every query, instead of the embedded solver.
    Only,
}

/// The conflicts of batsat on a query before CaDiCaL gets it.
const ESCALATION: u64 = 20_000;

/// The configuration of [`standard_chain`].
#[derive(Clone, Debug)]
pub struct ChainConfig {
    /// The SAT solver below the embedded solver.
    pub sat: SatBackend,
    /// The condition for replacing it.
    pub rebuild: RebuildPolicy,
    /// Conflicts after which a query goes from batsat to CaDiCaL, if ever.
    pub escalation: Option<u64>,
    /// The role of Z3.
    pub z3: Z3Use,
    /// The program to run as Z3.
    pub z3_program: PathBuf,
    /// The log of queries as SMT-LIB, as they reach the chain; none for no log.
    pub log: Option<LogTarget>,
    /// A folder for queries on which solvers disagree.
    pub disagreements: PathBuf,
    /// The number of models that are tried before solving; 0 for none.
    pub models: usize,
    /// Whether models that almost fit are repaired before solving.
    pub repair: bool,
    /// Whether queries are refuted by linear arithmetic before solving.
    pub linear: bool,
    /// Whether queries with float arithmetic are bisected before solving.
    pub bisection: bool,
    /// Whether queries are split into independent slices.
    pub slices: bool,
    /// Whether answers are remembered.
    pub caching: bool,
}

impl Default for ChainConfig {
    fn default() -> ChainConfig {
        ChainConfig {
            sat: SatBackend::default(),
            rebuild: RebuildPolicy::default(),
            escalation: Some(ESCALATION),
            z3: Z3Use::default(),
            z3_program: PathBuf::from("z3"),
            log: None,
            disagreements: std::env::temp_dir().join("lydian-disagreements"),
            models: 4,
            repair: true,
            linear: true,
            bisection: false,
            slices: true,
            caching: true,
        }
    }
}

/// Back ends first, then repair, the cache, slices and model reuse, and logging outermost.
pub fn standard_chain(config: &ChainConfig) -> Box<dyn Solver> {
    let embedded = || {
        let solver = BitBlastSolver::with_policy(config.sat, config.rebuild);
        Narrowing::new(solver.escalating_after(config.escalation))
    };
    let z3 = || Z3Solver::new(config.z3_program.clone());
    let mut solver: Box<dyn Solver> = match config.z3 {
        Z3Use::Off => Box::new(embedded()),
        // These queries are hard or have floats, and Z3's tactics do better on them than its
        // incremental core.
        Z3Use::Fallback => {
            let z3 = Z3Solver::with_mode(config.z3_program.clone(), Z3Mode::Alone);
            Box::new(Fallback::new(embedded(), z3))
        }
        Z3Use::CrossCheck => {
            Box::new(CrossCheck::new(embedded(), z3(), config.disagreements.clone()))
        }
        Z3Use::Only => Box::new(z3()),
    };
    if config.bisection {
        solver = Box::new(Branching::new(solver));
    }
    // Below repair, which finds most models for less.
    if config.linear {
        solver = Box::new(LinearRefutation::new(solver));
    }
    // Below the cache and the slices: a query that is known to be unsatisfiable is not tried to
    // be repaired, and a slice has few assumptions that a repair could break.
    if config.repair {
        solver = Box::new(ModelRepair::new(solver));
    }
    if config.caching {
        solver = Box::new(Caching::new(solver));
    }
    if config.slices {
        solver = Box::new(IndependentSlices::new(solver));
    }
    if config.models > 0 {
        solver = Box::new(ModelReuse::new(solver, config.models));
    }
    if let Some(target) = &config.log {
        solver = Box::new(Logging::new(solver, target.clone()));
    }
    solver
}
