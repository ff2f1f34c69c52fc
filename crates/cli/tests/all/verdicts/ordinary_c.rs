//! Ordinary C, as programs take their inputs: what is infeasible of each function, by hand, and of which
//! functions nothing may be called infeasible, since it hangs on what no program determines.

use crate::common::{Workplace, figures};

const TEXT: &str = include_str!("../../by_hand/ordinary.c");

/// How many branches of each function no input reaches; all others are covered.
const INFEASIBLE: &[(&str, u64)] = &[
    ("pointers_in_arrays", 0),
    ("push", 0),
    ("free_all", 0),
    ("cleans_up", 0),
    ("aliases", 0),
    ("finds", 0),
    ("from_bytes", 0),
    ("neighbour", 1),
    ("calls_a_pointer", 0),
    ("calls_if_set", 0),
    ("asks", 0),
    ("asks_back", 0),
    ("converts", 0),
    ("complement", 1),
    ("high_half", 0),
    ("widened", 1),
    ("compared_as_unsigned", 1),
    ("masked", 1),
    ("negated", 0),
    ("sign_of", 0),
    ("with_environment", 0),
    ("choice", 1),
    ("without_a_value", 0),
    ("asserting", 0),
    ("counts_calls", 0),
    ("odd_number", 1),
    ("odd_character", 0),
    ("own_before", 0),
    ("own_behind", 0),
    ("own_tail", 0),
    ("column_at_top", 0),
    ("pop_buffer", 0),
    ("count_entries", 0),
    ("first_of_two", 0),
    ("log_line", 0),
    ("at_a_known_address", 0),
    ("place_among_many", 0),
    ("frees_what_was_made_before", 0),
    ("reads_before_it_grows", 0),
    ("calls_the_handler", 0),
    ("leads_to_a_global", 0),
    ("follows_one_of_two", 0),
    ("follows_where_chosen", 0),
    ("stores_a_local", 1),
    ("names_an_entry", 0),
    ("maps", 0),
    ("finds_a_name", 0),
    ("binds", 0),
    ("in_the_second_channel", 0),
    ("kind_of_number", 0),
    ("was_flushed", 0),
];

/// Functions with branches that may stay unknown.
const OPEN: &[&str] = &["scans", "reads_twice", "waits", "sign_of_a_quotient"];

#[test]
fn of_ordinary_c_only_what_no_input_reaches_is_infeasible() {
    let place = Workplace::with(TEXT);
    let ran = place.done("gen unit.c -c stmt,bc --time 20 --json t.json");
    assert!(!ran.err.contains("contradiction"), "{ran}");
    let table = place.json("t.json");
    for (function, infeasible) in INFEASIBLE {
        let [all, covered, proved, duplicate, unknown] = figures(&table, function, "bc");
        assert_eq!(
            (covered, proved, duplicate, unknown),
            (all - infeasible, *infeasible, 0, 0),
            "{function}: {ran}"
        );
    }
    for function in OPEN {
        let [all, covered, proved, _, unknown] = figures(&table, function, "bc");
        assert_eq!((covered + unknown, proved), (all, 0), "{function}: {ran}");
    }
}
