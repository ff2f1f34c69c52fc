//! Pointers that belong together: two that point into one array, two that may be the same.
//!
//! A body that subtracts two pointers, or compares which is greater, takes them to be of one object;
//! inputs where they are not would make wrong verdicts. Names say which of them starts the array.

use std::collections::BTreeMap;

use lydian_ir::{CType, CTypeId, CTypes};

use super::names::{means_end, means_position};
use super::place::Place;
use super::settings::{Kind, PlacePattern, PlaceSettings};
use super::usage::{Facts, Spot, Usage};

/// A pointer of a group: a parameter or member, or what one of these points to.
pub(crate) struct Candidate {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) pointee: CTypeId,
    pub(crate) spot: Spot,
}

/// What a pointer is to others of its group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Role {
    /// Others point into its array.
    Start,
    /// It points into another's array, or may be another.
    Related(Box<PlaceSettings>),
}

/// The roles of the pointers of a group, with reasons.
pub(crate) type Roles = BTreeMap<Place, (Role, String)>;

/// Finds the roles. Pointers without one are left out.
pub(crate) fn roles(types: &CTypes, usage: &Usage, group: &[Candidate]) -> Roles {
    let mut roles = Roles::new();
    for at in 0..group.len() {
        let Some((kind, base, why)) = relation(types, usage, group, at) else { continue };
        // A start that itself lies in an array: what points into it points into that.
        let within = array_of(&roles, &group[base].place);
        let base = within.unwrap_or_else(|| group[base].place.clone());
        let place = group[at].place.clone();
        if base == place {
            continue;
        }
        let settings = match kind {
            Some(kind) => {
                roles.insert(base.clone(), (Role::Start, format!("{place} points into it")));
                let of = Some(PlacePattern(base.clone()));
                PlaceSettings { kind: Some(kind), of, ..PlaceSettings::default() }
            }
            None => PlaceSettings {
                kind: Some(Kind::Object),
                alias: Some(vec![PlacePattern(base.clone())]),
                ..PlaceSettings::default()
            },
        };
        roles.insert(place, (Role::Related(Box::new(settings)), format!("{why} {base}")));
    }
    relate_to_starts(&mut roles);
    roles
}

/// What was related to a pointer that turned out to lie in another's array is related to that one. A
/// pointer that would come to be related to itself starts the array.
fn relate_to_starts(roles: &mut Roles) {
    let places: Vec<Place> = roles.keys().cloned().collect();
    for place in &places {
        let mut chain = chain(roles, place);
        if let Some(first) = chain.next()
            && std::iter::once(first.clone()).chain(chain).any(|next| next == *place)
        {
            roles.insert(place.clone(), (Role::Start, format!("{first} points into it")));
        }
    }
    for place in &places {
        let last = chain(roles, place).last();
        if let (Some(base), Some((Role::Related(settings), _))) = (last, roles.get_mut(place)) {
            settings.of = Some(PlacePattern(base));
        }
    }
}

/// The pointer in whose array another one lies, the one in whose array that lies, and so on; in a
/// circle some more than once.
fn chain(roles: &Roles, place: &Place) -> impl Iterator<Item = Place> {
    std::iter::successors(array_of(roles, place), |next| array_of(roles, next)).take(roles.len())
}

/// The pointer in whose array another one lies.
fn array_of(roles: &Roles, place: &Place) -> Option<Place> {
    match roles.get(place)? {
        (Role::Related(settings), _) => settings.of.as_ref().map(|of| of.0.clone()),
        (Role::Start, _) => None,
    }
}

/// How one pointer of a group relates to another: the kind, or `None` for an alias; the other; and
/// why, to be followed by the other's place.
fn relation(
    types: &CTypes,
    usage: &Usage,
    group: &[Candidate],
    at: usize,
) -> Option<(Option<Kind>, usize, &'static str)> {
    let own = &group[at];
    let facts = usage.of_spot(&own.spot);
    let alike = |other: usize| other != at && same_type(types, own.pointee, group[other].pointee);
    let starts = |other: &usize| alike(*other) && !means_end(&group[*other].name);
    // What is indexed is an array of its own, whatever its name says, unless the body relates it.
    let ends = |other: usize| {
        let facts = usage.of_spot(&group[other].spot);
        means_end(&group[other].name) && !facts.varying_index
    };
    if means_end(&own.name) {
        let related = nearest(group, at, |o| starts(o) && together(facts, &group[*o]));
        let named = || nearest(group, at, starts).filter(|_| ends(at));
        if let Some(base) = related.or_else(named) {
            return Some((Some(Kind::End), base, "by its name and type it ends the array of"));
        }
    }
    let ended = (0..group.len()).any(|other| alike(other) && ends(other));
    if means_position(&own.name) && ended {
        let base = |other: &usize| starts(other) && !means_position(&group[*other].name);
        if let Some(base) = nearest(group, at, base) {
            return Some((Some(Kind::Into), base, "by its name it points into the array of"));
        }
    }
    // Of two that the body relates, the first is taken for the start.
    let earlier = |other: &usize| *other < at && starts(other);
    if let Some(base) =
        nearest(group, at, |o| earlier(o) && facts.ordered.contains(&group[*o].spot))
    {
        return Some((Some(Kind::Into), base, "it is compared with or subtracted from"));
    }
    let base = nearest(group, at, |o| earlier(o) && facts.compared.contains(&group[*o].spot))?;
    let single = matches!(types.get(own.pointee), CType::Record(_)) && !facts.is_indexed();
    match single {
        true => Some((None, base, "one object, which the body compares with that of")),
        false => Some((Some(Kind::Into), base, "it is compared with")),
    }
}

/// Whether the body relates the two pointers.
fn together(facts: &Facts, other: &Candidate) -> bool {
    facts.ordered.contains(&other.spot) || facts.compared.contains(&other.spot)
}

/// The nearest pointer that will do: those before it first, and one whose name says that it is a
/// position only where there is nothing else.
fn nearest(group: &[Candidate], at: usize, will_do: impl Fn(&usize) -> bool) -> Option<usize> {
    let order = (0..at).rev().chain(at + 1..group.len());
    let mut found: Vec<usize> = order.filter(will_do).collect();
    found.sort_by_key(|other| means_position(&group[*other].name));
    found.first().copied()
}

/// Whether pointers to the two may point into one array.
fn same_type(types: &CTypes, a: CTypeId, b: CTypeId) -> bool {
    let byte = |ty| types.size(ty) == Some(1) && types.scalar(ty).is_some();
    let function = |ty| matches!(types.get(ty), CType::Function { .. });
    (a == b || byte(a) && byte(b)) && !function(a)
}
