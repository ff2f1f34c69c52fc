//! Which accesses to memory surely go well, since what they reach was reached before.
//!
//! An address is near a base: a variable, or what an expression says, such as the pointer `p` of
//! `p->next` and `p[2]`. Once a base was read or written near, the same is possible again until a
//! register of the base is set or, if it has loads, until memory is written. So this is a problem of
//! available expressions, over the bases of a function.

use lydian_base::EntityId;
use lydian_ir::cfg::Cfg;
use lydian_ir::{BlockId, Body, Expr, ExprId, LocalId, Stmt, StmtId};
use rustc_hash::FxHashMap;

/// Bytes on each side of an address that lie on pages which exist with it, for all that matters: a
/// struct's members.
const NEAR: i128 = 4096;

/// What an address is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    /// A variable.
    Variable,
    /// What an expression of this shape says; its first one stands for all.
    At(ExprId),
}

/// What can be done near a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

/// What a function accesses, and where that was accessed before.
pub(super) struct Accesses<'a> {
    body: &'a Body,
    /// The bases, each with two facts: that it was read, and that it was written.
    facts: FxHashMap<ExprId, usize>,
    /// The base of each address that is accessed.
    bases: FxHashMap<ExprId, Base>,
    /// The facts that end where a register is set.
    of_register: FxHashMap<LocalId, Facts>,
    /// Those that end where memory is written.
    of_memory: Facts,
    /// What holds at the start of each block that control reaches.
    into: Vec<Option<Facts>>,
}

/// A set of facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(Vec<u64>);

impl Facts {
    fn add(&mut self, fact: usize) {
        if self.0.len() <= fact / 64 {
            self.0.resize(fact / 64 + 1, 0);
        }
        self.0[fact / 64] |= 1 << (fact % 64);
    }

    fn has(&self, fact: usize) -> bool {
        self.0.get(fact / 64).is_some_and(|word| word >> (fact % 64) & 1 == 1)
    }

    fn remove(&mut self, others: &Self) {
        self.0.iter_mut().zip(&others.0).for_each(|(word, other)| *word &= !other);
    }

    /// Keeps what both have. Whether that is less than before.
    fn meet(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (at, word) in self.0.iter_mut().enumerate() {
            *word &= other.0.get(at).copied().unwrap_or(0);
        }
        *self != before
    }
}

impl<'a> Accesses<'a> {
    pub(super) fn new(body: &'a Body, cfg: &Cfg) -> Self {
        let mut this = Self {
            body,
            facts: FxHashMap::default(),
            bases: FxHashMap::default(),
            of_register: FxHashMap::default(),
            of_memory: Facts::default(),
            into: vec![None; body.blocks.len()],
        };
        this.find_bases(cfg);
        this.follow(cfg);
        this
    }

    /// Names the bases of all addresses that are accessed.
    fn find_bases(&mut self, cfg: &Cfg) {
        let body = self.body;
        let mut shapes = Shapes { body, known: FxHashMap::default(), first: FxHashMap::default() };
        for block in cfg.reverse_postorder() {
            for stmt in &body.blocks[*block].stmts {
                each_access(body, &body.stmts[*stmt], &mut |addr, _| self.name(&mut shapes, addr));
            }
            if let Some(operand) = body.blocks[*block].term.operand() {
                reads(body, operand, &mut |addr| self.name(&mut shapes, addr));
            }
        }
    }

    fn name(&mut self, shapes: &mut Shapes<'_>, addr: ExprId) {
        if self.bases.contains_key(&addr) {
            return;
        }
        let base = base(self.body, addr).map_or(Base::Variable, |of| Base::At(shapes.first(of)));
        self.bases.insert(addr, base);
        let Base::At(of) = base else { return };
        let count = self.facts.len();
        if self.facts.contains_key(&of) {
            return;
        }
        self.facts.insert(of, count);
        for_each_part(self.body, of, &mut |part| {
            let ends = match part {
                Expr::Local(local) => self.of_register.entry(*local).or_default(),
                Expr::Load { .. } | Expr::LoadBits { .. } => &mut self.of_memory,
                _ => return,
            };
            ends.add(2 * count);
            ends.add(2 * count + 1);
        });
    }

    /// Follows what holds from the entry on, to the greatest fixed point.
    fn follow(&mut self, cfg: &Cfg) {
        self.into[self.body.entry.index()] = Some(Facts::default());
        let mut changed = true;
        while changed {
            changed = false;
            for block in cfg.reverse_postorder() {
                let Some(mut facts) = self.into[block.index()].clone() else { continue };
                for stmt in &self.body.blocks[*block].stmts {
                    self.pass(*stmt, &mut facts);
                }
                if let Some(operand) = self.body.blocks[*block].term.operand() {
                    reads(self.body, operand, &mut |addr| self.add(&mut facts, addr, Kind::Read));
                }
                for to in cfg.successors(*block) {
                    changed |= match &mut self.into[to.index()] {
                        Some(there) => there.meet(&facts),
                        none => {
                            *none = Some(facts.clone());
                            true
                        }
                    };
                }
            }
        }
    }

    /// What holds before a statement of a block, by its position.
    pub(super) fn before(&self, block: BlockId, position: usize) -> Facts {
        let mut facts = self.into[block.index()].clone().unwrap_or_default();
        for stmt in self.body.blocks[block].stmts.iter().take(position) {
            self.pass(*stmt, &mut facts);
        }
        facts
    }

    /// What holds when a statement was executed.
    pub(super) fn pass(&self, stmt: StmtId, facts: &mut Facts) {
        let stmt = &self.body.stmts[stmt];
        each_access(self.body, stmt, &mut |addr, kind| self.add(facts, addr, kind));
        let mut set = |register: &LocalId| {
            if let Some(ends) = self.of_register.get(register) {
                facts.remove(ends);
            }
        };
        match stmt {
            Stmt::Assign { dst, .. } | Stmt::Alloca { dst, .. } => set(dst),
            Stmt::Release { pointer } => set(pointer),
            Stmt::Call { dst, .. } => dst.iter().for_each(set),
            Stmt::Havoc(havoc) => havoc.registers.iter().for_each(set),
            _ => {}
        }
        let leaves_memory = matches!(
            stmt,
            Stmt::Mark(_)
                | Stmt::Assign { .. }
                | Stmt::Enter(_)
                | Stmt::Leave(_)
                | Stmt::VaArg { .. }
        );
        if !leaves_memory {
            facts.remove(&self.of_memory);
        }
    }

    fn add(&self, facts: &mut Facts, addr: ExprId, kind: Kind) {
        let Some(Base::At(of)) = self.bases.get(&addr) else { return };
        let Some(number) = self.facts.get(of) else { return };
        facts.add(2 * number);
        if kind == Kind::Write {
            facts.add(2 * number + 1);
        }
    }

    /// Whether an access surely goes well where some facts hold.
    pub(super) fn goes_well(&self, facts: &Facts, addr: ExprId, kind: Kind) -> bool {
        match self.bases.get(&addr) {
            Some(Base::Variable) => true,
            Some(Base::At(of)) => {
                let fact =
                    self.facts.get(of).map(|number| 2 * number + usize::from(kind == Kind::Write));
                fact.is_some_and(|fact| facts.has(fact))
            }
            None => false,
        }
    }
}

/// Calls `visit` with the addresses that a statement accesses as scalars.
fn each_access(body: &Body, stmt: &Stmt, visit: &mut impl FnMut(ExprId, Kind)) {
    stmt.for_each_expr(|expr| reads(body, expr, &mut |addr| visit(addr, Kind::Read)));
    if let Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } = stmt {
        visit(*addr, Kind::Write);
    }
}

/// Calls `visit` with the addresses that an expression reads.
fn reads(body: &Body, expr: ExprId, visit: &mut impl FnMut(ExprId)) {
    for_each_part(body, expr, &mut |part| {
        if let Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } = part {
            visit(*addr);
        }
    });
}

/// Calls `visit` with an expression and all that it is made of.
pub(super) fn for_each_part<'b>(body: &'b Body, expr: ExprId, visit: &mut impl FnMut(&'b Expr)) {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        let expr = &body.exprs[expr];
        visit(expr);
        expr.for_each_operand(|operand| work.push(operand));
    }
}

/// Whether an address is in a variable, or near one.
pub(super) fn is_in_variable(body: &Body, addr: ExprId) -> bool {
    base(body, addr).is_none()
}

/// What an address is near: only what is at a small constant distance from a base is near it. None
/// for a variable.
fn base(body: &Body, mut addr: ExprId) -> Option<ExprId> {
    let mut distance: i128 = 0;
    loop {
        match &body.exprs[addr] {
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) => return None,
            Expr::Field { base, .. } => addr = *base,
            Expr::Index { base, index, size, bound } => {
                let Expr::Const(_, index) = body.exprs[*index] else { return Some(addr) };
                let offset = i128::from(index as i64) * i128::from(*size);
                if bound.is_none() {
                    distance += offset;
                }
                if distance.abs() > NEAR {
                    return Some(addr);
                }
                addr = *base;
            }
            _ => return Some(addr),
        }
    }
}

/// Expressions of one shape.
struct Shapes<'a> {
    body: &'a Body,
    known: FxHashMap<ExprId, ExprId>,
    first: FxHashMap<Expr, ExprId>,
}

impl Shapes<'_> {
    /// The first expression that has the shape of this one.
    fn first(&mut self, expr: ExprId) -> ExprId {
        if let Some(known) = self.known.get(&expr) {
            return *known;
        }
        let shape = self.body.exprs[expr].map_operands(|operand| self.first(operand));
        let first = *self.first.entry(shape).or_insert(expr);
        self.known.insert(expr, first);
        first
    }
}
