//! Data structures as programs have them: every statement, branch and MC/DC objective of each function is
//! decided, without assumptions.

use std::path::Path;

use serde_json::Value;

use crate::common::{Workplace, figures};

fn is_decided(name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/structures").join(name);
    let place = Workplace::with(&std::fs::read_to_string(source).expect("the example is there"));
    // A list that is a ring runs for as long as a test may.
    let ran =
        place.done("gen unit.c -c stmt,bc,mcdc --time 20 --test-time 100 --jobs 1 --json t.json");
    let table = place.json("t.json");
    let functions = table["functions"].as_array().expect("the table has functions");
    assert!(!functions.is_empty(), "{ran}");
    for function in functions.iter().map(|function| &function["name"]) {
        let Value::String(function) = function else { panic!("no name in {table:#}") };
        for criterion in ["stmt", "bc", "mcdc"] {
            let [all, covered, infeasible, duplicate, unknown] =
                figures(&table, function, criterion);
            let decided = covered + infeasible + duplicate;
            assert_eq!((decided, unknown), (all, 0), "{criterion} of {function}: {ran}");
        }
    }
}

#[test]
fn a_red_black_tree_is_decided() {
    is_decided("red_black_tree.c");
}

#[test]
fn a_hash_table_with_chains_is_decided() {
    is_decided("hash_table.c");
}

#[test]
fn an_intrusive_list_is_decided() {
    is_decided("linked_list.c");
}

#[test]
fn a_growing_vector_is_decided() {
    is_decided("vector.c");
}

#[test]
fn a_tokenizer_with_a_context_is_decided() {
    is_decided("tokenizer.c");
}

#[test]
fn a_state_machine_with_callbacks_is_decided() {
    is_decided("state_machine.c");
}

#[test]
fn an_allocator_with_a_free_list_is_decided() {
    is_decided("allocator.c");
}

#[test]
fn messages_at_places_that_the_data_decides_are_decided() {
    is_decided("messages.c");
}

#[test]
fn a_packet_of_messages_is_as_short_as_its_test_needs() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/structures/messages.c");
    let place = Workplace::with(&std::fs::read_to_string(source).expect("the example is there"));
    place.done("gen unit.c -c bc --function messages_length");
    let suite: Value = place.json("tests/tests.json");
    let tests = suite["tests"].as_array().expect("a suite has tests");
    let objects = tests.iter().flat_map(|test| test["objects"].as_array().into_iter().flatten());
    let counts: Vec<u64> = objects.filter_map(|object| object["count"].as_u64()).collect();
    assert!(!counts.is_empty(), "{suite:#}");
    assert!(counts.iter().all(|count| *count <= 40), "{counts:?}");
}
