//! Places in the inputs, named as C programmers write them: `buf`, `names[2]`, `ctx->out.buf`,
//! `*len`; and patterns of them, in which `[_]` stands for every index.
//!
//! A place is a root (a parameter, a global, or `result` of an undefined function) and steps from
//! it. `p->x`, `(*p).x` and `p[0].x` are one place, as they are in C. A place that begins with a
//! step (`.data`) is relative to every object of a type.

use std::fmt;

use thiserror::Error;

/// A place or a pattern of places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InputPlace {
    /// The name that it begins with; empty for one that is relative to a type.
    pub root: String,
    /// The steps from there.
    pub steps: Vec<Step>,
}

/// One step of a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// `.name`
    Field(String),
    /// `[i]` of an array or of what a pointer points to; also `*`, as `[0]`.
    Index(i64),
    /// `[_]`: every index. Only in patterns.
    Any,
}

/// An error in the text of a place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{text}' is no place: {why} at column {column}")]
pub struct PlaceError {
    /// The whole text.
    pub text: String,
    /// The error.
    pub why: String,
    /// Where, in characters from 1.
    pub column: usize,
}

impl InputPlace {
    /// The place that is a whole parameter, global or result.
    pub fn root(name: impl Into<String>) -> Self {
        Self { root: name.into(), steps: Vec::new() }
    }

    /// The place one step further.
    pub fn then(&self, step: Step) -> Self {
        let mut place = self.clone();
        place.steps.push(step);
        place
    }

    /// A member of this place.
    pub fn field(&self, name: &str) -> Self {
        self.then(Step::Field(name.into()))
    }

    /// An element of this place, or what it points to.
    pub fn index(&self, index: i64) -> Self {
        self.then(Step::Index(index))
    }

    /// The place without its last step; `None` for a root.
    pub fn parent(&self) -> Option<Self> {
        let (_, steps) = self.steps.split_last()?;
        Some(Self { root: self.root.clone(), steps: steps.to_vec() })
    }

    /// Whether `other` is a prefix of it.
    pub fn lies_behind(&self, other: &Self) -> bool {
        self.root == other.root && self.steps.starts_with(&other.steps)
    }

    /// Whether it has no `[_]`.
    pub fn is_exact(&self) -> bool {
        !self.steps.contains(&Step::Any)
    }

    /// The number of its steps that are `[_]`.
    pub fn wildcards(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::Any).count()
    }

    /// Whether the pattern `self` stands for `place`.
    pub fn matches(&self, place: &Self) -> bool {
        self.root == place.root && self.matches_steps(&place.steps)
    }

    /// Whether the steps of the pattern `self` stand for `steps`, whatever the roots are.
    pub fn matches_steps(&self, steps: &[Step]) -> bool {
        self.steps.len() == steps.len()
            && self.steps.iter().zip(steps).all(|(pattern, step)| match pattern {
                Step::Any => matches!(step, Step::Any | Step::Index(_)),
                _ => pattern == step,
            })
    }

    /// Reads a place or pattern. Blanks are allowed between its parts.
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let mut parser = Parser { text, chars: text.chars().collect(), at: 0, depth: 0 };
        let place = parser.place()?;
        match parser.peek() {
            None => Ok(place),
            Some(c) => Err(parser.error(format!("unexpected '{c}'"))),
        }
    }
}

impl fmt::Display for InputPlace {
    /// As C writes it. `p[0].x` is written `p->x`, and an element 0 at the end as `*p`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.root.clone();
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.next() {
            match (step, steps.peek()) {
                (Step::Index(0), Some(Step::Field(name))) if !text.is_empty() => {
                    text = format!("{text}->{name}");
                    steps.next();
                }
                (Step::Index(0), None) if !text.is_empty() => text = format!("*{text}"),
                (Step::Index(index), _) => text = format!("{text}[{index}]"),
                (Step::Any, _) => text.push_str("[_]"),
                (Step::Field(name), _) => text = format!("{text}.{name}"),
            }
        }
        f.write_str(&text)
    }
}

struct Parser<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

/// The deepest nesting of parentheses and stars that is read; people do not write deeper ones.
const DEEPEST: usize = 64;

impl Parser<'_> {
    fn error(&self, why: impl Into<String>) -> PlaceError {
        PlaceError { text: self.text.into(), why: why.into(), column: self.at + 1 }
    }

    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), PlaceError> {
        if self.eat(wanted) { Ok(()) } else { Err(self.error(format!("expected '{wanted}'"))) }
    }

    fn place(&mut self) -> Result<InputPlace, PlaceError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("too deeply nested"));
        }
        let place = if self.eat('*') {
            self.place()?.index(0)
        } else {
            let start = self.primary()?;
            self.postfix(start)?
        };
        self.depth -= 1;
        Ok(place)
    }

    fn primary(&mut self) -> Result<InputPlace, PlaceError> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let place = self.place()?;
                self.expect(')')?;
                Ok(place)
            }
            Some('.' | '[') => Ok(InputPlace::default()),
            Some('-') if self.chars.get(self.at + 1) == Some(&'>') => {
                Err(self.error("a place relative to a type begins with '.'"))
            }
            _ => Ok(InputPlace::root(self.name()?)),
        }
    }

    fn postfix(&mut self, mut place: InputPlace) -> Result<InputPlace, PlaceError> {
        loop {
            match self.peek() {
                Some('.') => {
                    self.at += 1;
                    let name = self.name()?;
                    place = place.then(Step::Field(name));
                }
                Some('-') if self.chars.get(self.at + 1) == Some(&'>') => {
                    self.at += 2;
                    let name = self.name()?;
                    place = place.index(0).then(Step::Field(name));
                }
                Some('[') => {
                    self.at += 1;
                    let step = self.subscript()?;
                    self.expect(']')?;
                    place = place.then(step);
                }
                _ => return Ok(place),
            }
        }
    }

    fn subscript(&mut self) -> Result<Step, PlaceError> {
        if self.eat('_') {
            return Ok(Step::Any);
        }
        let mut digits = String::new();
        if self.eat('-') {
            digits.push('-');
        }
        self.peek();
        while let Some(c) = self.chars.get(self.at).filter(|c| c.is_ascii_digit()) {
            digits.push(*c);
            self.at += 1;
        }
        if digits.trim_start_matches('-').is_empty() {
            return Err(self.error("expected a number or '_' between '[' and ']'"));
        }
        digits.parse().map(Step::Index).map_err(|_| self.error("an index that needs over 64 bits"))
    }

    /// A C name.
    fn name(&mut self) -> Result<String, PlaceError> {
        self.peek();
        let start = self.at;
        let part = |c: &char| c.is_alphanumeric() || *c == '_' || *c == '$';
        while self.chars.get(self.at).is_some_and(part) {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        match name.chars().next() {
            None => Err(self.error("expected a name")),
            Some(first) if first.is_numeric() => {
                self.at = start;
                Err(self.error("a name does not begin with a digit"))
            }
            Some(_) => Ok(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(text: &str) -> InputPlace {
        InputPlace::parse(text).unwrap()
    }

    fn complaint(text: &str) -> String {
        InputPlace::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_three_ways_to_write_a_member_behind_a_pointer_are_one_place() {
        assert_eq!(place("p->x"), place("(*p).x"));
        assert_eq!(place("p->x"), place(" p [ 0 ] . x "));
        assert_eq!(place("p->x").to_string(), "p->x");
    }

    #[test]
    fn a_star_takes_the_whole_place_after_it() {
        assert_eq!(place("*p->x"), place("p->x[0]"));
        assert_eq!(place("*len").to_string(), "*len");
        assert_eq!(place("**p").to_string(), "*p[0]");
        assert_eq!(place("*p[0]"), place("**p"));
        assert_eq!(place("p[ -2 ].x").to_string(), "p[-2].x");
    }

    #[test]
    fn a_pattern_stands_for_every_index() {
        let pattern = place("names[_].first");
        assert!(pattern.matches(&place("names[7].first")));
        assert!(pattern.matches(&place("names->first")));
        assert!(!pattern.matches(&place("names[7].last")));
        assert!(!pattern.matches(&place("other[7].first")));
        assert!(!pattern.is_exact());
    }

    #[test]
    fn a_place_relative_to_a_type_has_no_root() {
        assert_eq!(place(".out.buf[_]").to_string(), ".out.buf[_]");
        assert_eq!(place(".out").root, "");
    }

    #[test]
    fn what_is_no_place_is_told_with_the_column() {
        assert_eq!(complaint(""), "'' is no place: expected a name at column 1");
        assert_eq!(
            complaint("a[x]"),
            "'a[x]' is no place: expected a number or '_' between '[' and ']' at column 3"
        );
        assert_eq!(complaint("a[1"), "'a[1' is no place: expected ']' at column 4");
        assert_eq!(complaint("a b"), "'a b' is no place: unexpected 'b' at column 3");
        assert_eq!(
            complaint("2x"),
            "'2x' is no place: a name does not begin with a digit at column 1"
        );
        assert!(complaint(&"*".repeat(5000)).contains("too deeply nested"));
        assert!(complaint("a[99999999999999999999]").contains("over 64 bits"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
            let _ = InputPlace::parse(&text);
        }

        #[test]
        fn what_looks_like_a_place_is_read_or_refused(text in "[a-c*().\\[\\]_>0-9 -]{0,24}") {
            if let Ok(place) = InputPlace::parse(&text) {
                prop_assert_eq!(InputPlace::parse(&place.to_string()), Ok(place));
            }
        }
    }
}
