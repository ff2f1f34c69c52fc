//! Sensible guesses about pointers, each with its reason, from names, types and uses.
//!
//! A guess is only a default. It is shown to the user, who can overrule it in the settings.

use std::collections::{BTreeSet, VecDeque};

use lydian_ir::{CType, CTypeId, CTypes, FuncId, IntKind, Program, Record, RecordId};

use super::globals::GlobalUses;
use super::length::Length;
use super::names::{means_end, means_length, means_length_of, means_position};
use super::place::{Place, Step};
use super::settings::{Kind, LengthText, PlacePattern, PlaceSettings};
use super::usage::{Facts, Spot, Usage};

/// A guess about a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The place or pattern; relative for a guess about a type.
    pub place: Place,
    /// What is guessed.
    pub settings: PlaceSettings,
    /// Why, as the end of a sentence.
    pub reason: String,
}

/// The guesses for one function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guesses {
    /// About its parameters, or about the result of an undefined function.
    pub places: Vec<Guess>,
    /// About members of the struct and union types that its inputs lead to.
    pub types: Vec<(CTypeId, Guess)>,
}

/// A pointer whose meaning is asked for, among its neighbours.
struct Pointer<'a> {
    place: Place,
    name: &'a str,
    pointee: CTypeId,
    to_const: bool,
    facts: &'a Facts,
}

/// A parameter or member beside others.
struct Neighbour {
    place: Place,
    name: String,
    ty: CTypeId,
}

/// Guesses what the pointers among a function's inputs are.
pub fn guess(program: &Program, function: FuncId, usage: &Usage, globals: &GlobalUses) -> Guesses {
    let mut guesses = Guesses::default();
    let mut reached = VecDeque::new();
    let declared = &program.functions[function];
    let CType::Function { result, params, .. } = program.types.get(declared.ty) else {
        return guesses;
    };
    if declared.body.is_some() {
        let neighbours: Vec<Neighbour> = (params.iter().enumerate())
            .map(|(at, ty)| {
                let name = parameter_name(program, function, at);
                Neighbour { place: Place::root(name.clone()), name, ty: *ty }
            })
            .collect();
        let spot = |at: usize| Spot::Param(function, at);
        guesses.places = among(program, usage, &neighbours, spot);
        reached.extend(params.iter().copied());
        for id in globals.inputs_of(program, function) {
            let global = &program.globals[id];
            let place = Place::root(global.name.clone());
            let alone = [Neighbour { place, name: global.name.clone(), ty: global.ty }];
            guesses.places.extend(among(program, usage, &alone, |_| Spot::Global(id)));
            reached.push_back(global.ty);
        }
    } else {
        guesses.places.extend(result_guess(program, *result));
        reached.push_back(*result);
    }
    let from_bodies = guesses.places.iter().filter_map(|guess| {
        let name = guess.settings.pointee.as_deref()?;
        super::spec::types_named(program, name).first().copied()
    });
    reached.extend(from_bodies);
    guesses.types = in_records(program, usage, reached);
    guesses
}

/// The name of a parameter; `arg0` and so on where it has none.
pub fn parameter_name(program: &Program, function: FuncId, position: usize) -> String {
    let declared = &program.functions[function];
    let of_body = declared
        .body
        .as_ref()
        .and_then(|body| body.params.get(position).map(|local| &body.locals[*local].name));
    let name = declared.param_names.get(position).or(of_body).filter(|name| !name.is_empty());
    name.cloned().unwrap_or_else(|| format!("arg{position}"))
}

/// The result of an undefined function may be null, since that is how C says that it failed.
fn result_guess(program: &Program, result: CTypeId) -> Option<Guess> {
    let CType::Pointer { pointee, .. } = program.types.get(result) else { return None };
    let kind = if is_text(&program.types, *pointee) { Some(Kind::String) } else { None };
    let settings = PlaceSettings { kind, null: Some(true), ..PlaceSettings::default() };
    let reason = "an undefined function may fail".to_owned();
    Some(Guess { place: Place::root("result"), settings, reason })
}

/// Guesses about the members of all records that the given types lead to.
fn in_records(
    program: &Program,
    usage: &Usage,
    mut reached: VecDeque<CTypeId>,
) -> Vec<(CTypeId, Guess)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(ty) = reached.pop_front() {
        if !seen.insert(ty) {
            continue;
        }
        match program.types.get(ty) {
            CType::Pointer { pointee, .. } => reached.push_back(*pointee),
            CType::Array { element, .. } => reached.push_back(*element),
            CType::Record(record) => {
                let fields = &program.types.records[*record].fields;
                reached.extend(fields.iter().map(|field| field.ty));
                let guesses = in_record(program, usage, *record);
                found.extend(guesses.into_iter().map(|guess| (ty, guess)));
            }
            _ => {}
        }
    }
    found
}

fn in_record(program: &Program, usage: &Usage, id: RecordId) -> Vec<Guess> {
    let record: &Record = &program.types.records[id];
    if record.is_union {
        return Vec::new();
    }
    let neighbours: Vec<Neighbour> = (record.fields.iter())
        .map(|field| Neighbour {
            place: Place::default().field(&field.name),
            name: if field.bits.is_some() { String::new() } else { field.name.clone() },
            ty: field.ty,
        })
        .collect();
    among(program, usage, &neighbours, |at| Spot::Member(id, at as u32))
}

/// Guesses about the pointers among neighbours: parameters of one function, members of one record.
fn among(
    program: &Program,
    usage: &Usage,
    neighbours: &[Neighbour],
    spot: impl Fn(usize) -> Spot,
) -> Vec<Guess> {
    let mut guesses = Vec::new();
    for (at, neighbour) in neighbours.iter().enumerate() {
        if neighbour.name.is_empty() {
            continue;
        }
        if let CType::Pointer { pointee, to_const } = program.types.get(neighbour.ty) {
            let spot = spot(at);
            let pointer = Pointer {
                place: neighbour.place.clone(),
                name: &neighbour.name,
                pointee: *pointee,
                to_const: *to_const,
                facts: usage.of_spot(&spot),
            };
            guesses.push(one(program, &pointer, neighbours, at));
            guesses.extend(inner(program, usage, &pointer, spot, neighbours, at));
        } else if let CType::Array { .. } = program.types.get(neighbour.ty) {
            guesses.extend(flexible(program, neighbours, at));
        }
    }
    guesses
}

/// Guess about one pointer.
fn one(program: &Program, pointer: &Pointer, neighbours: &[Neighbour], at: usize) -> Guess {
    let (mut settings, mut reason) = kind_of(program, pointer, neighbours, at);
    settings.null = Some(pointer.facts.null_tested);
    reason.push_str(if pointer.facts.null_tested {
        "; null, as it is tested for it"
    } else {
        "; not null, as it is never tested for it"
    });
    Guess { place: pointer.place.clone(), settings, reason }
}

fn kind_of(
    program: &Program,
    pointer: &Pointer,
    neighbours: &[Neighbour],
    at: usize,
) -> (PlaceSettings, String) {
    let types = &program.types;
    if is_function(types, pointer.pointee) {
        return (PlaceSettings::default(), "a callback, whose results are inputs".into());
    }
    if let Some(found) = within_another(types, pointer, neighbours, at) {
        return found;
    }
    if let Some(end) = ended_by(types, pointer, neighbours) {
        let settings = PlaceSettings { kind: Some(Kind::Array), ..PlaceSettings::default() };
        return (settings, format!("{end} ends it"));
    }
    if let Some((length, why)) = length_for(types, pointer, neighbours, at) {
        let length = Some(LengthText(Length::Place(length)));
        let settings =
            PlaceSettings { kind: Some(Kind::Array), length, ..PlaceSettings::default() };
        return (settings, why);
    }
    let of_kind = |kind| PlaceSettings { kind: Some(kind), ..PlaceSettings::default() };
    if is_void(types, pointer.pointee) {
        return behind_void(program, pointer);
    }
    let written_only = pointer.facts.written && !pointer.facts.read && !pointer.facts.string;
    if is_text(types, pointer.pointee) && (pointer.to_const || !written_only) {
        return (of_kind(Kind::String), "a pointer to characters without a length".into());
    }
    if pointer.facts.varying_index {
        return (of_kind(Kind::Array), "it is indexed, and no length stands beside it".into());
    }
    if pointer.facts.constant_elements > 1 {
        let count = pointer.facts.constant_elements;
        let settings = PlaceSettings {
            length: Some(LengthText(Length::Number(count))),
            ..of_kind(Kind::Array)
        };
        return (settings, format!("elements up to number {} are used", count - 1));
    }
    let scalar = types.scalar(pointer.pointee).is_some();
    let why = match (scalar, pointer.to_const) {
        (true, false) => "a result or variable of the caller's, since it is never indexed",
        (true, true) => "one value, since it is never indexed",
        (false, _) => "one object, since it is never indexed",
    };
    (of_kind(Kind::Object), why.into())
}

/// `void *` without a size beside it: the struct that its body takes it for, else a few bytes.
fn behind_void(program: &Program, pointer: &Pointer) -> (PlaceSettings, String) {
    let used = pointer.facts.records.first().map(|record| &program.types.records[*record].name);
    let settings = PlaceSettings { kind: Some(Kind::Object), ..PlaceSettings::default() };
    match used.filter(|name| !name.is_empty()) {
        Some(name) => (
            PlaceSettings { pointee: Some(name.clone()), ..settings },
            format!("it is used as {name}"),
        ),
        None => (
            PlaceSettings { kind: Some(Kind::Array), ..settings },
            "bytes, since nothing says what it points to".into(),
        ),
    }
}

/// A pointer that ends another's array, or points into it.
fn within_another(
    types: &CTypes,
    pointer: &Pointer,
    neighbours: &[Neighbour],
    at: usize,
) -> Option<(PlaceSettings, String)> {
    let related = |base: &Neighbour, kind: Kind, word: &str| {
        let of = Some(PlacePattern(base.place.clone()));
        let settings = PlaceSettings { kind: Some(kind), of, ..PlaceSettings::default() };
        (settings, format!("by its name and type it {word} the array of {}", base.place))
    };
    if means_end(pointer.name) {
        let base = start_of(types, neighbours, at, pointer.pointee)?;
        return Some(related(base, Kind::End, "ends"));
    }
    let ended = neighbours
        .iter()
        .any(|other| types.pointee(other.ty) == Some(pointer.pointee) && means_end(&other.name));
    if !means_position(pointer.name) || !ended {
        return None;
    }
    let base = start_of(types, neighbours, at, pointer.pointee)?;
    (!means_position(&base.name)).then(|| related(base, Kind::Into, "points into"))
}

/// The pointer to the start of the array that the pointer at a position ends or points into: the
/// nearest of its type, those before it first, and a position only where there is nothing else.
fn start_of<'a>(
    types: &CTypes,
    neighbours: &'a [Neighbour],
    at: usize,
    pointee: CTypeId,
) -> Option<&'a Neighbour> {
    let starts = |other: &&Neighbour| {
        types.pointee(other.ty) == Some(pointee)
            && !means_end(&other.name)
            && !other.name.is_empty()
    };
    let nearest = neighbours[..at].iter().rev().chain(&neighbours[at + 1..]);
    let mut candidates: Vec<&Neighbour> = nearest.filter(starts).collect();
    candidates.sort_by_key(|other| means_position(&other.name));
    candidates.first().copied()
}

/// The neighbour that ends the pointer's array.
fn ended_by<'a>(types: &CTypes, pointer: &Pointer, neighbours: &'a [Neighbour]) -> Option<&'a str> {
    let ends = |(at, other): &(usize, &Neighbour)| {
        types.pointee(other.ty) == Some(pointer.pointee)
            && means_end(&other.name)
            && start_of(types, neighbours, *at, pointer.pointee)
                .is_some_and(|start| start.place == pointer.place)
    };
    neighbours.iter().enumerate().find(ends).map(|(_, other)| other.name.as_str())
}

/// The neighbour that holds the pointer's length.
fn length_for(
    types: &CTypes,
    pointer: &Pointer,
    neighbours: &[Neighbour],
    at: usize,
) -> Option<(Place, String)> {
    let place = |other: &Neighbour| {
        let number = is_integer(types, other.ty);
        let behind = types.pointee(other.ty).is_some_and(|inner| is_integer(types, inner));
        match (number, behind) {
            (true, _) => Some(other.place.clone()),
            (_, true) => Some(other.place.index(0)),
            _ => None,
        }
    };
    let named = neighbours.iter().find_map(|other| {
        let place = means_length_of(&other.name, pointer.name).then(|| place(other))??;
        Some((place, format!("by its name {} is its length", other.name)))
    });
    if named.is_some() {
        return named;
    }
    // Structs are more often single than scalars are, and a length beside one may be another's.
    let record = matches!(types.get(pointer.pointee), CType::Record(_) | CType::Pointer { .. });
    if record && !pointer.facts.is_indexed() {
        return None;
    }
    if types.scalar(pointer.pointee).is_some() && only_first_used(pointer.facts) {
        return None;
    }
    let number = |other: &Neighbour| {
        let beside = is_integer(types, other.ty) && means_length(&other.name);
        (beside && !taken(neighbours, other, pointer)).then(|| other.place.clone())
    };
    let is_pointer = |other: &&Neighbour| types.pointee(other.ty).is_some();
    let after = neighbours[at + 1..].iter().find(|other| !is_pointer(other));
    // A length before it, unless that follows another pointer, whose length it then is.
    let follows = at.checked_sub(2).is_some_and(|at| is_pointer(&&neighbours[at]));
    let before = at.checked_sub(1).filter(|_| !follows).map(|before| &neighbours[before]);
    for other in [after, before].into_iter().flatten() {
        if let Some(place) = number(other) {
            return Some((place, format!("{} stands beside it", other.name)));
        }
    }
    // `unsigned char *out, size_t *outlen`
    let next = neighbours.get(at + 1)?;
    let counted = means_length(&next.name) && !taken(neighbours, next, pointer);
    let inner = types.pointee(next.ty).filter(|inner| is_integer(types, *inner));
    (counted && inner.is_some())
        .then(|| (next.place.index(0), format!("*{} stands beside it", next.name)))
}

/// Whether a length's name says that it belongs to another pointer.
fn taken(neighbours: &[Neighbour], length: &Neighbour, pointer: &Pointer) -> bool {
    neighbours.iter().any(|other| {
        other.name != pointer.name
            && other.name != length.name
            && means_length_of(&length.name, &other.name)
    })
}

/// Whether the body uses the one thing that it points to and nothing beside it.
fn only_first_used(facts: &Facts) -> bool {
    (facts.read || facts.written) && !facts.is_indexed() && !facts.handed_on && !facts.string
}

/// What the pointers behind a pointer to pointers are.
fn inner(
    program: &Program,
    usage: &Usage,
    pointer: &Pointer,
    spot: Spot,
    neighbours: &[Neighbour],
    at: usize,
) -> Option<Guess> {
    let CType::Pointer { pointee, to_const } = program.types.get(pointer.pointee) else {
        return None;
    };
    let spot = Spot::Pointee(Box::new(spot));
    let behind = Pointer {
        place: pointer.place.then(Step::Any),
        name: pointer.name,
        pointee: *pointee,
        to_const: *to_const,
        facts: usage.of_spot(&spot),
    };
    // `const unsigned char **p, long len`: the length is that of what `*p` points to.
    let single = !pointer.facts.is_indexed();
    let among = if single { neighbours } else { &[] };
    let at = if single { at } else { 0 };
    if among.is_empty() {
        let alone =
            [Neighbour { place: behind.place.clone(), name: String::new(), ty: pointer.pointee }];
        return Some(one(program, &behind, &alone, 0));
    }
    Some(one(program, &behind, among, at))
}

/// A flexible array member with its length before it.
fn flexible(program: &Program, neighbours: &[Neighbour], at: usize) -> Option<Guess> {
    let CType::Array { length: None, .. } = program.types.get(neighbours[at].ty) else {
        return None;
    };
    let named = neighbours[..at].iter().rev().find(|other| {
        is_integer(&program.types, other.ty)
            && (means_length(&other.name) || means_length_of(&other.name, &neighbours[at].name))
    })?;
    let length = Some(LengthText(Length::Place(named.place.clone())));
    Some(Guess {
        place: neighbours[at].place.clone(),
        settings: PlaceSettings { length, ..PlaceSettings::default() },
        reason: format!("a flexible array after {}", named.name),
    })
}

fn is_void(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Void)
}

fn is_function(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Function { .. })
}

fn is_integer(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Int { kind, .. } if *kind != IntKind::Bool)
}

/// Whether C programmers keep text in it: `char` itself, not its signed and unsigned relatives.
fn is_text(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Int { kind: IntKind::Char, .. })
}
