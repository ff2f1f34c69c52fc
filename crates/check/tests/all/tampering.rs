//! Certificates with one thing changed. Those of a program that comes to the error never stand. Those of
//! another that do stand have invariants that hold in all states of its runs, as a second evaluator of
//! formulas finds.

use lydian_base::Rng;
use lydian_check::Outcome;
use serde_json::Value;

use crate::common::{Example, counting, outcome, recursive};

/// The certificates with one thing changed that are tried of each example.
const CHANGES: usize = 60;

const TRUTHS: [&str; 3] = ["and", "or", "=>"];
const TESTS: [&str; 5] = ["=", "bvult", "bvule", "bvslt", "bvsle"];
const SUMS: [&str; 6] = ["bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor"];

/// The words of a formula; parentheses are words, too.
fn words(formula: &str) -> Vec<String> {
    let spaced = formula.replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// The value of a formula whose parts have these values, as numbers of 32 bits.
fn value(words: &mut std::slice::Iter<'_, String>, parts: &[u32]) -> u32 {
    let word = words.next().expect("a word").as_str();
    if word != "(" {
        return match word.split_once(':') {
            Some((number, _)) => number.parse().expect("a number"),
            None if word == "true" => 1,
            None if word == "false" => 0,
            None => parts[word[1..].parse::<usize>().expect("a part")],
        };
    }
    let head = words.next().expect("a function").as_str();
    if head == "not" {
        let a = value(words, parts);
        words.next();
        return u32::from(a == 0);
    }
    let (a, b) = (value(words, parts), value(words, parts));
    words.next();
    let truth = |truth: bool| u32::from(truth);
    match head {
        "and" | "bvand" => a & b,
        "or" | "bvor" => a | b,
        "=>" => truth(a == 0 || b != 0),
        "=" => truth(a == b),
        "bvult" => truth(a < b),
        "bvule" => truth(a <= b),
        "bvslt" => truth((a as i32) < b as i32),
        "bvsle" => truth(a as i32 <= b as i32),
        "bvadd" => a.wrapping_add(b),
        "bvsub" => a.wrapping_sub(b),
        "bvmul" => a.wrapping_mul(b),
        "bvxor" => a ^ b,
        _ => panic!("{head}"),
    }
}

fn holds(formula: &str, parts: &[u32]) -> bool {
    value(&mut words(formula).iter(), parts) != 0
}

fn pick<'a>(rng: &mut Rng, among: &[&'a str]) -> &'a str {
    among[rng.next_u64() as usize % among.len()]
}

/// A formula with one word changed: an operator, a constant or a part.
fn changed_formula(formula: &str, parts: usize, rng: &mut Rng) -> String {
    let mut words = words(formula);
    let can_change = |word: &&mut String| word.as_str() != "(" && word.as_str() != ")";
    let mut places: Vec<&mut String> = words.iter_mut().filter(can_change).collect();
    let count = places.len();
    let word = &mut *places[rng.next_u64() as usize % count];
    let new = match word.as_str() {
        own if TRUTHS.contains(&own) => pick(rng, &TRUTHS).to_owned(),
        own if TESTS.contains(&own) => pick(rng, &TESTS).to_owned(),
        own if SUMS.contains(&own) => pick(rng, &SUMS).to_owned(),
        own if own.contains(':') => match rng.next_u64() % 3 {
            0 => format!("{}:32", rng.next_u64() % 4),
            1 => format!("{}:32", rng.next_u64() as u32),
            _ => format!("x{}", rng.next_u64() as usize % parts),
        },
        own if own.starts_with('x') => match rng.next_u64() % 3 {
            0 => format!("{}:32", rng.next_u64() % 4),
            _ => format!("x{}", rng.next_u64() as usize % parts),
        },
        own => own.to_owned(),
    };
    *word = new;
    words.join(" ")
}

/// The paths to all values in a document that are no lists or tables.
fn leaves(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| leaves(inner, &format!("{path}/{name}"), all));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, inner)| leaves(inner, &format!("{path}/{at}"), all));
        }
        _ => all.push(path.to_owned()),
    }
}

/// Changes one thing anywhere in a certificate.
fn change_anything(certificate: &mut Value, rng: &mut Rng) {
    let mut all = Vec::new();
    leaves(certificate, "", &mut all);
    let path = all[rng.next_u64() as usize % all.len()].clone();
    let parts = certificate["state"].as_array().map_or(0, Vec::len);
    let leaf = certificate.pointer_mut(&path).expect("a leaf");
    *leaf = match &*leaf {
        Value::Number(number) => {
            let number = number.as_u64().expect("a number");
            let others = [0, 1, 2, 3, number + 1, number.saturating_sub(1), rng.next_u64() >> 1];
            others[rng.next_u64() as usize % others.len()].into()
        }
        Value::Bool(own) => (!own).into(),
        Value::String(text) if path.contains("/invariants/") => {
            changed_formula(text, parts.max(1), rng).into()
        }
        Value::String(text) => match text.as_str() {
            "induction" => "exhaustion".into(),
            "enter" => "return".into(),
            "return" => "enter".into(),
            "id" => "main".into(),
            other => format!("{other}x").into(),
        },
        _ => Value::Null,
    };
}

#[test]
fn no_change_makes_a_certificate_of_a_program_with_a_reachable_error_stand() {
    let sum = "mul.u(v0, 2:i32)";
    let examples = [
        counting(&format!("add.u({sum}, 1:i32)"), "(= x1 (bvmul 2:32 x0))"),
        counting(sum, "(= x1 (bvmul 2:32 x0))").with_text("v1, 2:i32", "v1, 3:i32"),
        recursive("add.u(v0, 1:i32)", "(= x1 (bvadd x0 1:32))"),
        recursive("v0", "(= x1 x0)").with_text("v1, 1:i32", "v1, 2:i32"),
    ];
    for (at, example) in examples.iter().enumerate() {
        assert_ne!(example.outcome(), Outcome::Checked, "example {at}");
        for seed in 0..CHANGES as u64 {
            let mut rng = Rng::new(seed);
            let mut certificate = example.certificate.clone();
            for _ in 0..=seed % 3 {
                change_anything(&mut certificate, &mut rng);
            }
            let found = outcome(&example.text, &certificate);
            assert_ne!(found, Outcome::Checked, "example {at}, seed {seed}: {certificate}");
        }
    }
}

/// The number of changed formulas with which an example stands, each of which has to hold for all parts
/// that runs have, and of those with which it does not.
fn tampered(example: &Example, point: usize, states: &[Vec<u32>]) -> (usize, usize) {
    assert_eq!(example.outcome(), Outcome::Checked);
    let (mut stand, mut refused) = (0, 0);
    let place = format!("/points/{point}/invariants/0");
    let parts = example.certificate["state"].as_array().expect("a list").len();
    for seed in 0..CHANGES as u64 {
        let mut certificate = example.certificate.clone();
        let own = certificate.pointer_mut(&place).expect("an invariant");
        let text = own.as_str().expect("a text").to_owned();
        let new = changed_formula(&text, parts, &mut Rng::new(seed));
        if words(&new) == words(&text) {
            continue;
        }
        *own = new.clone().into();
        if outcome(&example.text, &certificate) == Outcome::Checked {
            stand += 1;
            let all = states.iter().all(|state| holds(&new, state));
            assert!(all, "it does not hold in all states: {new}");
        } else {
            refused += 1;
        }
    }
    (stand, refused)
}

#[test]
fn a_changed_invariant_is_refused_or_holds_in_all_states() {
    let states = |n: u32| (0..=n).map(move |i| vec![i, 2 * i, n]);
    let states: Vec<Vec<u32>> = (0..30).chain([1000]).flat_map(states).collect();
    let example =
        counting("mul.u(v0, 2:i32)", "(and (= x1 (bvmul 2:32 x0)) (or (bvule x0 x2) (= x2 x2)))");
    let (stand, refused) = tampered(&example, 1, &states);
    assert!(stand > 3 && refused > 10, "{stand}, {refused}");
}

#[test]
fn a_changed_contract_is_refused_or_holds_of_all_calls() {
    let calls: Vec<Vec<u32>> = (0..200).map(|x| vec![x, x]).collect();
    let example = recursive("v0", "(and (= x1 x0) (bvule 0:32 x1))");
    let (stand, refused) = tampered(&example, 2, &calls);
    assert!(stand > 3 && refused > 10, "{stand}, {refused}");
}
