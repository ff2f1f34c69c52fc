use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use lydian_ir::cexact::Names;
use lydian_ir::{FuncId, GlobalId, LocalId, Overflow, arith};

use super::*;
use crate::rewrite::Purpose;
use crate::rewrite::predicates::parameters::ProbeParameters;

struct Nothing;

impl Names for Nothing {
    fn local(&self, _: LocalId) -> Option<String> {
        None
    }
    fn global(&self, _: GlobalId) -> Option<String> {
        None
    }
    fn function(&self, _: FuncId) -> Option<String> {
        None
    }
}

/// A case: the code of a test, and its expected result.
struct Case {
    code: Vec<u8>,
    expected: u8,
    what: String,
}

/// Makes cases whose oracle is the meaning of the IR's operators.
struct Cases {
    program: Program,
    overflow: Overflow,
    all: Vec<Case>,
}

impl Cases {
    /// A case for `result == value`, where `result` is made in an arena; a trap is expected to
    /// leave 0, that nothing is known.
    fn add(&mut self, make: impl Fn(&mut ExprArena) -> ExprId, ty: Type, value: Option<u128>) {
        let mut body = Body::returning();
        let result = make(&mut body.exprs);
        let wanted = body.exprs.push(Expr::Const(ty, value.unwrap_or(0)));
        let test = body.exprs.push(Expr::Cmp(CmpOp::Eq, result, wanted));
        let types = body.types_in(&body.exprs);
        let parameters = ProbeParameters::default();
        let passed = ParameterNames {
            names: &Nothing,
            program: &self.program,
            body: &body,
            purpose: Purpose::Program,
            parameters: &parameters,
        };
        let mut shared = SharedValues::default();
        let mut coder = CodeWriter {
            program: &self.program,
            body: &body,
            arena: &body.exprs,
            types: &types,
            names: &passed,
            guard_from: 0,
            overflow_traps: self.overflow == Overflow::Trap,
            shared: &mut shared,
            outcome: None,
        };
        let Some(code) = coder.test(test) else { return };
        assert!(shared.code.is_empty());
        let expected = if value.is_some() { 2 } else { 0 };
        let what = format!("{:?}", body.exprs.values().collect::<Vec<_>>());
        self.all.push(Case { code, expected, what });
    }

    fn binary(&mut self, op: BinOp, ty: Type, a: u128, b: u128) {
        let value = arith::binary(op, ty, a, b, self.overflow).ok();
        let make = |exprs: &mut ExprArena| {
            let (a, b) = (exprs.push(Expr::Const(ty, a)), exprs.push(Expr::Const(ty, b)));
            exprs.push(Expr::Binary(op, a, b))
        };
        self.add(make, ty, value);
    }

    fn unary(&mut self, op: UnOp, ty: Type, a: u128) {
        let value = arith::unary(op, ty, a, self.overflow).ok();
        let make = |exprs: &mut ExprArena| {
            let a = exprs.push(Expr::Const(ty, a));
            exprs.push(Expr::Unary(op, a))
        };
        self.add(make, ty, value);
    }

    fn compare(&mut self, op: CmpOp, ty: Type, a: u128, b: u128) {
        let value = u128::from(arith::compare(op, ty, a, b));
        let make = |exprs: &mut ExprArena| {
            let (a, b) = (exprs.push(Expr::Const(ty, a)), exprs.push(Expr::Const(ty, b)));
            exprs.push(Expr::Cmp(op, a, b))
        };
        self.add(make, Type::BOOL, Some(value));
    }

    fn cast(&mut self, op: CastOp, from: Type, to: Type, a: u128) {
        let value = arith::cast(op, from, to, a).ok();
        let make = |exprs: &mut ExprArena| {
            let a = exprs.push(Expr::Const(from, a));
            exprs.push(Expr::Cast(op, to, a))
        };
        self.add(make, to, value);
    }

    /// Everything that the machine has operators for, on values at borders.
    fn everything(&mut self) {
        let widths = [8, 16, 32, 64].map(Type::Int);
        for ty in widths {
            let values = borders(ty);
            for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))) {
                BinOp::ALL.iter().filter(|(op, _)| !is_float_operator(*op)).for_each(|(op, _)| {
                    self.binary(*op, ty, a, b);
                });
                CmpOp::ALL.iter().filter(|(op, _)| !op.is_float()).for_each(|(op, _)| {
                    self.compare(*op, ty, a, b);
                });
            }
            for a in values {
                for op in [UnOp::NegU, UnOp::NegS, UnOp::Not] {
                    self.unary(op, ty, a);
                }
                for to in widths {
                    let wider = bits(to) > bits(ty);
                    match wider {
                        true => {
                            self.cast(CastOp::ZExt, ty, to, a);
                            self.cast(CastOp::SExt, ty, to, a);
                        }
                        false if to != ty => self.cast(CastOp::Trunc, ty, to, a),
                        false => {}
                    }
                }
                for to in [Type::F32, Type::F64] {
                    self.cast(CastOp::SToF, ty, to, a);
                    self.cast(CastOp::UToF, ty, to, a);
                }
            }
        }
        for ty in [Type::F32, Type::F64] {
            let numbers = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                2.75,
                -127.5,
                128.0,
                255.9,
                -32768.9,
                65535.5,
                2147483647.0,
                2147483648.0,
                -2147483649.0,
                4294967295.0,
                4294967296.0,
                9.3e18,
                -9.3e18,
                1.9e19,
                1e30,
                f64::INFINITY,
                f64::NAN,
                1e-40,
            ];
            let values = numbers.map(|number| arith::float_bits(ty, number));
            for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))) {
                for op in [BinOp::FAdd, BinOp::FSub, BinOp::FMul, BinOp::FDiv] {
                    // Which NaN an operation gives is nobody's promise.
                    let value = arith::binary(op, ty, a, b, self.overflow);
                    let is_number = value.is_ok_and(|bits| !arith::to_f64(ty, bits).is_nan());
                    if is_number {
                        self.binary(op, ty, a, b);
                    }
                }
                CmpOp::ALL.iter().filter(|(op, _)| op.is_float()).for_each(|(op, _)| {
                    self.compare(*op, ty, a, b);
                });
            }
            for a in values {
                self.unary(UnOp::FNeg, ty, a);
                for to in [8, 16, 32, 64].map(Type::Int) {
                    self.cast(CastOp::FToS, ty, to, a);
                    self.cast(CastOp::FToU, ty, to, a);
                }
                let other = if ty == Type::F32 { Type::F64 } else { Type::F32 };
                if !arith::to_f64(ty, a).is_nan() {
                    self.cast(CastOp::FToF, ty, other, a);
                }
            }
        }
    }
}

fn is_float_operator(op: BinOp) -> bool {
    matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv)
}

fn borders(ty: Type) -> Vec<u128> {
    let bits = u32::from(bits(ty).unwrap());
    let all = if bits == 64 { u128::from(u64::MAX) } else { (1 << bits) - 1 };
    let least = 1u128 << (bits - 1);
    vec![0, 1, 2, 3, 7, 31, u128::from(bits), least - 1, least, least + 1, all - 1, all]
}

#[test]
fn code_means_what_the_operators_of_the_ir_mean() {
    let mut cases = Cases { program: Program::default(), overflow: Overflow::Wrap, all: vec![] };
    cases.everything();
    cases.overflow = Overflow::Trap;
    cases.everything();
    assert!(cases.all.len() > 30_000, "{}", cases.all.len());
    let place = tempfile::tempdir().unwrap();
    let (source, program) = (place.path().join("machine.c"), place.path().join("machine"));
    let mut codes = Vec::new();
    let mut starts = String::new();
    let mut expected = String::new();
    for case in &cases.all {
        let _ = write!(starts, "{}, ", codes.len());
        let _ = write!(expected, "{}, ", case.expected);
        codes.extend(&case.code);
    }
    let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
    let text = format!(
        "typedef unsigned char u8; typedef unsigned long word; typedef unsigned long long u64;\n\
         #define HIDDEN\n{}{}\n\
         int printf(const char *, ...);\n\
         static const u8 code[] = {{{}}}; static const int starts[] = {{{starts}}};\n\
         static const u8 expected[] = {{{expected}}};\n\
         int main(void) {{ u64 slots[1], pages[4] = {{0}};\n\
         for (int i = 0; i < {}; i++)\n\
         if (lydian_evaluate(code + starts[i], 0, 0, slots, pages) != expected[i])\n\
         printf(\"%d\\n\", i);\n\
         return 0; }}\n",
        operators(),
        include_str!("../../../../runtime/evaluate.h"),
        codes.join(","),
        cases.all.len(),
    );
    fs::write(&source, text).unwrap();
    for flags in [["-O0", "-m64"], ["-O2", "-m64"], ["-O2", "-m32"]] {
        let made = Command::new("clang-19")
            .args(flags)
            .arg("-w")
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let said = Command::new(&program).output().unwrap();
        assert!(said.status.success());
        let said = String::from_utf8(said.stdout).unwrap();
        let wrong: Vec<&str> = said
            .lines()
            .filter_map(|line| line.parse::<usize>().ok())
            .map(|index| cases.all[index].what.as_str())
            .collect();
        assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(8)]);
    }
}

#[test]
fn every_operator_has_a_name_in_c() {
    assert_eq!(Op::NAMES.len(), Op::ShlS as usize + 1);
    let text = operators();
    for (name, op) in [("CONST", Op::Const), ("WANTED", Op::Wanted), ("SHLS", Op::ShlS)] {
        assert!(text.contains(&format!("OP_{name} = {}", op as u8)), "{text}");
    }
}
