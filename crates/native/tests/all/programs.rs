//! Whole C programs through the front end: instrumented for every criterion, they compile and do
//! what they did.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lydian_base::Rng;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::test::{INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject};
use lydian_ir::{CType, FuncId};
use lydian_native::{
    Build, BuildRequest, Limits, MeasureRequest, Measurer, Optimization, Outcome, Plan,
    RewriteRequest, Runner, Wants,
};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};

use crate::common::whole::loaded;

fn unit_of(source: &Path) -> Unit {
    let flags = CompileFlags::new(&[], source).unwrap();
    load(&LoadRequest::new(ParseRequest::new(source, flags))).unwrap_or_else(|e| panic!("{e}"))
}

fn own_functions(unit: &Unit) -> Vec<FuncId> {
    let defined = unit.program.defined();
    defined.filter(|(_, f)| !unit.source.is_system(f.span.start)).map(|(id, _)| id).collect()
}

fn objectives(
    unit: &Unit,
    functions: &[FuncId],
    criteria: &[Criterion],
) -> Vec<FunctionObjectives> {
    let request = Request::new(criteria);
    let annotated = functions.iter().map(|id| annotate(&unit.program, &unit.source, *id, &request));
    annotated.map(|annotation| annotation.unwrap().objectives).collect()
}

fn all_criteria() -> Vec<Criterion> {
    Criterion::ALL.iter().map(|(criterion, _)| *criterion).collect()
}

fn modelled(name: &str) -> bool {
    ["strlen", "strcmp", "strncmp", "memcpy", "memset", "memcmp", "isdigit", "isspace", "tolower"]
        .contains(&name)
        || name.starts_with("__ctype")
}

fn measure_request<'a>(
    unit: &'a Unit,
    watched: &'a [FunctionObjectives],
    entries: &'a [FuncId],
    level: Optimization,
) -> MeasureRequest<'a> {
    let rewrite = RewriteRequest::for_tests(&unit.source, &unit.program, watched);
    MeasureRequest {
        rewrite,
        companions: &[],
        flags: &[],
        entries,
        modelled: &modelled,
        level,
        compiler: "clang-19",
    }
}

/// Functions whose parameters are all scalars or pointers to scalars.
fn callable(unit: &Unit, id: FuncId) -> bool {
    let types = &unit.program.types;
    let CType::Function { params, variadic: false, .. } = types.get(unit.program.functions[id].ty)
    else {
        return false;
    };
    params.iter().all(|ty| match types.pointee(*ty) {
        Some(pointee) => types.size(pointee).is_some(),
        None => types.size(*ty).is_some(),
    })
}

/// A test with small random numbers, pointers leading to objects of 64 elements.
fn random_test(unit: &Unit, id: FuncId, rng: &mut Rng) -> Test {
    let types = &unit.program.types;
    let function = &unit.program.functions[id];
    let CType::Function { params, .. } = types.get(function.ty) else { unreachable!() };
    let mut test = Test::calling(function.name.clone(), vec![]);
    for (index, ty) in params.iter().enumerate() {
        let size = types.size(*ty).unwrap() as usize;
        let mut bytes = vec![0; size];
        let mut pointers = Vec::new();
        if let Some(pointee) = types.pointee(*ty) {
            let element = types.size(pointee).unwrap();
            let fill = |rng: &mut Rng| match rng.below(3) {
                0 => 0,
                1 => b"0123456789 ab-+.:\n"[rng.below(18) as usize],
                _ => rng.below(256) as u8,
            };
            let image = (0..element * 64).map(|_| fill(rng)).collect();
            let target = PointerTarget::Object(test.objects.len() as u32, 0);
            pointers.push(ImagePointer { offset: 0, target });
            test.objects.push(TestObject {
                name: format!("p{index}"),
                address: INPUT_REGION + 0x10000 * index as u64,
                ty: pointee,
                count: 64,
                align: 16,
                image: Image { bytes: image, pointers: Vec::new() },
                read_only: false,
            });
        } else {
            let value = match rng.below(3) {
                0 => rng.below(8),
                1 => rng.below(8).wrapping_sub(4),
                _ => rng.next_u64() >> rng.below(64),
            };
            for (byte, from) in bytes.iter_mut().zip(value.to_le_bytes()) {
                *byte = from;
            }
        }
        test.args.push(Image { bytes, pointers });
    }
    test
}

/// Runs random tests on the plain and on the instrumented program; both must do the same.
fn compare(unit: &Unit, tests: usize) {
    let functions = own_functions(unit);
    let entries: Vec<_> = functions.iter().copied().filter(|id| callable(unit, *id)).collect();
    let watched = objectives(unit, &functions, &all_criteria());
    let plan = Plan::default();
    let plain = Build::new(&BuildRequest {
        program: &unit.program,
        text: unit.source.text(),
        own_end: unit.source.text().len() as u32,
        companions: &[],
        plan: &plan,
        flags: &[],
        entries: &entries,
        modelled: &modelled,
        level: Optimization::Some,
        compiler: "clang-19",
    });
    let plain = Arc::new(plain.unwrap_or_else(|error| panic!("{error}")));
    let limits = Limits { test: Duration::from_millis(100), ..Limits::default() };
    let mut runner = Runner::new(plain, limits.clone()).unwrap();
    let request = measure_request(unit, &watched, &entries, Optimization::Some);
    let mut measurer = Measurer::new(request, limits).unwrap_or_else(|error| panic!("{error}"));
    let mut rng = Rng::new(1);
    for id in &entries {
        let tests: Vec<_> = (0..tests).map(|_| random_test(unit, *id, &mut rng)).collect();
        let expected = runner.run(&tests, Wants { memory: true, ..Wants::default() }).unwrap();
        let found = measurer.measure(&tests).unwrap_or_else(|error| panic!("{error}"));
        for ((expected, found), test) in expected.into_iter().zip(found).zip(&tests) {
            if expected.outcome.is_orderly() {
                assert_eq!(found.run.outcome, expected.outcome, "{test:?}");
                assert_eq!(found.run.objects, expected.objects, "{test:?}");
            }
        }
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

#[test]
fn examples_do_the_same_when_they_are_instrumented_for_every_criterion() {
    for name in ["median.c", "parse_header.c", "ring.c", "thermostat.c"] {
        compare(&unit_of(&example(name)), 40);
    }
}

/// Covered entries of a criterion, by name, for calls of `f` with the given ints.
fn covered(text: &str, criterion: Criterion, calls: &[&[i32]]) -> Vec<Vec<String>> {
    let (_place, unit) = loaded(text);
    let functions = vec![unit.program.function_named("f").unwrap()];
    let watched = objectives(&unit, &functions, &[criterion]);
    let mut results = Vec::new();
    for level in [Optimization::None, Optimization::Full] {
        let request = measure_request(&unit, &watched, &functions, level);
        let mut measurer =
            Measurer::new(request, Limits::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(measurer.plan().unmeasured_labels, []);
        let image = |value: &i32| Image { bytes: value.to_le_bytes().to_vec(), pointers: vec![] };
        let test = |args: &&[i32]| Test::calling("f", args.iter().map(image).collect());
        let tests: Vec<_> = calls.iter().map(test).collect();
        let measured = measurer.measure(&tests).unwrap_or_else(|error| panic!("{error}"));
        let names = measured.iter().map(|one| {
            assert!(matches!(one.run.outcome, Outcome::Returned(_)));
            let entries = watched[0].criteria[&criterion].iter();
            let hit = entries.filter(|entry| one.covered[0].contains(&entry.label));
            hit.map(|entry| entry.name.clone()).collect::<Vec<_>>()
        });
        results.push(names.collect::<Vec<_>>());
    }
    assert_eq!(results[0], results[1]);
    results.swap_remove(0)
}

#[test]
fn a_mutant_of_a_value_is_covered_where_the_value_differs() {
    let found =
        covered("int f(int a, int b) { return a + b; }", Criterion::Wm, &[&[2, 2], &[0, 0]]);
    let has = |test: usize, name: &str| found[test].iter().any(|found| found == name);
    // 2 + 2 is 2 * 2, but not 2 - 2; 0 + 0 is both.
    assert!(has(0, "AOR + -> -") && !has(0, "AOR + -> *"), "{found:?}");
    assert!(!has(1, "AOR + -> -") && !has(1, "AOR + -> *"), "{found:?}");
    // A mutant that traps is not covered.
    assert!(!has(1, "AOR + -> /"), "{found:?}");
}

#[test]
fn a_mutant_of_a_condition_is_covered_where_the_outcome_differs() {
    let text = "int f(int a, int b) { if (a < 3 && b == 1) return 1; return 0; }";
    let found = covered(text, Criterion::Wm, &[&[3, 1], &[3, 0]]);
    let has = |test: usize, name: &str| found[test].iter().any(|found| found == name);
    assert!(has(0, "ROR < -> <="), "{found:?}");
    assert!(!has(1, "ROR < -> <="), "{found:?}");
}

#[test]
fn an_operand_that_is_negative_once_all_other_mutants_are_covered_is_seen() {
    let text = "int f(int n, int last) { int s = 0; for (int i = 0; i <= n; i++) { \
                int x = i < n ? i : last; if (x < 100) s += x + 1; } return s; }";
    let found = covered(text, Criterion::Wm, &[&[150, -5], &[0, -5], &[150, 5]]);
    let absolutes = |test: usize| found[test].iter().filter(|name| *name == "ABS abs").count();
    // In the value and in the condition.
    assert_eq!((absolutes(0), absolutes(2)), (4, 0), "{found:?}");
    assert!(absolutes(1) >= 2, "{found:?}");
    assert!(found[2].len() < found[0].len() && found[1].len() < found[0].len(), "{found:?}");
}

#[test]
fn captured_calls_are_made_once() {
    let text = "static int n; static int next(void) { return ++n; } \
                int f(int a, int b) { int x = a + next() * b; if (x - next() > 0 && b) x += next(); \
                return x * 10 + n; }";
    let found = covered(text, Criterion::Wm, &[&[1, 5], &[1, 0]]);
    assert!(found.iter().all(|names| !names.is_empty()));
    compare(&loaded(text).1, 50);
}

#[test]
fn each_way_out_of_a_switch_is_told_apart() {
    let text = "int f(int a, int b) { switch (a + b) { case 1: b = 5; case 2 ... 4: b++; break; \
                case -1: return 7; } return b; }";
    let found = covered(text, Criterion::Bc, &[&[1, 0], &[1, 2], &[-1, 0], &[9, 0]]);
    assert!(found.iter().all(|names| names.len() == 1), "{found:?}");
    let mut all = found.concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4);
}

#[test]
fn input_classes_and_run_time_errors_are_recorded() {
    let text = "int f(int a, int b) { if (b == 0) return 0; return a / b; }";
    let found = covered(text, Criterion::Idc, &[&[1, 0], &[-1, 0]]);
    assert_ne!(found[0], found[1]);
    let (_place, unit) = loaded("int f(int a, int b) { return a / b; }");
    let functions = vec![unit.program.function_named("f").unwrap()];
    let watched = objectives(&unit, &functions, &[Criterion::Rte]);
    let request = measure_request(&unit, &watched, &functions, Optimization::Some);
    let mut measurer = Measurer::new(request, Limits::default()).unwrap();
    let mut test = random_test(&unit, functions[0], &mut Rng::new(3));
    test.args[0].bytes = vec![1, 0, 0, 0];
    test.args[1].bytes = vec![0; 4];
    let measured = measurer.measure(&[test]).unwrap().remove(0);
    assert!(matches!(measured.run.outcome, Outcome::Crashed(_)));
    assert_eq!(measured.covered[0].len(), 1);
}

#[test]
fn a_mutant_of_a_condition_with_an_effect_sees_the_state_after_it() {
    let text = "int f(int a, int b) { unsigned d = a; int n = 0; \
                while (n < b) { n++; if (++d == 4) { d = 0; n++; } } return n; }";
    let found = covered(text, Criterion::Wm, &[&[2, 1], &[3, 1], &[0, 1]]);
    let equal = |test: usize| -> Vec<&str> {
        let names = found[test].iter().map(String::as_str);
        names.filter(|name| name.starts_with("ROR ==")).collect()
    };
    // 3 == 4 is false: `<`, `<=`, `!=` and `true` differ from it.
    assert_eq!(equal(0), ["ROR == -> <", "ROR == -> <=", "ROR == -> !=", "ROR == -> true"]);
    // 4 == 4 is true: `<`, `>`, `!=` and `false` differ from it.
    assert_eq!(equal(1), ["ROR == -> <", "ROR == -> >", "ROR == -> !=", "ROR == -> false"]);
    let more = |test: usize| found[test].iter().any(|name| name == "UOI +1");
    assert!(more(0), "{found:?}");
}

#[test]
fn a_mutated_load_outside_of_its_variable_is_unknown() {
    let text = "static const int t[4] = {1, 2, 3, 4}; static const int after[4] = {9, 9, 9, 9}; \
                int f(int a, int b) { int l[4]; l[0] = 1; l[1] = 2; l[2] = 3; l[3] = 4; \
                if (b == 1) return l[a]; if (b == 2) return after[a]; return t[a]; }";
    let found = covered(text, Criterion::Wm, &[&[0, 0], &[3, 0], &[0, 1], &[3, 1]]);
    let count = |test: usize| {
        let in_return = |name: &&String| *name == "UOI +1";
        found[test].iter().filter(in_return).count()
    };
    // Both the value and the index have the mutant; from the last element, the index leads outside.
    assert_eq!((count(0) - count(1), count(2) - count(3)), (1, 1), "{found:?}");
}

#[test]
fn what_nothing_defines_gets_a_stub_even_where_only_an_unsupported_function_uses_it() {
    let text = "void nowhere(int); extern int elsewhere[4]; \
                int odd(int n) { __asm__ goto(\"\" : : : : out); nowhere(elsewhere[n]); out: return n; } \
                int f(int a, int b) { return a + b; }";
    let found = covered(text, Criterion::Fc, &[&[1, 2]]);
    assert_eq!(found[0].len(), 1);
}

#[test]
fn an_undefined_function_that_nothing_calls_by_name_can_be_pointed_to() {
    let text = "int f(int (*callback)(int), int b) { return callback(b) + 1; }";
    let (_place, mut unit) = loaded(text);
    let function = unit.program.function_named("f").unwrap();
    let CType::Function { params, .. } =
        unit.program.types.get(unit.program.functions[function].ty)
    else {
        panic!("f is a function")
    };
    let callback = unit.program.types.pointee(params[0]).unwrap();
    let mut made = unit.program.functions[function].clone();
    made.name = "made_for_a_test".into();
    (made.ty, made.body, made.span) = (callback, None, lydian_base::Span::NONE);
    unit.program.functions.push(made);
    let functions = vec![function];
    let watched = objectives(&unit, &functions, &[Criterion::Fc]);
    let request = measure_request(&unit, &watched, &functions, Optimization::Some);
    let mut measurer =
        Measurer::new(request, Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    let target = PointerTarget::Function("made_for_a_test".into());
    let int = |value: i32| Image { bytes: value.to_le_bytes().to_vec(), pointers: vec![] };
    let test = Test {
        externals: vec![lydian_ir::test::ExternalResult::new("made_for_a_test", int(41))],
        ..Test::calling(
            "f",
            vec![
                Image { bytes: vec![0; 8], pointers: vec![ImagePointer { offset: 0, target }] },
                int(1),
            ],
        )
    };
    let measured = measurer.measure(&[test]).unwrap().remove(0);
    assert_eq!(measured.run.outcome, Outcome::Returned(42i32.to_le_bytes().to_vec()));
}

/// What a pair of edges or a use records speaks for the statements that surely follow, and for no
/// other: `6 / b` may end the run.
#[test]
fn records_that_speak_for_others_leave_out_cells_and_no_coverage() {
    let text = "int f(int a, int b)\n{\n    int r = 0;\n    if (a > 1) {\n        r = 1;\n    } \
                else {\n        r = 2;\n    }\n    if (b > 1)\n        r += 3;\n    if (a == 1) {\n        \
                r = 6 / b;\n        r++;\n    }\n    return r;\n}\n";
    let criteria =
        [Criterion::Stmt, Criterion::Bbc, Criterion::Bc, Criterion::Epc, Criterion::AllUses];
    let arguments = [[2, 2], [2, 0], [0, 2], [0, 0], [1, 1], [1, 0]];
    let (all, stores) = measured(text, &criteria, &arguments, false);
    let (left, fewer) = measured(text, &criteria, &arguments, true);
    assert_eq!(all, left);
    assert!(all.iter().any(|(returned, ..)| !returned));
    assert!(fewer + 8 < stores, "{fewer} stores of {stores} are left");
}

/// Which definition of `i` a use meets says which of `p` and of `sum` another does, and the edge by
/// which control came to the loop's head says all of them; where `sum` keeps its value on a way,
/// it does not.
#[test]
fn uses_whose_definitions_go_together_are_recorded_once_and_all_covered() {
    let text = "int f(int a, int b)\n{\n    int i, p, sum = 0, odd = 0;\n    \
                for (i = 0, p = a; i < b; i++, p++) {\n        \
                if (p == 3)\n            odd = i;\n        \
                sum = sum + i + p + odd;\n        sum = sum - i + p - odd;\n    }\n    \
                if (p == 4)\n        sum = 8 / odd;\n    return sum + i + p;\n}\n";
    let criteria = [Criterion::Stmt, Criterion::Bc, Criterion::Epc, Criterion::AllUses];
    let arguments = [[0, 0], [4, 0], [3, 1], [2, 4], [0, 9], [5, 2], [1, 3]];
    let (all, stores) = measured(text, &criteria, &arguments, false);
    let (left, fewer) = measured(text, &criteria, &arguments, true);
    assert_eq!(all, left);
    assert!(all.iter().any(|(returned, ..)| !returned));
    assert!(2 * fewer < stores, "{fewer} stores of {stores} are left");
}

/// Statements and uses follow from the record of the call that they lead to, but for what stands
/// behind a call that may not return.
#[test]
fn records_of_calls_speak_for_statements_and_uses_before_them() {
    let text = "static int half(int n) { return 6 / n; }\n\
                static int twice(int n) { return 2 * n; }\n\
                int f(int a, int b)\n{\n    int r = 0;\n    \
                if (a > 1)\n        r = twice(a);\n    r += half(b);\n    r -= twice(r);\n    \
                r += half(twice(b - 1));\n    return r;\n}\n";
    let criteria = [Criterion::Stmt, Criterion::Bc, Criterion::Fcc, Criterion::AllUses];
    let arguments = [[0, 0], [2, 0], [0, 1], [2, 1], [3, 2]];
    let (all, stores) = measured(text, &criteria, &arguments, false);
    let (left, fewer) = measured(text, &criteria, &arguments, true);
    assert_eq!(all, left);
    assert_eq!(all.iter().filter(|(returned, ..)| *returned).count(), 1);
    assert!(fewer + 4 < stores, "{fewer} stores of {stores} are left");
}

/// A use that several definitions reach is recorded whatever follows: what surely comes after it in
/// its block is known from it, but for what lies behind a division.
#[test]
fn a_use_of_several_definitions_speaks_for_what_surely_follows() {
    let text = "int f(int a, int b)\n{\n    int n = 0, r = 1;\n    \
                while (n < a) {\n        n++;\n        r = 2;\n        {\n            r = 6 / b;\n            \
                r = 3;\n        }\n    }\n    return r;\n}\n";
    let criteria = [Criterion::Stmt, Criterion::Bbc, Criterion::AllUses];
    let arguments = [[0, 0], [1, 0], [1, 1], [3, 0], [3, 2]];
    let (all, stores) = measured(text, &criteria, &arguments, false);
    let (left, fewer) = measured(text, &criteria, &arguments, true);
    assert_eq!(all, left);
    assert_eq!(all.iter().filter(|(returned, ..)| *returned).count(), 3);
    assert!(fewer < stores, "{fewer} stores of {stores} are left");
}

/// What may end the run at a member that was not read before comes between records, and so does a
/// new value of the pointer.
#[test]
fn what_a_pointer_reached_before_it_was_set_again_ends_no_run() {
    let text = "static int *at(int n) { static int one[2] = {5, 6}; return n ? one : 0; }\n\
                int f(int a, int b)\n{\n    int *p = at(a), r = 0;\n    \
                r += p[0];\n    r += p[1];\n    p = at(b);\n    r += 2;\n    r += p[1];\n    \
                r += p[0];\n    return r;\n}\n";
    let criteria = [Criterion::Stmt, Criterion::Bc, Criterion::AllUses];
    let arguments = [[0, 0], [1, 0], [0, 1], [1, 1]];
    let (all, stores) = measured(text, &criteria, &arguments, false);
    let (left, fewer) = measured(text, &criteria, &arguments, true);
    assert_eq!(all, left);
    assert_eq!(all.iter().filter(|(returned, ..)| *returned).count(), 1);
    assert!(fewer < stores, "{fewer} stores of {stores} are left");
}

#[test]
fn boundary_values_are_those_of_each_comparison_at_all_limits() {
    let limits = [i32::MIN, i32::MIN + 1, -2, -1, 0, 1, 2, i32::MAX - 1, i32::MAX];
    let pairs: Vec<[i32; 2]> = limits.iter().flat_map(|a| limits.map(|b| [*a, b])).collect();
    let arguments: Vec<&[i32]> = pairs.iter().map(|pair| &pair[..]).collect();
    for op in ["<", "<=", ">", ">=", "==", "!="] {
        let [below, above] = match op {
            "<" | "<=" => ["d0.c0 just inside", "d0.c0 just outside"],
            ">" | ">=" => ["d0.c0 just outside", "d0.c0 just inside"],
            _ => ["d0.c0 just below", "d0.c0 just above"],
        };
        for ty in ["int", "unsigned", "unsigned short"] {
            let text = format!(
                "int f(int a, int b) {{ {ty} x = a, y = b; int r = 0; if (x {op} y) r = 1; \
                 if (x {op} 0 && r++ < 5) r += 2; return r; }}"
            );
            let value = |n: i32| match ty {
                "int" => i128::from(n),
                "unsigned" => i128::from(n as u32),
                _ => i128::from(n as u16),
            };
            for (pair, names) in pairs.iter().zip(covered(&text, Criterion::Bva, &arguments)) {
                let near = match value(pair[0]) - value(pair[1]) {
                    -1 => vec![below],
                    0 => vec!["d0.c0 at the border"],
                    1 => vec![above],
                    _ => Vec::new(),
                };
                let of_first: Vec<_> = names.iter().filter(|n| n.starts_with("d0.")).collect();
                assert_eq!(of_first, near, "{op} {ty} {pair:?}");
                let zero = names.iter().any(|name| name == "d1.c0 at the border");
                assert_eq!(zero, value(pair[0]) == 0, "{op} {ty} {pair:?}");
            }
        }
    }
}

/// What tests cover, and how many stores the text has.
fn measured(
    text: &str,
    criteria: &[Criterion],
    arguments: &[[i32; 2]],
    leaves_out: bool,
) -> (Vec<(bool, String)>, usize) {
    let (_place, unit) = loaded(text);
    let functions = vec![unit.program.function_named("f").unwrap()];
    let watched = objectives(&unit, &functions, criteria);
    let tests = arguments.iter().map(|arguments| {
        let mut test = random_test(&unit, functions[0], &mut Rng::new(3));
        for (image, number) in test.args.iter_mut().zip(arguments) {
            image.bytes = number.to_le_bytes().to_vec();
        }
        test
    });
    let tests: Vec<Test> = tests.collect();
    let mut request = measure_request(&unit, &watched, &functions, Optimization::None);
    request.rewrite.leaves_out = leaves_out;
    let mut measurer = Measurer::new(request, Limits::default()).unwrap();
    let found = measurer.measure(&tests).unwrap();
    let returned = |outcome: &Outcome| matches!(outcome, Outcome::Returned(_));
    let found = found.into_iter();
    let found = found
        .map(|one| (returned(&one.run.outcome), format!("{:?} {:?}", one.covered, one.sequences)));
    (found.collect(), measurer.text().matches("lydian_hit[").count())
}
