//! Local proofs: a label whose predicate is true on no event of its site is infeasible.
//!
//! The predicate is evaluated over terms with everything that it reads as fresh symbols: each
//! register, each address, and each load of one type from one address on one state. A solver that
//! finds no values under which it is surely true has proved that no run covers the label.
//!
//! # Why an answer of "unsat" is sound
//! Every event of the program's is an instance of the symbols, and where the symbolic predicate
//! says less than is true of real events, it errs towards "true":
//! - Loads always succeed and are independent of one another but for equal addresses, where they give
//!   the same: at `t[i]` and `t[abs(i)]` too, where `i` is known not to be negative. A real load may
//!   trap, which makes its expression unknown. In Kleene's logic, taking something unknown for known
//!   never turns a predicate that is true into one that is not.
//! - Other traps make an expression unknown, as the label's definition says.
//! - Conditions are evaluated one after the other. Where a condition of a decision has effects, no
//!   two of its conditions need see one state: each then reads symbols of its own. Where none has,
//!   all see the same state.
//! - An event fires only where no condition that was reached trapped, and reached are exactly those
//!   that short-circuit evaluation reaches for their values. Both are assumed.
//!
//! - Where ranges are known ([`Ranges`]), registers have values of theirs on the state of the site,
//!   and differences as they are bounded there. In a decision without effects that is the one state on
//!   which all conditions are evaluated; else each condition that is reached is evaluated on the state
//!   at its branch, and what is known there is assumed where it is reached.
//! - What is known of memory that is read in several places ([`Ranges`], cells) is known of the label's
//!   load from there, too. Something is known of it only where it was read and nothing changed it since,
//!   so that the label's load does not trap.
//! - A register that no statement between the branches of a decision changes is the same on all of its
//!   states, effects or not. What is known of it where a condition is reached holds of it throughout.
//!
//! An answer of "sat" shows nothing, since the state may be out of reach.
//!
//! # Assumptions
//! On request ([`LocalProver::assuming_starts`]) it is taken for granted, and must be told the user, that
//! a parameter which the function keeps points to the first element of an object. A mutant's read through
//! it at a negative distance then lies outside of that object, which makes the mutant's value unknown: an
//! address below an object's start is never in it, since no object has half of all addresses. What the
//! program reads itself at the same place is left alone: that it reads before the object says that such
//! inputs are meant.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;

use lydian_eval::sort_of;
use lydian_eval::{Evaluation, EventReader, Kleene, StateReader, Traps, eval_pred};
use lydian_ir::arith::Overflow;
use lydian_ir::stmt::Terminator;
use lydian_ir::{
    BlockId, Body, BoolTree, CTypes, ConditionId, Decision, DecisionId, ExprId, FuncId, GlobalId,
    LocalId, Program, Purity, Storage, TrapKind, Type,
};
use lydian_objective::{Evidence, FunctionObjectives, Label, Site};
use lydian_smt::{Answer, BinOp, Limits, Node, Reason, Solver, Sort, Subject, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ranges::{
    Interval, ObjectSizes, Ranges, RegisterFacts, Signedness, SiteFacts, changed_by,
    kept_parameters,
};
use crate::samples::Samples;

/// The most loads of a label from one state for which equal addresses are related.
const MOST_LOADS: usize = 8;

/// The meaning of predicates, as far as the user can choose it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    /// The effect of signed overflow.
    pub overflow: Overflow,
    /// Whether conditions that evaluation does not reach are unknown even if they are pure.
    pub short_circuit: bool,
}

/// The result of an attempt to prove a label infeasible.
#[derive(Clone, Debug)]
pub enum LocalOutcome {
    /// No event of its site makes the predicate true.
    Infeasible,
    /// Some assignment to the symbols makes it true. Whether a run leads there is open.
    Open,
    /// The solver had no answer.
    Unknown(Reason),
}

impl fmt::Display for LocalOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Infeasible => f.write_str("it is"),
            Self::Open => f.write_str("some state satisfies it"),
            Self::Unknown(reason) => write!(f, "{reason}"),
        }
    }
}

impl LocalOutcome {
    /// The evidence for the ledger, if the label is proved infeasible.
    pub fn evidence(&self) -> Option<Evidence> {
        match self {
            Self::Infeasible => Some(Evidence::LocalProof { method: "local-unsat".to_owned() }),
            Self::Open | Self::Unknown(_) => None,
        }
    }
}

/// Proves labels of one function. Its labels share symbols, so that one solver can reuse its caches.
pub struct LocalProver<'a> {
    types: &'a CTypes,
    body: &'a Body,
    objectives: &'a FunctionObjectives,
    semantics: Semantics,
    symbols: Symbols<'a>,
    samples: Samples,
    ranges: Option<Ranges<'a>>,
}

impl<'a> LocalProver<'a> {
    /// For the labels of `objectives`, which were made for `body`.
    pub fn new(
        types: &'a CTypes,
        body: &'a Body,
        objectives: &'a FunctionObjectives,
        semantics: Semantics,
    ) -> Self {
        let (known, reached) = (FxHashMap::default(), FxHashMap::default());
        let loads = BTreeMap::new();
        let symbols = Symbols {
            body,
            known,
            all: Vec::new(),
            read: Vec::new(),
            loads,
            reached,
            unchanged: BTreeSet::new(),
            starts: BTreeMap::new(),
            own: FxHashSet::default(),
            before: BTreeSet::new(),
        };
        let samples = Samples::default();
        Self { types, body, objectives, semantics, symbols, samples, ranges: None }
    }

    /// With the value ranges of the function that the body is of ([`Ranges`]): a state in which a
    /// register has another value at the label's site is none of any run.
    pub fn with_ranges(self, program: &'a Program) -> Self {
        Self { ranges: Ranges::of(program, self.objectives.function), ..self }
    }

    /// The same under the assumption that the objects which parameters point to are small
    /// ([`ObjectSizes::Small`]).
    pub fn assuming_small_objects(self, program: &'a Program) -> Self {
        let ranges = Ranges::with_sizes(program, self.objectives.function, ObjectSizes::Small);
        Self { ranges, ..self }
    }

    /// Under the assumption that parameters, given by their positions, point to the first element of an
    /// object where they are not null. Only what needs it is proved then.
    pub fn assuming_starts(mut self, parameters: &[usize]) -> Self {
        let kept = kept_parameters(self.body).into_iter();
        let starts = kept.filter(|(at, _)| parameters.contains(at));
        self.symbols.starts = starts.map(|(at, local)| (local, at)).collect();
        self
    }

    /// The parameters before whose first element the last label may read, by position.
    pub fn starts_used(&self) -> impl Iterator<Item = usize> + '_ {
        self.symbols.before.iter().copied()
    }

    /// Tries to prove a label infeasible with one query, or none where rewriting decides.
    ///
    /// `pool` must be the same for all labels of this prover.
    pub fn prove(
        &mut self,
        pool: &mut TermPool,
        solver: &mut dyn Solver,
        limits: &Limits,
        label: &Label,
    ) -> LocalOutcome {
        let assumptions = match self.query(pool, label) {
            Ok(assumptions) => assumptions,
            Err(outcome) => return outcome,
        };
        if self.samples.satisfy(pool, &self.symbols.all, &assumptions) {
            return LocalOutcome::Open;
        }
        solver.set_subject(&|| Subject::Named(format!("{} at {}", label.text, label.place)));
        match solver.check(pool, &assumptions, limits) {
            Answer::Unsat { .. } => LocalOutcome::Infeasible,
            Answer::Sat(_) => LocalOutcome::Open,
            Answer::Unknown(reason) => LocalOutcome::Unknown(reason),
        }
    }

    /// Whether some assignment to the symbols is known that makes a label's predicate true. No solver
    /// is asked.
    pub fn is_open(&mut self, pool: &mut TermPool, label: &Label) -> bool {
        match self.query(pool, label) {
            Ok(assumptions) => self.samples.satisfy(pool, &self.symbols.all, &assumptions),
            Err(outcome) => matches!(outcome, LocalOutcome::Open),
        }
    }

    /// Terms that hold together where a label is covered; the outcome, if that is known without a query.
    fn query(&mut self, pool: &mut TermPool, label: &Label) -> Result<Vec<Term>, LocalOutcome> {
        let mut assumptions = self.where_true(pool, label);
        if !self.symbols.starts.is_empty() && self.symbols.before.is_empty() {
            // The proof would be one without this assumption.
            return Err(LocalOutcome::Open);
        }
        assumptions.retain(|term| pool.as_bool(*term) != Some(true));
        if assumptions.iter().any(|term| pool.as_bool(*term) == Some(false)) {
            return Err(LocalOutcome::Infeasible);
        }
        if assumptions.is_empty() {
            return Err(LocalOutcome::Open);
        }
        Ok(assumptions)
    }

    /// Terms that hold together on every event that covers the label.
    fn where_true(&mut self, pool: &mut TermPool, label: &Label) -> Vec<Term> {
        self.symbols.read.clear();
        self.symbols.reached.clear();
        self.symbols.loads.clear();
        self.symbols.own.clear();
        self.symbols.before.clear();
        self.symbols.unchanged = match label.site {
            // Ranges are not known where control may come back to the midst of a decision.
            Site::Decision(decision) if self.ranges.is_some() => unchanged_in(self.body, decision),
            _ => BTreeSet::new(),
        };
        let mut terms = self.where_true_anywhere(pool, label);
        terms.extend(self.symbols.same_where_same(pool));
        if self.ranges.is_some() {
            terms.extend(self.where_passed(pool, label));
        }
        terms
    }

    /// Terms that the value ranges give for the states that a label reads.
    fn where_passed(&mut self, pool: &mut TermPool, label: &Label) -> Vec<Term> {
        let mut terms = Vec::new();
        let mut read: BTreeMap<StateName, BTreeMap<LocalId, Term>> = BTreeMap::new();
        for RegisterRead { state, local, term } in &self.symbols.read {
            read.entry(*state).or_default().insert(*local, *term);
        }
        // What is known where a condition is reached is known of all registers that stay the same.
        let unchanged = |read: &&RegisterRead| self.symbols.unchanged.contains(&read.local);
        for (decision, condition) in self.symbols.reached.keys() {
            let registers = read.entry(StateName::Condition(*decision, *condition)).or_default();
            let same = self.symbols.read.iter().filter(unchanged);
            registers.extend(same.map(|read| (read.local, read.term)));
        }
        // That no run passes a site is known whatever is read there.
        read.entry(StateName::Site).or_default();
        for (state, registers) in read {
            let Some(ranges) = &self.ranges else { break };
            let (known, here) = match state {
                StateName::Site => (ranges.at(label.site), pool.tt()),
                StateName::Condition(decision, condition) => {
                    let Some(reached) = self.symbols.reached.get(&(decision, condition)) else {
                        continue;
                    };
                    (ranges.at_condition(decision, condition), *reached)
                }
                StateName::Outcome(_) => continue,
            };
            let holds = match known {
                SiteFacts::Unreachable => vec![pool.ff()],
                SiteFacts::Reachable(known) => {
                    let mut registers = registers;
                    registers.extend(self.cells_read(pool, state, &known));
                    assumed(pool, &known, &registers)
                }
            };
            terms.extend(holds.into_iter().map(|holds| pool.implies(here, holds)));
        }
        terms
    }

    /// The cells with facts that the label reads on a state, with the values of its loads.
    fn cells_read(
        &mut self,
        pool: &mut TermPool,
        state: StateName,
        known: &RegisterFacts,
    ) -> Vec<(LocalId, Term)> {
        let is_read = |ty: Type| self.symbols.loads.contains_key(&(state, ty));
        let cells: Vec<(LocalId, Type, ExprId)> = match &self.ranges {
            Some(ranges) => ranges.cells_of(known).filter(|(_, ty, _)| is_read(*ty)).collect(),
            None => Vec::new(),
        };
        let mut found = Vec::new();
        for (cell, ty, addr) in cells {
            let evaluation = self.evaluation();
            let mut states = StateEvaluation { evaluation, symbols: &mut self.symbols };
            let (addr, _) = states.eval(pool, state, addr, ReadOrigin::Nobody);
            let loads = self.symbols.loads.get(&(state, ty));
            found.extend(loads.and_then(|loads| Some((cell, *loads.get(&addr)?))));
        }
        found
    }

    fn evaluation(&self) -> Evaluation<'a> {
        Evaluation {
            types: self.types,
            exprs: &self.objectives.exprs,
            overflow: self.semantics.overflow,
            subscripts: true,
        }
    }

    /// Terms that hold together where the predicate is true on some state of the site.
    fn where_true_anywhere(&mut self, pool: &mut TermPool, label: &Label) -> Vec<Term> {
        let evaluation = self.evaluation();
        let mut states = StateEvaluation { evaluation, symbols: &mut self.symbols };
        let mut event = match label.site {
            Site::Decision(id) => {
                DecisionEvent::new(pool, states, id, &self.body.decisions[id], self.semantics)
            }
            // Its value is known at an event that is no decision's: nothing is proved.
            Site::Start | Site::Condition(..) => return Vec::new(),
            Site::Entry
            | Site::Mark(_)
            | Site::Edge(_)
            | Site::Root(_)
            | Site::Stmt(_)
            | Site::Block(_) => {
                if let Site::Root(root) = label.site {
                    let root = &self.body.source.roots[root];
                    states.eval(pool, StateName::Site, root.expr, ReadOrigin::Program);
                }
                let truth = eval_pred(pool, &label.pred, &mut StateEvent(&mut states));
                return vec![truth.surely_true];
            }
        };
        let truth = eval_pred(pool, &label.pred, &mut event);
        let mut terms = event.assumed;
        terms.push(truth.surely_true);
        terms
    }
}

/// The state that an expression is evaluated on. States of different names share nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum StateName {
    /// The state at a site, or of a whole decision without effects.
    Site,
    /// The state on which a condition of a decision with effects is evaluated.
    Condition(DecisionId, ConditionId),
    /// The state at the outcome of a decision with effects.
    Outcome(DecisionId),
}

/// Identifies a symbol by the value that it stands for. Addresses do not depend on the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SymbolName {
    Local(StateName, LocalId),
    LocalAddress(LocalId),
    GlobalAddress(GlobalId),
    FunctionAddress(FuncId),
    Load(StateName, Type, Term),
}

/// A register that a label reads on a state.
#[derive(Clone, Copy)]
struct RegisterRead {
    state: StateName,
    local: LocalId,
    term: Term,
}

/// The symbols of one function, and the reads of the label that is proved.
struct Symbols<'a> {
    body: &'a Body,
    known: FxHashMap<SymbolName, Term>,
    /// The symbols in the order in which they were made.
    all: Vec<(Term, Sort)>,
    /// The registers that a label reads.
    read: Vec<RegisterRead>,
    /// The loads of a label from one state, of one type: addresses and values.
    loads: BTreeMap<(StateName, Type), BTreeMap<Term, Term>>,
    /// The Booleans under which the conditions of the label's decision are reached.
    reached: FxHashMap<(DecisionId, ConditionId), Term>,
    /// Registers that are the same on all states of the label's decision.
    unchanged: BTreeSet<LocalId>,
    /// Registers that point to the first element of an object, as parameters at a position.
    starts: BTreeMap<LocalId, usize>,
    /// The addresses that the program itself reads.
    own: FxHashSet<Term>,
    /// The parameters before whose elements the label may read, by position.
    before: BTreeSet<usize>,
}

/// Who makes a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOrigin {
    /// The program, at the label's site.
    Program,
    /// The label's predicate.
    Label,
    /// Nobody: an address is computed to find a load that was made before.
    Nobody,
}

impl Symbols<'_> {
    fn get(&mut self, pool: &mut TermPool, name: SymbolName, sort: Sort) -> Term {
        *self.known.entry(name).or_insert_with(|| {
            let var = pool.fresh_var("local", sort);
            self.all.push((var, sort));
            var
        })
    }

    /// The register on a state.
    fn local(&mut self, pool: &mut TermPool, state: StateName, local: LocalId, ty: Type) -> Term {
        let name = if self.unchanged.contains(&local) { StateName::Site } else { state };
        self.get(pool, SymbolName::Local(name, local), sort_of(ty))
    }

    /// Where an address lies before the object to whose first element a register points from which it
    /// is computed, if there is one such register.
    fn before_start(
        &mut self,
        pool: &mut TermPool,
        state: StateName,
        addr: Term,
    ) -> Option<(usize, Term)> {
        if self.starts.is_empty() {
            return None;
        }
        let starts: Vec<(LocalId, usize)> = self.starts.iter().map(|(l, at)| (*l, *at)).collect();
        let bases = starts.into_iter();
        let bases: FxHashMap<Term, usize> =
            bases.map(|(local, at)| (self.local(pool, state, local, Type::Ptr), at)).collect();
        let (mut waiting, mut base) = (vec![addr], None);
        let mut offset = pool.bv(64, 0);
        while let Some(term) = waiting.pop() {
            match (pool.node(term), bases.get(&term)) {
                (_, Some(_)) if base.is_some() => return None,
                (_, Some(at)) => base = Some(*at),
                (Node::Bin(BinOp::Add, a, b), None) => waiting.extend([a, b]),
                _ => offset = pool.add(offset, term),
            }
        }
        let zero = pool.bv(64, 0);
        Some((base?, pool.slt(offset, zero)))
    }

    /// That the label's loads from equal addresses give equal values.
    fn same_where_same(&self, pool: &mut TermPool) -> Vec<Term> {
        let mut terms = Vec::new();
        for loads in self.loads.values().filter(|loads| loads.len() <= MOST_LOADS) {
            for (at, (a, of_a)) in loads.iter().enumerate() {
                for (b, of_b) in loads.iter().skip(at + 1) {
                    let (same_place, same) = (pool.eq(*a, *b), pool.eq(*of_a, *of_b));
                    terms.push(pool.implies(same_place, same));
                }
            }
        }
        terms
    }
}

/// Evaluates expressions on named states.
struct StateEvaluation<'s, 'a> {
    evaluation: Evaluation<'a>,
    symbols: &'s mut Symbols<'a>,
}

impl StateEvaluation<'_, '_> {
    /// An expression's value and where it traps.
    fn eval(
        &mut self,
        pool: &mut TermPool,
        state: StateName,
        expr: ExprId,
        origin: ReadOrigin,
    ) -> (Term, Traps) {
        let mut traps = Traps::none();
        let mut reads = StateReads { symbols: self.symbols, state, origin };
        let Ok(value) = self.evaluation.eval(pool, expr, &mut reads, &mut traps);
        (value, traps)
    }

    /// The value of an `i1` expression, unknown where it traps.
    fn truth(&mut self, pool: &mut TermPool, state: StateName, expr: ExprId) -> Kleene {
        let (value, traps) = self.eval(pool, state, expr, ReadOrigin::Label);
        Kleene::guarded(pool, value, &traps)
    }
}

/// Gives an evaluation the symbols of one state.
struct StateReads<'s, 'a> {
    symbols: &'s mut Symbols<'a>,
    state: StateName,
    origin: ReadOrigin,
}

impl StateReader for StateReads<'_, '_> {
    type Stop = Infallible;

    fn local(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Infallible> {
        let ty = self.local_type(local);
        let term = self.symbols.local(pool, self.state, local, ty);
        self.symbols.read.push(RegisterRead { state: self.state, local, term });
        Ok(term)
    }

    fn local_address(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Infallible> {
        Ok(self.symbols.get(pool, SymbolName::LocalAddress(local), sort_of(Type::Ptr)))
    }

    fn global_address(&mut self, pool: &mut TermPool, id: GlobalId) -> Result<Term, Infallible> {
        Ok(self.symbols.get(pool, SymbolName::GlobalAddress(id), sort_of(Type::Ptr)))
    }

    fn function_address(&mut self, pool: &mut TermPool, id: FuncId) -> Result<Term, Infallible> {
        Ok(self.symbols.get(pool, SymbolName::FunctionAddress(id), sort_of(Type::Ptr)))
    }

    fn load(
        &mut self,
        pool: &mut TermPool,
        ty: Type,
        addr: Term,
        volatile: bool,
        traps: &mut Traps,
    ) -> Result<Term, Infallible> {
        match self.origin {
            ReadOrigin::Program => _ = self.symbols.own.insert(addr),
            ReadOrigin::Nobody => {}
            ReadOrigin::Label if self.symbols.own.contains(&addr) => {}
            ReadOrigin::Label => {
                if let Some((at, before)) = self.symbols.before_start(pool, self.state, addr)
                    && pool.as_bool(before) != Some(false)
                {
                    self.symbols.before.insert(at);
                    traps.add(pool, TrapKind::OutOfBounds, before);
                }
            }
        }
        if volatile {
            // Two reads of volatile memory may differ.
            return Ok(pool.fresh_var("volatile", sort_of(ty)));
        }
        let sort = sort_of(ty);
        let value = self.symbols.get(pool, SymbolName::Load(self.state, ty, addr), sort);
        if matches!(sort, Sort::BitVec(_) | Sort::Bool) {
            self.symbols.loads.entry((self.state, ty)).or_default().insert(addr, value);
        }
        Ok(value)
    }

    fn local_type(&self, local: LocalId) -> Type {
        match self.symbols.body.locals[local].storage {
            Storage::Register(ty) => ty,
            Storage::Memory { .. } => Type::Ptr,
        }
    }

    fn unmodelled(
        &mut self,
        pool: &mut TermPool,
        what: &str,
        sort: Sort,
    ) -> Result<Term, Infallible> {
        Ok(pool.fresh_var(what, sort))
    }
}

/// The registers that no statement changes which a run may pass between two branches of one evaluation
/// of a decision.
fn unchanged_in(body: &Body, decision: DecisionId) -> BTreeSet<LocalId> {
    let is_branch = |block: BlockId| match &body.blocks[block].term {
        Terminator::Branch { origin: Some(origin), .. } => origin.decision == decision,
        _ => false,
    };
    let mut waiting: Vec<BlockId> = Vec::new();
    for block in body.blocks.values() {
        let Terminator::Branch { then_to, else_to, origin: Some(origin), .. } = &block.term else {
            continue;
        };
        if origin.decision == decision {
            waiting.extend(origin.then_outcome.is_none().then_some(*then_to));
            waiting.extend(origin.else_outcome.is_none().then_some(*else_to));
        }
    }
    let (mut passed, mut changed) = (BTreeSet::new(), BTreeSet::new());
    while let Some(block) = waiting.pop() {
        if !passed.insert(block) {
            continue;
        }
        let stmts = body.blocks[block].stmts.iter();
        stmts.for_each(|stmt| changed_by(&body.stmts[*stmt], &mut changed));
        if !is_branch(block) {
            body.blocks[block].term.for_each_successor(|target| waiting.push(target));
        }
    }
    body.locals.ids().filter(|local| !changed.contains(local)).collect()
}

/// The facts about the registers that are read on one state, as terms.
fn assumed(
    pool: &mut TermPool,
    known: &RegisterFacts,
    registers: &BTreeMap<LocalId, Term>,
) -> Vec<Term> {
    let mut terms = Vec::new();
    for (local, term) in registers {
        let range = known.ranges.get(local);
        terms.extend(range.map(|range| in_range(pool, *term, *range)));
        let range = known.unsigned.get(local);
        terms.extend(range.and_then(|range| in_unsigned_range(pool, *term, *range)));
        terms.extend(known.nulls.get(local).map(|is_null| {
            let zero = pool.bv(pool.width(*term), 0);
            if *is_null { pool.eq(*term, zero) } else { pool.neq(*term, zero) }
        }));
    }
    for ((x, y), most) in &known.differences {
        if let (Some(a), Some(b)) = (registers.get(&x.0), registers.get(&y.0)) {
            terms.extend(apart(pool, (*a, x.1), (*b, y.1), *most));
        }
    }
    for cases in &known.cases {
        let of_case = |pool: &mut TermPool, case: &[(LocalId, Interval)]| {
            let read =
                case.iter().filter_map(|(local, range)| Some((registers.get(local)?, range)));
            let all: Vec<Term> = read.map(|(term, range)| in_range(pool, *term, *range)).collect();
            pool.and_all(all)
        };
        let all: Vec<Term> = cases.iter().map(|case| of_case(pool, case)).collect();
        terms.push(pool.or_all(all));
    }
    terms
}

/// Whether a register has one of some values.
fn in_range(pool: &mut TermPool, term: Term, range: Interval) -> Term {
    let Sort::BitVec(bits) = pool.sort(term) else {
        let (no, yes) = (pool.not(term), term);
        return match (range.low, range.high) {
            (0, 0) => no,
            (1, 1) => yes,
            _ => pool.tt(),
        };
    };
    let number = |pool: &mut TermPool, value: i128| pool.bv(bits, value as u64);
    let (low, high) = (number(pool, range.low), number(pool, range.high));
    let (above, below) = (pool.sle(low, term), pool.sle(term, high));
    pool.and(above, below)
}

/// Whether a register's unsigned number is one of some; none for what is no number.
fn in_unsigned_range(pool: &mut TermPool, term: Term, range: Interval) -> Option<Term> {
    let Sort::BitVec(bits) = pool.sort(term) else { return None };
    let (low, high) = (pool.bv(bits, range.low as u64), pool.bv(bits, range.high as u64));
    let (above, below) = (pool.ule(low, term), pool.ule(term, high));
    Some(pool.and(above, below))
}

/// Whether the difference of two terms as numbers is at most so much; none where that cannot be said.
fn apart(
    pool: &mut TermPool,
    x: (Term, Signedness),
    y: (Term, Signedness),
    most: i128,
) -> Option<Term> {
    let most = i64::try_from(most).ok()?;
    let width = |pool: &TermPool, term| match pool.sort(term) {
        Sort::BitVec(bits) => Some(bits),
        _ => None,
    };
    // Wide enough for the difference of two numbers of 64 bits, and for the bound.
    let enough = width(pool, x.0)?.max(width(pool, y.0)?).max(64) + 2;
    let extended = |pool: &mut TermPool, (term, signedness): (Term, Signedness)| match signedness {
        Signedness::Signed => pool.sext(term, enough),
        Signedness::Unsigned => pool.zext(term, enough),
    };
    if x.1 == y.1 && width(pool, x.0) == width(pool, y.0) && (-1..=0).contains(&most) {
        return Some(match (x.1, most) {
            (Signedness::Signed, 0) => pool.sle(x.0, y.0),
            (Signedness::Signed, _) => pool.slt(x.0, y.0),
            (Signedness::Unsigned, 0) => pool.ule(x.0, y.0),
            (Signedness::Unsigned, _) => pool.ult(x.0, y.0),
        });
    }
    let (a, b) = (extended(pool, x), extended(pool, y));
    let (difference, most) = (pool.sub(a, b), pool.bv_signed(enough, most));
    Some(pool.sle(difference, most))
}

/// The event of a site that has a state and nothing else.
struct StateEvent<'e, 's, 'a>(&'e mut StateEvaluation<'s, 'a>);

impl EventReader for StateEvent<'_, '_, '_> {
    /// There is no decision here: nothing is known, and no label says otherwise.
    fn condition(&mut self, pool: &mut TermPool, _: ConditionId) -> Kleene {
        anything(pool)
    }

    fn reached(&mut self, pool: &mut TermPool, _: ConditionId) -> Term {
        pool.fresh_var("anything", Sort::Bool)
    }

    fn mutant(&mut self, pool: &mut TermPool, _: ConditionId, _: ExprId) -> Kleene {
        anything(pool)
    }

    fn expr(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene {
        self.0.truth(pool, StateName::Site, expr)
    }
}

/// A truth value of which nothing is assumed.
fn anything(pool: &mut TermPool) -> Kleene {
    let value = pool.fresh_var("anything", Sort::Bool);
    Kleene::known(pool, value)
}

/// The event of one evaluation of a decision.
struct DecisionEvent<'s, 'a> {
    states: StateEvaluation<'s, 'a>,
    id: DecisionId,
    decision: &'a Decision,
    short_circuit: bool,
    /// Whether all conditions see one state.
    one_state: bool,
    /// Where each condition is reached.
    reached: FxHashMap<ConditionId, Term>,
    /// Terms that hold on every event.
    assumed: Vec<Term>,
}

impl<'s, 'a> DecisionEvent<'s, 'a> {
    fn new(
        pool: &mut TermPool,
        states: StateEvaluation<'s, 'a>,
        id: DecisionId,
        decision: &'a Decision,
        semantics: Semantics,
    ) -> Self {
        let pure = decision.conditions.values().all(|c| c.purity != Purity::Effects);
        let mut event = Self {
            states,
            id,
            decision,
            short_circuit: semantics.short_circuit,
            one_state: pure,
            reached: FxHashMap::default(),
            assumed: Vec::new(),
        };
        let always = pool.tt();
        event.reach(pool, &decision.tree, always);
        event
    }

    /// Notes under which values each condition of a part is reached, the part itself being reached
    /// where `here` holds. Returns the part's value where it is reached.
    fn reach(&mut self, pool: &mut TermPool, tree: &BoolTree, here: Term) -> Term {
        match tree {
            BoolTree::Const(value) => pool.bool(*value),
            BoolTree::Cond(condition) => {
                self.reached.insert(*condition, here);
                self.states.symbols.reached.insert((self.id, *condition), here);
                let state = self.state_of(*condition);
                let expr = self.decision.conditions[*condition].expr;
                let (value, traps) = self.states.eval(pool, state, expr, ReadOrigin::Program);
                let evaluated = traps.absent(pool);
                let assumed = pool.implies(here, evaluated);
                self.assumed.push(assumed);
                value
            }
            BoolTree::Not(a) => {
                let a = self.reach(pool, a, here);
                pool.not(a)
            }
            BoolTree::And(a, b) => {
                let a = self.reach(pool, a, here);
                let after = pool.and(here, a);
                let b = self.reach(pool, b, after);
                pool.and(a, b)
            }
            BoolTree::Or(a, b) => {
                let a = self.reach(pool, a, here);
                let not_a = pool.not(a);
                let after = pool.and(here, not_a);
                let b = self.reach(pool, b, after);
                pool.or(a, b)
            }
            BoolTree::BitAnd(a, b)
            | BoolTree::BitOr(a, b)
            | BoolTree::Eq(a, b)
            | BoolTree::Xor(a, b) => {
                let (a, b) = (self.reach(pool, a, here), self.reach(pool, b, here));
                match tree {
                    BoolTree::BitAnd(..) => pool.and(a, b),
                    BoolTree::BitOr(..) => pool.or(a, b),
                    BoolTree::Eq(..) => pool.eq(a, b),
                    _ => {
                        let equal = pool.eq(a, b);
                        pool.not(equal)
                    }
                }
            }
            BoolTree::Ite(test, a, b) => {
                let test = self.reach(pool, test, here);
                let not_test = pool.not(test);
                let (where_a, where_b) = (pool.and(here, test), pool.and(here, not_test));
                let (a, b) = (self.reach(pool, a, where_a), self.reach(pool, b, where_b));
                pool.ite(test, a, b)
            }
        }
    }

    /// The state on which a condition that is reached is evaluated.
    fn state_of(&self, condition: ConditionId) -> StateName {
        if self.one_state { StateName::Site } else { StateName::Condition(self.id, condition) }
    }

    /// The state at the outcome.
    fn outcome_state(&self) -> StateName {
        if self.one_state { StateName::Site } else { StateName::Outcome(self.id) }
    }

    /// An expression in the place of a condition: on the condition's state where that is reached,
    /// else another one on the state at the outcome, if there is one.
    fn in_place_of(
        &mut self,
        pool: &mut TermPool,
        condition: ConditionId,
        (expr, unreached): (ExprId, Option<ExprId>),
    ) -> Kleene {
        let (state, outcome) = (self.state_of(condition), self.outcome_state());
        let reached = self.reached(pool, condition);
        let inside = self.states.truth(pool, state, expr);
        let outside = match unreached.filter(|_| !self.short_circuit) {
            Some(unreached) => self.states.truth(pool, outcome, unreached),
            None => Kleene::unknown(pool),
        };
        let not_reached = pool.not(reached);
        let mut either = |inside: Term, outside: Term| {
            let inside = pool.and(reached, inside);
            let outside = pool.and(not_reached, outside);
            pool.or(inside, outside)
        };
        Kleene {
            surely_true: either(inside.surely_true, outside.surely_true),
            surely_false: either(inside.surely_false, outside.surely_false),
        }
    }
}

impl EventReader for DecisionEvent<'_, '_> {
    fn condition(&mut self, pool: &mut TermPool, condition: ConditionId) -> Kleene {
        let own = &self.decision.conditions[condition];
        self.in_place_of(pool, condition, (own.expr, own.unreached.expr()))
    }

    fn reached(&mut self, pool: &mut TermPool, condition: ConditionId) -> Term {
        let never = pool.ff();
        self.reached.get(&condition).copied().unwrap_or(never)
    }

    fn mutant(&mut self, pool: &mut TermPool, condition: ConditionId, expr: ExprId) -> Kleene {
        let is_one = self.decision.conditions[condition].is_one_expression();
        self.in_place_of(pool, condition, (expr, is_one.then_some(expr)))
    }

    fn expr(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene {
        let state = self.outcome_state();
        self.states.truth(pool, state, expr)
    }
}
