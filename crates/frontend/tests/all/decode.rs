//! Golden tests of the decoder: `tests/decode/*.c` against the text form of its tree beside it.
//!
//! `LYDIAN_BLESS=1 cargo test -p lydian-frontend --test all decode::` writes what is there now.

use lydian_frontend::ast::{TopLevel, TranslationUnit};
use lydian_frontend::ctypes::QualType;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{ParseRequest, ParsedUnit, parse_unit};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn parse(path: &Path) -> ParsedUnit {
    parse_unit(&ParseRequest::new(path, CompileFlags::default())).unwrap()
}

/// Everything that the user's file declares, in the order of the text.
fn dump(unit: &ParsedUnit) -> String {
    let ast = &unit.ast;
    let mut out = String::new();
    for item in &ast.top_level {
        match *item {
            TopLevel::Function(id) if !ast.functions[id].in_system_header => {
                let function = &ast.functions[id];
                if function.specifiers.no_return {
                    out.push_str("noreturn ");
                }
                out.push_str(&ast.dump_function(id));
            }
            TopLevel::Var(id) if !ast.vars[id].in_system_header => {
                out.push_str(&ast.dump_var(id));
            }
            TopLevel::Record(id) if !ast.records[id].in_system_header => record(ast, id, &mut out),
            TopLevel::Enum(id) if !ast.enums[id].in_system_header => {
                let decl = &ast.enums[id];
                let ty = decl.underlying.map(QualType::plain);
                let ty = ty.map_or("incomplete".into(), |ty| ast.types.display(ty).to_string());
                let tag = decl.tag.as_deref().unwrap_or("(anonymous)");
                writeln!(out, "{id} enum {tag}: {ty}").unwrap();
                for constant in &decl.constants {
                    let constant = &ast.enum_constants[*constant];
                    let ty = ast.types.display(constant.ty);
                    writeln!(out, "  {} = {}: {ty}", constant.name, constant.value).unwrap();
                }
            }
            TopLevel::Typedef(id) if !ast.typedefs[id].in_system_header => {
                let decl = &ast.typedefs[id];
                let ty = ast.types.display(decl.ty);
                writeln!(out, "typedef {}: {ty} as {}", decl.name, decl.written).unwrap();
            }
            _ => {}
        }
    }
    out
}

fn record(ast: &TranslationUnit, id: lydian_frontend::ast::RecordId, out: &mut String) {
    let decl = &ast.records[id];
    let layout = decl.layout.unwrap();
    let name = decl.display_name();
    writeln!(out, "{id} {name}: size {} align {}", layout.size, layout.align).unwrap();
    for field in &decl.fields {
        let name = field.name.as_deref().unwrap_or("(anonymous)");
        let width = field.bit_width.map_or_else(String::new, |width| format!(" : {width}"));
        let ty = ast.types.display(field.ty);
        writeln!(out, "  bit {} {name}{width}: {ty}", field.bit_offset).unwrap();
    }
}

fn golden(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/decode").join(name);
    let found = dump(&parse(&path));
    let expected_path = path.with_extension("expected");
    if std::env::var_os("LYDIAN_BLESS").is_some() {
        std::fs::write(&expected_path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
    similar_asserts::assert_eq!(expected: expected, found: found);
}

#[test]
fn control_flow_is_decoded() {
    golden("control.c");
}

#[test]
fn expressions_are_decoded() {
    golden("expressions.c");
}

#[test]
fn types_and_declarations_are_decoded() {
    golden("types.c");
}

#[test]
fn redeclarations_and_local_declarations_are_decoded() {
    golden("declarations.c");
}

fn parse_text(text: &str) -> ParsedUnit {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.c");
    std::fs::write(&path, text).unwrap();
    parse(&path)
}

#[test]
fn integer_constant_expressions_fold_as_clang_folds_them() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/decode/declarations.c");
    let unit = parse(&path);
    let ast = &unit.ast;
    let init = ast.vars[ast.global_named("folded").unwrap()].init.unwrap();
    let values: Vec<Option<i128>> =
        ast.operands(init).into_iter().map(|element| ast.const_eval(element)).collect();
    // The same elements as conditions that the compiler checks.
    let mut program = std::fs::read_to_string(&path).unwrap();
    let elements = program.split_once("folded[] = {").unwrap().1.split_once("};").unwrap().0;
    let mut depth = 0;
    let split = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    let elements: Vec<String> = elements.split(split).map(str::trim).map(str::to_owned).collect();
    let elements = elements.iter().filter(|element| !element.is_empty());
    for (number, (element, value)) in elements.zip(&values).enumerate() {
        let value = value.unwrap_or_else(|| panic!("`{element}` does not fold"));
        writeln!(program, "int check{number}[(int)({element}) == {value} ? 1 : -1];").unwrap();
    }
    assert_eq!(values.len(), 16);
    parse_text(&program);
}

#[test]
fn record_layouts_are_the_compilers() {
    let mut checks = 0;
    for name in ["types.c", "declarations.c", "expressions.c"] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/decode").join(name);
        let unit = parse(&path);
        let mut program = std::fs::read_to_string(&path).unwrap();
        for item in &unit.ast.top_level {
            let TopLevel::Record(id) = *item else { continue };
            let record = &unit.ast.records[id];
            if record.in_system_header {
                continue;
            }
            let (ty, layout) = (record.display_name(), record.layout.unwrap());
            writeln!(program, "_Static_assert(sizeof({ty}) == {}, \"\");", layout.size).unwrap();
            writeln!(program, "_Static_assert(_Alignof({ty}) == {}, \"\");", layout.align).unwrap();
            for field in record.fields.iter().filter(|field| field.bit_width.is_none()) {
                let Some(field_name) = &field.name else { continue };
                let offset = field.byte_offset();
                let check = format!("__builtin_offsetof({ty}, {field_name}) == {offset}");
                writeln!(program, "_Static_assert({check}, \"\");").unwrap();
                checks += 1;
            }
        }
        // Not through the decoder: its own run of clang must not be able to hide a fault.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.c");
        std::fs::write(&path, program).unwrap();
        let status = std::process::Command::new("clang-19")
            .args(["-fsyntax-only", "-w"])
            .arg(&path)
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
    }
    assert!(checks > 15, "{checks}");
}

#[test]
fn an_expression_of_a_thousand_operands_is_decoded() {
    let terms = 1_000;
    let text = format!("int f(int a) {{ return a{}; }}\n", " + 1".repeat(terms));
    let unit = parse_text(&text);
    let body = unit.ast.functions[unit.ast.function_named("f").unwrap()].body;
    assert!(body.is_some() && unit.ast.exprs.len() > 2 * terms);
}

#[test]
fn functions_of_system_headers_have_no_bodies_and_the_users_have() {
    let unit = parse_text("#include <stdlib.h>\nint f(const char *s) { return atoi(s); }\n");
    let ast = &unit.ast;
    let [f, atoi] = ["f", "atoi"].map(|name| &ast.functions[ast.function_named(name).unwrap()]);
    assert!(f.body.is_some() && !f.in_system_header);
    assert!(atoi.body.is_none() && atoi.in_system_header && !atoi.is_builtin);
}

#[test]
fn a_span_is_the_users_text_and_leads_to_the_users_place() {
    let text = "#define TWICE(x) ((x) * 2)\nint f(int a) {\n  return TWICE(a) + 7;\n}\n";
    let unit = parse_text(text);
    let function = &unit.ast.functions[unit.ast.function_named("f").unwrap()];
    assert_eq!(unit.source.slice(function.name_span), "f");
    assert!(unit.source.slice(function.span).starts_with("int f(int a) {"));
    let seven = unit.ast.exprs.values().find(|expr| unit.source.slice(expr.span) == "7").unwrap();
    assert_eq!(unit.source.place(seven.span.start).line, 3);
    let sum = unit.ast.exprs.values().find(|e| unit.source.slice(e.span) == "((a) * 2) + 7");
    assert!(sum.is_some());
}

#[test]
fn a_label_is_a_call_whatever_the_type_of_its_predicate() {
    let text = "int f(double d, void *p, char c) {\n  //! double: d\n  //! pointer: p\n  \
                lydian_label(\"char\", c);\n  return 0;\n}\n";
    let unit = parse_text(text);
    let label = unit.ast.function_named("lydian_label").unwrap();
    let calls = unit.ast.exprs.values().filter(|expr| match &expr.kind {
        lydian_frontend::ast::ExprKind::Call { callee, .. } => {
            unit.ast.direct_callee(*callee) == Some(label)
        }
        _ => false,
    });
    let lines: Vec<u32> = calls.map(|call| unit.source.place(call.span.start).line).collect();
    assert_eq!(lines, [2, 3, 4]);
}
