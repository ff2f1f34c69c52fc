//! Golden tests of the decoder: `tests/decode/*.c` against the text form of its tree beside it.
//!
//! `LYDIAN_BLESS=1 cargo test -p lydian-frontend --test decode` writes what is there now.

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
                if function.no_return {
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
