//! The expressions of predicates: the body's arena extended, each new expression once.
//!
//! New expressions of equal shape get one id, so that equal predicates are equal values. The ids of
//! the body's own expressions stay. A predicate uses one of these only if it is a leaf, or if the
//! program evaluates it anyway on the same state. So an id of the body cannot trap where a predicate
//! is evaluated, and a new id may.

use lydian_ir::{BinOp, Body, CmpOp, Expr, ExprArena, ExprId, LocalId, Storage, Type, UnOp};
use rustc_hash::FxHashMap;

use crate::label::Pred;

/// Makes expressions after those of a body.
pub(crate) struct ExprBuilder<'a> {
    body: &'a Body,
    exprs: ExprArena,
    /// The leaves of the body and all new expressions, by shape.
    ids: FxHashMap<Expr, ExprId>,
}

impl<'a> ExprBuilder<'a> {
    pub(crate) fn new(body: &'a Body) -> Self {
        let mut ids = FxHashMap::default();
        for (id, expr) in body.exprs.iter().filter(|(_, expr)| expr.is_leaf()) {
            ids.entry(expr.clone()).or_insert(id);
        }
        Self { body, exprs: body.exprs.clone(), ids }
    }

    /// The arena: the body's expressions, then those made here.
    pub(crate) fn finish(self) -> ExprArena {
        self.exprs
    }

    pub(crate) fn arena(&self) -> &ExprArena {
        &self.exprs
    }

    /// The id of a leaf that all leaves of the same shape share; for other expressions the same id.
    pub(crate) fn canonical(&self, expr: ExprId) -> ExprId {
        if self.exprs[expr].is_leaf() { self.ids[&self.exprs[expr]] } else { expr }
    }

    /// The id of an expression that is a leaf or new.
    pub(crate) fn make(&mut self, expr: &Expr) -> ExprId {
        let shape = expr.map_operands(|operand| self.canonical(operand));
        if let Some(id) = self.ids.get(&shape) {
            return *id;
        }
        let id = self.exprs.push(shape.clone());
        self.ids.insert(shape, id);
        id
    }

    pub(crate) fn type_of(&self, expr: ExprId) -> Type {
        self.body.type_in(&self.exprs, expr)
    }

    /// A constant whose low bits are those of `value`.
    pub(crate) fn int(&mut self, ty: Type, value: i128) -> ExprId {
        self.make(&Expr::Const(ty, value as u128 & mask(ty)))
    }

    /// A float constant, rounded to its type.
    pub(crate) fn float(&mut self, ty: Type, value: f64) -> ExprId {
        self.make(&Expr::Const(ty, lydian_ir::arith::float_bits(ty, value)))
    }

    /// -2^63 - 1 as a `long double`.
    pub(crate) fn below_least_long(&mut self) -> ExprId {
        self.make(&Expr::Const(Type::F80, 0xc03e_8000_0000_0000_0001))
    }

    /// The number 0, or the null pointer.
    pub(crate) fn zero(&mut self, ty: Type) -> ExprId {
        self.make(&Expr::Const(ty, 0))
    }

    pub(crate) fn unary(&mut self, op: UnOp, a: ExprId) -> ExprId {
        self.make(&Expr::Unary(op, a))
    }

    pub(crate) fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        self.make(&Expr::Binary(op, a, b))
    }

    pub(crate) fn cmp(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> ExprId {
        self.make(&Expr::Cmp(op, a, b))
    }

    /// The predicate `a op b`. Integer constants are compared here.
    pub(crate) fn test(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> Pred {
        if let (Expr::Const(ty, a), Expr::Const(_, b)) = (&self.exprs[a], &self.exprs[b])
            && let Some(value) = compare(op, *ty, *a, *b)
        {
            return Pred::Const(value);
        }
        Pred::Expr(self.cmp(op, a, b))
    }

    /// The predicate that two values of one type differ. Floats differ if they compare unequal and
    /// are not both NaN: the two zeros are one value, and so are all NaNs.
    pub(crate) fn differ(&mut self, a: ExprId, b: ExprId) -> Pred {
        let (a, b) = (self.canonical(a), self.canonical(b));
        if a == b {
            return Pred::Const(false);
        }
        let ty = self.type_of(a);
        if ty.is_float() {
            let nan_a = self.test(CmpOp::FNe, a, a);
            let nan_b = self.test(CmpOp::FNe, b, b);
            let unequal = self.test(CmpOp::FNe, a, b);
            return Pred::and(unequal, Pred::not(Pred::and(nan_a, nan_b)));
        }
        self.test(CmpOp::Ne, a, b)
    }

    /// `root` with the node at the end of `path` replaced. A path is a list of nodes from the root
    /// on, each with the position of the operand that leads on.
    pub(crate) fn replace(&mut self, path: &[(ExprId, usize)], new: ExprId) -> ExprId {
        path.iter().rev().fold(new, |new, &(parent, operand)| {
            let mut position = 0;
            let shape = self.exprs[parent].map_operands(|old| {
                position += 1;
                if position - 1 == operand { new } else { old }
            });
            self.make(&shape)
        })
    }

    /// Whether evaluating an expression reads volatile memory. Such an expression stands alone in the
    /// program and may not be evaluated twice.
    pub(crate) fn reads_volatile(&self, expr: ExprId) -> bool {
        let mut found = false;
        self.for_each_node(expr, &mut |node| {
            found |= matches!(node, Expr::Load { volatile: true, .. });
        });
        found
    }

    /// Calls `visit` with each node of the tree, parents first.
    pub(crate) fn for_each_node(&self, expr: ExprId, visit: &mut impl FnMut(&Expr)) {
        let mut rest = vec![expr];
        while let Some(at) = rest.pop() {
            visit(&self.exprs[at]);
            self.exprs[at].for_each_operand(|operand| rest.push(operand));
        }
    }

    /// The value of a local of scalar type `ty`.
    pub(crate) fn local_value(&mut self, local: LocalId, ty: Type) -> ExprId {
        match self.body.locals[local].storage {
            Storage::Register(_) => self.make(&Expr::Local(local)),
            Storage::Memory { .. } => {
                let addr = self.make(&Expr::AddrLocal(local));
                self.make(&Expr::Load { ty, addr, volatile: false })
            }
        }
    }
}

/// Compares two integers or addresses by their bits; `None` for floats.
fn compare(op: CmpOp, ty: Type, a: u128, b: u128) -> Option<bool> {
    let unused = 128 - ty.bits();
    let signed = |bits: u128| (bits << unused) as i128;
    let order = match op {
        CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS => signed(a).cmp(&signed(b)),
        _ => a.cmp(&b),
    };
    match op {
        CmpOp::Eq => Some(order.is_eq()),
        CmpOp::Ne => Some(order.is_ne()),
        CmpOp::LtU | CmpOp::LtS => Some(order.is_lt()),
        CmpOp::LeU | CmpOp::LeS => Some(order.is_le()),
        CmpOp::GtU | CmpOp::GtS => Some(order.is_gt()),
        CmpOp::GeU | CmpOp::GeS => Some(order.is_ge()),
        _ => None,
    }
}

/// The bits of a type.
pub(crate) fn mask(ty: Type) -> u128 {
    match ty.bits() {
        128.. => u128::MAX,
        bits => (1 << bits) - 1,
    }
}

/// The least value of a signed integer type.
pub(crate) fn least(ty: Type) -> i128 {
    -1i128 << (ty.bits() - 1)
}
