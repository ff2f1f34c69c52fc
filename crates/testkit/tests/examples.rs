//! The example programs and the list of functions for the evaluation are what they promise to be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies in crates/testkit")
        .to_path_buf()
}

fn c_files(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .expect("the folder of examples exists")
        .map(|entry| entry.expect("an entry can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    found.sort();
    found
}

#[test]
fn every_example_compiles_without_a_warning() {
    let mut examples = c_files("examples");
    examples.extend(c_files("examples/table1"));
    examples.extend(c_files("examples/structures"));
    // The driver of scripts/count-paths needs a program to count.
    examples.retain(|path| !path.ends_with("count_paths.c"));
    assert!(examples.len() >= 16, "found only {examples:?}");
    for path in examples {
        let output = Command::new("clang-19")
            .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-fsyntax-only"])
            .arg(&path)
            .output()
            .expect("clang-19 runs; `make setup` installs it");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{}: {said}", path.display());
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Evaluation {
    library: std::collections::BTreeMap<String, Library>,
    function: Vec<Function>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Library {
    flags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Function {
    library: String,
    file: String,
    function: String,
    #[serde(rename = "static")]
    is_static: bool,
    traits: BTreeSet<String>,
    needs: String,
}

#[test]
fn the_evaluation_covers_every_trait_with_functions_of_libraries_that_can_be_fetched() {
    let text = std::fs::read_to_string(root().join("examples/real-c.toml")).expect("it exists");
    let evaluation: Evaluation = toml::from_str(&text).expect("it has the fields it describes");
    let listing = Command::new(root().join("scripts/real-c"))
        .arg("--list")
        .output()
        .expect("scripts/real-c runs");
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let fetchable: BTreeSet<&str> =
        listing.lines().filter_map(|line| line.split_whitespace().next()).collect();

    let described: BTreeSet<&str> = evaluation.library.keys().map(String::as_str).collect();
    let unknown: Vec<_> = described.difference(&fetchable).collect();
    assert!(unknown.is_empty(), "the script cannot fetch {unknown:?}");
    assert!(evaluation.library.values().all(|library| !library.flags.is_empty()));

    let mut named = BTreeSet::new();
    let mut used = BTreeSet::new();
    let mut traits = BTreeSet::new();
    for function in &evaluation.function {
        let name = (&function.library, &function.file, &function.function);
        assert!(named.insert(name), "{name:?} is listed twice");
        assert!(
            described.contains(function.library.as_str()),
            "{name:?} is of no library of the list"
        );
        assert!(!function.needs.is_empty(), "{name:?} does not say its needs");
        assert_eq!(function.is_static, function.traits.contains("static"), "{name:?}");
        used.insert(&function.library);
        traits.extend(function.traits.iter().map(String::as_str));
    }
    assert!(named.len() >= 12 && used.len() >= 5);
    for wanted in [
        "string",
        "bits",
        "float",
        "struct-pointer",
        "array-with-length",
        "state-machine",
        "static",
        "callback",
        "allocates",
    ] {
        assert!(traits.contains(wanted), "no function has the trait {wanted}");
    }
}
