//! The runner on small programs: values in and out, and every way in which a call may end.

use std::time::Duration;

use lydian_base::CancelToken;
use lydian_ir::test::{
    EarlierCall, ExternalResult, ExternalWrite, GlobalInput, Image, PointerTarget, Test, WriteBase,
};
use lydian_ir::{CType, IntKind};
use lydian_native::{CrashClass, Haste, Limits, Outcome, RunError, TestError, Wants};

use crate::common::{Unit, bytes_object, call, int, plain, pointer};

const MEMORY: Wants = Wants { cells: false, memory: true, heap: false, fill: false };

fn returned(value: i32) -> Outcome {
    Outcome::Returned(value.to_le_bytes().to_vec())
}

fn of_int(text: &str) -> Unit {
    let mut unit = Unit::new(text);
    let int = unit.int();
    unit.defines("f", int, &[int])
}

fn outcomes(unit: &Unit, tests: &[lydian_ir::test::Test]) -> Vec<Outcome> {
    let limits = Limits { test: Duration::from_millis(200), ..Limits::default() };
    let runs = unit.runner_within(limits).run(tests, Wants::default());
    runs.unwrap_or_else(|error| panic!("{error}")).into_iter().map(|run| run.outcome).collect()
}

#[test]
fn a_static_function_returns_its_result_for_each_test_of_a_batch() {
    let unit = of_int("static int f(int x) { return x * 2 + 1; }");
    let tests: Vec<_> = (-50..50).map(|x| call("f", &[int(x)])).collect();
    let expected: Vec<_> = (-50..50).map(|x| returned(x * 2 + 1)).collect();
    assert_eq!(outcomes(&unit, &tests), expected);
}

#[test]
fn each_test_starts_with_the_globals_as_the_program_does() {
    let mut unit = of_int("static int count = 5; int f(int x) { count += x; return count; }");
    let int_type = unit.int();
    let unit = unit.global("count", int_type, true);
    let mut tests = vec![call("f", &[int(1)]), call("f", &[int(2)]), call("f", &[int(3)])];
    tests[2].globals.push(GlobalInput { name: "count".into(), image: int(100) });
    let runs = unit.runner().run(&tests, MEMORY).unwrap();
    let found: Vec<_> = runs.iter().map(|run| run.outcome.clone()).collect();
    assert_eq!(found, [returned(6), returned(7), returned(103)]);
    assert_eq!(runs[2].globals, [("count".to_owned(), 103i32.to_le_bytes().to_vec())]);
}

#[test]
fn earlier_calls_of_a_test_leave_memory_to_the_last_and_each_test_begins_anew() {
    let mut unit =
        Unit::new("int f(void) { static int calls; calls++; if (calls > 3) return 1; return 0; }");
    let int_type = unit.int();
    let unit = unit.defines("f", int_type, &[]);
    let calling =
        |times: usize| Test { earlier: vec![EarlierCall::default(); times], ..call("f", &[]) };
    let tests = [calling(3), calling(2), calling(0), calling(5)];
    assert_eq!(outcomes(&unit, &tests), [1, 0, 0, 1].map(returned));
}

#[test]
fn calls_of_a_test_share_objects_the_heap_and_results_of_undefined_functions() {
    let mut unit = Unit::new(
        "void *malloc(unsigned long); void free(void *); int ask(void); void exit(int); \
         int *__errno_location(void); \
         int f(unsigned char *p, int n) { static int *kept; int r = 0; \
         if (n == 9) exit(p[1]); if (n == 8) return *(int *)0; \
         if (kept) { r = *kept * 100; free(kept); } kept = malloc(4); *kept = n + ask(); \
         p[1]++; return r + p[1] * 10 + (*__errno_location())++; }",
    );
    let (int_type, bytes) = (unit.int(), unit.pointer_to(IntKind::UChar));
    let element = unit.program.types.int(IntKind::UChar);
    let unit = unit.defines("f", int_type, &[bytes, int_type]).declares("ask", int_type, &[]);
    let args = |n: i32| vec![pointer(PointerTarget::Object(0, 0)), int(n)];
    let calling = |earlier: &[i32], last: i32| {
        let mut test = call("f", &args(last));
        let calls = earlier.iter().map(|n| EarlierCall { args: args(*n), variable: vec![] });
        test.earlier = calls.collect();
        test.objects.push(bytes_object("p", element, 0x40, &[1, 2, 3]));
        let answers = (1..4).map(|n| ExternalResult::new("ask", int(n)));
        test.externals = answers.collect();
        test
    };
    let tests = [calling(&[1, 2], 3), calling(&[1, 9], 3), calling(&[8], 3), calling(&[], 3)];
    let runs = unit.runner().run(&tests, MEMORY).unwrap();
    let found: Vec<_> = runs.iter().map(|run| run.outcome.clone()).collect();
    let third = 400 + 50 + 2;
    assert_eq!(
        (&found[0], &found[1], &found[3]),
        (&returned(third), &Outcome::Exited(3), &returned(30))
    );
    assert!(matches!(&found[2], Outcome::Crashed(_)), "{found:?}");
    assert_eq!((&runs[0].objects, &runs[1].objects), (&vec![vec![1, 5, 3]], &vec![vec![1, 3, 3]]));
    let mut wrong = calling(&[1], 2);
    wrong.earlier[0].args.pop();
    let error = unit.runner().run(&[wrong], Wants::default()).unwrap_err().to_string();
    assert!(error.contains("argument 1 of `f` has 0 bytes, not 4"), "{error}");
}

#[test]
fn a_static_local_is_a_global_that_tests_set() {
    let mut unit = of_int(
        "int f(int x) { static __attribute__((used)) int n = 1; \
         { static __attribute__((used)) int n = 10; x += n++; } n += x; return n; }",
    );
    let int_type = unit.int();
    let unit = unit.global("f.n", int_type, true).global("f.n.2", int_type, true);
    let mut test = call("f", &[int(1)]);
    let plain_run = test.clone();
    test.globals.push(GlobalInput { name: "f.n".into(), image: int(1000) });
    test.globals.push(GlobalInput { name: "f.n.2".into(), image: int(200) });
    assert_eq!(outcomes(&unit, &[test, plain_run]), [returned(1201), returned(12)]);
}

#[test]
fn objects_lie_where_the_test_says_and_come_back_with_their_last_contents() {
    let mut unit =
        Unit::new("int f(unsigned char *p) { p[1] = 9; return p == (void *)0x2000000040; }");
    let (int_type, bytes) = (unit.int(), unit.pointer_to(IntKind::UChar));
    let element = unit.program.types.int(IntKind::UChar);
    let unit = unit.defines("f", int_type, &[bytes]);
    let mut test = call("f", &[pointer(PointerTarget::Object(0, 0))]);
    test.objects.push(bytes_object("p", element, 0x40, &[1, 2, 3]));
    let run = unit.runner().run(&[test], MEMORY).unwrap().remove(0);
    assert_eq!((run.outcome, run.objects), (returned(1), vec![vec![1, 9, 3]]));
}

#[test]
fn a_write_to_a_read_only_object_is_told() {
    let mut unit = Unit::new("int f(unsigned char *p) { p[0]++; return 0; }");
    let (int_type, bytes) = (unit.int(), unit.pointer_to(IntKind::UChar));
    let element = unit.program.types.int(IntKind::UChar);
    let unit = unit.defines("f", int_type, &[bytes]);
    let mut test = call("f", &[pointer(PointerTarget::Object(0, 0))]);
    test.objects.push(bytes_object("p", element, 0, &[1]));
    test.objects[0].read_only = true;
    assert!(unit.runner().run(&[test], Wants::default()).unwrap()[0].wrote_read_only);
}

#[test]
fn undefined_functions_give_their_queued_results_and_then_zeros() {
    let unit = of_int(
        "int ask(const char *, ...); int other(void); \
         int f(int x) { int a = ask(\"\", x), b = other(), c = ask(\"\"), d = ask(\"\"); \
         return a * 1000 + b * 100 + c * 10 + d; }",
    );
    let mut unit = unit;
    let int_type = unit.int();
    let unit = unit.declares("ask", int_type, &[]).declares("other", int_type, &[]);
    let mut test = call("f", &[int(0)]);
    for (name, value) in [("ask", 1), ("ask", 3), ("other", 2)] {
        test.externals.push(ExternalResult::new(name, int(value)));
    }
    assert_eq!(outcomes(&unit, &[test.clone(), test]), [returned(1230), returned(1230)]);
}

#[test]
fn an_undefined_function_writes_through_its_arguments_wherever_they_are_passed() {
    let mut unit = of_int(
        "struct wide { long a, b, c; }; \
         int set(struct wide w, double d, int *a, long n, long m, long k, long l, char *b, ...); \
         void clear(int *to); \
         int f(int x) { struct wide w = { 1, 2, 3 }; int a = x, b[3] = { 5, 6, 7 }; char c = 4; \
         if (x > 4) { clear(x > 5 ? &a : 0); return a; } \
         int r = set(w, 0.5, &a, 1, 2, 3, 4, &c, b, 8) + set(w, 1.5, b, 1, 2, 3, 4, 0); \
         return r + a * 10 + c * 100 + b[0] * 1000 + b[2] * 10000; }",
    );
    let int_type = unit.int();
    let (to_int, to_char) = (unit.pointer_to(IntKind::Int), unit.pointer_to(IntKind::Char));
    let types = &mut unit.program.types;
    let (long, double) = (types.int(IntKind::Long), types.intern(lydian_ir::CType::Double));
    let void = types.intern(lydian_ir::CType::Void);
    let field = |name: &str, bit_offset| lydian_ir::Field {
        name: name.to_owned(),
        ty: long,
        bit_offset,
        bits: None,
    };
    let record = types.records.push(lydian_ir::Record {
        name: "struct wide".into(),
        is_local: false,
        is_union: false,
        fields: vec![field("a", 0), field("b", 64), field("c", 128)],
        size: Some(24),
        align: 8,
    });
    let wide = types.intern(lydian_ir::CType::Record(record));
    let params = [wide, double, to_int, long, long, long, long, to_char];
    let unit = unit.declares("set", int_type, &params).declares("clear", void, &[to_int]);
    let write = ExternalWrite::behind_argument;
    let gives =
        |name: &str, result, writes| ExternalResult { writes, ..ExternalResult::new(name, result) };
    let mut test = call("f", &[int(2)]);
    let first = vec![write(2, 0, int(3)), write(7, 0, plain(&[6]))];
    let second = vec![write(2, 8, int(9)), write(2, 0, int(8)), write(7, 0, plain(&[1]))];
    test.externals = vec![gives("set", int(4), first), gives("set", int(1), second)];
    let cleared = |x| {
        let mut test = call("f", &[int(x)]);
        test.externals = vec![gives("clear", plain(&[]), vec![write(0, 0, int(0))])];
        test
    };
    let silent = call("f", &[int(2)]);
    let tests = [test.clone(), cleared(6), cleared(5), silent, test];
    let all = [98635, 0, 5, 70000 + 5000 + 400 + 20, 98635];
    assert_eq!(outcomes(&unit, &tests), all.map(returned));
    let mut wrong = call("f", &[int(2)]);
    wrong.externals = vec![gives("set", int(4), vec![write(3, 0, int(3))])];
    let refused = unit.runner().run(&[wrong], Wants::default()).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("`set` writes nothing through its argument 3"), "{said}");
}

/// What a call of `name` gives and writes.
fn writing(name: &str, writes: Vec<ExternalWrite>) -> ExternalResult {
    ExternalResult { writes, ..ExternalResult::new(name, int(0)) }
}

fn write(to: WriteBase, through: &[u64], offset: u64, image: Image) -> ExternalWrite {
    ExternalWrite { to, through: through.to_vec(), offset, image }
}

#[test]
fn what_an_undefined_function_writes_lies_behind_pointers_in_words_for_dots_and_in_globals() {
    let mut unit = of_int(
        "struct out { int n; int *value; }; struct context { long pad; const struct out *out; }; \
         int set(const struct context *c, char last, ...); int *__errno_location(void); \
         int state; static int held, *shared = &held; const int fixed = 4; \
         int f(int x) { static int cell; int y = 0; struct out o = { 0, x > 1 ? &cell : 0 }; \
         struct context c = { 1, &o }; cell = 1; *__errno_location() = 2; \
         set(x ? &c : 0, 'a', 2.5, 7, &y, \"end\"); \
         return o.n * 100000 + cell * 10000 + y * 1000 + state * 100 + held * 10 \
           + *__errno_location() + (fixed != 4); }",
    );
    let int_type = unit.int();
    let to_int = unit.pointer_to(IntKind::Int);
    let types = &mut unit.program.types;
    let to_const = types.intern(CType::Pointer { pointee: int_type, to_const: true });
    let char_type = types.int(IntKind::Char);
    let unit = unit.declares("set", int_type, &[to_const, char_type]);
    let unit = unit.global("state", int_type, true).global("shared", to_int, true);
    let mut unit = unit.global("fixed", int_type, true);
    let fixed = unit.program.global_named("fixed").unwrap();
    unit.program.globals[fixed].read_only = true;
    let global = |name: &str| WriteBase::Global(name.into());
    let writes = vec![
        write(WriteBase::Argument(0), &[8, 8], 0, int(5)),
        write(WriteBase::Argument(0), &[8], 0, int(3)),
        write(WriteBase::Variable(1), &[], 0, int(9)),
        write(global("shared"), &[0], 0, int(6)),
        write(global("state"), &[], 0, int(4)),
        write(global("shared"), &[], 0, pointer(PointerTarget::Global("state".into(), 0))),
        write(global("shared"), &[0], 1, plain(&[0])),
        write(global("errno"), &[], 0, int(8)),
    ];
    let calling = |x, writes| {
        let mut test = call("f", &[int(x)]);
        test.externals = vec![writing("set", writes)];
        test
    };
    let tests = [calling(2, writes.clone()), calling(1, writes.clone()), calling(0, writes)];
    let expected = [359468, 319468, 19468].map(returned);
    assert_eq!(outcomes(&unit, &tests), expected, "null pointers leave writes out");
    let refused = |to, through: &[u64], offset| {
        let test = calling(2, vec![write(to, through, offset, int(1))]);
        let error = unit.runner().run(&[test], Wants::default()).unwrap_err();
        error.to_string()
    };
    let first = WriteBase::Argument(0);
    let told = refused(first, &[], 0);
    assert!(told.contains("`set` writes nothing through its argument 0"), "{told}");
    let told = refused(WriteBase::Variable(8), &[], 0);
    assert!(told.contains("`set` writes nothing through its argument 8 for `...`"), "{told}");
    for (name, offset) in [("fixed", 0), ("state", 1)] {
        let told = refused(global(name), &[], offset);
        assert!(told.contains(&format!("the global `{name}` cannot take this image")), "{told}");
    }
    let told = refused(global("none"), &[], 0);
    assert!(told.contains("the global `none` cannot be set or pointed to"), "{told}");
}

#[test]
fn a_way_of_a_write_that_no_memory_lies_on_crashes_as_an_access_does() {
    let mut unit =
        of_int("int set(int **p); int f(int x) { int *p = (int *)16l; return set(&p); }");
    let (int_type, to_int) = (unit.int(), unit.pointer_to(IntKind::Int));
    let to_pointer = unit.program.types.pointer(to_int);
    let unit = unit.declares("set", int_type, &[to_pointer]);
    let mut test = call("f", &[int(0)]);
    let way = write(WriteBase::Argument(0), &[0, 8], 0, int(1));
    test.externals = vec![writing("set", vec![way])];
    let found = outcomes(&unit, &[test, call("f", &[int(0)])]);
    assert!(matches!(&found[0], Outcome::Crashed(_)), "{found:?}");
    assert_eq!(found[1], returned(0));
}

#[test]
fn a_callback_writes_behind_pointers_to_what_is_const() {
    let mut unit = Unit::new(
        "struct node { const struct node *next; int *value; }; \
         int f(int (*ask)(const int *)) { int v = 1; struct node b = { 0, &v }, a = { &b, 0 }; \
         return ask((const int *)&a) + v; }",
    );
    let int_type = unit.int();
    let types = &mut unit.program.types;
    let to_const = types.intern(CType::Pointer { pointee: int_type, to_const: true });
    let params = vec![to_const];
    let callback = types.intern(CType::Function { result: int_type, params, variadic: false });
    let to_callback = types.pointer(callback);
    let unit = unit.defines("f", int_type, &[to_callback]);
    let mut unit = unit;
    unit.add("lydian_callback_0", int_type, &[to_const], false, false);
    let mut test = call("f", &[pointer(PointerTarget::Function("lydian_callback_0".into()))]);
    let way = write(WriteBase::Argument(0), &[0, 8], 0, int(41));
    test.externals = vec![writing("lydian_callback_0", vec![way])];
    test.externals[0].result = int(1);
    assert_eq!(outcomes(&unit, &[test]), [returned(42)]);
}

#[test]
fn an_undefined_function_gives_a_struct_by_value() {
    let mut unit = Unit::new(
        "struct pair { double d; int i; }; struct pair get(void); \
         int f(void) { struct pair p = get(); return p.d > 1.5 ? p.i : -1; }",
    );
    let int_type = unit.int();
    let double = unit.program.types.intern(lydian_ir::CType::Double);
    let field = |name: &str, ty, bit_offset| lydian_ir::Field {
        name: name.to_owned(),
        ty,
        bit_offset,
        bits: None,
    };
    let record = unit.program.types.records.push(lydian_ir::Record {
        name: "struct pair".into(),
        is_local: false,
        is_union: false,
        fields: vec![field("d", double, 0), field("i", int_type, 64)],
        size: Some(16),
        align: 8,
    });
    let pair = unit.program.types.intern(lydian_ir::CType::Record(record));
    let unit = unit.defines("f", int_type, &[]).declares("get", pair, &[]);
    let mut test = call("f", &[]);
    let mut bytes = 2.5f64.to_le_bytes().to_vec();
    bytes.extend([7, 0, 0, 0, 0, 0, 0, 0]);
    test.externals.push(ExternalResult::new("get", plain(&bytes)));
    assert_eq!(outcomes(&unit, &[test, call("f", &[])]), [returned(7), returned(-1)]);
}

#[test]
fn an_allocation_fails_where_the_test_says_so() {
    let unit = of_int(
        "void *malloc(unsigned long); void free(void *); \
         int f(int x) { char *p = malloc(x); if (!p) return 1; p[0] = 3; \
         char *q = malloc(x); free(p); if (!q) return 2; free(q); return 0; }",
    );
    let fail = |flags: &[u8]| {
        let mut test = call("f", &[int(40)]);
        for flag in flags {
            let result = plain(&[*flag]);
            test.externals.push(ExternalResult::new("malloc", result));
        }
        test
    };
    let found = outcomes(&unit, &[fail(&[]), fail(&[0]), fail(&[1, 0])]);
    assert_eq!(found, [returned(0), returned(1), returned(2)]);
}

#[test]
fn what_does_not_return_ends_the_call_and_the_runner_goes_on() {
    let unit = of_int(
        "void exit(int); void abort(void); void *malloc(unsigned long); void free(void *); \
         __attribute__((noreturn)) void die(void); \
         int f(int x) { if (x == 1) exit(42); if (x == 2) abort(); if (x == 3) die(); \
         if (x == 4) { void *p = malloc(1); free(p); free(p); } return x; }",
    );
    let mut unit = unit;
    let void = unit.program.types.void();
    unit.add("die", void, &[], false, false);
    let die = unit.program.function_named("die").unwrap();
    unit.program.functions[die].noreturn = true;
    let tests: Vec<_> = (0..6).map(|x| call("f", &[int(x)])).collect();
    let mut runner = unit.runner();
    let runs = runner.run(&tests, Wants::default()).unwrap();
    let found: Vec<_> = runs.into_iter().map(|run| run.outcome).collect();
    let ended = [
        returned(0),
        Outcome::Exited(42),
        Outcome::Aborted,
        Outcome::EndedBy("die".into()),
        Outcome::BadFree,
        returned(5),
    ];
    assert_eq!((found.as_slice(), runner.starts()), (ended.as_slice(), 1));
}

#[test]
fn a_crash_ends_one_test_and_the_others_go_on() {
    let unit = of_int(
        "static int deep(int n) { volatile char a[4096]; a[0] = n; return n ? deep(n - 1) + a[0] : 0; } \
         int f(int x) { \
         if (x == 1) return *(volatile int *)0; if (x == 2) { volatile int z = 0; return x / z; } \
         if (x == 3) return deep(1 << 30); if (x == 4) __builtin_trap(); \
         if (x == 5) return *(volatile int *)0x2010000000; \
         if (x == 6) return *(volatile int *)0x5555000000000000; return x; }",
    );
    let tests: Vec<_> = (0..8).map(|x| call("f", &[int(x)])).collect();
    let classes: Vec<_> = outcomes(&unit, &tests)
        .into_iter()
        .map(|outcome| match outcome {
            Outcome::Crashed(crash) => Ok(crash.class),
            other => Err(other),
        })
        .collect();
    let expected = [
        Err(returned(0)),
        Ok(CrashClass::NullPointer),
        Ok(CrashClass::Arithmetic),
        Ok(CrashClass::StackOverflow),
        Ok(CrashClass::Trap),
        Ok(CrashClass::OutsideObjects),
        Ok(CrashClass::WildAddress),
        Err(returned(7)),
    ];
    assert_eq!(classes, expected);
}

#[test]
fn a_test_that_runs_too_long_is_stopped_and_the_others_go_on() {
    let unit = of_int("int f(int x) { while (x == 1) __asm__ volatile(\"\"); return x; }");
    let tests: Vec<_> = (0..3).map(|x| call("f", &[int(x)])).collect();
    assert_eq!(outcomes(&unit, &tests), [returned(0), Outcome::TimedOut(200), returned(2)]);
}

#[test]
fn after_a_test_that_ran_too_long_others_have_less_time_until_patience_is_asked_for() {
    let unit = of_int("int f(int x) { while (x > 0) __asm__ volatile(\"\"); return x; }");
    let tests: Vec<_> = [1, 2, 0].map(|x| call("f", &[int(x)])).to_vec();
    let limits = Limits { test: Duration::from_millis(200), ..Limits::default() };
    let mut runner = unit.runner_within(limits);
    let mut ends = || {
        let runs = runner.run(&tests, Wants::default()).expect("they run");
        runner.be_patient();
        runs.into_iter().map(|run| run.outcome).collect::<Vec<_>>()
    };
    let expected = [Outcome::TimedOut(200), Outcome::TimedOut(25), returned(0)];
    assert_eq!(ends(), expected);
    assert_eq!(ends(), expected);
}

#[test]
fn a_test_of_which_little_is_expected_has_a_fiftieth_of_the_time_and_tells_nothing_of_others() {
    let unit = of_int("int f(int x) { while (x > 0) __asm__ volatile(\"\"); return x; }");
    let limits = Limits { test: Duration::from_millis(400), ..Limits::default() };
    let mut runner = unit.runner_within(limits);
    let mut end = |haste: Haste, x: i32| {
        runner.hurry(haste);
        let runs = runner.run(&[call("f", &[int(x)])], Wants::default()).expect("it runs");
        runs.into_iter().map(|run| run.outcome).next().expect("one run")
    };
    assert_eq!((end(Haste::Some, 1), end(Haste::Some, 0)), (Outcome::TimedOut(20), returned(0)));
    let usual = (end(Haste::None, 1), end(Haste::None, 2));
    assert_eq!(usual, (Outcome::TimedOut(400), Outcome::TimedOut(50)));
    assert_eq!(end(Haste::Some, 2), Outcome::TimedOut(20));
    assert_eq!((end(Haste::Much, 2), end(Haste::Much, 0)), (Outcome::TimedOut(5), returned(0)));
}

#[test]
fn a_killed_runner_is_told_and_started_again() {
    let unit = of_int(
        "long syscall(long, ...); \
         int f(int x) { \
         if (x == 1) { register long a __asm__(\"rax\") = 39; long pid; \
           __asm__ volatile(\"syscall\" : \"=a\"(pid) : \"a\"(39L) : \"rcx\", \"r11\", \"memory\"); \
           __asm__ volatile(\"syscall\" : \"=a\"(a) : \"a\"(62L), \"D\"(pid), \"S\"(9L) : \"rcx\", \"r11\", \"memory\"); } \
         return x; }",
    );
    let tests: Vec<_> = (0..3).map(|x| call("f", &[int(x)])).collect();
    let mut runner = unit.runner();
    let runs = runner.run(&tests, Wants::default()).unwrap();
    assert!(matches!(&runs[1].outcome, Outcome::Killed(how) if how.contains('9')), "{:?}", runs[1]);
    assert_eq!((&runs[2].outcome, runner.starts()), (&returned(2), 2));
}

#[test]
fn a_test_that_writes_over_the_runner_s_memory_is_told_and_the_others_go_on() {
    // The mapping is found in the process's own list of mappings, which is read without the library.
    let unit = of_int(
        "static long call(long number, long a, const void *b, long c, long d) { \
           register long fourth __asm__(\"r10\") = d; long result; \
           __asm__ volatile(\"syscall\" : \"=a\"(result) : \"a\"(number), \"D\"(a), \"S\"(b), \"d\"(c), \"r\"(fourth) \
             : \"rcx\", \"r11\", \"memory\"); return result; } \
         static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; } \
         static char text[1 << 16]; \
         static int damage(unsigned long from) { \
           long file = call(257, -100, \"/proc/self/maps\", 0, 0), size = 0, more; \
           while ((more = call(0, file, text + size, sizeof text - 1 - size, 0)) > 0) size += more; \
           char *line = text, *at; \
           for (at = text; *at; at++) { \
             if (*at == '\\n') line = at + 1; \
             if (at[0] != 'm' || at[1] != 'e' || at[2] != 'm' || at[3] != 'f') continue; \
             unsigned long ends[2] = {0, 0}; \
             for (int i = 0; i < 2; i++, line++) for (; digit(*line) >= 0; line++) ends[i] = ends[i] * 16 + digit(*line); \
             for (char *byte = (char *)ends[0] + from; byte < (char *)ends[1]; byte++) *byte = -1; \
             return 1; } \
           return 0; } \
         int f(int x) { if (x == 1) return damage(4096); if (x == 3) return damage(0); return x; }",
    );
    let tests: Vec<_> = (0..5).map(|x| call("f", &[int(x)])).collect();
    let found = outcomes(&unit, &tests);
    assert!(matches!(&found[1], Outcome::Crashed(_) | Outcome::Damaged), "{found:?}");
    assert_eq!(found[3], Outcome::Damaged);
    assert_eq!([&found[0], &found[2], &found[4]], [&returned(0), &returned(2), &returned(4)]);
}

#[test]
fn more_tests_than_the_buffer_holds_are_run_in_several_requests() {
    let unit = of_int("int f(int x) { return x; }");
    let limits = Limits { buffer: 4096, ..Limits::default() };
    let tests: Vec<_> = (0..1000).map(|x| call("f", &[int(x)])).collect();
    let runs = unit.runner_within(limits).run(&tests, Wants::default()).unwrap();
    let found: Vec<_> = runs.into_iter().map(|run| run.outcome).collect();
    assert_eq!(found, (0..1000).map(returned).collect::<Vec<_>>());
}

#[test]
fn a_test_that_does_not_fit_the_program_is_an_error() {
    let unit = of_int("int f(int x) { return x; }");
    let error = |test| match unit.runner().run(&[test], Wants::default()) {
        Err(RunError::Test { position: 0, error }) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error(call("g", &[])), TestError::Function("g".into()));
    assert!(matches!(error(call("f", &[])), TestError::Argument { position: 0, .. }));
    let mut test = call("f", &[int(0)]);
    test.globals.push(GlobalInput { name: "nothing".into(), image: int(0) });
    assert_eq!(error(test), TestError::Global("nothing".into()));
}

#[test]
fn a_cancelled_run_stops_within_a_test() {
    let unit = of_int("int f(int x) { while (x) __asm__ volatile(\"\"); return x; }");
    let cancel = CancelToken::new();
    let limits =
        Limits { test: Duration::from_secs(60), cancel: cancel.clone(), ..Limits::default() };
    let mut runner = unit.runner_within(limits);
    cancel.cancel();
    let result = runner.run(&[call("f", &[int(1)])], Wants::default());
    assert!(matches!(result, Err(RunError::Cancelled)), "{result:?}");
}

#[test]
fn a_program_that_defines_functions_of_the_c_library_keeps_its_own() {
    let unit = of_int(
        "unsigned long strlen(const char *s) { return 77; } \
         void *malloc(unsigned long n) { static char heap[64]; return heap; } \
         int f(int x) { char *p = malloc(4); p[0] = 0; return (int)strlen(p) + x; }",
    );
    assert_eq!(outcomes(&unit, &[call("f", &[int(1)])]), [returned(78)]);
}

#[test]
fn what_verifiers_and_klee_define_is_there_and_a_broken_assumption_ends_the_run() {
    let unit = of_int(
        "void __VERIFIER_assume(int); void reach_error(void); void klee_assume(unsigned long); \
         void klee_make_symbolic(void *, unsigned long, const char *); \
         int klee_range(int, int, const char *); void klee_silent_exit(int); \
         void __CPROVER_assert(int, const char *); \
         int f(int x) { int y; klee_make_symbolic(&y, sizeof y, \"y\"); \
         __VERIFIER_assume(x != 1); klee_assume(x != 2); if (x == 3) reach_error(); \
         if (x == 4) klee_silent_exit(0); __CPROVER_assert(x != 5, \"5\"); \
         return y + klee_range(2, 9, \"k\"); }",
    );
    let with = |x: i32, y: i32, k: i32| {
        let mut test = call("f", &[int(x)]);
        test.externals.push(ExternalResult::new("klee_range", int(k)));
        test.externals.push(ExternalResult::new("klee_make_symbolic", int(y)));
        test
    };
    let tests: Vec<_> = (0..6).map(|x| with(x, 100, 8)).chain([with(0, 1, 9)]).collect();
    let found = outcomes(&unit, &tests);
    let broken = Outcome::Assumption;
    let ended = [
        returned(108),
        broken.clone(),
        broken.clone(),
        Outcome::Aborted,
        broken.clone(),
        Outcome::Aborted,
        broken,
    ];
    assert_eq!(found, ended);
}

#[test]
fn runners_of_one_build_run_tests_in_folders_of_their_own() {
    let unit = of_int(
        "char *getcwd(char *to, unsigned long size);\n\
         int f(int x) { char here[4096]; unsigned hash = x; if (!getcwd(here, sizeof here)) return 0;\n\
         for (char *c = here; *c; c++) hash = hash * 31 + *c; return hash | 1; }",
    );
    let build = unit.build(lydian_native::Optimization::Some);
    let runner = || lydian_native::Runner::new(build.clone(), Limits::default()).unwrap();
    let (mut one, mut other) = (runner(), runner());
    let test = [call("f", &[int(1)])];
    let folder =
        |runner: &mut lydian_native::Runner| runner.run(&test, MEMORY).unwrap().remove(0).outcome;
    assert_ne!(folder(&mut one), returned(0));
    assert_eq!(folder(&mut one), folder(&mut one));
    assert_ne!(folder(&mut one), folder(&mut other));
}
