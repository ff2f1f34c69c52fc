//! Guesses about pointers, each with its reason, from names, types and uses.
//!
//! A guess is only a default. It is shown to the user, who can overrule it in the settings.

mod names;
mod relations;
pub mod usage;

use std::collections::{BTreeSet, VecDeque};

use lydian_ir::outside::{OutParameter, out_parameters};
use lydian_ir::{CType, CTypeId, CTypes, FuncId, IntKind, Program, Record, RecordId};

use crate::globals::GlobalUses;
use crate::guess::names::{means_length, means_length_of};
use crate::guess::relations::{Candidate, Role, Roles, roles};
use crate::guess::usage::{PointerUses, PointerVariable, Usage};
use crate::place::{InputPlace, Step};
use crate::settings::defaults::MAX_LENGTH;
use crate::settings::length::Length;
use crate::settings::{Kind, LengthText, PlacePattern, PlaceSettings};

/// The greatest length that is guessed: one more than the commonest limit of tables.
const LONGEST: u64 = 257;

/// Characters of a text that a number is read from: one more digit than any number of 64 bits has, a
/// sign, and some characters before and after.
const NUMBER_LENGTH: u64 = 24;

/// A guess about a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The place or pattern; relative for a guess about a type.
    pub place: InputPlace,
    /// The guessed settings.
    pub settings: PlaceSettings,
    /// The reason, as the end of a sentence.
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
    place: InputPlace,
    name: &'a str,
    pointee: CTypeId,
    to_const: bool,
    facts: &'a PointerUses,
}

/// A parameter or member beside others.
struct Neighbour {
    place: InputPlace,
    name: String,
    ty: CTypeId,
}

/// Guesses the kinds and lengths of the pointers among a function's inputs.
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
                Neighbour { place: InputPlace::root(name.clone()), name, ty: *ty }
            })
            .collect();
        let spot = |at: usize| PointerVariable::Param(function, at);
        guesses.places = among(program, usage, &neighbours, spot);
        reached.extend(params.iter().copied());
        for id in globals.inputs_of(program, function, &BTreeSet::new()) {
            let global = &program.globals[id];
            let place = InputPlace::root(global.name.clone());
            let alone = [Neighbour { place, name: global.name.clone(), ty: global.ty }];
            guesses.places.extend(among(program, usage, &alone, |_| PointerVariable::Global(id)));
            reached.push_back(global.ty);
        }
    } else {
        guesses.places.extend(result_guess(program, *result));
        reached.push_back(*result);
        for out in out_parameters(&program.types, &declared.name, declared.ty) {
            guesses.places.extend(written_guess(program, function, out));
            reached.push_back(out.pointee);
        }
    }
    let from_bodies = guesses.places.iter().filter_map(|guess| {
        let name = guess.settings.pointee.as_deref()?;
        crate::type_names::types_named(program, name).first().copied()
    });
    reached.extend(from_bodies);
    guesses.types = in_records(program, usage, reached);
    if declared.body.is_some() {
        for at in 0..params.len() {
            let found = kept_in_another(program, usage, (function, params), at, &guesses);
            let place = InputPlace::root(parameter_name(program, function, at));
            let guess = guesses.places.iter_mut().find(|guess| guess.place == place);
            let (Some((member, why)), Some(guess)) = (found, guess) else { continue };
            guess.settings.alias = Some(vec![PlacePattern(member)]);
            guess.reason.push_str(&why);
        }
    }
    guesses
}

/// The member of another parameter's target that the body compares a parameter with, and the guess's
/// reason: `if (p->buffer != buffer) free(p->buffer)`. The two may be the same.
fn kept_in_another(
    program: &Program,
    usage: &Usage,
    (function, params): (FuncId, &[CTypeId]),
    at: usize,
    guesses: &Guesses,
) -> Option<(InputPlace, String)> {
    let types = &program.types;
    let has_own = |settings: &PlaceSettings| {
        let kind = settings.implied_kind();
        settings.alias.is_none() && !matches!(kind, Some(Kind::End | Kind::Into | Kind::Null))
    };
    let own = InputPlace::root(parameter_name(program, function, at));
    let own = guesses.places.iter().find(|guess| guess.place == own)?;
    if !has_own(&own.settings) || own.settings.length.is_some() {
        return None;
    }
    let pointee = types.pointee(params[at]).filter(|ty| types.size(*ty).is_some())?;
    let compared = &usage.of_spot(&PointerVariable::Param(function, at)).compared;
    compared.iter().find_map(|spot| {
        let PointerVariable::Member(record, field) = spot else { return None };
        let of = |ty: &CTypeId| {
            let lies_in = types.pointee(*ty)?;
            matches!(types.get(lies_in), CType::Record(id) if id == record).then_some(lies_in)
        };
        let (other, lies_in) =
            params.iter().enumerate().find_map(|(other, ty)| Some((other, of(ty)?)))?;
        let member = types.records[*record].fields.get(*field as usize)?;
        let known = InputPlace::default().field(&member.name);
        let guess = guesses.types.iter().find(|(ty, guess)| *ty == lies_in && guess.place == known);
        let is_alike = types.pointee(member.ty) == Some(pointee);
        let may_be =
            other != at && is_alike && guess.is_none_or(|(_, guess)| has_own(&guess.settings));
        let holder = InputPlace::root(parameter_name(program, function, other));
        let place = holder.index(0).field(&member.name);
        let why = format!("; the body compares it with {place}");
        may_be.then_some((place, why))
    })
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

/// The name of an argument for `...` by its position among all arguments: `arg2` for the third, as for
/// parameters without a name, followed by underscores if something else has that name.
pub(crate) fn variable_argument_name(
    program: &Program,
    function: FuncId,
    position: usize,
) -> String {
    let fixed = match program.types.get(program.functions[function].ty) {
        CType::Function { params, .. } => params.len(),
        _ => 0,
    };
    let parameters: Vec<String> =
        (0..fixed).map(|position| parameter_name(program, function, position)).collect();
    let mut name = format!("arg{position}");
    while parameters.contains(&name) || program.global_named(&name).is_some() {
        name.push('_');
    }
    name
}

/// The result of an undefined function may be null, since that is how C says that it failed.
fn result_guess(program: &Program, result: CTypeId) -> Option<Guess> {
    let CType::Pointer { pointee, .. } = program.types.get(result) else { return None };
    let kind = if is_text(&program.types, *pointee) { Some(Kind::String) } else { None };
    let settings = PlaceSettings { kind, null: Some(true), ..PlaceSettings::default() };
    let reason = "an undefined function may fail".to_owned();
    Some(Guess { place: InputPlace::root("result"), settings, reason })
}

/// A pointer that an undefined function sets may be null, too.
fn written_guess(program: &Program, function: FuncId, out: OutParameter) -> Option<Guess> {
    let CType::Pointer { pointee, .. } = program.types.get(out.pointee) else { return None };
    let kind = if is_text(&program.types, *pointee) { Some(Kind::String) } else { None };
    let settings = PlaceSettings { kind, null: Some(true), ..PlaceSettings::default() };
    let reason = "an undefined function sets it, and may fail".to_owned();
    let place = written_place(program, function, out.position).index(0);
    Some(Guess { place, settings, reason })
}

/// The place that stands for the target of a parameter of an undefined function, if the function writes
/// through it.
pub(crate) fn written_place(program: &Program, function: FuncId, position: u32) -> InputPlace {
    let name = parameter_name(program, function, position as usize);
    // `result` is what the function returns.
    InputPlace::root(if name == "result" { format!("arg{position}") } else { name })
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
    let neighbours: Vec<Neighbour> = (record.fields.iter())
        .map(|field| Neighbour {
            place: InputPlace::default().field(&field.name),
            name: if field.bits.is_some() { String::new() } else { field.name.clone() },
            ty: field.ty,
        })
        .collect();
    if record.is_union {
        // Members that overlap give no hints about each other.
        let alone = (0..neighbours.len()).flat_map(|at| {
            among(program, usage, &neighbours[at..=at], |_| PointerVariable::Member(id, at as u32))
        });
        return alone.collect();
    }
    among(program, usage, &neighbours, |at| PointerVariable::Member(id, at as u32))
}

/// Guesses about the pointers among neighbours: parameters of one function, members of one record.
fn among(
    program: &Program,
    usage: &Usage,
    neighbours: &[Neighbour],
    spot: impl Fn(usize) -> PointerVariable,
) -> Vec<Guess> {
    let roles = roles(&program.types, usage, &candidates(program, usage, neighbours, &spot));
    let context = Context { program, usage, roles, spot: &spot };
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
            guesses.push(one(&context, &pointer, neighbours, at));
            guesses.extend(inner(&context, &pointer, spot, neighbours, at));
        } else if let CType::Array { .. } = program.types.get(neighbour.ty) {
            guesses.extend(flexible(program, neighbours, at));
        }
    }
    guesses
}

/// The facts about a whole group of neighbours.
struct Context<'a> {
    program: &'a Program,
    usage: &'a Usage,
    roles: Roles,
    /// The variable that holds the neighbour at a position.
    spot: &'a dyn Fn(usize) -> PointerVariable,
}

/// The pointers of a group: neighbours, and the pointers that pointers to pointers among them lead to.
fn candidates(
    program: &Program,
    usage: &Usage,
    neighbours: &[Neighbour],
    spot: &dyn Fn(usize) -> PointerVariable,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, neighbour) in neighbours.iter().enumerate() {
        let pointee = program.types.pointee(neighbour.ty);
        let Some(pointee) = pointee.filter(|_| !neighbour.name.is_empty()) else { continue };
        let (place, name) = (neighbour.place.clone(), neighbour.name.clone());
        match program.types.pointee(pointee) {
            Some(inner) if !usage.of_spot(&spot(at)).is_indexed() => {
                let (place, spot) = (place.index(0), PointerVariable::Pointee(Box::new(spot(at))));
                found.push(Candidate { place, name, pointee: inner, spot });
            }
            _ => found.push(Candidate { place, name, pointee, spot: spot(at) }),
        }
    }
    found
}

impl Pointer<'_> {
    /// Its place in a group: for `[_]` of a lone pointer, the pointer's target.
    fn role_place(&self) -> InputPlace {
        let mut place = self.place.clone();
        if let Some(last @ Step::Any) = place.steps.last_mut() {
            *last = Step::Index(0);
        }
        place
    }
}

/// The greatest length to consider, where the body compares the length with a greater constant than
/// the default, or uses elements beyond it.
fn longest(usage: &Usage, pointer: &Pointer, length: &PointerVariable) -> Option<u64> {
    let compared = usage.of_spot(length).compared_constant;
    let wanted = (compared + 1).max(pointer.facts.constant_elements);
    (wanted > MAX_LENGTH && wanted <= LONGEST).then_some(wanted)
}

/// Guess about one pointer.
fn one(context: &Context, pointer: &Pointer, neighbours: &[Neighbour], at: usize) -> Guess {
    let (mut settings, mut reason) = kind_of(context, pointer, neighbours, at);
    let own = !matches!(settings.implied_kind(), Some(Kind::End | Kind::Into | Kind::Null));
    if pointer.facts.before > 0 && own && settings.alias.is_none() {
        settings.before = Some(pointer.facts.before);
        reason.push_str("; elements before it are used");
    }
    settings.null = Some(pointer.facts.null_tested);
    reason.push_str(if pointer.facts.null_tested {
        "; null, as it is tested for it"
    } else {
        "; not null, as it is never tested for it"
    });
    Guess { place: pointer.place.clone(), settings, reason }
}

fn kind_of(
    context: &Context,
    pointer: &Pointer,
    neighbours: &[Neighbour],
    at: usize,
) -> (PlaceSettings, String) {
    let Context { program, usage, roles, spot } = context;
    let types = &program.types;
    if is_function(types, pointer.pointee) {
        return (PlaceSettings::default(), "a callback, whose results are inputs".into());
    }
    let role = roles.get(&pointer.role_place());
    if let Some((Role::Related(settings), why)) = role {
        return ((**settings).clone(), why.clone());
    }
    let length = length_for(context, pointer, neighbours, at);
    // An end is a stronger hint than a number beside the pointer.
    let length = length.filter(|length| length.by_name || role.is_none());
    if let Some(LengthGuess { place, why, number, .. }) = length {
        let settings = PlaceSettings {
            kind: Some(Kind::Array),
            length: Some(LengthText(Length::Place(place))),
            max: number.and_then(|at| longest(usage, pointer, &spot(at))),
            ..PlaceSettings::default()
        };
        return (settings, why);
    }
    if let Some((Role::Start, why)) = role {
        let settings = PlaceSettings { kind: Some(Kind::Array), ..PlaceSettings::default() };
        return (settings, why.clone());
    }
    let of_kind = |kind| PlaceSettings { kind: Some(kind), ..PlaceSettings::default() };
    if is_void(types, pointer.pointee) {
        return behind_void(program, pointer);
    }
    let written_only = pointer.facts.written && !pointer.facts.read && !pointer.facts.string;
    if is_text(types, pointer.pointee) && (pointer.to_const || !written_only) {
        let max = pointer.facts.number.then_some(NUMBER_LENGTH);
        let why = match max {
            Some(_) => "a number is read from it",
            None => "a pointer to characters without a length",
        };
        return (PlaceSettings { max, ..of_kind(Kind::String) }, why.into());
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

/// A `void *` without a size beside it: the struct that the body uses it as, else a few bytes.
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

/// A guess about the place that has a pointer's length.
struct LengthGuess {
    place: InputPlace,
    why: String,
    /// The position of the neighbour that is the length.
    number: Option<usize>,
    /// Whether its name says so.
    by_name: bool,
}

/// The neighbour that holds the pointer's length.
fn length_for(
    context: &Context,
    pointer: &Pointer,
    neighbours: &[Neighbour],
    at: usize,
) -> Option<LengthGuess> {
    let types = &context.program.types;
    let place = |other: &Neighbour| {
        let number = is_integer(types, other.ty);
        let behind = types.pointee(other.ty).is_some_and(|inner| counts(types, inner));
        match (number, behind) {
            (true, _) => Some(other.place.clone()),
            (_, true) => Some(other.place.index(0)),
            _ => None,
        }
    };
    let named = neighbours.iter().enumerate().find_map(|(at, other)| {
        let place = means_length_of(&other.name, pointer.name).then(|| place(other))??;
        let number = place.steps.is_empty().then_some(at);
        let why = format!("by its name {} is its length", other.name);
        Some(LengthGuess { place, why, number, by_name: true })
    });
    if named.is_some() {
        return named;
    }
    // Pointers to structs more often lead to single objects than pointers to scalars do, and a length
    // beside one may belong to another pointer.
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
    let after = (at + 1..neighbours.len()).find(|at| !is_pointer(&&neighbours[*at]));
    // A length before it, unless that follows another pointer, in which case it is that pointer's
    // length.
    let follows = at.checked_sub(2).is_some_and(|at| is_pointer(&&neighbours[at]));
    let before = at.checked_sub(1).filter(|_| !follows);
    for at in [after, before].into_iter().flatten() {
        if let Some(place) = number(&neighbours[at]) {
            let why = format!("{} stands beside it", neighbours[at].name);
            return Some(LengthGuess { place, why, number: Some(at), by_name: false });
        }
    }
    // `unsigned char *out, size_t *outlen`
    let next = neighbours.get(at + 1)?;
    let array = context.usage.of_spot(&(context.spot)(at + 1)).is_indexed();
    let counted = means_length(&next.name) && !taken(neighbours, next, pointer) && !array;
    let inner = types.pointee(next.ty).filter(|inner| counts(types, *inner));
    (counted && inner.is_some()).then(|| LengthGuess {
        place: next.place.index(0),
        why: format!("*{} stands beside it", next.name),
        number: None,
        by_name: false,
    })
}

/// Whether a length's name says that it belongs to another pointer.
fn taken(neighbours: &[Neighbour], length: &Neighbour, pointer: &Pointer) -> bool {
    neighbours.iter().any(|other| {
        other.name != pointer.name
            && other.name != length.name
            && means_length_of(&length.name, &other.name)
    })
}

/// Whether the body uses only the first element.
fn only_first_used(facts: &PointerUses) -> bool {
    (facts.read || facts.written) && !facts.is_indexed() && !facts.handed_on && !facts.string
}

/// Guesses the pointers that a pointer to pointers leads to.
fn inner(
    context: &Context,
    pointer: &Pointer,
    spot: PointerVariable,
    neighbours: &[Neighbour],
    at: usize,
) -> Option<Guess> {
    let Context { program, usage, .. } = context;
    let CType::Pointer { pointee, to_const } = program.types.get(pointer.pointee) else {
        return None;
    };
    let spot = PointerVariable::Pointee(Box::new(spot));
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
        return Some(one(context, &behind, &alone, 0));
    }
    Some(one(context, &behind, among, at))
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

/// Whether sizes are stored in this type: characters are not.
fn counts(types: &CTypes, ty: CTypeId) -> bool {
    is_integer(types, ty) && types.size(ty).is_some_and(|size| size > 1)
}

/// Whether C programmers store text in it: `char` itself, not `signed char` or `unsigned char`.
pub(super) fn is_text(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Int { kind: IntKind::Char, .. })
}
