//! The library passes the front end.

use lydian_clib::{FILE_PREFIX, Library, Purpose};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::link::{LinkUnit, Role};
use lydian_ir::verify::verify;

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
