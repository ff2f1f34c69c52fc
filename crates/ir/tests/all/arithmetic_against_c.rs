//! `arith` and `cexact` against what C compilers make of the same operators.
//!
//! One C file holds a function for every operator on every type, and for random trees of them; it
//! is compiled once by `cc` and run once. `arith` must agree on every result and on what traps.

use std::fmt::Write as _;
use std::process::Command;

use lydian_base::{Arena, EntityId, Rng, Span};
use lydian_ir::arith::{self, Overflow};
use lydian_ir::cexact::{ExactC, Guard, Loads, Names, c_type, prelude};
use lydian_ir::{
    BinOp, Body, CType, CastOp, CmpOp, Expr, ExprId, FuncId, GlobalId, Local, LocalId, LocalKind,
    Program, Storage, TrapKind, Type, UnOp,
};

const ALL: [Type; 9] = [
    Type::Int(1),
    Type::Int(8),
    Type::Int(16),
    Type::Int(32),
    Type::Int(64),
    Type::Int(128),
    Type::F32,
    Type::F64,
    Type::Ptr,
];

struct ByIndex;

impl Names for ByIndex {
    fn local(&self, local: LocalId) -> Option<String> {
        Some(format!("v{}", local.index()))
    }
    fn global(&self, _: GlobalId) -> Option<String> {
        None
    }
    fn function(&self, _: FuncId) -> Option<String> {
        None
    }
}

/// Two register locals of each type: number `2 * type` and the next.
fn body(program: &mut Program) -> Body {
    let ty = program.types.intern(CType::Void);
    let mut locals = Arena::new();
    for ty_of in ALL {
        for _ in 0..2 {
            locals.push(Local {
                name: String::new(),
                ty,
                kind: LocalKind::Temp,
                storage: Storage::Register(ty_of),
                scope: Span::NONE,
            });
        }
    }
    Body { locals, ..Body::returning() }
}

fn local(ty: Type, second: usize) -> LocalId {
    let index = ALL.iter().position(|other| *other == ty).expect("every type is in the list");
    LocalId::from_index(2 * index + second)
}

/// Evaluates without memory. Every operand is evaluated, so the first trap is the result.
fn eval(body: &Body, expr: ExprId, row: &[u128], overflow: Overflow) -> Result<u128, TrapKind> {
    let at = |id| eval(body, id, row, overflow);
    match &body.exprs[expr] {
        Expr::Const(_, bits) => Ok(*bits),
        Expr::Local(local) => Ok(row[local.index()]),
        Expr::Unary(op, a) => arith::unary(*op, body.type_of(*a), at(*a)?, overflow),
        Expr::Binary(op, a, b) => arith::binary(*op, body.type_of(*a), at(*a)?, at(*b)?, overflow),
        Expr::Cmp(op, a, b) => {
            Ok(u128::from(arith::compare(*op, body.type_of(*a), at(*a)?, at(*b)?)))
        }
        Expr::Cast(op, to, a) => arith::cast(*op, body.type_of(*a), *to, at(*a)?),
        Expr::Index { base, index, size, .. } => {
            Ok(u128::from(arith::element_address(at(*base)? as u64, at(*index)? as u64, *size)))
        }
        Expr::PtrDiff { a, b, size } => {
            Ok(u128::from(arith::address_difference(at(*a)? as u64, at(*b)? as u64, *size)))
        }
        other => panic!("the generator makes no {other:?}"),
    }
}

fn is_float_op(op: BinOp) -> bool {
    matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv)
}

fn cast_fits(op: CastOp, from: Type, to: Type) -> bool {
    let (int_from, int_to) = (matches!(from, Type::Int(_)), matches!(to, Type::Int(_)));
    match op {
        CastOp::Trunc => int_from && int_to && from.bits() > to.bits(),
        CastOp::ZExt | CastOp::SExt => int_from && int_to && from.bits() < to.bits(),
        CastOp::SToF | CastOp::UToF => int_from && to.is_float(),
        CastOp::FToS | CastOp::FToU => from.is_float() && int_to && to != Type::BOOL,
        CastOp::FToF => from.is_float() && to.is_float() && from != to,
        CastOp::Bits => from.bits() == to.bits() && from != to,
    }
}

/// Every operator once on each type that it is for, on locals.
fn single_operators(body: &mut Body) -> Vec<ExprId> {
    let mut all = Vec::new();
    let leaf = |body: &mut Body, ty, second| body.exprs.push(Expr::Local(local(ty, second)));
    for ty in ALL {
        let (a, b) = (leaf(body, ty, 0), leaf(body, ty, 1));
        for (op, _) in BinOp::ALL {
            let fits = is_float_op(op) == ty.is_float() && ty != Type::Ptr && ty != Type::BOOL;
            if fits || (ty == Type::BOOL && matches!(op, BinOp::And | BinOp::Or | BinOp::Xor)) {
                all.push(body.exprs.push(Expr::Binary(op, a, b)));
            }
        }
        for (op, _) in CmpOp::ALL {
            if op.is_float() == ty.is_float() {
                all.push(body.exprs.push(Expr::Cmp(op, a, b)));
            }
        }
        for (op, _) in UnOp::ALL {
            let fits = (op == UnOp::FNeg) == ty.is_float() && ty != Type::Ptr;
            if fits && (ty != Type::BOOL || op == UnOp::Not) {
                all.push(body.exprs.push(Expr::Unary(op, a)));
            }
        }
        for (op, _) in CastOp::ALL {
            for to in ALL.into_iter().filter(|to| cast_fits(op, ty, *to)) {
                all.push(body.exprs.push(Expr::Cast(op, to, a)));
            }
        }
    }
    let (p, q) = (leaf(body, Type::Ptr, 0), leaf(body, Type::Ptr, 1));
    let index = leaf(body, Type::Int(64), 0);
    for size in [1, 4, 24] {
        all.push(body.exprs.push(Expr::Index { base: p, index, size, bound: None }));
        all.push(body.exprs.push(Expr::PtrDiff { a: p, b: q, size }));
    }
    all
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// A random tree of type `ty`. Floats are never read as bits inside, since NaNs differ there.
fn random_tree(body: &mut Body, rng: &mut Rng, ty: Type, depth: u32) -> ExprId {
    let leaf = depth == 0 || rng.below(5) == 0;
    let expr = match ty {
        _ if leaf && rng.below(4) == 0 => {
            let bits = match ty {
                Type::F32 => arith::f32_bits(rng.below(1000) as f32 / 8.0),
                Type::F64 => arith::f64_bits(rng.below(1000) as f64 / 8.0),
                _ => arith::truncate(ty, interesting(rng, ty)),
            };
            Expr::Const(ty, bits)
        }
        _ if leaf => Expr::Local(local(ty, rng.below(2) as usize)),
        Type::Int(1) => {
            let of = pick(rng, &ALL);
            let a = random_tree(body, rng, of, depth - 1);
            let b = random_tree(body, rng, of, depth - 1);
            let ops = CmpOp::ALL.map(|(op, _)| op);
            let ops: Vec<_> = ops.into_iter().filter(|op| op.is_float() == of.is_float()).collect();
            Expr::Cmp(pick(rng, &ops), a, b)
        }
        Type::Ptr => {
            let base = random_tree(body, rng, Type::Ptr, depth - 1);
            let index = random_tree(body, rng, Type::Int(64), depth - 1);
            Expr::Index { base, index, size: 1 + rng.below(9), bound: None }
        }
        _ if rng.below(4) == 0 => {
            let mut casts = Vec::new();
            for (op, _) in CastOp::ALL {
                let from = ALL.into_iter().filter(|from| cast_fits(op, *from, ty));
                casts.extend(from.filter(|_| op != CastOp::Bits).map(|from| (op, from)));
            }
            let (op, from) = pick(rng, &casts);
            Expr::Cast(op, ty, random_tree(body, rng, from, depth - 1))
        }
        _ if rng.below(6) == 0 => {
            let op = match ty.is_float() {
                true => UnOp::FNeg,
                false => pick(rng, &[UnOp::NegS, UnOp::NegU, UnOp::Not]),
            };
            Expr::Unary(op, random_tree(body, rng, ty, depth - 1))
        }
        _ => {
            let ops = BinOp::ALL.map(|(op, _)| op);
            let ops: Vec<_> =
                ops.into_iter().filter(|op| is_float_op(*op) == ty.is_float()).collect();
            let a = random_tree(body, rng, ty, depth - 1);
            let b = random_tree(body, rng, ty, depth - 1);
            Expr::Binary(pick(rng, &ops), a, b)
        }
    };
    body.exprs.push(expr)
}

/// Numbers near the borders more often than others.
fn interesting(rng: &mut Rng, ty: Type) -> u128 {
    let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    let bits = ty.bits();
    let near = u128::from(rng.below(5)).wrapping_sub(2);
    match rng.below(6) {
        0 => near,
        1 => (1u128 << (bits - 1)).wrapping_add(near),
        2 => u128::from(rng.below(2 * u64::from(bits))),
        3 => random >> rng.below(128),
        _ => random,
    }
}

fn random_input(rng: &mut Rng, ty: Type) -> u128 {
    let number = |rng: &mut Rng| match rng.below(8) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => -0.0,
        3 => 2f64.powi(rng.below(140) as i32),
        4 => -(2f64.powi(rng.below(140) as i32)) - 0.5,
        _ => (rng.below(2_000_000) as f64 - 1e6) / 64.0,
    };
    match ty {
        Type::F32 => arith::f32_bits(number(rng) as f32),
        Type::F64 => arith::f64_bits(number(rng)),
        _ => arith::truncate(ty, interesting(rng, ty)),
    }
}

const POISON: &str = "bad";

/// The C file: rows of inputs, one function for each expression, and a loop over both.
fn c_file(program: &Program, body: &Body, exprs: &[ExprId], rows: &[Vec<u128>]) -> String {
    let mut c = String::from("#include <stdio.h>\n#include <string.h>\n");
    c.push_str(&prelude(lydian_ir::Target::default(), None));
    let halves = |value: u128| format!("{{{}ul,{}ul}}", value as u64, (value >> 64) as u64);
    let columns = ALL.len() * 2;
    writeln!(c, "static const lydian_u64 rows[{}][{columns}][2] = {{", rows.len()).unwrap();
    for row in rows {
        let cells: Vec<_> = row.iter().map(|value| halves(*value)).collect();
        writeln!(c, "{{{}}},", cells.join(",")).unwrap();
    }
    c.push_str("};\nstatic int bad;\n");
    for (index, name) in [("0", "wrap"), ("1", "checked")] {
        let overflow_traps = index == "1";
        let guard = Guard {
            poison: POISON,
            pages: None,
            from: 0,
            overflow_traps,
            loads: Loads::Everything,
        };
        let printer = ExactC::new(program, body, &body.exprs, &ByIndex, Some(guard));
        for (k, expr) in exprs.iter().enumerate() {
            writeln!(c, "static void {name}{k}(const lydian_u64 in[][2], char *out) {{").unwrap();
            for (column, ty) in ALL.iter().flat_map(|ty| [ty, ty]).enumerate() {
                let ty = c_type(*ty);
                writeln!(c, "{ty} v{column}; memcpy(&v{column}, in[{column}], sizeof v{column}); (void)v{column};").unwrap();
            }
            let ty = c_type(body.type_of(*expr));
            let text = printer.text(*expr).expect("all locals have names");
            writeln!(c, "{ty} r = {text}; memcpy(out, &r, sizeof r); }}").unwrap();
        }
    }
    c.push_str("typedef void fn(const lydian_u64 [][2], char *);\n");
    for name in ["wrap", "checked"] {
        let all: Vec<_> = (0..exprs.len()).map(|k| format!("{name}{k}")).collect();
        writeln!(c, "static fn *const {name}_all[] = {{{}}};", all.join(",")).unwrap();
    }
    writeln!(
        c,
        "int main(void) {{ for (int m = 0; m < 2; m++) for (int k = 0; k < {}; k++) \
         for (int r = 0; r < {}; r++) {{ lydian_u64 out[2] = {{0, 0}}; bad = 0; \
         (m ? checked_all : wrap_all)[k](rows[r], (char *)out); \
         printf(\"%d %lx %lx\\n\", bad, out[1], out[0]); }} return 0; }}",
        exprs.len(),
        rows.len()
    )
    .unwrap();
    c
}

fn compile_and_run(compiler: &str, c: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder for temporary files");
    let (source, program) = (dir.path().join("a.c"), dir.path().join("a"));
    std::fs::write(&source, c).expect("the folder is writable");
    let flags = ["-O1", "-fwrapv", "-ffp-contract=off", "-Wall", "-Werror", "-w", "-o"];
    let compiled = Command::new(compiler)
        .args(flags)
        .arg(&program)
        .arg(&source)
        .output()
        .expect("the C compiler starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().expect("the program starts");
    assert!(run.status.success(), "{:?}", run.status);
    String::from_utf8(run.stdout).expect("the program prints text")
}

fn same(ty: Type, ours: u128, native: u128) -> bool {
    let is_nan = |bits: u128| match ty {
        Type::F32 => arith::f32_of(bits).is_nan(),
        Type::F64 => arith::f64_of(bits).is_nan(),
        _ => false,
    };
    ours == native || (is_nan(ours) && is_nan(native))
}

fn assert_agreement(body: &Body, exprs: &[ExprId], rows: &[Vec<u128>], output: &str) -> [usize; 2] {
    let mut lines = output.lines();
    let mut seen = [0; 2];
    for overflow in [Overflow::Wrap, Overflow::Trap] {
        for expr in exprs {
            for row in rows {
                let line = lines.next().expect("one line for each case");
                let fields: Vec<_> = line
                    .split(' ')
                    .map(|field| u128::from_str_radix(field, 16).expect("hexadecimal numbers"))
                    .collect();
                let native = fields[1] << 64 | fields[2];
                let ours = eval(body, *expr, row, overflow);
                seen[usize::from(ours.is_err())] += 1;
                let ty = body.type_of(*expr);
                let agrees = match ours {
                    Err(_) => fields[0] == 1,
                    Ok(value) => fields[0] == 0 && same(ty, value, native),
                };
                let what = &body.exprs[*expr];
                assert!(agrees, "{what:?} {overflow:?} on {row:x?}: {ours:x?}, natively {line}");
            }
        }
    }
    assert_eq!(lines.next(), None);
    seen
}

fn check(exprs_of: impl Fn(&mut Body, &mut Rng) -> Vec<ExprId>, row_count: usize, compiler: &str) {
    let mut rng = Rng::new(2026);
    let mut program = Program::default();
    let mut body = body(&mut program);
    let exprs = exprs_of(&mut body, &mut rng);
    let row = |rng: &mut Rng| {
        ALL.iter().flat_map(|ty| [ty, ty]).map(|ty| random_input(rng, *ty)).collect()
    };
    let rows: Vec<Vec<u128>> = (0..row_count).map(|_| row(&mut rng)).collect();
    let output = compile_and_run(compiler, &c_file(&program, &body, &exprs, &rows));
    let [values, traps] = assert_agreement(&body, &exprs, &rows, &output);
    assert!(values > 1000 && traps > 100, "{values} values and {traps} traps are too few");
}

#[test]
fn every_operator_computes_what_gcc_computes_and_traps_where_it_must() {
    check(|body, _| single_operators(body), 200, "cc");
}

#[test]
fn random_expressions_written_as_c_compute_what_the_ir_says_under_clang() {
    let trees = |body: &mut Body, rng: &mut Rng| {
        let mut exprs = Vec::new();
        for k in 0..200 {
            exprs.push(random_tree(body, rng, ALL[k % ALL.len()], 1 + (k % 4) as u32));
        }
        exprs
    };
    check(trees, 40, "clang-19");
}
