//! The predicates that users read are C: each compiles where its objective stands, under clang and
//! gcc, and is true there exactly where it is judged to be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lydian_base::Rng;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_objective::{Annotators, Criterion, FunctionObjectives, Request};
use lydian_testkit::agreement::{Batch, Settings};
use lydian_testkit::cprogram::Features;
use lydian_testkit::oracle::{Subject, seeds};
use lydian_testkit::predicates::meaning::{Meaning, compare, random_tests};
use lydian_testkit::predicates::{checked, only_compiled, refusals};
use lydian_testkit::{agreement, cgen};

use crate::files::{c_files, root};

/// Every criterion. The mutants of augmentation are made as those of `wm` are, and left out.
fn criteria() -> Vec<Criterion> {
    let mut all = agreement::criteria();
    all.retain(|criterion| *criterion != Criterion::AugMutation);
    all
}

/// Every criterion, with few enough objectives of those that have many.
fn request() -> Request {
    Request { mcc_conditions: 6, paths: 50, ..Request::new(criteria()) }
}

/// The number of a file's predicates, and the compilers' messages about those that they reject.
fn compile(path: &Path, flags: &[String], compilers: &[&str]) -> (usize, Vec<String>) {
    let flags = CompileFlags::new(flags, path).expect("the flags are for C");
    let unit = lydian_frontend::load(&LoadRequest::new(ParseRequest::new(path, flags)));
    let unit = unit.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let request = request();
    let annotators = Annotators::new(&unit.program, &unit.source, &request);
    let own = unit
        .program
        .defined()
        .map(|(id, _)| annotators.function(id).expect("the function has a body").objectives);
    let objectives: Vec<FunctionObjectives> = own.collect();
    let checked = checked(&unit.program, &unit.source, &objectives, &|_, _| true, &only_compiled);
    let language: Vec<String> = unit.flags.for_parsing().map(str::to_owned).collect();
    let mut refused = Vec::new();
    for compiler in compilers {
        let found = refusals(compiler, &language, &checked);
        let found = found.unwrap_or_else(|said| panic!("{}: {compiler}: {said}", path.display()));
        for (number, message) in found {
            let (index, label) = checked.checks[number];
            let label = &objectives[index].labels[label];
            refused.push(format!("{compiler}: {}: {}: {message}", label.place, label.text));
        }
    }
    (checked.checks.len(), refused)
}

#[test]
fn every_predicate_of_the_examples_compiles_at_its_place() {
    let folders = ["examples", "examples/structures", "examples/table1"];
    let files = folders.iter().flat_map(|folder| c_files(folder));
    let (mut count, mut refused) = (0, Vec::new());
    // One is a driver that needs a program to count.
    for file in files.filter(|path| !path.ends_with("count_paths.c")) {
        let (own, messages) = compile(&file, &[], &["clang-19", "gcc"]);
        count += own;
        refused.extend(messages);
    }
    assert!(refused.is_empty(), "{} of {count}:\n{}", refused.len(), refused.join("\n"));
    assert!(count > 10_000, "only {count}");
}

/// Features of the programs below that gcc lacks: types, built-in functions and vectors of clang's.
const OF_CLANG_ALONE: [&str; 8] = [
    "atomics.c",
    "bit_integers.c",
    "builtins_of_all_kinds.c",
    "builtins_on_integers.c",
    "calls.c",
    "long_doubles.c",
    "vectors.c",
    "vectors_sse.c",
];

/// Predicates about values without a name in C: the labels of a computed `goto` as one object, and the
/// result of a call that was the bound of an array.
type IsNameless = fn(&str) -> bool;
const NAMELESS: [(&str, IsNameless); 2] = [
    ("jumps.c", |message| message.contains(".labels.")),
    ("arrays_of_variable_length.c", |message| {
        let mut words = message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|word| {
            let number = word.strip_prefix('v').unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    }),
];

#[test]
fn every_predicate_of_programs_with_all_of_c_compiles_at_its_place() {
    let (mut count, mut refused) = (0, Vec::new());
    for file in c_files("crates/frontend/tests/programs") {
        let name = file.file_name().and_then(|name| name.to_str()).expect("names are text");
        let compilers: &[&str] =
            if OF_CLANG_ALONE.contains(&name) { &["clang-19"] } else { &["clang-19", "gcc"] };
        let (own, messages) = compile(&file, &[], compilers);
        count += own;
        let nameless = NAMELESS.iter().filter(|(of, _)| *of == name);
        let nameless: Vec<IsNameless> = nameless.map(|(_, is_nameless)| *is_nameless).collect();
        let is_known = |message: &String| nameless.iter().any(|is_nameless| is_nameless(message));
        refused.extend(messages.into_iter().filter(|message| !is_known(message)));
    }
    assert!(refused.is_empty(), "{} of {count}:\n{}", refused.len(), refused.join("\n"));
    assert!(count > 40_000, "only {count}");
}

/// Where Cargo keeps the sources of a package that this workspace uses.
fn package(name: &str) -> PathBuf {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("there is a lock file");
    let lock: toml::Table = lock.parse().expect("it is TOML");
    let packages = lock["package"].as_array().expect("it has packages");
    let found = packages.iter().find(|package| package["name"].as_str() == Some(name));
    let version = found.and_then(|package| package["version"].as_str()).expect("it is locked");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.expect("Cargo has a home").join("registry/src");
    let registries = std::fs::read_dir(sources).expect("Cargo has fetched sources");
    let folders = registries.map(|registry| registry.expect("it can be read").path());
    let mut folders = folders.map(|registry| registry.join(format!("{name}-{version}")));
    folders.find(|folder| folder.is_dir()).expect("the package was fetched")
}

#[test]
fn every_predicate_of_a_library_compiles_at_its_place() {
    let folder = package("blake3").join("c");
    let (mut count, mut refused) = (0, Vec::new());
    for file in ["blake3.c", "blake3_portable.c"] {
        let (own, messages) = compile(&folder.join(file), &[], &["clang-19", "gcc"]);
        count += own;
        refused.extend(messages);
    }
    assert!(refused.is_empty(), "{} of {count}:\n{}", refused.len(), refused.join("\n"));
    assert!(count > 1_000, "only {count}");
}

fn assert_means(meaning: &Meaning, least: usize) {
    let Meaning { compared, covered, with_effects, tests, mismatches } = meaning;
    let shown: Vec<&str> = mismatches.iter().take(40).map(String::as_str).collect();
    assert!(
        mismatches.is_empty(),
        "{} disagreements of {compared} predicates ({covered} covered, {with_effects} with effects) \
         in {tests} tests:\n{}",
        mismatches.len(),
        shown.join("\n")
    );
    assert!(*compared >= least && *covered * 8 > *compared, "{meaning:?}");
}

#[test]
fn predicates_of_random_programs_mean_what_is_judged() {
    let settings = Settings { cases: 10, ..Settings::default() };
    let mut meaning = Meaning::default();
    for first in seeds(0..4) {
        let batch = Batch::new(first * 10, &settings, Features::All, false);
        let mut rng = Rng::new(first);
        let tests = batch.cases.iter().flat_map(|case| {
            let arguments: Vec<_> = (0..6).map(|_| case.arguments(&mut rng)).collect();
            arguments.into_iter().map(|arguments| case.test(&arguments))
        });
        meaning.merge(compare(&batch.subject, &tests.collect::<Vec<_>>()));
    }
    assert_means(&meaning, 20_000);
}

#[test]
fn predicates_over_all_number_types_mean_what_is_judged() {
    let mut meaning = Meaning::default();
    for (position, make) in [cgen::function, cgen::small_function].into_iter().enumerate() {
        let functions = seeds(0..20).map(|seed| make(&format!("f{seed}"), seed));
        let text: String = functions.collect();
        let subject = Subject::read_with(&text, &request());
        let tests = random_tests(&subject, 12, cgen::ARRAY_LENGTH, position as u64);
        meaning.merge(compare(&subject, &tests));
    }
    assert_means(&meaning, 20_000);
}

#[test]
fn predicates_of_the_examples_mean_what_is_judged() {
    let mut meaning = Meaning::default();
    let mut by_file = BTreeMap::new();
    for folder in ["examples", "examples/table1"] {
        for file in c_files(folder) {
            let text = std::fs::read_to_string(&file).expect("the file can be read");
            if text.contains("main(") || text.contains("#include \"") {
                continue;
            }
            let subject = Subject::read_with(&text, &request());
            let own = compare(&subject, &random_tests(&subject, 40, 16, 7));
            by_file.insert(file, own.compared);
            meaning.merge(own);
        }
    }
    assert!(by_file.len() >= 6, "{by_file:?}");
    let Meaning { mismatches, .. } = &meaning;
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}

/// Operators on numbers of all types, with constants at their limits.
#[test]
fn predicates_over_constants_at_limits_mean_what_is_judged() {
    let text = std::fs::read_to_string(root().join("crates/testkit/tests/predicates/numbers.c"))
        .expect("the file can be read");
    let subject = Subject::read_with(
        &text,
        &Request::new([
            Criterion::Wm,
            Criterion::Rte,
            Criterion::Bva,
            Criterion::Idc,
            Criterion::Bc,
            Criterion::Mcc,
        ]),
    );
    let meaning = compare(&subject, &random_tests(&subject, 60, 4, 3));
    assert_means(&meaning, 500);
}
