//! The library passes the front end.

use lydian_clib::{FILE_PREFIX, Library, Purpose};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::libc::{Family, Source, UNMODELLED, library_function};
use lydian_ir::link::{LinkUnit, Role};
use lydian_ir::verify::verify;
use lydian_ir::{CType, Linkage};

#[test]
fn the_library_is_lowered_whole_and_well_formed() {
    let library = Library::lower(&Default::default()).unwrap();
    let left_out: Vec<String> = library
        .diagnostics
        .iter()
        .filter(|found| {
            // The front end may not know long double on this target.
            let place = found.place.as_ref().map_or("", |place| &*place.file);
            place != format!("{FILE_PREFIX}long_double.c")
        })
        .map(|found| format!("{:?}: {}", found.place, found.message))
        .collect();
    assert_eq!(left_out, Vec::<String>::new());
    let program = &library.unit().program;
    assert_eq!(verify(program), []);
    for name in ["printf", "sscanf", "strtod", "qsort", "fopen", "strftime", "exit", "rand"] {
        let function = program.function_named(name).map(|id| &program.functions[id]);
        assert!(function.is_some_and(|function| function.body.is_some()), "{name}");
    }
}

#[test]
fn the_library_defines_what_the_table_says_that_it_does() {
    let library = Library::lower(&Default::default()).unwrap();
    let program = &library.unit().program;
    for row in UNMODELLED {
        let function = program.function_named(row.name).map(|id| &program.functions[id]);
        let is_defined = function.is_some_and(|function| function.body.is_some());
        assert_eq!(is_defined, matches!(row.source, Source::C(_)), "{}", row.name);
    }
    for (_, function) in program.defined() {
        let name = function.name.as_str();
        let is_internal = name.starts_with("lydian_") || name.starts_with("__lydian_");
        let is_known = library_function(name).is_some_and(|row| row.name == name);
        let is_of_table = function.linkage != Linkage::External || is_internal || is_known;
        assert!(is_of_table, "{name} is not in the table of library functions");
    }
}

#[test]
fn functions_on_memory_write_through_the_pointers_that_let_them() {
    let library = Library::lower(&Default::default()).unwrap();
    let program = &library.unit().program;
    let types = &program.types;
    let rows = UNMODELLED.iter().filter(|row| row.family == Family::Memory);
    let mut compared = 0;
    for row in rows {
        let function = program.function_named(row.name).expect("the library defines it");
        let CType::Function { params, .. } = types.get(program.functions[function].ty) else {
            panic!("{} is a function", row.name);
        };
        let lets_write = |ty| matches!(types.get(ty), CType::Pointer { to_const: false, .. });
        let open = (0..params.len()).filter(|at| lets_write(params[*at])).collect::<Vec<_>>();
        let written = row.effects.expect("its effects are known").writes;
        assert_eq!(open, written.positions().collect::<Vec<_>>(), "{}", row.name);
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

/// What a program gets that calls these functions.
fn given(calls: &str, purpose: Purpose) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.c");
    let text =
        format!("#include <stdio.h>\n#include <stdlib.h>\nint f(char *s) {{ return {calls}; }}\n");
    std::fs::write(&path, text).unwrap();
    let unit = load(&LoadRequest::new(ParseRequest::new(&path, CompileFlags::default()))).unwrap();
    let library = Library::lower(&CompileFlags::default()).unwrap();
    let Unit { program, source, .. } = unit;
    let unit = LinkUnit { name: "a.c".to_owned(), program, source, role: Role::Part };
    let linked = library.link(vec![unit], purpose).unwrap();
    assert_eq!(verify(&linked.program), []);
    let library = linked.program.functions.values().filter(|function| function.library);
    library.map(|function| function.name.clone()).collect()
}

#[test]
fn an_exploration_gets_what_writes_through_pointers_and_a_run_all() {
    let calls = "(int)strtol(s, &s, 10) + printf(\"%s\", s)";
    let explored = given(calls, Purpose::Explore);
    assert!(explored.contains(&"strtol".to_owned()) && !explored.contains(&"printf".to_owned()));
    let run = given(calls, Purpose::Run);
    for name in ["strtol", "printf", "exit"] {
        assert!(run.contains(&name.to_owned()), "{name} is missing: {run:?}");
    }
    assert!(!run.contains(&"sscanf".to_owned()), "{run:?}");
}
