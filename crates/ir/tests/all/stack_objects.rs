//! What is made on the stack while a function runs, in the interpreter and under the verifier.

use lydian_ir::interp::{self, End, Options, Outcome, Silent, UnknownCause};
use lydian_ir::test::{Image, Test};
use lydian_ir::text::{parse, print};
use lydian_ir::verify::{Rule, verify};
use lydian_ir::{Program, TrapKind};

const HEAD: &str = r#"
ty0 = void
ty1 = int "int" 32 signed
ty2 = int "long" 64 signed
ty3 = pointer ty0
ty4 = int "char" 8 signed
ty5 = array ty4 24
ty6 = function ty2 (ty2)
ty7 = function ty2 (ty1) variadic
"#;

/// A function `f` of a `long` whose body is these blocks, and one after it.
fn text(blocks: &str, more: &str) -> String {
    format!(
        "{HEAD}function f0 \"f\" ty6 external (\"n\") {{ params (v0)
         local v0 \"n\" ty2 param register i64 local v1 \"p\" ty3 temp register ptr
         local v2 \"x\" ty2 var register i64 local v3 \"q\" ty3 temp register ptr
         entry bb0 {blocks} }}\n{more}"
    )
}

fn program(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(parse(&print(&program)).as_ref(), Ok(&program), "the text form is lossless");
    program
}

fn run(program: &Program, n: i64) -> Outcome {
    let args = vec![Image { bytes: n.to_le_bytes().to_vec(), pointers: vec![] }];
    let test = Test::calling("f", args);
    interp::run(program, &test, &Options::default(), &mut Silent).expect("the test suits")
}

fn result(outcome: &Outcome) -> i64 {
    assert_eq!(outcome.end, End::Returned, "{:?}", outcome.location);
    let bytes = outcome.result.as_deref().expect("a value is returned");
    i64::from_le_bytes(bytes.try_into().expect("a long"))
}

#[test]
fn an_array_of_variable_length_has_just_its_bytes() {
    let body = "bb0: s0: v1 = vla mul.s(v0, 8:i64), 8
        s1: store i64 index 8(v1, 2:i64), 7:i64 return load i64(index 8(v1, 2:i64))";
    let program = program(&text(body, ""));
    assert_eq!(result(&run(&program, 3)), 7);
    assert_eq!(run(&program, 2).end, End::Trapped(TrapKind::OutOfBounds));
    for bad in [0, -1, i64::MAX / 8] {
        assert_eq!(run(&program, bad).end, End::Trapped(TrapKind::BadSize), "{bad}");
    }
}

#[test]
fn alloca_may_have_no_bytes_but_not_a_negative_number() {
    let program = program(&text("bb0: s0: v1 = alloca v0, 16 return zext i64(ne(v1, 0:ptr))", ""));
    assert_eq!(result(&run(&program, 0)), 1);
    assert_eq!(run(&program, -1).end, End::Trapped(TrapKind::BadSize));
}

#[test]
fn what_was_released_cannot_be_reached_and_releasing_again_does_nothing() {
    let body = "bb0: s0: release v1 s1: v1 = vla v0, 8 s2: v3 = v1 s3: release v1 s4: release v1
        s5: store i64 v3, 1:i64 return v0";
    let outcome = run(&program(&text(body, "")), 64);
    let trapped = End::Trapped(TrapKind::OutOfBounds);
    assert!(outcome.end == trapped || outcome.end == End::Trapped(TrapKind::UseAfterFree));
}

#[test]
fn variable_arguments_lie_in_slots_of_eight_bytes() {
    let callee = "function f1 \"g\" ty7 external (\"k\") { params (v0)
        local v0 \"k\" ty1 param register i32 local v1 \"ap\" ty5 var memory 24 8
        local v2 \"p\" ty3 temp register ptr
        entry bb0 bb0: s0: enter v1 s1: vastart &v1
        s2: v2 = load ptr(index 1(&v1, 8:i64))
        return add.s(sext i64(load i32(v2)), load i64(index 8(v2, sext i64(v0)))) }";
    let body = "bb0: s0: call f1 ty7 (1:i32, 5:i32, v0) (ty1, ty1, ty2) -> v2 return v2";
    let both = program(&text(body, callee));
    assert_eq!(result(&run(&both, 37)), 42);
    let body = "bb0: s0: call f1 ty7 (2:i32, 5:i32, v0) (ty1, ty1, ty2) -> v2 return v2";
    let beyond = program(&text(body, callee));
    assert_eq!(run(&beyond, 37).end, End::Trapped(TrapKind::OutOfBounds));
}

#[test]
fn a_run_ends_unknown_at_assembly() {
    let body = "bb0: s0: havoc (v2) (v1 8) memory return v2";
    assert_eq!(run(&program(&text(body, "")), 1).end, End::Unknown(UnknownCause::Assembly));
}

#[test]
fn the_verifier_knows_where_the_new_statements_may_stand() {
    let broken = [
        ("bb0: s0: v1 = alloca 1:i32, 8 return v0", Rule::StatementTypes),
        ("bb0: s0: v2 = alloca v0, 8 return v0", Rule::StatementTypes),
        ("bb0: s0: v1 = alloca v0, 3 return v0", Rule::Sizes),
        ("bb0: s0: release v0 return v0", Rule::StatementTypes),
        ("bb0: s0: vastart v1 return v0", Rule::Variadic),
        ("bb0: s0: havoc () (v1 0) return v0", Rule::Sizes),
        ("bb0: s0: havoc () (v0 1) return v0", Rule::StatementTypes),
        ("bb0: s0: havoc (v9) () return v0", Rule::Ids),
    ];
    for (body, rule) in broken {
        let program = parse(&text(body, "")).expect("the text is well-formed");
        let rules: Vec<Rule> = verify(&program).iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, [rule], "{body}");
    }
}
