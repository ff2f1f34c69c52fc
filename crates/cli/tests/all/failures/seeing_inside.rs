//! What Lydian shows of its own work: questions to solvers, replayed cases of internal errors, and log
//! messages.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, Workplace, entries, faulty_clang};

/// Computes with a float, and reads an array at an index that is an input.
const FLOATS_AND_ARRAYS: &str = "\
int classify(double x, const unsigned char text[64], unsigned at)
{
    if (x * 2.0 > 10.5 && x < 7.0)
        return 1;
    if (at < 64 && text[at] == 9)
        return 2;
    return 3;
}
";

/// What is noted in a logged question as its answer.
fn noted(text: &str) -> &str {
    let status = text.lines().find_map(|line| line.strip_prefix("(set-info :status "));
    status.and_then(|rest| rest.strip_suffix(')')).unwrap_or_else(|| panic!("no status: {text}"))
}

/// The questions of a folder, after Z3 gave each the answer that is noted.
fn answered_by_z3(folder: &Path) -> Vec<String> {
    let files: Vec<PathBuf> = entries(folder);
    let read = |file: &PathBuf| std::fs::read_to_string(file).expect("a file of text");
    let texts: Vec<String> = files.iter().map(read).collect();
    for (file, text) in files.iter().zip(&texts) {
        // What is tried with little effort may have no answer.
        if noted(text) == "unknown" {
            continue;
        }
        let out = Command::new("z3").arg("-T:60").arg(file).output().expect("z3 can be started");
        let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        assert_eq!(said, noted(text), "{}: {text}", file.display());
    }
    texts
}

#[test]
fn z3_gives_each_logged_question_the_answer_that_is_noted() {
    let place = Workplace::with(FLOATS_AND_ARRAYS);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parse_header.c");
    let example = example.display();
    place.done(&format!("gen {example} -c bc,mcdc,wm --log-queries questions -j 2"));
    if Command::new("z3").arg("-version").output().is_err() {
        return;
    }
    let texts = answered_by_z3(&place.path("questions"));
    assert!(texts.iter().any(|text| noted(text) == "sat"), "{texts:?}");
    assert!(texts.iter().any(|text| noted(text) == "unsat"), "{texts:?}");
    let headings: Vec<&str> = texts.iter().filter_map(|text| text.lines().next()).collect();
    // A state of the exploration has a place, and a proof is about an objective.
    assert!(headings.iter().any(|line| line.contains(", at ")), "{headings:?}");
    assert!(headings.iter().any(|line| line.contains(", on ")), "{headings:?}");
    assert!(headings.iter().all(|line| line.starts_with("; question ")), "{headings:?}");

    // The folder has the questions of the last run alone.
    place.done("gen unit.c -c bc --log-queries questions -o other");
    let texts = answered_by_z3(&place.path("questions"));
    assert!(texts.iter().all(|text| text.contains(" of classify")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("FloatingPoint")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("(select ")), "{texts:?}");
}

#[test]
fn a_folder_for_questions_that_cannot_be_made_is_said_before_any_work() {
    let place = Workplace::with(FLOATS_AND_ARRAYS);
    place.refused("gen unit.c --log-queries unit.c/questions", 5, &["unit.c/questions"]);
    assert!(!place.path("tests/tests.json").exists());
}

/// Has a branch for one number.
const ONE_NUMBER: &str = "\
int f(unsigned char n)
{
    if (n == 177)
        return 1;
    return 0;
}
";

/// The one case that a run kept, as the command line names it.
fn kept_case(place: &Workplace) -> String {
    let kept = entries(&place.path("tests/unconfirmed"));
    let [case] = &kept[..] else { panic!("one case is kept: {kept:?}") };
    case.strip_prefix(place.path("")).expect("it is in the folder").display().to_string()
}

#[test]
fn a_kept_case_shows_its_error_until_the_fault_is_mended() {
    let place = Workplace::with(ONE_NUMBER);
    faulty_clang::write(&place);
    place.write("lydian.toml", "[function.f]\npreconditions = [\"n > 2\"]\n");
    let ran = Ran::of(&mut faulty_clang::command(&place, "gen unit.c -c bc -- -DUNUSED=1"));
    ran.says(70, &["contradiction", "kept in tests/unconfirmed/f-", "lydian replay"]);
    let case = kept_case(&place);
    // The settings are in the case.
    std::fs::remove_file(place.path("lydian.toml")).expect("it was written");
    // From another folder, too.
    std::fs::create_dir(place.path("elsewhere")).expect("a folder");
    let mut command = faulty_clang::command(&place, &format!("replay ../{case}"));
    command.current_dir(place.path("elsewhere"));
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(70), "{ran}");
    let row = ran.out.lines().find(|line| line.contains("contradicted"));
    let row = row.unwrap_or_else(|| panic!("a row is contradicted: {ran}"));
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[1..3], ["f", "bc"], "{ran}");
    assert!(cells[4].ends_with("unit.c:3:9"), "{ran}");
    let said = ["covered (exploration)", "covered", "not covered", "contradicted"];
    assert_eq!(cells[5..9], said, "{ran}");
    assert!(ran.out.contains("natively: returned"), "{ran}");
    assert!(ran.out.contains("the error still shows"), "{ran}");

    let ran = place.done(&format!("replay {case}"));
    assert!(ran.out.contains("all agree"), "{ran}");
    assert!(!ran.out.contains("contradicted"), "{ran}");
}

/// Of its decisions two have an outcome that exploration alone calls infeasible.
const EXPLORED: &str = "int f(unsigned char n)
{
    int s = 0;
    for (int i = 0; i < (n & 3); i++)
        s += 2;
    if (s == 3)
        return 1;
    return 0;
}
";

#[test]
fn a_test_that_covers_what_is_infeasible_is_kept_and_replayed() {
    let place = Workplace::with(EXPLORED);
    place.done("gen unit.c -c dc");
    let ledger = rusqlite::Connection::open(place.path("tests/ledger.sqlite")).expect("a ledger");
    let changed = ledger.execute(
        "INSERT INTO evidence(function, label, kind, code, configuration, detail)
         SELECT function, (SELECT label FROM evidence WHERE kind = 'measured' LIMIT 1), kind, code,
             configuration, detail
         FROM evidence WHERE kind = 'complete' LIMIT 1",
        [],
    );
    assert_eq!(changed.expect("the ledger can be changed"), 1);
    drop(ledger);
    for _ in 0..2 {
        place.refused("gen unit.c -c dc", 70, &["claims is infeasible", "kept in"]);
        // The same error is kept once.
        let ran = place.run(&format!("replay {}", kept_case(&place)));
        assert_eq!(ran.code, Some(70), "{ran}");
        let row = ran.out.lines().find(|line| line.contains("contradicted"));
        let row = row.unwrap_or_else(|| panic!("a row is contradicted: {ran}"));
        assert!(row.contains("infeasible (complete exploration)"), "{ran}");
    }
}

#[test]
fn what_is_no_case_or_of_another_program_is_refused_with_the_reason() {
    let place = Workplace::with(ONE_NUMBER);
    faulty_clang::write(&place);
    let ran = Ran::of(&mut faulty_clang::command(&place, "gen unit.c -c bc"));
    ran.says(70, &["contradiction"]);
    let case = kept_case(&place);
    let text = place.read(&case);

    place.refused("replay missing.json", 3, &["cannot read", "missing.json"]);
    place.write("no.json", "[1, 2");
    place.refused("replay no.json", 2, &["no.json is no kept case"]);
    place.write("no.json", "{ \"function\": \"f\", \"objects\": [] }");
    place.refused("replay no.json", 2, &["no.json is no kept case", "version"]);
    place.write("no.json", &text.replace("\"version\": 1", "\"version\": 9"));
    place.refused("replay no.json", 2, &["version 9"]);
    place.write("no.json", &text.replace("\"claims\"", "\"claim\""));
    place.refused("replay no.json", 2, &["no.json is no kept case", "claims"]);
    place.write("no.json", &text.replace("\"lydian\": \"", "\"lydian\": \"9."));
    let ran = place.done("replay no.json");
    assert!(ran.err.contains("Lydian 9."), "{ran}");

    // Of several files the worst counts, and the others are replayed all the same.
    let ran = place.refused(&format!("replay missing.json {case}"), 3, &["missing.json"]);
    assert!(ran.out.contains("all agree"), "{ran}");

    place.write("unit.c", &ONE_NUMBER.replace("177", "178"));
    place.refused(&format!("replay {case}"), 3, &["unit.c has changed"]);
    std::fs::remove_file(place.path("unit.c")).expect("it was written");
    place.refused(&format!("replay {case}"), 3, &["unit.c", "cannot be read"]);
    place.write("no.json", &text.replace("\"directory\": \"", "\"directory\": \"/none"));
    place.refused("replay no.json", 3, &["/none"]);
}

#[test]
fn a_run_says_nothing_of_its_work_unless_it_is_asked() {
    let place = Workplace::with(ONE_NUMBER);
    let ran = place.done("gen unit.c -c bc");
    assert!(ran.err.is_empty(), "{ran}");

    let ran = place.done("gen unit.c -c bc -o second --log info,lydian_process=debug");
    for said in ["loaded unit.c", "explored f in", "instrumented the program", "starting `clang-19"]
    {
        assert!(ran.err.contains(said), "`{said}` is missing: {ran}");
    }
    assert!(!ran.err.contains("a test of f:"), "only what was asked for: {ran}");

    let mut command = place.command("gen unit.c -c bc -o third");
    let ran = Ran::of(command.env("LYDIAN_LOG", "lydian_symex=info"));
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.err.contains("lydian_symex"), "{ran}");
    assert!(ran.err.lines().all(|line| line.contains("lydian_symex")), "{ran}");

    place.refused("gen unit.c --log lydian=loud", 2, &["loud", "info,lydian_symex=debug"]);
}
