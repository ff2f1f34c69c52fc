//! Checks of settings against a program: the names that they use exist, and are of the right kind.
//!
//! One file of settings may serve many programs, so a name that a program does not have at all is no
//! misfit. [`absent`] returns these names, and the caller may know other programs that have them.

use lydian_ir::{CType, CTypeId, FuncId, Program};

use crate::guess::parameter_name;
use crate::place::{InputPlace, Step};
use crate::settings::{FunctionSettings, INVARIANT, PlacePattern, RESULT, Settings, TomlStep};
use crate::type_names::types_named;

/// A setting that does not fit, with the path to it in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit<'a> {
    /// The path to it in the settings.
    pub way: Vec<TomlStep<'a>>,
    /// The error.
    pub why: String,
}

/// A name that a program does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName<'a> {
    /// The path to it in the settings.
    pub way: Vec<TomlStep<'a>>,
    /// The name.
    pub name: &'a str,
    /// The kind of thing that the settings take it for.
    pub what: NameKind,
}

/// The kind of thing that a missing name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A function.
    Function,
    /// A type that no declaration names.
    Type,
    /// A type without its members.
    IncompleteType,
}

/// The functions and types that settings name and a program does not have, or has without members.
pub fn absent<'a>(program: &Program, settings: &'a Settings) -> Vec<UnknownName<'a>> {
    let mut all = Vec::new();
    for name in settings.function.keys() {
        if program.function_named(name).is_none() {
            let way = vec![TomlStep::Value("function"), TomlStep::Key(name)];
            all.push(UnknownName { way, name, what: NameKind::Function });
        }
    }
    for name in settings.types.keys() {
        let found = types_named(program, name);
        let what = match found.iter().any(|ty| program.types.size(*ty).is_some()) {
            true => continue,
            false if found.is_empty() => NameKind::Type,
            false => NameKind::IncompleteType,
        };
        all.push(UnknownName {
            way: vec![TomlStep::Value("types"), TomlStep::Key(name)],
            name,
            what,
        });
    }
    all
}

/// The settings of a program's functions and types that these do not fit. The places of functions under
/// test are checked when their inputs are planned.
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
        let way = |last: TomlStep<'a>| vec![TomlStep::Value("types"), TomlStep::Value(name), last];
        if !own.invariants.is_empty() && !matches!(program.types.get(ty), CType::Record(_)) {
            let why = format!("{name} is no struct or union, and only these have an invariant");
            all.push(Misfit { way: way(TomlStep::Key(INVARIANT)), why });
        }
        for pattern in own.places.keys() {
            if let Err(why) = steps_fit(program, ty, &pattern.0.steps) {
                let why = format!("{name}: {}: {why}", pattern.0);
                all.push(Misfit { way: vec![TomlStep::Value("types"), TomlStep::Key(name)], why });
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
    let way = |steps: &[TomlStep<'a>]| {
        [&[TomlStep::Value("function"), TomlStep::Value(name)], steps].concat()
    };
    if program.functions[function].body.is_some() {
        if own.has_contract() {
            let key = [(own.pure.is_some(), "pure"), (own.writes.is_some(), "writes")];
            let key = key.into_iter().find(|(is_set, _)| *is_set).map_or("returns", |(_, key)| key);
            let why = format!(
                "{name} is defined, so that what it does is known; `{key}` is for undefined functions"
            );
            all.push(Misfit { way: way(&[TomlStep::Key(key)]), why });
        }
        return;
    }
    for (at, pattern) in own.writes.iter().flatten().enumerate() {
        if let Err(why) = may_be_written(program, function, &pattern.0) {
            let why = format!("{name} cannot write '{}': {why}", pattern.0);
            all.push(Misfit { way: way(&[TomlStep::Value("writes"), TomlStep::Element(at)]), why });
        }
    }
    if own.returns.is_some() && result_of(program, function).is_none() {
        let why = format!("{name} returns nothing");
        all.push(Misfit { way: way(&[TomlStep::Key("returns")]), why });
    }
    let is_own = |pattern: &&PlacePattern| pattern.0.root != RESULT || own.returns.is_none();
    for pattern in own.places.keys().filter(is_own) {
        if let Err(why) = fits(program, function, &pattern.0) {
            let why = format!("{name}: {}: {why}", pattern.0);
            all.push(Misfit { way: way(&[TomlStep::Value("places")]), why });
        }
    }
}

/// The type of an undefined function's result, if it has one.
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

/// Whether a place begins with a parameter, global or result of a function, and has the members that it
/// names.
pub(crate) fn fits(program: &Program, function: FuncId, place: &InputPlace) -> Result<(), String> {
    type_of(program, function, place).map(|_| ())
}

/// The type of a place of a function; none if it is not known.
pub(crate) fn type_of(
    program: &Program,
    function: FuncId,
    place: &InputPlace,
) -> Result<Option<CTypeId>, String> {
    let declared = parameter(program, function, &place.root);
    let global = || program.global_named(&place.root).map(|id| program.globals[id].ty);
    let result = || result_of(program, function).filter(|_| place.root == RESULT);
    let root = declared.or_else(global).or_else(result);
    let Some(root) = root else { return Err("begins with no parameter or global variable".into()) };
    walk(program, root, &place.steps)
}

/// Whether some steps can be taken from a value of a type. Targets of `void *` and of types without
/// members may be anything.
pub(crate) fn steps_fit(program: &Program, from: CTypeId, steps: &[Step]) -> Result<(), String> {
    walk(program, from, steps).map(|_| ())
}

/// The type at the end of some steps from a value of a type; none if it is not known.
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
fn may_be_written(program: &Program, function: FuncId, place: &InputPlace) -> Result<(), String> {
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
