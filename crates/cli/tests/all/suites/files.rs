//! What `lydian gen` does with files that are in its folder already.

use crate::common::Workplace;

const UNIT: &str = "int sign(int x) { if (x < 0) return -1; return x > 0; }\n";

#[test]
fn a_file_that_lydian_did_not_write_is_not_overwritten() {
    let place = Workplace::with(UNIT);
    std::fs::create_dir(place.path("tests")).unwrap();
    for name in ["tests.c", "objectives.json"] {
        let path = format!("tests/{name}");
        place.write(&path, "/* mine */\n");
        let ran = place.run("gen unit.c");
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.err.contains(&format!("{name} was not written by Lydian")), "{ran}");
        assert!(ran.err.contains("name another folder with -o"), "{ran}");
        assert_eq!(place.read(&path), "/* mine */\n");
        std::fs::remove_file(place.path(&path)).unwrap();
    }
    // A form that is not asked for is nobody's business.
    place.write("tests/tests_unity.c", "/* mine */\n");
    place.done("gen unit.c");
    assert_eq!(place.read("tests/tests_unity.c"), "/* mine */\n");
}

#[test]
fn a_suite_that_was_edited_is_set_aside() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c");
    let first = place.read("tests/tests.c");
    let again = place.done("gen unit.c");
    assert!(!again.err.contains("was edited"), "{again}");
    assert_eq!(place.read("tests/tests.c"), first);
    let edited = first.replace("CHECK_INT", "/* by hand */ CHECK_INT");
    place.write("tests/tests.c", &edited);
    let ran = place.done("gen unit.c");
    assert!(ran.err.contains("tests.c was edited; it is now tests/tests.c.1"), "{ran}");
    assert_eq!(place.read("tests/tests.c.1"), edited);
    assert_eq!(place.read("tests/tests.c"), first);
}

#[test]
fn a_test_that_is_to_stay_stays_under_its_name() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c");
    let mut suite = place.json("tests/tests.json");
    let test = serde_json::json!({
        "name": "of_my_own", "function": "sign", "args": { "x": 1234 }, "keep": true,
        "expected": { "outcome": "returned", "result": 1 }
    });
    suite["tests"].as_array_mut().unwrap().push(test);
    place.write("tests/tests.json", &serde_json::to_string_pretty(&suite).unwrap());
    let ran = place.done("gen unit.c");
    let tests = place.json("tests/tests.json")["tests"].clone();
    let mut tests = tests.as_array().unwrap().iter();
    let kept = tests.find(|test| test["name"] == "of_my_own").expect("the test stays");
    assert_eq!((kept["args"]["x"].as_i64(), kept["keep"].as_bool()), (Some(1234), Some(true)));
    assert!(place.read("tests/tests.c").contains("sign(1234), 1)"), "{ran}");
}
