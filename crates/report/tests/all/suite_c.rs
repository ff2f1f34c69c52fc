//! Suites as C, compiled and run by two compilers.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::test::{
    ExternalResult, GlobalInput, INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject,
};
use lydian_ir::{CType, CTypeId};
use lydian_report::suite::c::{HEADER, Options, to_c};
use lydian_report::suite::registers::Registers;
use lydian_report::{Observation, Outcome, SuiteTest};

const SOURCE: &str = "\
#include <stdlib.h>
enum color { RED, GREEN = 5 };
struct node { int value; unsigned low : 3, high : 5; double weight; enum color color;
              struct node *next; char name[8]; union { int i; float f; } u; };
static int total = 3;
int ask(const char *question, int n);
int sum(struct node *n, char *text, float scale, int (*callback)(int)) {
    int s = total;
    if (!n) exit(7);
    for (; n; n = n->next) { s += n->value + (int)n->low + n->name[0]; n->value = s; }
    total = s;
    text[0] = 'X';
    char *p = malloc(4);
    if (!p) return -1;
    free(p);
    return s + ask(text, 2) + (int)(scale * 2) + (callback ? callback(1) : 0);
}
static int twice(int x) { return 2 * x; }
int (*use)(int) = twice;
";

fn unit(place: &Path) -> Unit {
    let file = place.join("unit.c");
    std::fs::write(&file, SOURCE).unwrap();
    let flags = CompileFlags::new(&[], &file).unwrap();
    load(&LoadRequest::new(ParseRequest::new(&file, flags))).unwrap_or_else(|e| panic!("{e}"))
}

fn parameters(unit: &Unit) -> Vec<CTypeId> {
    let id = unit.program.function_named("sum").unwrap();
    match unit.program.types.get(unit.program.functions[id].ty) {
        CType::Function { params, .. } => params.clone(),
        _ => panic!("sum is a function"),
    }
}

fn plain(bytes: &[u8]) -> Image {
    Image { bytes: bytes.to_vec(), pointers: Vec::new() }
}

fn pointer(target: PointerTarget) -> Image {
    Image { bytes: vec![0; 8], pointers: vec![ImagePointer { offset: 0, target }] }
}

const NODE: usize = 48;

/// Two nodes, the first leading to the second.
fn nodes() -> Image {
    let mut image = plain(&[0; 2 * NODE]);
    image.bytes[0] = 10;
    image.bytes[4] = 0b1010_1011;
    image.bytes[8..16].copy_from_slice(&0.1f64.to_le_bytes());
    image.bytes[16] = 5;
    image.bytes[32..35].copy_from_slice(b"a\"\n");
    image.bytes[40] = 7;
    image.bytes[NODE] = 20;
    image.bytes[NODE + 8..NODE + 16].copy_from_slice(&f64::NAN.to_le_bytes());
    let target = PointerTarget::Object(0, NODE as u64);
    image.pointers.push(ImagePointer { offset: 24, target });
    image
}

fn test(unit: &Unit) -> Test {
    let params = parameters(unit);
    let types = &unit.program.types;
    let object = |name: &str, at: u64, ty, count, image| TestObject {
        name: name.into(),
        address: INPUT_REGION + at,
        ty,
        count,
        align: 16,
        image,
        read_only: false,
    };
    Test {
        objects: vec![
            object("n", 0, types.pointee(params[0]).unwrap(), 2, nodes()),
            object("text", 0x1000, types.pointee(params[1]).unwrap(), 4, plain(b"hey\0")),
        ],
        globals: vec![GlobalInput { name: "total".into(), image: plain(&4i32.to_le_bytes()) }],
        externals: vec![
            ExternalResult::new("ask", plain(&100i32.to_le_bytes())),
            ExternalResult::new("malloc", plain(&[1])),
        ],
        ..Test::calling(
            "sum",
            vec![
                pointer(PointerTarget::Object(0, 0)),
                pointer(PointerTarget::Object(1, 0)),
                plain(&1.5f32.to_le_bytes()),
                pointer(PointerTarget::Function("twice".into())),
            ],
        )
    }
}

/// The effects of the calls, worked out by hand: total 4, then 10 + 3 + 'a', then 20.
fn suite(unit: &Unit) -> Vec<SuiteTest> {
    let first = test(unit);
    let (one, two) = (4 + 10 + 3 + 97, 4 + 10 + 3 + 97 + 20);
    let mut last = nodes().bytes;
    last[24..32].copy_from_slice(&(INPUT_REGION + NODE as u64).to_le_bytes());
    last[0..4].copy_from_slice(&i32::to_le_bytes(one));
    last[NODE..NODE + 4].copy_from_slice(&i32::to_le_bytes(two));
    let objects = [last, b"Xey\0".to_vec()];
    let globals = [("total".to_owned(), two.to_le_bytes().to_vec())];
    let mut null = first.clone();
    null.args[0] = plain(&[0; 8]);
    let mut full = first.clone();
    full.externals[1].result = plain(&[0]);
    full.globals.clear();
    let case = |name: &str, test: &Test, outcome, result: Option<i32>, after: bool| {
        let result = result.map_or(Vec::new(), |result| result.to_le_bytes().to_vec());
        let (objects, globals) =
            if after { (&objects[..], &globals[..]) } else { (&[][..], &[][..]) };
        let observed =
            Observation::from_bytes(&unit.program, test, outcome, &result, objects, globals);
        SuiteTest {
            name: name.into(),
            test: test.clone(),
            observed: Some(observed),
            covers: vec![],
            kept_for: vec![],
            keep: false,
            thorough: false,
        }
    };
    vec![
        case("sum_1", &first, Outcome::Returned, Some(two + 100 + 3 + 2), true),
        case("sum_2", &null, Outcome::Exited(7), None, false),
        case("sum_3", &full, Outcome::Returned, Some(-1), false),
        case("sum_4", &first, Outcome::Crashed(11), None, false),
    ]
}

fn run(compiler: &str, place: &Path, text: &str) -> (bool, String) {
    std::fs::write(place.join(HEADER.0), HEADER.1).unwrap();
    std::fs::write(place.join("suite.c"), text).unwrap();
    let compiled = Command::new(compiler)
        .args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-parameter",
            "-g",
            "suite.c",
            "-o",
            "suite",
        ])
        .current_dir(place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{compiler}: {said}\n{text}");
    let output = Command::new(place.join("suite")).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_c_file_compiles_without_warnings_and_its_tests_hold() {
    let place = tempfile::tempdir().unwrap();
    let unit = unit(place.path());
    let externals = ["ask".to_owned()];
    let options = Options {
        source: "unit.c",
        include: "unit.c",
        before: "",
        stubs: &[],
        driver: "",
        externals: &externals,
        macros: &BTreeSet::new(),
        left_out: &BTreeSet::new(),
        registers: &Registers::default(),
        library: &|_| false,
        apart: false,
        framework: None,
    };
    let mut suite = suite(&unit);
    for compiler in ["clang-19", "gcc"] {
        let text = to_c(&unit.program, &suite, &options);
        let (passed, said) = run(compiler, place.path(), &text);
        assert!(passed && said.contains("3 tests, 0 failed"), "{compiler}: {said}");
    }
    // A wrong expectation is seen.
    if let Some(observed) = &mut suite[0].observed {
        observed.globals[0].1.image.bytes[0] += 1;
    }
    let text = to_c(&unit.program, &suite, &options);
    let (passed, said) = run("clang-19", place.path(), &text);
    assert!(!passed && said.contains("sum_1") && said.contains("1 failed"), "{said}");
}
