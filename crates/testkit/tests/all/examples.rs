//! The example programs, the programs of the page of criteria, and the list of functions for the
//! evaluation have the promised properties.

use std::collections::BTreeSet;
use std::process::Command;

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_objective::{Annotators, Criterion, FunctionObjectives, HtolFile, Request};
use serde::Deserialize;

use crate::files::{c_files, root};

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

/// A criterion as `docs/criteria.md` describes it.
struct CriterionSection {
    /// The heading, which is the criterion's name.
    name: String,
    /// The program above it.
    example: String,
    /// The numbers of objectives and of duplicates that it claims.
    counts: (usize, usize),
}

/// The number before a word: 3 in `3 objectives` for `objective`.
fn number_before(text: &str, word: &str) -> Option<usize> {
    text.split_once(&format!(" {word}"))?.0.rsplit([' ', '(']).next()?.parse().ok()
}

/// The sections of the page. The line that begins with `In the example:` has the counts.
fn described(page: &str) -> Vec<CriterionSection> {
    let (mut found, mut example, mut heading) = (Vec::new(), String::new(), None);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == "```c" {
            let code = lines.by_ref().take_while(|line| *line != "```");
            example = code.flat_map(|line| [line, "\n"]).collect();
        } else if let Some(name) = line.strip_prefix("### ") {
            assert!(heading.is_none(), "{heading:?} has no count");
            heading = Some(name.to_owned());
        } else if let Some(counts) = line.strip_prefix("In the example: ") {
            let name = heading.take().expect("a count stands below the heading of its criterion");
            let objectives = number_before(counts, "objective").expect("it says how many");
            let duplicates = number_before(counts, "duplicate").unwrap_or(0);
            let example = example.clone();
            found.push(CriterionSection { name, example, counts: (objectives, duplicates) });
        }
    }
    assert!(heading.is_none(), "{heading:?} has no count");
    found
}

/// The numbers of objectives and of duplicates in a function.
fn count(objectives: &FunctionObjectives, criterion: Criterion) -> (usize, usize) {
    let labels = objectives.criteria.get(&criterion).into_iter().flatten();
    let hypers = objectives.hyper_criteria.get(&criterion).into_iter().flatten();
    let labels = labels.map(|entry| entry.duplicate_of.is_some());
    let all = labels.chain(hypers.map(|entry| entry.duplicate_of.is_some()));
    let (duplicates, own): (Vec<bool>, Vec<bool>) = all.partition(|is_duplicate| *is_duplicate);
    (own.len(), duplicates.len())
}

/// The same for all functions of a text, with the objectives of its comments.
fn count_of_text(text: &str, criterion: Criterion) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("example.c");
    std::fs::write(&file, text).expect("a temporary file can be written");
    let request = LoadRequest::new(ParseRequest::new(&file, CompileFlags::default()));
    let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
    let (comments, wrong) = HtolFile::of_comments(&unit.program, &unit.written);
    assert!(wrong.is_empty(), "{wrong:?}");
    let request = Request { htol: vec![comments], ..Request::new([criterion]) };
    let annotators = Annotators::new(&unit.program, &unit.source, &request);
    let functions = unit.program.defined().map(|(id, _)| {
        let annotation = annotators.function(id).expect("the function has a body");
        assert!(annotation.diagnostics.is_empty(), "{:?}", annotation.diagnostics);
        count(&annotation.objectives, criterion)
    });
    functions.fold((0, 0), |(own, more), (o, d)| (own + o, more + d))
}

#[test]
fn the_page_of_criteria_counts_the_objectives_of_its_examples() {
    let page = std::fs::read_to_string(root().join("docs/criteria.md")).expect("the page exists");
    let described = described(&page);
    let names: Vec<&str> = described.iter().map(|section| section.name.as_str()).collect();
    let of_labels = Criterion::ALL.iter().filter(|(criterion, _)| !criterion.is_strong());
    let mut expected: Vec<&str> = of_labels.map(|(_, name)| *name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected, "left: the page's sections; right: all criteria");

    let mut wrong = Vec::new();
    for CriterionSection { name, example, counts } in &described {
        let criterion: Criterion = name.parse().expect("the heading is a criterion's name");
        let found = count_of_text(example, criterion);
        if found != *counts {
            wrong.push(format!("{name}: the page says {counts:?}, there are {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
