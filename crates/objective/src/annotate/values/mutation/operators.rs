//! The mutants of one whole expression.
//!
//! The walk goes over the tree with the path to each node, so that a mutant is the tree with one
//! node replaced. Its order is that of evaluation: operands from left to right, then the operator.

use lydian_base::Span;
use lydian_ir::source::{Root, RootKind};
use lydian_ir::{ArithmeticType, BinOp, CastOp, CmpOp, Expr, ExprArena, ExprId, Type, UnOp};

use crate::annotate::context::Context;
use crate::annotate::exprs::mask;
use crate::annotate::text::shown;
use crate::annotate::values::types::{Reading, c_type, compared_as};

use super::conversions::{Value, convert, extended, substitute};

/// A whole expression with one node replaced.
pub(in crate::annotate) struct Mutant {
    /// The mutated expression.
    pub(in crate::annotate) expr: ExprId,
    /// The name of the mutation, such as `AOR + -> -`.
    pub(in crate::annotate) name: String,
    /// The text of the replaced node.
    pub(in crate::annotate) span: Span,
}

/// All mutants of a root's expression, without those equal by construction.
pub(in crate::annotate) fn mutants(cx: &mut Context<'_>, root: &Root) -> Vec<Mutant> {
    mutants_by(cx, root, Leaves::Apart)
}

/// All mutants of a root's expression where constants and variables are mutated alike.
pub(in crate::annotate) fn mutants_with_leaves_alike(
    cx: &mut Context<'_>,
    root: &Root,
) -> Vec<Mutant> {
    mutants_by(cx, root, Leaves::Alike)
}

fn mutants_by(cx: &mut Context<'_>, root: &Root, leaves: Leaves) -> Vec<Mutant> {
    let mut walk = Walk { cx, root, leaves, path: Vec::new(), found: Vec::new() };
    walk.visit(root.expr);
    walk.found
}

/// Which operators mutate constants and variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    /// CRO constants, ABS and UOI variables.
    Apart,
    /// CRO and UOI both, as in [004].
    Alike,
}

/// Whether the expression is a comparison of integers or addresses that the user wrote.
pub(in crate::annotate) fn compares_integers(cx: &Context<'_>, expr: ExprId) -> bool {
    match cx.exprs.arena()[expr] {
        Expr::Cmp(op, a, b) => !op.is_float() && is_written(cx, expr, &[a, b]),
        _ => false,
    }
}

/// Whether an operator has a text of its own: its span is there and is none of its operands'. A
/// comparison with zero that C implies has not.
pub(crate) fn is_written(cx: &Context<'_>, expr: ExprId, operands: &[ExprId]) -> bool {
    let spans = &cx.body.source.exprs;
    let own = spans[expr];
    !own.is_none()
        && operands.iter().all(|operand| !spans[*operand].is_none() && spans[*operand] != own)
}

struct Walk<'c, 'a> {
    cx: &'c mut Context<'a>,
    root: &'c Root,
    leaves: Leaves,
    /// From the root to the node being visited.
    path: Vec<(ExprId, usize)>,
    found: Vec<Mutant>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, expr: ExprId) {
        let node = self.cx.exprs.arena()[expr].clone();
        let mut operands = Vec::new();
        node.for_each_operand(|operand| operands.push(operand));
        for (position, operand) in operands.into_iter().enumerate() {
            self.path.push((expr, position));
            self.visit(operand);
            self.path.pop();
        }
        match node {
            Expr::Const(ty, bits) => {
                self.constant(expr, ty, bits);
                if self.leaves == Leaves::Alike && !self.cx.body.source.exprs[expr].is_none() {
                    self.insertions(expr);
                }
            }
            Expr::Cmp(op, a, b) => self.comparison(expr, op, a, b),
            Expr::Binary(op, a, b) => {
                if self.is_operator(expr, &[a, b]) {
                    self.arithmetic(expr, op, a, b);
                }
                self.insertions(expr);
            }
            Expr::Cast(..) if !self.is_promotion(expr) => {}
            _ => {
                self.insertions(expr);
                if self.leaves == Leaves::Alike {
                    self.replacements(expr);
                }
            }
        }
    }

    /// Adds the root with the current node replaced by one of its type.
    fn push(&mut self, node: ExprId, new: ExprId, name: String) {
        let expr = self.cx.exprs.replace(&self.path, new);
        self.add(node, expr, name);
    }

    /// Adds the root with the current node replaced by a value that may have another type.
    fn push_value(&mut self, node: ExprId, value: Value, name: &str) {
        let expr = substitute(self.cx, &self.path, node, value);
        self.add(node, expr, name.to_owned());
    }

    fn add(&mut self, node: ExprId, expr: ExprId, name: String) {
        let own = self.cx.body.source.exprs[node];
        let span = if own.is_none() { self.root.span } else { own };
        self.found.push(Mutant { expr, name, span });
    }

    /// Whether the user wrote the operator; the one in `x += e` and `x++` has no span of its own
    /// but stands at the root, below conversions.
    fn is_operator(&self, expr: ExprId, operands: &[ExprId]) -> bool {
        let arena = self.cx.exprs.arena();
        let updates = self.root.kind == RootKind::Update
            && self.path.iter().all(|(above, _)| matches!(arena[*above], Expr::Cast(..)));
        updates || is_written(self.cx, expr, operands)
    }

    /// CRO.
    fn constant(&mut self, expr: ExprId, ty: Type, bits: u128) {
        let arithmetic = matches!(ty, Type::Int(8..)) || ty.is_float();
        if !arithmetic || self.cx.body.source.exprs[expr].is_none() {
            return;
        }
        for value in [0, 1, -1] {
            let new = match ty {
                Type::Int(_) => self.cx.exprs.int(ty, value),
                _ => self.cx.exprs.float(ty, value as f64),
            };
            let same = matches!(self.cx.exprs.arena()[new], Expr::Const(_, other) if other == bits);
            if !same {
                let name = format!("CRO {} -> {value}", constant_text(ty, bits));
                self.push(expr, new, name);
            }
        }
    }

    /// CRO of what is no constant, by constants of its type.
    fn replacements(&mut self, expr: ExprId) {
        let promoted = self.path.last().is_some_and(|(parent, _)| self.is_promotion(*parent));
        let span = self.cx.body.source.exprs[expr];
        let Some(ty) = c_type(self.cx, expr).filter(|_| !promoted && !span.is_none()) else {
            return;
        };
        let of = ty.promoted();
        let text = shown(self.cx, span);
        for value in [0, 1, -1] {
            let machine = of.machine();
            let constant = match machine.is_float() {
                true => self.cx.exprs.float(machine, value as f64),
                false => self.cx.exprs.int(machine, value),
            };
            let constant = self.fitted(constant, of);
            self.push_value(expr, constant, &format!("CRO {text} -> {value}"));
        }
    }

    /// ROR.
    fn comparison(&mut self, expr: ExprId, op: CmpOp, a: ExprId, b: ExprId) {
        if !is_written(self.cx, expr, &[a, b]) {
            return;
        }
        let is_equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        let others: Vec<CmpOp> = match self.cx.exprs.type_of(a) {
            Type::Ptr if is_equality => vec![CmpOp::Eq, CmpOp::Ne],
            Type::Int(1) => vec![CmpOp::Eq, CmpOp::Ne],
            ty if ty.is_float() => FLOAT.to_vec(),
            _ if is_equality && compared_as(self.cx, a, b) == Reading::Signed => SIGNED.to_vec(),
            _ if SIGNED.contains(&op) && !is_equality => SIGNED.to_vec(),
            _ => UNSIGNED.to_vec(),
        };
        for other in others.into_iter().filter(|other| *other != op) {
            let new = self.cx.exprs.cmp(other, a, b);
            let name = format!("ROR {} -> {}", op.c_symbol(), other.c_symbol());
            self.push(expr, new, name);
        }
        for value in [true, false] {
            let new = self.cx.exprs.int(Type::BOOL, i128::from(value));
            self.push(expr, new, format!("ROR {} -> {value}", op.c_symbol()));
        }
    }

    /// AOR, LOR and SOR.
    fn arithmetic(&mut self, expr: ExprId, op: BinOp, a: ExprId, b: ExprId) {
        let Some((operator, family)) = family(op) else { return };
        let right = match self.cx.exprs.arena()[b] {
            Expr::Const(ty, bits) if !ty.is_float() => Some(bits & mask(ty)),
            _ => None,
        };
        // The 1 of `x++` is not the user's: its opposite is `x--`, and there is no `x * 1`.
        let step = right.is_some() && self.cx.body.source.exprs[b].is_none();
        let steps = |op: BinOp| matches!(c_symbol(op), "+" | "-");
        for &other in family.iter().filter(|other| **other != op) {
            if step && !steps(other) {
                continue;
            }
            let same = right.is_some_and(|c| is_neutral(op, c) && is_neutral(other, c));
            if !same {
                let new = self.cx.exprs.binary(other, a, b);
                let name = format!("{operator} {} -> {}", c_symbol(op), c_symbol(other));
                self.push(expr, new, name);
            }
        }
    }

    /// Whether a conversion is the promotion of what it converts, so that ABS and UOI apply to its
    /// result rather than to its operand.
    fn is_promotion(&self, expr: ExprId) -> bool {
        let arena = self.cx.exprs.arena();
        match arena[expr] {
            Expr::Cast(CastOp::SExt | CastOp::ZExt, _, a) => {
                let narrow = matches!(self.cx.exprs.type_of(a), Type::Int(8 | 16));
                narrow && !matches!(arena[a], Expr::Cast(..) | Expr::Const(..))
            }
            _ => false,
        }
    }

    /// ABS and UOI.
    fn insertions(&mut self, expr: ExprId) {
        let promoted = self.path.last().is_some_and(|(parent, _)| self.is_promotion(*parent));
        let Some(ty) = c_type(self.cx, expr).filter(|_| !promoted && !self.is_extension(expr))
        else {
            return;
        };
        let operand = convert(self.cx, Value { expr, ty }, ty.promoted());
        // `-x == 0` and `abs(x) == 0` are equivalent to `x == 0`.
        let tested = self.is_compared_with_zero();
        if !tested {
            if !self.is_never_negative(expr, ty) {
                let absolute = self.absolute(operand);
                self.push_value(expr, absolute, "ABS abs");
                let negated = self.negate(absolute);
                self.push_value(expr, negated, "ABS -abs");
            }
            let negated = self.negate(operand);
            self.push_value(expr, negated, "UOI -");
        }
        if Reading::of(operand.ty) != Reading::Float {
            let flipped = self.cx.exprs.unary(UnOp::Not, operand.expr);
            let flipped = self.fitted(flipped, operand.ty);
            self.push_value(expr, flipped, "UOI ~");
        }
        // `!x == 0` is the opposite test, which ROR has, or UOI where the test is implied.
        if !tested {
            let not = self.logical_not(expr);
            self.push_value(expr, not, "UOI !");
        }
        for (op, name) in [(Step::Up, "UOI +1"), (Step::Down, "UOI -1")] {
            let stepped = self.step(operand, op);
            self.push_value(expr, stepped, name);
        }
    }

    /// Whether an expression is a step of keeping a `_BitInt` extended, which C knows nothing of.
    fn is_extension(&self, expr: ExprId) -> bool {
        let types = &self.cx.body.source.c_types;
        let is_bit_int = |(above, _): &(ExprId, usize)| {
            types[*above].is_some_and(|of| matches!(of.text, ArithmeticType::BitInt { .. }))
        };
        types[expr].is_none() && self.path.iter().any(is_bit_int)
    }

    /// Whether an expression's type or form has no negative values: there its absolute value is
    /// itself.
    fn is_never_negative(&self, expr: ExprId, ty: ArithmeticType) -> bool {
        match &self.cx.exprs.arena()[expr] {
            Expr::Cast(CastOp::ZExt, ..) => true,
            Expr::LoadBits { field, .. } => !field.signed,
            _ => !ty.is_signed(),
        }
    }

    /// The result of an operator as a value of its type, which a `_BitInt` cuts.
    fn fitted(&mut self, expr: ExprId, ty: ArithmeticType) -> Value {
        Value { expr: extended(self.cx, expr, ty), ty }
    }

    /// Whether the current node is all that stands on one side of `== 0` or `!= 0`.
    fn is_compared_with_zero(&self) -> bool {
        let arena = self.cx.exprs.arena();
        let other = match self.path.last() {
            Some((parent, position)) => match arena[*parent] {
                Expr::Cmp(CmpOp::Eq | CmpOp::Ne | CmpOp::FEq | CmpOp::FNe, a, b) => {
                    if *position == 0 { b } else { a }
                }
                _ => return false,
            },
            None => return false,
        };
        matches!(arena[other], Expr::Const(_, 0))
    }

    fn negate(&mut self, of: Value) -> Value {
        let op = match Reading::of(of.ty) {
            Reading::Signed => UnOp::NegS,
            Reading::Float => UnOp::FNeg,
            Reading::Unsigned | Reading::None => UnOp::NegU,
        };
        let negated = self.cx.exprs.unary(op, of.expr);
        self.fitted(negated, of.ty)
    }

    /// The absolute value without a branch: integers by the sign spread over all bits (the least
    /// number stays as it is), floats by clearing the sign.
    fn absolute(&mut self, of: Value) -> Value {
        let exprs = &mut self.cx.exprs;
        let ty = of.ty.machine();
        if ty.is_float() {
            let int = Type::Int(ty.bits() as u8);
            let bits = exprs.make(&Expr::Cast(CastOp::Bits, int, of.expr));
            let but_sign = exprs.int(int, (mask(int) >> 1) as i128);
            let cleared = exprs.binary(BinOp::And, bits, but_sign);
            return Value { expr: exprs.make(&Expr::Cast(CastOp::Bits, ty, cleared)), ..of };
        }
        let amount = exprs.int(ty, i128::from(ty.bits() - 1));
        let sign = exprs.binary(BinOp::ShrS, of.expr, amount);
        let flipped = exprs.binary(BinOp::Xor, of.expr, sign);
        let absolute = exprs.binary(BinOp::SubU, flipped, sign);
        self.fitted(absolute, of.ty)
    }

    /// `!e`, an `int`.
    fn logical_not(&mut self, expr: ExprId) -> Value {
        let exprs = &mut self.cx.exprs;
        let ty = exprs.type_of(expr);
        let zero = exprs.zero(ty);
        let op = if ty.is_float() { CmpOp::FEq } else { CmpOp::Eq };
        let test = exprs.cmp(op, expr, zero);
        let not = exprs.make(&Expr::Cast(CastOp::ZExt, Type::Int(32), test));
        Value { expr: not, ty: ArithmeticType::INT }
    }

    fn step(&mut self, of: Value, step: Step) -> Value {
        let ty = of.ty.machine();
        let (up, down) = match Reading::of(of.ty) {
            Reading::Float => (BinOp::FAdd, BinOp::FSub),
            Reading::Signed => (BinOp::AddS, BinOp::SubS),
            Reading::Unsigned | Reading::None => (BinOp::AddU, BinOp::SubU),
        };
        let one = match ty.is_float() {
            true => self.cx.exprs.float(ty, 1.0),
            false => self.cx.exprs.int(ty, 1),
        };
        let op = if step == Step::Up { up } else { down };
        let stepped = self.cx.exprs.binary(op, of.expr, one);
        self.fitted(stepped, of.ty)
    }
}

/// The operand of `original` that is replaced by its absolute value in `mutant`, if that is the only
/// difference. The two then have one value wherever this operand, an integer, is not negative.
pub fn operand_made_absolute(
    exprs: &ExprArena,
    original: ExprId,
    mutant: ExprId,
) -> Option<ExprId> {
    let (mut old, mut new) = (original, mutant);
    loop {
        if is_absolute(exprs, new, old) {
            return Some(old);
        }
        let (mut olds, mut news) = (Vec::new(), Vec::new());
        exprs[old].for_each_operand(|operand| olds.push(operand));
        exprs[new].for_each_operand(|operand| news.push(operand));
        let mut own = olds.iter();
        let as_old = exprs[new].map_operands(|operand| own.next().copied().unwrap_or(operand));
        if olds.len() != news.len() || as_old != exprs[old] {
            return None;
        }
        let mut pairs = olds.into_iter().zip(news).filter(|(old, new)| !is_same(exprs, *old, *new));
        match (pairs.next(), pairs.next()) {
            (Some(pair), None) => (old, new) = pair,
            _ => return None,
        }
    }
}

/// Whether an expression is the absolute value of an integer, as mutants have it.
fn is_absolute(exprs: &ExprArena, expr: ExprId, of: ExprId) -> bool {
    let &Expr::Binary(BinOp::SubU, flipped, sign) = &exprs[expr] else { return false };
    let &Expr::Binary(BinOp::ShrS, shifted, amount) = &exprs[sign] else { return false };
    let &Expr::Const(ty, bits) = &exprs[amount] else { return false };
    let is_flipped = matches!(&exprs[flipped], &Expr::Binary(BinOp::Xor, value, other)
        if other == sign && is_same(exprs, value, of));
    is_flipped && is_same(exprs, shifted, of) && bits == u128::from(ty.bits() - 1)
}

/// Whether two ids are of one expression: leaves may have several.
fn is_same(exprs: &ExprArena, a: ExprId, b: ExprId) -> bool {
    a == b || (exprs[a] == exprs[b] && exprs[a].is_leaf())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Up,
    Down,
}

const SIGNED: [CmpOp; 6] = [CmpOp::LtS, CmpOp::LeS, CmpOp::GtS, CmpOp::GeS, CmpOp::Eq, CmpOp::Ne];
const UNSIGNED: [CmpOp; 6] = [CmpOp::LtU, CmpOp::LeU, CmpOp::GtU, CmpOp::GeU, CmpOp::Eq, CmpOp::Ne];
const FLOAT: [CmpOp; 6] = [CmpOp::FLt, CmpOp::FLe, CmpOp::FGt, CmpOp::FGe, CmpOp::FEq, CmpOp::FNe];

/// The mutation operator that changes an operator, and all operators among which it chooses.
fn family(op: BinOp) -> Option<(&'static str, &'static [BinOp])> {
    use BinOp::*;
    const SIGNED: &[BinOp] = &[AddS, SubS, MulS, DivS, RemS];
    const UNSIGNED: &[BinOp] = &[AddU, SubU, MulU, DivU, RemU];
    const FLOAT: &[BinOp] = &[FAdd, FSub, FMul, FDiv];
    const BITS: &[BinOp] = &[And, Or, Xor];
    const LOGICAL_SHIFTS: &[BinOp] = &[ShlU, ShrU];
    const SIGNED_SHIFTS: &[BinOp] = &[ShlS, ShrS];
    [
        ("AOR", SIGNED),
        ("AOR", UNSIGNED),
        ("AOR", FLOAT),
        ("LOR", BITS),
        ("SOR", LOGICAL_SHIFTS),
        ("SOR", SIGNED_SHIFTS),
    ]
    .into_iter()
    .find(|(_, family)| family.contains(&op))
}

/// As C writes it.
fn c_symbol(op: BinOp) -> &'static str {
    use BinOp::*;
    match op {
        AddU | AddS | FAdd => "+",
        SubU | SubS | FSub => "-",
        MulU | MulS | FMul => "*",
        DivU | DivS | FDiv => "/",
        RemU | RemS => "%",
        ShlU | ShlS => "<<",
        ShrU | ShrS => ">>",
        And => "&",
        Or => "|",
        Xor => "^",
    }
}

/// Whether `x op constant` is `x` for every integer `x`.
fn is_neutral(op: BinOp, constant: u128) -> bool {
    use BinOp::*;
    match op {
        AddU | AddS | SubU | SubS | ShlU | ShlS | ShrU | ShrS | Or | Xor => constant == 0,
        MulU | MulS | DivU | DivS => constant == 1,
        _ => false,
    }
}

fn constant_text(ty: Type, bits: u128) -> String {
    match ty {
        Type::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Type::F64 => format!("{:?}", f64::from_bits(bits as u64)),
        _ if ty.is_float() => format!("{:?}", lydian_ir::arith::to_f64(ty, bits)),
        // Numbers near the top of the range are read as negative: -1 rather than 4294967295.
        _ => {
            let unused = 128 - ty.bits();
            let value = ((bits << unused) as i128) >> unused;
            if ty.bits() >= 32 { value.to_string() } else { bits.to_string() }
        }
    }
}
