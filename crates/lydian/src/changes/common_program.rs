//! Both versions as one program in which they share variables: each can run from the same inputs.
//!
//! Both versions keep the names of variables; functions of the old one are renamed. A variable that only
//! one version has, and read-only data that differ, stay apart.

use std::collections::BTreeSet;

use lydian_frontend::Unit;
use lydian_ir::interp::{self, End, Options, Outcome, Silent};
use lydian_ir::libc::is_library_object;
use lydian_ir::link::Role;
use lydian_ir::program::RelocationTarget;
use lydian_ir::test::Test;
use lydian_ir::{CType, CTypeId, FuncId, Global, GlobalId, GlobalInit, Linkage, Program};
use lydian_objective::changes::{FunctionChange, ProgramPlaces, global_text};

use super::driver::{Pair, old_name};
use super::minimise::minimised;
use super::product::{defined, part, whole};
use super::versions::Versions;

/// The first part of the names of string literals.
const STRING: &str = ".str.";

/// The most steps of a run that is compared.
const MOST_STEPS: u64 = 1 << 20;

/// Both versions of a function in one program.
pub(super) struct CommonProgram {
    pub(super) program: Program,
    pub(super) old: FuncId,
    pub(super) new: FuncId,
}

impl CommonProgram {
    /// A test of the old version on whose inputs both versions differ, with inputs that are as plain as the
    /// interpreter allows. It is the same test where the interpreter sees no difference.
    pub(super) fn minimised(&self, test: Test) -> Test {
        let Some(own) = self.difference(&test) else { return test };
        let mut differs = |candidate: &Test| self.difference(candidate) == Some(own);
        minimised(&self.program, test, &mut differs)
    }

    /// The kind of the difference on the inputs of a test: whether the versions end otherwise. None if they do
    /// the same, or if C does not define what the old one does.
    fn difference(&self, test: &Test) -> Option<bool> {
        let run = |function: FuncId| {
            let function = self.program.functions[function].name.clone();
            let test = Test { function, ..test.clone() };
            let options = Options { max_steps: MOST_STEPS, ..Options::default() };
            interp::run(&self.program, &test, &options, &mut Silent).ok()
        };
        let (old, new) = (run(self.old)?, run(self.new)?);
        if old.end != End::Returned || old.uninitialised.is_some() || old.misused.is_some() {
            return None;
        }
        let ends = old.end != new.end;
        let values = |of: Outcome| (of.result, of.objects, of.globals);
        (ends || values(old) != values(new)).then_some(ends)
    }

    /// Links both versions of a function. `is_equal` tells the functions that are the same in both.
    ///
    /// # Errors
    /// Why there is no such program, in words.
    pub(super) fn link(
        versions: &Versions<'_>,
        pair: Pair<'_>,
        change: &FunctionChange,
        is_equal: &dyn Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let name = &change.name;
        if name == "main" {
            return Err("`main` of two versions has inputs that are not compared".to_owned());
        }
        let entered = Entered::of(pair);
        if let Some(record) = changed_record(pair, &entered) {
            return Err(format!("`{record}` is another type in the two versions"));
        }
        if let Some(function) = defined_by_one(pair, &entered) {
            return Err(format!("one version alone defines `{function}`, and both call it"));
        }
        let used = entered.globals(pair);
        let (old, new) =
            shared(&versions.old, &versions.new, &|name| used.contains(name), is_equal)?;
        let parts = vec![part("new", new, Role::Part), part("old", old, Role::Part)];
        let mut program = whole(versions, parts)?;
        lydian_inputs::prepare(&mut program);
        let new = defined(&program, name)?;
        let old = defined(&program, &old_name(name))?;
        Ok(Self { program, old, new })
    }
}

/// The functions that a run of a version may enter.
struct Entered {
    old: Vec<FuncId>,
    new: Vec<FuncId>,
}

impl Entered {
    fn of(pair: Pair<'_>) -> Self {
        Self { old: pair.old.0.entered_from(pair.old.1), new: pair.new.0.entered_from(pair.new.1) }
    }

    /// The names of the variables that they name.
    fn globals(&self, pair: Pair<'_>) -> BTreeSet<String> {
        let named = |program: &Program, functions: &[FuncId]| -> Vec<String> {
            let found = ProgramPlaces::of(program).named_by(functions.iter().copied());
            found.named.into_iter().map(|id| program.globals[id].name.clone()).collect()
        };
        let old = named(pair.old.0, &self.old);
        old.into_iter().chain(named(pair.new.0, &self.new)).collect()
    }
}

/// The versions with the names of the common program.
///
/// # Errors
/// A used variable that differs so that it can neither be shared nor kept apart.
fn shared(
    old: &Unit,
    new: &Unit,
    is_used: &dyn Fn(&str) -> bool,
    is_equal: &dyn Fn(&str) -> bool,
) -> Result<(Unit, Unit), String> {
    let versions = Variables { old: &old.program, new: &new.program, is_equal };
    let (mut old, mut new) = (old.clone(), new.clone());
    for unit in [&mut old, &mut new] {
        unit.program.startup.clear();
    }
    old.program.aliases.clear();
    for (_, function) in old.program.functions.iter_mut() {
        function.weak = false;
        if function.body.is_some() {
            function.name = old_name(&function.name);
            function.symbol = None;
        }
    }
    share_literals(&mut old.program, &mut new.program);
    let names: Vec<_> = old.program.globals.iter().map(|(id, it)| (id, it.name.clone())).collect();
    for (id, name) in names {
        if name.starts_with('.') || is_library_object(&name) {
            continue;
        }
        let other = new.program.globals.iter().find(|(_, other)| other.name == name);
        let Some((other, _)) = other else {
            old.program.globals[id].name = old_name(&name);
            continue;
        };
        match versions.can_share(id, other) {
            Ok(true) => share(&mut old.program.globals[id], &mut new.program.globals[other]),
            Err(reason) if is_used(&name) => return Err(reason),
            Ok(false) | Err(_) => old.program.globals[id].name = old_name(&name),
        }
    }
    Ok((old, new))
}

/// Makes equal string literals of both versions one, so that a pointer to one is no difference.
fn share_literals(old: &mut Program, new: &mut Program) {
    let is_literal = |global: &Global| global.name.starts_with(STRING) && global.read_only;
    for (at, (_, literal)) in old.globals.iter_mut().enumerate() {
        if !is_literal(literal) {
            continue;
        }
        literal.name = format!("{STRING}old.{at}");
        let mut all = new.globals.iter_mut().map(|(_, other)| other).filter(|it| is_literal(it));
        let same = all.find(|other| other.init == literal.init && other.size == literal.size);
        if let Some(same) = same {
            literal.name.clone_from(&same.name);
            share(literal, same);
        }
    }
}

/// The variables of both versions as these have them.
struct Variables<'a> {
    old: &'a Program,
    new: &'a Program,
    /// The functions that are the same in both.
    is_equal: &'a dyn Fn(&str) -> bool,
}

impl Variables<'_> {
    /// Whether both versions can share a variable. If not, each keeps its own.
    ///
    /// # Errors
    /// Why it can neither be shared nor kept apart.
    fn can_share(&self, old: GlobalId, new: GlobalId) -> Result<bool, String> {
        let (before, after) = (&self.old.globals[old], &self.new.globals[new]);
        let name = &before.name;
        let spelled = |program: &Program, global: &Global| program.types.spell(global.ty, "");
        let is_alike = spelled(self.old, before) == spelled(self.new, after)
            && before.size == after.size
            && before.read_only == after.read_only;
        let changed = self.changed_behind(new);
        match (is_alike, self.start_alike(old, new), changed) {
            (true, true, None) => Ok(true),
            _ if before.read_only && after.read_only => Ok(false),
            (true, _, Some(other)) => {
                Err(format!("the variable `{name}` leads to `{other}`, which changed"))
            }
            // Its value is an input, and tests set it.
            (true, false, None) if !name.contains('.') => Ok(true),
            (true, false, None) => Err(format!("the variable `{name}` begins with another value")),
            (false, ..) => Err(format!("the variable `{name}` has another type")),
        }
    }

    /// Whether variables have the same first contents, as far as both versions define them.
    fn start_alike(&self, old: GlobalId, new: GlobalId) -> bool {
        let is_elsewhere = |global: &Global| global.init == GlobalInit::Extern;
        is_elsewhere(&self.old.globals[old])
            || is_elsewhere(&self.new.globals[new])
            || global_text(self.old, old) == global_text(self.new, new)
    }

    /// A function or variable that the first contents of a variable lead to, through others, and that is
    /// another one in the old version.
    fn changed_behind(&self, from: GlobalId) -> Option<String> {
        let (mut waiting, mut seen) = (vec![from], BTreeSet::from([from]));
        while let Some(global) = waiting.pop() {
            let GlobalInit::Data { relocations, .. } = &self.new.globals[global].init else {
                continue;
            };
            for relocation in relocations {
                match relocation.target {
                    RelocationTarget::Function(id) => {
                        let function = &self.new.functions[id];
                        if function.body.is_some() && !(self.is_equal)(&function.name) {
                            return Some(function.name.clone());
                        }
                    }
                    RelocationTarget::Global(to) if seen.insert(to) => {
                        let name = &self.new.globals[to].name;
                        let is_own = !name.starts_with('.');
                        let old = self.old.global_named(name).filter(|_| is_own);
                        if is_own && !old.is_some_and(|old| self.start_alike(old, to)) {
                            return Some(name.clone());
                        }
                        waiting.push(to);
                    }
                    RelocationTarget::Global(_) => {}
                }
            }
        }
        None
    }
}

fn share(old: &mut Global, new: &mut Global) {
    for global in [&mut *old, &mut *new] {
        global.linkage = Linkage::External;
        global.weak = false;
    }
    if new.init != GlobalInit::Extern {
        old.init = GlobalInit::Extern;
    }
}

/// A function that both versions call and only one of them defines.
fn defined_by_one(pair: Pair<'_>, entered: &Entered) -> Option<String> {
    let defines = |program: &Program, name: &str| {
        let found = program.functions.iter().find(|(_, function)| function.name == name);
        found.is_some_and(|(_, function)| function.body.is_some())
    };
    let is_apart = |(program, all, other): (&Program, &[FuncId], &Program)| {
        let undefined = all.iter().map(|id| &program.functions[*id]);
        let mut undefined = undefined.filter(|function| function.body.is_none());
        undefined.find(|function| defines(other, &function.name)).map(|it| it.name.clone())
    };
    is_apart((pair.old.0, &entered.old, pair.new.0))
        .or_else(|| is_apart((pair.new.0, &entered.new, pair.old.0)))
}

/// A struct or union that both versions have under one name with different members, among the types of what
/// a run uses.
fn changed_record(pair: Pair<'_>, entered: &Entered) -> Option<String> {
    let old = used_records((pair.old.0, &entered.old));
    let new = used_records((pair.new.0, &entered.new));
    old.into_iter()
        .find(|(name, members)| {
            new.iter().any(|(other, others)| other == name && others != members)
        })
        .map(|(name, _)| name)
}

/// The named structs and unions of parameters, locals and variables, and those that they lead to, each with
/// its layout.
fn used_records((program, entered): (&Program, &[FuncId])) -> BTreeSet<(String, String)> {
    let types = &program.types;
    let mut waiting: Vec<CTypeId> = program.globals.iter().map(|(_, global)| global.ty).collect();
    for id in entered {
        let function = &program.functions[*id];
        waiting.push(function.ty);
        let locals = function.body.iter().flat_map(|body| body.locals.iter());
        waiting.extend(locals.map(|(_, local)| local.ty));
    }
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(ty) = waiting.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match types.get(ty) {
            CType::Pointer { pointee, .. } => waiting.push(*pointee),
            CType::Array { element, .. } => waiting.push(*element),
            CType::Function { result, params, .. } => {
                waiting.push(*result);
                waiting.extend(params.iter().copied());
            }
            CType::Record(id) => {
                let record = &types.records[*id];
                waiting.extend(record.fields.iter().map(|field| field.ty));
                if !record.name.is_empty() && record.size.is_some() {
                    let members = record.fields.iter().map(|field| {
                        let ty = types.spell(field.ty, &field.name);
                        format!("{ty} at {} {:?};", field.bit_offset, field.bits)
                    });
                    found.insert((record.name.clone(), members.collect()));
                }
            }
            _ => {}
        }
    }
    found
}
