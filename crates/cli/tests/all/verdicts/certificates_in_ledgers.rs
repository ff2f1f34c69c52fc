//! `lydian check LEDGER`: verdicts rest on certificates, and one whose certificate does not stand is
//! withdrawn.

use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::{Ran, Workplace, figures};

/// Two conditions that exclude one another in each state of a loop.
const EXCLUDED: &str = "int __VERIFIER_nondet_int(void);
int main(void)
{
    int i = 0, sum = 0, y = 1;
    while (__VERIFIER_nondet_int()) {
        if (i < 100) {
            i++;
            sum += 2;
        }
        if (sum > 200 || i * 2 != sum)
            y = 9;
    }
    return y;
}
";

/// The objectives that no run covers.
const CRITERIA: &str = "dc,all-uses";

/// A folder with a ledger of proofs about [`EXCLUDED`], in `tests`.
fn recorded() -> Workplace {
    let place = Workplace::with(EXCLUDED);
    std::fs::create_dir(place.path("tests")).expect("a folder");
    let ran = place.done(&format!(
        "prove unit.c -c {CRITERIA} --provers engines -j 1 --time 600 \
         --ledger tests/ledger.sqlite"
    ));
    assert!(ran.out.contains("infeasible objectives are recorded"), "{ran}");
    place
}

/// The documents of a ledger, by name: programs and certificates.
fn documents(place: &Workplace) -> Vec<(String, String)> {
    let ledger = Connection::open(place.path("tests/ledger.sqlite")).expect("a database");
    let mut query = ledger.prepare("SELECT name, text FROM document ORDER BY name").expect("SQL");
    let read = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    read.map(|row| row.expect("a row")).collect()
}

fn execute(place: &Workplace, change: &str, with: &[&str]) {
    let ledger = Connection::open(place.path("tests/ledger.sqlite")).expect("a database");
    let changed = ledger.execute(change, rusqlite::params_from_iter(with)).expect("SQL");
    assert!(changed > 0, "{change}");
}

/// Changes all certificates, and the names by which evidence calls them.
fn change_certificates(place: &Workplace, change: impl Fn(&mut Value)) {
    for (name, text) in documents(place) {
        let Ok(mut certificate) = serde_json::from_str::<Value>(&text) else { continue };
        change(&mut certificate);
        let text = certificate.to_string();
        let digest = Sha256::digest(text.as_bytes());
        let new: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        execute(
            place,
            "UPDATE document SET name = ?2, text = ?3 WHERE name = ?1",
            &[&name, &new, &text],
        );
        execute(place, "UPDATE evidence SET detail = replace(detail, ?1, ?2)", &[&name, &new]);
    }
}

fn check(place: &Workplace) -> Ran {
    place.run("check tests --time 600")
}

/// The infeasible objectives of a criterion by what the ledger says, without further work.
fn infeasible(place: &Workplace, criterion: &str) -> u64 {
    place.run(&format!("gen unit.c -c {CRITERIA} -o tests --time 0.01 --json table.json"));
    figures(&place.json("table.json"), "main", criterion)[2]
}

#[test]
fn certificates_of_a_ledger_stand_and_its_verdicts_are_those_of_sessions() {
    let place = recorded();
    let ran = check(&place);
    ran.says(0, &[]);
    assert!(ran.out.contains("no run covers"), "{ran}");
    place.run("check tests/ledger.sqlite --time 600").says(0, &[]);
    assert!(infeasible(&place, "dc") >= 1 && infeasible(&place, "all-uses") >= 1);
}

#[test]
fn a_verdict_whose_certificate_is_false_becomes_unknown() {
    let place = recorded();
    change_certificates(&place, |certificate| {
        for point in certificate["points"].as_array_mut().expect("a list") {
            point["invariants"] = json!([]);
        }
    });
    let ran = check(&place);
    ran.says(70, &[]);
    assert!(ran.out.contains("internal error: no longer infeasible"), "{ran}");
    assert_eq!(infeasible(&place, "all-uses"), 0);
    // What was withdrawn is not checked again.
    check(&place).says(0, &[]);
}

#[test]
fn a_certificate_that_is_about_other_objectives_is_no_reason() {
    let place = recorded();
    change_certificates(&place, |certificate| {
        for goal in certificate["objectives"]["goals"].as_array_mut().expect("a list") {
            goal["of"] = json!([]);
        }
    });
    check(&place).says(70, &[]);
}

#[test]
fn a_certificate_whose_text_was_changed_or_is_missing_is_no_reason() {
    let place = recorded();
    execute(&place, "UPDATE document SET text = text || ' '", &[]);
    let ran = check(&place);
    ran.says(70, &[]);
    assert!(ran.out.contains("its text was changed"), "{ran}");
    let place = recorded();
    execute(&place, "DELETE FROM document WHERE text LIKE '{%'", &[]);
    let ran = check(&place);
    ran.says(70, &[]);
    assert!(ran.out.contains("is not in the ledger"), "{ran}");
}

#[test]
fn sessions_about_a_program_leave_certificates_of_proofs_over_all_runs() {
    let place = Workplace::with(EXCLUDED);
    place.run(&format!("gen unit.c -c {CRITERIA} -o tests --time 20"));
    let found = documents(&place);
    assert!(found.iter().any(|(_, text)| text.starts_with('{')), "{} documents", found.len());
    let ran = check(&place);
    ran.says(0, &[]);
    assert!(ran.out.contains("no run covers"), "{ran}");
}

#[test]
fn labels_that_are_parts_of_hyperlabels_have_names_of_their_own_in_certificates() {
    let place = Workplace::with(EXCLUDED);
    place.run("gen unit.c -c mcdc -o tests --time 20");
    let ran = check(&place);
    ran.says(0, &[]);
    assert!(ran.out.contains("1 of 1 certificates stand"), "{ran}");
    assert!(ran.out.contains(": mcdc: ") && ran.out.contains(": label: "), "{ran}");
}

#[test]
fn a_ledger_gets_no_document_where_nothing_is_certified() {
    let place = Workplace::with(
        "int __VERIFIER_nondet_int(void);
int main(void) { return __VERIFIER_nondet_int() > 1 ? 1 : 0; }
",
    );
    std::fs::create_dir(place.path("tests")).expect("a folder");
    place.done("prove unit.c -c dc --time 20 --ledger tests/ledger.sqlite");
    assert_eq!(documents(&place), []);
}

#[test]
fn options_for_proofs_about_errors_are_refused_with_objectives() {
    let place = Workplace::with("int main(void) { return 0; }");
    for option in ["--checker cbmc", "--export-c a.c", "--witnesses w"] {
        let said = option.split(' ').next().expect("a word");
        place.refused(&format!("prove unit.c -c bc {option}"), 2, &[said]);
    }
}

/// Functions under test with conditions that never hold, whatever the arguments and the variables are.
const UNDER_TEST: &str = "static unsigned calls;
static const unsigned most[3] = { 4, 8, 15 };
static unsigned step(unsigned by) { calls = calls * 2; return by + 2; }
int sums(unsigned n)
{
    unsigned i = 0, sum = 0;
    int y = 1;
    while (i < n) {
        i++;
        sum = step(sum);
        if (sum != 2 * i)
            y = 9;
    }
    if (sum % 2)
        y = 8;
    return y;
}
int counts(int which, int turns)
{
    unsigned sum = 0;
    if (which < 0 || which > 2)
        return 0;
    while (turns-- != 0) {
        if (sum < most[which])
            sum++;
        if (sum > 15)
            return 2;
    }
    return 1;
}
";

#[test]
fn proofs_about_functions_under_test_leave_certificates_that_stand() {
    let place = Workplace::with(UNDER_TEST);
    place.run("gen unit.c -f sums -f counts -c dc,mcdc -o tests --time 20 --json table.json");
    let found = documents(&place);
    let of_functions = |(_, text): &&(String, String)| text.contains(r#""beginning": "function""#);
    assert!(found.iter().filter(of_functions).count() >= 2, "{} documents", found.len());
    let ran = check(&place);
    ran.says(0, &[]);
    assert!(ran.out.contains("sum != 2 * i") && ran.out.contains("sum > 15"), "{ran}");
}

#[test]
fn an_argument_that_needs_the_beginning_of_the_program_is_none_for_a_function_in_any_state() {
    let place = Workplace::with(
        "int __VERIFIER_nondet_int(void);
static int level;
int main(void)
{
    while (__VERIFIER_nondet_int()) {
        if (level > 3)
            return 1;
    }
    return 0;
}
",
    );
    std::fs::create_dir(place.path("tests")).expect("a folder");
    place.done("prove unit.c -c dc --provers engines -j 1 --time 600 --ledger tests/ledger.sqlite");
    check(&place).says(0, &[]);
    change_certificates(&place, |certificate| {
        certificate["program"]["beginning"] = json!("function");
    });
    check(&place).says(70, &[]);
}
