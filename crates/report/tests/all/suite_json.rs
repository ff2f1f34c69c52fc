//! Suites as JSON: written suites read back, and errors are reported.

use lydian_base::{EntityId, Rng, Span};
use lydian_ir::test::{
    EarlierCall, ExternalResult, ExternalWrite, GlobalInput, INPUT_REGION, Image, ImagePointer,
    PointerTarget, Test, TestObject, VariableArgument, WriteBase,
};
use lydian_ir::{
    CType, CTypeId, Field, Function, Global, GlobalInit, IntKind, Linkage, Program, Record,
    variadic,
};
use lydian_report::suite::json::{from_json, to_json};
use lydian_report::{Observation, ObservedImage, Outcome, SuiteTest};

/// Types of every kind, a function of some of them, globals and an external.
struct World {
    program: Program,
    params: Vec<CTypeId>,
    elements: Vec<CTypeId>,
    global: CTypeId,
}

fn record(program: &mut Program, name: &str, size: u64, fields: Vec<Field>) -> CTypeId {
    let is_union = name.starts_with("union");
    let record =
        Record { name: name.into(), is_union, is_local: false, fields, size: Some(size), align: 8 };
    let id = program.types.records.push(record);
    program.types.intern(CType::Record(id))
}

fn field(name: &str, ty: CTypeId, bit_offset: u64, bits: Option<u16>) -> Field {
    Field { name: name.into(), ty, bit_offset, bits }
}

fn function(program: &mut Program, name: &str, result: CTypeId, params: Vec<CTypeId>) {
    let variadic = name == "fill";
    let ty = program.types.intern(CType::Function { result, params, variadic });
    program.functions.push(Function {
        param_names: vec!["x".into(), String::new(), "x".into()],
        ..Function::declared(name, ty)
    });
}

fn world() -> World {
    let mut program = Program::default();
    let types = &mut program.types;
    let kinds = [
        IntKind::Bool,
        IntKind::Char,
        IntKind::SChar,
        IntKind::Short,
        IntKind::Int,
        IntKind::ULong,
        IntKind::Int128,
        IntKind::UInt128,
    ];
    let ints = kinds.map(|kind| types.int(kind));
    let [_, character, small, short, int, long, _, _] = ints;
    let (single, double) = (types.intern(CType::Float), types.intern(CType::Double));
    let colour = types.intern(CType::Enum {
        name: "enum colour".into(),
        underlying: int,
        constants: vec![("RED".into(), 0), ("BLUE".into(), -3), ("AZURE".into(), -3)],
    });
    let long_double = types.intern(CType::LongDouble);
    let text = types.pointer(character);
    let word = types.intern(CType::Array { element: character, length: Some(12) });
    let numbers = types.intern(CType::Array { element: short, length: Some(3) });
    let grid = types.intern(CType::Array { element: numbers, length: Some(2) });
    let tail = types.intern(CType::Array { element: int, length: None });
    let inner = vec![field("a", int, 0, None), field("b", double, 64, None)];
    let inner = record(&mut program, "", 16, inner);
    let choice =
        vec![field("d", double, 0, None), field("s", text, 0, None), field("w", word, 0, None)];
    let choice = record(&mut program, "union choice", 16, choice);
    let members = vec![
        field("c", character, 0, None),
        field("n", int, 32, None),
        field("low", int, 64, Some(3)),
        field("", int, 67, Some(2)),
        field("high", long, 69, Some(40)),
        field("text", text, 128, None),
        field("choice", choice, 192, None),
        field("", inner, 320, None),
        field("word", word, 448, None),
        field("ratio", single, 544, None),
        field("grid", grid, 576, None),
    ];
    let node = record(&mut program, "struct node", 88, members);
    let message = vec![field("count", long, 0, None), field("items", tail, 64, None)];
    let message = record(&mut program, "struct message", 8, message);
    let to_node = program.types.pointer(node);
    let params = vec![to_node, node, double];
    function(&mut program, "f", node, params.clone());
    function(&mut program, "next", to_node, vec![]);
    function(&mut program, "malloc", text, vec![]);
    let void = program.types.intern(CType::Void);
    let anything = program.types.pointer(void);
    function(&mut program, "set", int, vec![to_node, text, anything]);
    let to_const = program.types.intern(CType::Pointer { pointee: node, to_const: true });
    function(&mut program, "fill", int, vec![to_const]);
    let size = program.types.size(node).unwrap();
    program.globals.push(Global {
        name: "state".into(),
        ty: node,
        size,
        align: 8,
        linkage: Linkage::External,
        read_only: false,
        weak: false,
        thread_local: false,
        init: GlobalInit::Zero,
        span: Span::NONE,
    });
    let mut elements = ints.to_vec();
    elements.extend([
        small,
        single,
        double,
        colour,
        long_double,
        text,
        choice,
        node,
        message,
        to_node,
        word,
    ]);
    World { program, params, elements, global: node }
}

/// An image with pointers, sparse or full.
fn image(rng: &mut Rng, size: u64, objects: &[(u64, u64)]) -> Image {
    let style = rng.below(4);
    let byte = |rng: &mut Rng| match style {
        0 => 0,
        1 if rng.below(4) > 0 => 0,
        2 => rng.below(95) as u8 + 32,
        _ => rng.next_u64() as u8,
    };
    let mut bytes: Vec<u8> = (0..size).map(|_| byte(rng)).collect();
    let mut pointers = Vec::new();
    for at in (0..size.saturating_sub(7)).step_by(8) {
        if rng.below(4) > 0 {
            continue;
        }
        let target = match rng.below(4) {
            2 => PointerTarget::Stream("stdout".into()),
            0 => PointerTarget::Function("f".into()),
            1 => PointerTarget::Global("state".into(), rng.below(9)),
            _ if objects.is_empty() => continue,
            _ => {
                let position = rng.below(objects.len() as u64);
                let offset = rng.below(objects[position as usize].1 + 1);
                PointerTarget::Object(position as u32, offset)
            }
        };
        let value = match target {
            PointerTarget::Object(position, offset) => objects[position as usize].0 + offset,
            _ => 0,
        };
        bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
        pointers.push(ImagePointer { offset: at, target });
    }
    Image { bytes, pointers }
}

fn seen(rng: &mut Rng, size: u64, objects: &[(u64, u64)]) -> ObservedImage {
    let mut image = image(rng, size, objects);
    let mut unknown = Vec::new();
    image.pointers.retain(|pointer| {
        let known = pointer.offset.is_multiple_of(16);
        if !known {
            let at = pointer.offset as usize;
            image.bytes[at..at + 8].fill(0);
            unknown.push(pointer.offset);
        }
        known
    });
    ObservedImage { image, unknown, ..ObservedImage::default() }
}

/// Writes of a call of `set`: to structs, to characters and to bytes of any kind.
fn writes(rng: &mut Rng, places: &[(u64, u64)]) -> Vec<ExternalWrite> {
    let write = |rng: &mut Rng| {
        let argument = rng.below(3) as u32;
        let size = match argument {
            0 => [88, 176, 12][rng.below(3) as usize],
            _ => rng.below(30) + 1,
        };
        let offset = [0, 0, 8, 88][rng.below(4) as usize];
        ExternalWrite::behind_argument(argument, offset, image(rng, size, places))
    };
    (0..rng.below(4)).map(|_| write(rng)).collect()
}

/// Writes of a call of `fill`: to variables, through arguments for `...`, and through pointers on
/// paths, whether the types describe them or not.
fn far_writes(rng: &mut Rng, places: &[(u64, u64)]) -> Vec<ExternalWrite> {
    let step = |rng: &mut Rng| [0, 16, 16, 24, 40, 104][rng.below(6) as usize];
    let write = |rng: &mut Rng| {
        let (to, least) = match rng.below(3) {
            0 => (WriteBase::Argument(0), 1),
            1 => (WriteBase::Variable(rng.below(8) as u32), 0),
            _ => (WriteBase::Global("state".into()), 0),
        };
        let through = (0..rng.below(3).max(least)).map(|_| step(rng)).collect();
        let offset = [0, 0, 4, 8, 16, 56, 74, 88][rng.below(8) as usize];
        let size = [1, 2, 4, 6, 8, 12, 88][rng.below(7) as usize];
        ExternalWrite { to, through, offset, image: image(rng, size, places) }
    };
    (0..rng.below(5)).map(|_| write(rng)).collect()
}

fn sized_as_int(world: &World, seed: u64) -> Image {
    let size = world.program.types.size(world.elements[4]).unwrap() as usize;
    Image { bytes: seed.to_le_bytes()[..size].to_vec(), pointers: vec![] }
}

fn random_test(world: &World, seed: u64) -> SuiteTest {
    let rng = &mut Rng::new(seed);
    let types = &world.program.types;
    let mut objects = Vec::new();
    let mut places = Vec::new();
    let mut address = INPUT_REGION;
    for number in 0..rng.below(5) {
        let ty = world.elements[rng.below(world.elements.len() as u64) as usize];
        let count = rng.below(4);
        let size = types.size(ty).unwrap() * count + if count == 1 { rng.below(3) * 4 } else { 0 };
        let name = if number < 3 { format!("ctx->list[{number}]") } else { "ctx->twin".into() };
        objects.push((name, ty, count));
        places.push((address, size));
        address += size.next_multiple_of(64) + 64;
    }
    let objects: Vec<TestObject> = (objects.into_iter().zip(&places))
        .map(|((name, ty, count), (address, size))| TestObject {
            name,
            address: *address,
            ty,
            count,
            align: 16,
            image: image(rng, *size, &places),
            read_only: rng.below(4) == 0,
        })
        .collect();
    let mut sized = |ty: CTypeId| image(rng, types.size(ty).unwrap(), &places);
    let args = world.params.iter().map(|ty| sized(*ty)).collect();
    let passed = world.elements.iter().filter(|ty| variadic::class(types, **ty).is_some());
    let passed: Vec<CTypeId> = passed.copied().collect();
    let mut variable = |count| {
        let list = (0..count).map(|at| {
            let ty = passed[(seed + at * 5) as usize % passed.len()];
            VariableArgument { ty, image: sized(ty) }
        });
        list.collect::<Vec<_>>()
    };
    let (behind, earlier) = (variable(seed % 4), variable(seed % 2));
    let calls = (0..[0, 0, 1, 3][seed as usize % 4]).map(|_| EarlierCall {
        args: world.params.iter().map(|ty| sized(*ty)).collect(),
        variable: earlier.clone(),
    });
    let calls = calls.collect();
    let global = GlobalInput { name: "state".into(), image: sized(world.global) };
    let result = ExternalResult::new("next", sized(world.params[0]));
    let set = ExternalResult::new("set", sized(world.elements[4]));
    let set = ExternalResult { writes: writes(rng, &places), ..set };
    let fill = ExternalResult::new("fill", sized_as_int(world, seed));
    let fill = ExternalResult { writes: far_writes(rng, &places), ..fill };
    let allocation = Image { bytes: vec![seed as u8 % 3], pointers: vec![] };
    let allocation = ExternalResult::new("malloc", allocation);
    let changed = objects
        .iter()
        .enumerate()
        .map(|(at, object)| (at as u32, seen(rng, object.image.bytes.len() as u64, &places)));
    let outcomes = [Outcome::Returned, Outcome::Exited(3), Outcome::Crashed(11)];
    let observed = Observation {
        objects: changed.collect(),
        result: Some(seen(rng, types.size(world.global).unwrap(), &places)),
        globals: vec![("state".into(), seen(rng, types.size(world.global).unwrap(), &places))],
        ..Observation::ended(outcomes[seed as usize % 3].clone())
    };
    let test = Test {
        function: "f".into(),
        earlier: calls,
        objects,
        args,
        variable: behind,
        globals: if seed.is_multiple_of(2) { vec![global] } else { vec![] },
        externals: vec![result, allocation, set, fill],
    };
    SuiteTest {
        name: format!("f_{seed}"),
        test,
        observed: (!seed.is_multiple_of(5)).then_some(observed),
        covers: (0..seed % 3).map(|n| format!("dc {n}: \"x\"")).collect(),
        kept_for: (0..seed % 2).map(|n| format!("unit.c:{n}: x > 3")).collect(),
        keep: seed.is_multiple_of(3),
        thorough: seed.is_multiple_of(4),
    }
}

#[test]
fn any_suite_reads_back_as_it_was_written() {
    let world = world();
    let tests: Vec<SuiteTest> = (0..600).map(|seed| random_test(&world, seed)).collect();
    let text = to_json(&world.program, "src/f.c", &tests);
    let read = from_json(&world.program, "suite.json", &text).unwrap();
    for (read, test) in read.iter().zip(&tests) {
        assert_eq!(read, test, "{}", to_json(&world.program, "f.c", std::slice::from_ref(test)));
    }
    assert_eq!(to_json(&world.program, "src/f.c", &read), text);
}

#[test]
fn every_bit_pattern_of_a_float_reads_back() {
    let world = world();
    let doubles = [
        0,
        1,
        (-0.0f64).to_bits(),
        0.1f64.to_bits(),
        f64::MAX.to_bits(),
        f64::INFINITY.to_bits(),
        f64::NEG_INFINITY.to_bits(),
        f64::NAN.to_bits(),
        0x7ff0_0000_0000_0001,
        u64::MAX,
    ];
    for bits in doubles {
        let mut test = random_test(&world, 1);
        test.test.args[2] = Image { bytes: bits.to_le_bytes().to_vec(), pointers: vec![] };
        let tests = [test];
        let text = to_json(&world.program, "f.c", &tests);
        assert_eq!(from_json(&world.program, "s", &text).unwrap(), tests, "{bits:#x}");
    }
}

#[test]
fn every_long_double_reads_back() {
    let world = world();
    let is_wide = |ty: &&CTypeId| *world.program.types.get(**ty) == CType::LongDouble;
    let wide = *world.elements.iter().find(is_wide).unwrap();
    let numbers = [
        0u128,
        0x3fff_8000_0000_0000_0000,
        0xbffb_cccc_cccc_cccc_cccd,
        0x7ffe_ffff_ffff_ffff_ffff,
        0x0000_0000_0000_0000_0001,
        0x7fff_8000_0000_0000_0000,
        0x7fff_c000_0000_0000_0000,
        0xffff_c000_0000_0000_0001,
    ];
    for bits in numbers {
        let mut test = random_test(&world, 1);
        let bytes = bits.to_le_bytes().to_vec();
        test.test.objects.push(TestObject {
            name: "wide".into(),
            address: INPUT_REGION + 0x10_0000,
            ty: wide,
            count: 1,
            align: 16,
            image: Image { bytes, pointers: vec![] },
            read_only: false,
        });
        let tests = [test];
        let text = to_json(&world.program, "f.c", &tests);
        assert_eq!(from_json(&world.program, "s", &text).unwrap(), tests, "{bits:#x}\n{text}");
    }
}

/// A small suite, for people.
fn readable() -> (World, SuiteTest) {
    let world = world();
    let types = &world.program.types;
    let character =
        types.iter().find(|(_, ty)| matches!(ty, CType::Int { kind: IntKind::Char, .. }));
    let mut test = random_test(&world, 0);
    let zero = |ty| Image { bytes: vec![0; types.size(ty).unwrap() as usize], pointers: vec![] };
    test.test.objects = vec![TestObject {
        name: "buf".into(),
        address: INPUT_REGION,
        ty: character.unwrap().0,
        count: 6,
        align: 16,
        image: Image { bytes: b"a=\xff\n\0\0".to_vec(), pointers: vec![] },
        read_only: false,
    }];
    let mut node = zero(world.global);
    node.bytes[4..8].copy_from_slice(&(-2i32).to_le_bytes());
    let target = PointerTarget::Object(0, 3);
    node.bytes[16..24].copy_from_slice(&(INPUT_REGION + 3).to_le_bytes());
    node.pointers.push(ImagePointer { offset: 16, target });
    test.test.args = vec![zero(world.params[0]), node, zero(world.params[2])];
    test.test.globals.clear();
    test.test.externals.clear();
    test.test.earlier.clear();
    test.observed = None;
    (world, test)
}

#[test]
fn what_an_undefined_function_writes_is_said_by_parameters() {
    let (world, mut test) = readable();
    let plain = |bytes: &[u8]| Image { bytes: bytes.to_vec(), pointers: vec![] };
    let write = ExternalWrite::behind_argument;
    let writes =
        vec![write(1, 0, plain(b"x")), write(1, 4, plain(b"ab\0")), write(2, 0, plain(&[1, 2]))];
    let result = plain(&5i32.to_le_bytes());
    test.test.externals = vec![ExternalResult { writes, ..ExternalResult::new("set", result) }];
    let tests = [test];
    let text = to_json(&world.program, "f.c", &tests);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([ { "function": "set", "result": 5, "writes": [
        { "to": "arg1", "value": 120 },
        { "to": "arg1", "offset": 4, "count": 3, "value": "ab" },
        { "to": "arg2", "value": { "$bytes": "0102" } } ] } ]);
    assert_eq!(json["tests"][0]["externals"], expected);
    assert_eq!(from_json(&world.program, "s", &text).unwrap(), tests);
    for (from, to, why) in [
        (
            "\"to\": \"arg2\"",
            "\"to\": \"arg7\"",
            "set has no parameter arg7 that it can write through",
        ),
        ("\"count\": 3", "\"counts\": 3", "no such field"),
        ("\"$bytes\": \"0102\"", "\"$hex\": \"0102\"", "it is given by its $bytes"),
        ("\"value\": 120", "\"value\": \"y\"", "externals[0].writes[0].value"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        let error = from_json(&world.program, "s", &changed).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_way_to_what_is_written_is_said_by_names_and_distances_and_its_value_by_the_types_on_it() {
    let (world, mut test) = readable();
    let plain = |bytes: &[u8]| Image { bytes: bytes.to_vec(), pointers: vec![] };
    let write = |to, through: &[u64], offset, bytes: &[u8]| ExternalWrite {
        to,
        through: through.to_vec(),
        offset,
        image: plain(bytes),
    };
    let state = || WriteBase::Global("state".into());
    let writes = vec![
        write(WriteBase::Argument(0), &[16], 0, b"hi"),
        write(WriteBase::Argument(0), &[24], 2, b"x"),
        write(state(), &[], 4, &7i32.to_le_bytes()),
        write(state(), &[], 74, &[1, 0, 2, 0]),
        write(state(), &[], 2, &[1, 2]),
        write(state(), &[16, 0], 0, &[5]),
        write(WriteBase::Variable(3), &[8], 0, &[6, 7]),
    ];
    let result = plain(&5i32.to_le_bytes());
    test.test.externals = vec![ExternalResult { writes, ..ExternalResult::new("fill", result) }];
    let tests = [test];
    let text = to_json(&world.program, "f.c", &tests);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([
        { "to": "x", "through": [16], "count": 2, "value": "hi" },
        { "to": "x", "through": [24], "offset": 2, "value": 120 },
        { "global": "state", "offset": 4, "type": "int", "value": 7 },
        { "global": "state", "offset": 74, "type": "short", "count": 2, "value": [1, 2] },
        { "global": "state", "offset": 2, "value": { "$bytes": "0102" } },
        { "global": "state", "through": [16, 0], "value": { "$bytes": "05" } },
        { "variable": 3, "through": [8], "value": { "$bytes": "0607" } } ]);
    assert_eq!(json["tests"][0]["externals"][0]["writes"], expected);
    assert_eq!(from_json(&world.program, "s", &text).unwrap(), tests);
    // `x` is a pointer to what is const.
    let compact = serde_json::to_string(&json).unwrap();
    let ill_formed = [
        (r#""through":[16],"#, "", "fill has no parameter x that it can write through"),
        (r#""through":[16],"#, r#""through":["16"],"#, "through[0]: it is no whole number from 0"),
        (r#""through":[16],"#, r#""through":16,"#, "writes[0].through: it is no list"),
        (r#""variable":3"#, r#""variable":8"#, "integers and pointers 0 to 7 can be reached"),
        (r#""variable":3"#, r#""variable":-1"#, "variable: it is no whole number from 0"),
        (r#""variable":3"#, r#""to":"x","variable":3"#, "it needs one of to, variable and global"),
        (r#""variable":3,"#, "", "writes[6]: it needs one of to, variable and global"),
        (r#""global":"state""#, r#""global":"stat""#, "global: the program has no variable stat"),
        (r#""type":"int""#, r#""type":"integer""#, "type: the program has no type integer"),
        (r#""type":"int""#, r#""type":3"#, "type: it is no string"),
    ];
    for (from, to, why) in ill_formed {
        assert!(compact.contains(from), "{from} in {compact}");
        let changed = compact.replacen(from, to, 1);
        let error = from_json(&world.program, "s", &changed).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let dots = compact.replace(r#""function":"fill""#, r#""function":"set""#);
    let error = from_json(&world.program, "s", &dots).unwrap_err().to_string();
    assert!(error.contains("set has no arguments for `...` to reach"), "{error}");
}

#[test]
fn earlier_calls_are_a_list_of_arguments() {
    let (world, mut test) = readable();
    let mut call = EarlierCall { args: test.test.args.clone(), variable: vec![] };
    test.test.earlier.push(call.clone());
    call.args[2].bytes = 1.5f64.to_le_bytes().to_vec();
    test.test.earlier.push(call);
    let text = to_json(&world.program, "f.c", std::slice::from_ref(&test));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let earlier = &json["tests"][0]["earlier"];
    assert_eq!(
        (&earlier[0]["args"], earlier[0].get("variable")),
        (&json["tests"][0]["args"], None)
    );
    assert_eq!(earlier[1]["args"]["arg2"], 1.5);
    assert_eq!(from_json(&world.program, "s", &text).unwrap(), [test]);
    let compact = serde_json::to_string(&json).unwrap();
    let ill_formed = [
        (r#""arg2":1.5"#, r#""arg2":"x""#, "test 'f_0': earlier[1].args.arg2: 'x' is no number"),
        (r#","arg2":1.5"#, "", "earlier[1].args.arg2: it is missing"),
        (r#""earlier":[{"#, r#""earlier":[{"result":1,"#, "earlier[0].result: no such field"),
        (r#""earlier":["#, r#""earlier":[3,"#, "earlier[0]: it is no JSON object"),
    ];
    for (from, to, why) in ill_formed {
        assert!(compact.contains(from), "{from} in {compact}");
        let changed = compact.replacen(from, to, 1);
        let error = from_json(&world.program, "s", &changed).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn values_are_written_for_people() {
    let (world, test) = readable();
    let text = to_json(&world.program, "f.c", std::slice::from_ref(&test));
    for part in [
        "\"x\": null",
        "\"n\": -2",
        "\"text\": \"&buf[3]\"",
        "\"value\": \"a=\u{ff}\\n\"",
        "\"arg2\": 0.0",
        "\"address\": \"0x2000000000\"",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(from_json(&world.program, "s", &text).unwrap(), [test]);
}

#[test]
fn what_people_get_wrong_is_told_with_test_and_field() {
    let (world, test) = readable();
    let text = to_json(&world.program, "f.c", std::slice::from_ref(&test));
    let complaint = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let changed = text.replacen(from, to, 1);
        from_json(&world.program, "suite.json", &changed).unwrap_err().to_string()
    };
    let cases = [
        ("\"version\": 1", "\"version\": 2", "suite.json: version 2, where 1 can be read"),
        ("\"n\": -2", "\"n\": 5000000000", "args.arg1.n: 5000000000 does not fit 32 signed bits"),
        ("\"n\": -2", "\"m\": -2", "args.arg1.m: there is no such member"),
        ("\"x\": null", "\"y\": null", "args.y: there is no such parameter"),
        ("&buf[3]", "&buf[9]", "args.arg1.text: '&buf[9]' is beyond the end of the object"),
        ("&buf[3]", "&bud[3]", "args.arg1.text: the test has no object for '&bud[3]'"),
        (
            "\"count\": 6",
            "\"count\": 2",
            "objects[0].value: it has 4 elements where there is room for 2",
        ),
        (
            "\"type\": \"char\"",
            "\"type\": \"chat\"",
            "objects[0].type: the program has no type chat",
        ),
        ("\"function\": \"f\"", "\"function\": \"g\"", "function: the program has no function g"),
        (
            "\"address\": \"0x2000000000\"",
            "\"address\": \"0x20\"",
            "objects[0].address: it is not between",
        ),
        ("\"arg2\": 0.0", "\"arg2\": \"zero\"", "args.arg2: 'zero' is no number"),
    ];
    for (from, to, expected) in cases {
        let complaint = complaint(from, to);
        assert!(complaint.contains(expected), "{complaint}");
        assert!(complaint.starts_with("suite.json: "), "{complaint}");
    }
    assert!(
        complaint("\"n\": -2", "\"n\": -2.5").contains("test 'f_0': args.arg1.n: it is no integer")
    );
    assert!(complaint("\"tests\"", "tests").contains("line"));
}

#[test]
fn addresses_of_allocated_memory_are_not_expected_again() {
    let (world, test) = readable();
    let mut result = vec![0u8; 88];
    result[16..24].copy_from_slice(&0x5555_1234_5678u64.to_le_bytes());
    let mut state = vec![0u8; 88];
    state[16..24].copy_from_slice(&(INPUT_REGION + 2).to_le_bytes());
    let observed = Observation::from_bytes(
        &world.program,
        &test.test,
        Outcome::Returned,
        &result,
        &[b"a=\xff\n\0\0".to_vec()],
        &[("state".into(), state)],
    );
    assert_eq!(observed.result.as_ref().unwrap().unknown, [16]);
    assert!(observed.objects.is_empty(), "an object that did not change");
    let pointer = &observed.globals[0].1.image.pointers[0];
    assert_eq!(pointer.target, PointerTarget::Object(0, 2));
    assert_eq!(CTypeId::from_index(0).to_string(), "ty0");
}
