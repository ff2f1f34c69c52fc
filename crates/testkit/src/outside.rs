//! Random C functions that call undefined functions, for differential tests of their writes.
//!
//! All paths make the same calls in the same order, to objects that have values in the same bytes, so
//! that the calls of one test suit every other input, too.

use std::fmt::Write as _;

use lydian_base::Rng;

use crate::cgen::ARRAY_LENGTH;

/// The beginning of these texts.
pub const HEAD: &str = "\
struct pair { int left; char tag; int right; };
int ask(int what, int *to);
void fill(char *to, unsigned long size);
int pair_of(short *key, struct pair *to);
int any(unsigned long size, void *to);
long widen(double by, unsigned long *a, signed char *b);
int last = 3;
";

/// Calls, `#` being a small number.
const CALLS: [&str; 10] = [
    "r += ask(#, &x);",
    "r += ask(#, p0 > # ? &x : 0);",
    "r ^= ask(#, p1 & 1 ? &y : &last);",
    "fill(text, sizeof text);",
    "fill(text + 2, sizeof text - 2);",
    "r += pair_of(&key, &pair);",
    "r -= any(sizeof pair, &pair);",
    "r += any(2, &raw[1]);",
    "r += widen(0.5, &wide, &small);",
    "for (int i = 0; i < 3; i++) { ask(i, &y); r = r * 3 + (y & 7); }",
];

/// Statements that give values to objects or parts of them.
const STORES: [&str; 5] =
    ["x = p0 ^ #;", "text[#] = 'b';", "pair.tag = #;", "raw[# & 3] = p2;", "small = p1;"];

/// Conditions; the first ones read what has a value in any case.
const CONDITIONS: [&str; 10] = [
    "x > p0 + #",
    "y == # && x < #",
    "last == p2 || y > 5",
    "key == p2",
    "small < # && wide > 4",
    "text[2] == 'k' && text[3] != text[4]",
    "pair.left > pair.right",
    "pair.tag == #",
    "raw[1] == raw[2]",
    "(text[5] ^ pair.left) == #",
];

/// The text of a function `NAME(p0, p1, p2, int *a)` that returns `long`.
pub fn function(name: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = String::from(HEAD);
    let _ = write!(
        text,
        "long {name}(int p0, unsigned char p1, short p2, int *a)\n{{\n    \
         long r = 0;\n    int x = {}, y = {};\n    short key = 1;\n    \
         unsigned long wide = 2;\n    signed char small = 3;\n    \
         char text[8];\n    struct pair pair;\n    unsigned char raw[4];\n",
        rng.below(9),
        rng.below(9)
    );
    for _ in 0..rng.below(4) {
        line(&mut text, &mut rng, &STORES);
    }
    // The first calls give most of the read memory a value.
    for call in [CALLS[3], CALLS[5], CALLS[6], "any(4, raw);"] {
        if rng.below(6) > 0 {
            let _ = writeln!(text, "    {call}");
        }
    }
    for _ in 0..rng.below(5) + 2 {
        match rng.below(3) {
            0 => line(&mut text, &mut rng, &CALLS),
            _ => condition(&mut text, &mut rng),
        }
    }
    let _ = writeln!(text, "    return r + x + a[{}];\n}}", rng.below(ARRAY_LENGTH));
    text
}

/// One of the lines with a number in it.
fn line(text: &mut String, rng: &mut Rng, lines: &[&str]) {
    let chosen = lines[rng.below(lines.len() as u64) as usize];
    let _ = writeln!(text, "    {}", with_numbers(chosen, rng));
}

fn condition(text: &mut String, rng: &mut Rng) {
    let condition = CONDITIONS[rng.below(CONDITIONS.len() as u64) as usize];
    let _ = writeln!(
        text,
        "    if ({}) r += {}; else x ^= {};",
        with_numbers(condition, rng),
        rng.below(100),
        rng.below(8)
    );
}

fn with_numbers(pattern: &str, rng: &mut Rng) -> String {
    let mut text = String::new();
    for c in pattern.chars() {
        match c {
            '#' => text.push_str(&rng.below(8).to_string()),
            c => text.push(c),
        }
    }
    text
}
