use super::*;
use crate::text::parse;
use lydian_base::EntityId;

const HEAD: &str = r#"
ty0 = void
ty1 = int "int" 32 signed
ty2 = int "char" 8 signed
ty3 = pointer ty2
ty4 = int "unsigned long" 64 unsigned
ty5 = double
ty6 = record rec0
ty7 = pointer ty6
ty8 = array ty2 16
ty9 = array ty6 3
ty10 = int "unsigned int" 32 unsigned
ty11 = function ty1 ()
ty12 = record rec1
ty13 = pointer ty3
ty14 = float
ty15 = int "unsigned char" 8 unsigned
rec0 = struct "struct s" size 40 align 8 {
  "len" ty1 at 0 "" ty12 at 32 "buf" ty8 at 64 "next" ty7 at 192 "flag" ty10 at 258 bits 3
}
rec1 = union "" size 4 align 4 { "u" ty1 at 0 "v" ty14 at 0 }
global g0 "table" ty9 size 120 align 8 external = zero
global g1 "f.count" ty4 size 8 align 8 internal = zero
global g2 ".str.0" ty8 size 4 align 1 internal const = { 0: "a\"b\x00" }
"#;

/// The text of an expression over parameters of many types.
fn c(expr: &str) -> String {
    let text = format!(
        "{HEAD} function f0 \"f\" ty11 external () {{ params ()
  local v0 \"i\" ty1 param register i32 local v1 \"c\" ty2 param register i8
  local v2 \"p\" ty7 param register ptr local v3 \"n\" ty4 param register i64
  local v4 \"d\" ty5 param register f64 local v5 \"s\" ty3 param register ptr
  local v6 \"obj\" ty6 var memory 40 8 local v7 \"u\" ty10 param register i32
  local v8 \"argv\" ty13 param register ptr local v9 \"h\" ty14 param register f32
  local v10 \"b\" ty15 param register i8
  entry bb0 bb0: return $x:{expr} }}"
    );
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}: {expr}"));
    let body = program.functions.values().next().unwrap().body.as_ref().unwrap();
    let last = ExprId::from_index(body.exprs.len() - 1);
    UserC::new(&program, body, &body.exprs, &|_| None).text(last)
}

#[test]
fn members_elements_and_pointers_are_written_as_c_writes_them() {
    let cases = [
        ("load i32(field rec0 0(v2))", "p->len"),
        ("load i32(field rec0 0(&v6))", "obj.len"),
        ("load i32(field rec1 0(field rec0 1(v2)))", "p->u"),
        ("load f32(field rec1 1(field rec0 1(&v6)))", "obj.v"),
        ("load i8(index 1 of 16(field rec0 2(v2), sext i64(v0)))", "p->buf[i]"),
        ("load i32(field rec0 0(index 40(&g0, sext i64(v0))))", "table[i].len"),
        ("load i32(field rec0 0(load ptr(field rec0 3(v2))))", "p->next->len"),
        ("load i8(v5)", "*s"),
        ("load i8(index 1(v5, 2:i64))", "s[2]"),
        ("index 1(v5, sext i64(v0))", "s + i"),
        ("load i8(load ptr(v8))", "**argv"),
        ("load i8(load ptr(index 8(v8, sext i64(v0))))", "*argv[i]"),
        ("field rec0 0(v2)", "&p->len"),
        ("field rec0 2(v2)", "p->buf"),
        ("index 40(&g0, 1:i64)", "&table[1]"),
        ("index 40(v2, 1:i64)", "p + 1"),
        ("load i64(&g1)", "count"),
        ("load i8(index 1(&g2, zext i64(v7)))", "\"a\\\"b\"[u]"),
        ("&g2", "\"a\\\"b\""),
        ("&f0", "f"),
        ("loadbits [rec0 4 byte 32 bit 2 width 3 unsigned i32](index 1(v2, 32:i64))", "p->flag"),
        ("load i32(field rec0 2(v2))", "*(unsigned int *)p->buf"),
        ("load i32(index 1(v2, 3:i64))", "*(unsigned int *)((char *)p + 3)"),
        ("ptrdiff 1(v5, load ptr(v8))", "s - *argv"),
    ];
    for (ir, expected) in cases {
        assert_eq!(c(ir), expected, "{ir}");
    }
}

#[test]
fn conversions_show_only_where_c_would_not_make_them() {
    let cases = [
        ("eq(sext i32(v1), 120:i32)", "c == 'x'"),
        ("add.s(v0, sext i32(v1))", "i + c"),
        ("add.u(sext i64(v0), v3)", "i + n"),
        ("lt.u(sext i64(v0), v3)", "i < n"),
        ("lt.s(sext i64(v0), v3)", "i < (long)n"),
        ("add.s(sext i64(v0), 1:i64)", "i + 1l"),
        ("lt.u(v0, v7)", "i < u"),
        ("lt.s(v0, v7)", "i < (int)u"),
        ("lt.u(v0, 5:i32)", "i < 5u"),
        ("zext i64(v0)", "(unsigned int)i"),
        ("fadd(stof f64(v0), v4)", "i + d"),
        ("fdiv(stof f64(v0), 2.0:f64)", "i / 2.0"),
        ("fdiv(stof f64(v0), stof f64(v0))", "(double)i / i"),
        ("fmul(ftof f64(v9), v4)", "h * d"),
        ("fmul(v9, 0.5:f32)", "h * 0.5f"),
        ("ftos i32(v4)", "(int)d"),
        ("trunc i8(v0)", "(signed char)i"),
        ("ne(v2, 0:ptr)", "p != 0"),
        ("and(v7, 0xff00:i32)", "u & 0xff00"),
        ("and(zext i32(v10), 15:i32)", "b & 15"),
        ("shr.u(v7, zext i32(v10))", "u >> b"),
        ("shl.s(sext i32(v1), 8:i32)", "c << 8"),
        ("zext i32(gt.s(v0, 1:i32))", "i > 1"),
        ("neg.s(neg.s(v0))", "- -i"),
        ("eq(v0, -1:i32)", "i == -1"),
        ("eq(v7, -1:i32)", "u == -1"),
        ("lt.u(v7, -1:i32)", "u < 4294967295u"),
    ];
    for (ir, expected) in cases {
        assert_eq!(c(ir), expected, "{ir}");
    }
}

#[test]
fn constants_read_back_exactly_with_the_type_that_their_operator_needs() {
    let cases = [
        ("eq(v0, -2147483648:i32)", "i == -2147483647 - 1"),
        ("eq(v7, -2147483648:i32)", "u == -2147483647 - 1"),
        ("gt.u(v3, -1:i64)", "n > 18446744073709551615ul"),
        ("eq(v3, -9223372036854775808:i64)", "n == -9223372036854775807l - 1"),
        ("lt.u(zext i64(v0), 7:i64)", "(unsigned int)i < 7ul"),
        ("fgt(v4, 0x7ff0000000000000:f64)", "d > __builtin_inf()"),
        ("flt(v9, 0xff800000:f32)", "h < -__builtin_inff()"),
        ("fmul(v4, 0x3fb999999999999a:f64)", "d * 0.1"),
        ("eq(v10, 255:i8)", "b == 255"),
        ("eq(v1, 255:i8)", "c == -1"),
        ("eq(sext i128(v3), 5:i128)", "(long)n == (__int128)5"),
    ];
    for (ir, expected) in cases {
        assert_eq!(c(ir), expected, "{ir}");
    }
}

#[test]
fn bits_of_floats_and_connectives_of_truth_values_are_what_c_has_for_them() {
    let cases = [
        ("bits f64(and(bits i64(v4), 0x7fffffffffffffff:i64))", "__builtin_fabs(d)"),
        ("bits i32(v9)", "((union { float from; unsigned int to; }){ h }).to"),
        ("xor(gt.s(v0, 3:i32), ne(v7, 0:i32))", "(i > 3) != (u != 0)"),
    ];
    for (ir, expected) in cases {
        assert_eq!(c(ir), expected, "{ir}");
    }
}

#[test]
fn parentheses_stand_where_c_needs_them_or_compilers_ask_for_them() {
    let cases = [
        ("mul.s(add.s(v0, 1:i32), 2:i32)", "(i + 1) * 2"),
        ("sub.s(v0, sub.s(v0, 1:i32))", "i - (i - 1)"),
        ("sub.s(sub.s(v0, 1:i32), v0)", "i - 1 - i"),
        ("or(and(v7, 1:i32), 2:i32)", "(u & 1) | 2"),
        ("shl.s(add.s(v0, 1:i32), 2:i32)", "(i + 1) << 2"),
        ("and(gt.s(v0, 1:i32), lt.s(v0, 9:i32))", "i > 1 && i < 9"),
        ("or(and(gt.s(v0, 1:i32), lt.s(v0, 9:i32)), eq(v0, 5:i32))", "(i > 1 && i < 9) || i == 5"),
        ("not(gt.s(v0, 1:i32))", "!(i > 1)"),
        ("load i8(index 1(index 1(v5, 1:i64), 2:i64))", "(s + 1)[2]"),
    ];
    for (ir, expected) in cases {
        assert_eq!(c(ir), expected, "{ir}");
    }
}

#[test]
fn a_text_of_the_users_own_is_taken_where_there_is_one() {
    let text = format!(
        "{HEAD} function f0 \"f\" ty11 external () {{ params ()
  local v0 \"\" ty1 temp register i32
  entry bb0 bb0: return mul.s(v0, add.s(v0, 1:i32)) }}"
    );
    let program = parse(&text).unwrap();
    let body = program.functions.values().next().unwrap().body.as_ref().unwrap();
    let last = ExprId::from_index(body.exprs.len() - 1);
    let spelled = |id: ExprId| match id.index() {
        0 | 1 => Some("next()".to_owned()),
        _ => None,
    };
    let text = UserC::new(&program, body, &body.exprs, &spelled).text(last);
    assert_eq!(text, "next() * (next() + 1)");
    let text = UserC::new(&program, body, &body.exprs, &|_| None).text(last);
    assert_eq!(text, "v0 * (v0 + 1)");
}

#[test]
fn a_deep_expression_has_a_whole_text() {
    let deep = format!("{}v0{}", "not(".repeat(100), ")".repeat(100));
    assert!(!c(&deep).contains(LEFT_OUT));
}
