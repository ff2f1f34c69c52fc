//! SAT solvers behind one small interface.

mod batsat_core;
#[cfg(feature = "cadical")]
mod cadical_core;

pub(crate) use batsat_core::BatsatCore;
#[cfg(feature = "cadical")]
pub(crate) use cadical_core::CadicalCore;

use crate::solver::{Limits, Reason};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A literal: a variable's number, from 1, negative when complemented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SatLit(pub(crate) i32);

impl std::ops::Not for SatLit {
    type Output = SatLit;
    fn not(self) -> SatLit {
        SatLit(-self.0)
    }
}

/// The answer of a SAT solver.
pub(crate) enum SatAnswer {
    Sat,
    /// With the assumptions that contradict the clauses.
    Unsat(Vec<SatLit>),
    Unknown(Reason),
}

/// An incremental SAT solver.
pub(crate) trait SatCore {
    /// A new variable.
    fn new_var(&mut self) -> SatLit;
    fn add_clause(&mut self, clause: &[SatLit]);
    /// Solves under assumptions; the deadline was computed from the limits.
    fn solve(
        &mut self,
        assumptions: &[SatLit],
        limits: &Limits,
        deadline: Option<Instant>,
    ) -> SatAnswer;
    /// The value of a literal in the model of the last answer, which was `Sat`.
    fn value(&self, l: SatLit) -> bool;
    /// The number of literals propagated since it was made.
    fn propagations(&self) -> u64;
    fn name(&self) -> &'static str;
}

/// The conditions under which a SAT solver's callback stops the search.
#[derive(Clone, Default)]
struct StopSign(Arc<Mutex<StopWhen>>);

#[derive(Default)]
struct StopWhen {
    deadline: Option<Instant>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl StopSign {
    fn arm(&self, limits: &Limits, deadline: Option<Instant>) {
        if let Ok(mut s) = self.0.lock() {
            *s = StopWhen { deadline, interrupt: limits.interrupt.clone() };
        }
    }

    fn stop(&self) -> bool {
        let Ok(s) = self.0.lock() else { return true };
        s.deadline.is_some_and(|d| Instant::now() >= d)
            || s.interrupt.as_ref().is_some_and(|i| i.load(Ordering::Relaxed))
    }
}

/// The reason for which a solver with these limits stopped.
fn stop_reason(limits: &Limits, deadline: Option<Instant>) -> Reason {
    if limits.interrupted() {
        return Reason::Interrupted;
    }
    match (deadline, limits.time, limits.conflicts) {
        (Some(d), Some(t), _) if Instant::now() >= d => Reason::Time(t),
        (_, _, Some(c)) => Reason::Conflicts(c),
        _ => Reason::GaveUp("the SAT solver stopped early".into()),
    }
}

/// The choice of a SAT solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SatBackend {
    /// CaDiCaL, C++, by Armin Biere and others. Absent without the feature `cadical`.
    #[cfg(feature = "cadical")]
    Cadical,
    /// batsat, a MiniSat in Rust.
    #[default]
    Batsat,
}

impl SatBackend {
    pub(crate) fn new_core(self) -> Box<dyn SatCore> {
        match self {
            #[cfg(feature = "cadical")]
            SatBackend::Cadical => Box::new(CadicalCore::new()),
            SatBackend::Batsat => Box::new(BatsatCore::new()),
        }
    }

    /// The solver that continues queries which are too hard for this one.
    pub(crate) fn successor(self) -> Option<SatBackend> {
        match self {
            #[cfg(feature = "cadical")]
            SatBackend::Batsat => Some(SatBackend::Cadical),
            _ => None,
        }
    }
}
