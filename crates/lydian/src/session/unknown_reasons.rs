//! The reason that is shown for an unknown objective which an exploration left, chosen among the cuts
//! before it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use lydian_base::SourceMap;
use lydian_objective::UnknownReason;
use lydian_symex::{Cut, add_reason};

/// Spells places of a program's text for reasons, and remembers which it spelled: a later run has the same
/// reasons, and the text may have moved.
pub(crate) struct NamedPlaces<'a> {
    map: &'a SourceMap,
    /// The offset of each, by its spelling.
    named: RefCell<BTreeMap<String, u32>>,
}

impl<'a> NamedPlaces<'a> {
    pub(crate) fn new(map: &'a SourceMap) -> Self {
        Self { map, named: RefCell::default() }
    }

    /// The spelling of the place of an offset.
    pub(crate) fn name(&self, offset: u32) -> String {
        let name = self.map.place(offset).to_string();
        self.named.borrow_mut().insert(name.clone(), offset);
        name
    }

    /// The places that a text names, each with its offset.
    pub(crate) fn within(&self, text: &str) -> Vec<(String, u32)> {
        let named = self.named.borrow();
        let all = named.iter().filter(|(name, _)| place_in(text, name).is_some());
        all.map(|(name, offset)| (name.clone(), *offset)).collect()
    }
}

/// Where a text names a place: as a whole word, since another place may be longer by a digit or a folder.
fn place_in(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || "/._-+:".contains(c);
    let mut found = text.match_indices(name).map(|(at, _)| at);
    found.find(|at| {
        !text[..*at].ends_with(is_part) && !text[at + name.len()..].starts_with(char::is_numeric)
    })
}

/// A text in which places have other names.
pub(crate) fn renamed(text: &str, places: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // All names are replaced at once: the new name of one may be the old name of another.
    loop {
        let next = places.iter().filter_map(|(old, new)| Some((place_in(rest, old)?, old, new)));
        let Some((at, old, new)) = next.min_by_key(|(at, ..)| *at) else { break };
        out.push_str(&rest[..at]);
        out.push_str(new);
        rest = &rest[at + old.len()..];
    }
    out + rest
}

/// The reason to show: the one that the user can influence least comes first. Dependences are all
/// named.
pub(crate) fn reason(places: &NamedPlaces<'_>, cuts: &[Cut]) -> UnknownReason {
    let weight = |cut: &&Cut| match cut {
        Cut::Unsupported(_) => 0,
        Cut::Stopped(_) => 1,
        Cut::Solver(_) => 2,
        Cut::Undetermined(..) | Cut::Mathematics(..) | Cut::Assumption => 3,
        Cut::LoopBound(_) | Cut::Recursion(_) | Cut::CallDepth(_) | Cut::PathSteps(_) => 4,
        Cut::NotAsked | Cut::NotAugmented => 5,
    };
    let bound = |what: &str, limit: u64| UnknownReason::Bound { what: what.into(), limit };
    match cuts.iter().min_by_key(weight) {
        None => UnknownReason::NotTried,
        Some(Cut::Stopped(reason)) => UnknownReason::Budget(*reason),
        Some(Cut::LoopBound(limit)) => bound("loop", u64::from(*limit)),
        Some(Cut::Recursion(limit)) => bound("recursion", u64::from(*limit)),
        Some(Cut::CallDepth(limit)) => bound("call depth", u64::from(*limit)),
        Some(Cut::PathSteps(limit)) => bound("path length", *limit),
        Some(Cut::Solver(_)) => UnknownReason::SolverGaveUp,
        Some(cut @ (Cut::Unsupported(_) | Cut::Assumption | Cut::NotAsked | Cut::NotAugmented)) => {
            UnknownReason::NotFollowed(cut.to_string())
        }
        Some(Cut::Undetermined(..) | Cut::Mathematics(..)) => {
            UnknownReason::Depends(dependences(places, cuts))
        }
    }
}

/// The dependences of an objective, each with its first place in the text.
fn dependences(places: &NamedPlaces<'_>, cuts: &[Cut]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let dependences = cuts.iter().filter(|cut| cut.is_dependence());
    dependences.for_each(|cut| add_reason(&mut found, cut.clone()));
    found.iter().map(|cut| with_place(places, cut)).collect()
}

/// A reason with the place where it arose, if it has one.
pub(crate) fn with_place(places: &NamedPlaces<'_>, cut: &Cut) -> String {
    match cut.place() {
        Some((verb, span)) => format!("{cut}, {verb} at {}", places.name(span.start)),
        None => cut.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::Span;
    use lydian_symex::Undetermined;

    use super::*;

    #[test]
    fn what_the_user_can_change_least_is_the_reason_that_is_shown() {
        let cuts = [Cut::LoopBound(8), Cut::Unsupported("longjmp".into())];
        let map = SourceMap::from_preprocessed("", "unit.c");
        let places = NamedPlaces::new(&map);
        assert!(reason(&places, &cuts).to_string().contains("longjmp"));
        assert_eq!(reason(&places, &cuts[..1]).to_string(), "loop bound of 8");
    }

    #[test]
    fn places_get_new_names_all_at_once_and_as_whole_words() {
        let pairs = [("a.c:1:5", "a.c:2:5"), ("a.c:2:5", "a.c:13:1")];
        let pairs = pairs.map(|(old, new)| (old.to_owned(), new.to_owned()));
        let text = "read at a.c:1:5; used at a.c:2:5, not a.c:1:55 or b/a.c:2:5";
        let expected = "read at a.c:2:5; used at a.c:13:1, not a.c:1:55 or b/a.c:2:5";
        assert_eq!(renamed(text, &pairs), expected);
    }

    #[test]
    fn all_that_an_objective_depends_on_is_named() {
        let map = SourceMap::from_preprocessed("int x;\nint y;\n", "unit.c");
        let read = |start| Cut::Undetermined(Undetermined::Unwritten, Span::new(start, start + 1));
        let sine = Cut::Mathematics("sin".into(), Span::new(7, 8));
        let bound = Cut::LoopBound(3);
        let places = NamedPlaces::new(&map);
        let shown = |cuts: &[Cut]| reason(&places, cuts).to_string();
        let both = "depends on uninitialised memory, read at unit.c:1:5; \
                    depends on inexact mathematics, `sin` of more than a few values, \
                    called at unit.c:2:1";
        assert_eq!(shown(&[bound, sine, read(11), read(4)]), both);
    }
}
