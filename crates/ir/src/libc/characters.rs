//! `<ctype.h>` in the C locale, as glibc's tables have it.

use super::CharacterClassFn;

/// The classes of a character in the C locale, as the bits of glibc's table of them.
pub const fn character_classes(c: u8) -> u16 {
    let classes: [(bool, u16); 12] = [
        (c.is_ascii_uppercase(), 0x100),
        (c.is_ascii_lowercase(), 0x200),
        (c.is_ascii_alphabetic(), 0x400),
        (c.is_ascii_digit(), 0x800),
        (c.is_ascii_hexdigit(), 0x1000),
        (matches!(c, b' ' | 9..=13), 0x2000),
        (matches!(c, 32..=126), 0x4000),
        (matches!(c, 33..=126), 0x8000),
        (matches!(c, b' ' | b'\t'), 1),
        (c.is_ascii_control(), 2),
        (c.is_ascii_punctuation(), 4),
        (c.is_ascii_alphanumeric(), 8),
    ];
    let (mut bits, mut k) = (0, 0);
    while k < classes.len() {
        if classes[k].0 {
            bits |= classes[k].1;
        }
        k += 1;
    }
    bits
}

/// The bit of [`character_classes`] that a function such as `isalpha` asks for.
pub const fn class_bit(function: CharacterClassFn) -> u16 {
    match function {
        CharacterClassFn::Isupper => 0x100,
        CharacterClassFn::Islower => 0x200,
        CharacterClassFn::Isalpha => 0x400,
        CharacterClassFn::Isdigit => 0x800,
        CharacterClassFn::Isxdigit => 0x1000,
        CharacterClassFn::Isspace => 0x2000,
        CharacterClassFn::Isprint => 0x4000,
        CharacterClassFn::Isgraph => 0x8000,
        CharacterClassFn::Isblank => 1,
        CharacterClassFn::Iscntrl => 2,
        CharacterClassFn::Ispunct => 4,
        CharacterClassFn::Isalnum => 8,
    }
}

/// The least character that glibc's tables have an entry for; they go up to 255.
pub const TABLE_START: i32 = -128;

/// The table into which `*__ctype_b_loc()` points, from [`TABLE_START`] on.
pub fn class_table() -> [u16; 384] {
    std::array::from_fn(|index| match index as i32 + TABLE_START {
        c @ 0..=127 => character_classes(c as u8),
        _ => 0,
    })
}

/// The table into which `*__ctype_tolower_loc()` (or `toupper`) points, from [`TABLE_START`] on.
pub fn case_table(to_upper: bool) -> [i32; 384] {
    std::array::from_fn(|index| case_of(index as i32 + TABLE_START, to_upper))
}

/// `tolower` or `toupper` in the C locale.
pub const fn case_of(c: i32, to_upper: bool) -> i32 {
    match c {
        0x41..=0x5a if !to_upper => c + 32,
        0x61..=0x7a if to_upper => c - 32,
        // glibc's tables give -128 to -2 as the bytes that they are as `unsigned char`.
        -128..=-2 => c + 256,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_tables_agree_with_the_functions_that_rust_has() {
        let table = class_table();
        let class = |c: i32| table[(c - TABLE_START) as usize];
        assert_eq!(class(i32::from(b'a')), 0x200 | 0x400 | 0x1000 | 0x4000 | 0x8000 | 8);
        assert_eq!(class(i32::from(b'\t')), 0x2000 | 1 | 2);
        assert_eq!((class(-1), class(200)), (0, 0));
        assert_eq!(case_table(true)[(i32::from(b'z') - TABLE_START) as usize], i32::from(b'Z'));
        assert_eq!(case_of(-1, true), -1);
    }
}
