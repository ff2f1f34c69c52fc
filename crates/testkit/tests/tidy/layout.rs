//! Where tests lie: one test binary a crate, each file in it, and folders of few files.
//!
//! A test binary is linked with the whole crate and all that it uses, which costs more than most of
//! its tests do. One binary also runs the slow tests of all files side by side.

use std::collections::BTreeMap;

use super::{assert_none, shown, text_of, with_extension};

/// Most Rust files side by side in one folder. Twenty names can be taken in at a glance.
const MOST_FILES_IN_A_FOLDER: usize = 20;

/// The test binary that a crate may have.
const OF_A_CRATE: &str = "all";

/// Further test binaries, each with the reason why its tests are not in the crate's own.
const OF_THEIR_OWN: [(&str, &str); 1] = [(
    "crates/testkit/tests/tidy/main.rs",
    "`make quick` builds and runs it without the slow tests",
)];

/// The name of the test binary whose root Cargo finds at this place.
fn test_binary(place: &str) -> Option<&str> {
    match place.split('/').collect::<Vec<_>>()[..] {
        ["crates", _, "tests", file] => file.strip_suffix(".rs"),
        ["crates", _, "tests", folder, "main.rs"] => Some(folder),
        _ => None,
    }
}

/// The name of a module, and the places where its parent may be, of which one is.
fn module_and_parents(place: &str) -> Option<(String, [String; 3])> {
    let (folder, file) = place.rsplit_once('/')?;
    let (folder, name) = match file {
        "mod.rs" => folder.rsplit_once('/')?,
        file => (folder, file.strip_suffix(".rs")?),
    };
    let parents = ["/main.rs", "/mod.rs", ".rs"].map(|end| format!("{folder}{end}"));
    Some((name.to_owned(), parents))
}

/// Whether a text declares the module in a line of its own.
fn declares(text: &str, module: &str) -> bool {
    let names_it = |line: &str| {
        let rest = line.trim_start().trim_start_matches("pub(crate) ");
        rest.strip_prefix("mod ").is_some_and(|rest| rest.trim_end() == format!("{module};"))
    };
    text.lines().any(names_it)
}

#[test]
fn each_crate_has_one_test_binary() {
    let mut faults = Vec::new();
    for place in with_extension("rs").iter().map(|path| shown(path)) {
        let Some(name) = test_binary(&place) else { continue };
        let is_known = OF_THEIR_OWN.iter().any(|(known, _)| *known == place);
        if name != OF_A_CRATE && !is_known {
            faults.push(format!("{place}: is no module of tests/{OF_A_CRATE}"));
        }
    }
    assert_none("test binaries besides the crate's own", &faults);
}

#[test]
fn each_file_of_a_test_binary_is_one_of_its_modules() {
    let paths = with_extension("rs");
    let places: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let mut faults = Vec::new();
    for place in places.iter().filter(|place| place.contains("/tests/")) {
        if !place.starts_with("crates/") || place.contains("/src/") || test_binary(place).is_some()
        {
            continue;
        }
        let is_declared = module_and_parents(place).is_some_and(|(module, parents)| {
            let mut of_parents = paths.iter().filter(|path| parents.contains(&shown(path)));
            of_parents.any(|parent| declares(&text_of(parent), &module))
        });
        if !is_declared {
            faults.push(format!("{place}: no file declares this module, so its tests never run"));
        }
    }
    assert_none("files of tests that are in no test binary", &faults);
}

#[test]
fn no_folder_has_many_files() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in with_extension("rs") {
        let folder = path.parent().expect("a file lies in a folder");
        *counts.entry(shown(folder)).or_default() += 1;
    }
    let many = counts.into_iter().filter(|(_, count)| *count > MOST_FILES_IN_A_FOLDER);
    let faults: Vec<String> =
        many.map(|(folder, count)| format!("{folder}: {count} files")).collect();
    assert_none(&format!("folders of over {MOST_FILES_IN_A_FOLDER} files"), &faults);
}

#[test]
fn a_module_is_found_where_its_parent_declares_it() {
    let parents_of = |place| module_and_parents(place).expect("a module");
    let (module, parents) = parents_of("crates/a/tests/all/reports/pages.rs");
    assert_eq!(module, "pages");
    assert!(parents.contains(&"crates/a/tests/all/reports.rs".to_owned()), "{parents:?}");
    let (module, parents) = parents_of("crates/a/tests/all/common/mod.rs");
    assert_eq!(module, "common");
    assert!(parents.contains(&"crates/a/tests/all/main.rs".to_owned()), "{parents:?}");
    assert!(declares("mod pages;\n", "pages") && declares("pub(crate) mod pages;\n", "pages"));
    assert!(!declares("mod other_pages;\n// mod pages;\n", "pages"));
    assert_eq!(test_binary("crates/a/tests/pages.rs"), Some("pages"));
    assert_eq!(test_binary("crates/a/tests/all/main.rs"), Some("all"));
    assert_eq!(test_binary("crates/a/tests/all/pages.rs"), None);
}
