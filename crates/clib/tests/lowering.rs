//! The library passes the front end.

use lydian_clib::{FILE_PREFIX, Library};
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
