//! Plans of hand-made functions, and the tests that models of them give.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lydian_base::Rng;
use lydian_inputs::concretise::test_objects::Needs;
use lydian_inputs::{
    Addresses, CellPlan, ExternalCall, InputPlan, InputSpec, ObjectPlan, Settings, concretise,
    external_result, plan, prepare,
};
use lydian_ir::test::{Image, PointerTarget, Test};
use lydian_ir::{CType, FuncId, GlobalInit, InitItem, IntKind, Program, Type};
use lydian_smt::{Evaluator, Model, Node, Sort, Term, TermPool, UnOp, Value, Wide};

use crate::sketch::{FixedAddresses, Sketch};

/// A function with one of everything among its inputs.
fn everything() -> (Program, FuncId) {
    let mut sketch = Sketch::default();
    let (int, short) = (sketch.int(IntKind::Int), sketch.int(IntKind::Short));
    let (unsigned, long) = (sketch.int(IntKind::UInt), sketch.int(IntKind::Long));
    let (byte, character) = (sketch.int(IntKind::UChar), sketch.int(IntKind::Char));
    let (boolean, wide) = (sketch.int(IntKind::Bool), sketch.int(IntKind::UInt128));
    let size = sketch.int(IntKind::ULong);
    let types = &mut sketch.program.types;
    let (single, double) = (types.intern(CType::Float), types.intern(CType::Double));
    let colour = types.intern(CType::Enum {
        name: "enum colour".into(),
        underlying: unsigned,
        constants: vec![("RED".into(), 1), ("BLUE".into(), 5)],
    });
    let name = sketch.pointer(character);
    let (value, value_record) = sketch.record("union value");
    let members = [("d", double, None), ("s", name, None), ("l", long, None)];
    sketch.members(value_record, &members);
    let callback = sketch.function_type(int, vec![int]);
    let callback = sketch.pointer(callback);
    let three = sketch.array(short, Some(3));
    let tail = sketch.array(int, None);
    let (node, node_record) = sketch.record("struct node");
    let next = sketch.pointer(node);
    let members = [
        ("n", int, None),
        ("low", unsigned, Some(3)),
        ("high", unsigned, Some(13)),
        ("next", next, None),
        ("name", name, None),
        ("value", value, None),
        ("flag", boolean, None),
        ("hook", callback, None),
        ("three", three, None),
        ("ratio", single, None),
        ("big", wide, None),
    ];
    sketch.members(node_record, &members);
    let (message, message_record) = sketch.record("struct message");
    sketch.members(message_record, &[("count", short, None), ("items", tail, None)]);
    let message = sketch.pointer(message);
    let init = GlobalInit::Data {
        items: vec![InitItem { offset: 0, bytes: vec![7, 0, 0, 0] }],
        relocations: Vec::new(),
    };
    let counter = sketch.global("counter", int, init);
    let head = sketch.global("head", next, GlobalInit::Zero);
    let bytes = sketch.pointer(byte);
    let params = [
        ("list", next),
        ("buf", bytes),
        ("len", size),
        ("start", bytes),
        ("pos", bytes),
        ("end", bytes),
        ("message", message),
        ("colour", colour),
        ("weight", double),
    ];
    let f = sketch.define("f", &params, |text| {
        text.read(1, None);
        text.read(3, None);
        text.test_null(0);
        for (global, ty) in [(counter, Type::Int(32)), (head, Type::Ptr)] {
            let addr = text.expr(lydian_ir::Expr::AddrGlobal(global));
            text.load(ty, addr);
        }
    });
    sketch.declare("make", next, vec![]);
    prepare(&mut sketch.program);
    (sketch.program, f)
}

fn planned(pool: &mut TermPool, program: &Program, f: FuncId, settings: &str) -> InputPlan {
    let spec = InputSpec::new(program, Settings::from_toml_str(settings).unwrap());
    plan(pool, program, f, &spec, &FixedAddresses, &BTreeSet::new()).unwrap()
}

fn complaint(settings: &str) -> String {
    let (program, f) = everything();
    let spec = InputSpec::new(&program, Settings::from_toml_str(settings).unwrap());
    let mut pool = TermPool::new();
    plan(&mut pool, &program, f, &spec, &FixedAddresses, &BTreeSet::new()).unwrap_err().to_string()
}

fn all_cells(plan: &InputPlan) -> impl Iterator<Item = &CellPlan> {
    let args = plan.args.iter().flat_map(|arg| &arg.cells);
    let objects = plan.objects.iter().flat_map(|object| &object.cells);
    args.chain(objects).chain(plan.globals.iter().flat_map(|global| &global.cells))
}

/// A model that gives every symbol of the terms a value; small numbers are frequent.
fn random_model(pool: &mut TermPool, terms: &[Term], rng: &mut Rng) -> Model {
    let mut values = BTreeMap::new();
    for term in terms {
        for var in pool.vars_of(*term).iter() {
            let bits = match rng.below(3) {
                0 => rng.below(8),
                1 => rng.below(300),
                _ => rng.next_u64(),
            };
            let value = match pool.sort(*var) {
                Sort::BitVec(128) => {
                    let wide = u128::from(bits) << 64 | u128::from(rng.next_u64());
                    Value::from_wide(Sort::BitVec(128), Wide::from_u128(wide))
                }
                sort => Value::from_u64(sort, bits),
            };
            values.entry(*var).or_insert(value);
        }
    }
    Model::from_values(values.into_iter().collect())
}

/// The bits of a cell's value: a float is made of them, and as a value it has lost a NaN's.
fn bits_of(pool: &TermPool, value: Term) -> Term {
    match pool.node(value) {
        Node::Un(UnOp::FpFromBits, bits) => bits,
        _ => value,
    }
}

/// Reads a test's images back and compares them with the values of a plan's cells.
struct Comparison<'a> {
    program: &'a Program,
    pool: &'a TermPool,
    model: &'a Model,
    evaluator: Evaluator,
    test: &'a Test,
}

impl Comparison<'_> {
    fn image(&mut self, image: &Image, cells: &[CellPlan]) {
        let length = image.bytes.len() as u64;
        for cell in cells.iter().filter(|cell| cell.offset + cell.ty.bytes() <= length) {
            let value = self.evaluator.eval(self.pool, self.model, bits_of(self.pool, cell.value));
            let expected = value.to_wide().unwrap().low_u128();
            assert_eq!(self.read(image, cell), expected, "at {}", cell.offset);
        }
    }

    fn read(&self, image: &Image, cell: &CellPlan) -> u128 {
        let pointer = image.pointers.iter().find(|pointer| pointer.offset == cell.offset);
        if let Some(pointer) = pointer {
            return u128::from(self.address(&pointer.target));
        }
        let start = cell.offset as usize;
        let bytes = &image.bytes[start..start + cell.ty.bytes() as usize];
        bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
    }

    fn address(&self, target: &PointerTarget) -> u64 {
        match target {
            PointerTarget::Object(index, offset) => {
                self.test.objects[*index as usize].address + offset
            }
            PointerTarget::Global(name, offset) => {
                FixedAddresses.global(self.program.global_named(name).unwrap()) + offset
            }
            PointerTarget::Function(name) => {
                FixedAddresses.function(self.program.function_named(name).unwrap())
            }
            PointerTarget::Stream(name) => panic!("nothing here uses {name}"),
        }
    }

    fn objects(&mut self, plans: &[&ObjectPlan]) {
        for object in &self.test.objects {
            let plan = plans.iter().find(|plan| plan.address == object.address).unwrap();
            let length = plan.byte_length.map_or(plan.size, |length| {
                self.evaluator.eval_u64(self.pool, self.model, length).min(plan.size)
            });
            assert_eq!(object.image.bytes.len() as u64, length, "{}", object.name);
            self.image(&object.image, &plan.cells);
        }
    }
}

#[test]
fn the_images_of_a_test_read_back_to_the_values_of_the_plans_cells() {
    let (program, f) = everything();
    let mut pool = TermPool::new();
    let plan = planned(&mut pool, &program, f, "");
    let spec = InputSpec::new(&program, Settings::default());
    let make = program.function_named("make").unwrap();
    let call =
        ExternalCall { function: make, nth: 0, targets: &[], bytes: None, cursor: plan.cursor };
    let call = external_result(&mut pool, &program, call, &spec, &FixedAddresses).unwrap();
    let lengths = plan.objects.iter().filter_map(|object| object.byte_length);
    let of_call = call.objects.iter().flat_map(|object| &object.cells).chain(&call.cells);
    let cells = all_cells(&plan).chain(of_call);
    let terms: Vec<Term> = cells.map(|cell| cell.value).chain(lengths).collect();
    for seed in 0..300 {
        let model = random_model(&mut pool, &terms, &mut Rng::new(seed));
        let calls = [Arc::new(call.clone())];
        let test =
            concretise(&program, &pool, &plan, &calls, &model, &FixedAddresses, Needs::default());
        assert_eq!(
            test,
            concretise(&program, &pool, &plan, &calls, &model, &FixedAddresses, Needs::default())
        );
        let mut compared = Comparison {
            program: &program,
            pool: &pool,
            model: &model,
            evaluator: Evaluator::new(),
            test: &test,
        };
        for (arg, image) in plan.args.iter().zip(&test.args) {
            assert_eq!(image.bytes.len() as u64, arg.size);
            compared.image(image, &arg.cells);
        }
        let globals: Vec<_> = (plan.globals.iter())
            .map(|global| (&program.globals[global.global].name, global))
            .collect();
        for input in &test.globals {
            let (_, global) = globals.iter().find(|(name, _)| **name == input.name).unwrap();
            compared.image(&input.image, &global.cells);
        }
        compared.image(&test.externals[0].result, &call.cells);
        let objects: Vec<_> = plan.objects.iter().chain(&call.objects).collect();
        compared.objects(&objects);
    }
}

#[test]
fn cells_do_not_overlap_and_objects_lie_apart() {
    let (program, f) = everything();
    let mut pool = TermPool::new();
    let plan = planned(&mut pool, &program, f, "");
    let apart = |cells: &[CellPlan]| {
        cells.windows(2).all(|two| two[0].offset + two[0].ty.bytes() <= two[1].offset)
    };
    assert!(plan.args.iter().all(|arg| apart(&arg.cells)));
    assert!(plan.objects.iter().all(|object| apart(&object.cells)), "{:#?}", plan.objects);
    for two in plan.objects.windows(2) {
        assert!(two[0].address + two[0].size + 64 <= two[1].address);
        assert_eq!(two[1].address % two[1].align, 0);
    }
    for cell in all_cells(&plan) {
        let width = pool.width(cell.value);
        assert_eq!(u64::from(width), cell.ty.bytes() * 8);
    }
}

#[test]
fn the_same_program_and_settings_give_the_same_plan() {
    let (program, f) = everything();
    let mut pool = TermPool::new();
    let first = planned(&mut pool, &program, f, "");
    let terms = pool.len();
    assert_eq!(planned(&mut pool, &program, f, ""), first);
    assert_eq!(pool.len(), terms, "the second plan makes no new term");
    assert_eq!(planned(&mut TermPool::new(), &program, f, ""), first);
}

/// The test of a model that sets some symbols by name and leaves the others zero.
fn test_with(settings: &str, values: &[(&str, u64)]) -> (Test, bool) {
    let (program, f) = everything();
    let mut pool = TermPool::new();
    let plan = planned(&mut pool, &program, f, settings);
    let values = values.iter().map(|(name, bits)| {
        let var = pool.find_var(name).unwrap_or_else(|| panic!("no symbol {name}"));
        (var, Value::from_u64(pool.sort(var), *bits))
    });
    let model = Model::from_values(values.collect());
    let mut evaluator = Evaluator::new();
    let holds = plan.constraints.iter().all(|term| evaluator.holds(&pool, &model, *term));
    (concretise(&program, &pool, &plan, &[], &model, &FixedAddresses, Needs::default()), holds)
}

fn object<'a>(test: &'a Test, name: &str) -> Option<&'a lydian_ir::test::TestObject> {
    test.objects.iter().find(|object| object.name == name)
}

#[test]
fn an_array_is_as_long_as_its_length_says() {
    let (test, holds) = test_with("", &[("len", 5), ("buf[4]", 9), ("buf[5]", 1)]);
    assert!(holds);
    let buf = object(&test, "buf").unwrap();
    assert_eq!((buf.count, buf.image.bytes.as_slice()), (5, &[0, 0, 0, 0, 9][..]));
    assert!(!test_with("", &[("len", 17)]).1, "a length beyond the greatest is no input");
    assert!(test_with("[defaults]\nmax-length = 17", &[("len", 17)]).1);
}

#[test]
fn an_end_pointer_follows_the_length_of_its_array() {
    let (test, holds) = test_with("", &[("length(start)", 6), ("index(pos)", 2)]);
    assert!(holds);
    let start = test.objects.iter().position(|object| object.name == "start").unwrap();
    let target = |arg: usize| test.args[arg].pointers[0].target.clone();
    assert_eq!(target(5), PointerTarget::Object(start as u32, 6));
    assert_eq!(target(4), PointerTarget::Object(start as u32, 2));
    assert!(!test_with("", &[("length(start)", 6), ("index(pos)", 7)]).1);
}

#[test]
fn a_flexible_array_makes_its_object_longer() {
    let (test, holds) = test_with("", &[("message->count", 3), ("message->items[2]", 8)]);
    assert!(holds);
    let message = object(&test, "message").unwrap();
    assert_eq!((message.count, message.image.bytes.len()), (1, 16));
    assert_eq!(message.image.bytes[12], 8);
    let (negative, holds) = test_with("", &[("message->count", 0xffff)]);
    assert!(holds, "a negative length is one of nothing");
    assert_eq!(object(&negative, "message").unwrap().image.bytes.len(), 4);
}

#[test]
fn lists_end_at_the_depth_that_is_set() {
    let names = |settings| -> Vec<String> {
        let (test, _) = test_with(settings, &[]);
        let lists = test.objects.iter().filter(|object| object.name.starts_with("list"));
        lists.map(|object| object.name.clone()).filter(|name| !name.contains("name")).collect()
    };
    assert_eq!(names("[function.f]\ndepth = 1"), ["list"]);
    assert_eq!(names(""), ["list", "list->next", "list->next->next"]);
}

#[test]
fn a_null_pointer_leaves_its_objects_out() {
    let (test, _) = test_with("", &[("null(list)", 1)]);
    assert!(test.objects.iter().all(|object| !object.name.starts_with("list")));
    assert_eq!(test.args[0], Image { bytes: vec![0; 8], pointers: vec![] });
}

#[test]
fn a_global_is_in_a_test_where_it_differs_from_its_first_value() {
    let (test, _) = test_with("", &[("counter", 7), ("initial(head)", 1)]);
    assert!(test.globals.is_empty(), "{:?}", test.globals);
    let (test, _) = test_with("", &[("counter", 8)]);
    let names: Vec<_> = test.globals.iter().map(|global| global.name.as_str()).collect();
    assert_eq!(names, ["counter", "head"]);
    assert_eq!(test.globals[0].image.bytes, [8, 0, 0, 0]);
    let (test, _) = test_with("[function.f]\nglobals = [\"head\"]", &[]);
    assert_eq!(test.globals.len(), 1);
}

#[test]
fn a_union_is_one_of_its_pointers_or_other_bits() {
    let bits = "bits(list->value.d)";
    let (program, f) = everything();
    let mut pool = TermPool::new();
    planned(&mut pool, &program, f, "");
    let raw = pool.find_var(bits).or_else(|| pool.find_var("bits(list->value.s)"));
    let raw = pool.var_name(raw.expect("the union has bits of its own")).unwrap().to_owned();
    let (test, _) = test_with("", &[(&raw, 0x1234)]);
    let list = object(&test, "list").unwrap();
    let pointer_at = |test: &Test| {
        let list = object(test, "list").unwrap().clone();
        list.image.pointers.iter().map(|pointer| pointer.offset).collect::<Vec<_>>()
    };
    assert_eq!(list.image.bytes[24..26], [0x34, 0x12]);
    assert!(!pointer_at(&test).contains(&24));
    let (test, _) = test_with("", &[("is(list->value.s)", 1)]);
    assert!(pointer_at(&test).contains(&24));
}

#[test]
fn ranges_values_and_bit_fields_are_constrained() {
    let settings = "[function.f.places]\n\"weight\" = { range = [0, 1.5] }\n\
                    [types.\"struct node\"]\n\".n\" = { values = [3, -4] }\n\
                    \".high\" = { range = [16, 31] }\n";
    let one = 1.0f64.to_bits();
    let set = |n: u64, bits1: u64, weight: u64| {
        let mut values = vec![("weight", weight)];
        for list in
            ["list", "list->next", "list->next->next", "head", "head->next", "head->next->next"]
        {
            let n_name: &'static str = Box::leak(format!("{list}->n").into_boxed_str());
            let low: &'static str = Box::leak(format!("{list}->bits4").into_boxed_str());
            values.extend([(n_name, n), (low, bits1)]);
        }
        test_with(settings, &values).1
    };
    assert!(set(3, 0x80, one));
    assert!(set((-4i64) as u64, 0xf8, one));
    assert!(!set(4, 0x80, one));
    assert!(!set(3, 0x08, one), "bit-field high is 1");
    assert!(!set(3, 0x80, 2.0f64.to_bits()));
    assert!(!set(3, 0x80, f64::NAN.to_bits()));
}

#[test]
fn an_alias_points_to_the_other_object() {
    let settings = "[function.f.places]\n\"buf\" = { alias = [\"start\"] }\n";
    let (test, _) = test_with(settings, &[("alias(buf, start)", 1)]);
    assert_eq!(test.args[1].pointers, test.args[3].pointers);
    assert!(object(&test, "buf").is_none());
}

#[test]
fn settings_that_do_not_fit_the_program_are_refused() {
    let place = |set: &str| complaint(&format!("[function.f.places]\n{set}\n"));
    assert_eq!(
        place("\"lenn\" = { range = [0, 1] }"),
        "f: lenn: begins with no parameter or global variable"
    );
    assert_eq!(
        place("\"buf\" = { length = \"weight\" }"),
        "f: buf: its length weight is no integer among the inputs"
    );
    assert_eq!(
        place("\"buf\" = { alias = [\"list\"] }"),
        "f: buf: list points to another type, so it cannot be an alias"
    );
    assert!(place("\"buf\" = { type = \"struct nothing\" }").contains("no complete type"));
    assert!(place("\"colour\" = { range = [-3, -1] }").contains("fits its type"));
    assert!(place("\"buf\" = { max = 99999999999 }").contains("more than"));
    assert!(complaint("[function.f]\nglobals = [\"nothing\"]").contains("is no global variable"));
    assert!(complaint("[function.f]\npreconditions = [\"len < 3\"]").contains("not compiled"));
}

#[test]
fn tables_of_other_files_are_inputs_also_where_they_are_constant() {
    let mut sketch = Sketch::default();
    let byte = sketch.int(IntKind::UChar);
    let (known, unknown) = (sketch.array(byte, Some(3)), sketch.array(byte, None));
    let table = sketch.global("table", known, GlobalInit::Extern);
    let own = sketch.global("own", known, GlobalInit::Zero);
    sketch.program.globals[table].read_only = true;
    sketch.program.globals[own].read_only = true;
    let mut open = sketch.program.globals[table].clone();
    (open.name, open.ty, open.size) = ("open".into(), unknown, 0);
    let open = sketch.program.globals.push(open);
    let f = sketch.define("f", &[], |text| {
        for global in [table, own, open] {
            let addr = text.expr(lydian_ir::Expr::AddrGlobal(global));
            text.load(Type::Int(8), addr);
        }
    });
    prepare(&mut sketch.program);
    let plan = planned(&mut TermPool::new(), &sketch.program, f, "");
    let inputs: Vec<_> = plan.globals.iter().map(|g| (g.global, g.cells.len())).collect();
    assert_eq!(inputs, [(table, 3), (open, 256)]);
    assert_eq!(sketch.program.globals[open].size, 256);
}

#[test]
fn two_calls_of_an_external_have_results_of_their_own() {
    let (program, f) = everything();
    let mut pool = TermPool::new();
    let plan = planned(&mut pool, &program, f, "");
    let spec = InputSpec::new(&program, Settings::default());
    let make = program.function_named("make").unwrap();
    let mut call = |nth, cursor| {
        let call = ExternalCall { function: make, nth, targets: &[], bytes: None, cursor };
        external_result(&mut pool, &program, call, &spec, &FixedAddresses).unwrap()
    };
    let first = call(0, plan.cursor);
    let second = call(1, first.cursor);
    let end = plan.objects.last().map(|object| object.address + object.size).unwrap();
    assert!(end < first.objects[0].address);
    assert!(first.objects.last().unwrap().address < second.objects[0].address);
    assert_eq!(first.objects[0].name, "make()#0");
    assert_ne!(first.objects[0].cells[0].value, second.objects[0].cells[0].value);
    assert!(pool.find_var("null(make()#0)").is_some(), "an undefined function may fail");
}
