//! Literals in texts of C.

/// The position behind a literal that began with a quote before `at`, or the end of the text. Linear in the
/// literal.
pub fn end_of_literal(text: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_ends_at_its_quote_or_with_the_text() {
        assert_eq!(end_of_literal(br#""a\"'b" c"#, 1, b'"'), 7);
        assert_eq!(end_of_literal(b"'\\'", 1, b'\''), 3);
        assert_eq!(end_of_literal(b"\"a\\", 1, b'"'), 3);
        assert_eq!(end_of_literal(b"", 1, b'"'), 0);
    }
}
