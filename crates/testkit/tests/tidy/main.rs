//! Checks of the repository that lints cannot make: links, lists, places, sizes.
//!
//! Every check reads the work tree and reports all that it finds at once, one line each, so that a
//! failure can be mended in one go. What a check leaves out is said where it is left out, with
//! the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod examples_in_docs;
mod layout;
mod prose;
mod references;
mod structure;

/// Longest Rust file, in lines. A file should be about one subject.
const LONGEST_RUST_FILE: usize = 900;

/// Directories that are made by tools and are no part of the repository.
const NOT_OURS: [&str; 3] = ["target", ".git", "mutants.out"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies in crates/testkit")
        .to_path_buf()
}

/// All files of the repository, in order.
fn files() -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(dir)
            .expect("a directory of the repository can be listed")
            .map(|entry| entry.expect("an entry can be read").path())
            .collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if NOT_OURS.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), &mut found);
    found
}

fn with_extension(extension: &str) -> Vec<PathBuf> {
    files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

/// The path from the repository's root, as it is shown in a failure.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", shown(path)))
}

fn assert_none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{what}:\n  {}", faults.join("\n  "));
}

/// The lines of a Markdown text that are prose, numbered from 1, with code spans taken out: what
/// looks like a link in code is none.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            let outside: Vec<&str> = line.split('`').step_by(2).collect();
            lines.push((index + 1, outside.join("`")));
        }
    }
    lines
}

/// The targets of the inline links of a line: what stands in `](…)`.
fn links(line: &str) -> Vec<&str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split_whitespace().next().unwrap_or(""))
        .collect()
}

/// The anchors of a Markdown file's headings, made as code hosts make them.
fn anchors(path: &Path) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text_of(path).lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let anchor = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            found.insert(anchor);
        }
    }
    found
}

#[test]
fn every_link_in_the_docs_leads_somewhere() {
    let mut faults = Vec::new();
    for path in with_extension("md") {
        let folder = path.parent().expect("a file lies in a folder");
        for (number, line) in prose(&text_of(&path)) {
            for link in links(&line) {
                if link.contains("://") || link.starts_with("mailto:") {
                    continue; // not ours to keep, and a test asks no network
                }
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = match file {
                    "" => path.clone(),
                    file => folder.join(file),
                };
                let leads = target.exists()
                    && (anchor.is_empty()
                        || !target.is_file()
                        || anchors(&target).contains(anchor));
                if !leads {
                    faults.push(format!("{}:{number}: {link}", shown(&path)));
                }
            }
        }
    }
    assert_none("links that lead nowhere", &faults);
}

#[test]
fn the_architecture_lists_exactly_the_crates_that_exist() {
    let text = text_of(&root().join("ARCHITECTURE.md"));
    let section = text
        .split("\n## ")
        .find(|section| section.starts_with("Crates"))
        .expect("ARCHITECTURE.md has a section 'Crates'");
    let listed: BTreeSet<String> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_string())
        .collect();
    let existing: BTreeSet<String> = with_extension("toml")
        .iter()
        .filter(|path| path.ends_with("Cargo.toml"))
        .filter_map(|path| shown(path).strip_prefix("crates/").map(str::to_string))
        .filter_map(|path| path.strip_suffix("/Cargo.toml").map(str::to_string))
        .collect();
    assert_eq!(listed, existing, "left: the list in ARCHITECTURE.md; right: crates/*");
}

/// The rows of the table of crates: each crate's name and which others it may use.
fn crate_table() -> Vec<(String, String)> {
    let text = text_of(&root().join("ARCHITECTURE.md"));
    let rows = text.lines().filter_map(|line| {
        let cells = line.strip_prefix("| `")?.strip_suffix('|')?;
        let cells: Vec<&str> = cells.split('|').collect();
        let [name, _, uses] = cells[..] else { return None };
        Some((name.trim_end().trim_end_matches('`').to_owned(), uses.trim().to_owned()))
    });
    let crates = root().join("crates");
    rows.filter(|(name, _)| crates.join(name).is_dir()).collect()
}

/// The packages that a crate depends on, tests and benches aside.
fn dependencies(name: &str) -> BTreeSet<String> {
    let text = text_of(&root().join("crates").join(name).join("Cargo.toml"));
    let manifest: toml::Table = text.parse().expect("a manifest is TOML");
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    dependencies.into_iter().flat_map(|table| table.keys().cloned()).collect()
}

#[test]
fn each_crate_uses_only_those_that_the_architecture_allows() {
    let table = crate_table();
    let mut faults = Vec::new();
    for (at, (name, uses)) in table.iter().enumerate() {
        let names = |rows: &[(String, String)]| -> BTreeSet<String> {
            rows.iter().map(|(name, _)| name.clone()).collect()
        };
        let mut allowed = match uses.as_str() {
            "all above" => names(&table[..at]),
            "all but cli" => names(&table),
            list => list.split(", ").map(str::to_owned).collect(),
        };
        if uses == "all but cli" {
            allowed.remove("cli");
        }
        for package in dependencies(name) {
            let used = match package.strip_prefix("lydian") {
                Some("") => "lydian",
                Some(rest) => rest.trim_start_matches('-'),
                None => continue,
            };
            if !allowed.contains(used) {
                faults.push(format!("crates/{name} uses {used}"));
            }
        }
    }
    assert_none("arrows that the table of ARCHITECTURE.md does not have", &faults);
}

#[test]
fn only_the_ledger_builds_sqlite() {
    let table = crate_table();
    let all = table.iter().map(|(name, _)| name);
    let building: Vec<&String> =
        all.filter(|name| dependencies(name).contains("rusqlite")).collect();
    assert_eq!(building, ["ledger"]);
}

/// Whether the line calls the macro, which is no part of a longer name and in no line comment.
fn calls(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.match_indices(&format!("{name}!")).any(|(at, _)| {
        !code[..at]
            .chars()
            .next_back()
            .is_some_and(|before| before.is_alphanumeric() || before == '_')
    })
}

#[test]
fn only_the_command_line_prints() {
    let mut faults = Vec::new();
    for path in with_extension("rs") {
        let place = shown(&path);
        // A build script talks to cargo over its output; a bench's figures are its output, and so is what
        // an example finds.
        let may = place.starts_with("crates/cli/")
            || place.ends_with("/build.rs")
            || place.contains("/benches/")
            || place.contains("/examples/");
        if may {
            continue;
        }
        for (index, line) in text_of(&path).lines().enumerate() {
            for name in ["print", "println", "eprint", "eprintln", "dbg"] {
                if calls(line, name) {
                    faults.push(format!("{place}:{}: {}", index + 1, line.trim()));
                }
            }
        }
    }
    assert_none("output outside crates/cli", &faults);
}

#[test]
fn no_rust_file_is_longer_than_its_subject_needs() {
    let mut faults = Vec::new();
    for path in with_extension("rs") {
        let lines = text_of(&path).lines().count();
        if lines > LONGEST_RUST_FILE {
            faults.push(format!("{}: {lines} lines", shown(&path)));
        }
    }
    assert_none(&format!("files over {LONGEST_RUST_FILE} lines"), &faults);
}

#[test]
fn every_decision_has_a_number_of_its_own_and_is_listed() {
    let folder = root().join("docs/decisions");
    let listing = text_of(&folder.join("README.md"));
    let listed: BTreeSet<&str> = listing.lines().flat_map(links).collect();
    let mut numbers: BTreeMap<u32, String> = BTreeMap::new();
    let mut faults = Vec::new();
    for path in files().into_iter().filter(|path| path.starts_with(&folder)) {
        let name =
            path.strip_prefix(&folder).expect("it starts with the folder").display().to_string();
        if name == "README.md" {
            continue;
        }
        let number = name.split_once('-').and_then(|(number, _)| number.parse::<u32>().ok());
        match number {
            None => faults.push(format!("{name}: its name does not begin with a number and '-'")),
            Some(number) => {
                if let Some(other) = numbers.insert(number, name.clone()) {
                    faults.push(format!("{name}: has the number of {other}"));
                }
            }
        }
        if !listed.contains(name.as_str()) {
            faults.push(format!("{name}: the README does not link to it"));
        }
    }
    assert_none("docs/decisions", &faults);
}

/// Directories that hold source trees on any machine, so that naming them says nothing of this one.
const ON_EVERY_MACHINE: [&str; 9] =
    ["/", "/home", "/mnt", "/opt", "/srv", "/tmp", "/usr/local/src", "/usr/src", "/var/tmp"];

/// Whether `text` names the directory: not as the tail of a longer path or the head of a longer name.
fn names_directory(text: &str, directory: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.match_indices(directory).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(part) && after.is_none_or(|c| c == '/' || !part(c))
    })
}

#[test]
fn no_file_names_a_directory_of_the_machine_that_builds_it() {
    let root = root();
    let directories: Vec<String> = [Some(root.as_path()), root.parent()]
        .into_iter()
        .flatten()
        .map(|path| path.display().to_string())
        .filter(|path| !ON_EVERY_MACHINE.contains(&path.as_str()))
        .collect();
    let mut faults = Vec::new();
    for path in files() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue; // not text
        };
        for (index, line) in text.lines().enumerate() {
            if directories.iter().any(|dir| names_directory(line, dir)) {
                faults.push(format!("{}:{}: {}", shown(&path), index + 1, line.trim()));
            }
        }
    }
    assert_none("absolute paths of this machine", &faults);
}

#[test]
fn a_link_in_code_is_not_taken_for_one() {
    let text = "see [a](b.md) and `[c](d)`\n```\n[e](f)\n```\n    [g](h)\n[i](j#k \"title\")";
    let found: Vec<String> = prose(text)
        .iter()
        .flat_map(|(_, line)| links(line).into_iter().map(str::to_string))
        .collect();
    assert_eq!(found, ["b.md", "j#k"]);
}

#[test]
fn a_printing_macro_is_found_by_its_whole_name() {
    let call = format!("    {}!(\"x\")", "println");
    assert!(calls(&call, "println"));
    assert!(!calls(&call, "print"));
    assert!(!calls(&format!("e{}", call.trim()), "println"));
    assert!(!calls(&format!("// {call}"), "println"));
}

#[test]
fn a_directory_is_named_only_by_its_whole_path() {
    assert!(names_directory("cd /a/b/c", "/a/b"));
    assert!(names_directory("\"/a/b\"", "/a/b"));
    assert!(!names_directory("x/a/b", "/a/b"));
    assert!(!names_directory("/a/bc", "/a/b"));
}
