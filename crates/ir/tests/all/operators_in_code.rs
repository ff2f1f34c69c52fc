//! Every operator at every width computes in the interpreter's code what `arith` says, with its
//! operands in registers and as constants, as a value and as the test of a branch.

use lydian_base::Rng;
use lydian_ir::arith::{self, Overflow};
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_ir::test::{Image, Test};
use lydian_ir::text::parse;
use lydian_ir::verify::verify;
use lydian_ir::{BinOp, CastOp, CmpOp, Program, TrapKind, Type, UnOp};

/// Types with their C types, and the same as `ty0` to `ty6`.
const TYPES: [Type; 7] = [
    Type::Int(8),
    Type::Int(16),
    Type::Int(32),
    Type::Int(64),
    Type::Int(128),
    Type::F32,
    Type::F64,
];

const HEAD: &str = "ty0 = int \"char\" 8 signed ty1 = int \"short\" 16 signed
ty2 = int \"int\" 32 signed ty3 = int \"long\" 64 signed ty4 = int \"__int128\" 128 signed
ty5 = float ty6 = double\n";

fn position(ty: Type) -> usize {
    TYPES.iter().position(|other| *other == ty).expect("only these types are used")
}

/// Numbers near which something happens, and others.
fn numbers(ty: Type, rng: &mut Rng) -> Vec<u128> {
    let bits = ty.bits();
    let mut found: Vec<u128> = match ty {
        Type::F32 => [0.0f32, -0.0, 1.5, -2.5, 3e9, f32::INFINITY, f32::NAN]
            .map(|number| u128::from(number.to_bits()))
            .to_vec(),
        Type::F64 => [0.0f64, -0.0, 1.5, -2.5, 3e9, 1e300, f64::NEG_INFINITY, f64::NAN]
            .map(|number| u128::from(number.to_bits()))
            .to_vec(),
        _ => vec![0, 1, 2, 7, u128::from(bits) - 1, u128::from(bits), u128::MAX, 1 << (bits - 1)],
    };
    if !ty.is_float() {
        found.extend([(1 << (bits - 1)) - 1, u128::MAX - 1]);
        let wide = |rng: &mut Rng| u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        found.extend([wide(rng), wide(rng) >> 100]);
    }
    found.into_iter().map(|number| arith::truncate(ty, number)).collect()
}

fn constant(ty: Type, bits: u128) -> String {
    format!("0x{bits:x}:{ty}")
}

/// A function of two values of a type whose body this is.
fn program(ty: Type, result: Type, body: &str) -> Program {
    let (a, r) = (position(ty), position(result));
    let text = format!(
        "{HEAD}ty7 = function ty{r} (ty{a}, ty{a})
         function f0 \"f\" ty7 external (\"x\", \"y\") {{ params (v0, v1)
         local v0 \"x\" ty{a} param register {ty} local v1 \"y\" ty{a} param register {ty}
         entry bb0 bb0: {body} }}\n"
    );
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}\n{text}");
    program
}

fn value(
    program: &Program,
    ty: Type,
    x: u128,
    y: u128,
    overflow: Overflow,
) -> Result<u128, TrapKind> {
    let image = |bits: u128| Image {
        bytes: bits.to_le_bytes()[..ty.bytes() as usize].to_vec(),
        pointers: vec![],
    };
    let test = Test::calling("f", vec![image(x), image(y)]);
    let options = Options { overflow, ..Options::default() };
    let outcome = run(program, &test, &options, &mut Silent).expect("the test suits");
    match (outcome.end, outcome.result) {
        (End::Returned, Some(bytes)) => {
            let mut raw = [0; 16];
            raw[..bytes.len()].copy_from_slice(&bytes);
            Ok(u128::from_le_bytes(raw))
        }
        (End::Trapped(kind), None) => Err(kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn binary_operators_with_registers_and_constants() {
    let mut rng = Rng::new(1);
    for (op, name) in BinOp::ALL {
        let is_float = matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv);
        for ty in TYPES.into_iter().filter(|ty| ty.is_float() == is_float) {
            let numbers = numbers(ty, &mut rng);
            let both = program(ty, ty, &format!("return {name}(v0, v1)"));
            for overflow in [Overflow::Wrap, Overflow::Trap] {
                for (at, b) in numbers.iter().enumerate() {
                    let right =
                        program(ty, ty, &format!("return {name}(v0, {})", constant(ty, *b)));
                    let left = program(ty, ty, &format!("return {name}({}, v0)", constant(ty, *b)));
                    for a in numbers.iter().skip(at % 3).step_by(2) {
                        let expected = arith::binary(op, ty, *a, *b, overflow);
                        let text = format!("{name} {ty} {a:x} {b:x} {overflow:?}");
                        assert_eq!(value(&both, ty, *a, *b, overflow), expected, "{text}");
                        assert_eq!(value(&right, ty, *a, 0, overflow), expected, "{text} right");
                        let expected = arith::binary(op, ty, *b, *a, overflow);
                        assert_eq!(value(&left, ty, *a, 0, overflow), expected, "{text} left");
                    }
                }
            }
        }
    }
}

#[test]
fn comparisons_as_values_and_as_tests() {
    let mut rng = Rng::new(2);
    let int = Type::Int(32);
    for (op, name) in CmpOp::ALL {
        for ty in TYPES.into_iter().filter(|ty| ty.is_float() == op.is_float()) {
            let numbers = numbers(ty, &mut rng);
            let bodies = |test: &str| {
                [
                    program(ty, int, &format!("return zext i32({test})")),
                    program(
                        ty,
                        int,
                        &format!("branch {test} ? bb1 : bb2 bb1: return 1:i32 bb2: return 0:i32"),
                    ),
                    program(
                        ty,
                        int,
                        &format!("branch {test} ? bb2 : bb1 bb1: return 0:i32 bb2: return 1:i32"),
                    ),
                ]
            };
            let both = bodies(&format!("{name}(v0, v1)"));
            for (at, b) in numbers.iter().enumerate() {
                let right = bodies(&format!("{name}(v0, {})", constant(ty, *b)));
                let left = bodies(&format!("{name}({}, v0)", constant(ty, *b)));
                for a in numbers.iter().skip(at % 2).step_by(2) {
                    let expected = u128::from(arith::compare(op, ty, *a, *b));
                    let other = u128::from(arith::compare(op, ty, *b, *a));
                    for form in 0..3 {
                        let text = format!("{name} {ty} {a:x} {b:x} form {form}");
                        let wraps = Overflow::Wrap;
                        assert_eq!(value(&both[form], ty, *a, *b, wraps), Ok(expected), "{text}");
                        assert_eq!(value(&right[form], ty, *a, 0, wraps), Ok(expected), "{text}");
                        assert_eq!(value(&left[form], ty, *a, 0, wraps), Ok(other), "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn operators_of_one_operand_and_conversions() {
    let mut rng = Rng::new(3);
    for ty in TYPES {
        let numbers = numbers(ty, &mut rng);
        for (op, name) in UnOp::ALL {
            if ty.is_float() != (op == UnOp::FNeg) {
                continue;
            }
            let made = program(ty, ty, &format!("return {name}(v0)"));
            for overflow in [Overflow::Wrap, Overflow::Trap] {
                for a in &numbers {
                    let expected = arith::unary(op, ty, *a, overflow);
                    assert_eq!(value(&made, ty, *a, 0, overflow), expected, "{name} {ty} {a:x}");
                }
            }
        }
        for to in TYPES {
            let (from_float, to_float) = (ty.is_float(), to.is_float());
            for (op, name) in CastOp::ALL {
                let suits = match op {
                    CastOp::Trunc => !from_float && !to_float && to.bits() < ty.bits(),
                    CastOp::ZExt | CastOp::SExt => {
                        !from_float && !to_float && to.bits() > ty.bits()
                    }
                    CastOp::SToF | CastOp::UToF => !from_float && to_float,
                    CastOp::FToS | CastOp::FToU => from_float && !to_float,
                    CastOp::FToF => from_float && to_float && ty != to,
                    CastOp::Bits => from_float != to_float && ty.bits() == to.bits(),
                };
                if !suits {
                    continue;
                }
                let made = program(ty, to, &format!("return {name} {to}(v0)"));
                for a in &numbers {
                    let expected = arith::cast(op, ty, to, *a);
                    let found = value(&made, ty, *a, 0, Overflow::Wrap);
                    assert_eq!(found, expected, "{name} {ty} {to} {a:x}");
                }
            }
        }
    }
}
