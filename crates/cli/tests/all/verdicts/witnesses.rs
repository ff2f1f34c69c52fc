//! What `lydian prove` leaves for other tools: witnesses of SV-COMP's format, and proofs as C.

use std::process::Command;

use crate::common::{Ran, Workplace, entries};

/// Two loops with relations between their variables, and a state machine's loop without any.
const PROVED: &str = "\
extern void abort(void);
void reach_error(void) { abort(); }
unsigned __VERIFIER_nondet_uint(void);
int __VERIFIER_nondet_int(void);
int total;
static void add(int by) { total += by; }
int main(void)
{
    unsigned i = 0, sum = 0, n = __VERIFIER_nondet_uint();
    while (i < n) {
        i++;
        sum += 2;
    }
    if (sum != 2 * i)
        reach_error();
    int x = 0;
    do {
        x++;
        add(1);
    } while (__VERIFIER_nondet_int());
    if (x != total)
        reach_error();
    for (int j = 0; j < 100; j++)
        if (j > 300)
            reach_error();
    return 0;
}
";

const REACHED: &str = "\
extern void abort(void);
void reach_error(void) { abort(); }
unsigned char __VERIFIER_nondet_uchar(void);
int __VERIFIER_nondet_int(void);
int main(void)
{
    unsigned i = 0;
    while (__VERIFIER_nondet_int() == -3)
        i += __VERIFIER_nondet_uchar();
    if (i == 7)
        reach_error();
    return 0;
}
";

/// Lines of YAML of the form that witnesses have: maps and lists by indentation, strings in quotes.
struct Yaml {
    lines: Vec<(usize, String)>,
}

impl Yaml {
    /// Reads a text, in which each line is an item of a list, a key, or a key with a value.
    fn read(text: &str) -> Self {
        let mut lines = Vec::new();
        for line in text.lines() {
            let rest = line.trim_start();
            let mut indent = line.len() - rest.len();
            assert!(indent % 2 == 0 && !line.contains('\t'), "{line}");
            let mut rest = rest;
            while let Some(item) = rest.strip_prefix("- ") {
                lines.push((indent, "-".to_owned()));
                indent += 2;
                rest = item;
            }
            let is_string = rest.starts_with('"') && !rest.contains("\": ");
            assert!(is_string || rest.ends_with(':') || rest.contains(": "), "{line}");
            lines.push((indent, rest.to_owned()));
        }
        Self { lines }
    }

    /// All values of a key, without quotes.
    fn all(&self, key: &str) -> Vec<String> {
        let prefix = format!("{key}: ");
        let values = self.lines.iter().filter_map(|(_, line)| line.strip_prefix(&prefix));
        values
            .map(|value| serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()))
            .collect()
    }

    fn only(&self, key: &str) -> String {
        let all = self.all(key);
        assert_eq!(all.len(), 1, "{key}: {all:?}");
        all.into_iter().next().unwrap()
    }
}

/// Checks the rules of the format that all entries follow.
fn check_metadata(yaml: &Yaml, kind: &str) {
    assert_eq!(yaml.only("entry_type"), kind);
    assert_eq!(yaml.only("format_version"), "2.0");
    assert_eq!(yaml.only("language"), "C");
    assert_eq!(yaml.only("specification"), "G ! call(reach_error())");
    assert!(["ILP32", "LP64"].contains(&yaml.only("data_model").as_str()));
    let uuid = yaml.only("uuid");
    let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
    let time = yaml.only("creation_time");
    assert!(time.len() == 20 && time.ends_with('Z') && &time[10..11] == "T", "{time}");
    assert_eq!(yaml.only("name"), "Lydian");
    let hash = yaml.only("\"unit.c\"");
    assert!(hash.len() == 64 && hash.chars().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
}

/// The text of the program from each place that a witness names on.
fn texts<'t>(yaml: &Yaml, program: &'t str) -> Vec<&'t str> {
    let lines: Vec<&str> = program.lines().collect();
    let places = yaml.all("line").into_iter().zip(yaml.all("column"));
    let text = places.map(|(line, column)| {
        let (line, column): (usize, usize) = (line.parse().unwrap(), column.parse().unwrap());
        &lines[line - 1][column - 1..]
    });
    text.collect()
}

#[test]
fn a_proof_has_a_correctness_witness_with_invariants_at_its_loops() {
    let place = Workplace::with(PROVED);
    let ran = place.done("prove unit.c --time 60 --witnesses w");
    let yaml = Yaml::read(&place.read("w/correctness.yml"));
    check_metadata(&yaml, "invariant_set");
    assert_eq!(entries(&place.path("w")).len(), 1, "{ran}");
    let kinds = yaml.all("type");
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| kind == "loop_invariant"), "{ran}");
    assert_eq!(yaml.all("format"), vec!["c_expression"; kinds.len()]);
    for text in texts(&yaml, PROVED) {
        assert!(["while (", "do {", "for ("].iter().any(|word| text.starts_with(word)), "{text}");
    }
    let values = yaml.all("value");
    assert!(values.iter().any(|value| value.contains("total")), "{values:?}");
    assert!(values.iter().any(|value| value.contains("sum")), "{values:?}");
}

#[test]
fn a_run_has_a_violation_witness_with_its_inputs_and_the_error() {
    let place = Workplace::with(REACHED);
    let ran = place.done("prove unit.c --time 60 --witnesses w");
    let yaml = Yaml::read(&place.read("w/violation-11-0.yml"));
    check_metadata(&yaml, "violation_sequence");
    let kinds = yaml.all("type");
    let (last, returns) = kinds.split_last().expect("waypoints");
    assert_eq!(last, "target", "{ran}");
    assert!(returns.len() >= 2 && returns.iter().all(|kind| kind == "function_return"), "{ran}");
    assert!(yaml.all("action").iter().all(|action| action == "follow"));
    let values = yaml.all("value");
    assert_eq!(values.len(), returns.len());
    assert_eq!(values[0], "\\result == -3");
    let (target, calls) =
        texts(&yaml, REACHED).split_last().map(|(a, b)| (*a, b.to_vec())).unwrap();
    assert!(target.starts_with("reach_error();"), "{target}");
    assert!(calls.iter().all(|text| text.starts_with(')')), "{calls:?}");
    // Each waypoint ends a segment of its own.
    let text = place.read("w/violation-11-0.yml");
    assert_eq!(text.matches("- segment:").count(), kinds.len());
}

/// Definitions with which a proof in C runs as the program does, its assertions checked.
const TRANSPARENT: &str = "\
#include <stdio.h>
#include <stdlib.h>
#define __CPROVER_assert(holds, text) ((holds) ? (void)0 : (puts(text), exit(9)))
#define __CPROVER_assume(holds) ((void)0)
#define __CPROVER_havoc_object(object) ((void)0)
static unsigned left;
unsigned __VERIFIER_nondet_uint(void) { return left * 3; }
int __VERIFIER_nondet_int(void) { return left && left--; }
#define main program_main
#include \"proof.c\"
#undef main
int main(void) { for (unsigned n = 0; n < 40; n++) { total = 0; left = n; program_main(); } return 0; }
";

#[test]
fn the_invariants_of_a_proof_in_c_hold_in_runs_of_the_program() {
    let place = Workplace::with(PROVED);
    let ran = place.done("prove unit.c --time 60 --export-c proof.c");
    let text = place.read("proof.c");
    assert_eq!(text.matches("__CPROVER_assert(0, \"error at ").count(), 3, "{ran}");
    assert!(text.matches("lydian_turn").count() >= 9, "{text}");
    place.write("runs.c", TRANSPARENT);
    let mut compiler = Command::new("clang-19");
    place.settle(compiler.args(["-w", "-fwrapv", "runs.c", "-o", "runs"]));
    let compiled = Ran::of(&mut compiler);
    assert_eq!(compiled.code, Some(0), "{compiled}\n{text}");
    let mut runs = Command::new(place.path("runs"));
    place.settle(&mut runs);
    let runs = Ran::of(&mut runs);
    assert_eq!(runs.code, Some(0), "{runs}\n{text}");
}

#[test]
fn a_program_that_writes_through_a_pointer_has_no_proof_in_c() {
    let program = PROVED.replace("total += by;", "int *to = &total; *to += by;");
    let place = Workplace::with(&program);
    let ran = place.done("prove unit.c --time 60 --export-c proof.c");
    assert!(ran.out.contains("has no proof in C: it writes through a pointer"), "{ran}");
    assert!(!place.path("proof.c").exists());
}

#[test]
fn cbmc_checks_a_proof_in_c() {
    let named = std::env::var("LYDIAN_CBMC").unwrap_or_else(|_| "cbmc".to_owned());
    let version = Command::new(&named).arg("--version").output();
    let Ok(version) = version.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()) else {
        use std::io::Write as _;
        let said = "there is no cbmc on the PATH and none in LYDIAN_CBMC: this was not tested\n";
        let _ = std::io::stderr().write_all(said.as_bytes());
        return;
    };
    let place = Workplace::with(PROVED);
    place.done("prove unit.c --time 60 --export-c proof.i");
    let check = |file: &str| {
        let mut command = Command::new(&named);
        command.args([file, "--unwind", "3", "--unwinding-assertions"]);
        if !version.starts_with('5') {
            // Overflow is no error by the rules of proofs.
            command.arg("--no-standard-checks");
        }
        place.settle(&mut command);
        Ran::of(&mut command)
    };
    let checked = check("proof.i");
    assert_eq!(checked.code, Some(0), "{checked}");
    let wrong = place.read("proof.i").replace("sum += 2;", "sum += 3;");
    place.write("wrong.i", &wrong);
    let refuted = check("wrong.i");
    assert_eq!(refuted.code, Some(10), "{refuted}");
}
