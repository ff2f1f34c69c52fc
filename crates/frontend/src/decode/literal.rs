//! Reads back the literals that clang prints.

use crate::ast::{FloatLiteral, StringLiteral};

/// Reads a string literal as clang prints it, `L"a\x1234""b"`: the code units of `unit_size`
/// bytes. `None` if it is not of that form.
pub(super) fn read_string(printed: &str, unit_size: u8) -> Option<StringLiteral> {
    let quote = printed.find('"')?;
    let body = printed[quote + 1..].strip_suffix('"')?;
    let mut units = Vec::with_capacity(body.len());
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, unit_size, &mut units)?,
            // `""` only separates a hexadecimal escape from the digit after it.
            '"' => drop(chars.next_if_eq(&'"')),
            c => push_char(c, unit_size, &mut units),
        }
    }
    Some(StringLiteral { units: units.into(), unit_size })
}

fn escape(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    unit_size: u8,
    units: &mut Vec<u32>,
) -> Option<()> {
    let c = chars.next()?;
    let digits = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix, most| {
        let mut value = 0u32;
        let mut count = 0;
        while count < most {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            chars.next();
            count += 1;
        }
        (count > 0).then_some(value)
    };
    let unit = match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        'e' => 27,
        'x' => digits(chars, 16, usize::MAX)?,
        'u' | 'U' => {
            let value = digits(chars, 16, if c == 'u' { 4 } else { 8 })?;
            match char::from_u32(value) {
                Some(c) => push_char(c, unit_size, units),
                None => units.push(value),
            }
            return Some(());
        }
        '0'..='7' => {
            let mut value = c.to_digit(8)?;
            for _ in 0..2 {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                value = value * 8 + digit;
                chars.next();
            }
            value
        }
        other => u32::from(other),
    };
    units.push(unit);
    Some(())
}

fn push_char(c: char, unit_size: u8, units: &mut Vec<u32>) {
    match unit_size {
        1 => units.extend(c.encode_utf8(&mut [0; 4]).bytes().map(u32::from)),
        2 => units.extend(c.encode_utf16(&mut [0; 2]).iter().copied().map(u32::from)),
        _ => units.push(c.into()),
    }
}

/// Reads a floating literal as clang prints it. `single` rounds to `float`, which is what the
/// digits stand for there.
pub(super) fn read_float(printed: &str, single: bool) -> Option<FloatLiteral> {
    let value = if single { printed.parse::<f32>().ok()?.into() } else { printed.parse().ok()? };
    Some(FloatLiteral { value, text: printed.into() })
}

/// The value of a character literal: clang prints its 32 bits without their sign.
pub(super) fn read_character(printed: i128, signed: bool, bits: u32) -> i64 {
    let value = printed as u32;
    match (signed, bits) {
        (true, 0..=8) => i64::from(value as i8),
        (true, 9..=16) => i64::from(value as i16),
        (true, _) => i64::from(value as i32),
        (false, _) => i64::from(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(printed: &str, unit_size: u8) -> Vec<u32> {
        read_string(printed, unit_size).unwrap().units.to_vec()
    }

    #[test]
    fn escapes_are_read_back() {
        assert_eq!(units(r#""a\000b\377\n\t\"\\?""#, 1), [97, 0, 98, 255, 10, 9, 34, 92, 63]);
        assert_eq!(units("\"\"", 1), [0u32; 0]);
    }

    #[test]
    fn wide_strings_are_read_in_their_units() {
        assert_eq!(units(r#"L"a\x1234""b""#, 4), [97, 0x1234, 98]);
        assert_eq!(units(r#"u"\U0001F600\351""#, 2), [0xd83d, 0xde00, 0xe9]);
        assert_eq!(units(r#"U"\U0001F600""#, 4), [0x1f600]);
        assert_eq!(units(r#"u8"\303\251""#, 1), [0xc3, 0xa9]);
    }

    #[test]
    fn floats_are_read_in_their_precision() {
        assert_eq!(read_float("0.100000001", true).unwrap().value, f64::from(0.1f32));
        assert_eq!(read_float("4.9406564584124654E-324", false).unwrap().value, 5e-324);
        assert_eq!(read_float("+Inf", false).unwrap().value, f64::INFINITY);
    }

    #[test]
    fn characters_have_the_sign_of_their_type() {
        assert_eq!(read_character(4_294_967_295, true, 32), -1);
        assert_eq!(read_character(0xe9, false, 16), 0xe9);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC*", size in 1u8..5) {
            let _ = read_string(&text, size);
            let _ = read_string(&format!("\"{text}\""), size);
        }
    }
}
