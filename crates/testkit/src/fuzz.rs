//! Fuzzing of the front end with input that no clang prints and no programmer writes: C texts and
//! clang's trees with random changes.
//!
//! A tree is changed as JSON, node by node, so that most of it is still read: parts are dropped,
//! repeated, exchanged, put elsewhere, numbers and names replaced. Texts are changed token by token.
//! The front end may reject all of it; it may not panic, and it must end.

use lydian_base::Rng;
use lydian_frontend::Dump;
use lydian_frontend::lower::{LoweringOptions, lower};
use lydian_ir::verify::verify;
use serde_json::Value;

/// The front end's result for an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It is rejected with an error.
    Rejected,
    /// There is a program, with this number of functions that have bodies.
    Lowered(usize),
}

/// Decodes, lowers and verifies. What the verifier finds is no failure here: a tree that
/// contradicts itself need not become a program that does not.
pub fn read_dump(dump: &Dump) -> Reading {
    let Ok(unit) = dump.decode() else { return Reading::Rejected };
    let lowered = lower(&unit, &dump.source, LoweringOptions::default());
    drop(verify(&lowered.program));
    Reading::Lowered(lowered.program.defined().count())
}

/// Clang's output, cut into its layout lines and its declarations.
#[derive(Clone, Debug)]
pub struct Tree {
    layouts: Vec<u8>,
    declarations: Vec<Value>,
}

impl Tree {
    /// Reads clang's output; `None` if it is no tree.
    pub fn read(output: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(output).ok()?;
        let start = if text.starts_with("{\n") { 0 } else { text.find("\n{\n")? + 1 };
        let mut deserializer = serde_json::Deserializer::from_str(&text[start..]);
        deserializer.disable_recursion_limit();
        let mut unit: Value = serde::Deserialize::deserialize(&mut deserializer).ok()?;
        let declarations = unit.get_mut("inner")?.as_array_mut()?;
        let declarations = std::mem::take(declarations);
        Some(Self { layouts: output[..start].to_vec(), declarations })
    }

    /// The tree as output, indented as far as the front end needs it.
    pub fn print(&self) -> Vec<u8> {
        let mut output = self.layouts.clone();
        output.extend_from_slice(b"{\n  \"kind\": \"TranslationUnitDecl\",\n  \"inner\": [");
        for (index, declaration) in self.declarations.iter().enumerate() {
            let text = declaration.to_string();
            let body = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            let separator = if index == 0 { "\n    {" } else { ",\n    {" };
            output.extend_from_slice(separator.as_bytes());
            output.extend_from_slice(body.unwrap_or("").as_bytes());
            output.extend_from_slice(b"\n    }");
        }
        output.extend_from_slice(b"\n  ]\n}\n");
        output
    }

    /// The same with some random changes.
    #[must_use]
    pub fn mutated(&self, rng: &mut Rng) -> Self {
        let mut tree = self.clone();
        for _ in 0..1 + rng.below(4) {
            tree.mutate_once(rng);
        }
        tree
    }

    fn mutate_once(&mut self, rng: &mut Rng) {
        if self.declarations.is_empty() {
            return;
        }
        let count = self.declarations.len() as u64;
        // The user's declarations come last; the others are clang's and the headers'.
        let pick = |rng: &mut Rng| match rng.below(3) {
            0 => rng.below(count) as usize,
            _ => (count - 1 - rng.below(count.min(8))) as usize,
        };
        let at = pick(rng);
        match rng.below(12) {
            0 => drop(self.declarations.remove(at)),
            1 => {
                let other = pick(rng);
                self.declarations.swap(at, other);
            }
            2 => self.layouts = mutated_lines(&self.layouts, rng),
            _ => {
                let donor = self.declarations[pick(rng)].clone();
                mutate_value(&mut self.declarations[at], &donor, rng);
            }
        }
    }
}

/// Lines dropped, repeated, or with another number.
fn mutated_lines(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = rng.below(lines.len() as u64) as usize;
    match rng.below(3) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        _ => {
            if let Some(digit) = lines[at].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + rng.below(10) as u8;
            }
        }
    }
    lines.join(&b'\n')
}

/// A random node below this one, this one included.
fn random_node<'v>(value: &'v mut Value, rng: &mut Rng) -> &'v mut Value {
    let size = size(value);
    let mut wanted = rng.below(size as u64) as usize;
    let mut node = value;
    loop {
        if wanted == 0 {
            return node;
        }
        wanted -= 1;
        let children: Vec<&mut Value> = match node {
            Value::Array(items) => items.iter_mut().collect(),
            Value::Object(fields) => fields.values_mut().collect(),
            _ => unreachable!("a leaf has size 1"),
        };
        let mut next = None;
        for child in children {
            let below = self::size(child);
            if wanted < below {
                next = Some(child);
                break;
            }
            wanted -= below;
        }
        node = next.unwrap_or_else(|| unreachable!("sizes add up"));
    }
}

/// Values in it, itself included.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn mutate_value(value: &mut Value, donor: &Value, rng: &mut Rng) {
    let mut donor = donor.clone();
    let node = random_node(value, rng);
    match node {
        Value::Object(fields) if !fields.is_empty() => {
            let at = rng.below(fields.len() as u64) as usize;
            let key = fields.keys().nth(at).cloned().unwrap_or_default();
            match rng.below(3) {
                0 => drop(fields.remove(&key)),
                1 => {
                    let replaced = random_node(&mut donor, rng).clone();
                    fields.insert(key, replaced);
                }
                _ => *node = like(node, &mut donor, rng),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = rng.below(items.len() as u64) as usize;
            match rng.below(4) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                2 => {
                    let other = rng.below(items.len() as u64) as usize;
                    items.swap(at, other);
                }
                _ => items[at] = like(&items[at], &mut donor, rng),
            }
        }
        Value::Number(_) => *node = Value::from(random_number(rng)),
        Value::String(text) => *node = Value::from(random_text(text, &mut donor, rng)),
        Value::Bool(value) => *value = !*value,
        _ => *node = random_node(&mut donor, rng).clone(),
    }
}

/// A node of the donor of the same shape, as far as a few tries find one.
fn like(node: &Value, donor: &mut Value, rng: &mut Rng) -> Value {
    for _ in 0..8 {
        let found = random_node(donor, rng);
        let same = match (node, &*found) {
            (Value::Object(a), Value::Object(b)) => {
                a.contains_key("kind") == b.contains_key("kind")
            }
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        if same {
            return found.clone();
        }
    }
    node.clone()
}

fn random_number(rng: &mut Rng) -> i64 {
    match rng.below(5) {
        0 => rng.below(16) as i64,
        1 => -(rng.below(16) as i64),
        2 => i64::MAX,
        3 => rng.below(1 << 33) as i64,
        _ => rng.below(4000) as i64,
    }
}

fn random_text(text: &str, donor: &mut Value, rng: &mut Rng) -> String {
    const WORDS: [&str; 20] = [
        "",
        "0",
        "-1",
        "18446744073709551616",
        "340282366920938463463374607431768211456",
        "int",
        "void",
        "char[0]",
        "int[4294967296]",
        "struct s",
        "int (*)(int, ...)",
        "_Bool",
        "double",
        "__int128",
        "const volatile char *",
        "int[",
        "LValueToRValue",
        "BitCast",
        "0x1",
        "é\u{0}",
    ];
    match rng.below(4) {
        0 => WORDS[rng.below(WORDS.len() as u64) as usize].to_owned(),
        1 => {
            let mut characters: Vec<char> = text.chars().collect();
            if !characters.is_empty() {
                let at = rng.below(characters.len() as u64) as usize;
                characters[at] = char::from(32 + rng.below(95) as u8);
            }
            characters.into_iter().collect()
        }
        2 => text.chars().take(rng.below(1 + text.len() as u64) as usize).collect(),
        _ => {
            for _ in 0..20 {
                if let Value::String(found) = random_node(donor, rng) {
                    return found.clone();
                }
            }
            text.to_owned()
        }
    }
}

/// A C text with some random changes to its tokens.
pub fn mutated_text(text: &str, rng: &mut Rng) -> String {
    const TOKENS: [&str; 56] = [
        "+",
        "-",
        "*",
        "/",
        "%",
        "<<",
        ">>",
        "<",
        "<=",
        "==",
        "!=",
        "&",
        "|",
        "^",
        "&&",
        "||",
        "!",
        "~",
        "=",
        "+=",
        "<<=",
        "++",
        "--",
        ",",
        "?",
        ":",
        ";",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ".",
        "->",
        "0",
        "1",
        "-1",
        "0x7fffffff",
        "1ull",
        "1.5",
        "'a'",
        "\"s\"",
        "int",
        "unsigned",
        "char",
        "long",
        "double",
        "const",
        "static",
        "struct",
        "sizeof",
        "goto",
        "return",
        "if",
        "_Alignof",
    ];
    let mut tokens: Vec<String> = split_tokens(text);
    for _ in 0..1 + rng.below(3) {
        if tokens.is_empty() {
            break;
        }
        let at = rng.below(tokens.len() as u64) as usize;
        let other = rng.below(tokens.len() as u64) as usize;
        match rng.below(6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other].clone()),
            2 => tokens.swap(at, other),
            3 => tokens[at] = tokens[other].clone(),
            _ => tokens[at] = TOKENS[rng.below(TOKENS.len() as u64) as usize].to_owned(),
        }
    }
    tokens.concat()
}

/// Words, numbers, and single characters, with the white space that follows each.
fn split_tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        let joins = tokens
            .last()
            .and_then(|token| token.chars().last())
            .is_some_and(|last| c.is_whitespace() || is_word(c) && is_word(last));
        match (joins, tokens.last_mut()) {
            (true, Some(token)) => token.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "*** Dumping\n{\n  \"kind\": \"T\",\n  \"inner\": [\n    {\n      \"id\": \
                          \"0x1\",\n      \"inner\": [{\"a\": 1}, [true]]\n    }\n  ]\n}\n";

    #[test]
    fn a_tree_that_is_not_changed_is_printed_with_the_same_meaning() {
        let tree = Tree::read(OUTPUT.as_bytes()).unwrap();
        let again = Tree::read(&tree.print()).unwrap();
        assert_eq!(tree.declarations, again.declarations);
        assert_eq!(again.layouts, b"*** Dumping\n");
        assert_eq!(size(&tree.declarations[0]), 7);
    }

    #[test]
    fn the_same_seed_gives_the_same_changes_and_most_seeds_change_something() {
        let tree = Tree::read(OUTPUT.as_bytes()).unwrap();
        let mutant = |seed| tree.mutated(&mut Rng::new(seed)).print();
        assert_eq!(mutant(5), mutant(5));
        let changed = (0..50).filter(|seed| mutant(*seed) != tree.print()).count();
        assert!(changed > 30, "{changed}");
        let text = "int f(int a) { return a + 12; }";
        assert_eq!(split_tokens(text).concat(), text);
        let changed = (0..50).filter(|seed| mutated_text(text, &mut Rng::new(*seed)) != text);
        assert!(changed.count() > 40);
    }
}
