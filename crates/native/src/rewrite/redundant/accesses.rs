//! Memory accesses that cannot trap, since the same memory was accessed before.
//!
//! An address is near a base: a variable, or the value of an expression, such as the pointer `p` of
//! `p->next` and `p[2]`. After a read or a write near a base, the same access succeeds again until
//! a register of the base is set or, if the base has loads, until memory is written. So this is the
//! data-flow problem of available expressions, over the bases of a function.

use lydian_base::EntityId;
use lydian_ir::cfg::Cfg;
use lydian_ir::{BinOp, BlockId, Body, CastOp, Expr, ExprId, LocalId, Stmt, StmtId, Type};
use rustc_hash::FxHashMap;

/// How far apart, in bytes, two addresses may be to count as near. The members of a struct are.
const NEAR: i128 = 4096;

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// A variable.
    Variable,
    /// The value of an expression. The first expression of a shape stands for all of its shape.
    At(ExprId),
}

/// The kinds of access near a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
}

/// The memory accesses of a function, and the earlier accesses that make them safe.
pub(crate) struct Accesses<'a> {
    body: &'a Body,
    /// The bases, each with two facts: that it was read, and that it was written.
    facts: FxHashMap<ExprId, usize>,
    /// The base of each address that is accessed.
    bases: FxHashMap<ExprId, Base>,
    /// The facts that end where a register is set.
    of_register: FxHashMap<LocalId, FactSet>,
    /// The facts that end where memory is written.
    of_memory: FactSet,
    /// The facts at the start of each block that control reaches.
    into: Vec<Option<FactSet>>,
}

/// A set of facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FactSet(Vec<u64>);

impl FactSet {
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

    /// Keeps the facts that both have. Returns whether any was removed.
    fn meet(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (at, word) in self.0.iter_mut().enumerate() {
            *word &= other.0.get(at).copied().unwrap_or(0);
        }
        *self != before
    }
}

impl<'a> Accesses<'a> {
    pub(crate) fn new(body: &'a Body, cfg: &Cfg) -> Self {
        let mut this = Self {
            body,
            facts: FxHashMap::default(),
            bases: FxHashMap::default(),
            of_register: FxHashMap::default(),
            of_memory: FactSet::default(),
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

    /// Propagates facts from the entry to the greatest fixed point.
    fn follow(&mut self, cfg: &Cfg) {
        self.into[self.body.entry.index()] = Some(FactSet::default());
        let mut changed = true;
        while changed {
            changed = false;
            for block in cfg.reverse_postorder() {
                let Some(mut facts) = self.into[block.index()].clone() else { continue };
                for stmt in &self.body.blocks[*block].stmts {
                    self.pass(*stmt, &mut facts);
                }
                if let Some(operand) = self.body.blocks[*block].term.operand() {
                    reads(self.body, operand, &mut |addr| {
                        self.add(&mut facts, addr, AccessKind::Read)
                    });
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

    /// The facts before a statement of a block, by its position.
    pub(crate) fn before(&self, block: BlockId, position: usize) -> FactSet {
        let mut facts = self.into[block.index()].clone().unwrap_or_default();
        for stmt in self.body.blocks[block].stmts.iter().take(position) {
            self.pass(*stmt, &mut facts);
        }
        facts
    }

    /// Updates facts by the execution of a statement.
    pub(crate) fn pass(&self, stmt: StmtId, facts: &mut FactSet) {
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

    fn add(&self, facts: &mut FactSet, addr: ExprId, kind: AccessKind) {
        let Some(Base::At(of)) = self.bases.get(&addr) else { return };
        let Some(number) = self.facts.get(of) else { return };
        facts.add(2 * number);
        if kind == AccessKind::Write {
            facts.add(2 * number + 1);
        }
    }

    /// Whether an access surely succeeds under some facts.
    pub(crate) fn goes_well(&self, facts: &FactSet, addr: ExprId, kind: AccessKind) -> bool {
        match self.bases.get(&addr) {
            Some(Base::Variable) => true,
            Some(Base::At(of)) => {
                let fact = self
                    .facts
                    .get(of)
                    .map(|number| 2 * number + usize::from(kind == AccessKind::Write));
                fact.is_some_and(|fact| facts.has(fact))
            }
            None => false,
        }
    }
}

/// Calls `visit` with the addresses that a statement accesses as scalars.
fn each_access(body: &Body, stmt: &Stmt, visit: &mut impl FnMut(ExprId, AccessKind)) {
    stmt.for_each_expr(|expr| reads(body, expr, &mut |addr| visit(addr, AccessKind::Read)));
    if let Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } = stmt {
        visit(*addr, AccessKind::Write);
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
pub(crate) fn for_each_part<'b>(body: &'b Body, expr: ExprId, visit: &mut impl FnMut(&'b Expr)) {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        let expr = &body.exprs[expr];
        visit(expr);
        expr.for_each_operand(|operand| work.push(operand));
    }
}

/// Whether an address is in a variable, or near one.
pub(crate) fn is_in_variable(body: &Body, addr: ExprId) -> bool {
    base(body, addr).is_none()
}

/// The base of an address: the expression from which it has a small constant distance. `None` for a
/// variable.
fn base(body: &Body, mut addr: ExprId) -> Option<ExprId> {
    let mut distance: i128 = 0;
    loop {
        match &body.exprs[addr] {
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) => return None,
            Expr::Field { base, .. } => addr = *base,
            Expr::Index { base, index, size, bound } => {
                let Some(index) = small_constant(body, *index) else { return Some(addr) };
                let offset = index * i128::from(*size);
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

/// The value of an integer expression of constants, as a signed number, if it and its parts are
/// small, so that nothing overflows.
fn small_constant(body: &Body, expr: ExprId) -> Option<i128> {
    let value = match &body.exprs[expr] {
        Expr::Const(Type::Int(bits), value) => {
            let unused = 128 - u32::from(*bits);
            (*value << unused).cast_signed() >> unused
        }
        Expr::Cast(CastOp::SExt, _, inner) => small_constant(body, *inner)?,
        Expr::Cast(CastOp::ZExt, _, inner) => {
            small_constant(body, *inner).filter(|value| *value >= 0)?
        }
        Expr::Binary(op, a, b) => {
            let (a, b) = (small_constant(body, *a)?, small_constant(body, *b)?);
            match op {
                BinOp::AddS => a + b,
                BinOp::SubS => a - b,
                _ => return None,
            }
        }
        _ => return None,
    };
    (value.abs() <= NEAR).then_some(value)
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
