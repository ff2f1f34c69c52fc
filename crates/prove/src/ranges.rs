//! Value ranges: the numbers that the registers of a function can hold at each of its places.
//!
//! The analysis computes an interval for each integer register at the start of each block, following
//! all edges until nothing changes. Bounds that keep growing at the head of a loop jump to the next
//! constant of the function, and in the end to those of their type. Afterwards two more rounds narrow
//! intervals where a test allows. Elsewhere bounds do not jump: after the test of `i < n` the next
//! `i` is still in its type.
//!
//! An interval of unsigned numbers is kept, too, if it is more precise ([`unsigned`]). Conditions
//! restrict the values that they compare. If one register is another plus a constant, a restriction
//! of one restricts the other: `n = t + 1` is how `n++ > 0` keeps the tested value.
//!
//! For registers that the function compares with each other, bounds on their differences are kept,
//! too ([`Differences`]): `i <= n` holds throughout `for (i = 0; i < n; i++)` if `n` is not negative.
//! These are bounds on whole numbers. So a register that is assigned another one plus a constant is
//! related to it only if that cannot wrap, by the ranges or by other bounds.
//!
//! Pointers may be known to be null, or not to be null ([`pointers`]).
//!
//! Memory that is read twice without a change in between is followed like a register ([`LoadCells`]).
//!
//! An access restricts the registers of its address: after an access to `items[i].kind`, `i` is a
//! subscript that `items` has ([`accesses`]).
//!
//! The results of a callee are kept by its returns, each with the arguments that can lead to it. As
//! long as neither the result nor the arguments change, one of these cases holds ([`returns`]).
//!
//! Nothing is assumed of the callers, except that each access of a run lies in the object from which
//! its address started ([`accesses`] has the argument). Parameters, globals, loaded values and
//! registers that were never written can be anything; a loaded value stays the same until something
//! may write to memory. A call gives a result of its callee's returns, found in the same way
//! ([`returns`]), or anything. It cannot change the caller's registers, which have no addresses. So
//! each fact at a place holds in every run that passes it, whatever the test and the caller.
//!
//! No run passes a place that no edge leads to by these rules. The states before the last rounds
//! contain all states of runs, and so do the states after one more step. Functions that `setjmp`
//! returns to twice are not followed, nor are calls of functions for which the linker may take
//! another definition.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use lydian_base::SideTable;
use lydian_ir::cfg::Cfg;
use lydian_ir::libc::model_named;
use lydian_ir::nonlocal::sets;
use lydian_ir::source::Point;
use lydian_ir::stmt::{Callee, Edge, Terminator};
use lydian_ir::{
    BlockId, Body, CastOp, CmpOp, Expr, ExprId, FuncId, LocalId, Program, Stmt, StmtId, Storage,
    Type,
};
use rustc_hash::FxHashMap;

mod accesses;
mod cells;
mod differences;
mod facts;
mod interval;
mod numbers;
mod pointers;
mod returns;
mod unsigned;

use accesses::{Access, SymbolicAddress};
pub use accesses::{LARGE_OBJECT, ObjectSizes};
use cells::LoadCells;
use differences::Differences;
pub(crate) use facts::{RegisterFacts, SiteFacts};
pub use interval::Interval;
use interval::{binary, cast, compare, mirrored, negated, restrict, unary};
pub(crate) use numbers::{Number, Signedness};
use returns::{CallResult, Summaries, Summary};

/// The number of times that the state of a loop's head grows before its bounds jump.
const PATIENCE: u32 = 3;
/// The number of times after which they jump to the bounds of their types.
const IMPATIENCE: u32 = 20;
/// The number of times after which the bounds of any block do.
const LAST_RESORT: u32 = 200;
/// The number of rounds that narrow intervals.
const NARROWING: u32 = 2;
/// The depth to which calls are followed.
const DEPTH: u32 = 6;
/// Functions with more statements are not followed.
const MOST_STATEMENTS: usize = 4_000;
/// Functions with deeper or larger expressions are not followed.
const DEEPEST: u32 = 200;
const LARGEST: u32 = 5_000;

/// The facts at a place. A register without an entry can have any value.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    ranges: BTreeMap<LocalId, Interval>,
    /// Intervals of unsigned numbers, if they are more precise.
    unsigned: BTreeMap<LocalId, Interval>,
    /// Registers that are another one plus a constant, in the arithmetic of their type.
    sums: BTreeMap<LocalId, (LocalId, i128)>,
    /// Bounds on differences.
    differences: Differences<Number>,
    /// Registers that hold addresses, and the parts of these.
    addresses: BTreeMap<LocalId, SymbolicAddress>,
    /// Pointers that are null (`true`), and pointers that are not.
    nulls: BTreeMap<LocalId, bool>,
    /// Registers that have the result of a call whose arguments are still in their registers.
    results: BTreeMap<LocalId, Arc<CallResult>>,
}

impl State {
    /// A register is increased by an offset. Its range must be set again.
    fn step(&mut self, local: LocalId, offset: i128) {
        self.ranges.remove(&local);
        self.unsigned.remove(&local);
        self.forget_result(local);
        self.forget_addresses(local);
        for (other, (base, distance)) in &mut self.sums {
            if *other == local {
                *distance += offset;
            } else if *base == local {
                *distance -= offset;
            }
        }
    }

    fn forget(&mut self, local: LocalId) {
        self.ranges.remove(&local);
        self.unsigned.remove(&local);
        self.nulls.remove(&local);
        self.sums.remove(&local);
        self.sums.retain(|_, (base, _)| *base != local);
        Signedness::ALL
            .into_iter()
            .for_each(|signedness| self.differences.forget((local, signedness)));
        self.forget_result(local);
        self.forget_addresses(local);
    }

    /// A register changes: removes the addresses that were made of it.
    fn forget_addresses(&mut self, local: LocalId) {
        self.addresses.retain(|register, address| *register != local && !address.is_made_of(local));
    }

    /// Memory may have changed: removes all facts about cells.
    fn forget_cells(&mut self, loads: &LoadCells) {
        self.ranges.retain(|local, _| !loads.is_cell(*local));
        self.unsigned.retain(|local, _| !loads.is_cell(*local));
        self.nulls.retain(|local, _| !loads.is_cell(*local));
        self.sums.retain(|local, (base, _)| !loads.is_cell(*local) && !loads.is_cell(*base));
        self.differences.forget_all(|(local, _)| loads.is_cell(local));
        self.addresses.retain(|_, address| !address.has_index(|index| loads.is_cell(index)));
    }

    /// A register changes: removes its relations to results of calls.
    fn forget_result(&mut self, local: LocalId) {
        self.results.remove(&local);
        self.results.retain(|_, call| !call.has_argument(local));
    }
}

/// The value ranges of one function.
#[derive(Debug)]
pub struct Ranges<'a> {
    program: &'a Program,
    body: &'a Body,
    sizes: ObjectSizes,
    types: SideTable<ExprId, Type>,
    /// The state at the start of each block that some edge leads to.
    starts: FxHashMap<BlockId, State>,
    /// The summaries of the callees of calls, by statement.
    summaries: FxHashMap<StmtId, Summary>,
    points: FxHashMap<StmtId, (BlockId, usize)>,
    /// Memory that is read in several places.
    loads: LoadCells,
    /// The registers and cells whose differences are followed.
    related: BTreeSet<LocalId>,
    /// Parameters that the function does not assign to, with their positions.
    kept: BTreeMap<LocalId, usize>,
    /// The accesses of statements and terminators that have some.
    accesses: FxHashMap<StmtId, Vec<Access>>,
    tests: FxHashMap<BlockId, Vec<Access>>,
}

impl<'a> Ranges<'a> {
    /// The ranges of a function with a body; none where it is not followed.
    pub fn of(program: &'a Program, func: FuncId) -> Option<Self> {
        Self::with_sizes(program, func, ObjectSizes::Any)
    }

    /// The same under an assumption on the sizes of objects.
    pub fn with_sizes(program: &'a Program, func: FuncId, sizes: ObjectSizes) -> Option<Self> {
        Self::find(program, func, sizes, &Summaries::default(), DEPTH)
    }

    fn find(
        program: &'a Program,
        func: FuncId,
        sizes: ObjectSizes,
        summaries: &Summaries,
        depth: u32,
    ) -> Option<Self> {
        let body = program.functions[func].body.as_ref()?;
        let is_large = body.stmts.len() > MOST_STATEMENTS || has_large_expression(body);
        if is_large || calls_setjmp(program, body) {
            return None;
        }
        let mut calls = FxHashMap::default();
        let mut points = FxHashMap::default();
        for (id, block) in body.blocks.iter() {
            for (at, stmt) in block.stmts.iter().enumerate() {
                points.insert(*stmt, (id, at));
                let Stmt::Call { callee: Callee::Direct(callee), dst, .. } = &body.stmts[*stmt]
                else {
                    continue;
                };
                let ty = dst.and_then(|dst| register(body, dst));
                let summary = summaries.of(program, *callee, depth);
                calls.extend(summary.map(|summary| (*stmt, summary.taken_for(ty))));
            }
        }
        let types = body.types_in(&body.exprs);
        let (starts, loads) = (FxHashMap::default(), LoadCells::of(body));
        let related = numbers::related(body, &loads);
        let kept = kept_parameters(body).into_iter().map(|(at, local)| (local, at)).collect();
        let some = |accesses: &Vec<Access>| !accesses.is_empty();
        let stmts =
            body.stmts.iter().map(|(id, stmt)| (id, accesses::accesses_of(program, body, stmt)));
        let accesses = stmts.filter(|(_, accesses)| some(accesses)).collect();
        let tests = body.blocks.iter().map(|(id, block)| (id, accesses::tested(body, &block.term)));
        let tests = tests.filter(|(_, accesses)| some(accesses)).collect();
        let mut this = Self {
            program,
            body,
            sizes,
            types,
            starts,
            summaries: calls,
            points,
            loads,
            related,
            kept,
            accesses,
            tests,
        };
        this.solve();
        Some(this)
    }

    fn solve(&mut self) {
        let cfg = Cfg::new(self.body);
        let order: Vec<BlockId> = cfg.reverse_postorder().to_vec();
        let heads = loop_heads(&cfg);
        let thresholds = thresholds(self.body);
        let mut grown: FxHashMap<BlockId, u32> = FxHashMap::default();
        self.starts.insert(self.body.entry, State::default());
        loop {
            let mut changed = false;
            for block in &order {
                let Some(new) = self.arriving(*block, &cfg) else { continue };
                let Some(old) = self.starts.get(block) else {
                    self.starts.insert(*block, new);
                    changed = true;
                    continue;
                };
                let mut all = old.clone();
                self.join(&mut all, &new);
                if all == *old {
                    continue;
                }
                let times = grown.entry(*block).or_default();
                *times += 1;
                let is_head = heads.contains(block);
                if *times > if is_head { IMPATIENCE } else { LAST_RESORT } {
                    self.widen(&mut all, old, &BTreeSet::new());
                } else if is_head && *times > PATIENCE {
                    self.widen(&mut all, old, &thresholds);
                }
                // A bound on a difference that the widening leaves out again is none that is new.
                if all == *old {
                    continue;
                }
                self.starts.insert(*block, all);
                changed = true;
            }
            if !changed {
                break;
            }
        }
        for _ in 0..NARROWING {
            for block in &order {
                match self.arriving(*block, &cfg) {
                    Some(new) => _ = self.starts.insert(*block, new),
                    None => _ = self.starts.remove(block),
                }
            }
        }
    }

    /// The state with which control arrives at a block; none if it does not.
    fn arriving(&self, block: BlockId, cfg: &Cfg) -> Option<State> {
        let begin = (block == self.body.entry).then(State::default);
        let edges = cfg.predecessors(block).iter().filter_map(|edge| self.on_edge(*edge));
        begin.into_iter().chain(edges).reduce(|all, next| self.joined(all, &next))
    }

    /// The facts that hold in both of two states.
    fn joined(&self, mut state: State, other: &State) -> State {
        self.join(&mut state, other);
        state
    }

    fn join(&self, state: &mut State, other: &State) {
        let mut differences = std::mem::take(&mut state.differences);
        differences.join(
            &other.differences,
            |x, y| self.apart(state, x, y),
            |x, y| self.apart(other, x, y),
        );
        state.differences = differences;
        state.unsigned = self.joined_unsigned(state, other).into_iter().collect();
        state.ranges.retain(|local, range| match other.ranges.get(local) {
            Some(there) => {
                *range = range.join(*there);
                true
            }
            None => false,
        });
        state.sums.retain(|local, sum| other.sums.get(local) == Some(sum));
        state.results.retain(|local, call| other.results.get(local) == Some(call));
        state.addresses.retain(|local, address| other.addresses.get(local) == Some(address));
        state.nulls.retain(|local, is_null| other.nulls.get(local) == Some(is_null));
    }

    /// Widening: bounds that grew jump to the next threshold; those of differences are dropped.
    fn widen(&self, new: &mut State, old: &State, thresholds: &BTreeSet<i128>) {
        new.differences.widen(&old.differences);
        self.widen_unsigned(new, old);
        for (local, range) in &mut new.ranges {
            let (Some(before), Some(all)) = (old.ranges.get(local), self.all(*local)) else {
                continue;
            };
            if range.low < before.low {
                let below = thresholds.range(..=range.low).next_back();
                range.low = below.copied().unwrap_or(all.low).max(all.low);
            }
            if range.high > before.high {
                let above = thresholds.range(range.high..).next();
                range.high = above.copied().unwrap_or(all.high).min(all.high);
            }
        }
    }

    /// The type of a register or cell; none for what lies in memory.
    fn ty(&self, local: LocalId) -> Option<Type> {
        if self.loads.is_cell(local) { self.loads.ty(local) } else { register(self.body, local) }
    }

    /// The register or cell that an expression reads.
    fn read(&self, expr: ExprId) -> Option<LocalId> {
        match self.body.exprs[expr] {
            Expr::Local(local) => Some(local),
            Expr::Load { .. } => self.loads.cell(expr),
            _ => None,
        }
    }

    /// All values of a register or cell; none if it is not followed.
    fn all(&self, local: LocalId) -> Option<Interval> {
        self.ty(local).and_then(Interval::of)
    }

    fn range(&self, state: &State, local: LocalId) -> Option<Interval> {
        state.ranges.get(&local).copied().or_else(|| self.all(local))
    }

    /// The state just before a statement or terminator; none where no run comes.
    fn before(&self, point: Point) -> Option<State> {
        let (block, count) = match point {
            Point::Stmt(stmt) => *self.points.get(&stmt)?,
            Point::Term(block) => (block, self.body.blocks[block].stmts.len()),
        };
        let mut state = self.starts.get(&block)?.clone();
        for stmt in &self.body.blocks[block].stmts[..count] {
            if let Some(accesses) = self.accesses.get(stmt) {
                state = self.accessed(state, accesses)?;
            }
            self.pass(&mut state, *stmt);
        }
        Some(state)
    }

    /// The state in which a terminator chooses, after its reads; `None` if no run gets there.
    fn choosing(&self, block: BlockId) -> Option<State> {
        let state = self.before(Point::Term(block))?;
        match self.tests.get(&block) {
            Some(accesses) => self.accessed(state, accesses),
            None => Some(state),
        }
    }

    /// The state after an edge; none where no run takes it.
    fn on_edge(&self, edge: Edge) -> Option<State> {
        let state = self.choosing(edge.from)?;
        match &self.body.blocks[edge.from].term {
            Terminator::Branch { cond, .. } => self.assume(state, *cond, edge.way == 0),
            Terminator::Switch { value, cases, .. } => {
                let Some(case) = cases.get(edge.way as usize) else { return Some(state) };
                let values = Interval { low: case.low, high: case.high };
                let ty = self.types[*value];
                // Cases are numbers of the operand's signed or unsigned type.
                let known = Interval::of(ty).is_some_and(|all| {
                    all.contains(values.low) && all.contains(values.high) && values.low >= 0
                });
                match known && values.low <= values.high {
                    true => self.learn(state, *value, values),
                    false => Some(state),
                }
            }
            _ => Some(state),
        }
    }

    fn pass(&self, state: &mut State, stmt: StmtId) {
        match &self.body.stmts[stmt] {
            Stmt::Assign { dst, value } => {
                self.assign(state, *dst, *value);
                self.loads.over(*dst).iter().for_each(|cell| state.forget(*cell));
                return;
            }
            Stmt::Mark(_) => return,
            Stmt::Call { dst, args, .. } => self.called(state, stmt, *dst, args),
            Stmt::Alloca { dst, .. } => state.forget(*dst),
            Stmt::Enter(local) | Stmt::Leave(local) | Stmt::Release { pointer: local } => {
                state.forget(*local);
            }
            Stmt::Havoc(havoc) => havoc.registers.iter().for_each(|local| state.forget(*local)),
            _ => {}
        }
        state.forget_cells(&self.loads);
    }

    fn assign(&self, state: &mut State, dst: LocalId, value: ExprId) {
        let range = self.eval(state, value);
        let sum = self.sum(value);
        let copied = sum.filter(|(base, offset)| *offset == 0 && self.ty(*base) == self.ty(dst));
        let unsigned = copied.and_then(|(base, _)| state.unsigned.get(&base).copied());
        let differences = self.assigned(state, dst, value);
        let is_address = register(self.body, dst) == Some(Type::Ptr);
        let address = is_address.then(|| self.address(state, value)).flatten();
        let is_null = is_address.then(|| self.is_null(state, value)).flatten();
        let result = match self.body.exprs[value] {
            Expr::Local(base) if base != dst => state.results.get(&base).cloned(),
            _ => None,
        };
        if let Some((_, offset)) = sum.filter(|(base, _)| *base == dst) {
            state.step(dst, offset);
        } else {
            state.forget(dst);
        }
        let same_type = |base| self.ty(base) == self.ty(dst);
        let sum = sum.filter(|(base, _)| *base != dst && same_type(*base));
        if let Some(unsigned) = unsigned {
            state.unsigned.insert(dst, unsigned);
        }
        if let (Some(range), Some(all)) = (range, self.all(dst))
            && range != all
        {
            state.ranges.insert(dst, range);
        }
        if let Some(sum) = sum.filter(|_| self.all(dst).is_some()) {
            state.sums.insert(dst, sum);
        }
        state.differences = differences;
        state.nulls.extend(is_null.map(|is_null| (dst, is_null)));
        if let Some(address) = address.filter(|address| !address.is_made_of(dst)) {
            state.addresses.insert(dst, address);
        }
        if let Some(call) = result.filter(|call| !call.has_argument(dst)) {
            state.results.insert(dst, call);
        }
    }

    /// The register and the constant of which an expression is the sum, if it is one.
    fn sum(&self, value: ExprId) -> Option<(LocalId, i128)> {
        use lydian_ir::BinOp::{AddS, AddU, SubS, SubU};
        let exprs = &self.body.exprs;
        match &exprs[value] {
            Expr::Local(_) | Expr::Load { .. } => self.read(value).map(|base| (base, 0)),
            Expr::Binary(op @ (AddU | AddS | SubU | SubS), a, b) => {
                let (Expr::Local(base), Expr::Const(ty, bits)) = (&exprs[*a], &exprs[*b]) else {
                    return None;
                };
                let offset = Interval::constant(*ty, *bits)?.low;
                Some((*base, if matches!(op, SubU | SubS) { -offset } else { offset }))
            }
            _ => None,
        }
    }

    /// The values that an expression can have; none for types that are not followed.
    fn eval(&self, state: &State, expr: ExprId) -> Option<Interval> {
        let ty = self.types[expr];
        let all = Interval::of(ty)?;
        let found = match &self.body.exprs[expr] {
            Expr::Const(ty, bits) => Interval::constant(*ty, *bits),
            Expr::Local(_) | Expr::Load { .. } => {
                self.read(expr).and_then(|local| self.range(state, local))
            }
            Expr::Unary(op, a) => self.eval(state, *a).and_then(|a| unary(*op, ty, a)),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.eval(state, *a)?, self.eval(state, *b)?);
                binary(*op, ty, a, b)
            }
            Expr::Cmp(op, a, b) => {
                let sides = self.eval(state, *a).zip(self.eval(state, *b));
                let known = sides.and_then(|(a, b)| compare(*op, a, b));
                let known = known.or_else(|| self.compare_pointers(state, *op, *a, *b));
                known.map(|truth| Interval { low: truth.into(), high: truth.into() })
            }
            Expr::Cast(CastOp::ZExt, _, a) if self.types[*a] != Type::BOOL => {
                self.eval_unsigned(state, *a)
            }
            Expr::Cast(op, _, a) => cast(*op, self.types[*a], ty, self.eval(state, *a)),
            _ => None,
        };
        Some(found.and_then(|found| found.meet(all)).unwrap_or(all))
    }

    /// The state where an expression of type `i1` is true, or false; none if it never is.
    fn assume(&self, state: State, cond: ExprId, truth: bool) -> Option<State> {
        if let Some(value) = self.eval(&state, cond)
            && !value.contains(truth.into())
        {
            return None;
        }
        match self.body.exprs[cond] {
            Expr::Cmp(op, a, b) => {
                // `(c) != 0` of a truth value is the value itself.
                if let (Expr::Cast(CastOp::ZExt, _, inner), CmpOp::Eq | CmpOp::Ne) =
                    (&self.body.exprs[a], op)
                    && self.types[*inner] == Type::BOOL
                    && self.eval(&state, b) == Some(Interval { low: 0, high: 0 })
                {
                    return self.assume(state, *inner, truth == (op == CmpOp::Ne));
                }
                let Some(op) = (if truth { Some(op) } else { negated(op) }) else {
                    return Some(state);
                };
                let ControlFlow::Continue(state) = self.relate(state, op, a, b) else {
                    return None;
                };
                let state = self.compared_unsigned(state, op, a, b)?;
                let state = self.compared_pointers(state, op, a, b)?;
                let (Some(x), Some(y)) = (self.eval(&state, a), self.eval(&state, b)) else {
                    return Some(state);
                };
                let state = self.learn(state, a, restrict(op, x, y).ok()?)?;
                self.learn(state, b, restrict(mirrored(op), y, x).ok()?)
            }
            Expr::Local(_) => {
                let value = i128::from(truth);
                self.learn(state, cond, Interval { low: value, high: value })
            }
            _ => Some(state),
        }
    }

    /// The state where an expression has one of some values; none if it never has.
    fn learn(&self, state: State, expr: ExprId, values: Interval) -> Option<State> {
        match self.body.exprs[expr] {
            Expr::Local(_) | Expr::Load { .. } => match self.read(expr) {
                Some(local) => self.learn_register(state, local, values),
                None => Some(state),
            },
            Expr::Cast(CastOp::SExt, _, inner) if self.types[inner] != Type::BOOL => {
                self.learn(state, inner, values)
            }
            Expr::Cast(CastOp::ZExt, _, inner) => {
                let from = self.types[inner];
                let Some(all) = Interval::of(from) else { return Some(state) };
                let span = 1i128 << from.bits();
                // The numbers of the upper half are the negative ones.
                let inside = match from {
                    Type::BOOL => values.meet(all),
                    _ if values.high <= all.high => values.meet(all),
                    _ if values.low > all.high => values.plus(-span).meet(all),
                    _ => Some(all),
                };
                let state = self.learn(state, inner, inside?)?;
                match from {
                    Type::BOOL => Some(state),
                    _ => self.learn_unsigned(state, inner, values),
                }
            }
            _ => Some(state),
        }
    }

    fn learn_register(&self, mut state: State, local: LocalId, values: Interval) -> Option<State> {
        let Some(all) = self.all(local) else { return Some(state) };
        let known = self.range(&state, local)?.meet(values)?;
        let known = self.by_both(&state, local, known)?;
        state.ranges.insert(local, known);
        // Where a sum cannot leave the type, the registers of it move together.
        let moved = |range: Interval, offset: i128| {
            let moved = range.plus(offset);
            (all.contains(moved.low) && all.contains(moved.high)).then_some(moved)
        };
        let sums: Vec<(LocalId, i128)> = state
            .sums
            .iter()
            .filter_map(|(other, (base, offset))| (*base == local).then_some((*other, *offset)))
            .chain(state.sums.get(&local).map(|(base, offset)| (*base, -offset)))
            .collect();
        for (other, offset) in sums {
            if let Some(moved) = moved(known, offset) {
                let range = self.range(&state, other)?.meet(moved)?;
                state.ranges.insert(other, range);
            }
        }
        self.learn_by_cases(state, local)
    }
}

/// The parameters in registers to which a function does not assign, with their positions.
pub(crate) fn kept_parameters(body: &Body) -> Vec<(usize, LocalId)> {
    let mut assigned = BTreeSet::new();
    body.stmts.values().for_each(|stmt| changed_by(stmt, &mut assigned));
    let parameters = body.params.iter().copied().enumerate();
    let kept = |(_, local): &(usize, LocalId)| {
        register(body, *local).is_some() && !assigned.contains(local)
    };
    parameters.filter(kept).collect()
}

/// Adds the registers that a statement changes.
pub(crate) fn changed_by(stmt: &Stmt, registers: &mut BTreeSet<LocalId>) {
    match stmt {
        Stmt::Assign { dst: local, .. }
        | Stmt::Alloca { dst: local, .. }
        | Stmt::Call { dst: Some(local), .. }
        | Stmt::Enter(local)
        | Stmt::Leave(local)
        | Stmt::Release { pointer: local } => _ = registers.insert(*local),
        Stmt::Havoc(havoc) => registers.extend(&havoc.registers),
        _ => {}
    }
}

/// The type of a register; none for what lies in memory.
fn register(body: &Body, local: LocalId) -> Option<Type> {
    match body.locals[local].storage {
        Storage::Register(ty) => Some(ty),
        Storage::Memory { .. } => None,
    }
}

/// The blocks to which an edge leads back in the order in which blocks are processed: each cycle
/// contains one of them.
fn loop_heads(cfg: &Cfg) -> BTreeSet<BlockId> {
    let order = cfg.reverse_postorder();
    let position: FxHashMap<BlockId, usize> =
        order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let leads_back = |block: &BlockId| {
        let mut edges = cfg.predecessors(*block).iter();
        edges.any(|edge| position.get(&edge.from) >= position.get(block))
    };
    order.iter().copied().filter(leads_back).collect()
}

/// The constants of a function and their neighbours.
fn thresholds(body: &Body) -> BTreeSet<i128> {
    let constants = body.exprs.values().filter_map(|expr| match expr {
        Expr::Const(ty, bits) => Interval::constant(*ty, *bits).map(|range| range.low),
        _ => None,
    });
    constants.flat_map(|value| [value - 1, value, value + 1]).chain([-1, 0, 1]).collect()
}

/// Whether control may come back to a call of the function's without its having been made again.
fn calls_setjmp(program: &Program, body: &Body) -> bool {
    let is_setjmp = |func: FuncId| {
        let model = model_named(&program.functions[func].name);
        model.is_some_and(|model| sets(model.function))
    };
    body.stmts.values().any(|stmt| match stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => is_setjmp(*callee),
        Stmt::Call { callee: Callee::Indirect(_), .. } => program.functions.ids().any(is_setjmp),
        _ => false,
    })
}

/// Whether an expression is so deep, or so large as a tree, that it is not evaluated.
fn has_large_expression(body: &Body) -> bool {
    let mut sizes: SideTable<ExprId, (u32, u32)> = SideTable::new((1, 1));
    body.exprs.iter().any(|(id, expr)| {
        let (mut depth, mut size) = (1, 1u32);
        expr.for_each_operand(|operand| {
            let (below, nodes) = sizes[operand];
            depth = depth.max(below + 1);
            size = size.saturating_add(nodes);
        });
        sizes.set(id, (depth, size));
        depth > DEEPEST || size > LARGEST
    })
}
