//! Assumptions: statements that an argument of infeasibility needs and that the user has not made.
//!
//! An engine names every assumption that its argument needs. It does not decide which of them are
//! accepted: [`AcceptedAssumptions`] does so when verdicts are made, so the same evidence gives
//! another verdict once the user accepts more.
//!
//! Two kinds are *bounds* of an exploration ([`AssumptionKind::is_bound`]): inputs beyond them were
//! not tried. An argument under a bound that nobody accepted decides nothing. An argument under other
//! assumptions makes an objective *infeasible as assumed*.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kinds of assumptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssumptionKind {
    /// No object is very large (1 GiB or more).
    ObjectSize,
    /// A pointer to characters among the inputs leads to characters, though C lets it lead to the
    /// bytes of any object.
    CharacterPointer,
    /// A pointer points to one object of its type, or to bytes if the type is not known.
    Shape,
    /// The most elements of an array or a string. A bound.
    Size,
    /// The input that is the length of an array, or points to its end.
    Length,
    /// The depth to which pointers among the inputs are followed before they are null. A bound.
    Depth,
    /// Two pointers among the inputs lead to different objects.
    Alias,
    /// The places that an undefined function writes.
    ExternalWrites,
    /// An undefined function does not keep its pointers for later calls, and calls no function of the
    /// program.
    KeptPointers,
    /// Subscripts of arrays of known length are within the arrays.
    Subscript,
    /// A pointer in a union is a pointer wherever it is used as one.
    RawPointer,
    /// Nothing lies before the first element of an object.
    LeadingElements,
    /// An assumption without a kind of its own, such as that inputs of a type are never made.
    Other,
}

impl AssumptionKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::ObjectSize,
        Self::CharacterPointer,
        Self::Shape,
        Self::Size,
        Self::Length,
        Self::Depth,
        Self::Alias,
        Self::ExternalWrites,
        Self::KeptPointers,
        Self::Subscript,
        Self::RawPointer,
        Self::LeadingElements,
        Self::Other,
    ];

    /// The kinds that any tester grants, so that the user need not accept them.
    pub const GRANTED: [Self; 3] = [Self::ObjectSize, Self::CharacterPointer, Self::KeptPointers];

    /// The name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ObjectSize => "object-size",
            Self::CharacterPointer => "character-pointer",
            Self::Shape => "shape",
            Self::Size => "size",
            Self::Length => "length",
            Self::Depth => "depth",
            Self::Alias => "alias",
            Self::ExternalWrites => "external-writes",
            Self::KeptPointers => "kept-pointers",
            Self::Subscript => "subscript",
            Self::RawPointer => "raw-pointer",
            Self::LeadingElements => "leading-elements",
            Self::Other => "other",
        }
    }

    /// Whether it limits which inputs were tried, so that an argument under it is a bounded one.
    pub const fn is_bound(self) -> bool {
        matches!(self, Self::Size | Self::Depth)
    }
}

impl fmt::Display for AssumptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no kind of assumption.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no kind of assumption; there are {}", AssumptionKind::ALL.map(AssumptionKind::name).join(", "))]
pub struct NoSuchKind {
    /// The name.
    pub name: String,
}

impl FromStr for AssumptionKind {
    type Err = NoSuchKind;

    fn from_str(name: &str) -> Result<Self, NoSuchKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| NoSuchKind { name: name.to_owned() })
    }
}

/// An assumption of an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Assumption {
    /// Its kind.
    pub kind: AssumptionKind,
    /// Its parameter, place, type or function; empty if it is about all inputs.
    pub subject: String,
    /// For the user: `p and q are different objects`.
    pub sentence: String,
}

impl Assumption {
    /// An assumption of a kind about a subject.
    pub fn new(
        kind: AssumptionKind,
        subject: impl Into<String>,
        sentence: impl Into<String>,
    ) -> Self {
        Self { kind, subject: subject.into(), sentence: sentence.into() }
    }
}

/// The most bounds of one kind that are kept with an argument.
const MOST_BOUNDS: usize = 6;

/// The assumptions, each once. Of each kind of bound only the first ones are kept, with the number of
/// the others, since structures that point to each other have hundreds.
pub fn abridged(all: impl IntoIterator<Item = Assumption>) -> Vec<Assumption> {
    let (mut kept, mut seen) = (Vec::new(), BTreeSet::new());
    let mut bounds: BTreeMap<AssumptionKind, usize> = BTreeMap::new();
    for assumption in all {
        if !seen.insert(assumption.clone()) {
            continue;
        }
        if assumption.kind.is_bound() {
            let count = bounds.entry(assumption.kind).or_default();
            *count += 1;
            if *count > MOST_BOUNDS {
                continue;
            }
        }
        kept.push(assumption);
    }
    for (kind, count) in bounds.into_iter().filter(|(_, count)| *count > MOST_BOUNDS) {
        let sentence = format!("and {} more", count - MOST_BOUNDS);
        kept.push(Assumption::new(kind, "", sentence));
    }
    kept
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.sentence, self.kind)
    }
}

/// The kinds of assumptions under which *infeasible* counts: those that any tester grants, and those
/// that the user accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedAssumptions(BTreeSet<AssumptionKind>);

impl Default for AcceptedAssumptions {
    /// The granted kinds only.
    fn default() -> Self {
        Self(AssumptionKind::GRANTED.into())
    }
}

impl AcceptedAssumptions {
    /// The word that stands for all kinds.
    pub const ALL: &str = "all";

    /// The granted kinds, and those that the user names: kinds, or `all`.
    ///
    /// # Errors
    /// A name that is neither.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, NoSuchKind> {
        let mut accepted = Self::default();
        for name in names {
            match name {
                Self::ALL => accepted.0.extend(AssumptionKind::ALL),
                _ => _ = accepted.0.insert(name.parse()?),
            }
        }
        Ok(accepted)
    }

    /// Whether an assumption counts as granted.
    pub fn includes(&self, assumption: &Assumption) -> bool {
        self.0.contains(&assumption.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_tester_grants_is_granted_and_more_where_the_user_accepts_it() {
        let of = |kind| Assumption::new(kind, "p", "a sentence");
        let granted = |accepted: &AcceptedAssumptions| -> Vec<&str> {
            let all = AssumptionKind::ALL.into_iter();
            all.filter(|kind| accepted.includes(&of(*kind))).map(AssumptionKind::name).collect()
        };
        let all = ["object-size", "character-pointer", "kept-pointers"];
        assert_eq!(granted(&AcceptedAssumptions::default()), all);
        let some = AcceptedAssumptions::named(["alias", "leading-elements"]).expect("kinds");
        assert_eq!(
            granted(&some),
            ["object-size", "character-pointer", "alias", "kept-pointers", "leading-elements"]
        );
        assert_eq!(granted(&AcceptedAssumptions::named(["all"]).expect("a word")).len(), 13);
    }

    #[test]
    fn of_many_bounds_the_first_are_named_and_the_others_counted() {
        let bound = |n: i32| {
            let sentence = format!("p{n} has at most 16 elements");
            Assumption::new(AssumptionKind::Size, format!("p{n}"), sentence)
        };
        let alias = Assumption::new(AssumptionKind::Alias, "p and q", "they are different");
        let all = (1..=8).map(bound).chain([alias.clone(), bound(1), alias.clone()]);
        let kept = abridged(all);
        let sentences: Vec<&str> = kept.iter().map(|one| one.sentence.as_str()).collect();
        assert_eq!(
            sentences[5..],
            ["p6 has at most 16 elements", "they are different", "and 2 more"]
        );
        assert_eq!(abridged([bound(1), alias.clone()]), [bound(1), alias]);
    }

    #[test]
    fn a_name_that_is_no_kind_is_refused_with_those_that_are() {
        let error = AcceptedAssumptions::named(["alais"]).unwrap_err().to_string();
        assert!(error.contains("`alais`") && error.contains("alias, external-writes"), "{error}");
    }

    #[test]
    fn an_assumption_reads_back_from_json_and_shows_its_kind() {
        let told =
            Assumption::new(AssumptionKind::Alias, "p and q", "p and q are different objects");
        assert_eq!(told.to_string(), "p and q are different objects (alias)");
        let text = serde_json::to_string(&told).expect("valid JSON");
        let expected =
            r#"{"kind":"alias","subject":"p and q","sentence":"p and q are different objects"}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Assumption>(&text).expect("reads back"), told);
    }
}
