//! Guesses about hand-made functions.

use std::collections::BTreeSet;

use lydian_inputs::settings_file::guessed::write_toml;
use lydian_inputs::{InputPlan, InputSpec, Settings, plan, prepare};
use lydian_ir::{CType, Expr, GlobalInit, IntKind, Type};
use lydian_smt::TermPool;

use crate::sketch::{FixedAddresses, Sketch};

/// The guesses for a function, one a line.
fn guessed(sketch: &Sketch, function: lydian_ir::FuncId) -> Vec<String> {
    let spec = InputSpec::new(&sketch.program, Settings::default());
    let guesses = spec.guesses(&sketch.program, function);
    let shown = guesses.places.iter().map(|guess| {
        let text = toml::to_string(&guess.settings).unwrap();
        format!("{}: {}", guess.place, text.trim().replace('\n', ", "))
    });
    shown.collect()
}

#[test]
fn a_pointer_beside_a_length_is_an_array_of_that_length() {
    let mut sketch = Sketch::default();
    let (byte, size) = (sketch.int(IntKind::UChar), sketch.int(IntKind::ULong));
    let bytes = sketch.const_pointer(byte);
    let params = [("in", bytes), ("out", bytes), ("out_len", size), ("n", size)];
    let f = sketch.define("f", &params, |text| {
        text.read(0, None);
        text.read(1, None);
        text.test_null(1);
    });
    assert_eq!(
        guessed(&sketch, f),
        [
            "in: kind = \"array\", null = false",
            "out: kind = \"array\", length = \"out_len\", null = true"
        ]
    );
    let g = sketch.define("g", &[("data", bytes), ("len", size)], |text| text.read(0, None));
    assert_eq!(guessed(&sketch, g), ["data: kind = \"array\", length = \"len\", null = false"]);
}

#[test]
fn characters_alone_are_a_string_and_with_an_end_an_array() {
    let mut sketch = Sketch::default();
    let character = sketch.int(IntKind::Char);
    let text_pointer = sketch.const_pointer(character);
    let f = sketch.define("f", &[("s", text_pointer)], |text| text.read(0, None));
    assert_eq!(guessed(&sketch, f), ["s: kind = \"string\", null = false"]);
    let g = sketch.define("g", &[("s", text_pointer), ("end", text_pointer)], |_| {});
    assert_eq!(
        guessed(&sketch, g),
        ["s: kind = \"array\", null = false", "end: kind = \"end\", of = \"s\", null = false"]
    );
}

#[test]
fn a_pointer_that_is_never_indexed_is_one_object() {
    let mut sketch = Sketch::default();
    let int = sketch.int(IntKind::Int);
    let pointer = sketch.pointer(int);
    let params = [("result", pointer), ("key", pointer), ("count", int)];
    let f = sketch.define("f", &params, |text| {
        text.write(0);
        text.read(1, Some(3));
        text.read(1, Some(7));
    });
    assert_eq!(
        guessed(&sketch, f),
        [
            "result: kind = \"object\", null = false",
            "key: kind = \"array\", length = \"count\", null = false"
        ]
    );
    let g = sketch.define("g", &[("key", pointer)], |text| text.read(0, Some(7)));
    assert_eq!(guessed(&sketch, g), ["key: kind = \"array\", length = \"8\", null = false"]);
}

#[test]
fn pointers_that_the_body_relates_are_of_one_array() {
    let mut sketch = Sketch::default();
    let (byte, size) = (sketch.int(IntKind::UChar), sketch.int(IntKind::ULong));
    let (bytes, sizes) = (sketch.const_pointer(byte), sketch.pointer(size));
    let cursor = sketch.pointer(bytes);
    let params = [("p", cursor), ("end", bytes), ("len", sizes)];
    let get_len = sketch.define("get_len", &params, |text| {
        let (end, p) = (text.param(1), text.param(0));
        let b = text.load(Type::Ptr, p);
        text.expr(Expr::PtrDiff { a: end, b, size: 1 });
        text.write(2);
    });
    assert_eq!(
        guessed(&sketch, get_len),
        [
            "p: kind = \"object\", null = false",
            "p[_]: kind = \"array\", null = false",
            "end: kind = \"end\", of = \"*p\", null = false",
            "len: kind = \"object\", null = false"
        ]
    );
    let f = sketch.define("f", &[("a", bytes), ("b", bytes)], |text| {
        let (a, b) = (text.param(0), text.param(1));
        text.expr(Expr::Cmp(lydian_ir::CmpOp::LtU, a, b));
    });
    assert_eq!(
        guessed(&sketch, f),
        ["a: kind = \"array\", null = false", "b: kind = \"into\", of = \"a\", null = false"]
    );
    prepare(&mut sketch.program);
    for function in [get_len, f] {
        let spec = InputSpec::new(&sketch.program, Settings::default());
        let planned = plan(
            &mut TermPool::new(),
            &sketch.program,
            function,
            &spec,
            &FixedAddresses,
            &BTreeSet::new(),
        );
        assert!(planned.is_ok(), "{planned:?}");
    }
}

#[test]
fn structs_that_are_compared_may_be_the_same() {
    let mut sketch = Sketch::default();
    let int = sketch.int(IntKind::Int);
    let (node, record) = sketch.record("struct node");
    sketch.members(record, &[("n", int, None)]);
    let pointer = sketch.pointer(node);
    let f = sketch.define("f", &[("a", pointer), ("b", pointer)], |text| {
        let (a, b) = (text.param(0), text.param(1));
        text.expr(Expr::Cmp(lydian_ir::CmpOp::Eq, a, b));
    });
    assert_eq!(
        guessed(&sketch, f),
        [
            "a: kind = \"object\", null = false",
            "b: kind = \"object\", null = false, alias = [\"a\"]"
        ]
    );
}

#[test]
fn an_array_is_as_long_as_the_constants_that_its_length_is_compared_with() {
    let mut sketch = Sketch::default();
    let (byte, size) = (sketch.int(IntKind::UChar), sketch.int(IntKind::ULong));
    let bytes = sketch.const_pointer(byte);
    let f = sketch.define("f", &[("data", bytes), ("len", size)], |text| {
        text.read(0, None);
        let len = text.param(1);
        let limit = text.expr(Expr::Const(Type::Int(64), 40));
        text.expr(Expr::Cmp(lydian_ir::CmpOp::GtU, len, limit));
    });
    let expected = "data: kind = \"array\", length = \"len\", max = 41, null = false";
    assert_eq!(guessed(&sketch, f), [expected]);
}

#[test]
fn a_null_test_in_a_callee_counts_for_the_caller() {
    let mut sketch = Sketch::default();
    let int = sketch.int(IntKind::Int);
    let pointer = sketch.pointer(int);
    let callee = sketch.define("callee", &[("p", pointer)], |text| text.test_null(0));
    let ty = sketch.program.functions[callee].ty;
    let caller = sketch.define("caller", &[("q", pointer)], |text| {
        let argument = text.param(0);
        text.stmt(lydian_ir::Stmt::Call {
            callee: lydian_ir::Callee::Direct(callee),
            args: vec![argument],
            arg_types: vec![pointer],
            dst: None,
            dst_addr: None,
            ty,
        });
    });
    assert_eq!(guessed(&sketch, caller), ["q: kind = \"object\", null = true"]);
}

#[test]
fn void_pointers_are_what_the_body_takes_them_for() {
    let mut sketch = Sketch::default();
    let (int, void) = (sketch.int(IntKind::Int), sketch.program.types.void());
    let size = sketch.int(IntKind::ULong);
    let (_, record) = sketch.record("struct ctx");
    sketch.members(record, &[("n", int, None)]);
    let pointer = sketch.pointer(void);
    let f = sketch.define("f", &[("opaque", pointer)], |text| {
        let base = text.param(0);
        let addr = text.expr(Expr::Field { base, record, field: 0 });
        text.load(Type::Int(32), addr);
    });
    assert_eq!(
        guessed(&sketch, f),
        ["opaque: kind = \"object\", null = false, type = \"struct ctx\""]
    );
    let g = sketch.define("g", &[("mem", pointer), ("size", size)], |_| {});
    assert_eq!(guessed(&sketch, g), ["mem: kind = \"array\", length = \"size\", null = false"]);
}

#[test]
fn a_pointer_to_pointers_is_one_unless_it_is_indexed() {
    let mut sketch = Sketch::default();
    let (character, int) = (sketch.int(IntKind::Char), sketch.int(IntKind::Int));
    let text_pointer = sketch.pointer(character);
    let texts = sketch.pointer(text_pointer);
    let f = sketch.define("f", &[("cursor", texts)], |_| {});
    assert_eq!(
        guessed(&sketch, f),
        ["cursor: kind = \"object\", null = false", "cursor[_]: kind = \"string\", null = false"]
    );
    let params = [("argc", int), ("argv", texts)];
    let main = sketch.define("main", &params, |text| text.read(1, None));
    assert_eq!(
        guessed(&sketch, main),
        [
            "argv: kind = \"array\", length = \"argc\", null = false",
            "argv[_]: kind = \"string\", null = false"
        ]
    );
}

/// A struct with an array and its length, a function over it, and a global.
fn chunks() -> (Sketch, lydian_ir::FuncId) {
    let mut sketch = Sketch::default();
    let (int, byte) = (sketch.int(IntKind::Int), sketch.int(IntKind::UChar));
    let bytes = sketch.pointer(byte);
    let (chunk, record) = sketch.record("struct chunk");
    let next = sketch.pointer(chunk);
    let callback = sketch.function_type(int, vec![int]);
    let callback = sketch.pointer(callback);
    let members =
        [("data", bytes, None), ("len", int, None), ("next", next, None), ("hook", callback, None)];
    sketch.members(record, &members);
    let state = sketch.global("state", int, GlobalInit::Zero);
    let f = sketch.define("f", &[("c", next), ("mode", int)], |text| {
        let addr = text.expr(Expr::AddrGlobal(state));
        text.load(Type::Int(32), addr);
    });
    prepare(&mut sketch.program);
    (sketch, f)
}

#[test]
fn the_file_of_guesses_reads_back_to_the_same_plan() {
    let (sketch, f) = chunks();
    let text = write_toml(&sketch.program, &[f]);
    assert!(text.contains("[types.\"struct chunk\"]"), "{text}");
    assert!(
        text.contains("\".data\" = { kind = \"array\", length = \".len\", null = false }"),
        "{text}"
    );
    assert!(
        text.contains("# len stands beside it; not null, as it is never tested for it"),
        "{text}"
    );
    assert!(text.contains("globals = [\"state\"]"), "{text}");
    let settings = Settings::from_toml_str(&text).unwrap();
    assert!(settings.types.contains_key("struct chunk"));
    let mut pool = TermPool::new();
    let mut plan_with = |settings| {
        let spec = InputSpec::new(&sketch.program, settings);
        plan(&mut pool, &sketch.program, f, &spec, &FixedAddresses, &BTreeSet::new()).unwrap()
    };
    let (stated, guessed) = (plan_with(settings), plan_with(Settings::default()));
    assert!(!guessed.bounds.is_empty(), "a size that nobody stated is a bound");
    assert_eq!(stated, InputPlan { bounds: Vec::new(), ..guessed });
}

#[test]
fn preparing_a_program_twice_adds_one_callback_for_each_function_type() {
    let (mut sketch, _) = chunks();
    let functions = sketch.program.functions.len();
    prepare(&mut sketch.program);
    assert_eq!(sketch.program.functions.len(), functions);
    let callback = sketch.program.function_named("lydian_callback_0").unwrap();
    let ty = sketch.program.functions[callback].ty;
    assert!(matches!(sketch.program.types.get(ty), CType::Function { .. }));
}
