//! How tightly a text of the user's binds, by its tokens.

use super::precedence::level;

/// The level of the outermost operator. Where a parenthesis before an operator could be of a cast, the
/// operator is taken for one of two operands: that binds less tightly.
pub(super) fn outermost(text: &str) -> u8 {
    let mut least = level::PRIMARY;
    let (mut depth, mut after_operand) = (0u32, false);
    for token in Tokens(text) {
        match token {
            "(" | "[" | "{" => {
                depth += 1;
                after_operand = false;
            }
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                after_operand = true;
            }
            _ if is_word(token) => after_operand = !is_prefix_word(token),
            "++" | "--" => {}
            _ if depth > 0 => after_operand = matches!(token, "." | "->"),
            _ => {
                if let Some(found) = level_of(token, after_operand) {
                    least = least.min(found);
                    after_operand = false;
                }
            }
        }
        if depth == 0 && (is_prefix_word(token) || (matches!(token, "++" | "--") && !after_operand))
        {
            least = least.min(level::PREFIX);
        }
    }
    least
}

/// Whether a text in parentheses, or a digit, is 0 or 1.
pub(super) fn is_truth(text: &str) -> bool {
    if matches!(text, "0" | "1") {
        return true;
    }
    let Some(inner) = within_parentheses(text) else { return false };
    let level = outermost(inner);
    let is_not = level == level::PREFIX && inner.trim_start().starts_with('!');
    is_not
        || matches!(level, level::EQUAL | level::LESS | level::LOGIC_AND | level::LOGIC_OR)
        || is_truth(inner.trim())
}

/// The text within parentheses that enclose all of a text.
fn within_parentheses(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0i32;
    for token in Tokens(inner) {
        depth += match token {
            "(" => 1,
            ")" => -1,
            _ => 0,
        };
        if depth < 0 {
            return None;
        }
    }
    Some(inner)
}

/// The level of an operator; `None` for the selection of a member.
fn level_of(token: &str, after_operand: bool) -> Option<u8> {
    Some(match token {
        "." | "->" => return None,
        "," => level::COMMA,
        "?" | ":" => level::CONDITIONAL,
        _ if !after_operand => level::PREFIX,
        "||" => level::LOGIC_OR,
        "&&" => level::LOGIC_AND,
        "|" => level::OR,
        "^" => level::XOR,
        "&" => level::AND,
        "==" | "!=" => level::EQUAL,
        "<" | ">" | "<=" | ">=" => level::LESS,
        "<<" | ">>" => level::SHIFT,
        "+" | "-" => level::ADD,
        "*" | "/" | "%" => level::MUL,
        _ => level::ASSIGN,
    })
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '.'))
        && token != "."
        && token != "..."
}

/// Words that stand before an operand.
fn is_prefix_word(token: &str) -> bool {
    matches!(
        token,
        "sizeof"
            | "_Alignof"
            | "__alignof__"
            | "__alignof"
            | "__real__"
            | "__imag__"
            | "__real"
            | "__imag"
            | "__extension__"
    )
}

/// The words of a text: identifiers and keywords.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    Tokens(text).filter(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The tokens of a text.
struct Tokens<'a>(&'a str);

const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "::",
];

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0 = self.0.trim_start();
        let first = self.0.chars().next()?;
        let begins_number = self.0.strip_prefix('.').unwrap_or(self.0);
        let length = match first {
            _ if begins_number.starts_with(|c: char| c.is_ascii_digit()) => number_length(self.0),
            _ if first.is_alphabetic() || first == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                self.0.find(|c| !is_part(c)).unwrap_or(self.0.len())
            }
            '"' | '\'' => literal_length(self.0, first),
            _ => OPERATORS
                .iter()
                .find(|operator| self.0.starts_with(**operator))
                .map_or(first.len_utf8(), |operator| operator.len()),
        };
        let (token, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(token)
    }
}

/// A preprocessing number: signs belong to it after the letter of an exponent.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P');
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        let is_sign = is_sign && !(is_hex && matches!(before, 'e' | 'E'));
        if !(c.is_alphanumeric() || matches!(c, '_' | '.') || is_sign) {
            return at;
        }
        before = c;
    }
    text.len()
}

fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_operator_is_found_whatever_stands_inside_of_parentheses_and_literals() {
        let cases = [
            ("s->a[i + 1].b", level::PRIMARY),
            ("f(a, b)", level::PRIMARY),
            ("a - -b", level::ADD),
            ("-b", level::PREFIX),
            ("!x", level::PREFIX),
            ("p[i]++", level::PRIMARY),
            ("--n", level::PREFIX),
            ("sizeof x", level::PREFIX),
            ("'|'", level::PRIMARY),
            ("\"a && b\"[1]", level::PRIMARY),
            ("1e+5", level::PRIMARY),
            ("0x1E+5", level::ADD),
            ("a = b", level::ASSIGN),
            ("a ? b : c", level::CONDITIONAL),
            ("a, b", level::COMMA),
            ("a < b && c", level::LOGIC_AND),
            ("(a || b) == c", level::EQUAL),
            ("x<<2", level::SHIFT),
        ];
        for (text, expected) in cases {
            assert_eq!(outermost(text), expected, "{text}");
        }
    }

    #[test]
    fn a_truth_value_is_told_by_its_form() {
        for text in ["(a < b)", "((a && b))", "1", "(!x)"] {
            assert!(is_truth(text), "{text}");
        }
        for text in ["(a & b)", "(a) < (b)", "x", "(-1)"] {
            assert!(!is_truth(text), "{text}");
        }
    }
}
