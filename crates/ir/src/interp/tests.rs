use super::*;
use crate::program::arith::Overflow;
use crate::program::decision::{ConditionId, Truth};
use crate::program::source::RootId;
use crate::program::stmt::{BranchOrigin, Edge, MarkId, TrapKind};
use crate::program::{CTypeId, FuncId, GlobalId, Program};
use crate::test::INPUT_REGION;
use crate::test::{
    EarlierCall, ExternalResult, ExternalWrite, GlobalInput, Image, ImagePointer, PointerTarget,
    Test, TestObject, WriteBase,
};
use crate::text::parse;
use crate::verify::verify;
use lydian_base::{EntityId, StopReason};

mod library;
mod stops;

/// Types and globals that the programs of these tests share.
const HEAD: &str = r#"
ty0 = void
ty1 = int "int" 32 signed
ty2 = int "char" 8 signed
ty3 = pointer ty2
ty4 = int "unsigned long" 64 unsigned
ty5 = double
ty6 = record rec0
ty7 = pointer ty6
ty8 = pointer ty1
ty9 = function ty1 (ty1)
ty10 = pointer ty9
ty11 = function ty1 (ty1, ty1)
ty12 = function ty4 (ty3, ty3, ty4)
ty13 = function ty6 (ty6, ty1)
ty14 = function ty0 ()
ty15 = function ty1 (ty7)
rec0 = struct "struct s" size 8 align 4 {
  "a" ty1 at 0 "b" ty1 at 35 bits 5 "c" ty1 at 40 bits 9
}
global g0 "g" ty1 size 4 align 4 external = { 0: "\x05\x00\x00\x00" }
global g1 "text" ty2 size 6 align 1 internal const = { 0: "hello\x00" }
global g2 "gp" ty3 size 8 align 8 external = { 0: &g1 + 1 }
"#;

fn program(functions: &str) -> Program {
    let text = format!("{HEAD}{functions}");
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
    program
}

/// A function of two integers whose body is one block.
fn two_ints(stmts: &str) -> String {
    format!(
        "function f0 \"f\" ty11 external (\"x\", \"y\") {{ params (v0, v1)
         local v0 \"x\" ty1 param register i32 local v1 \"y\" ty1 param register i32
         local v2 \"t\" ty1 var register i32 local v3 \"m\" ty1 var memory 4 4
         local v4 \"p\" ty3 temp register ptr local v5 \"s\" ty6 var memory 8 4
         entry bb0 bb0: {stmts} }}\n"
    )
}

fn int(value: i32) -> Image {
    Image { bytes: value.to_le_bytes().to_vec(), pointers: vec![] }
}

fn pointer_to(target: PointerTarget) -> Image {
    Image { bytes: vec![0; 8], pointers: vec![ImagePointer { offset: 0, target }] }
}

fn test(args: Vec<Image>) -> Test {
    Test::calling("f", args)
}

fn object(address: u64, bytes: &[u8]) -> TestObject {
    TestObject {
        name: format!("at {address:x}"),
        address,
        ty: CTypeId::from_index(2),
        count: bytes.len() as u64,
        align: 1,
        image: Image { bytes: bytes.to_vec(), pointers: vec![] },
        read_only: false,
    }
}

fn run_with(program: &Program, test: &Test) -> Outcome {
    run(program, test, &Options::default(), &mut Silent).unwrap()
}

/// Runs a body of [`two_ints`] on two numbers.
fn run_ints(stmts: &str, x: i32, y: i32) -> Outcome {
    run_with(&program(&two_ints(stmts)), &test(vec![int(x), int(y)]))
}

fn result(outcome: &Outcome) -> i64 {
    assert_eq!(outcome.end, End::Returned, "{:?}", outcome.location);
    let bytes = outcome.result.as_ref().expect("the function returned a value");
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    if bytes.len() == 4 {
        i64::from(i64::from_le_bytes(raw) as i32)
    } else {
        i64::from_le_bytes(raw)
    }
}

#[test]
fn a_store_then_a_load_gives_the_value_back() {
    let body = "s0: enter v3 s1: store i32 &v3, add.s(v0, v1) return load i32(&v3)";
    let outcome = run_ints(body, 40, 2);
    assert_eq!(result(&outcome), 42);
    assert_eq!((outcome.steps, outcome.uninitialised), (3, None));
}

#[test]
fn every_trap_is_given_where_it_belongs() {
    let cases = [
        ("return div.s(v0, 0:i32)", TrapKind::DivisionByZero),
        ("return div.s(0x80000000:i32, -1:i32)", TrapKind::SignedOverflow),
        ("return shl.s(v0, 32:i32)", TrapKind::ShiftRange),
        ("return ftos i32(1e300:f64)", TrapKind::FloatToInt),
        ("return load i32(0:ptr)", TrapKind::NullDereference),
        ("return load i32(index 1(0:ptr, 4095:i64))", TrapKind::NullDereference),
        ("return load i32(index 4(&g0, 1:i64))", TrapKind::OutOfBounds),
        ("return load i32(index 1(&g0, -1:i64))", TrapKind::OutOfBounds),
        ("return load i32(0xffffffffffffffff:ptr)", TrapKind::OutOfBounds),
        ("return load i32(&v3)", TrapKind::OutOfBounds),
        ("s0: enter v3 s1: leave v3 return load i32(&v3)", TrapKind::UseAfterFree),
        ("s0: store i8 &g1, 0:i8 return v0", TrapKind::ReadOnly),
        ("trap unreachable", TrapKind::Unreachable),
        ("trap trap", TrapKind::Trap),
        ("s0: call *&g0 ty9 (v0) (ty1) return v0", TrapKind::BadCall),
        ("s0: call *0:ptr ty9 (v0) (ty1) return v0", TrapKind::BadCall),
        ("s0: call *&f0 ty9 (v0) (ty1) return v0", TrapKind::BadCall),
        ("s0: zero index 1(&g0, 1:i64), 4 return v0", TrapKind::OutOfBounds),
        ("s0: copy &g1, &g2, 6 return v0", TrapKind::ReadOnly),
    ];
    for (body, kind) in cases {
        let outcome = run_ints(body, 1, 1);
        assert_eq!(outcome.end, End::Trapped(kind), "{body}");
        assert_eq!(outcome.location.unwrap().function, FuncId::from_index(0));
        assert_eq!(outcome.result, None);
    }
}

#[test]
fn signed_overflow_traps_only_where_it_is_checked() {
    let program = program(&two_ints("return add.s(v0, v1)"));
    let test = test(vec![int(i32::MAX), int(1)]);
    assert_eq!(result(&run_with(&program, &test)), i64::from(i32::MIN));
    let options = Options { overflow: Overflow::Trap, ..Options::default() };
    let outcome = run(&program, &test, &options, &mut Silent).unwrap();
    assert_eq!(outcome.end, End::Trapped(TrapKind::SignedOverflow));
}

#[test]
fn a_value_that_was_never_written_is_zero_and_noted() {
    let outcome = run_ints("s0: enter v3 return load i32(&v3)", 1, 1);
    assert_eq!((result(&outcome), outcome.uninitialised.is_some()), (0, true));
    let outcome = run_ints("return v2", 1, 1);
    assert_eq!((result(&outcome), outcome.uninitialised.is_some()), (0, true));
    // A copy moves the bytes without looking at them.
    let copied = "s0: enter v5 s1: store i32 &v5, v0 s2: enter v3 s3: copy &v3, &v5, 4
                  return load i32(&v3)";
    assert_eq!(run_ints(copied, 7, 1).uninitialised, None);
    let padding = "s0: enter v5 s1: store i8 &v5, 1:i8 s2: enter v3 s3: copy &v3, &v5, 4
                   return load i32(&v3)";
    assert!(run_ints(padding, 7, 1).uninitialised.is_some());
    // Neither does an assignment or a store look at the value; what is computed from it is as good.
    let moved =
        "s0: enter v3 s1: v2 = add.s(load i32(&v3), 1:i32) s2: enter v5 s3: store i32 &v5, v2";
    assert_eq!(run_ints(&format!("{moved} return v0"), 7, 1).uninitialised, None);
    assert!(run_ints(&format!("{moved} return load i32(&v5)"), 7, 1).uninitialised.is_some());
}

#[test]
fn padding_of_an_input_and_addresses_made_of_a_null_pointer_are_noted() {
    let record = CTypeId::from_index(6);
    let run = |body: &str| {
        let input = TestObject { ty: record, count: 1, ..object(INPUT_REGION, &[0; 8]) };
        let test = Test { objects: vec![input], ..test(vec![int(0), int(0)]) };
        run_with(&program(&two_ints(body)), &test)
    };
    let seen = |at| run(&format!("return zext i32(load i8({}:ptr))", INPUT_REGION + at));
    let seen = |at| seen(at).uninitialised.is_some();
    assert_eq!((seen(6), seen(7)), (false, true));
    let moved = |from| run(&format!("s0: v4 = {from}:ptr s1: v4 = index 1(v4, 4:i64) return v0"));
    assert!(moved(0).misused.is_some() && moved(4096).misused.is_none());
}

#[test]
fn a_subscript_that_leaves_its_variable_is_noted_wherever_it_leads() {
    let text = |at: &str| format!("return load i32(index 4({at}, sext i64(v0)))");
    let is_noted = |at: &str, x| {
        let body = format!("s0: enter v5 s1: zero &v5, 8 {}", text(at));
        run_ints(&body, x, 0).misused.is_some()
    };
    for (x, outside) in [(-1, true), (0, false), (1, false), (2, true), (1 << 20, true)] {
        assert_eq!(is_noted("&v5", x), outside, "{x}");
        // From its second element on, there is one in front.
        assert_eq!(is_noted("index 4(&v5, 1:i64)", x - 1), outside, "{x}");
    }
}

#[test]
fn bit_fields_leave_their_neighbours_alone() {
    let c = "[rec0 2 byte 5 bit 0 width 9 signed i32] index 1(&v5, 5:i64)";
    let b = "[rec0 1 byte 4 bit 3 width 5 signed i32]";
    let body = format!(
        "s0: enter v5 s1: zero &v5, 8 s2: storebits {b} index 1(&v5, 4:i64), v0
         s3: storebits {c}, v1
         return add.s(mul.s(loadbits {b}(index 1(&v5, 4:i64)), 1000:i32),
                      loadbits [rec0 2 byte 5 bit 0 width 9 signed i32](index 1(&v5, 5:i64)))"
    );
    assert_eq!(result(&run_ints(&body, -3, 200)), -3000 + 200);
    assert_eq!(result(&run_ints(&body, 16, 256)), -16 * 1000 - 256);
}

#[test]
fn structs_are_passed_and_returned_by_value() {
    let functions = r#"
function f0 "f" ty15 external ("p") {
  params (v0) local v0 "p" ty7 param register ptr local v1 "r" ty6 var memory 8 4
  entry bb0
  bb0:
    s0: enter v1
    s1: call f1 ty13 (v0, 3:i32) (ty6, ty1) to &v1
    return sub.s(load i32(field rec0 0(&v1)), load i32(field rec0 0(v0)))
}
function f1 "g" ty13 internal ("s", "k") {
  params (v0, v1) local v0 "s" ty6 param memory 8 4 local v1 "k" ty1 param memory 4 4
  entry bb0
  bb0:
    s0: store i32 &v0, mul.s(load i32(&v0), load i32(&v1))
    return &v0
}
"#;
    let program = program(functions);
    let mut test = test(vec![pointer_to(PointerTarget::Object(0, 0))]);
    test.objects.push(object(INPUT_REGION + 64, &[10, 0, 0, 0, 1, 2, 3, 4]));
    let outcome = run_with(&program, &test);
    assert_eq!(result(&outcome), 20);
    assert_eq!(outcome.objects[0], [10, 0, 0, 0, 1, 2, 3, 4]);
    test.function = "g".into();
    test.args = vec![Image { bytes: vec![5, 0, 0, 0, 9, 9, 9, 9], pointers: vec![] }, int(2)];
    let outcome = run_with(&program, &test);
    assert_eq!(outcome.result.unwrap(), [10, 0, 0, 0, 9, 9, 9, 9]);
}

#[test]
fn recursion_has_a_limit_and_each_call_its_own_locals() {
    let factorial = r#"
function f0 "f" ty9 external ("n") {
  params (v0) local v0 "n" ty1 param register i32 local v1 "" ty1 temp register i32
  entry bb0
  bb0: branch le.s(v0, 1:i32) ? bb1 : bb2
  bb1: return 1:i32
  bb2: s0: call *&f0 ty9 (sub.s(v0, 1:i32)) (ty1) -> v1 return mul.s(v0, v1)
}
"#;
    let program = program(factorial);
    assert_eq!(result(&run_with(&program, &test(vec![int(10)]))), 3_628_800);
    let options = Options { max_depth: 5, ..Options::default() };
    let outcome = run(&program, &test(vec![int(10)]), &options, &mut Silent).unwrap();
    assert_eq!(outcome.end, End::TooDeep(5));
    let options = Options { max_steps: 7, ..Options::default() };
    let outcome = run(&program, &test(vec![int(10)]), &options, &mut Silent).unwrap();
    assert_eq!(outcome.end, End::Stopped(StopReason::Steps(7)));
}

#[test]
fn what_a_returned_call_left_on_the_stack_cannot_be_reached() {
    let functions = r#"
function f0 "f" ty9 external ("n") {
  params (v0) local v0 "n" ty1 param register i32 local v1 "" ty3 temp register ptr
  local v2 "" ty4 temp register i64
  entry bb0
  bb0: s0: call f1 ty12 (0:ptr, 0:ptr, 0:i64) (ty3, ty3, ty4) -> v2
       return load i32(bits ptr(v2))
}
function f1 "g" ty12 internal ("a", "b", "c") {
  params (v0, v1, v2) local v0 "a" ty3 param register ptr local v1 "b" ty3 param register ptr
  local v2 "c" ty4 param memory 8 8
  entry bb0
  bb0: return bits i64(&v2)
}
"#;
    let outcome = run_with(&program(functions), &test(vec![int(1)]));
    assert_eq!(outcome.end, End::Trapped(TrapKind::UseAfterFree));
}

#[test]
fn a_test_sets_globals_objects_pointers_and_results_of_externals() {
    let functions = r#"
function f0 "f" ty15 external ("p") {
  params (v0) local v0 "p" ty7 param register ptr local v1 "" ty1 temp register i32
  local v2 "" ty1 temp register i32 local v3 "" ty1 temp register i32
  entry bb0
  bb0:
    s0: call f1 ty9 (0:i32) (ty1) -> v1
    s1: call f1 ty9 (0:i32) (ty1) -> v2
    s2: call f1 ty9 (0:i32) (ty1) -> v3
    s3: store i8 load ptr(&g2), 1:i8
    s4: call *load ptr(v0) ty9 (0:i32) (ty1)
    return add.s(add.s(v1, v2), add.s(v3, load i32(&g0)))
}
function f1 "external" ty9 external ("")
"#;
    let program = program(functions);
    let mut test = test(vec![pointer_to(PointerTarget::Object(1, 0))]);
    test.objects = vec![object(INPUT_REGION + 100, b"abc"), object(INPUT_REGION, &[0; 8])];
    test.objects[1].image = pointer_to(PointerTarget::Function("external".into()));
    test.globals = vec![
        GlobalInput { name: "g".into(), image: int(1000) },
        GlobalInput { name: "gp".into(), image: pointer_to(PointerTarget::Object(0, 2)) },
    ];
    let external = |value| ExternalResult::new("external", int(value));
    test.externals = vec![external(1), external(20)];
    let outcome = run_with(&program, &test);
    assert_eq!(result(&outcome), 1021);
    assert_eq!(outcome.objects[0], b"ab\x01");
    assert_eq!(outcome.global(GlobalId::from_index(0)), 1000i32.to_le_bytes());
    assert_eq!(outcome.externals.len(), 4);
    test.objects[0].read_only = true;
    assert_eq!(run_with(&program, &test).end, End::Trapped(TrapKind::ReadOnly));
}

#[test]
fn an_undefined_function_writes_through_its_arguments_before_it_returns() {
    let functions = two_ints(
        "s0: enter v3 s1: enter v5
         s2: call f1 ty16 (&v5, 0:ptr) (ty8, ty8) -> v2
         s3: call f1 ty16 (0:ptr, &v3) (ty8, ty8) -> v2
         return add.s(add.s(load i32(&v5), load i32(index 1(&v5, 4:i64))), load i32(&v3))",
    );
    let program = program(&format!(
        "ty16 = function ty1 (ty8, ty8)\n{functions}\
         function f1 \"set\" ty16 external (\"a\", \"b\")\n"
    ));
    let write =
        |argument, offset, value| ExternalWrite::behind_argument(argument, offset, int(value));
    let mut test = test(vec![int(0), int(0)]);
    let first = vec![write(0, 4, 9), write(0, 0, 30), write(0, 4, 1), write(1, 0, 1000)];
    let call = |writes| ExternalResult { writes, ..ExternalResult::new("set", int(5)) };
    test.externals = vec![call(first), call(vec![write(0, 0, 1000), write(1, 0, 400)])];
    let outcome = run_with(&program, &test);
    assert_eq!(result(&outcome), 431, "what goes through a null pointer is left out");
    assert_eq!(outcome.uninitialised, None);
    test.externals[1].writes.pop();
    assert!(run_with(&program, &test).uninitialised.is_some());
    test.externals[0].writes[0].offset = 8;
    assert_eq!(run_with(&program, &test).end, End::Trapped(TrapKind::OutOfBounds));
}

#[test]
fn variables_that_a_run_asks_for_and_its_test_does_not_name_are_told() {
    let functions =
        two_ints("s0: call f1 ty16 (&g1) (ty3) -> v4 s1: call f1 ty16 (&g1) (ty3) -> v4 return v0");
    let program = program(&format!(
        "ty16 = function ty3 (ty3)\n{functions}\
         function f1 \"getenv\" ty16 external (\"name\")\n"
    ));
    let mut test = test(vec![int(0), int(0)]);
    assert_eq!(run_with(&program, &test).missed_variables, ["hello"]);
    test.externals = vec![ExternalResult::no_variable("hello", program.types.target)];
    assert_eq!(run_with(&program, &test).missed_variables, [""; 0]);
}

/// A function of a pointer that passes it to the undefined `set`, and gives `g`. `dots` are further
/// arguments of the call with their types.
fn passes_a_pointer(dots: (&str, &str)) -> Program {
    program(&format!(
        "ty16 = function ty1 (ty3) variadic
ty17 = function ty1 (ty3)
function f0 \"f\" ty17 external (\"p\") {{
  params (v0) local v0 \"p\" ty3 param register ptr local v1 \"\" ty1 temp register i32
  local v2 \"n\" ty3 var memory 8 8
  entry bb0 bb0: s0: enter v2 s1: call f1 ty16 (v0{}) (ty3{}) -> v1 return load i32(&g0) }}
function f1 \"set\" ty16 external (\"a\")\n",
        dots.0, dots.1
    ))
}

/// A call of [`passes_a_pointer`] with a pointer to sixteen bytes, behind eight of which there is one to
/// eight further bytes. `gp` points to the last object.
fn call_with_a_chain(writes: Vec<ExternalWrite>) -> Test {
    let mut test = test(vec![pointer_to(PointerTarget::Object(0, 0))]);
    let at = |number: u64| INPUT_REGION + 64 * number;
    test.objects = vec![object(at(0), &[0; 16]), object(at(1), &[0; 8]), object(at(2), &[0; 4])];
    let target = PointerTarget::Object(1, 0);
    test.objects[0].image.pointers = vec![ImagePointer { offset: 8, target }];
    let image = pointer_to(PointerTarget::Object(2, 0));
    test.globals = vec![GlobalInput { name: "gp".into(), image }];
    test.externals = vec![ExternalResult { writes, ..ExternalResult::new("set", int(0)) }];
    test
}

fn write(to: WriteBase, through: &[u64], offset: u64, image: Image) -> ExternalWrite {
    ExternalWrite { to, through: through.to_vec(), offset, image }
}

fn byte(value: u8) -> Image {
    Image { bytes: vec![value], pointers: vec![] }
}

#[test]
fn what_an_undefined_function_writes_lies_behind_pointers_and_in_globals() {
    let program = passes_a_pointer(("", ""));
    let global = |name: &str| WriteBase::Global(name.into());
    let first = WriteBase::Argument(0);
    let outcome = run_with(
        &program,
        &call_with_a_chain(vec![
            write(first.clone(), &[8, 0], 0, byte(9)),
            write(first.clone(), &[8], 0, pointer_to(PointerTarget::Object(2, 1))),
            write(first.clone(), &[8, 0], 1, byte(7)),
            write(global("gp"), &[0], 0, byte(5)),
            write(global("g"), &[], 0, int(70)),
            write(first.clone(), &[], 3, byte(6)),
            write(first.clone(), &[], 8, Image { bytes: vec![0; 8], pointers: vec![] }),
            write(first, &[8, 0], 0, byte(8)),
        ]),
    );
    assert_eq!(result(&outcome), 70);
    assert_eq!(outcome.objects[2], [5, 0, 7, 0], "a way is followed when its turn comes");
    assert_eq!(outcome.objects[0][3], 6);
}

#[test]
fn a_way_of_a_write_ends_the_run_where_an_access_would() {
    let program = passes_a_pointer((", 5:i32, v0, &v2", ", ty1, ty3, ty3"));
    let ended = |to, through: &[u64], offset| {
        let writes = vec![write(to, through, offset, byte(1))];
        run_with(&program, &call_with_a_chain(writes))
    };
    let first = WriteBase::Argument(0);
    let out_of_bounds = End::Trapped(TrapKind::OutOfBounds);
    assert_eq!(ended(first.clone(), &[12], 0).end, out_of_bounds);
    assert_eq!(ended(first.clone(), &[8, 0], 40).end, End::Returned, "null is on the way");
    assert_eq!(ended(first, &[8], 8).end, out_of_bounds);
    let text = WriteBase::Global("text".into());
    assert_eq!(ended(text, &[], 0).end, End::Trapped(TrapKind::ReadOnly));
    assert!(ended(WriteBase::Variable(2), &[0], 0).uninitialised.is_some());
    assert_eq!(ended(WriteBase::Variable(1), &[8], 0).objects[1], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ended(WriteBase::Variable(3), &[], 0).end, out_of_bounds, "it was not passed");
    let unknown = call_with_a_chain(vec![write(WriteBase::Global("h".into()), &[], 0, byte(1))]);
    let refused = run(&program, &unknown, &Options::default(), &mut Silent).unwrap_err();
    assert_eq!(refused, BadTest::NoGlobal("h".into()));
}

#[test]
fn ways_of_writes_follow_pointers_of_four_bytes_on_32_bit_x86() {
    let text = "target i386
ty0 = int \"int\" 32 signed
ty1 = function ty0 ()
ty2 = array ty0 2
global g0 \"first\" ty2 size 8 align 4 external = { 4: &g1 }
global g1 \"last\" ty0 size 4 align 4 external = zero
function f0 \"f\" ty1 external () {
  params () local v0 \"\" ty0 temp register i32
  entry bb0 bb0: s0: call f1 ty1 () () -> v0 return load i32(&g1) }
function f1 \"set\" ty1 external ()\n";
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&program).len(), 0);
    let mut test = test(vec![]);
    let first = WriteBase::Global("first".into());
    let writes = vec![write(first, &[4], 0, int(11))];
    test.externals = vec![ExternalResult { writes, ..ExternalResult::new("set", int(0)) }];
    assert_eq!(result(&run_with(&program, &test)), 11);
}

#[test]
fn calls_of_one_test_follow_each_other_on_one_memory() {
    let functions = two_ints(
        "s0: store i32 &g0, add.s(load i32(&g0), v0)
         s1: call f1 ty9 (v1) (ty1) -> v2
         return add.s(mul.s(v2, 100:i32), load i32(&g0))",
    );
    let program = program(&format!("{functions}function f1 \"ask\" ty9 external (\"\")\n"));
    let mut test = test(vec![int(1), int(0)]);
    let earlier = |x: i32| EarlierCall { args: vec![int(x), int(0)], variable: vec![] };
    test.earlier = vec![earlier(10), earlier(20)];
    test.externals = (1..4).map(|n| ExternalResult::new("ask", int(n))).collect();
    let outcome = run_with(&program, &test);
    assert_eq!(result(&outcome), 300 + 5 + 10 + 20 + 1);
    assert_eq!((outcome.externals.len(), outcome.uninitialised), (3, None));
    test.earlier[1].args.pop();
    let refused = run(&program, &test, &Options::default(), &mut Silent).unwrap_err();
    assert_eq!(refused, BadTest::Arguments { wanted: 2, given: 1 });
}

#[test]
fn a_call_that_does_not_return_is_the_last_of_its_test() {
    let divides = two_ints("s0: store i32 &g0, add.s(load i32(&g0), v0) return div.s(v0, v1)");
    let program = program(&divides);
    let mut test = test(vec![int(100), int(1)]);
    let earlier = |x, y| EarlierCall { args: vec![int(x), int(y)], variable: vec![] };
    test.earlier = vec![earlier(10, 5), earlier(20, 0), earlier(40, 1)];
    let outcome = run_with(&program, &test);
    assert_eq!(outcome.end, End::Trapped(TrapKind::DivisionByZero));
    assert_eq!((outcome.location.is_some(), outcome.result), (true, None));
    assert_eq!(outcome.globals[0], 35i32.to_le_bytes());
}

#[test]
fn what_an_earlier_call_left_undefined_in_its_registers_says_nothing_of_later_calls() {
    let program = program(&two_ints(
        "s0: enter v3 s1: v2 = add.s(v0, v1) s2: v0 = load i32(&v3) s3: store i32 &g0, v0
         return v2",
    ));
    let mut test = test(vec![int(2), int(3)]);
    let once = run_with(&program, &test);
    assert_eq!((result(&once), once.uninitialised), (5, None), "copying is no use");
    test.earlier = vec![EarlierCall { args: vec![int(0), int(0)], variable: vec![] }];
    let twice = run_with(&program, &test);
    assert_eq!((result(&twice), twice.uninitialised), (5, None));
}

#[test]
fn standard_streams_are_three_objects_whose_contents_nobody_knows() {
    let stream = |number: u32, name: &str| {
        format!("global g{number} \"{name}\" ty3 size 8 align 8 external = extern\n")
    };
    let streams = stream(3, "stdout") + &stream(4, "stderr");
    let giving = |value: &str| {
        let program = program(&format!("{streams}{}", two_ints(&format!("return {value}"))));
        run_with(&program, &test(vec![int(1), int(2)]))
    };
    assert_eq!(result(&giving("zext i32(eq(load ptr(&g3), load ptr(&g4)))")), 0);
    assert_eq!(result(&giving("zext i32(eq(load ptr(&g3), 0:ptr))")), 0);
    assert!(giving("load i32(load ptr(&g4))").uninitialised.is_some());
    let held = two_ints("return zext i32(eq(load ptr(&g2), load ptr(&g4)))");
    let program = program(&format!("{streams}{held}"));
    let mut test = test(vec![int(1), int(2)]);
    for (name, same) in [("stderr", 1), ("stdout", 0)] {
        let image = pointer_to(PointerTarget::Stream(name.into()));
        test.globals = vec![GlobalInput { name: "gp".into(), image }];
        assert_eq!(result(&run_with(&program, &test)), same, "{name}");
    }
    test.globals[0].image = pointer_to(PointerTarget::Stream("stdin".into()));
    let refused = run(&program, &test, &Options::default(), &mut Silent).unwrap_err();
    assert!(matches!(refused, BadTest::Pointer(_)), "the program has no such stream");
}

#[test]
fn a_test_that_does_not_suit_the_program_is_refused() {
    let program = program(&two_ints("return v0"));
    let refused = |change: &dyn Fn(&mut Test)| {
        let mut test = test(vec![int(1), int(2)]);
        change(&mut test);
        run(&program, &test, &Options::default(), &mut Silent).unwrap_err()
    };
    assert_eq!(refused(&|t| t.function = "h".into()), BadTest::NoFunction("h".into()));
    assert_eq!(refused(&|t| t.args.clear()), BadTest::Arguments { wanted: 2, given: 0 });
    let large = Image { bytes: vec![0; 17], pointers: vec![] };
    assert_eq!(refused(&|t| t.args[0] = large.clone()), BadTest::TooLarge("x".into()));
    let misplaced = |at| BadTest::Misplaced(format!("at {at:x}"));
    assert_eq!(refused(&|t| t.objects.push(object(64, b"a"))), misplaced(64));
    let twice = |t: &mut Test| {
        t.objects = vec![object(INPUT_REGION, b"ab"), object(INPUT_REGION + 1, b"a")]
    };
    assert_eq!(refused(&twice), misplaced(INPUT_REGION + 1));
    let nowhere = pointer_to(PointerTarget::Object(3, 0));
    assert_eq!(refused(&|t| t.args[0] = nowhere.clone()), BadTest::Pointer("x".into()));
    let global = GlobalInput { name: "none".into(), image: int(1) };
    assert_eq!(refused(&|t| t.globals.push(global.clone())), BadTest::NoGlobal("none".into()));
}

/// A function that calls `malloc(8)` as `f1`, `free` as `f2`, `realloc` as `f3`.
fn allocating(stmts: &str) -> Program {
    program(&format!(
        "ty16 = pointer ty0 ty17 = function ty16 (ty4) ty18 = function ty0 (ty16)
         ty19 = function ty16 (ty16, ty4)
         function f0 \"f\" ty9 external (\"n\") {{ params (v0)
         local v0 \"n\" ty1 param register i32 local v1 \"p\" ty16 var register ptr
         local v2 \"q\" ty16 var register ptr
         entry bb0 bb0: s0: call f1 ty17 (8:i64) (ty4) -> v1 {stmts} }}
         function f1 \"malloc\" ty17 external () function f2 \"free\" ty18 external ()
         function f3 \"realloc\" ty19 external ()"
    ))
}

#[test]
fn what_is_allocated_lives_until_it_is_freed() {
    let run_it = |stmts: &str| run_with(&allocating(stmts), &test(vec![int(7)]));
    let free = "call f2 ty18 (v1) (ty16)";
    assert_eq!(result(&run_it("s1: store i32 v1, v0 return load i32(v1)")), 7);
    let traps = [
        (format!("s1: {free} return load i32(v1)"), TrapKind::UseAfterFree),
        (format!("s1: {free} s2: {free} return v0"), TrapKind::BadFree),
        ("s1: call f2 ty18 (index 1(v1, 1:i64)) (ty16) return v0".into(), TrapKind::BadFree),
        ("s1: call f2 ty18 (&g0) (ty16) return v0".into(), TrapKind::BadFree),
        ("return load i32(index 1(v1, 5:i64))".into(), TrapKind::OutOfBounds),
    ];
    for (stmts, kind) in traps {
        assert_eq!(run_it(&stmts).end, End::Trapped(kind), "{stmts}");
    }
    assert!(run_it("return load i32(v1)").uninitialised.is_some());
    assert_eq!(result(&run_it("s1: call f2 ty18 (0:ptr) (ty16) return v0")), 7);
    let grown = "s1: store i32 v1, v0 s2: call f3 ty19 (v1, 64:i64) (ty16, ty4) -> v2
                 s3: store i32 index 4(v2, 15:i64), 1:i32 return load i32(v2)";
    assert_eq!(result(&run_it(grown)), 7);
}

#[test]
fn an_allocation_fails_where_the_test_says_so() {
    let program = allocating("return zext i32(eq(v1, 0:ptr))");
    let mut test = test(vec![int(0)]);
    assert_eq!(result(&run_with(&program, &test)), 0);
    let failure = Image { bytes: vec![0], pointers: vec![] };
    test.externals.push(ExternalResult::new("malloc", failure));
    assert_eq!(result(&run_with(&program, &test)), 1);
}

#[test]
fn an_allocation_of_a_gibibyte_fails() {
    for (size, is_null) in [(1_u64 << 20, 0), (1 << 30, 1), (1 << 62, 1)] {
        let program = allocating(&format!(
            "s1: call f3 ty19 (v1, {size}:i64) (ty16, ty4) -> v2 return zext i32(eq(v2, 0:ptr))"
        ));
        assert_eq!(result(&run_with(&program, &test(vec![int(0)]))), is_null, "{size} bytes");
    }
}

#[test]
fn overflow_builtins_compute_exactly() {
    let call = |op: &str, x: i32, y: i32| {
        let functions = format!(
            "ty16 = int \"_Bool\" 8 unsigned ty17 = function ty16 () variadic
             function f0 \"f\" ty11 external () {{ params (v0, v1)
             local v0 \"x\" ty1 param register i32 local v1 \"y\" ty1 param register i32
             local v2 \"r\" ty2 var memory 1 1 local v3 \"\" ty16 temp register i8
             entry bb0 bb0: s0: enter v2
             s1: call f1 ty17 (v0, v1, &v2) (ty1, ty1, ty3) -> v3
             return add.s(mul.s(zext i32(v3), 1000:i32), sext i32(load i8(&v2))) }}
             function f1 \"__builtin_{op}_overflow\" ty17 external ()"
        );
        result(&run_with(&program(&functions), &test(vec![int(x), int(y)])))
    };
    assert_eq!(call("add", 100, 27), 127);
    assert_eq!(call("add", 100, 28), 1000 - 128);
    assert_eq!(call("sub", -100, 28), -128);
    assert_eq!(call("mul", i32::MIN, i32::MIN), 1000);
}

/// Writes down what it hears.
#[derive(Default)]
struct Log(Vec<String>);

impl Observer for Log {
    fn entry(&mut self, view: &View<'_>) {
        self.0.push(format!("entry {}", view.function()));
    }
    fn mark(&mut self, view: &View<'_>, mark: MarkId) {
        let _ = view;
        self.0.push(format!("mark {mark}"));
    }
    fn edge(&mut self, _: &View<'_>, edge: Edge) {
        self.0.push(format!("edge {edge}"));
    }
    fn condition(&mut self, _: &View<'_>, origin: &BranchOrigin) {
        self.0.push(format!("condition {}", origin.condition));
    }
    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        let kind = |value: &Truth| match value {
            Truth::True => 'T',
            Truth::False => 'F',
            Truth::Unknown => '?',
        };
        let ids = (0..event.reached.len()).map(ConditionId::from_index);
        let values: Vec<Truth> = ids.map(|condition| event.value(view, condition)).collect();
        let shown: String = values.iter().map(kind).collect();
        let reached = event.reached.iter().flatten().count();
        self.0.push(format!("{} {} {shown} {reached}", event.decision, event.outcome));
        let condition =
            &view.body().decisions[event.decision].conditions[ConditionId::from_index(0)];
        assert_eq!(view.truth(&view.body().exprs, condition.expr), values[0]);
    }
    fn root(&mut self, view: &View<'_>, root: RootId) {
        let expr = view.body().source.roots[root].expr;
        let value = view.eval(&view.body().exprs, expr);
        self.0.push(format!("root {root} {:?}", value.map(|value| value.bits)));
    }
}

#[test]
fn a_decisions_event_has_the_pure_conditions_that_were_not_reached() {
    let functions = r#"
function f0 "f" ty11 external ("x", "y") {
  params (v0, v1) local v0 "x" ty1 param register i32 local v1 "y" ty1 param register i32
  entry bb0
  bb0: s0: mark m0
       branch $a:gt.s(v0, 0:i32) ? bb1 : bb4 [d0 c0 begins else false]
  bb1: branch $b:gt.s(div.s(v0, v1), 0:i32) ? bb2 : bb4 [d0 c1 else false]
  bb2: branch $c:lt.s(v1, 5:i32) ? bb3 : bb4 [d0 c2 then true else false]
  bb3: return $r:add.s(v0, v1)
  bb4: return 0:i32
  decision d0 control = and(c0, c1, c2) { c0 pure = $a c1 may-trap = $b c2 pure = $c }
  mark m0 statement
  source { root r0 bb3 value $r root r1 bb1 condition d0 c1 $b }
}
"#;
    let program = program(functions);
    let log = |x, y| {
        let mut log = Log::default();
        let test = test(vec![int(x), int(y)]);
        run(&program, &test, &Options::default(), &mut log).unwrap();
        log.0
    };
    assert_eq!(log(0, 1), ["entry f0", "mark m0", "condition c0", "d0 false F?T 1", "edge bb0.1"]);
    assert_eq!(
        log(6, 2)[3..],
        [
            "edge bb0.0",
            "root r1 Ok(1)",
            "condition c1",
            "edge bb1.0",
            "condition c2",
            "d0 true TTT 3",
            "edge bb2.0",
            "root r0 Ok(8)"
        ]
    );
    assert_eq!(log(1, 0)[4..], ["root r1 Err(DivisionByZero)", "condition c1"]);
}

#[test]
fn a_condition_that_was_not_reached_has_a_value_where_what_it_chooses_does_not_trap() {
    let functions = r#"
function f0 "f" ty11 external ("x", "y") {
  params (v0, v1) local v0 "x" ty1 param register i32 local v1 "y" ty1 param register i32
  entry bb0
  bb0: branch $a:gt.s(v0, 0:i32) ? bb1 : bb2 [d0 c0 begins else false]
  bb1: branch $b:gt.s(div.s(v0, v1), 0:i32) ? bb2 : bb2 [d0 c1 then true else false]
  bb2: return 0:i32
  decision d0 control = and(c0, c1) {
    c0 pure = $a
    c1 may-trap = $b unreached defined
      select(ne(v1, 7:i32), gt.s(div.s(v0, v1), 0:i32), eq(shl.s(1:i32, v0), 1:i32))
  }
}
"#;
    let program = program(functions);
    let shown = |x, y| {
        let mut log = Log::default();
        run(&program, &test(vec![int(x), int(y)]), &Options::default(), &mut log).unwrap();
        log.0.into_iter().find(|line| line.starts_with("d0")).unwrap()
    };
    assert_eq!(shown(-4, -2), "d0 false FT 1");
    assert_eq!(shown(-4, 2), "d0 false FF 1");
    assert_eq!(shown(-4, 0), "d0 false F? 1");
    assert_eq!(shown(i32::MIN, -1), "d0 false F? 1");
    assert_eq!(shown(0, 7), "d0 false FT 1", "the division is not what is chosen");
    assert_eq!(shown(-1, 7), "d0 false F? 1", "the shift is");
}

#[test]
fn a_switch_takes_the_case_that_holds_its_value() {
    let functions = r#"
function f0 "f" ty9 external ("x") {
  params (v0) local v0 "x" ty1 param register i32
  entry bb0
  bb0: switch v0 { 3: bb1 -5..-2: bb2 default: bb3 }
  bb1: return 1:i32
  bb2: return 2:i32
  bb3: return 3:i32
}
"#;
    let program = program(functions);
    let value = |x| result(&run_with(&program, &test(vec![int(x)])));
    assert_eq!([3, -5, -2, -1, 0].map(value), [1, 2, 2, 3, 3]);
}

#[test]
fn a_user_label_has_the_truth_of_the_conditions_that_evaluation_reaches() {
    struct Labels(Vec<Truth>);
    impl Observer for Labels {
        fn mark(&mut self, view: &View<'_>, mark: MarkId) {
            if let crate::MarkKind::UserLabel { predicate, .. } = &view.body().marks[mark].kind {
                self.0.push(view.user_label(predicate));
            }
        }
    }
    let functions = r#"
function f0 "f" ty11 external ("x", "y") {
  params (v0, v1) local v0 "x" ty1 param register i32 local v1 "y" ty1 param register i32
  entry bb0
  bb0: s0: mark m0 return v0
  mark m0 label "l" control = and(c0, c1) {
    c0 pure = ne(v1, 0:i32)
    c1 may-trap = gt.s(div.s(v0, v1), 1:i32)
  }
}
"#;
    let program = program(functions);
    let truth = |x, y| {
        let mut labels = Labels(Vec::new());
        run(&program, &test(vec![int(x), int(y)]), &Options::default(), &mut labels).unwrap();
        labels.0
    };
    assert_eq!(truth(4, 0), [Truth::False]);
    assert_eq!(truth(4, 2), [Truth::True]);
    assert_eq!(truth(4, 4), [Truth::False]);
}
