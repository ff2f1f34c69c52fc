//! Relations between pointers: two that point into one array, two that may be equal.
//!
//! A body that subtracts two pointers, or orders them, assumes that they point into one object, and
//! inputs that break the assumption would give wrong verdicts. Names say which of the two starts the
//! array.

use std::collections::BTreeMap;

use lydian_ir::{CType, CTypeId, CTypes};

use crate::guess::names::{means_end, means_position};
use crate::guess::usage::{PointerUses, PointerVariable, Usage};
use crate::place::InputPlace;
use crate::settings::{Kind, PlacePattern, PlaceSettings};

/// A pointer of a group: a parameter or member, or what one of these points to.
pub(crate) struct Candidate {
    pub(crate) place: InputPlace,
    pub(crate) name: String,
    pub(crate) pointee: CTypeId,
    pub(crate) spot: PointerVariable,
}

/// The role of a pointer in its group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Role {
    /// Others point into its array.
    Start,
    /// It points into another's array, or may be another.
    Related(Box<PlaceSettings>),
}

/// The roles of the pointers of a group, with reasons.
pub(crate) type Roles = BTreeMap<InputPlace, (Role, String)>;

/// Finds the roles. Pointers without one are left out.
pub(crate) fn roles(types: &CTypes, usage: &Usage, group: &[Candidate]) -> Roles {
    let mut roles = Roles::new();
    for at in 0..group.len() {
        let Some(Relation { kind, base, why }) = relation(types, usage, group, at) else {
            continue;
        };
        // If the start lies in an array itself, pointers into it point into that array.
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

/// Relates pointers to the start of their array: a pointer that was related to one inside of another
/// array is related to that array. A pointer that would be related to itself starts the array.
fn relate_to_starts(roles: &mut Roles) {
    let places: Vec<InputPlace> = roles.keys().cloned().collect();
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

/// The chain of pointers in whose arrays the ones before them lie. In a cycle some occur more than
/// once.
fn chain(roles: &Roles, place: &InputPlace) -> impl Iterator<Item = InputPlace> {
    std::iter::successors(array_of(roles, place), |next| array_of(roles, next)).take(roles.len())
}

/// The pointer in whose array a pointer lies.
fn array_of(roles: &Roles, place: &InputPlace) -> Option<InputPlace> {
    match roles.get(place)? {
        (Role::Related(settings), _) => settings.of.as_ref().map(|of| of.0.clone()),
        (Role::Start, _) => None,
    }
}

/// The relation of one pointer of a group to another.
struct Relation {
    /// What the pointer is to the other; none if they may be the same.
    kind: Option<Kind>,
    /// The position of the other in the group.
    base: usize,
    /// The reason, to be followed by the other's place.
    why: &'static str,
}

/// The relation of the pointer at a position to another of its group, if names or the body show one.
fn relation(types: &CTypes, usage: &Usage, group: &[Candidate], at: usize) -> Option<Relation> {
    let own = &group[at];
    let facts = usage.of_spot(&own.spot);
    let alike = |other: usize| other != at && same_type(types, own.pointee, group[other].pointee);
    let starts = |other: &usize| alike(*other) && !means_end(&group[*other].name);
    // An indexed pointer is an array of its own whatever its name says, unless the body relates it.
    let ends = |other: usize| {
        let facts = usage.of_spot(&group[other].spot);
        means_end(&group[other].name) && !facts.varying_index
    };
    if means_end(&own.name) {
        let related = nearest(group, at, |o| starts(o) && together(facts, &group[*o]));
        let named = || nearest(group, at, starts).filter(|_| ends(at));
        if let Some(base) = related.or_else(named) {
            let why = "by its name and type it ends the array of";
            return Some(Relation { kind: Some(Kind::End), base, why });
        }
    }
    let ended = (0..group.len()).any(|other| alike(other) && ends(other));
    if means_position(&own.name) && ended {
        let base = |other: &usize| starts(other) && !means_position(&group[*other].name);
        if let Some(base) = nearest(group, at, base) {
            let why = "by its name it points into the array of";
            return Some(Relation { kind: Some(Kind::Into), base, why });
        }
    }
    // Of two that the body relates, the first is taken for the start.
    let earlier = |other: &usize| *other < at && starts(other);
    if let Some(base) =
        nearest(group, at, |o| earlier(o) && facts.ordered.contains(&group[*o].spot))
    {
        let why = "it is compared with or subtracted from";
        return Some(Relation { kind: Some(Kind::Into), base, why });
    }
    let base = nearest(group, at, |o| earlier(o) && facts.compared.contains(&group[*o].spot))?;
    let single = matches!(types.get(own.pointee), CType::Record(_)) && !facts.is_indexed();
    let (kind, why) = match single {
        true => (None, "one object, which the body compares with that of"),
        false => (Some(Kind::Into), "it is compared with"),
    };
    Some(Relation { kind, base, why })
}

/// Whether the body relates the two pointers.
fn together(facts: &PointerUses, other: &Candidate) -> bool {
    facts.ordered.contains(&other.spot) || facts.compared.contains(&other.spot)
}

/// The nearest pointer that satisfies `will_do`: those before it first, and one whose name means a
/// position only if there is no other.
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
