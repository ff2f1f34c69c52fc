//! `lydian report` from coverage as JSON.

mod common;

use std::path::Path;

use common::Workplace;

fn sample() -> String {
    let golden = "../report/tests/sample/golden/coverage.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(golden);
    std::fs::read_to_string(path).unwrap()
}

fn workplace() -> Workplace {
    let place = Workplace::with("");
    place.write("c.json", &sample());
    place
}

#[test]
fn the_table_has_a_row_for_each_file_and_criterion() {
    let ran = workplace().run("report --from-json c.json --root /");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("project/src/parse.c"), "{}", ran.out);
    assert!(ran.out.contains("start.S: not measured: it is assembler"), "{}", ran.out);
    let total = ran.out.lines().find(|line| line.starts_with("| total")).unwrap();
    let words: Vec<&str> = total.split('|').map(str::trim).collect();
    assert_eq!(words[2..10], ["stmt", "22", "15", "5", "0", "2", "0", "75.0%"]);
    assert!(ran.err.contains("damaged & left out <run 7>"), "{}", ran.err);
}

#[test]
fn a_criterion_below_what_is_asked_gives_code_1_and_everything_is_written() {
    let place = workplace();
    let words = "report --from-json c.json --lcov l.info --fail-under dc=80 --fail-under wm=41%";
    let ran = place.run(words);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("wm is covered to 40.0% (2 of 5), not 41%"), "{}", ran.err);
    assert!(!ran.err.contains("dc is covered"), "{}", ran.err);
    assert!(place.read("l.info").contains("FNDA:1,weigh"));
}

#[test]
fn a_criterion_that_was_not_measured_cannot_be_asked_for() {
    let ran = workplace().run("report --from-json c.json --fail-under rte=1");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("rte was not measured; stmt, dc, cc, gacc, wm was"), "{}", ran.err);
}

#[test]
fn every_form_is_written_and_the_json_reads_back_the_same() {
    let place = workplace();
    let words = "report --from-json c.json --from-json c.json --json again.json --cobertura c.xml \
                 --sarif s.json --gcov-json g.json --by function";
    let ran = place.run(words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(place.json("again.json")["coverage"] == place.json("c.json")["coverage"]);
    assert!(place.read("c.xml").contains("<class name=\"parse_c\""));
    assert_eq!(place.json("s.json")["version"], "2.1.0");
    assert_eq!(place.json("g.json")["format_version"], "1");
    assert!(ran.out.contains("parse.c:21 weigh"), "{}", ran.out);
}

#[test]
fn a_file_that_is_no_report_is_named() {
    let place = Workplace::with("");
    place.write("no.json", "{}");
    let ran = place.run("report --from-json no.json");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("no.json") && ran.err.contains("lydian-coverage"), "{}", ran.err);
    assert_eq!(place.run("report --from-json none.json").code, Some(5));
}

#[test]
fn pages_are_written_to_a_folder_that_is_made() {
    let place = workplace();
    let ran = place.run("report --from-json c.json --root / --html deep/pages --by total");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let index = place.read("deep/pages/index.html");
    assert!(index.contains("src_project_src_parse.c.html"), "{index}");
    assert!(place.read("deep/pages/src_project_src_parse.c.html").contains("cannot be read"));
    place.write("file", "");
    assert_eq!(place.run("report --from-json c.json --html file").code, Some(5));
}
