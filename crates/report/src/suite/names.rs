//! Names of tests after the objectives that they reach: a predicate in C becomes words that a C
//! identifier can hold, `x > 100 && !done` becomes `x_gt_100_and_not_done`.
//!
//! A name depends on the predicate alone, so it stays the same as long as a test is kept for it.

use std::collections::BTreeSet;

/// Characters of the longest part that a predicate gives to a name.
const MOST: usize = 40;

/// The most characters of a test's name, without the number that distinguishes it from others of that
/// name.
pub const MOST_OF_A_NAME: usize = 52;

/// Operators, the longer ones first.
const OPERATORS: [(&str, &str); 22] = [
    ("<<", "shl"),
    (">>", "shr"),
    ("==", "eq"),
    ("!=", "ne"),
    ("<=", "le"),
    (">=", "ge"),
    ("&&", "and"),
    ("||", "or"),
    ("->", ""),
    ("++", ""),
    ("--", ""),
    ("<", "lt"),
    (">", "gt"),
    ("!", "not"),
    ("+", "plus"),
    ("*", "times"),
    ("/", "over"),
    ("%", "mod"),
    ("&", "bits"),
    ("|", "bits_or"),
    ("^", "xor"),
    ("~", "inverse"),
];

/// The last part of a predicate that has more words than a name has room for. The parts before it,
/// joined by `&&`, only lead evaluation there.
pub fn last_part(predicate: &str) -> &str {
    if predicate.len() <= MOST {
        return predicate;
    }
    let (mut depth, mut found) = (0usize, None);
    let (mut is_quoted, mut before) = (false, ' ');
    for (at, c) in predicate.char_indices() {
        is_quoted ^= c == '\'' && before != '\\';
        before = if before == '\\' { ' ' } else { c };
        match c {
            _ if is_quoted => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '&' if depth == 0 && predicate[at..].starts_with("&& ") => found = Some(at + 3),
            _ => {}
        }
    }
    let last = found.map_or(predicate, |at| &predicate[at..]);
    if last.starts_with('(') || last.starts_with("!(") { last } else { predicate }
}

/// A predicate as words with underscores between them; empty if it has none, as `1` has.
pub fn words_of(predicate: &str) -> String {
    if predicate.trim().chars().all(|c| c.is_ascii_digit() || c.is_whitespace()) {
        return String::new();
    }
    let mut words: Vec<String> = Vec::new();
    let mut rest = predicate;
    // Whether an operand was just read, so that `-`, `*` and `&` have two sides.
    let mut after_operand = false;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = without_cast(rest) {
            (rest, after_operand) = (after, false);
            continue;
        }
        if first.is_ascii_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            let word = if is_number { word.trim_end_matches(['u', 'U', 'l', 'L']) } else { word };
            words.push(word.replace('.', "_"));
            (rest, after_operand) = (after, true);
            continue;
        }
        if first == '\'' {
            let first = if rest[1..].starts_with('\\') { 3 } else { 1 };
            let end = rest.get(first..).and_then(|rest| rest.find('\''));
            let end = end.map_or(rest.len(), |end| first + end + 1);
            words.push(of_character(rest[1..end].strip_suffix('\'').unwrap_or(&rest[1..end])));
            (rest, after_operand) = (&rest[end..], true);
            continue;
        }
        if first == '-' && !rest.starts_with("--") && !rest.starts_with("->") {
            words.push("minus".to_owned());
            (rest, after_operand) = (&rest[1..], false);
            continue;
        }
        let operator = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator));
        match operator {
            Some(("*" | "&", _)) if !after_operand => rest = &rest[1..],
            Some((operator, word)) => {
                words.push((*word).to_owned());
                (rest, after_operand) = (&rest[operator.len()..], false);
            }
            None => {
                after_operand = matches!(first, ')' | ']') || (after_operand && first == ' ');
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    joined(words.iter().filter(|word| !word.is_empty()).map(String::as_str))
}

/// The text after the cast to a type of keywords that it begins with.
fn without_cast(text: &str) -> Option<&str> {
    let (inner, after) = text.strip_prefix('(')?.split_once(')')?;
    let mut words = inner.split(|c: char| c == '*' || c.is_whitespace());
    let is_type = inner.starts_with(|c: char| c.is_ascii_alphabetic())
        && words.all(|word| word.is_empty() || KEYWORDS.contains(&word));
    is_type.then_some(after)
}

/// Keywords of C, which do not describe a line.
const KEYWORDS: [&str; 24] = [
    "if", "else", "while", "for", "do", "switch", "case", "return", "sizeof", "goto", "break",
    "continue", "const", "static", "struct", "unsigned", "signed", "char", "short", "int", "long",
    "float", "double", "void",
];

/// Names of a text of C, in order, without keywords of C.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(move |c| !is_part(c));
    words.filter(|word| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !KEYWORDS.contains(word)
    })
}

/// A line of the source as words: its names, each once.
pub fn words_of_line(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in identifiers(line) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    joined(words.into_iter().take(3))
}

/// The name of a character. The argument is the text between its quotes.
fn of_character(text: &str) -> String {
    const NAMES: [(&str, &str); 35] = [
        (" ", "space"),
        ("\\t", "tab"),
        ("\\n", "newline"),
        ("\\r", "return"),
        ("\\0", "nul"),
        ("\\\\", "backslash"),
        ("\\'", "quote"),
        ("\"", "quotes"),
        ("+", "plus"),
        ("-", "minus"),
        ("*", "star"),
        ("/", "slash"),
        ("%", "percent"),
        ("=", "equals"),
        ("<", "less"),
        (">", "greater"),
        ("(", "lparen"),
        (")", "rparen"),
        ("[", "lbracket"),
        ("]", "rbracket"),
        ("{", "lbrace"),
        ("}", "rbrace"),
        (".", "dot"),
        (",", "comma"),
        (";", "semicolon"),
        (":", "colon"),
        ("!", "bang"),
        ("?", "question"),
        ("&", "ampersand"),
        ("|", "bar"),
        ("#", "hash"),
        ("@", "at"),
        ("$", "dollar"),
        ("_", "underscore"),
        ("~", "tilde"),
    ];
    if let Some((_, name)) = NAMES.iter().find(|(character, _)| *character == text) {
        return (*name).to_owned();
    }
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if letters.is_empty() { "char".to_owned() } else { letters }
}

/// The name of a test of a function for some words, of at most [`MOST_OF_A_NAME`] characters unless
/// the function's own name has more.
pub fn of_test(function: &str, words: &str) -> String {
    let mut name = function.to_owned();
    for word in words.split('_') {
        if name.len() + 1 + word.len() > MOST_OF_A_NAME {
            break;
        }
        name.push('_');
        name.push_str(word);
    }
    name
}

/// Words up to the length that a name may have.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for word in words {
        let word: String =
            word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if !text.is_empty() && text.len() + 1 + word.len() > MOST {
            break;
        }
        if !text.is_empty() {
            text.push('_');
        }
        text.push_str(&word);
    }
    text.truncate(MOST);
    text.trim_matches('_').to_owned()
}

/// A name that is not taken yet: itself, or with a number behind it.
pub fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut number = 1;
    let mut candidate = name.to_owned();
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}_{number}");
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_become_words() {
        for (predicate, words) in [
            ("x > 100 && !done", "x_gt_100_and_not_done"),
            ("!((y > 10) && (y != x))", "not_y_gt_10_and_y_ne_x"),
            ("b && !(y != x)", "b_and_not_y_ne_x"),
            ("p->next == 'a'", "p_next_eq_a"),
            ("s.len <= -5", "s_len_le_minus_5"),
            ("*p * 3 == 21u", "p_times_3_eq_21"),
            ("(a & 7) != 0", "a_bits_7_ne_0"),
            ("1", ""),
            ("c == '\\n'", "c_eq_newline"),
            ("*s == '+' || *s == ')'", "s_eq_plus_or_s_eq_rparen"),
        ] {
            assert_eq!(words_of(predicate), words, "{predicate}");
        }
        assert_eq!(last_part("!((*s == '+') || (*s == '-')) && (*s == '(')"), "(*s == '(')");
        assert_eq!(last_part("!((*s == '(') || (*s == '-')) && (*s == ')')"), "(*s == ')')");
        assert_eq!(last_part("!(*s == '+') && (*s == '-')"), "!(*s == '+') && (*s == '-')");
        let long = words_of(&"alpha + ".repeat(20));
        assert!(long.len() <= MOST && long.starts_with("alpha_plus_alpha"), "{long}");
    }

    #[test]
    fn a_name_says_of_a_predicate_what_there_is_room_for() {
        assert_eq!(of_test("f", "x_gt_100_and_not_done"), "f_x_gt_100_and_not_done");
        let long = "a_function_with_a_name_of_some_length_itself";
        assert_eq!(of_test(long, "x_gt_100_and_not_done"), format!("{long}_x_gt"));
        let longer = long.repeat(2);
        assert_eq!(of_test(&longer, "x_gt_100"), longer);
    }

    #[test]
    fn names_that_are_taken_get_numbers() {
        let mut taken = BTreeSet::new();
        let names: Vec<String> = (0..3).map(|_| unique("f", &mut taken)).collect();
        assert_eq!(names, ["f", "f_2", "f_3"]);
    }
}
