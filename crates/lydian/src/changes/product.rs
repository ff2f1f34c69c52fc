//! Both versions and a driver as one program.
//!
//! The new version keeps its names. Functions and variables of the old one are renamed. Of the driver's
//! unit, which includes the new version's text for its types, only the driver is taken.

use std::cell::LazyCell;

use lydian_clib::{Library, Purpose};
use lydian_frontend::{LoadRequest, ParseRequest, Unit};
use lydian_ir::libc::is_library_object;
use lydian_ir::link::{LinkError, LinkUnit, LinkedUnits, Role, link};
use lydian_ir::stmt::Callee;
use lydian_ir::{FuncId, GlobalInit, Linkage, Program, Stmt, StmtId};
use lydian_native::Libraries;
use lydian_objective::changes::ProgramPlaces;

use super::driver::{DIFFERENCE, DRIVER, Driver, UNCOMPARED, old_name, visible_name};
use super::versions::Versions;
use crate::project::COMPILER;
use crate::project::paths::absolute;

/// The function that gives the place of the error number.
const ERROR_NUMBER: &str = "__errno_location";
const UNLINKED: &str = "the versions cannot be linked";
/// The name of a version's `main` in a product.
pub(super) const MAIN: &str = "main_of_version";

/// The program that calls both versions of a function.
pub(super) struct Product {
    pub(super) program: Program,
    /// The function that calls both.
    pub(super) driver: FuncId,
    /// The new version.
    pub(super) new: FuncId,
    /// The old version.
    pub(super) old: FuncId,
    /// The call where they differ.
    pub(super) difference: StmtId,
    /// The call where something cannot be compared, if there is one.
    pub(super) uncompared: Vec<StmtId>,
}

impl Product {
    /// Compiles the driver of a function and links it with both versions.
    ///
    /// # Errors
    /// Why there is no such program, in words.
    pub(super) fn link(
        versions: &Versions<'_>,
        driver: &Driver,
        function: &str,
    ) -> Result<Self, String> {
        let unit = compiled(versions, &driver.text)?;
        let stubbed = |name: &str| driver.externals.iter().any(|external| external.name == name);
        let parts = vec![
            part("new", new_version(&versions.new), Role::Part),
            part("old", old_version(&versions.old, &stubbed), Role::Part),
            part("driver", driver_alone(unit, &stubbed), Role::Part),
        ];
        let mut program = whole(versions, parts)?;
        lydian_inputs::prepare(&mut program);
        let id = defined(&program, DRIVER)?;
        let new = defined(&program, function)?;
        let old = defined(&program, &old_name(function))?;
        let difference = calls(&program, id, DIFFERENCE).first().copied();
        let difference = difference.ok_or_else(|| UNLINKED.to_owned())?;
        let uncompared = calls(&program, id, UNCOMPARED);
        Ok(Self { driver: id, new, old, difference, uncompared, program })
    }
}

/// The function with a body of a name.
///
/// # Errors
/// That there is none: the versions are no program.
pub(super) fn defined(program: &Program, name: &str) -> Result<FuncId, String> {
    let found = program.function_named(name);
    found.filter(|id| program.functions[*id].body.is_some()).ok_or_else(|| UNLINKED.to_owned())
}

/// The program of a driver with a `main` that gives it its inputs.
///
/// # Errors
/// Why there is no such program, in words.
pub(super) fn of_proof(versions: &Versions<'_>, text: &str) -> Result<LinkedUnits, String> {
    let unit = compiled(versions, text)?;
    let is_main = |name: &str| name == "main";
    let parts = vec![
        part("new", new_version(&versions.new), Role::Part),
        part("old", old_version(&versions.old, &|_| false), Role::Part),
        part("driver", driver_alone(unit, &is_main), Role::Part),
    ];
    link(parts).map_err(|error| unlinked(&error))
}

/// A function of the C library with variables of its own that a version may call: the old version would
/// leave them changed for the new one.
pub(super) fn library_state(program: &Program, [old, new]: [FuncId; 2]) -> Option<String> {
    let places = ProgramPlaces::of(program);
    let called = program.entered_from(old).into_iter().chain(program.entered_from(new));
    let mut with_state = called.filter(|id| {
        let function = &program.functions[*id];
        let writes = || !places.named_by([*id]).written.is_empty();
        function.name == ERROR_NUMBER || (function.library && writes())
    });
    with_state.next().map(|id| program.functions[id].name.clone())
}

/// The calls by name of a function in another.
fn calls(program: &Program, caller: FuncId, name: &str) -> Vec<StmtId> {
    let Some(body) = &program.functions[caller].body else { return Vec::new() };
    let is_call = |stmt: &Stmt| match stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => {
            program.functions[*callee].name == name
        }
        _ => false,
    };
    body.stmts.iter().filter(|(_, stmt)| is_call(stmt)).map(|(id, _)| id).collect()
}

/// The unit that includes the new version's text and has the driver behind it.
fn compiled(versions: &Versions<'_>, driver: &str) -> Result<Unit, String> {
    let unwritten = |error: std::io::Error| format!("the driver cannot be written: {error}");
    let folder = tempfile::tempdir().map_err(unwritten)?;
    let path = folder.path().join("driver.c");
    let included = absolute(&versions.request.new).display().to_string();
    let included = included.replace('\\', "\\\\").replace('"', "\\\"");
    std::fs::write(
        &path,
        format!("#define main {MAIN}\n#include \"{included}\"\n#undef main\n{driver}"),
    )
    .map_err(unwritten)?;
    let flags = versions.flags().clone();
    lydian_frontend::load(&LoadRequest::new(ParseRequest::new(path, flags)))
        .map_err(|error| format!("a program that calls both versions cannot be compiled: {error}"))
}

pub(super) fn part(name: &str, unit: Unit, role: Role) -> LinkUnit {
    LinkUnit { name: format!("{name}.c"), program: unit.program, source: unit.source, role }
}

/// The new version, with names that the driver can use.
fn new_version(unit: &Unit) -> Unit {
    let mut unit = unit.clone();
    let program = &mut unit.program;
    program.startup.clear();
    for (_, function) in program.functions.iter_mut() {
        function.linkage = Linkage::External;
        function.weak = false;
        if function.name == "main" {
            MAIN.clone_into(&mut function.name);
        }
    }
    for (_, global) in program.globals.iter_mut().filter(|(_, it)| !it.name.starts_with('.')) {
        global.name = visible_name(&global.name);
        make_visible(global);
    }
    unit
}

/// The old version, with other names.
fn old_version(unit: &Unit, stubbed: &dyn Fn(&str) -> bool) -> Unit {
    let mut unit = unit.clone();
    let program = &mut unit.program;
    program.startup.clear();
    program.aliases.clear();
    for (_, function) in program.functions.iter_mut() {
        function.weak = false;
        if function.body.is_some() || stubbed(&function.name) {
            function.name = old_name(&function.name);
            function.symbol = None;
            function.linkage = Linkage::External;
        }
    }
    for (_, global) in program.globals.iter_mut().filter(|(_, it)| !it.name.starts_with('.')) {
        if !is_library_object(&global.name) {
            global.name = old_name(&global.name);
            make_visible(global);
        }
    }
    unit
}

fn make_visible(global: &mut lydian_ir::Global) {
    global.weak = false;
    if is_library_object(&global.name) {
        return;
    }
    global.linkage = Linkage::External;
    // Each version has a variable of its own, wherever it is defined.
    if global.init == GlobalInit::Extern && global.size > 0 {
        global.init = GlobalInit::Zero;
    }
}

/// The driver's unit without the definitions of the new version.
fn driver_alone(mut unit: Unit, stubbed: &dyn Fn(&str) -> bool) -> Unit {
    let program = &mut unit.program;
    program.startup.clear();
    program.aliases.clear();
    for (_, function) in program.functions.iter_mut() {
        let is_own = function.name.starts_with("lydian_") || stubbed(&function.name);
        function.linkage = Linkage::External;
        function.weak = false;
        if !is_own {
            function.body = None;
        }
    }
    let own = |name: &str| name.starts_with("lydian_") || name.starts_with('.');
    for (_, global) in program.globals.iter_mut().filter(|(_, it)| !own(&it.name)) {
        if !is_library_object(&global.name) {
            global.name = visible_name(&global.name);
            global.linkage = Linkage::External;
            global.init = GlobalInit::Extern;
            global.weak = false;
        }
    }
    unit
}

/// The linked program, with what explorations follow of the C library.
pub(super) fn whole(versions: &Versions<'_>, parts: Vec<LinkUnit>) -> Result<Program, String> {
    let wants_library = parts.iter().any(|unit| lydian_clib::is_explored_by(&unit.program));
    let system = LazyCell::new(|| Libraries::of(COMPILER).ok());
    let has = |name: &str| system.as_ref().is_none_or(|system| system.contains(name));
    let linked = match wants_library.then(|| Library::lower(versions.flags())) {
        Some(Ok(library)) => library.link_with(parts, None, Purpose::Explore, &has),
        Some(Err(_)) | None => link(parts),
    };
    linked.map(|linked| linked.program).map_err(|error| unlinked(&error))
}

/// Why units do not link, by the first of the reasons.
fn unlinked(error: &LinkError) -> String {
    let first = match error {
        LinkError::Duplicates(found) => found.first().map(|one| one.message.clone()),
        LinkError::Nothing | LinkError::TooLong => None,
    };
    first.unwrap_or_else(|| error.to_string())
}
