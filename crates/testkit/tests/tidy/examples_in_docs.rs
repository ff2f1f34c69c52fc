//! Examples in the documentation of items are tested.
//!
//! Cargo reads a crate once more to look for such examples. Manifests of crates that have none say
//! `doctest = false`, which saves that.

use super::{assert_none, root, shown, text_of, with_extension};

/// Whether Cargo leaves out the examples of a crate.
fn leaves_out_examples(name: &str) -> bool {
    let text = text_of(&root().join("crates").join(name).join("Cargo.toml"));
    let manifest: toml::Table = text.parse().expect("a manifest is TOML");
    let library = manifest.get("lib").and_then(toml::Value::as_table);
    library.and_then(|library| library.get("doctest")?.as_bool()) == Some(false)
}

/// The lines, numbered from 1, at which documentation opens a block of Rust: one that names no
/// language, or Rust, or an attribute of a test.
fn examples(text: &str) -> Vec<usize> {
    const OF_RUST: [&str; 6] =
        ["", "rust", "no_run", "should_panic", "compile_fail", "edition2024"];
    let mut is_open = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let documentation = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = documentation.and_then(|rest| rest.trim().strip_prefix("```")) else {
            continue;
        };
        let first = language.split([',', ' ']).next().unwrap_or("");
        if !is_open && OF_RUST.contains(&first) {
            found.push(index + 1);
        }
        is_open = !is_open;
    }
    found
}

#[test]
fn each_example_in_the_documentation_is_tested() {
    let mut faults = Vec::new();
    for path in with_extension("rs") {
        let place = shown(&path);
        let Some((name, _)) =
            place.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"))
        else {
            continue;
        };
        if leaves_out_examples(name) {
            let lines = examples(&text_of(&path)).into_iter();
            faults.extend(lines.map(|line| format!("{place}:{line}")));
        }
    }
    assert_none("examples in crates whose manifest says `doctest = false`", &faults);
}

#[test]
fn an_example_is_found_by_its_language() {
    let text = "/// ```\n/// f();\n/// ```\n//! ```text\n//! f\n//! ```\n/// ```no_run\n/// ```\n";
    assert_eq!(examples(text), [1, 7]);
}
