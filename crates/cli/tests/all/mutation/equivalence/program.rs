//! Functions, and a program that calls mutants of them on random inputs.

use std::fmt::Write as _;

use serde_json::Value;

/// Functions of numbers with loops, switches, static variables and memory of their own.
pub(crate) const FUNCTIONS: [(&str, &str); 6] = [
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
pub(crate) fn unit() -> String {
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

/// A program that calls the functions and mutants of them on so many random inputs, and says which mutant
/// differs.
pub(crate) fn program(mutants: &[&Value], inputs: u32) -> String {
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
    for (unsigned turn = 0; turn < {inputs}u; turn++) {{
        unsigned a = next(), b = next();
        {checks}
    }}
    return 0;
}}
"
    )
}
