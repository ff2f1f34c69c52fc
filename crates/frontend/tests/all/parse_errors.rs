//! What happens when there is no tree: every failure is an error that says where and why.

use lydian_frontend::clang::{Clang, ClangError};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{FrontendError, ParseRequest, parse_unit};
use std::path::PathBuf;

/// The errors for a directory of files of which `a.c` is parsed.
fn errors(files: &[(&str, &str)], flags: &[&str]) -> Vec<(String, String)> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let words: Vec<String> = flags.iter().map(|word| (*word).to_owned()).collect();
    let source = directory.path().join("a.c");
    let flags = CompileFlags::new(&words, &source).unwrap();
    let error = parse_unit(&ParseRequest::new(source, flags)).unwrap_err();
    let FrontendError::Clang(ClangError::Rejected(diagnostics)) = error else {
        panic!("{error}");
    };
    let root = format!("{}/", directory.path().display());
    let shown = diagnostics.into_iter().map(|diagnostic| {
        let place = diagnostic.place.map_or_else(String::new, |place| place.to_string());
        (place.replace(&root, ""), diagnostic.message)
    });
    shown.collect()
}

fn error(place: &str, message: &str) -> (String, String) {
    (place.to_owned(), message.to_owned())
}

#[test]
fn a_syntax_error_is_shown_where_the_user_wrote_it() {
    let found = errors(&[("a.c", "/* first\n line */\nint f(void) {\n  return 1 +;\n}\n")], &[]);
    assert_eq!(found, [error("a.c:4:13", "expected expression")]);
}

#[test]
fn an_error_in_a_header_is_shown_in_the_header() {
    let files = [("a.c", "int x;\n#include \"h.h\"\nint y;\n"), ("h.h", "\nint z = missing;\n")];
    let found = errors(&files, &[]);
    assert_eq!(found, [error("h.h:2:9", "use of undeclared identifier 'missing'")]);
}

#[test]
fn an_error_in_a_label_comment_is_shown_at_the_comment() {
    let found = errors(&[("a.c", "int f(int a) {\n  //! bad: a > b\n  return a;\n}\n")], &[]);
    assert_eq!(found.len(), 1);
    assert!(found[0].0.starts_with("a.c:2:"), "{found:?}");
    assert_eq!(found[0].1, "use of undeclared identifier 'b'");
}

#[test]
fn an_error_directive_is_an_error() {
    let found = errors(&[("a.c", "#ifndef WANTED\n#error not wanted\n#endif\n")], &[]);
    assert_eq!(found, [error("a.c:2:2", "not wanted")]);
}

#[test]
fn what_other_compilers_only_warn_of_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("a.c");
    let text = "f(a) char *a; { undeclared(); int i = a; return \"x\"; }\nvoid g() { return 1; }\n";
    std::fs::write(&source, text).unwrap();
    let unit = parse_unit(&ParseRequest::new(source, CompileFlags::default())).unwrap();
    assert!(unit.ast.function_named("undeclared").is_some());
}

#[test]
fn flags_reach_the_preprocessor_and_the_parser() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("a.c");
    std::fs::create_dir(directory.path().join("inc")).unwrap();
    std::fs::write(directory.path().join("inc/h.h"), "typedef long wide;\n").unwrap();
    std::fs::write(&source, "#include <h.h>\nwide VALUE;\nint s = sizeof(wide);\n").unwrap();
    let words = ["-Iinc", "-DVALUE=named", "-m32", "-fno-such-flag"].map(str::to_owned);
    let flags = CompileFlags::new(&words, &source).unwrap().in_directory(directory.path());
    let unit = parse_unit(&ParseRequest::new(source, flags)).unwrap();
    let named = unit.ast.global_named("named").unwrap();
    assert_eq!(unit.ast.layout_of(unit.ast.vars[named].ty.ty).unwrap().size, 4);
    let size = unit.ast.vars[unit.ast.global_named("s").unwrap()].init.unwrap();
    assert_eq!(unit.ast.const_eval(size), Some(4));
    assert_eq!(unit.diagnostics.len(), 1);
    assert_eq!(unit.diagnostics[0].code, "unknown-flag");
}

#[test]
fn a_missing_source_is_an_error_with_its_name() {
    let request = ParseRequest::new("/no/such/a.c", CompileFlags::default());
    let error = parse_unit(&request).unwrap_err();
    assert!(matches!(error, FrontendError::Source { .. }));
    assert!(error.to_string().contains("/no/such/a.c"));
}

#[test]
fn a_clang_of_another_kind_is_an_error_and_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("a.c");
    std::fs::write(&source, "int x;\n").unwrap();
    let mut request = ParseRequest::new(source, CompileFlags::default());
    for program in ["/bin/true", "/bin/false", "/bin/cat", "/no/such/clang"] {
        request.clang = Some(Clang::at(PathBuf::from(program)));
        assert!(parse_unit(&request).is_err(), "{program}");
    }
}
