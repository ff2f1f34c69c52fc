//! RTE: one objective for each run-time error that an operator of a whole expression can have
//! ([000] III-B). It is covered by a run in which the error is about to happen.
//!
//! | operator | error, at the place just before the expression is evaluated |
//! |---|---|
//! | read or write through a pointer | the pointer that the address is made from is null |
//! | `a[i]`, an array of known length | `i` is less than 0 or not less than the length |
//! | `/`, `%` | the divisor is 0; for signed types also: the least number by -1 |
//! | `<<`, `>>` | the amount is not less than the width (which takes in negative ones) |
//! | signed `+`, `-`, `*`, unary `-`, `<<` | the result does not fit the type |
//! | float to integer | the integer part does not fit the type |
//!
//! Objectives stand in the order in which operands are evaluated. Each reads its own operands only.
//! It is unknown if one of these traps, but an error in another operand does not hide it. Dangling
//! pointers, indices into arrays of unknown length and leaks cannot be seen in an expression;
//! exploration and measuring report them as faults of the run.

use lydian_base::Span;
use lydian_ir::source::{Root, RootId, RootKind};
use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, Type, UnOp};

use crate::annotate::context::{Annotator, Context};
use crate::annotate::exprs::least;
use crate::criterion::Criterion;
use crate::label::{Pred, Site};

pub(crate) struct RuntimeErrorCoverage;

/// How the names of objectives end that are overflows.
const OVERFLOWS: &str = " overflows";
/// The name of the overflow of a division, which traps however the program is compiled.
const DIVISION_OVERFLOWS: &str = "division overflows";

/// Whether the objective of this name is an overflow of signed numbers that wraps under `-fwrapv`, and that
/// C leaves undefined otherwise.
pub fn is_signed_overflow(name: &str) -> bool {
    name.contains(OVERFLOWS) && !name.contains(DIVISION_OVERFLOWS)
}

impl Annotator for RuntimeErrorCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Rte
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for_each_error(cx, &mut |cx, error| {
            cx.push(Site::Root(error.site), error.pred, error.span, error.name);
        });
    }
}

/// An error that an expression can have.
pub(in crate::annotate) struct PossibleError<'n> {
    /// The whole expression.
    pub(in crate::annotate) site: RootId,
    /// The predicate that the error is about to happen.
    pub(in crate::annotate) pred: Pred,
    /// The text of the operation.
    pub(in crate::annotate) span: Span,
    pub(in crate::annotate) name: &'n str,
}

/// A function that takes the errors of expressions.
pub(in crate::annotate) type TakeError<'t> = dyn FnMut(&mut Context<'_>, PossibleError<'_>) + 't;

/// Calls `take` with each error that an expression of the text can have, in the order of evaluation.
pub(in crate::annotate) fn for_each_error(cx: &mut Context<'_>, take: &mut TakeError<'_>) {
    let body = cx.body;
    for (id, root) in body.source.roots.iter().filter(|(_, root)| root.rewritable) {
        let mut errors = Errors { cx, site: id, root, take };
        let accessed = root.kind == RootKind::Address;
        errors.visit(root.expr, accessed);
        if accessed {
            errors.null(root.expr);
        }
    }
}

/// Finds the errors of one root.
struct Errors<'c, 'a, 't> {
    cx: &'c mut Context<'a>,
    site: RootId,
    root: &'c Root,
    take: &'c mut TakeError<'t>,
}

impl Errors<'_, '_, '_> {
    /// Visits operands, then the operator. `accessed`: the expression is an address, and memory
    /// is reached through it.
    fn visit(&mut self, expr: ExprId, accessed: bool) {
        let node = self.cx.exprs.arena()[expr].clone();
        match &node {
            Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => {
                self.visit(*addr, true);
                self.null(*addr);
            }
            Expr::Field { base, .. } => self.visit(*base, accessed),
            Expr::Index { base, index, bound, .. } => {
                self.visit(*base, accessed);
                self.visit(*index, false);
                if let Some(bound) = bound.filter(|_| accessed) {
                    self.index(expr, *index, bound);
                }
            }
            other => other.for_each_operand(|operand| self.visit(operand, false)),
        }
        match node {
            Expr::Unary(UnOp::NegS, a) => {
                let overflow = self.equals(a, least);
                self.push(expr, overflow, "negation overflows");
            }
            Expr::Binary(op, a, b) => self.binary(expr, op, a, b),
            Expr::Cast(op @ (CastOp::FToS | CastOp::FToU), ty, a) => {
                let misfit = self.float_misfit(op, ty, a);
                self.push(expr, misfit, "float does not fit the integer type");
            }
            _ => {}
        }
    }

    fn binary(&mut self, expr: ExprId, op: BinOp, a: ExprId, b: ExprId) {
        let ty = self.cx.exprs.type_of(a);
        match op {
            BinOp::DivU | BinOp::RemU | BinOp::DivS | BinOp::RemS => {
                let zero = self.equals(b, |_| 0);
                self.push(expr, zero, "division by zero");
                if matches!(op, BinOp::DivS | BinOp::RemS) {
                    let overflow = Pred::and(self.equals(a, least), self.equals(b, |_| -1));
                    self.push(expr, overflow, DIVISION_OVERFLOWS);
                }
            }
            BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS => {
                let width = self.cx.exprs.int(ty, i128::from(ty.bits()));
                let range = self.cx.exprs.test(CmpOp::GeU, b, width);
                self.push(expr, range, "shift amount out of range");
                if op == BinOp::ShlS {
                    let overflow = self.shift_overflow(a, b);
                    self.push(expr, overflow, "left shift overflows");
                }
            }
            BinOp::AddS | BinOp::SubS => {
                let overflow = self.sum_overflow(op, a, b);
                let name = if op == BinOp::AddS { "addition" } else { "subtraction" };
                self.push(expr, overflow, &format!("{name} overflows"));
            }
            BinOp::MulS => {
                let overflow = self.product_overflow(ty, a, b);
                self.push(expr, overflow, "multiplication overflows");
            }
            _ => {}
        }
    }

    /// The pointer from which an address is made is null.
    fn null(&mut self, addr: ExprId) {
        let mut base = addr;
        loop {
            base = match self.cx.exprs.arena()[base] {
                Expr::Field { base, .. } | Expr::Index { base, .. } => base,
                Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::AddrFunc(_) => return,
                _ => break,
            };
        }
        let null = self.equals(base, |_| 0);
        self.push(base, null, "null pointer dereference");
    }

    fn index(&mut self, expr: ExprId, index: ExprId, bound: u64) {
        let bound_expr = self.cx.exprs.int(Type::Int(64), i128::from(bound));
        // As an unsigned number, a negative index is not less than any length.
        let outside = self.cx.exprs.test(CmpOp::GeU, index, bound_expr);
        self.push(expr, outside, &format!("index outside of 0..{bound}"));
    }

    fn equals(&mut self, expr: ExprId, value: impl Fn(Type) -> i128) -> Pred {
        let ty = self.cx.exprs.type_of(expr);
        let constant = self.cx.exprs.int(ty, value(ty));
        self.cx.exprs.test(CmpOp::Eq, expr, constant)
    }

    /// `a + b` has the sign of neither operand; `a - b` has not the sign of `a`, which differs from
    /// that of `b`.
    fn sum_overflow(&mut self, op: BinOp, a: ExprId, b: ExprId) -> Pred {
        let exprs = &mut self.cx.exprs;
        let wrapping = if op == BinOp::AddS { BinOp::AddU } else { BinOp::SubU };
        let result = exprs.binary(wrapping, a, b);
        let against_a = exprs.binary(BinOp::Xor, a, result);
        let other = if op == BinOp::AddS { result } else { a };
        let against_b = exprs.binary(BinOp::Xor, b, other);
        let signs = exprs.binary(BinOp::And, against_a, against_b);
        let zero = exprs.zero(exprs.type_of(a));
        exprs.test(CmpOp::LtS, signs, zero)
    }

    /// The product in twice the width is not that of the width. For 128 bits, dividing the wrapped
    /// product does not give back a factor.
    fn product_overflow(&mut self, ty: Type, a: ExprId, b: ExprId) -> Pred {
        let Some(wide) = double(ty) else { return self.wide_product_overflow(a, b) };
        let exprs = &mut self.cx.exprs;
        let mut extend = |expr| exprs.make(&Expr::Cast(CastOp::SExt, wide, expr));
        let (wide_a, wide_b) = (extend(a), extend(b));
        let exact = exprs.binary(BinOp::MulU, wide_a, wide_b);
        let wrapped = exprs.binary(BinOp::MulU, a, b);
        let wrapped = exprs.make(&Expr::Cast(CastOp::SExt, wide, wrapped));
        exprs.test(CmpOp::Ne, exact, wrapped)
    }

    fn wide_product_overflow(&mut self, a: ExprId, b: ExprId) -> Pred {
        let least_by_minus_one = Pred::and(self.equals(a, least), self.equals(b, |_| -1));
        let not_zero = Pred::not(self.equals(b, |_| 0));
        let exprs = &mut self.cx.exprs;
        let wrapped = exprs.binary(BinOp::MulU, a, b);
        let back = exprs.binary(BinOp::DivS, wrapped, b);
        let differs = exprs.test(CmpOp::Ne, back, a);
        Pred::or(least_by_minus_one, Pred::and(not_zero, differs))
    }

    /// The operand is negative or shifting back does not give it.
    fn shift_overflow(&mut self, a: ExprId, b: ExprId) -> Pred {
        let exprs = &mut self.cx.exprs;
        let zero = exprs.zero(exprs.type_of(a));
        let negative = exprs.test(CmpOp::LtS, a, zero);
        let shifted = exprs.binary(BinOp::ShlU, a, b);
        let back = exprs.binary(BinOp::ShrS, shifted, b);
        let lost = exprs.test(CmpOp::Ne, back, a);
        Pred::or(negative, lost)
    }

    /// Not `low < x < high`, for the floats next to those whose integer part fits.
    fn float_misfit(&mut self, op: CastOp, target: Type, x: ExprId) -> Pred {
        let ty = self.cx.exprs.type_of(x);
        let bits = target.bits();
        let digits = match ty {
            Type::F32 => f32::MANTISSA_DIGITS,
            Type::F80 => 64,
            _ => f64::MANTISSA_DIGITS,
        };
        let power = |exponent: u32| 2f64.powi(exponent as i32);
        let (low_op, low, high) = match op {
            CastOp::FToU => (CmpOp::FGt, -1.0, power(bits)),
            // Where the least number minus one is no float, there is none between the two.
            _ if bits > digits => (CmpOp::FGe, -power(bits - 1), power(bits - 1)),
            _ => (CmpOp::FGt, -power(bits - 1) - 1.0, power(bits - 1)),
        };
        // A number that a binary64 does not hold is one less than a power of two.
        let low = match (ty, op) {
            (Type::F80, CastOp::FToS) if bits == 64 => self.cx.exprs.below_least_long(),
            _ => self.cx.exprs.float(ty, low),
        };
        let high = self.cx.exprs.float(ty, high);
        let above = self.cx.exprs.test(low_op, x, low);
        let below = self.cx.exprs.test(CmpOp::FLt, x, high);
        Pred::not(Pred::and(above, below))
    }

    fn push(&mut self, expr: ExprId, pred: Pred, name: &str) {
        let mut volatile = false;
        pred.for_each_expr(&mut |expr| volatile |= self.cx.exprs.reads_volatile(expr));
        if volatile {
            return;
        }
        let own = self.cx.body.source.exprs[expr];
        let span = if own.is_none() { self.root.span } else { own };
        (self.take)(self.cx, PossibleError { site: self.site, pred, span, name });
    }
}

fn double(ty: Type) -> Option<Type> {
    match ty {
        Type::Int(bits @ 8..=64) => Some(Type::Int(bits * 2)),
        _ => None,
    }
}
