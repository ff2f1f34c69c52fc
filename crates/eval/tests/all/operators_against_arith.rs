//! Operators over terms against the meaning of the operators on bits that the interpreter runs.

use lydian_eval::{Fault, Traps, arith, from_bytes, sort_of, to_bytes};
use lydian_ir::arith as concrete;
use lydian_ir::arith::Overflow;
use lydian_ir::{BinOp, CastOp, CmpOp, TrapKind, Type, UnOp};
use lydian_smt::{Evaluator, Model, Sort, Term, TermPool, Value, Wide};
use proptest::prelude::*;

const INTEGERS: [Type; 6] =
    [Type::Int(1), Type::Int(8), Type::Int(16), Type::Int(32), Type::Int(64), Type::Int(128)];

/// Bits that are often at a border, or those of a float.
fn bits() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        0u128..70,
        (0u32..128, 0u128..3).prop_map(|(shift, more)| (1u128 << shift).wrapping_sub(1) + more),
        (0u128..4).prop_map(|back| u128::MAX - back),
        any::<f64>().prop_map(|float| u128::from(float.to_bits())),
        any::<f32>().prop_map(|float| u128::from(float.to_bits())),
        (-300i16..300).prop_map(|n| u128::from(f64::from(n).to_bits())),
        (-300i16..300).prop_map(|n| u128::from(f32::from(n).to_bits())),
    ]
}

struct Bench {
    pool: TermPool,
    values: Vec<(Term, Value)>,
}

impl Bench {
    fn new() -> Self {
        Self { pool: TermPool::new(), values: Vec::new() }
    }

    /// A value of a type from its bits, which are a symbol: a float's may be those of any NaN.
    fn symbol(&mut self, ty: Type, bits: u128) -> Term {
        let sort = match sort_of(ty) {
            Sort::Float(_) => Sort::BitVec(ty.bits()),
            sort => sort,
        };
        let symbol = self.pool.fresh_var("x", sort);
        let value = Value::from_wide(sort, Wide::from_u128(concrete::truncate(ty, bits)));
        self.values.push((symbol, value));
        if ty.is_float() { from_bytes(&mut self.pool, ty, symbol) } else { symbol }
    }

    /// The bits of a value, or the first trap.
    fn outcome(&mut self, ty: Type, value: Term, traps: &Traps) -> Result<u128, TrapKind> {
        let model = Model::from_values(self.values.clone());
        let mut evaluator = Evaluator::new();
        for (kind, condition) in traps.iter() {
            if evaluator.holds(&self.pool, &model, condition) {
                let Fault::Trap(kind) = kind else { unreachable!("no input is left out") };
                return Err(kind);
            }
        }
        let bytes = to_bytes(&mut self.pool, value);
        let wide = evaluator.eval(&self.pool, &model, bytes).to_wide().expect("no array");
        Ok(concrete::truncate(ty, wide.low_u128()))
    }
}

/// The bits of a computed value: of which NaN it is nothing is said.
fn canonical(ty: Type, bits: u128) -> u128 {
    match ty {
        Type::F32 => concrete::f32_bits(concrete::f32_of(bits)),
        Type::F64 => concrete::f64_bits(concrete::f64_of(bits)),
        _ => concrete::truncate(ty, bits),
    }
}

const fn float(single: bool) -> Type {
    if single { Type::F32 } else { Type::F64 }
}

const fn overflow(checked: bool) -> Overflow {
    if checked { Overflow::Trap } else { Overflow::Wrap }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn binary_operators_agree(
        op in 0..BinOp::ALL.len(), ty in 0usize..6, single: bool, a in bits(), b in bits(),
        checked: bool,
    ) {
        let op = BinOp::ALL[op].0;
        let is_float = matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv);
        let ty = if is_float { float(single) } else { INTEGERS[ty] };
        let (a, b) = (concrete::truncate(ty, a), concrete::truncate(ty, b));
        let mut bench = Bench::new();
        let (x, y) = (bench.symbol(ty, a), bench.symbol(ty, b));
        let mut traps = Traps::none();
        let value = arith::binary(&mut bench.pool, op, x, y, overflow(checked), &mut traps);
        let found = bench.outcome(ty, value, &traps).map(|bits| canonical(ty, bits));
        prop_assert_eq!(found, concrete::binary(op, ty, a, b, overflow(checked)), "{} {}", op, ty);
    }

    #[test]
    fn unary_operators_agree(
        op in 0..UnOp::ALL.len(), ty in 0usize..6, single: bool, a in bits(), checked: bool,
    ) {
        let op = UnOp::ALL[op].0;
        let ty = if op == UnOp::FNeg { float(single) } else { INTEGERS[ty] };
        let a = concrete::truncate(ty, a);
        let mut bench = Bench::new();
        let x = bench.symbol(ty, a);
        let mut traps = Traps::none();
        let value = arith::unary(&mut bench.pool, op, x, overflow(checked), &mut traps);
        let found = bench.outcome(ty, value, &traps);
        // A NaN that is negated keeps its payload.
        prop_assert_eq!(found, concrete::unary(op, ty, a, overflow(checked)), "{} {}", op, ty);
    }

    #[test]
    fn comparisons_agree(
        op in 0..CmpOp::ALL.len(), ty in 0usize..6, single: bool, a in bits(), b in bits(),
    ) {
        let op = CmpOp::ALL[op].0;
        let ty = if op.is_float() { float(single) } else { INTEGERS[ty] };
        let (a, b) = (concrete::truncate(ty, a), concrete::truncate(ty, b));
        let mut bench = Bench::new();
        let (x, y) = (bench.symbol(ty, a), bench.symbol(ty, b));
        let value = arith::compare(&mut bench.pool, op, x, y);
        let found = bench.outcome(Type::BOOL, value, &Traps::none());
        prop_assert_eq!(found, Ok(u128::from(concrete::compare(op, ty, a, b))), "{} {}", op, ty);
    }

    #[test]
    fn conversions_agree(
        op in 0..CastOp::ALL.len(), from in 0usize..6, to in 0usize..6, single: bool, other: bool,
        a in bits(),
    ) {
        let op = CastOp::ALL[op].0;
        let (from, to) = match op {
            CastOp::Trunc if from > to => (INTEGERS[from], INTEGERS[to]),
            CastOp::ZExt | CastOp::SExt if from < to => (INTEGERS[from], INTEGERS[to]),
            CastOp::SToF | CastOp::UToF => (INTEGERS[from.max(1)], float(single)),
            CastOp::FToS | CastOp::FToU => (float(single), INTEGERS[to.max(1)]),
            CastOp::FToF if single != other => (float(single), float(other)),
            CastOp::Bits if single => (Type::F32, Type::Int(32)),
            CastOp::Bits => (Type::Int(64), if other { Type::F64 } else { Type::Ptr }),
            _ => return Ok(()),
        };
        let a = concrete::truncate(from, a);
        let mut bench = Bench::new();
        let x = bench.symbol(from, a);
        let mut traps = Traps::none();
        let value = arith::cast(&mut bench.pool, op, to, x, &mut traps);
        let mut found = bench.outcome(to, value, &traps);
        if op != CastOp::Bits {
            found = found.map(|bits| canonical(to, bits));
        }
        prop_assert_eq!(found, concrete::cast(op, from, to, a), "{} {} {}", op, from, to);
    }
}
