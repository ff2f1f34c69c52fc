//! `lydian report` from coverage as JSON.

use std::path::Path;

use crate::common::{self, Workplace};

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
    assert!(place.read("l.info").contains("FNDA:42,weigh"));
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
    let words = "report --from-json c.json --json again.json --cobertura c.xml \
                 --sarif s.json --gcov-json g.json --sonarqube q.xml --codecov v.json --gitlab l.json \
                 --lcov l.info --junit j.xml --by function";
    let ran = place.run(words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(place.json("again.json")["coverage"] == place.json("c.json")["coverage"]);
    assert!(place.read("c.xml").contains("<class name=\"parse_c\""));
    assert_eq!(place.json("s.json")["version"], "2.1.0");
    assert_eq!(place.json("g.json")["format_version"], "1");
    assert!(place.read("q.xml").contains("<coverage version=\"1\""));
    assert!(place.json("v.json")["coverage"].is_object());
    assert_eq!(place.json("l.json")[0]["severity"], "info");
    assert!(place.read("l.info").contains("FNDA:42,weigh"));
    assert!(
        place.read("j.xml").contains("<failure message=\"No run covers d0 true of dc in clamp")
    );
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

/// A decision in a header, with conditions that have no value where they are not reached too, evaluated
/// in one unit or in two.
fn in_a_header(at: &Workplace, semantics: &str, first: &str, second: &str) -> serde_json::Value {
    at.write(
        "both.h",
        "static inline int both(const int *p, int a, int b)\n{\n    int r = 0;\n\
         \x20   if (a > 1 && (b > 1 || (p && *p > a))) r = 1;\n\
         \x20   if ((a == b) != (a > 3)) r++;\n    return r;\n}\n",
    );
    let calls = |body: &str| format!("#include \"both.h\"\nstatic int five = 5;\n{body}\n");
    let main =
        format!("void other(void);\nint main(void) {{ (void)five; other(); {first} return 0; }}");
    at.write("unit.c", &calls(&main));
    at.write(
        "other.c",
        &calls(&format!("void other(void); void other(void) {{ (void)five; {second} }}")),
    );
    let options = format!("-c mcdc,cacc,racc,ricc --semantics {semantics}");
    common::wrapped::built(at, &options, "clang-19 -w unit.c other.c -o unit");
    assert_eq!(common::wrapped::shell(at, "./unit").code, Some(0));
    common::wrapped::coverage(at)
}

#[test]
fn pairs_of_evaluations_count_whichever_units_they_were_seen_in() {
    let calls = [
        "both(&five, 2, 2);",
        "both(&five, 2, 0);",
        "both(0, 2, 0);",
        "both(&five, 0, 2);",
        "both(&five, 5, 5);",
        "both(&five, 4, 1);",
        "both(&five, 0, 0);",
        "both(&five, 7, 0);",
    ];
    let statuses = |coverage: &serde_json::Value| -> Vec<(String, String)> {
        let objectives =
            common::wrapped::function(coverage, "both")["objectives"].as_array().unwrap();
        let one = |objective: &serde_json::Value| {
            let part = |name: &str| objective[name].to_string();
            (format!("{} {}", part("criterion"), part("name")), part("status"))
        };
        objectives.iter().map(one).collect()
    };
    for semantics in ["three-valued", "short-circuit"] {
        let together = in_a_header(&Workplace::with(""), semantics, &calls.concat(), "");
        let together = statuses(&together);
        for split in [2, 4, 6] {
            let (first, second) = (calls[..split].concat(), calls[split..].concat());
            let apart = in_a_header(&Workplace::with(""), semantics, &first, &second);
            assert_eq!(together, statuses(&apart), "{semantics}, {split}");
        }
        let count = together.iter().filter(|(_, status)| status.contains("covered")).count();
        assert!(count > 6 && count < together.len(), "{together:?}");
    }
}
