//! Mutants that are proved equivalent, against random inputs: no input tells them from the original.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use super::mutate;
use crate::common::Workplace;

/// The inputs that each mutant meets.
const INPUTS: u32 = 200_000;

/// Functions of numbers with loops, switches, static variables and memory of their own.
const FUNCTIONS: [(&str, &str); 6] = [
    (
        "bits",
        "unsigned bits(unsigned n) { unsigned k = 0; for (unsigned i = 0; i < 8; i++) k += n >> i & 1; return k; }",
    ),
    (
        "clamp",
        "int clamp(int a, int b) { if (a < 0) a = 0; if (a > 99) a = 99; return a < b ? a : b; }",
    ),
    (
        "sorted",
        "int sorted(int a, int b) { int t[2] = { a, b }; if (t[0] > t[1]) { t[0] = b; t[1] = a; } return t[0] ^ 5; }",
    ),
    (
        "kind",
        "int kind(int c, int d) { switch (c & 3) { case 0: return d > 0; case 1: return d >= 0; default: break; } return c & 1 ? d : -1; }",
    ),
    (
        "parity",
        "unsigned parity(unsigned a, unsigned b) { unsigned s = (a & 15) * ((a & 15) + 1); return s & 1 ? 5 : b; }",
    ),
    (
        "even",
        "unsigned even(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < 3; i++) s += (n + i) * (n + i + 1); return s & 1 ? 5 : n; }",
    ),
];

/// The unit, each function on a line.
fn unit() -> String {
    let lines: Vec<&str> = FUNCTIONS.iter().map(|(_, text)| *text).collect();
    format!("{}\nint main(void) {{ return clamp(1, 2) == 7; }}\n", lines.join("\n"))
}

/// A function with a change, under another name.
fn changed(mutant: &Value, number: usize) -> String {
    let text = |key: &str| mutant[key].as_str().unwrap();
    let at =
        |key: &str| (&mutant[key]["line"], mutant[key]["column"].as_u64().unwrap() as usize - 1);
    let ((line, start), (last, end)) = (at("start"), at("end"));
    assert_eq!(line, last, "each function is a line");
    let (name, own) = FUNCTIONS[line.as_u64().unwrap() as usize - 1];
    let changed = format!("{}{}{}", &own[..start], text("replacement"), &own[end..]);
    changed.replacen(&format!("{name}("), &format!("mutant_{number}("), 1)
}

/// A program that calls the functions and mutants of them on random inputs, and says which differ.
fn program(mutants: &[&Value]) -> String {
    let mut text = unit().replace("int main(void)", "int unused(void)");
    let mut checks = String::new();
    for (number, mutant) in mutants.iter().enumerate() {
        let _ = writeln!(text, "{}", changed(mutant, number));
        let name = mutant["function"].as_str().unwrap();
        let args = if ["bits", "even"].contains(&name) { "a" } else { "a, b" };
        let _ = writeln!(
            checks,
            "if ({name}({args}) != mutant_{number}({args})) return printf(\"%d: %u %u\\n\", {number}, a, b), 1;"
        );
    }
    format!(
        "int printf(const char *, ...);\n{text}
static unsigned long long seed = 88172645463325252ull;
static unsigned next(void)
{{
    static const unsigned edges[] = {{ 0, 1, 2, 3, 98, 99, 100, 255, 0x7fffffff, 0x80000000, 0xffffffff }};
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    unsigned n = (unsigned)(seed >> 11);
    return n % 3 == 0 ? edges[(n >> 4) % 11] : n % 3 == 1 ? n >> 22 : n;
}}
int main(void)
{{
    for (unsigned turn = 0; turn < {INPUTS}u; turn++) {{
        unsigned a = next(), b = next();
        {checks}
    }}
    return 0;
}}
"
    )
}

#[test]
fn no_random_input_tells_a_mutant_apart_that_is_proved_equivalent() {
    let at = Workplace::with(&unit());
    let words = ["unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit", "--json", "m.json"];
    let operators = "ROR,ABS,CRO";
    let more = ["--proof-time", "30", "--operators", operators, "--show", "0"];
    let ran = mutate(&at, &[&words[..], &more].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let all = report["mutants"].as_array().unwrap().iter();
    let of_loops =
        |it: &&Value| ["bits", "sorted", "even"].contains(&it["function"].as_str().unwrap());
    let proved: Vec<&Value> = all
        .filter(|it| it["outcome"]["kind"] == "equivalent" && it["function"] != "main")
        .collect();
    let by_proof = |it: &&Value| it["outcome"]["proof"] == "proof";
    let count = proved.iter().copied().filter(by_proof).filter(of_loops).count();
    assert!(count > 0, "loops and memory: {ran}");
    at.write("check.c", &program(&proved));
    let build = ["-O1", "-w", "-fwrapv", "check.c", "-o", "check"];
    let built = Command::new("clang-19").args(build).current_dir(at.path("")).status().unwrap();
    assert!(built.success());
    let output = Command::new(at.path("check")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = said.split(':').next().and_then(|number| proved.get(number.parse::<usize>().ok()?));
    assert!(output.status.success(), "{said}{wrong:?}");
}
