//! The meaning of operators against the interpreter's arithmetic: a solver computes with the terms, and the
//! interpreter with numbers.

use std::time::Duration;

use lydian_base::Rng;
use lydian_check::meaning::{Meaning, binary, cast, compare, constant, unary};
use lydian_check::terms::{Sort, Term, Terms};
use lydian_check::{Answer, Solver};
use lydian_ir::arith::{self, Overflow};
use lydian_ir::{BinOp, CastOp, CmpOp, Type, UnOp};

const TYPES: [Type; 8] = [
    Type::Int(1),
    Type::Int(8),
    Type::Int(16),
    Type::Int(32),
    Type::Int(64),
    Type::Int(128),
    Type::F32,
    Type::F64,
];

/// Differences between terms and the interpreter, as one condition.
struct Comparison {
    terms: Terms,
    known: Vec<Term>,
    differences: Vec<Term>,
    rng: Rng,
}

impl Comparison {
    fn new(seed: u64) -> Self {
        let (terms, known, differences) = (Terms::default(), Vec::new(), Vec::new());
        Self { terms, known, differences, rng: Rng::new(seed) }
    }

    /// A number of a type, often one at a border.
    fn number(&mut self, ty: Type) -> u128 {
        let random = u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64());
        let bits = ty.bits();
        let mask = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
        let borders = [0, 1, 2, 3, 7, mask, mask >> 1, (mask >> 1) + 1, u128::from(bits)];
        let floats = [0, 1, 1.5_f64.to_bits(), (-0.0_f64).to_bits(), f64::INFINITY.to_bits()];
        let value = match self.rng.next_u64() % 4 {
            0 => borders[self.rng.next_u64() as usize % borders.len()],
            1 if ty == Type::F64 => floats[self.rng.next_u64() as usize % floats.len()].into(),
            1 if ty == Type::F32 => f32::to_bits((random as u8 as f32) - 100.5).into(),
            2 => random & 0xff,
            _ => random,
        };
        value & mask
    }

    /// A term with this value, which the solver has to find out in half of all cases.
    fn term(&mut self, ty: Type, bits: u128) -> Term {
        let value = constant(&mut self.terms, ty, bits, 64);
        if self.rng.next_u64().is_multiple_of(2) {
            return value;
        }
        let sort = self.terms.sort(value);
        let symbol = self.terms.fresh("operand", sort);
        let equation = self.terms.equal(symbol, value);
        self.known.push(equation);
        symbol
    }

    /// Notes where a meaning differs from what the interpreter gives.
    fn compare(&mut self, ty: Type, meaning: Meaning, expected: Result<u128, impl Sized>) {
        let no = self.terms.truth(false);
        let traps = meaning.traps.unwrap_or(no);
        let Ok(expected) = expected else {
            // Conversions that do not fit have any value instead of a trap.
            if meaning.traps.is_some() {
                let goes_on = self.terms.not(traps);
                self.differences.push(goes_on);
            }
            return;
        };
        self.differences.push(traps);
        let Some(value) = meaning.value else { return };
        let same = self.same(ty, value, expected);
        let differs = self.terms.not(same);
        self.differences.push(differs);
    }

    /// Whether a value is as expected. A NaN may be any NaN.
    fn same(&mut self, ty: Type, value: Term, expected: u128) -> Term {
        let constant = constant(&mut self.terms, ty, expected, 64);
        let is_nan = match ty {
            Type::F32 => f32::from_bits(expected as u32).is_nan(),
            Type::F64 => f64::from_bits(expected as u64).is_nan(),
            _ => false,
        };
        if !is_nan {
            return self.terms.equal(value, constant);
        }
        let float = lydian_check::meaning::float(&mut self.terms, ty, value);
        let float = float.expect("a float has one");
        self.terms.apply("fp.isNaN", &[float], Sort::Bool)
    }

    /// The solver finds no difference.
    fn assert_none(mut self) {
        let any = self.terms.any(&self.differences);
        let mut asserted = self.known.clone();
        asserted.push(any);
        let solver = Solver::find(None, Duration::from_secs(300)).expect("z3 from Debian");
        let answer = solver.ask(&self.terms.script(&asserted)).expect("an answer");
        assert_eq!(answer, Answer::Unsatisfiable);
    }
}

#[test]
fn operators_on_numbers_are_those_of_the_interpreter() {
    let mut all = Comparison::new(1);
    for ty in TYPES {
        for (op, _) in BinOp::ALL.into_iter().filter(|(op, _)| op.is_float() == ty.is_float()) {
            let is_truth = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
            if ty == Type::Int(1) && !is_truth {
                continue;
            }
            for _ in 0..6 {
                let (a, b) = (all.number(ty), all.number(ty));
                let (x, y) = (all.term(ty, a), all.term(ty, b));
                let meaning = binary(&mut all.terms, op, ty, x, y);
                all.compare(ty, meaning, arith::binary(op, ty, a, b, Overflow::Wrap));
            }
        }
    }
    all.assert_none();
}

#[test]
fn negations_are_those_of_the_interpreter() {
    let mut all = Comparison::new(2);
    for ty in TYPES {
        for (op, _) in UnOp::ALL {
            let fits = match op {
                UnOp::FNeg => ty.is_float(),
                UnOp::Not => !ty.is_float(),
                UnOp::NegU | UnOp::NegS => !ty.is_float() && ty != Type::Int(1),
            };
            for _ in 0..if fits { 5 } else { 0 } {
                let a = all.number(ty);
                let x = all.term(ty, a);
                let meaning = unary(&mut all.terms, op, ty, x);
                all.compare(ty, meaning, arith::unary(op, ty, a, Overflow::Wrap));
            }
        }
    }
    all.assert_none();
}

#[test]
fn comparisons_are_those_of_the_interpreter() {
    let mut all = Comparison::new(3);
    for ty in TYPES {
        for (op, _) in CmpOp::ALL.into_iter().filter(|(op, _)| op.is_float() == ty.is_float()) {
            for _ in 0..6 {
                let a = all.number(ty);
                let b = if all.rng.next_u64().is_multiple_of(3) { a } else { all.number(ty) };
                let (x, y) = (all.term(ty, a), all.term(ty, b));
                let value = compare(&mut all.terms, op, ty, x, y);
                let meaning = Meaning { value, traps: None };
                let expected = u128::from(arith::compare(op, ty, a, b));
                all.compare(Type::Int(1), meaning, Ok::<u128, ()>(expected));
            }
        }
    }
    all.assert_none();
}

/// Whether the IR has such a conversion.
fn converts(op: CastOp, from: Type, to: Type) -> bool {
    let (narrower, wider) = (to.bits() < from.bits(), to.bits() > from.bits());
    match op {
        CastOp::Trunc => !from.is_float() && !to.is_float() && narrower,
        CastOp::ZExt | CastOp::SExt => !from.is_float() && !to.is_float() && wider,
        CastOp::SToF | CastOp::UToF => !from.is_float() && to.is_float() && from != Type::Int(1),
        CastOp::FToS | CastOp::FToU => from.is_float() && !to.is_float() && to != Type::Int(1),
        CastOp::FToF => from.is_float() && to.is_float() && from != to,
        CastOp::Bits => from.bits() == to.bits() && from.is_float() != to.is_float(),
    }
}

#[test]
fn conversions_are_those_of_the_interpreter() {
    let mut all = Comparison::new(4);
    for from in TYPES {
        for to in TYPES {
            for (op, _) in CastOp::ALL.into_iter().filter(|(op, _)| converts(*op, from, to)) {
                for _ in 0..4 {
                    let a = all.number(from);
                    let x = all.term(from, a);
                    let meaning = cast(&mut all.terms, op, (from, to), x);
                    all.compare(to, meaning, arith::cast(op, from, to, a));
                }
            }
        }
    }
    all.assert_none();
}

#[test]
fn trees_of_operators_have_the_values_of_the_interpreter() {
    let mut all = Comparison::new(5);
    for ty in [Type::Int(8), Type::Int(32), Type::Int(64)] {
        let mut values: Vec<(u128, Term)> = Vec::new();
        for _ in 0..6 {
            let number = all.number(ty);
            let term = all.term(ty, number);
            values.push((number, term));
        }
        let ops: Vec<BinOp> =
            BinOp::ALL.into_iter().map(|(op, _)| op).filter(|op| !op.is_float()).collect();
        for _ in 0..60 {
            let pick = |rng: &mut Rng, count: usize| rng.next_u64() as usize % count;
            let op = ops[pick(&mut all.rng, ops.len())];
            let (a, b) = (
                values[pick(&mut all.rng, values.len())],
                values[pick(&mut all.rng, values.len())],
            );
            let meaning = binary(&mut all.terms, op, ty, a.1, b.1);
            let expected = arith::binary(op, ty, a.0, b.0, Overflow::Wrap);
            all.compare(ty, meaning, expected);
            if let (Ok(expected), Some(value)) = (expected, meaning.value) {
                values.push((expected, value));
            }
        }
    }
    all.assert_none();
}
