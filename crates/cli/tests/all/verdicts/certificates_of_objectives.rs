//! `lydian prove --criteria --certificates`: what no run covers has a certificate that stands, and what was
//! changed in one is seen.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::common::{Ran, Workplace, entries};

/// A loop with a relation between two variables, decisions with conditions that exclude one another, and
/// definitions that reach no use.
const RELATED: &str = "int __VERIFIER_nondet_int(void);
int g;
static int clamp(int x)
{
    if (x < 0 && x > -1)
        return -5;
    if (x > 10 || (x > 20 && x < 30))
        x = 10;
    return x;
}
int main(void)
{
    int i = 0, sum = 0, y = 1;
    while (__VERIFIER_nondet_int()) {
        if (i < 100) {
            i++;
            sum += 2;
        }
        if (i > 100) {
            y = 7;
            g = 3;
        }
        if (sum > 200 || i * 2 != sum)
            y = 9;
    }
    int c = clamp(i);
    if (c > 10 && y == 1)
        g = 4;
    return g + y;
}
";

/// Memory through pointers, an array, members of a struct, and a division.
const MEMORY: &str = "int __VERIFIER_nondet_int(void);
struct pair { int a; unsigned char b; };
static int table[8];
static struct pair p;
static void set(int *to, int v)
{
    if (to)
        *to = v & 3;
}
int main(void)
{
    unsigned i;
    for (i = 0; i < 8; i++) {
        table[i] = i * 2;
        if (table[i] > 20)
            p.a = 1;
    }
    set(&p.a, __VERIFIER_nondet_int());
    set(0, 4);
    p.b = p.a + 1;
    if (p.b > 4 || p.a == 7)
        return table[3];
    return p.b / (p.a + 1);
}
";

/// A state machine with a state that is never entered.
const MACHINE: &str = "int __VERIFIER_nondet_int(void);
enum { IDLE, RUN, STOP, DEAD };
static int state = IDLE;
static int count;
static int step(int in)
{
    switch (state) {
    case IDLE: if (in) state = RUN; break;
    case RUN: if (in > 5) { state = STOP; count++; } break;
    case STOP: state = IDLE; break;
    case DEAD: count = -1; break;
    default: return 7;
    }
    return state;
}
int main(void)
{
    int last = 0;
    while (__VERIFIER_nondet_int() != 3) {
        last = step(__VERIFIER_nondet_int());
        if (last == DEAD)
            last = 9;
    }
    return last;
}
";

/// A program's folder, with its answers in `answers.json` and certificates in `proofs`.
fn proved(program: &str, criteria: &str) -> Workplace {
    let place = Workplace::with(program);
    place.done(&format!(
        "prove unit.c -c {criteria} --provers engines -j 1 --time 600 --json answers.json \
         --certificates proofs"
    ));
    place
}

/// The objectives of the answers that no run covers: criterion, text and place.
fn unreachable(place: &Workplace) -> BTreeSet<[String; 3]> {
    let answers = place.json("answers.json");
    let all = answers["objectives"].as_array().expect("a list").iter();
    let named = all.filter(|one| one["answer"].get("unreachable").is_some()).map(|one| {
        let at = &one["place"];
        let at = match at.as_str() {
            Some(text) => text.to_owned(),
            None => format!("{}:{}:{}", at["file"].as_str().unwrap(), at["line"], at["column"]),
        };
        [text(&one["criterion"]), text(&one["text"]), at]
    });
    named.collect()
}

/// The objectives of certificates that stand.
fn certified(place: &Workplace) -> BTreeSet<[String; 3]> {
    place.done("check proofs --time 600 --json checks.json");
    let checks = place.json("checks.json");
    let certificates = checks["certificates"].as_array().expect("a list").iter();
    let objectives = certificates.flat_map(|one| one["objectives"].as_array().expect("a list"));
    let named = objectives.flat_map(|one| one["of"].as_array().expect("a list"));
    named.map(|of| [text(&of["criterion"]), text(&of["text"]), text(&of["place"])]).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Everything that no run covers has a certificate that stands, and there is some of each criterion.
fn assert_all_stand(program: &str, criteria: &str) {
    let place = proved(program, criteria);
    let expected = unreachable(&place);
    assert_eq!(certified(&place), expected);
    for criterion in criteria.split(',') {
        assert!(expected.iter().any(|one| one[0] == criterion), "{criterion}: {expected:#?}");
    }
}

#[test]
fn labels_and_sequences_and_parts_of_hyperlabels_stand() {
    assert_all_stand(RELATED, "dc,mcc,mcdc,wm,all-uses");
}

#[test]
fn objectives_about_memory_stand() {
    assert_all_stand(MEMORY, "bc,bva,wm,all-uses");
}

#[test]
fn objectives_of_a_state_machine_stand() {
    assert_all_stand(MACHINE, "stmt,bc,all-uses");
}

#[test]
fn conditions_that_are_not_reached_have_no_value_if_that_is_asked() {
    let place = Workplace::with(
        "int __VERIFIER_nondet_int(void);
int main(void)
{
    int x = __VERIFIER_nondet_int();
    if (x > 0 && x < 9)
        return 1;
    return 0;
}
",
    );
    // A condition that is not reached is false on the state alone.
    place.done(
        "prove unit.c -c mcc --semantics short-circuit --provers engines -j 1 --json answers.json \
         --certificates proofs",
    );
    let found = certified(&place);
    assert!(!found.is_empty() && found == unreachable(&place), "{found:#?}");
    let certificate = certificate_of(&place);
    let mut changed = place.json(&certificate);
    assert_eq!(changed["objectives"]["short_circuit"], json!(true));
    changed["objectives"]["short_circuit"] = json!(false);
    place.write(&certificate, &changed.to_string());
    place.run("check proofs --time 600").says(70, &[]);
}

#[test]
fn labels_of_the_user_s_and_hyperlabels_of_them_stand() {
    let place = Workplace::with(
        "int __VERIFIER_nondet_int(void);
int main(void)
{
    int n = 0;
    while (__VERIFIER_nondet_int()) {
        if (n < 5)
            n++;
        //! low: n < 3
        //! high: n > 5
        //! objective h1 = [ high -> low ];
        //! objective h2 = low . high;
        ;
    }
    return n;
}
",
    );
    place.done(
        "prove unit.c -c user,htol --provers engines -j 1 --json answers.json \
         --certificates proofs",
    );
    let found = unreachable(&place);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert_eq!(certified(&place), found);
}

/// The name of the first certificate.
fn certificate_of(place: &Workplace) -> String {
    let all = entries(&place.path("proofs"));
    let is_one = |name: &String| name.ends_with(".certificate.json");
    let names = all.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    format!("proofs/{}", names.into_iter().find(is_one).expect("a certificate"))
}

/// A certificate of a definition that does not reach a use, and of the decision that guards it, and the
/// IR's text.
fn guarded() -> &'static (Value, String) {
    static FOUND: OnceLock<(Value, String)> = OnceLock::new();
    FOUND.get_or_init(|| {
        let place = proved(
            "int __VERIFIER_nondet_int(void);
int main(void)
{
    int i = 0, y = 1;
    while (__VERIFIER_nondet_int()) {
        if (i < 100)
            i++;
        if (i > 100)
            y = 7;
    }
    return y;
}
",
            "dc,all-uses",
        );
        let certificate = place.json(&certificate_of(&place));
        let file = certificate["program"]["file"].as_str().expect("a name");
        let text = place.read(&format!("proofs/{file}"));
        (certificate, text)
    })
}

/// The check of [`guarded`] after a change.
fn changed(change: impl FnOnce(&mut Value)) -> Ran {
    let (mut certificate, text) = guarded().clone();
    let place = Workplace::with("");
    place.write(certificate["program"]["file"].as_str().expect("a name"), &text);
    change(&mut certificate);
    place.write("a.certificate.json", &certificate.to_string());
    place.run("check . --time 600")
}

/// The goals that are the last labels of sequences, or those that are not.
fn goals(certificate: &mut Value, sequences: bool) -> Vec<&mut Value> {
    let goals = certificate["objectives"]["goals"].as_array_mut().expect("a list");
    goals.iter_mut().filter(|goal| goal.get("after").is_some() == sequences).collect()
}

#[test]
fn without_a_change_both_kinds_of_objectives_stand() {
    let ran = changed(|certificate| {
        assert!(!goals(certificate, true).is_empty() && !goals(certificate, false).is_empty());
    });
    ran.says(0, &[]);
    assert!(ran.out.contains("no run covers any of"), "{ran}");
}

#[test]
fn a_label_that_was_moved_is_seen() {
    // The return, to which every run comes that leaves the loop.
    let ran = changed(|certificate| {
        let events = certificate["objectives"]["events"].as_array_mut().expect("a list");
        let entry = json!({"function": 0, "name": "main", "at": ["entry"]});
        let function = events[0]["function"].clone();
        events.push(entry);
        let last = events.len() - 1;
        events[last]["function"] = function;
        let mut labels = goals(certificate, false);
        labels[0]["label"] = json!({"event": last, "predicate": {"constant": true}});
    });
    ran.says(70, &[]);
    assert!(ran.out.contains("false"), "{ran}");
}

#[test]
fn another_predicate_is_seen() {
    let ran = changed(|certificate| {
        for goal in goals(certificate, false) {
            let predicate = goal["label"]["predicate"].clone();
            goal["label"]["predicate"] = json!({"not": predicate});
        }
    });
    ran.says(70, &[]);
}

#[test]
fn a_sequence_without_its_first_label_is_seen() {
    let ran = changed(|certificate| {
        let all = json!({"constant": true});
        for goal in goals(certificate, true) {
            goal.as_object_mut().expect("an object").remove("after");
            goal["label"]["predicate"] = all.clone();
        }
    });
    ran.says(70, &[]);
}

#[test]
fn weaker_invariants_of_objectives_are_seen() {
    let ran = changed(|certificate| {
        for point in certificate["points"].as_array_mut().expect("a list") {
            point["invariants"] = json!([]);
        }
    });
    ran.says(70, &[]);
}

#[test]
fn a_flag_that_nothing_resets_is_seen_in_its_invariants() {
    let place = proved(
        "int __VERIFIER_nondet_int(void);
int main(void)
{
    int x = 1;
    for (int i = 0; i < 3; i++)
        x = 2;
    return x;
}
",
        "all-uses",
    );
    let name = certificate_of(&place);
    let mut certificate = place.json(&name);
    assert!(!goals(&mut certificate, true).is_empty(), "{certificate:#}");
    for flag in certificate["objectives"]["flags"].as_array_mut().expect("a list") {
        flag["ends"] = json!([]);
    }
    place.run("check proofs --time 600").says(0, &[]);
    place.write(&name, &certificate.to_string());
    place.run("check proofs --time 600").says(70, &[]);
}
