//! gcc's nested functions: definitions within bodies of functions.
//!
//! Clang sees a declaration of the same offsets in the place of each: its body is blank, with a `;` where
//! it began. The full text has a `{` there, by which lowering tells it from the user's declarations.

use super::{blank, end_of_braces, end_of_character, end_of_string};

/// Words that may stand before parentheses and a block, and begin no definition.
const STATEMENTS: [&[u8]; 9] =
    [b"if", b"while", b"for", b"switch", b"else", b"do", b"return", b"goto", b"case"];

/// Blanks the bodies of nested functions, and the `auto` of their declarations.
pub(super) fn blank_nested(bytes: &mut [u8]) {
    let (mut at, mut began) = (0, 0);
    let (mut depth, mut parentheses) = (0_usize, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'\'' => at = end_of_character(bytes, at),
            b'(' | b'[' => parentheses += 1,
            b')' | b']' => parentheses = parentheses.saturating_sub(1),
            b'{' if depth > 0 && parentheses == 0 && defines(&bytes[began..at]) => {
                let end = end_of_braces(bytes, at);
                blank(&mut bytes[at..end]);
                bytes[at] = b';';
                (at, began) = (end, end);
                continue;
            }
            b'{' => {
                depth += 1;
                began = at + 1;
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                began = at + 1;
            }
            b';' => {
                // Clang takes no `auto` before a function.
                let statement = bytes[began..at].trim_ascii_start();
                if depth > 0 && statement.starts_with(b"auto ") && statement.ends_with(b")") {
                    let auto = at - statement.len();
                    blank(&mut bytes[auto..auto + 4]);
                }
                began = at + 1;
            }
            b':' if parentheses == 0 => began = at + 1,
            _ => {}
        }
        at += 1;
    }
}

/// Whether what stands before a `{` declares a function: words, the last of them the name, and
/// parameters in parentheses.
fn defines(before: &[u8]) -> bool {
    let Some(parameters) = before.trim_ascii_end().strip_suffix(b")") else { return false };
    let mut depth = 1_usize;
    let open = parameters.iter().rposition(|byte| {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some(open) = open else { return false };
    let head = &parameters[..open];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if !head.iter().all(|byte| is_part(byte) || *byte == b'*' || byte.is_ascii_whitespace()) {
        return false;
    }
    let words = || head.split(|byte| !is_part(byte)).filter(|word| !word.is_empty());
    words().count() >= 2 && words().all(|word| !STATEMENTS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        blank_nested(&mut bytes);
        assert_eq!(bytes.len(), text.len());
        String::from_utf8(bytes).expect("blanks are text")
    }

    #[test]
    fn definitions_within_bodies_become_declarations() {
        let text = "int f(int k) { auto int g(int);\n  int g(int x) { return '{' + x * k; }\n  \
                    struct s *h(void) { if (k) { } return 0; } return g(3); }";
        let found = blanked(text);
        assert!(found.contains("{      int g(int);\n  int g(int x) ;      "), "{found}");
        assert!(found.contains("struct s *h(void) ;    "), "{found}");
        assert!(found.ends_with("return g(3); }"), "{found}");
    }

    #[test]
    fn other_blocks_and_functions_stay() {
        for text in [
            "int f(int a) { if (a) { } else if (b(a)) { } for (;;) { } switch (a) { case 1: { } } }",
            "int f(void) { int t[] = { g(1) }; struct s v = (struct s) { 1 }; do { } while (g(2)); }",
            "struct s { int (*f)(int); }; int g(void) { return ({ h(1); }); } int k(void) { }",
            "int f(void) { const char *s = \"int g(int) {\"; l: { } char c = '\"'; }",
            "int f(void) { asm (\"\" : : \"r\" (({ 1; }))); return (int) { 2 }; }",
        ] {
            assert_eq!(blanked(text), text);
        }
    }

    #[test]
    fn text_that_ends_anywhere_is_no_trouble() {
        let text = "int f(int k) { int g(int x) { return 'a'; } \"b\\\"\" }";
        (0..text.len()).for_each(|end| drop(blanked(&text[..end])));
    }
}
