//! Linking of small units written in the text form.

use lydian_base::SourceMap;

use super::{LinkError, LinkUnit, LinkedUnits, Role, link, resolve_weak};
use crate::program::{GlobalInit, Program};
use crate::text;
use crate::verify::verify;

const INT: &str = "ty0 = int \"int\" 32 signed\nty1 = function ty0 ()\n";

fn unit(name: &str, text: &str) -> LinkUnit {
    let program = text::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(verify(&program), [], "{name}");
    let source = SourceMap::from_preprocessed("0123456789\n", name);
    LinkUnit { name: name.to_owned(), program, source, role: Role::Part }
}

/// A function that returns a constant, and its static helper's address.
fn constant(name: &str, linkage: &str, value: u32) -> String {
    format!(
        "function f0 \"{name}\" ty1 {linkage} () @1..3 {{ params () entry bb0 \
         bb0: return {value}:i32 }}\n"
    )
}

fn linked(units: Vec<LinkUnit>) -> LinkedUnits {
    let linked = link(units).unwrap();
    assert_eq!(verify(&linked.program), []);
    linked
}

fn names(program: &Program) -> Vec<&str> {
    program.functions.values().map(|function| function.name.as_str()).collect()
}

#[test]
fn one_unit_gives_an_equal_program() {
    let one = unit("a.c", &(INT.to_owned() + &constant("f", "external", 1)));
    assert_eq!(linked(vec![one.clone()]).program, one.program);
}

#[test]
fn nothing_is_an_error() {
    assert!(matches!(link(Vec::new()), Err(LinkError::Nothing)));
}

#[test]
fn a_declaration_gets_the_body_of_another_unit_and_spans_lead_to_its_file() {
    let a = unit("a.c", &(INT.to_owned() + "function f0 \"f\" ty1 external () @0..1\n"));
    let b = "ty0 = void\nty1 = int \"int\" 32 signed\nty2 = function ty1 ()\n".to_owned();
    let b = unit("b.c", &(b + &constant("f", "external", 1).replace("ty1", "ty2")));
    let linked = linked(vec![a, b]);
    let function = &linked.program.functions[linked.program.function_named("f").unwrap()];
    assert!(function.body.is_some());
    assert_eq!(linked.source.place(function.span.start).to_string(), "b.c:1:2");
    assert_eq!(linked.program.functions.len(), 1);
    // `int` and the function's type are those of the first unit; nothing needs `void`.
    assert_eq!(linked.program.types.iter().count(), 2);
}

#[test]
fn statics_of_one_name_are_kept_apart_and_the_external_one_keeps_it() {
    let text = |linkage| INT.to_owned() + &constant("f", linkage, 1);
    let units = [("a.c", "internal"), ("b.c", "internal"), ("c.c", "external")];
    let units = units.map(|(name, linkage)| unit(name, &text(linkage)));
    let linked = linked(units.to_vec());
    assert_eq!(names(&linked.program), ["f@a.c", "f@b.c", "f"]);
}

#[test]
fn statics_of_a_companion_always_carry_its_file() {
    let text = |name: &str| INT.to_owned() + &constant(name, "internal", 1);
    let mut b = unit("b.c", &text("g"));
    b.role = Role::Companion;
    let linked = linked(vec![unit("a.c", &text("f")), b]);
    assert_eq!(names(&linked.program), ["f", "g@b.c"]);
}

#[test]
fn two_definitions_are_an_error_with_both_places() {
    let text = INT.to_owned() + &constant("f", "external", 1);
    let error = link(vec![unit("a.c", &text), unit("b.c", &text)]).unwrap_err();
    let LinkError::Duplicates(found) = error else { panic!("{error}") };
    assert_eq!(found[0].place.as_ref().unwrap().to_string(), "b.c:1:2");
    assert!(found[0].notes[0].contains("a.c:1:2"), "{:?}", found[0]);
}

#[test]
fn a_strong_definition_takes_the_place_of_a_weak_one_wherever_it_stands() {
    let weak = INT.to_owned() + &constant("f", "external weak", 1);
    let strong = INT.to_owned() + &constant("f", "external", 2);
    for order in [[&weak, &strong], [&strong, &weak]] {
        let linked = linked(vec![unit("a.c", order[0]), unit("b.c", order[1])]);
        let text = text::print(&linked.program);
        assert!(text.contains("2:i32") && !text.contains("1:i32"), "{text}");
    }
    let two = linked(vec![unit("a.c", &weak), unit("b.c", &weak)]);
    assert_eq!(two.program.functions.len(), 1);
}

#[test]
fn a_tentative_definition_gives_way_to_one_with_contents() {
    let global = |init: &str| {
        let size = if init == "extern" { 0 } else { 4 };
        format!("{INT}global g0 \"x\" ty0 size {size} align 4 external @1..2 = {init}\n")
    };
    let (data, zero, other) = (global("{ 0: \"\\x01\" }"), global("zero"), global("extern"));
    for order in [[&data, &zero, &other], [&other, &zero, &data], [&zero, &data, &zero]] {
        let units = order.iter().zip(["a.c", "b.c", "c.c"]).map(|(text, name)| unit(name, text));
        let linked = linked(units.collect());
        let global = &linked.program.globals[linked.program.global_named("x").unwrap()];
        assert!(matches!(&global.init, GlobalInit::Data { .. }) && global.size == 4);
        assert_eq!(linked.program.globals.len(), 1);
    }
    let twice = link(vec![unit("a.c", &data), unit("b.c", &data)]);
    assert!(matches!(twice, Err(LinkError::Duplicates(_))));
}

#[test]
fn a_struct_of_one_name_and_layout_is_one_and_an_incomplete_one_is_completed() {
    let list = "ty0 = record rec0\nty1 = pointer ty0\n\
                rec0 = struct \"struct list\" size 8 align 8 { \"next\" ty1 at 0 }\n";
    let unknown =
        "ty0 = record rec0\nty1 = pointer ty0\nrec0 = struct \"struct list\" size ? align 1 { }\n";
    let other = "ty0 = int \"int\" 32 signed\nty1 = record rec0\n\
                 rec0 = struct \"struct list\" size 4 align 4 { \"next\" ty0 at 0 }\n";
    let with_use = |text: &str, ty: &str| {
        format!("{text}global g0 \"head\" {ty} size 8 align 8 internal = zero\n")
    };
    let two = vec![unit("a.c", &with_use(unknown, "ty1")), unit("b.c", &with_use(list, "ty1"))];
    let program = linked(two).program;
    assert_eq!(program.types.records.len(), 1);
    assert_eq!(program.types.records.values().next().unwrap().size, Some(8));
    let types: Vec<_> = program.globals.values().map(|global| global.ty).collect();
    assert_eq!(types[0], types[1]);
    let other = format!("{other}global g0 \"head\" ty1 size 4 align 4 internal = zero\n");
    let program = linked(vec![unit("a.c", &with_use(list, "ty1")), unit("b.c", &other)]).program;
    assert_eq!(program.types.records.len(), 2);
}

#[test]
fn a_library_gives_only_what_is_undefined_and_what_that_needs() {
    let user = INT.to_owned()
        + "function f0 \"used\" ty1 external ()\n"
        + "function f1 \"own\" ty1 external () { params () entry bb0 bb0: return 1:i32 }\n";
    let call = |name: &str, id: &str, callee: &str| {
        format!(
            "function {id} \"{name}\" ty1 external () {{ params () local v0 \"\" ty0 temp register \
             i32 entry bb0 bb0: s0: call {callee} ty1 () () -> v0 return v0 }}\n"
        )
    };
    let leaf = |name: &str, id: &str, linkage: &str| {
        format!(
            "function {id} \"{name}\" ty1 {linkage} () {{ params () entry bb0 \
             bb0: return 7:i32 }}\n"
        )
    };
    let library = INT.to_owned()
        + &call("used", "f0", "f1")
        + &leaf("inner", "f1", "internal")
        + &leaf("unused", "f2", "external")
        + &leaf("own", "f3", "external");
    let mut library = match text::parse(&library) {
        Ok(_) => unit("lib.c", &library),
        Err(error) => panic!("{error}\n{library}"),
    };
    library.role = Role::Library;
    let linked = linked(vec![unit("a.c", &user), library]);
    assert_eq!(names(&linked.program), ["used", "own", "inner@lib.c"]);
    let marked: Vec<bool> = linked.program.functions.values().map(|f| f.library).collect();
    assert_eq!(marked, [true, false, true]);
}

#[test]
fn a_weak_symbol_that_nothing_defines_has_the_address_null() {
    let text = "ty0 = int \"int\" 32 signed\nty1 = function ty0 ()\nty2 = pointer ty1\n\
                ty3 = function ty2 ()\n\
                global g0 \"table\" ty2 size 8 align 8 external = { 0: &f0 + 0 }\n\
                function f0 \"maybe\" ty1 external weak ()\n\
                function f1 \"get\" ty3 external () { params () entry bb0 bb0: return &f0 }\n";
    let mut program = linked(vec![unit("a.c", text)]).program;
    resolve_weak(&mut program);
    assert_eq!(verify(&program), []);
    let text = text::print(&program);
    assert!(text.contains("return e0: 0:ptr") || text.contains("return 0:ptr"), "{text}");
    assert!(!text.contains("&f0"), "{text}");
}
