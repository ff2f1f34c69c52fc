//! The embedded solver: bit-blasting to an incremental SAT solver.
//!
//! Every term is blasted to gates once, every gate becomes clauses at most once for each SAT
//! solver, and a query is a set of assumption literals. Only gates that a query depends on become
//! clauses.
//!
//! A SAT solver must assign every variable that it knows, including those of gates that the current
//! query does not depend on. So the solver is replaced by an empty one when it knows many more gates
//! than the queries need ([`RebuildPolicy`]). Gates are kept, so a replacement costs only the
//! conversion of gates to clauses, and the learnt clauses.
//!
//! Reads of array variables are free; lemmas that equal indexes give equal elements are added
//! when a model violates them, until none does.

use crate::bitblast::aig::Lit;
use crate::bitblast::arithmetic as arith;
use crate::bitblast::circuits::{Blaster, Read};
use crate::bitblast::sat::{SatAnswer, SatBackend, SatCore, SatLit};
use crate::solver::{Answer, Limits, Reason, Solver, checked};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::term::{BinOp, Node, Term};
use crate::terms::value::{ArrayValue, Model, Value};
use crate::terms::wide::Wide;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The cost of a gate's clauses, in propagated literals.
const EFFORT_OF_A_GATE: u64 = 4;

/// The condition for replacing the SAT solver by an empty one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RebuildPolicy {
    /// Replace when the solver knows more than this many times the gates of the present query.
    pub factor: usize,
    /// Never replace below this many gates.
    pub least: usize,
}

impl RebuildPolicy {
    /// Never replace the SAT solver.
    pub const NEVER: RebuildPolicy = RebuildPolicy { factor: usize::MAX, least: usize::MAX };
}

impl Default for RebuildPolicy {
    fn default() -> RebuildPolicy {
        RebuildPolicy { factor: 2, least: 5_000 }
    }
}

/// Figures about the work of a [`BitBlastSolver`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct BlastStatistics {
    /// Queries that reached the SAT solver.
    pub sat_calls: u64,
    /// SAT solvers made.
    pub rebuilds: u64,
    /// Lemmas about reads of arrays.
    pub array_lemmas: u64,
    /// Gates in the graph.
    pub gates: usize,
}

/// The embedded solver.
pub struct BitBlastSolver {
    backend: SatBackend,
    policy: RebuildPolicy,
    /// Conflicts after which a query goes from batsat to CaDiCaL.
    escalation: Option<u64>,
    /// Whether the SAT solver at hand is one that a query escalated to.
    escalated: bool,
    pool: u64,
    blaster: Blaster,
    sat: Box<dyn SatCore>,
    /// By gate: its variable in the present SAT solver, 0 if it has none.
    vars: Vec<i32>,
    emitted: usize,
    lemmas: FxHashSet<(Term, Term)>,
    evaluator: Evaluator,
    statistics: BlastStatistics,
    work: Vec<usize>,
    /// By gate: the last walk over gates that saw it.
    seen: Vec<u64>,
    walk: u64,
    /// Gates that were given to SAT solvers, and what these propagated.
    effort: u64,
}

impl BitBlastSolver {
    /// A solver over the given SAT solver.
    pub fn new(backend: SatBackend) -> BitBlastSolver {
        BitBlastSolver::with_policy(backend, RebuildPolicy::default())
    }

    /// A solver that replaces its SAT solver according to the policy.
    pub fn with_policy(backend: SatBackend, policy: RebuildPolicy) -> BitBlastSolver {
        BitBlastSolver {
            backend,
            policy,
            escalation: None,
            escalated: false,
            pool: 0,
            blaster: Blaster::new(),
            sat: backend.new_core(),
            vars: Vec::new(),
            emitted: 0,
            lemmas: FxHashSet::default(),
            evaluator: Evaluator::new(),
            statistics: BlastStatistics::default(),
            work: Vec::new(),
            seen: Vec::new(),
            walk: 0,
            effort: 0,
        }
    }

    /// The same, but queries on which batsat has this many conflicts continue in a new CaDiCaL, which
    /// is slower to start and better at hard queries. No effect if CaDiCaL is the first solver.
    #[must_use]
    pub fn escalating_after(mut self, conflicts: Option<u64>) -> BitBlastSolver {
        self.escalation = conflicts.filter(|_| self.backend.successor().is_some());
        self
    }

    /// Figures about the work so far.
    pub fn statistics(&self) -> BlastStatistics {
        BlastStatistics { gates: self.blaster.gates.len(), ..self.statistics }
    }

    /// Forgets everything if the terms are of another pool than before.
    fn attach(&mut self, pool: &TermPool) {
        if self.pool != pool.id() {
            self.pool = pool.id();
            self.forget_gates();
        }
    }

    fn forget_gates(&mut self) {
        self.blaster = Blaster::new();
        (self.vars, self.seen, self.work) = (Vec::new(), Vec::new(), Vec::new());
        self.evaluator = Evaluator::new();
        self.replace_sat();
    }

    fn replace_sat(&mut self) {
        self.replace_sat_by(self.backend);
        self.escalated = false;
    }

    fn replace_sat_by(&mut self, backend: SatBackend) {
        self.sat = backend.new_core();
        self.vars.clear();
        self.emitted = 0;
        self.lemmas.clear();
        self.statistics.rebuilds += 1;
    }

    /// The SAT literal of a gate's literal, making the clauses of its cone that are missing.
    fn emit(&mut self, l: Lit) -> SatLit {
        if self.vars.len() < self.blaster.gates.len() {
            self.vars.resize(self.blaster.gates.len(), 0);
        }
        self.work.clear();
        self.work.push(l.gate());
        let mut ready = Vec::new();
        while let Some(gate) = self.work.pop() {
            if self.vars[gate] != 0 {
                continue;
            }
            self.vars[gate] = self.sat.new_var().0;
            self.emitted += 1;
            self.effort += EFFORT_OF_A_GATE;
            ready.push(gate);
            self.blaster.extend_by_dependencies(gate, &mut self.work);
        }
        let vars = &self.vars;
        let lit = |l: Lit| {
            let v = vars[l.gate()];
            SatLit(if l.complemented() { -v } else { v })
        };
        for gate in ready {
            let sat = &mut self.sat;
            self.blaster.gates.clauses(
                self.blaster.gates.gate(gate),
                SatLit(vars[gate]),
                lit,
                |c| sat.add_clause(c),
            );
            for &c in self.blaster.constraints_of(gate) {
                sat.add_clause(&[lit(c)]);
            }
        }
        lit(l)
    }

    /// Notes a gate as seen in the present walk; whether it was not before.
    fn see(&mut self, gate: usize) -> bool {
        let new = self.seen[gate] != self.walk;
        self.seen[gate] = self.walk;
        new
    }

    /// Begins a walk in which no gate was seen.
    fn begin_walk(&mut self) {
        self.walk += 1;
        self.seen.resize(self.blaster.gates.len(), 0);
        self.work.clear();
    }

    /// The number of gates that the literals depend on.
    fn cone(&mut self, roots: &[Lit]) -> usize {
        self.begin_walk();
        self.work.extend(roots.iter().map(|l| l.gate()));
        let mut count = 0;
        while let Some(gate) = self.work.pop() {
            if self.see(gate) {
                count += 1;
                self.blaster.extend_by_dependencies(gate, &mut self.work);
            }
        }
        count
    }

    fn maybe_rebuild(&mut self, roots: &[Lit]) {
        if self.escalated {
            return self.replace_sat();
        }
        // Walking the cone costs little beside a query of a solver that has so many gates.
        if self.emitted >= self.policy.least
            && self.emitted > self.cone(roots).saturating_mul(self.policy.factor)
        {
            self.replace_sat();
        }
    }

    /// The conjuncts of the assumptions as literals, each with the assumption it is from; `Err`
    /// with an assumption that is false by itself.
    fn literals(
        &mut self,
        pool: &mut TermPool,
        assumptions: &[Term],
        limits: &Limits,
        deadline: Option<Instant>,
    ) -> Result<Vec<(Lit, Term)>, Answer> {
        let mut literals = Vec::new();
        self.blaster.max_gates = limits.gates;
        self.blaster.deadline = deadline;
        for &a in assumptions {
            let mut stack = vec![a];
            while let Some(t) = stack.pop() {
                if let Node::Bin(BinOp::And, x, y) = pool.node(t) {
                    stack.push(y);
                    stack.push(x);
                    continue;
                }
                self.blaster.blast(pool, t).map_err(|reason| match (reason, limits.time) {
                    (Reason::Time(_), Some(time)) => Answer::Unknown(Reason::Time(time)),
                    (reason, _) => Answer::Unknown(reason),
                })?;
                let l = self.blaster.bits_of(pool, t).expect("just blasted")[0];
                match l {
                    Lit::TRUE => {}
                    Lit::FALSE => return Err(Answer::Unsat { core: Some(vec![a]) }),
                    l => literals.push((l, a)),
                }
            }
            if limits.interrupted() {
                return Err(Answer::Unknown(Reason::Interrupted));
            }
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Err(Answer::Unknown(Reason::Time(limits.time.unwrap_or_default())));
            }
        }
        Ok(literals)
    }

    /// Clauses for a query, and its literals.
    fn emit_query(&mut self, pool: &TermPool, roots: &[Lit], reads: &[Read]) -> Vec<SatLit> {
        let literals = roots.iter().map(|&l| self.emit(l)).collect();
        for r in reads {
            for l in self.blaster.bits_of(pool, r.index).expect("indexes are blasted").to_vec() {
                self.emit(l);
            }
        }
        literals
    }

    /// The limits for the SAT solver that a query begins with.
    fn first_limits(&self, limits: &Limits) -> Limits {
        let mut first = limits.clone();
        if let Some(budget) = self.escalation
            && limits.conflicts.is_none_or(|c| c > budget)
        {
            first.conflicts = Some(budget);
        }
        first
    }

    fn bit(&self, l: Lit) -> bool {
        match self.vars.get(l.gate()) {
            _ if l == Lit::TRUE => true,
            _ if l == Lit::FALSE => false,
            Some(&v) if v != 0 => self.sat.value(SatLit(v)) != l.complemented(),
            _ => l.complemented(),
        }
    }

    /// The bits of a blasted term in the SAT solver's model; zero where the query does not
    /// constrain them.
    fn value(&self, pool: &TermPool, t: Term) -> Option<Wide> {
        let bits = self.blaster.bits_of(pool, t)?;
        let mut w = Wide::ZERO;
        for (i, &l) in bits.iter().enumerate() {
            if self.bit(l) {
                w.set_bit(i as u32);
            }
        }
        Some(w)
    }

    /// Reads of array variables among the gates that the literals depend on.
    fn reads_in_cone(&mut self, roots: &[Lit]) -> Vec<Read> {
        if self.blaster.reads.is_empty() {
            return Vec::new();
        }
        // A read whose bits are used also needs its index, which is no operand of a gate.
        let mut found: Vec<usize> = Vec::new();
        let mut roots = roots.to_vec();
        self.begin_walk();
        while !roots.is_empty() {
            self.work.extend(roots.drain(..).map(|l| l.gate()));
            while let Some(gate) = self.work.pop() {
                if !self.see(gate) {
                    continue;
                }
                self.blaster.extend_by_dependencies(gate, &mut self.work);
                if let Some(&r) = self.blaster.read_of_gate.get(&gate) {
                    found.push(r);
                    roots.extend(&self.blaster.read_indexes[r]);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found.iter().map(|&r| self.blaster.reads[r]).collect()
    }

    fn model(&mut self, pool: &mut TermPool, assumptions: &[Term], reads: &[Read]) -> Model {
        let mut values = BTreeMap::new();
        for &a in assumptions {
            for &v in pool.vars_of(a).iter() {
                if let Some(bits) = self.value(pool, v) {
                    values.entry(v).or_insert_with(|| Value::from_wide(pool.sort(v), bits));
                }
            }
        }
        let mut arrays: BTreeMap<Term, ArrayValue> = BTreeMap::new();
        for r in reads {
            let (Some(i), Some(v)) = (self.value(pool, r.index), self.value(pool, r.term)) else {
                continue;
            };
            arrays.entry(r.array).or_default().elements.insert(i.low_u64(), v.low_u64());
        }
        values.extend(arrays.into_iter().map(|(t, a)| (t, Value::Array(Arc::new(a)))));
        Model::from_values(values.into_iter().collect())
    }

    /// Adds a lemma for every pair of reads that the model gives one index and two elements.
    /// Whether there was any.
    fn add_array_lemmas(&mut self, pool: &TermPool, reads: &[Read]) -> bool {
        let mut first_at: FxHashMap<(Term, u64), (Read, u64)> = FxHashMap::default();
        let mut violated = Vec::new();
        for &r in reads {
            let (Some(i), Some(v)) = (self.value(pool, r.index), self.value(pool, r.term)) else {
                continue;
            };
            let (i, v) = (i.low_u64(), v.low_u64());
            match first_at.get(&(r.array, i)) {
                Some(&(other, u)) if u != v => violated.push((other, r)),
                Some(_) => {}
                None => {
                    first_at.insert((r.array, i), (r, v));
                }
            }
        }
        let mut added = false;
        for &(a, b) in &violated {
            if !self.lemmas.insert((a.term, b.term)) {
                continue;
            }
            added = true;
            let bits = |t| self.blaster.bits_of(pool, t).expect("reads are blasted").to_vec();
            let (ia, ib, va, vb) = (bits(a.index), bits(b.index), bits(a.term), bits(b.term));
            let same = arith::eq(&mut self.blaster.gates, &ia, &ib);
            let same = self.emit(same);
            for (x, y) in va.into_iter().zip(vb) {
                let (x, y) = (self.emit(x), self.emit(y));
                self.sat.add_clause(&[!same, !x, y]);
                self.sat.add_clause(&[!same, x, !y]);
            }
            self.statistics.array_lemmas += 1;
        }
        added
    }
}

impl Solver for BitBlastSolver {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        if limits.conflicts == Some(0) {
            return Answer::Unknown(Reason::Conflicts(0));
        }
        let deadline = limits.deadline();
        self.attach(pool);
        let literals = match self.literals(pool, assumptions, limits, deadline) {
            Ok(l) => l,
            Err(answer) => return answer,
        };
        let roots: Vec<Lit> = literals.iter().map(|(l, _)| *l).collect();
        self.maybe_rebuild(&roots);
        let reads = self.reads_in_cone(&roots);
        let mut sat_literals = self.emit_query(pool, &roots, &reads);
        let mut allowed = self.first_limits(limits);
        loop {
            self.statistics.sat_calls += 1;
            let before = self.sat.propagations();
            let answer = self.sat.solve(&sat_literals, &allowed, deadline);
            self.effort += self.sat.propagations().saturating_sub(before);
            match answer {
                SatAnswer::Unknown(Reason::Conflicts(spent))
                    if !self.escalated && Some(spent) == self.escalation =>
                {
                    self.replace_sat_by(self.backend.successor().unwrap_or(self.backend));
                    self.escalated = true;
                    sat_literals = self.emit_query(pool, &roots, &reads);
                    allowed = limits.clone();
                    allowed.conflicts = limits.conflicts.map(|c| c - spent);
                }
                SatAnswer::Unknown(Reason::Conflicts(_)) => {
                    return Answer::Unknown(Reason::Conflicts(limits.conflicts.unwrap_or(0)));
                }
                SatAnswer::Unknown(r) => return Answer::Unknown(r),
                SatAnswer::Unsat(core) => {
                    let core: FxHashSet<SatLit> = core.into_iter().collect();
                    let mut terms: Vec<Term> = sat_literals
                        .iter()
                        .zip(&literals)
                        .filter(|(l, _)| core.contains(l))
                        .map(|(_, (_, t))| *t)
                        .collect();
                    terms.dedup();
                    return Answer::Unsat { core: Some(terms) };
                }
                SatAnswer::Sat if !self.add_array_lemmas(pool, &reads) => break,
                SatAnswer::Sat => {}
            }
        }
        let model = self.model(pool, assumptions, &reads);
        let name = self.name();
        checked(&mut self.evaluator, pool, assumptions, model, &name)
    }

    fn forget(&mut self) {
        self.forget_gates();
    }

    fn effort(&self) -> u64 {
        self.effort
    }

    fn name(&self) -> String {
        format!("bit-blasting over {}", self.sat.name())
    }
}
