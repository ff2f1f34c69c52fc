//! The expressions of predicates keep the IR's rules, for operators of every type.

use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::source::{Point, Root, RootKind};
use lydian_ir::verify::verify_body;
use lydian_ir::{Expr, FuncId, Program, StmtId, Type, text};
use lydian_objective::{Criterion, Request, annotate};

/// A function with an expression of each kind, as assignments to temporaries.
const PROGRAM: &str = r#"
ty0 = void
ty1 = int "int" 32 signed
ty2 = int "unsigned int" 32 unsigned
ty3 = int "signed char" 8 signed
ty4 = int "long" 64 signed
ty5 = int "__int128" 128 signed
ty6 = float
ty7 = double
ty8 = pointer ty1
ty9 = array ty1 10
ty10 = record rec0
ty11 = pointer ty10
ty12 = enum "colour" ty2 { "RED" = 0 "GREEN" = 1 "GRUEN" = 1 }
ty13 = function ty0 (ty1, ty2, ty3, ty4, ty5, ty6, ty7, ty8, ty11, ty12)
rec0 = struct "struct s" size 8 align 4 { "a" ty1 at 0 "b" ty1 at 32 bits 5 }
global g0 "table" ty9 size 40 align 4 internal @0..5 = zero
global g1 "total" ty1 size 4 align 4 internal @5..9 = zero

function f0 "f" ty13 external ("i", "u", "c", "l", "w", "x", "y", "p", "s", "e") @10..900
{
  params (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9)
  local v0 "i" ty1 param register i32 @10..900
  local v1 "u" ty2 param register i32 @10..900
  local v2 "c" ty3 param register i8 @10..900
  local v3 "l" ty4 param register i64 @10..900
  local v4 "w" ty5 param register i128 @10..900
  local v5 "x" ty6 param register f32 @10..900
  local v6 "y" ty7 param register f64 @10..900
  local v7 "p" ty8 param register ptr @10..900
  local v8 "s" ty11 param register ptr @10..900
  local v9 "e" ty12 param register i32 @10..900
  local v10 "j" ty1 var register i32 @10..900
  local v11 "m" ty1 var memory 4 4 @10..900
  local v12 "" ty4 temp register i64
  local v13 "" ty5 temp register i128
  local v14 "" ty6 temp register f32
  local v15 "" ty7 temp register f64
  local v16 "" ty8 temp register ptr
  local v17 "" ty3 temp register i8
  entry bb0
  bb0:
    s0: v10 = add.s(mul.s(v0, 3:i32), rem.s(v0, v10))
    s1: v10 = div.u(sub.u(v1, 5:i32), shr.u(v1, 2:i32))
    s2: v10 = neg.s(shl.s(sext i32(v2), and(v0, 31:i32)))
    s3: v12 = or(xor(v3, 1:i64), not(sext i64(v0)))
    s4: v13 = mul.s(v4, sub.s(v4, 1:i128))
    s5: v14 = fdiv(fadd(v5, 1.5:f32), fneg(v5))
    s6: v15 = fmul(v6, ftof f64(v5))
    s7: v10 = ftos i32(v6)
    s8: v12 = ftou i64(v5)
    s9: v10 = load i32(index 4 of 10(&g0, sext i64(v0)))
    s10: v10 = load i32(field rec0 0(v8))
    s11: v10 = loadbits [rec0 1 byte 4 bit 0 width 5 signed i32](index 1(v8, 4:i64))
    s12: v12 = ptrdiff 4(v7, &v11)
    s13: v16 = index 4(v7, add.s(v3, 1:i64))
    s14: v10 = zext i32(lt.s(v0, 7:i32))
    s15: v10 = zext i32(flt(v6, 0.5:f64))
    s16: v10 = zext i32(eq(v7, 0:ptr))
    s17: v10 = zext i32(ge.u(v1, v9))
    s18: v10 = zext i32(fne(v5, v14))
    s19: v17 = trunc i8(add.s(sext i32(v2), 1:i32))
    s20: v10 = v0
    s21: store i32 &v11, load i32(&g1)
    s22: store i32 index 4(v7, v3), 0:i32
    return void
  source @10..900 {
  }
}
"#;

/// The program, with a text for each expression and a root for each whole one.
fn program() -> Program {
    let mut program = text::parse(PROGRAM).unwrap_or_else(|error| panic!("{error}"));
    let body = program.functions[FuncId::from_index(0)].body.as_mut().expect("a body");
    for id in body.exprs.ids() {
        let start = 100 + 2 * id.index() as u32;
        body.source.exprs.set(id, Span::new(start, start + 1));
    }
    let mut roots = Vec::new();
    for (stmt, kind) in body.stmts.iter() {
        kind.for_each_expr(|expr| {
            let kind = match body.type_of(expr) {
                Type::Ptr if stmt.index() >= 21 => RootKind::Address,
                _ => RootKind::Value,
            };
            roots.push((stmt, expr, kind));
        });
    }
    let assigned = StmtId::from_index(20);
    for (stmt, expr, mut kind) in roots {
        if stmt == assigned {
            let local = body.locals.ids().find(|id| body.locals[*id].name == "j");
            kind = RootKind::Assigned { local, addr: None };
        }
        let (point, captures) = (Point::Stmt(stmt), Vec::new());
        let span = body.source.exprs[expr];
        body.source.roots.push(Root {
            point,
            copies: Vec::new(),
            expr,
            kind,
            span,
            captures,
            rewritable: true,
        });
    }
    program
}

#[test]
fn predicates_keep_the_rules_of_expressions() {
    let program = program();
    let function = FuncId::from_index(0);
    let body = program.functions[function].body.as_ref().expect("a body");
    assert_eq!(verify_body(&program, function, body), [], "the program itself");

    let map = SourceMap::from_preprocessed(" ".repeat(2000), "sample.c");
    let request = Request::new(Criterion::ALL.map(|(criterion, _)| criterion));
    let objectives = annotate(&program, &map, function, &request).expect("a body").objectives;
    let mut extended = body.clone();
    extended.exprs = objectives.exprs.clone();
    assert_eq!(verify_body(&program, function, &extended), []);
    for label in objectives.labels.values() {
        label.pred.for_each_expr(&mut |expr| {
            assert_eq!(extended.type_of(expr), Type::BOOL, "{:?}", label.pred);
        });
    }
    let count = |criterion: Criterion| objectives.criteria[&criterion].len();
    assert!(count(Criterion::Wm) > 300, "{}", count(Criterion::Wm));
    assert!(count(Criterion::Rte) > 15, "{}", count(Criterion::Rte));
    // Five classes of each signed integer (4), three of the unsigned, six of each float (2), two of
    // each pointer (2); two values of the enumeration and all others.
    assert_eq!(count(Criterion::Idc), 20 + 3 + 12 + 4 + 3);
}

#[test]
fn a_new_expression_that_may_trap_is_none_of_the_bodys() {
    let program = program();
    let function = FuncId::from_index(0);
    let body = program.functions[function].body.as_ref().expect("a body");
    let map = SourceMap::from_preprocessed(" ".repeat(2000), "sample.c");
    let objectives = annotate(&program, &map, function, &Request::new([Criterion::Wm]))
        .expect("a body")
        .objectives;
    // Each operator of the body that a predicate uses belongs to the root of the predicate.
    for label in objectives.labels.values() {
        let lydian_objective::Site::Root(root) = label.site else { continue };
        let mut own = vec![body.source.roots[root].expr];
        let mut next = 0;
        while let Some(expr) = own.get(next).copied() {
            body.exprs[expr].for_each_operand(|operand| own.push(operand));
            next += 1;
        }
        let mut rest = Vec::new();
        label.pred.for_each_expr(&mut |expr| rest.push(expr));
        while let Some(expr) = rest.pop() {
            let node = &objectives.exprs[expr];
            let mut leaf = true;
            node.for_each_operand(|operand| {
                leaf = false;
                rest.push(operand);
            });
            let of_body = expr.index() < body.exprs.len();
            assert!(leaf || !of_body || own.contains(&expr), "{:?} uses {node:?}", label.site);
            assert!(!matches!(node, Expr::Load { volatile: true, .. }));
        }
    }
}

#[test]
fn predicates_read_as_c() {
    let program = program();
    let function = FuncId::from_index(0);
    // The spans are of blank text, so every expression is spelled from its tree.
    let map = SourceMap::from_preprocessed(" ".repeat(2000), "sample.c");
    let criteria = [Criterion::Rte, Criterion::Wm];
    let annotation = annotate(&program, &map, function, &Request::new(criteria)).expect("a body");
    let texts: Vec<&str> =
        annotation.objectives.labels.values().map(|label| &*label.text).collect();
    for expected in [
        "j == 0",
        "s == 0",
        "i >= 10ul",
        "!((x > -1.0f) && (x < 1.8446744e19f))",
        "table[i] != -table[i]",
        "s->a != s->a + 1",
        "s->b != ~s->b",
        "(i < 7) != (i <= 7)",
        "j != i",
    ] {
        assert!(texts.contains(&expected), "no `{expected}` among {texts:#?}");
    }
}
