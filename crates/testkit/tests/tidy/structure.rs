//! Modules of a crate depend one way.

use lydian_testkit::structure::Structure;

use super::{assert_none, crate_table, root};

/// The parts of the exploration: each may use those before it.
const PARTS: [&str; 5] = ["machine", "goals", "merging", "search", "exploration"];

/// Where all parts' notes of a state are put together, which each part knows.
const PUT_TOGETHER: [&str; 1] = ["notes.rs"];

/// More files than these use each other in no crate.
const LARGEST_CIRCLE: usize = 6;

fn structure_of(name: &str) -> Structure {
    let src = root().join("crates").join(name).join("src");
    Structure::read(&src, &PUT_TOGETHER).unwrap_or_else(|why| panic!("crates/{name}: {why}"))
}

/// The arrows between parts that lead from a lower one to a higher one, with the files.
fn wrong_arrows(structure: &Structure) -> Vec<String> {
    let height = |part: &String| PARTS.iter().position(|known| known == part);
    let arrows = structure.arrows().into_keys();
    let wrong = arrows.filter(|(from, to)| height(from) < height(to) && height(from).is_some());
    wrong
        .map(|(from, to)| {
            let files = structure.files_between(&from, &to).join(", ");
            format!("{from} uses {to}, in {files}")
        })
        .collect()
}

#[test]
fn each_part_of_the_exploration_uses_only_lower_ones() {
    let structure = structure_of("symex");
    for part in PARTS {
        let has_it = structure.arrows().into_keys().any(|(from, to)| from == part || to == part);
        assert!(has_it, "the exploration has a part {part}");
    }
    assert_none("arrows between parts that lead upwards", &wrong_arrows(&structure));
}

#[test]
fn an_arrow_that_leads_upwards_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in
        [("goals.rs", "use crate::machine::State;"), ("machine.rs", "use crate::search::Order;")]
    {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    std::fs::write(folder.path().join("search.rs"), "").expect("a file can be written");
    let structure = Structure::read(folder.path(), &PUT_TOGETHER).expect("it can be read");
    assert_eq!(wrong_arrows(&structure), ["machine uses search, in machine"]);
}

#[test]
fn no_circle_of_files_is_large() {
    let mut faults = Vec::new();
    for (name, _) in crate_table() {
        let circles = structure_of(&name).circles().into_iter();
        let large = circles.filter(|circle| circle.len() > LARGEST_CIRCLE);
        faults.extend(large.map(|circle| format!("crates/{name}: {}", circle.join(", "))));
    }
    assert_none("circles of files", &faults);
}
