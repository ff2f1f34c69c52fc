//! What programs are made of, each a function of a few lines: every branch has a test, or is infeasible for
//! a reason that is given here.

use crate::common::{Workplace, figures};

const DATA: &str = include_str!("../../by_hand/idioms_of_data.c");
const TEXT: &str = include_str!("../../by_hand/idioms_of_text.c");

/// How many branches of a function no input reaches; of all others it is none.
const INFEASIBLE: &[(&str, u64)] = &[
    // What was copied is equal.
    ("copies_a_struct", 1),
    // A pointer below the first element cannot be compared with it.
    ("pops_a_block", 1),
];

/// Every function of a text is decided as it should be.
fn decided(text: &str, functions: usize) {
    let place = Workplace::with(text);
    let ran = place.done("gen unit.c -c stmt,bc --time 30 --json t.json");
    assert!(!ran.err.contains("contradiction"), "{ran}");
    let table = place.json("t.json");
    let rows = table["functions"].as_array().expect("a list");
    assert_eq!(rows.len(), functions, "{ran}");
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        let known = INFEASIBLE.iter().find(|(function, _)| *function == name);
        let infeasible = known.map_or(0, |(_, count)| *count);
        let [all, covered, proved, _, _] = figures(&table, name, "bc");
        assert_eq!((covered, proved), (all - infeasible, infeasible), "{name}: {ran}");
        let [all, covered, ..] = figures(&table, name, "stmt");
        assert_eq!(covered, all, "{name}: {ran}");
    }
}

#[test]
fn what_works_on_tables_lists_and_trees_is_decided() {
    decided(DATA, 41);
}

#[test]
fn what_works_on_texts_numbers_and_states_is_decided() {
    decided(TEXT, 42);
}
