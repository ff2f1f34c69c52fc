//! Values of predicates' expressions that were computed before.
//!
//! A label that no input covers is looked at on every path that passes its site, and most of these
//! have the same values in the few places that it reads. So the value of an expression is kept by
//! those. Kept are expressions of integers in registers and of what is read from memory without a
//! trap: reading is done each time, the rest of the value depends on nothing else.
//!
//! What evaluating the rest tells the exploration is what is compared with what
//! ([`Environment::related`](lydian_eval::Environment::related)), and of interest where that may be
//! addresses. A value with such a comparison is not kept ([`Watch::relates`](super::watch::Watch)):
//! so evaluating it again, with the same values, would tell nothing.

use lydian_base::EntityId as _;
use lydian_eval::Kleene;
use lydian_ir::{CastOp, Expr, ExprArena, ExprId, FuncId, LocalId, Type};
use lydian_smt::Term;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An expression that reads more places is not kept.
const MOST_PLACES: usize = 4;
/// Expressions with more parts are not looked at.
const MOST_PARTS: u32 = 64;
/// With more values than this all are forgotten.
const MOST_VALUES: usize = 1 << 18;

/// Places or their values.
pub(super) type Few<T> = SmallVec<[T; MOST_PLACES]>;

/// Where an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Register(LocalId),
    /// What a part of it, a load, reads from memory.
    Memory(ExprId),
}

/// Values that were computed, of all functions.
#[derive(Default)]
pub(super) struct PredicateMemo {
    /// Where an expression reads; none of one that is not kept.
    reads: FxHashMap<(FuncId, ExprId), Option<Few<Place>>>,
    values: FxHashMap<(FuncId, ExprId, Few<Term>), Kleene>,
}

/// What a value is kept by.
pub(super) type MemoKey = (FuncId, ExprId, Few<Term>);

impl PredicateMemo {
    /// Where an expression of a function's labels reads; none if its values are not kept.
    pub(super) fn reads(
        &mut self,
        func: FuncId,
        exprs: &ExprArena,
        expr: ExprId,
        local_type: impl Fn(LocalId) -> Option<Type>,
    ) -> Option<Few<Place>> {
        let reads = self.reads.entry((func, expr));
        reads.or_insert_with(|| places_read(exprs, expr, &local_type)).clone()
    }

    /// The value, if it was computed.
    pub(super) fn get(&self, key: &MemoKey) -> Option<Kleene> {
        self.values.get(key).copied()
    }

    /// Keeps a value.
    pub(super) fn put(&mut self, key: MemoKey, value: Kleene) {
        if self.values.len() >= MOST_VALUES {
            self.values.clear();
        }
        self.values.insert(key, value);
    }
}

/// The value of a place that is a register.
pub(super) fn register(registers: &[Option<Term>], local: LocalId) -> Option<Term> {
    registers.get(local.index()).copied().flatten()
}

/// Where an expression reads, each place once, if it is one that is kept.
fn places_read(
    exprs: &ExprArena,
    expr: ExprId,
    local_type: &impl Fn(LocalId) -> Option<Type>,
) -> Option<Few<Place>> {
    let mut reading = Reading { exprs, local_type, found: Few::new(), parts: 0 };
    reading.visit(expr)?;
    Some(reading.found)
}

struct Reading<'a, F> {
    exprs: &'a ExprArena,
    local_type: &'a F,
    found: Few<Place>,
    parts: u32,
}

impl<F: Fn(LocalId) -> Option<Type>> Reading<'_, F> {
    /// Notes where an expression reads; none if it is not kept.
    fn visit(&mut self, expr: ExprId) -> Option<()> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return None;
        }
        let is_integer = |ty: Type| matches!(ty, Type::Int(_)).then_some(());
        match self.exprs[expr] {
            Expr::Const(ty, _) => is_integer(ty),
            Expr::Local(local) => {
                is_integer((self.local_type)(local)?)?;
                self.add(Place::Register(local))
            }
            Expr::Load { ty, volatile: false, .. } => {
                is_integer(ty)?;
                self.add(Place::Memory(expr))
            }
            Expr::Unary(_, a) => self.visit(a),
            Expr::Binary(_, a, b) | Expr::Cmp(_, a, b) => {
                self.visit(a)?;
                self.visit(b)
            }
            Expr::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, to, a) => {
                is_integer(to)?;
                self.visit(a)
            }
            _ => None,
        }
    }

    fn add(&mut self, place: Place) -> Option<()> {
        if self.found.contains(&place) {
            return Some(());
        }
        (self.found.len() < MOST_PLACES).then(|| self.found.push(place))
    }
}
