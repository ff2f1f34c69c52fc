use super::*;
use crate::text::parse;

/// A program that keeps every rule and gives most of them something to say.
const VALID: &str = r#"
ty0 = void
ty1 = int "int" 32 signed
ty2 = record rec0
ty3 = pointer ty2
ty4 = function ty1 (ty1, ty3)
ty5 = function ty2 (ty2)
ty6 = int "long" 64 signed
ty7 = int "char" 8 signed
rec0 = struct "struct s" size 8 align 4 { "a" ty1 at 0 "b" ty1 at 35 bits 5 }
global g0 "g" ty1 size 4 align 4 external = { 0: "\x01\x02" }
global g1 "p" ty3 size 8 align 8 external = { 0: &g0 + 0 }
function f0 "f" ty4 external ("x", "p") {
  params (v0, v1)
  local v0 "x" ty1 param register i32
  local v1 "p" ty3 param register ptr
  local v2 "s" ty2 var memory 8 4
  local v3 "" ty1 temp register i32
  local v4 "y" ty1 var register i32
  entry bb0
  bb0:
    s0: mark m0
    s1: enter v2
    s2: zero &v2, 8
    s3: v3 = load volatile i32(&g0)
    s4: store i32 field rec0 0(&v2), v0
    s5: storebits [rec0 1 byte 4 bit 3 width 5 signed i32] index 1(&v2, 4:i64), v0
    s6: call f1 ty5 (v1) (ty2) to &v2
    s7: copy &v2, v1, 8
    branch $a:gt.s(v0, 1:i32) ? bb1 : bb2 [d0 c0 begins]
  bb1:
    branch $b:eq(v1, 0:ptr) ? bb3 : bb4 [d0 c1 then true else false]
  bb2:
    branch $b ? bb4 : bb3 [d0 c1 then false else true]
  bb3:
    s8: leave v2
    switch v0 { 1: bb4 2..5: bb5 default: bb5 }
  bb4:
    return add.s(v0, div.s(v0, v3))
  bb5:
    s9: call f0 ty4 (v0, v1) (ty1, ty3) -> v4
    return loadbits [rec0 1 byte 4 bit 3 width 5 signed i32](index 1(v1, 4:i64))
  decision d0 control = eq(c0, c1) { c0 pure = $a c1 pure = $b }
  mark m0 statement
  source {
    mark m0 wrap
    decision d0 (@1..2, @3..4)
    switch bb3
    root r0 s4 address field rec0 0(&v2) (v3 @1..2)
    root r1 bb0 condition d0 c0 $a
  }
}
function f1 "h" ty5 external ()
"#;

fn rules(text: &str) -> Vec<Rule> {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn a_program_that_keeps_the_rules_has_no_violation() {
    let program = parse(VALID).unwrap();
    let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn each_rule_is_found_broken_where_one_thing_breaks_it() {
    let cases = [
        ("s0: mark m0", "s0: mark m1", Rule::Ids),
        ("&g0 + 0", "&g5 + 0", Rule::Ids),
        ("branch $b ? bb4", "branch $b ? bb9", Rule::Ids),
        ("f1 \"h\"", "f1 \"f\"", Rule::Names),
        ("function f1 \"h\" ty5", "function f1 \"h\" ty0", Rule::Names),
        ("\"p\" ty3 size 8 align 8", "\"g\" ty3 size 8 align 8", Rule::Names),
        ("0: \"\\x01\\x02\"", "3: \"\\x01\\x02\"", Rule::Initialisers),
        ("0: \"\\x01\\x02\"", "0: \"\\x01\\x02\" 1: \"a\"", Rule::Initialisers),
        ("0: &g0 + 0", "1: &g0 + 0", Rule::Initialisers),
        ("params (v0, v1)", "params (v0)", Rule::Locals),
        ("params (v0, v1)", "params (v0, v0)", Rule::Locals),
        ("\"y\" ty1 var register i32", "\"y\" ty1 var register i64", Rule::Locals),
        ("var memory 8 4", "var memory 8 3", Rule::Locals),
        ("gt.s(v0, 1:i32)", "gt.s(v0, 0x100000000:i32)", Rule::Constants),
        ("store i32 field rec0 0(&v2), v0", "store i7 field rec0 0(&v2), 1:i7", Rule::Constants),
        ("gt.s(v0, 1:i32)", "gt.s(v0, 1:i64)", Rule::OperandTypes),
        ("gt.s(v0, 1:i32)", "fgt(v0, 1:i32)", Rule::OperandTypes),
        ("add.s(v0, div.s(v0, v3))", "sext i32(div.s(v0, v3))", Rule::OperandTypes),
        ("add.s(v0, div.s(v0, v3))", "load i32(v0)", Rule::OperandTypes),
        ("index 1(&v2, 4:i64)", "index 1(&v2, 4:i32)", Rule::OperandTypes),
        ("copy &v2, v1, 8", "copy v2, v1, 8", Rule::RegistersAndMemory),
        ("s2: zero &v2, 8", "s2: zero &v4, 8", Rule::RegistersAndMemory),
        ("store i32 field rec0 0(&v2)", "store i32 field rec0 1(&v2)", Rule::Members),
        ("storebits [rec0 1 byte 4 bit 3", "storebits [rec0 1 byte 4 bit 2", Rule::Members),
        ("at 35 bits 5", "at 35 bits 6", Rule::Members),
        ("s3: v3 = load volatile", "s3: v4 = load volatile", Rule::VolatileLoads),
        ("add.s(v0, div.s(v0, v3))", "load volatile i32(v1)", Rule::VolatileLoads),
        ("s2: zero &v2, 8", "s2: zero &v2, 8 s2", Rule::OneBlock),
        ("default: bb5", "default: bb0", Rule::Entry),
        ("s7: copy &v2, v1, 8", "s7: copy v0, v1, 8", Rule::StatementTypes),
        ("s2: zero &v2, 8", "s2: v4 = 1:i8", Rule::StatementTypes),
        ("(v0, v1) (ty1, ty3) -> v4", "(v0) (ty1) -> v4", Rule::Calls),
        ("(v0, v1) (ty1, ty3) -> v4", "(v1, v1) (ty3, ty3) -> v4", Rule::Calls),
        ("(v0, v1) (ty1, ty3) -> v4", "(v0, v1) (ty1, ty3) -> v1", Rule::Calls),
        ("(v0, v1) (ty1, ty3) -> v4", "(v0, v1) (ty1, ty3) to &v2", Rule::Calls),
        ("s1: enter v2", "s1: enter v4", Rule::Lifetimes),
        ("s2: zero &v2, 8", "s2: zero &v2, 0", Rule::Sizes),
        ("2..5: bb5", "1..5: bb5", Rule::Branches),
        ("2..5: bb5", "5..2: bb5", Rule::Branches),
        ("switch v0", "switch v1", Rule::Branches),
        (
            "branch $b ? bb4 : bb3 [d0 c1 then false else true]",
            "branch v0 ? bb4 : bb3",
            Rule::Branches,
        ),
        ("return add.s(v0, div.s(v0, v3))", "return v1", Rule::Returns),
        ("eq(c0, c1) {", "eq(c0, c0) {", Rule::Trees),
        ("c1 pure = $b", "c1 pure = v0", Rule::Trees),
        ("eq(c0, c1) {", "and(c0, c1) {", Rule::Origins),
        ("[d0 c0 begins]", "[d0 c0]", Rule::Origins),
        ("then true else false", "then false else false", Rule::Origins),
        ("then true else false", "then true", Rule::Origins),
        ("[d0 c1 then false else true]", "[d0 c0 then false else true]", Rule::Origins),
        ("c1 pure = $b", "c1 pure = eq(load i32(v1), 0:i32)", Rule::Purity),
        ("c1 pure = $b", "c1 pure = eq(div.s(v0, v3), 0:i32)", Rule::Purity),
        ("c1 pure = $b", "c1 pure = $b unreached always v0", Rule::Trees),
        ("c1 pure = $b", "c1 pure = $b unreached always eq(div.s(v0, v3), 0:i32)", Rule::Purity),
        ("add.s(v0, div.s(v0, v3))", "select(eq(v0, v3), v0, v3)", Rule::Choices),
        ("c1 pure = $b", "c1 pure = $b unreached defined select($b, $a, v0)", Rule::OperandTypes),
        ("(@1..2, @3..4)", "(@1..2)", Rule::Source),
        ("switch bb3\n", "switch bb0\n", Rule::Source),
        ("address field rec0 0(&v2) (v3", "address field rec0 0(&v2) (v2", Rule::Source),
        ("r0 s4 address field rec0 0(&v2)", "r0 s4 address v0", Rule::Source),
    ];
    for (from, to, rule) in cases {
        assert!(VALID.contains(from), "{from}");
        let found = rules(&VALID.replacen(from, to, 1));
        assert!(found.contains(&rule), "{from} -> {to}: {found:?}");
    }
}

#[test]
fn a_body_whose_operands_come_late_is_told_so_and_no_more() {
    let text = "ty0 = function ty9 () function f0 \"f\" ty0 external ()";
    assert!(parse(text).is_err());
    let text = "ty0 = void ty1 = function ty0 () function f0 \"f\" ty1 external () { params () \
                entry bb0 bb0: return e1:not(e0:not(e1)) }";
    assert_eq!(rules(text), [Rule::OperandsFirst]);
}

#[test]
fn any_program_that_can_be_read_can_be_verified() {
    let mut rng = lydian_base::Rng::new(3);
    let words: Vec<&str> = VALID.split_inclusive([' ', '\n', '(', ')']).collect();
    let mut checked = 0;
    for _ in 0..3000 {
        let mut words = words.clone();
        for _ in 0..1 + rng.below(3) {
            let (to, from) = (rng.below(words.len() as u64), rng.below(words.len() as u64));
            words[to as usize] = words[from as usize];
        }
        if let Ok(program) = parse(&words.concat()) {
            checked += 1;
            verify(&program);
        }
    }
    assert!(checked > 50, "only {checked} mutations could be read");
}
