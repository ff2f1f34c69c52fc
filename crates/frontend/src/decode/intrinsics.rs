//! Which functions of the compiler's headers are worth their bodies.
//!
//! Bodies in system headers are not kept, since nobody calls most of them and what they do is the
//! library's. The vector intrinsics (`_mm_add_epi32`) are the exception: they have no other
//! definition. Those that the user's text names are kept, and those that these are made of. What
//! needs what is read from the text, since a header's functions are decoded before their users.

use lydian_base::SourceMap;
use rustc_hash::{FxHashMap, FxHashSet};

/// How their names begin.
const PREFIX: &str = "_mm";

/// The intrinsics that are needed outside of system headers, by name. Linear in the text; free
/// where it has none.
pub(super) fn needed(source: &SourceMap) -> FxHashSet<Box<str>> {
    let mut needed = FxHashSet::default();
    if !source.text().contains(PREFIX) {
        return needed;
    }
    let text = without_comments(source.text());
    let mut made_of: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    let mut wanted: Vec<&str> = Vec::new();
    let mut after_body = 0;
    for (at, name) in intrinsics(&text, 0) {
        if !source.is_system(at as u32) {
            wanted.push(name);
        } else if at >= after_body
            && let Some((start, end)) = body_behind(&text, at + name.len())
        {
            let parts = intrinsics(&text[..end], start).map(|(_, part)| part).collect();
            made_of.insert(name, parts);
            after_body = end;
        }
    }
    while let Some(name) = wanted.pop() {
        if needed.insert(name.into()) {
            wanted.extend(made_of.get(name).into_iter().flatten());
        }
    }
    needed
}

/// The names of intrinsics in a text from an offset on, with their offsets.
fn intrinsics(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text[from..].match_indices(PREFIX).filter_map(move |(at, _)| {
        let at = from + at;
        let begins = !text[..at].ends_with(is_part);
        let rest = &text[at..];
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        begins.then_some((at, name))
    })
}

/// The body of a function whose parameters begin here, if this is a definition.
fn body_behind(text: &str, at: usize) -> Option<(usize, usize)> {
    let parameters = at + text[at..].find(|c: char| !c.is_whitespace())?;
    let after = bracketed(text, parameters, (b'(', b')'))?;
    let body = after + text[after..].find(|c: char| !c.is_whitespace())?;
    Some((body, bracketed(text, body, (b'{', b'}'))?))
}

/// The offset behind the bracket that closes the one at this offset.
fn bracketed(text: &str, at: usize, (open, close): (u8, u8)) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&open) {
        return None;
    }
    let mut depth = 0u32;
    for (offset, byte) in bytes[at..].iter().enumerate() {
        depth += u32::from(*byte == open);
        depth -= u32::from(*byte == close);
        if depth == 0 {
            return Some(at + offset + 1);
        }
    }
    None
}

/// The text with blanks for its comments and literals, of the same length.
fn without_comments(text: &str) -> String {
    let mut result = text.as_bytes().to_vec();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'/', b'*', ..] => find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4),
            [b'/', b'/', ..] => find(rest, b"\n").unwrap_or(rest.len()),
            [quote @ (b'"' | b'\''), ..] => literal(rest, *quote),
            _ => 0,
        };
        result[at..at + length].fill(b' ');
        at += length.max(1);
    }
    // What was blanked out began and ended with ASCII.
    String::from_utf8(result).unwrap_or_default()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// The length of a literal, up to the end of its line where it has none.
fn literal(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_users_text_needs_is_followed_through_headers() {
        let text = "# 1 \"mmintrin.h\" 1 3\n\
                    static int _mm_one(int x) { /* don't: _mm_other */ return x; }\n\
                    static int _mm_two(int x)\n{ return _mm_one(x) + _mm_one(1); }\n\
                    static int _mm_other(int x) { return x; }\n\
                    # 1 \"user.c\" 2\n\
                    int f(void) { return _mm_two(3) + a_mm_other(\"_mm_other\"); }\n";
        let needed = needed(&SourceMap::from_preprocessed(text, "user.c"));
        let mut names: Vec<&str> = needed.iter().map(|name| &**name).collect();
        names.sort_unstable();
        assert_eq!(names, ["_mm_one", "_mm_two"]);
    }

    #[test]
    fn a_text_without_intrinsics_needs_none() {
        let map = SourceMap::from_preprocessed("int f(int m_m) { return m_m; }\n", "user.c");
        assert!(needed(&map).is_empty());
    }
}
