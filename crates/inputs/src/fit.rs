//! Whether settings fit a program: what they name is there, and is what they take it for.
//!
//! One file of settings may serve many programs, so that what a program does not have at all is no
//! misfit; [`absent`] gives these names, of which the caller may know more.

use lydian_ir::{CType, CTypeId, FuncId, Program};

use super::guess::parameter_name;
use super::place::{Place, Step};
use super::settings::{FunctionSettings, INVARIANT, PlacePattern, RESULT, Settings, Within};
use super::spec::types_named;

/// What does not fit, and the way to it in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit<'a> {
    /// Where it stands.
    pub way: Vec<Within<'a>>,
    /// What is wrong.
    pub why: String,
}

/// A name that a program does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent<'a> {
    /// Where it stands.
    pub way: Vec<Within<'a>>,
    /// The name.
    pub name: &'a str,
    /// What it is for the settings.
    pub what: AbsentKind,
}

/// What a name is that a program does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsentKind {
    /// A function.
    Function,
    /// A type that no declaration names.
    Type,
    /// A type without its members.
    IncompleteType,
}

/// The functions and types that settings name and a program does not have, or has without members.
pub fn absent<'a>(program: &Program, settings: &'a Settings) -> Vec<Absent<'a>> {
    let mut all = Vec::new();
    for name in settings.function.keys() {
        if program.function_named(name).is_none() {
            let way = vec![Within::Value("function"), Within::Key(name)];
            all.push(Absent { way, name, what: AbsentKind::Function });
        }
    }
    for name in settings.types.keys() {
        let found = types_named(program, name);
        let what = match found.iter().any(|ty| program.types.size(*ty).is_some()) {
            true => continue,
            false if found.is_empty() => AbsentKind::Type,
            false => AbsentKind::IncompleteType,
        };
        all.push(Absent { way: vec![Within::Value("types"), Within::Key(name)], name, what });
    }
    all
}

/// What settings say of functions and types of a program that these do not have. The places of
/// functions that are tested are looked at where their inputs are planned.
pub fn misfits<'a>(program: &Program, settings: &'a Settings) -> Vec<Misfit<'a>> {
    let mut all = Vec::new();
    for (name, own) in &settings.function {
        if let Some(function) = program.function_named(name) {
            add_function(program, function, (name, own), &mut all);
        }
    }
    for (name, own) in &settings.types {
        let complete = |ty: &CTypeId| program.types.size(*ty).is_some();
        let Some(ty) = types_named(program, name).into_iter().find(complete) else { continue };
        let way = |last: Within<'a>| vec![Within::Value("types"), Within::Value(name), last];
        if !own.invariants.is_empty() && !matches!(program.types.get(ty), CType::Record(_)) {
            let why = format!("{name} is no struct or union, and only these have an invariant");
            all.push(Misfit { way: way(Within::Key(INVARIANT)), why });
        }
        for pattern in own.places.keys() {
            if let Err(why) = steps_fit(program, ty, &pattern.0.steps) {
                let why = format!("{name}: {}: {why}", pattern.0);
                all.push(Misfit { way: vec![Within::Value("types"), Within::Key(name)], why });
            }
        }
    }
    all
}

fn add_function<'a>(
    program: &Program,
    function: FuncId,
    (name, own): (&'a str, &'a FunctionSettings),
    all: &mut Vec<Misfit<'a>>,
) {
    let way =
        |steps: &[Within<'a>]| [&[Within::Value("function"), Within::Value(name)], steps].concat();
    if program.functions[function].body.is_some() {
        if own.has_contract() {
            let key = [(own.pure.is_some(), "pure"), (own.writes.is_some(), "writes")];
            let key = key.into_iter().find(|(is_set, _)| *is_set).map_or("returns", |(_, key)| key);
            let why = format!(
                "{name} is defined, so that what it does is known; `{key}` is for undefined functions"
            );
            all.push(Misfit { way: way(&[Within::Key(key)]), why });
        }
        return;
    }
    for (at, pattern) in own.writes.iter().flatten().enumerate() {
        if let Err(why) = may_be_written(program, function, &pattern.0) {
            let why = format!("{name} cannot write '{}': {why}", pattern.0);
            all.push(Misfit { way: way(&[Within::Value("writes"), Within::Element(at)]), why });
        }
    }
    if own.returns.is_some() && result_of(program, function).is_none() {
        let why = format!("{name} returns nothing");
        all.push(Misfit { way: way(&[Within::Key("returns")]), why });
    }
    let is_own = |pattern: &&PlacePattern| pattern.0.root != RESULT || own.returns.is_none();
    for pattern in own.places.keys().filter(is_own) {
        if let Err(why) = fits(program, function, &pattern.0) {
            let why = format!("{name}: {}: {why}", pattern.0);
            all.push(Misfit { way: way(&[Within::Value("places")]), why });
        }
    }
}

/// What an undefined function returns, if anything.
fn result_of(program: &Program, function: FuncId) -> Option<CTypeId> {
    match program.types.get(program.functions[function].ty) {
        CType::Function { result, .. } if *program.types.get(*result) != CType::Void => {
            Some(*result)
        }
        _ => None,
    }
}

/// The type of the parameter with a name.
fn parameter(program: &Program, function: FuncId, name: &str) -> Option<CTypeId> {
    let CType::Function { params, .. } = program.types.get(program.functions[function].ty) else {
        return None;
    };
    let mut positions = 0..params.len();
    let position = positions.find(|at| parameter_name(program, function, *at) == name)?;
    Some(params[position])
}

/// Whether a place begins with what a function has, and has the members that it names.
pub(crate) fn fits(program: &Program, function: FuncId, place: &Place) -> Result<(), String> {
    type_of(program, function, place).map(|_| ())
}

/// The type of a place of a function; none where nothing says what lies there.
pub(crate) fn type_of(
    program: &Program,
    function: FuncId,
    place: &Place,
) -> Result<Option<CTypeId>, String> {
    let declared = parameter(program, function, &place.root);
    let global = || program.global_named(&place.root).map(|id| program.globals[id].ty);
    let result = || result_of(program, function).filter(|_| place.root == RESULT);
    let root = declared.or_else(global).or_else(result);
    let Some(root) = root else { return Err("begins with no parameter or global variable".into()) };
    walk(program, root, &place.steps)
}

/// Whether some steps can be taken from a value of a type. What lies behind a `void *` or a type without
/// members may be anything.
pub(crate) fn steps_fit(program: &Program, from: CTypeId, steps: &[Step]) -> Result<(), String> {
    walk(program, from, steps).map(|_| ())
}

/// The type at the end of some steps from a value of a type; none where nothing says what lies there.
pub(crate) fn walk(
    program: &Program,
    from: CTypeId,
    steps: &[Step],
) -> Result<Option<CTypeId>, String> {
    let types = &program.types;
    let mut ty = from;
    for step in steps {
        ty = match (step, types.get(ty)) {
            (_, CType::Void) => return Ok(None),
            (_, CType::Record(record)) if types.records[*record].size.is_none() => return Ok(None),
            (Step::Field(name), CType::Record(_)) => match member(program, ty, name) {
                Some(member) => member,
                None => return Err(format!("{} has no member '{name}'", types.spell(ty, ""))),
            },
            (Step::Field(name), _) => {
                return Err(format!("{} has no members, nor '{name}'", types.spell(ty, "")));
            }
            (_, CType::Pointer { pointee, .. }) => *pointee,
            (_, CType::Array { element, .. } | CType::Vector { element, .. }) => *element,
            _ => return Err(format!("{} is no pointer or array", types.spell(ty, ""))),
        };
    }
    Ok(Some(ty))
}

/// The type of a member of a struct or union, or of one without a name in it.
fn member(program: &Program, ty: CTypeId, name: &str) -> Option<CTypeId> {
    let CType::Record(record) = program.types.get(ty) else { return None };
    let fields = &program.types.records[*record].fields;
    let own = fields.iter().find(|field| field.name == name).map(|field| field.ty);
    let mut within = fields.iter().filter(|field| field.name.is_empty());
    own.or_else(|| within.find_map(|field| member(program, field.ty, name)))
}

/// Whether a function can write to a place so that its caller sees it.
fn may_be_written(program: &Program, function: FuncId, place: &Place) -> Result<(), String> {
    fits(program, function, place)?;
    let Some(mut ty) = parameter(program, function, &place.root) else {
        if place.root == RESULT && program.global_named(RESULT).is_none() {
            return Err("the result is what it returns".into());
        }
        let global = program.global_named(&place.root).map(|id| &program.globals[id]);
        return match global {
            Some(global) if global.read_only => Err(format!("{} is constant", place.root)),
            _ => Ok(()),
        };
    };
    let root = &place.root;
    for step in &place.steps {
        match (step, program.types.get(ty)) {
            (Step::Index(_) | Step::Any, CType::Pointer { to_const: true, .. }) => {
                return Err(format!("{root} leads to what is constant"));
            }
            (Step::Index(_) | Step::Any, CType::Pointer { .. }) => return Ok(()),
            (Step::Field(name), _) => match member(program, ty, name) {
                Some(member) => ty = member,
                None => return Ok(()),
            },
            (_, CType::Array { element, .. }) => ty = *element,
            _ => return Ok(()),
        }
    }
    Err(format!(
        "no caller sees what becomes of the parameter itself; what it leads to is '*{root}'"
    ))
}
