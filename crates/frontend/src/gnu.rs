//! Adapts texts that gcc preprocessed, as gcc's own headers have constructs that clang cannot read.
//!
//! The headers of a compiler define the intrinsics of its machine in terms of its own builtins. In a
//! text that gcc has preprocessed, these functions lose their bodies before clang reads it: they become
//! declarations, and calls of them calls of functions that are defined elsewhere. Where these headers
//! have macros in the place of functions, as gcc's have without optimisation, the builtins in the user's
//! text that clang does not know are declared under another name of the same length. The text that gcc
//! compiles in the end has everything still.
//!
//! Of its extensions clang lacks nested functions, which become declarations, too ([`nested`]).
//!
//! All changes keep all offsets: what is declared stands where a body was.

mod nested;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::clang::Clang;

/// The prefixes of the machine's builtins, and their replacements for clang.
const BUILTIN: &str = "__builtin_ia32_";
const RENAMED: &str = "__lydians_ia32_";

/// Makes a text that gcc has preprocessed one that clang can read. `bytes` is `text` with changes that
/// keep all offsets.
pub(crate) fn adapt(clang: &Clang, bytes: &mut [u8], text: &str) {
    let mut rooms = blank_bodies(bytes, text);
    nested::blank_nested(bytes);
    let mut names = builtins(bytes);
    if names.is_empty() || rooms.is_empty() {
        return;
    }
    let known = known_to(clang, names.keys().map(String::as_str));
    names.retain(|name, _| !known.contains(name));
    for (name, builtin) in names {
        let renamed = name.replacen(BUILTIN, RENAMED, 1);
        let declared = format!("extern {} {renamed}();", builtin.result);
        // The last bodies stand behind all types.
        let room = rooms
            .iter_mut()
            .rev()
            .find(|room| room.len() > declared.len() && room.end < builtin.uses[0]);
        let Some(room) = room else { continue };
        bytes[room.start..][..declared.len()].copy_from_slice(declared.as_bytes());
        room.start += declared.len();
        for at in builtin.uses {
            bytes[at..][..RENAMED.len()].copy_from_slice(RENAMED.as_bytes());
        }
    }
}

/// A builtin in a text.
struct Builtin {
    /// The type that its result is converted to; `int` where it is not.
    result: String,
    /// Where its name stands.
    uses: Vec<usize>,
}

/// The builtins of the machine that are still in a text.
fn builtins(bytes: &[u8]) -> BTreeMap<String, Builtin> {
    let mut found: BTreeMap<String, Builtin> = BTreeMap::new();
    let starts = bytes.windows(BUILTIN.len()).enumerate();
    for (at, _) in starts.filter(|(_, word)| *word == BUILTIN.as_bytes()) {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        let name = String::from_utf8_lossy(&bytes[at..at + length]).into_owned();
        let result = || cast_before(&bytes[..at]).unwrap_or_else(|| "int".to_owned());
        let builtin =
            found.entry(name).or_insert_with(|| Builtin { result: result(), uses: Vec::new() });
        builtin.uses.push(at);
    }
    found
}

/// The type of the cast that a text ends with.
fn cast_before(bytes: &[u8]) -> Option<String> {
    let before = bytes.trim_ascii_end().strip_suffix(b")")?;
    let open = before.iter().rposition(|byte| matches!(byte, b'(' | b')'))?;
    let ty = (before[open] == b'(').then(|| before[open + 1..].trim_ascii())?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'*');
    let is_type = ty.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let ty = String::from_utf8_lossy(ty.iter().all(is_name).then_some(ty)?).into_owned();
    is_type.then_some(ty)
}

/// Those of the names that clang has a builtin of. All where it cannot be asked.
fn known_to<'n>(clang: &Clang, names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let lines = names.clone().map(|name| format!("#if __has_builtin({name})\n{name}\n#endif\n"));
    let input: String = lines.collect();
    let arguments = ["-E", "-P", "-w", "-x", "c", "-"];
    match clang.output(&arguments, None, input.as_bytes()) {
        Ok(output) => {
            String::from_utf8_lossy(&output).lines().map(|line| line.trim().to_owned()).collect()
        }
        Err(_) => names.map(str::to_owned).collect(),
    }
}

/// Functions that clang has builtins for, with other types: what declares them is taken out.
const OWN_OF_CLANG: [&str; 2] = ["_mm_prefetch", "_m_prefetchw"];

/// Blanks the bodies of the functions in gcc's own headers. Returns where there is room on one line
/// instead of them.
fn blank_bodies(bytes: &mut [u8], text: &str) -> Vec<Range<usize>> {
    let mut rooms = Vec::new();
    let mut is_gccs = false;
    let mut start = 0;
    let mut header: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        if let Some(file) = file_of_marker(line) {
            let was = std::mem::replace(&mut is_gccs, is_header_of_gcc(file));
            if was
                && !is_gccs
                && let Some(from) = header.take()
            {
                blank_within(&mut bytes[..start], from, &mut rooms);
            }
            if is_gccs && header.is_none() {
                header = Some(start);
            }
        }
        start += line.len();
    }
    if let Some(from) = header {
        blank_within(bytes, from, &mut rooms);
    }
    rooms
}

/// The file that a line marker names.
fn file_of_marker(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("# ")?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(" \"")?;
    rest.split('"').next()
}

/// Whether a file is in the folder of headers that comes with gcc itself.
fn is_header_of_gcc(file: &str) -> bool {
    let Some((before, name)) = file.rsplit_once("/include/") else { return false };
    !name.contains('/') && before.contains("/lib/gcc")
}

/// Blanks bodies in the declarations of a header, which begin here.
fn blank_within(bytes: &mut [u8], from: usize, rooms: &mut Vec<Range<usize>>) {
    let mut at = from;
    // Where the declaration began, and the last character of it that is no white space.
    let (mut began, mut last) = (from, b';');
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                let end = end_of_braces(bytes, at);
                let is_function = last == b')' && !declares_type(&bytes[began..at]);
                if is_function {
                    blank(&mut bytes[at..end]);
                    bytes[at] = b';';
                    take_out_own(&mut bytes[began..end]);
                    rooms.extend(widest_line(bytes, at + 1..end));
                    (began, last) = (end, b';');
                } else {
                    last = b'}';
                }
                at = end;
                continue;
            }
            b';' => {
                take_out_own(&mut bytes[began..at]);
                (began, last) = (at + 1, b';');
            }
            b'"' => at = end_of_string(bytes, at),
            byte if byte.is_ascii_whitespace() => {}
            byte => last = byte,
        }
        at += 1;
    }
}

/// The longest part of a blank range that is on one line.
fn widest_line(bytes: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let mut start = range.start;
    let mut lines = Vec::new();
    for line in bytes[range].split_inclusive(|byte| *byte == b'\n') {
        lines.push(start..start + line.len() - usize::from(line.ends_with(b"\n")));
        start += line.len();
    }
    lines.into_iter().max_by_key(ExactSizeIterator::len)
}

/// Blanks a declaration that clang has otherwise.
fn take_out_own(declaration: &mut [u8]) {
    let is_own = OWN_OF_CLANG.iter().any(|name| has_word(declaration, name.as_bytes()));
    if is_own {
        blank(declaration);
    }
}

fn declares_type(declaration: &[u8]) -> bool {
    ["typedef", "struct", "union", "enum"]
        .iter()
        .any(|word| declaration.trim_ascii_start().starts_with(word.as_bytes()))
}

fn has_word(bytes: &[u8], word: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    bytes.windows(word.len()).enumerate().any(|(at, found)| {
        found == word
            && !is_part(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !is_part(bytes.get(at + word.len()))
    })
}

/// Spaces, but for the ends of lines.
fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Behind the brace that closes the one here; the end where none does.
fn end_of_braces(bytes: &[u8], open: usize) -> usize {
    let (mut depth, mut at) = (0_usize, open);
    while at < bytes.len() {
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b'\'' => at = end_of_character(bytes, at),
            b'"' => at = end_of_string(bytes, at),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The quote that ends a string.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    at
}

/// The quote that ends a character.
fn end_of_character(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'\'' && bytes[at] != b'\n' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        blank_bodies(&mut bytes, text);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn functions_of_gccs_headers_become_declarations_and_others_stay() {
        let text = "# 1 \"/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h\" 1 3 4\n\
                    typedef struct { int a; } s;\n\
                    extern __inline int f (int a)\n{\n  if (a) { return \"}\"[0]; }\n}\n\
                    enum e { A, B };\n\
                    extern __inline void _mm_prefetch (const void *p, enum e h) { g (p); }\n\
                    # 2 \"x.c\" 2\n\
                    int h(int a) { return f(a); }\n";
        let found = blanked(text);
        assert_eq!(found.len(), text.len());
        assert!(found.contains("extern __inline int f (int a)\n;"), "{found}");
        assert!(!found.contains("return \"}\""), "{found}");
        assert!(!found.contains("_mm_prefetch"), "{found}");
        assert!(found.contains("typedef struct { int a; } s;"), "{found}");
        assert!(found.contains("enum e { A, B };"), "{found}");
        assert!(found.contains("int h(int a) { return f(a); }"), "{found}");
    }

    #[test]
    fn text_that_ends_in_a_body_or_a_string_is_no_trouble() {
        for rest in ["int f(int a) {", "int f(int a) { \"", "\"", "{"] {
            blanked(&format!("# 1 \"/usr/lib/gcc/x/12/include/a.h\"\n{rest}"));
        }
    }
}
