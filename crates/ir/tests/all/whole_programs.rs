//! Whole programs run from `main`: arguments, input, output, the end; undefined behaviour with its
//! place; what was never written, followed to its use.

use std::fmt::Write as _;

use lydian_base::EntityId;
use lydian_ir::interp::{
    self, End, Files, Location, Options, Outcome, ProgramOutcome, ProgramRun, Silent,
    UninitialisedUse, run_program,
};
use lydian_ir::source::Point;
use lydian_ir::test::{Image, Test};
use lydian_ir::text::parse;
use lydian_ir::verify::verify;
use lydian_ir::{Program, StmtId, TrapKind};

/// Types and globals.
const HEAD: &str = r#"
ty0 = void
ty1 = int "int" 32 signed
ty2 = int "long" 64 signed
ty3 = int "char" 8 signed
ty4 = pointer ty3
ty5 = pointer ty4
ty6 = function ty1 (ty1, ty5)
ty7 = function ty2 (ty1, ty4, ty2)
ty8 = function ty4 (ty4)
ty9 = function ty1 (ty1)
ty10 = function ty0 (ty1)
ty11 = function ty1 (ty4, ty1)
ty12 = function ty2 (ty1, ty2, ty1)
ty13 = function ty2 (ty4)
ty14 = array ty3 16
global g0 "text" ty3 size 6 align 1 internal const = { 0: "hello\x00" }
global g1 "name" ty3 size 5 align 1 internal const = { 0: "HOME\x00" }
global g2 "buffer" ty14 size 16 align 1 internal = zero
"#;

/// The host calls that the programs use.
const HOST: &str = r#"
function f1 "__lydian_write" ty7 external ()
function f2 "__lydian_read" ty7 external ()
function f3 "__lydian_getenv" ty8 external ()
function f4 "__lydian_close" ty9 external ()
function f5 "__lydian_exit" ty10 external ()
function f6 "__lydian_open" ty11 external ()
function f7 "__lydian_seek" ty12 external ()
function f8 "strlen" ty13 external ()
"#;

/// A program whose `main` has this one block, and more functions.
fn program(body: &str, more: &str) -> Program {
    let text = format!(
        "{HEAD}function f0 \"main\" ty6 external (\"argc\", \"argv\") {{ params (v0, v1)
         local v0 \"argc\" ty1 param register i32 local v1 \"argv\" ty5 param register ptr
         local v2 \"n\" ty2 var register i64 local v3 \"p\" ty4 var register ptr
         local v4 \"k\" ty1 var register i32 local v5 \"m\" ty2 var memory 8 8
         entry bb0 {body} }}\n{HOST}{more}"
    );
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
    program
}

/// A run, and what it wrote to each descriptor.
fn run(program: &Program, run: &ProgramRun<'_>) -> (ProgramOutcome, String) {
    let mut written = String::new();
    let mut output = |descriptor: i32, bytes: &[u8]| {
        _ = write!(written, "{descriptor}:{};", String::from_utf8_lossy(bytes));
    };
    let outcome = run_program(program, run, &mut output, &mut Silent).expect("there is a main");
    (outcome, written)
}

#[test]
fn a_program_has_arguments_and_writes_and_its_status_is_what_main_returns() {
    let body = "bb0: s0: v3 = load ptr(index 8(v1, 1:i64)) s1: call f8 ty13 (v3) (ty4) -> v2
        s2: call f1 ty7 (1:i32, v3, v2) (ty1, ty4, ty2) -> v2
        s3: call f1 ty7 (2:i32, &g0, 5:i64) (ty1, ty4, ty2)
        return add.s(v0, trunc i32(v2))";
    let args = vec![b"p".to_vec(), b"argument".to_vec()];
    let (outcome, written) = run(&program(body, ""), &ProgramRun { args, ..ProgramRun::default() });
    assert_eq!(outcome.end, End::Exited(2 + 8));
    assert_eq!(written, "1:argument;2:hello;");
    assert_eq!(outcome.externals, []);
}

#[test]
fn input_is_read_to_its_end_and_the_environment_is_there() {
    let body = "bb0: s0: call f2 ty7 (0:i32, &g2, 4:i64) (ty1, ty4, ty2) -> v2
        s1: call f1 ty7 (1:i32, &g2, v2) (ty1, ty4, ty2)
        s2: call f2 ty7 (0:i32, &g2, 4:i64) (ty1, ty4, ty2) -> v2
        s3: call f1 ty7 (1:i32, &g2, v2) (ty1, ty4, ty2)
        s4: call f2 ty7 (0:i32, &g2, 4:i64) (ty1, ty4, ty2) -> v2
        s5: call f3 ty8 (&g1) (ty4) -> v3
        s6: call f1 ty7 (1:i32, v3, 3:i64) (ty1, ty4, ty2)
        s7: call f4 ty9 (77:i32) (ty1) -> v4
        return sub.s(trunc i32(v2), v4)";
    let options = ProgramRun {
        input: b"abcdef",
        environment: vec![(b"HOME".to_vec(), b"/me".to_vec())],
        ..ProgramRun::default()
    };
    let (outcome, written) = run(&program(body, ""), &options);
    assert_eq!(outcome.end, End::Exited(9), "no such descriptor is open");
    assert_eq!(written, "1:abcd;1:ef;1:/me;");
}

#[test]
fn only_files_that_are_allowed_are_opened() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("file");
    std::fs::write(&path, "contents").expect("the folder is writable");
    let body = "bb0: s0: v3 = load ptr(index 8(v1, 1:i64))
        s1: call f6 ty11 (v3, 2:i32) (ty4, ty1) -> v4
        s2: call f7 ty12 (v4, 3:i64, 0:i32) (ty1, ty2, ty1)
        s3: call f1 ty7 (v4, &g0, 2:i64) (ty1, ty4, ty2)
        s4: call f7 ty12 (v4, 0:i64, 0:i32) (ty1, ty2, ty1)
        s5: call f2 ty7 (v4, &g2, 16:i64) (ty1, ty4, ty2) -> v2
        s6: call f1 ty7 (1:i32, &g2, 8:i64) (ty1, ty4, ty2)
        return v4";
    let program = program(body, "");
    let name = path.to_str().expect("the path is text").as_bytes().to_vec();
    let args = vec![b"p".to_vec(), name];
    let allowed = Files { read: Vec::new(), write: vec![folder.path().to_owned()] };
    let reads = Files { read: vec![folder.path().to_owned()], write: Vec::new() };
    for (files, status, text) in
        [(Files::default(), -13, "contents"), (reads, -13, "contents"), (allowed, 3, "conhents")]
    {
        let how = ProgramRun { args: args.clone(), files, ..ProgramRun::default() };
        let (outcome, _) = run(&program, &how);
        assert_eq!(outcome.end, End::Exited(status));
        assert_eq!(std::fs::read_to_string(&path).expect("the file is there"), text);
    }
}

#[test]
fn exit_of_the_library_in_c_is_called_when_main_returns() {
    let exit = "function f9 \"exit\" ty10 external noreturn (\"status\") { params (v0)
        local v0 \"status\" ty1 param register i32
        entry bb0 bb0: s0: call f1 ty7 (1:i32, &g0, 1:i64) (ty1, ty4, ty2)
        s1: call f5 ty10 (add.s(v0, 1:i32)) (ty1) return void }";
    let (outcome, written) = run(&program("bb0: return 41:i32", exit), &ProgramRun::default());
    assert_eq!((outcome.end, written.as_str()), (End::Exited(42), "1:h;"));
}

#[test]
fn undefined_behaviour_is_named_with_its_place_and_the_calls_that_led_there() {
    let more = "function f9 \"g\" ty13 external (\"p\") { params (v0)
        local v0 \"p\" ty4 param register ptr
        entry bb0 bb0: return sext i64(load i8(v0)) }";
    let body = "bb0: s0: call f9 ty13 (index 1(&g2, 16:i64)) (ty4) -> v2 return 0:i32";
    let (outcome, _) = run(&program(body, more), &ProgramRun::default());
    assert_eq!(outcome.end, End::Trapped(TrapKind::OutOfBounds));
    let points: Vec<_> = outcome.trace.iter().map(|place| place.point).collect();
    let call = Point::Stmt(StmtId::from_index(0));
    assert_eq!(points.len(), 2);
    assert_eq!(points[1], call);
    assert_eq!(outcome.location, outcome.trace.first().copied());
}

/// Runs a block of `main` that looks at its own memory only.
fn run_block(body: &str, uninitialised: UninitialisedUse) -> Outcome {
    let image = |bytes: Vec<u8>| Image { bytes, pointers: vec![] };
    let test = Test::calling("main", vec![image(vec![1, 0, 0, 0]), image(vec![0; 8])]);
    let options = Options { uninitialised, ..Options::default() };
    interp::run(&program(body, ""), &test, &options, &mut Silent).expect("the test suits")
}

#[test]
fn what_was_never_written_may_be_moved_but_not_used() {
    let moves = "bb0: s0: enter v5 s1: v2 = add.s(load i64(&v5), 1:i64) s2: store i64 &v5, v2
        s3: v2 = 5:i64";
    let cases: [(&str, Option<usize>); 7] = [
        ("return v0", None),
        ("return trunc i32(v2)", None),
        ("s4: v2 = load i64(&v5) return v0", None),
        ("s4: v2 = load i64(&v5) s5: v4 = load i32(index 4(&g2, v2)) return v0", Some(5)),
        ("s4: v2 = div.s(v2, load i64(&v5)) return v0", Some(4)),
        ("s4: call f1 ty7 (1:i32, &g0, load i64(&v5)) (ty1, ty4, ty2) return v0", Some(4)),
        ("s4: store i8 &v5, 1:i8 s5: v3 = index 1(&g2, sext i64(load i8(&v5))) return v0", None),
    ];
    for (rest, used) in cases {
        let body = format!("{moves} {rest}");
        let place = |outcome: &Outcome| outcome.uninitialised.map(|place| place.point);
        let noted = run_block(&body, UninitialisedUse::Note);
        let point = used.map(|index| Point::Stmt(StmtId::from_index(index)));
        assert_eq!(place(&noted), point, "{rest}");
        let trapped = run_block(&body, UninitialisedUse::Trap);
        match point {
            None => assert_eq!(trapped.end, End::Returned, "{rest}"),
            Some(point) => {
                assert_eq!(trapped.end, End::Trapped(TrapKind::Uninitialised), "{rest}");
                let function = lydian_ir::FuncId::from_index(0);
                assert_eq!(trapped.location, Some(Location { function, point }), "{rest}");
            }
        }
    }
    let branch = "bb0: branch lt.s(v4, 3:i32) ? bb1 : bb1 bb1: return v0";
    assert_eq!(run_block(branch, UninitialisedUse::Note).end, End::Returned);
    let trapped = run_block(branch, UninitialisedUse::Trap);
    assert_eq!(trapped.end, End::Trapped(TrapKind::Uninitialised));
}

#[test]
fn memory_that_only_holds_what_is_never_written_is_copied_as_it_is() {
    let body = "bb0: s0: enter v5 s1: store i32 &v5, 7:i32 s2: copy &g2, &v5, 8
        s3: v4 = load i32(&g2) s4: v2 = load i64(&g2)";
    let used = run_block(&format!("{body} return v4"), UninitialisedUse::Trap);
    assert_eq!((used.end, used.result), (End::Returned, Some(vec![7, 0, 0, 0])));
    let used = run_block(&format!("{body} return trunc i32(v2)"), UninitialisedUse::Trap);
    assert_eq!(used.end, End::Trapped(TrapKind::Uninitialised));
}
