//! batsat as a [`SatCore`].

use super::{SatAnswer, SatCore, SatLit, StopSign, stop_reason};
use crate::solver::Limits;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use std::cell::Cell;
use std::time::Instant;

/// Stops the search at a deadline, an interrupt or a number of restarts' worth of conflicts.
#[derive(Default)]
struct Stop {
    sign: StopSign,
    learnt: u64,
    max_learnt: Option<u64>,
    /// The clock is not read on every call, which come once a decision.
    calls: Cell<u32>,
    /// Once true it stays so for the query: batsat asks again to find out why it stopped.
    stopped: Cell<bool>,
}

impl Callbacks for Stop {
    fn on_new_clause(&mut self, _: &[Lit], kind: batsat::ClauseKind) {
        if matches!(kind, batsat::ClauseKind::Learnt) {
            self.learnt += 1;
        }
    }

    fn stop(&self) -> bool {
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        if self.max_learnt.is_some_and(|m| self.learnt >= m) || calls % 64 == 1 && self.sign.stop()
        {
            self.stopped.set(true);
        }
        self.stopped.get()
    }
}

pub(crate) struct BatsatCore {
    solver: Solver<Stop>,
    clause: Vec<Lit>,
}

fn lit(l: SatLit) -> Lit {
    Lit::new(Var::unsafe_from_idx(l.0.unsigned_abs() - 1), l.0 > 0)
}

fn back(l: Lit) -> SatLit {
    let n = l.var().idx() as i32 + 1;
    SatLit(if l.sign() { n } else { -n })
}

impl BatsatCore {
    pub(crate) fn new() -> BatsatCore {
        BatsatCore {
            solver: Solver::new(SolverOpts::default(), Stop::default()),
            clause: Vec::new(),
        }
    }
}

impl SatCore for BatsatCore {
    fn new_var(&mut self) -> SatLit {
        SatLit(self.solver.new_var_default().idx() as i32 + 1)
    }

    fn add_clause(&mut self, clause: &[SatLit]) {
        self.clause.clear();
        self.clause.extend(clause.iter().map(|&l| lit(l)));
        self.solver.add_clause_reuse(&mut self.clause);
    }

    fn solve(
        &mut self,
        assumptions: &[SatLit],
        limits: &Limits,
        deadline: Option<Instant>,
    ) -> SatAnswer {
        let stop = self.solver.cb_mut();
        stop.sign.arm(limits, deadline);
        stop.learnt = 0;
        stop.calls.set(0);
        stop.stopped.set(false);
        stop.max_learnt = limits.conflicts;
        let assumptions: Vec<Lit> = assumptions.iter().map(|&l| lit(l)).collect();
        let r = self.solver.solve_limited(&assumptions);
        if r == lbool::TRUE {
            SatAnswer::Sat
        } else if r == lbool::FALSE {
            // batsat gives the core as the clause it derived: complements of assumptions.
            SatAnswer::Unsat(self.solver.unsat_core().iter().map(|&l| !back(l)).collect())
        } else {
            SatAnswer::Unknown(stop_reason(limits, deadline))
        }
    }

    fn value(&self, l: SatLit) -> bool {
        self.solver.value_lit(lit(l)) == lbool::TRUE
    }

    fn propagations(&self) -> u64 {
        self.solver.num_propagations()
    }

    fn name(&self) -> &'static str {
        "batsat"
    }
}
