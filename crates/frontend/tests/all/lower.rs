//! Golden tests of lowering: the IR's text of small C files, beside them. `LYDIAN_BLESS=1` rewrites
//! the expected texts.

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn unit(path: &Path) -> Unit {
    let flags = CompileFlags::new(&["-std=gnu17".to_owned()], path).unwrap();
    load(&LoadRequest::new(ParseRequest::new(path, flags))).unwrap()
}

fn golden_files() -> Vec<PathBuf> {
    crate::c_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"))
}

/// The program without places of the machine, the diagnostics, and the texts of the sites.
fn rendered(unit: &Unit) -> String {
    let mut text = String::new();
    for diagnostic in &unit.diagnostics {
        let line = diagnostic.place.as_ref().map_or(0, |place| place.line);
        writeln!(text, "; line {line}: {}: {}", diagnostic.code, diagnostic.message).unwrap();
    }
    for (_, function) in unit.program.defined() {
        let body = function.body.as_ref().unwrap();
        let printed = without_places(&lydian_ir::text::print_body(body));
        writeln!(text, "\n{}\n{printed}", function.name).unwrap();
        for root in body.source.roots.values() {
            let watched = if root.rewritable { "" } else { ", not rewritable" };
            let captures: Vec<_> = root
                .captures
                .iter()
                .map(|capture| format!("{} = `{}`", capture.temp, unit.source.slice(capture.span)))
                .collect();
            writeln!(
                text,
                "; root `{}` {:?} at {:?} captures [{}]{watched}",
                unit.source.slice(root.span),
                root.kind,
                root.point,
                captures.join(", ")
            )
            .unwrap();
        }
        for site in &body.source.decisions {
            let conditions: Vec<_> =
                site.conditions.iter().map(|span| unit.source.slice(*span)).collect();
            let whole = unit.source.slice(site.span);
            writeln!(text, "; {} `{whole}` of {conditions:?}", site.decision).unwrap();
        }
        for site in &body.source.marks {
            let statement = unit.source.slice(site.span).replace('\n', " ");
            writeln!(text, "; {} {:?} `{statement}`", site.mark, site.style).unwrap();
        }
    }
    text
}

/// The text of a body without its source section and without offsets, which depend on where the
/// file lies. What the source section says is printed as texts instead.
fn without_places(printed: &str) -> String {
    let mut lines = Vec::new();
    let mut in_source = false;
    for line in printed.lines() {
        in_source |= line.starts_with("  source @");
        if !in_source {
            let words = line.split(' ').filter(|word| !word.starts_with('@'));
            lines.push(words.collect::<Vec<_>>().join(" "));
        }
        in_source &= line != "  }";
    }
    lines.join("\n")
}

#[test]
fn c_files_lower_to_the_text_beside_them() {
    let bless = std::env::var_os("LYDIAN_BLESS").is_some();
    let files = golden_files();
    assert!(!files.is_empty());
    for path in files {
        let actual = rendered(&unit(&path));
        let expected_path = path.with_extension("ir");
        if bless {
            std::fs::write(&expected_path, &actual).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        similar_asserts::assert_eq!(expected, actual, "{}", path.display());
    }
}

#[test]
fn an_index_is_extended_from_the_32_bits_that_a_pointer_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("narrow.c");
    std::fs::write(&path, "int read(int **p, long i) { return (*p)[i]; }\n").unwrap();
    let flags = CompileFlags::new(&["-m32".to_owned()], &path).unwrap();
    let unit = load(&LoadRequest::new(ParseRequest::new(&path, flags))).unwrap();
    let text = rendered(&unit);
    assert_eq!(unit.program.types.target, lydian_ir::Target::I386);
    assert!(text.contains("index 4(load ptr(v0), sext i64(v1))"), "{text}");
    assert_eq!(unit.diagnostics, []);
}

#[test]
fn a_function_with_a_type_that_is_too_wide_is_refused_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.c");
    let text = "int wide(_BitInt(200) x) { return x > 5; }\n\
                int counts(unsigned _BitInt(9) x) { return __builtin_popcountg(x); }\n\
                int narrow(_BitInt(128) x) { return x > 5; }\n";
    std::fs::write(&path, text).unwrap();
    let unit = unit(&path);
    let found: Vec<_> = unit
        .diagnostics
        .iter()
        .map(|d| (d.place.as_ref().map_or(0, |place| place.line), d.message.as_str()))
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].0 == 1 && found[0].1.contains("_BitInt(200)"), "{found:?}");
    assert!(found[1].0 == 2 && found[1].1.contains("builtin on a `_BitInt`"), "{found:?}");
    let defined: Vec<_> = unit.program.defined().map(|(_, f)| f.name.as_str()).collect();
    assert_eq!(defined, ["narrow"]);
}

#[test]
fn an_array_whose_bound_names_what_a_later_declarator_hides_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hidden.c");
    let text = "int hidden(int n) { { int a[n], n = 2; return sizeof a + n; } }\n\
                int plain(int n) { { int a[n], m = 2; return sizeof a + m; } }\n";
    std::fs::write(&path, text).unwrap();
    let unit = unit(&path);
    let lines: Vec<_> =
        unit.diagnostics.iter().filter_map(|d| d.place.as_ref()).map(|place| place.line).collect();
    assert_eq!(lines, [1]);
}

#[test]
fn an_outline_has_the_decisions_and_statements_of_a_function_and_its_gaps_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outline.c");
    let text = "int f(int a, __float128 x) {\n\
                \x20 __float128 y = a ? x : 1;\n\
                \x20 if (a > 1 && y > x) return 1;\n\
                \x20 while (a-- && (y = y + 1) > 2) a += ({ int r = a; if (r) y++; r; });\n\
                \x20 return a;\n\
                }\n\
                int g(int a) { return a; }\n";
    std::fs::write(&path, text).unwrap();
    let flags = CompileFlags::new(&[], &path).unwrap();
    let mut request = LoadRequest::new(ParseRequest::new(&path, flags));
    assert!(load(&request).unwrap().outlines.is_empty(), "nobody asked for them");
    request.lowering.outlines = true;
    let unit = load(&request).unwrap();
    let f = unit.program.function_named("f").unwrap();
    assert_eq!(unit.outlines.keys().copied().collect::<Vec<_>>(), [f]);
    assert!(unit.left_out.is_empty() && unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
    let lines = unit.outlines[&f].iter().map(|gap| unit.source.place(gap.span.start).line);
    let lines: Vec<u32> = lines.collect();
    assert!(lines.is_sorted() && lines.first() == Some(&2) && lines.contains(&4), "{lines:?}");
    let body = unit.program.functions[f].body.as_ref().unwrap();
    let texts: Vec<&str> =
        body.decisions.values().map(|decision| unit.source.slice(decision.span)).collect();
    assert_eq!(texts, ["a", "a > 1 && y > x", "a-- && (y = y + 1) > 2", "r"]);
    let conditions: usize = body.decisions.values().map(|d| d.conditions.len()).sum();
    assert_eq!(conditions, 6);
    let statements =
        body.marks.values().filter(|mark| mark.kind == lydian_ir::MarkKind::Statement).count();
    assert_eq!(statements, 10, "y, if, return, while, a +=, r, if, y++, r, return");
}
