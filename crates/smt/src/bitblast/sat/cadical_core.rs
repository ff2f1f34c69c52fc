//! CaDiCaL as a [`SatCore`].

use super::{SatAnswer, SatCore, SatLit, StopSign, stop_reason};
use crate::solver::{Limits, Reason};
use rustsat::solvers::{
    ControlSignal, GetInternalStats, Solve, SolveIncremental, SolverResult, Terminate,
};
use rustsat::types::{Clause, Lit, TernaryVal};
use rustsat_cadical::CaDiCaL;
use std::time::Instant;

pub(crate) struct CadicalCore {
    solver: CaDiCaL<'static, 'static>,
    stop: StopSign,
    vars: i32,
    /// Set when the library reported an error; every later answer is that.
    broken: Option<String>,
}

fn lit(l: SatLit) -> Lit {
    let index = l.0.unsigned_abs() - 1;
    if l.0 > 0 { Lit::positive(index) } else { Lit::negative(index) }
}

fn back(l: Lit) -> SatLit {
    let n = l.vidx32() as i32 + 1;
    SatLit(if l.is_neg() { -n } else { n })
}

impl CadicalCore {
    pub(crate) fn new() -> CadicalCore {
        let mut solver = CaDiCaL::default();
        let stop = StopSign::default();
        let sign = stop.clone();
        solver.attach_terminator(move || {
            if sign.stop() { ControlSignal::Terminate } else { ControlSignal::Continue }
        });
        CadicalCore { solver, stop, vars: 0, broken: None }
    }
}

impl SatCore for CadicalCore {
    fn new_var(&mut self) -> SatLit {
        self.vars += 1;
        SatLit(self.vars)
    }

    fn add_clause(&mut self, clause: &[SatLit]) {
        let clause: Clause = clause.iter().map(|&l| lit(l)).collect();
        if let Err(e) = self.solver.add_clause_ref(&clause) {
            self.broken = Some(e.to_string());
        }
    }

    fn solve(
        &mut self,
        assumptions: &[SatLit],
        limits: &Limits,
        deadline: Option<Instant>,
    ) -> SatAnswer {
        if let Some(e) = &self.broken {
            return SatAnswer::Unknown(Reason::Backend(e.clone()));
        }
        self.stop.arm(limits, deadline);
        if self.stop.stop() {
            return SatAnswer::Unknown(stop_reason(limits, deadline));
        }
        // The limit holds for the next call only; -1 is none.
        let conflicts = limits.conflicts.map_or(-1, |c| c.min(i32::MAX as u64) as i32);
        let limited = self.solver.set_limit(rustsat_cadical::Limit::Conflicts(conflicts));
        let assumptions: Vec<Lit> = assumptions.iter().map(|&l| lit(l)).collect();
        match limited.and_then(|()| self.solver.solve_assumps(&assumptions)) {
            Ok(SolverResult::Sat) => SatAnswer::Sat,
            Ok(SolverResult::Unsat) => match self.solver.core() {
                Ok(core) => SatAnswer::Unsat(core.into_iter().map(|l| !back(l)).collect()),
                Err(e) => SatAnswer::Unknown(Reason::Backend(e.to_string())),
            },
            Ok(SolverResult::Interrupted) => SatAnswer::Unknown(stop_reason(limits, deadline)),
            Err(e) => {
                self.broken = Some(e.to_string());
                SatAnswer::Unknown(Reason::Backend(e.to_string()))
            }
        }
    }

    fn value(&self, l: SatLit) -> bool {
        matches!(self.solver.lit_val(lit(l)), Ok(TernaryVal::True))
    }

    fn propagations(&self) -> u64 {
        self.solver.propagations() as u64
    }

    fn name(&self) -> &'static str {
        "cadical"
    }
}
