//! Positions in the text of `lydian.toml`.

use toml::de::{DeTable, DeValue};

use crate::place::InputPlace;

/// A step from a table or list of TOML to one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TomlStep<'a> {
    /// The value of a key.
    Value(&'a str),
    /// The key itself, as the last step. The user may spell a place in another way.
    Key(&'a str),
    /// An element of a list. A value that is no list counts as its only element.
    Element(usize),
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Column in bytes, from 1.
    pub byte_column: usize,
}

impl Position {
    /// The beginning of a text.
    pub const START: Self = Self { line: 1, column: 1, byte_column: 1 };

    /// The place of a byte of a text.
    pub fn of_byte(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            byte_column: before.len() - line_start + 1,
        }
    }

    /// The beginning of the value that some steps lead to; for a string, its first character. None if
    /// the text has no such value.
    pub fn find(text: &str, way: &[TomlStep<'_>]) -> Option<Self> {
        let at = start(text, way)?;
        let at = if text[at..].starts_with(['"', '\'']) { at + 1 } else { at };
        Some(Self::of_byte(text, at))
    }
}

fn start(text: &str, way: &[TomlStep<'_>]) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let (mut table, mut value) = (Some(root.get_ref()), None);
    let mut at = root.span().start;
    for step in way {
        match step {
            TomlStep::Key(name) => {
                let mut keys = table?.keys();
                return keys.find(|key| is_spelt(key.get_ref(), name)).map(|key| key.span().start);
            }
            TomlStep::Value(name) => {
                let (_, found) = table?.iter().find(|(key, _)| key.get_ref() == name)?;
                at = found.span().start;
                value = Some(found.get_ref());
            }
            TomlStep::Element(index) => match value? {
                DeValue::Array(elements) => {
                    let found = elements.get(*index)?;
                    at = found.span().start;
                    value = Some(found.get_ref());
                }
                _ if *index == 0 => {}
                _ => return None,
            },
        }
        table = match value {
            Some(DeValue::Table(inner)) => Some(inner),
            _ => None,
        };
    }
    Some(at)
}

/// Whether a key equals a name, or spells the same place.
fn is_spelt(key: &str, name: &str) -> bool {
    key == name || InputPlace::parse(key).is_ok_and(|place| place.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "accept = []\n\n[types.\"struct ring\"]\n  invariant = [\n    \"a\", 'b'\n  ]\n\
                        [function.f]\npreconditions = [\"x > 0\"]\npure = true\n";

    fn find(way: &[TomlStep<'_>]) -> Option<(usize, usize)> {
        Position::find(TEXT, way).map(|at| (at.line, at.column))
    }

    #[test]
    fn what_stands_in_the_text_is_found_with_line_and_column() {
        use TomlStep::{Element, Key, Value};
        let ring = [Value("types"), Value("struct ring"), Value("invariant")];
        assert_eq!(find(&[&ring[..], &[Element(0)]].concat()), Some((5, 6)));
        assert_eq!(find(&[&ring[..], &[Element(1)]].concat()), Some((5, 11)));
        assert_eq!(find(&[Value("types"), Key("struct ring")]), Some((3, 9)));
        assert_eq!(find(&[Value("function"), Key("f")]), Some((7, 11)));
        let first = [Value("function"), Value("f"), Value("preconditions"), Element(0)];
        assert_eq!(find(&first), Some((8, 19)));
        assert_eq!(find(&[Value("function"), Value("f"), Key("pure")]), Some((9, 1)));
        assert_eq!(find(&[Value("function"), Value("g"), Key("pure")]), None);
    }

    #[test]
    fn a_value_that_is_no_list_is_its_own_only_element() {
        let text = "[types.t]\ninvariant = \"self->n > 0\"\n";
        let way = [TomlStep::Value("types"), TomlStep::Value("t"), TomlStep::Value("invariant")];
        let at = Position::find(text, &[&way[..], &[TomlStep::Element(0)]].concat());
        assert_eq!(at, Some(Position { line: 2, column: 14, byte_column: 14 }));
    }
}
