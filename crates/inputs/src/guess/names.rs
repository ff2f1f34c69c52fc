//! Naming conventions of C: names that mean a length, and names that say which of two pointers ends the
//! other's array.

/// Words that alone, or as a part between underscores, mean a number of elements or bytes.
const LENGTH_WORDS: [&str; 22] = [
    "len", "length", "size", "count", "cnt", "n", "num", "nb", "sz", "nbytes", "bytes", "nmemb",
    "total", "cap", "capacity", "avail", "argc", "siz", "nelem", "nelems", "dim", "slen",
];

/// Words that mean the end of a range.
const END_WORDS: [&str; 7] = ["end", "last", "stop", "limit", "lim", "finish", "eof"];

/// Words that mean a position within a range.
const POSITION_WORDS: [&str; 8] = ["cur", "pos", "ptr", "p", "cursor", "current", "next", "it"];

/// The lower-case words of a name: parts between underscores and humps.
fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let hump = c.is_uppercase() && before.is_lowercase();
        if c == '_' || hump {
            found.push(String::new());
        }
        if c != '_' {
            found.last_mut().expect("there is a first word").extend(c.to_lowercase());
        }
        before = c;
    }
    found.retain(|word| !word.is_empty());
    found
}

/// Whether the name says that it is a length.
pub(crate) fn means_length(name: &str) -> bool {
    let words = words(name);
    if words.iter().any(|word| word == "min") {
        return false; // a bound on lengths
    }
    let is_length = |word: &String| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        LENGTH_WORDS.contains(&word)
    };
    words.iter().any(is_length)
        || words.last().is_some_and(|last| last.ends_with("len") || last.ends_with("size"))
}

/// Whether the length's name says whose length it is: `buf_len`, `buflen`, `nbuf`, `len_buf` for
/// `buf`.
pub(crate) fn means_length_of(length: &str, array: &str) -> bool {
    if array.is_empty() || !(means_length(length) || length.starts_with('n')) {
        return false;
    }
    let flat = |name: &str| words(name).concat();
    let (length, array) = (flat(length), flat(array));
    let Some(at) = length.find(&array) else { return false };
    let rest = format!("{}{}", &length[..at], &length[at + array.len()..]);
    LENGTH_WORDS.contains(&rest.as_str())
}

/// Whether the name says that it points just past something.
pub(crate) fn means_end(name: &str) -> bool {
    words(name).last().is_some_and(|last| {
        END_WORDS.contains(&last.as_str()) || last.ends_with("end") || last.ends_with("limit")
    })
}

/// Whether the name says that it points into something.
pub(crate) fn means_position(name: &str) -> bool {
    words(name).last().is_some_and(|last| POSITION_WORDS.contains(&last.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lengths_are_known() {
        for name in ["len", "n", "buf_len", "buflen", "nbytes", "inSize", "num_items", "n1", "size"]
        {
            assert!(means_length(name), "{name}");
        }
        for name in ["flags", "mode", "x", "index", "planet", "silent", "minLen"] {
            assert!(!means_length(name), "{name}");
        }
    }

    #[test]
    fn a_length_that_names_its_array_is_paired_with_it() {
        assert!(means_length_of("buf_len", "buf"));
        assert!(means_length_of("buflen", "buf"));
        assert!(means_length_of("nItems", "items"));
        assert!(means_length_of("num_items", "items"));
        assert!(!means_length_of("len", "buf"));
        assert!(!means_length_of("out_len", "in"));
        assert!(!means_length_of("name", "me"));
    }

    #[test]
    fn ends_and_positions_are_known() {
        assert!(means_end("end") && means_end("buf_end") && means_end("bufend"));
        assert!(!means_end("buf") && !means_end("endian"));
        assert!(means_position("cur") && means_position("read_pos") && !means_position("start"));
    }
}
