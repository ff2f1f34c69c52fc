//! Decodes C files that others wrote, wherever they are on this machine.
//!
//! `LYDIAN_REAL_C` lists files, separated by `:`, each optionally followed by `?` and its flags;
//! without it the sources in cargo's registry are looked for. Nothing that is found is no failure:
//! the constructs themselves are tested in `decode.rs`. The measurement of time is ignored by
//! default: `cargo test --release -p lydian-frontend --test all real_programs:: -- --ignored`.

use lydian_base::EntityId;
use lydian_frontend::ast::{ExprKind, StmtKind, TopLevel};
use lydian_frontend::ctypes::CType;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{ParseRequest, ParsedUnit, parse_unit};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Files of crates that bring C with them, as (crate, file, flags).
const KNOWN: &[(&str, &str, &str)] = &[
    ("lua-src-", "lua-5.4.7/lstrlib.c", ""),
    ("lua-src-", "lua-5.4.7/lparser.c", ""),
    ("bzip2-sys-", "bzip2-1.0.8/compress.c", ""),
    ("bzip2-sys-", "bzip2-1.0.8/decompress.c", ""),
    ("libz-sys-", "src/zlib/inflate.c", ""),
    ("tree-sitter-0", "src/parser.c", "-I include -I src"),
];

fn registry() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    let indices = sources.into_iter().flatten().flatten().map(|entry| entry.path());
    let crates = indices.filter_map(|index| std::fs::read_dir(index).ok()).flatten().flatten();
    let mut crates: Vec<PathBuf> = crates.map(|entry| entry.path()).collect();
    crates.sort();
    crates
}

fn find(name: &str, file: &str) -> Option<PathBuf> {
    let named = |path: &PathBuf| {
        let own = path.file_name().is_some_and(|own| own.to_string_lossy().starts_with(name));
        own && path.join(file).is_file()
    };
    registry().into_iter().find(named).map(|path| path.join(file))
}

fn parse(path: &Path, flags: &str) -> ParsedUnit {
    let words: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
    let flags = CompileFlags::new(&words, path).unwrap();
    let root = path.ancestors().find(|parent| parent.join("Cargo.toml").is_file());
    let flags = match root {
        Some(root) => flags.in_directory(root),
        None => flags,
    };
    parse_unit(&ParseRequest::new(path, flags)).unwrap_or_else(|error| {
        panic!("{}: {error}", path.display());
    })
}

/// Every construct of the user's files that is not modelled, with how often it occurs.
fn unsupported(unit: &ParsedUnit) -> BTreeMap<String, usize> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let ast = &unit.ast;
    for expr in ast.exprs.values() {
        match &expr.kind {
            ExprKind::Unsupported(kind) => *found.entry(kind.to_string()).or_default() += 1,
            ExprKind::TypeTrait { value: None, .. } => {
                *found.entry("sizeof ?".into()).or_default() += 1;
            }
            ExprKind::OffsetOf { value: None, variable: None } => {
                *found.entry("offsetof ?".into()).or_default() += 1;
            }
            _ => {}
        }
        if let CType::Unsupported(text) = ast.ty(expr.ty) {
            *found.entry(format!("type {text}")).or_default() += 1;
        }
    }
    for stmt in ast.stmts.values() {
        if let StmtKind::Unsupported(kind) = &stmt.kind {
            *found.entry(kind.to_string()).or_default() += 1;
        }
    }
    for record in ast.records.values() {
        if record.layout.is_none() && !record.fields.is_empty() {
            *found.entry(format!("layout of {}", record.display_name())).or_default() += 1;
        }
    }
    found
}

/// Spans lie in the text, and an operand's in its operator's.
fn check_spans(unit: &ParsedUnit) {
    let length = unit.source.text().len();
    for (id, expr) in unit.ast.exprs.iter() {
        assert!(expr.span.start <= expr.span.end && expr.span.end as usize <= length, "{id}");
        for operand in unit.ast.operands(id) {
            let inner = unit.ast.exprs[operand].span;
            assert!(operand.index() < id.index(), "{operand} is not decoded before {id}");
            let within = inner.is_none() || expr.span.is_none() || expr.span.contains(inner);
            assert!(within, "{operand} {inner:?} outside of {id} {:?}", expr.span);
        }
    }
}

/// Every layout of a record that has a name at file scope, against a run of the compiler of its
/// own that checks them as static assertions.
fn check_layouts(unit: &ParsedUnit) {
    let mut program = unit.source.text().to_string();
    for item in &unit.ast.top_level {
        let TopLevel::Record(id) = *item else { continue };
        let record = &unit.ast.records[id];
        let Some(layout) = record.layout else { continue };
        let ty = record.display_name();
        // A typedef may ask for a larger alignment than the record that has its name.
        let aligned = unit.ast.typedefs.values().any(|t| *t.name == ty && t.alignment.is_some());
        if aligned || (record.tag.is_none() && record.typedef_name.is_none()) {
            continue;
        }
        writeln!(program, "_Static_assert(sizeof({ty}) == {}, \"\");", layout.size).unwrap();
        writeln!(program, "_Static_assert(_Alignof({ty}) == {}, \"\");", layout.align).unwrap();
        for field in record.fields.iter().filter(|field| field.bit_width.is_none()) {
            let Some(name) = &field.name else { continue };
            let check = format!("__builtin_offsetof({ty}, {name}) == {}", field.byte_offset());
            writeln!(program, "_Static_assert({check}, \"\");").unwrap();
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.i");
    std::fs::write(&path, program).unwrap();
    let mut clang = Command::new("clang-19");
    clang.args(["-fsyntax-only", "-w", "-Wno-everything"]).args(unit.flags.for_parsing());
    assert!(clang.arg(path).status().unwrap().success());
}

#[test]
fn real_programs_are_decoded_with_nothing_left_out() {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    match std::env::var("LYDIAN_REAL_C") {
        Ok(list) => files.extend(list.split(':').map(|entry| {
            let (path, flags) = entry.split_once('?').unwrap_or((entry, ""));
            (PathBuf::from(path), flags.to_owned())
        })),
        Err(_) => files.extend(KNOWN.iter().filter_map(|(name, file, flags)| {
            find(name, file).map(|path| (path, (*flags).to_owned()))
        })),
    }
    for (path, flags) in files {
        let unit = parse(&path, &flags);
        let left = unsupported(&unit);
        assert!(left.is_empty(), "{}: {left:#?}", path.display());
        assert!(!unit.ast.top_level.is_empty(), "{}", path.display());
        check_spans(&unit);
        check_layouts(&unit);
    }
}

#[test]
#[ignore = "takes seconds, and its time only means something in a release build on an idle machine"]
fn sqlites_amalgamation_is_decoded_in_six_seconds() {
    let Some(path) = find("libsqlite3-sys-", "sqlite3/sqlite3.c") else { return };
    let start = Instant::now();
    let unit = parse(&path, "");
    let time = start.elapsed();
    let left = unsupported(&unit);
    assert!(left.is_empty(), "{left:#?}");
    check_spans(&unit);
    check_layouts(&unit);
    assert!(unit.ast.defined_functions().count() > 2000);
    assert!(time < Duration::from_secs(6), "it took {time:?}");
}
