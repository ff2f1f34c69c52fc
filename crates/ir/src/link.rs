//! Linking: several translation units become one [`Program`].
//!
//! It is the work of a linker, one level higher: symbols of external linkage are one entity under one
//! name, everything else is kept apart, and the ids of a unit are re-numbered.
//!
//! - **Types** are interned anew. A struct or union is the same in two units if it has the same
//!   name and layout; an incomplete one is completed by the first of its name.
//! - **Statics** of one name are kept apart: one of them keeps it, the others are called
//!   `name@file.c`. A function or global of external linkage always has its plain name.
//! - **Tentative definitions** (without an initialiser) merge with each other and with a
//!   definition. **Weak** definitions give way to others, and the first of several weak ones is
//!   taken. Two other definitions of one name are an error.
//! - A name that is undefined, but an **alias** in some unit, is the target of the alias.
//! - A **library** ([`Role::Library`]) gives only what is undefined, and what that needs. Its
//!   functions are marked [`Function::library`].
//! - **Texts** are joined: every span is an offset into the one text that all units' texts make
//!   ([`SourceMap::join`]), so a place still leads to its own file.
//!
//! Linking one unit gives an equal program.

mod aliases;
mod library;
mod rewrite;
mod symbols;
mod types;

use lydian_base::{Diagnostic, EntityId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::libc::model_of;
use crate::program::ctype::{CType, CTypeId};
use crate::program::expr::{Expr, Type};
use crate::program::function::Function;
use crate::program::{
    Alias, FuncId, Global, GlobalId, GlobalInit, Linkage, Program, RelocationTarget, Startup,
};
use rewrite::Renumbering;
use symbols::Names;
use types::{RecordIndex, UnitTypes};

/// A translation unit as the linker takes it.
#[derive(Clone, Debug)]
pub struct LinkUnit {
    /// Its file, for the names of statics and for messages.
    pub name: String,
    /// The program that was lowered from it. Verified.
    pub program: Program,
    /// The text that its spans refer to.
    pub source: SourceMap,
    /// Which part of it is taken.
    pub role: Role,
}

/// The role of a unit in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A part of it like any other.
    Part,
    /// A part that is linked natively from an object of its own, where nothing reaches its statics:
    /// they all are called `name@file.c`.
    Companion,
    /// Only what is undefined elsewhere is taken from it; its statics are called as a companion's.
    /// Not the first unit.
    Library,
}

/// The result of linking.
#[derive(Clone, Debug)]
pub struct LinkedUnits {
    /// The whole program.
    pub program: Program,
    /// The texts of all units, one after the other.
    pub source: SourceMap,
    /// Where in that text each unit's starts, in the order of the units.
    pub starts: Vec<u32>,
    /// Warnings (`link-conflict`): declarations that differ.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why units do not make a program.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// There are none.
    #[error("there is nothing to link")]
    Nothing,
    /// The texts are too long for offsets of 32 bits.
    #[error("the preprocessed texts have more than 4 GiB together")]
    TooLong,
    /// Two units define one name. Each is a diagnostic with both places (`link-duplicate`).
    #[error("{} defined more than once", count(.0.len()))]
    Duplicates(Vec<Diagnostic>),
}

fn count(symbols: usize) -> String {
    match symbols {
        1 => "one symbol is".to_owned(),
        n => format!("{n} symbols are"),
    }
}

/// Links units, in their order. Linear in their size.
///
/// # Errors
/// See [`LinkError`].
pub fn link(units: Vec<LinkUnit>) -> Result<LinkedUnits, LinkError> {
    let maps: Vec<SourceMap> = units.iter().map(|unit| unit.source.clone()).collect();
    let (source, starts) = SourceMap::join(&maps).ok_or(LinkError::TooLong)?;
    let names = symbols::names(&units);
    let mut units = units.into_iter();
    let first = units.next().ok_or(LinkError::Nothing)?;
    let mut linker = Linker::begin(&source, names, first.program);
    for (index, unit) in units.enumerate() {
        linker.add(unit, index + 1, starts[index + 1]);
    }
    if !linker.duplicates.is_empty() {
        return Err(LinkError::Duplicates(linker.duplicates));
    }
    let Linker { mut program, diagnostics, .. } = linker;
    aliases::resolve(&mut program);
    Ok(LinkedUnits { program, source, starts, diagnostics })
}

/// Gives weak symbols that nothing defines the address null, as a linker does with a whole program.
/// Functions that are modelled are defined.
pub fn resolve_weak(program: &mut Program) {
    let types = &program.types;
    let undefined = |function: &Function| {
        function.weak
            && function.body.is_none()
            && model_of(types, &function.name, function.ty).is_none()
    };
    let functions: FxHashSet<FuncId> =
        program.functions.iter().filter(|(_, f)| undefined(f)).map(|(id, _)| id).collect();
    let absent = |global: &Global| global.weak && global.init == GlobalInit::Extern;
    let globals: FxHashSet<GlobalId> =
        program.globals.iter().filter(|(_, g)| absent(g)).map(|(id, _)| id).collect();
    if functions.is_empty() && globals.is_empty() {
        return;
    }
    for (_, function) in program.functions.iter_mut() {
        let exprs = function.body.iter_mut().flat_map(|body| body.exprs.iter_mut());
        for (_, expr) in exprs {
            let is_absent = match expr {
                Expr::AddrFunc(id) => functions.contains(id),
                Expr::AddrGlobal(id) => globals.contains(id),
                _ => false,
            };
            if is_absent {
                *expr = Expr::Const(Type::Ptr, 0);
            }
        }
    }
    for (_, global) in program.globals.iter_mut() {
        if let GlobalInit::Data { relocations, .. } = &mut global.init {
            relocations.retain(|relocation| match relocation.target {
                RelocationTarget::Global(id) => !globals.contains(&id),
                RelocationTarget::Function(id) => !functions.contains(&id),
            });
        }
    }
}

/// The function or global of a name of external linkage in the program so far.
#[derive(Clone, Copy)]
enum Symbol {
    Function(FuncId),
    Global(GlobalId),
}

struct Linker<'s> {
    source: &'s SourceMap,
    program: Program,
    records: RecordIndex,
    /// Names of external linkage.
    symbols: FxHashMap<String, Symbol>,
    /// The new names of statics that cannot keep theirs.
    names: Names,
    /// The entities of the present unit that have no contents yet.
    new_functions: FxHashSet<FuncId>,
    new_globals: FxHashSet<GlobalId>,
    diagnostics: Vec<Diagnostic>,
    duplicates: Vec<Diagnostic>,
}

impl<'s> Linker<'s> {
    /// The first unit keeps its numbers.
    fn begin(source: &'s SourceMap, names: Names, first: Program) -> Self {
        let mut linker = Self {
            source,
            records: RecordIndex::of(&first.types),
            program: first,
            symbols: FxHashMap::default(),
            names,
            new_functions: FxHashSet::default(),
            new_globals: FxHashSet::default(),
            diagnostics: Vec::new(),
            duplicates: Vec::new(),
        };
        for (id, function) in linker.program.functions.iter_mut() {
            linker.names.rename_function(0, &mut function.name);
            if symbols::is_shared(function) {
                linker.symbols.insert(function.name.clone(), Symbol::Function(id));
            }
        }
        for (id, global) in linker.program.globals.iter_mut() {
            linker.names.rename_global(0, &mut global.name);
            if global.linkage == Linkage::External {
                linker.symbols.insert(global.name.clone(), Symbol::Global(id));
            }
        }
        linker
    }

    fn add(&mut self, unit: LinkUnit, index: usize, start: u32) {
        let LinkUnit { program, role, .. } = unit;
        let library = role == Role::Library;
        let chosen = match library {
            true => library::wanted(&self.program, &program),
            false => UnitSelection::all(&program),
        };
        let Program { types, globals, functions, typedefs, startup, aliases } = program;
        let mut numbers = Renumbering {
            types: UnitTypes::new(&types),
            functions: Vec::with_capacity(functions.len()),
            globals: Vec::with_capacity(globals.len()),
            start,
        };
        for (id, function) in functions.iter() {
            let place = chosen.functions[id.index()].then(|| self.place_function(function, index));
            numbers.functions.push(place.unwrap_or(FuncId::from_index(0)));
        }
        for (id, global) in globals.iter() {
            let place = chosen.globals[id.index()].then(|| self.place_global(global, index));
            numbers.globals.push(place.unwrap_or(GlobalId::from_index(0)));
        }
        for Alias { name, target } in aliases {
            let (chosen, target) = match target {
                RelocationTarget::Global(id) => {
                    let new = numbers.globals[id.index()];
                    (chosen.globals[id.index()], RelocationTarget::Global(new))
                }
                RelocationTarget::Function(id) => {
                    let new = numbers.functions[id.index()];
                    (chosen.functions[id.index()], RelocationTarget::Function(new))
                }
            };
            if chosen {
                self.program.aliases.push(Alias { name, target });
            }
        }
        for entry in startup {
            let at = entry.function.index();
            if chosen.functions[at] {
                self.program.startup.push(Startup { function: numbers.functions[at], ..entry });
            }
        }
        for (at, mut function) in functions.into_values().enumerate() {
            if chosen.functions[at] {
                function.library |= library && function.body.is_some();
                numbers.function(&mut function, &mut self.program.types, &mut self.records);
                self.merge_function(numbers.functions[at], function);
            }
        }
        for (at, mut global) in globals.into_values().enumerate() {
            if chosen.globals[at] {
                numbers.global(&mut global, &mut self.program.types, &mut self.records);
                self.merge_global(numbers.globals[at], global, library);
            }
        }
        let typedefs = typedefs.into_iter().filter(|_| !library);
        for (name, ty) in typedefs {
            if !self.program.typedefs.contains_key(&name) {
                let ty = numbers.types.ty(ty, &mut self.program.types, &mut self.records);
                self.program.typedefs.insert(name, ty);
            }
        }
    }

    /// The entity that a unit's function is: one that is there under its name, or a new one.
    fn place_function(&mut self, function: &Function, unit: usize) -> FuncId {
        let shared = symbols::is_shared(function);
        match self.symbols.get(&function.name).filter(|_| shared) {
            Some(Symbol::Function(id)) => return *id,
            Some(Symbol::Global(id)) => {
                let other = self.program.globals[*id].span;
                self.duplicate(&function.name, "a function and a variable", other);
            }
            None => {}
        }
        let mut head = symbols::head(function);
        self.names.rename_function(unit, &mut head.name);
        let name = head.name.clone();
        let id = self.program.functions.push(head);
        self.new_functions.insert(id);
        if shared {
            self.symbols.insert(name, Symbol::Function(id));
        }
        id
    }

    fn place_global(&mut self, global: &Global, unit: usize) -> GlobalId {
        let shared = global.linkage == Linkage::External;
        match self.symbols.get(&global.name).filter(|_| shared) {
            Some(Symbol::Global(id)) => return *id,
            Some(Symbol::Function(id)) => {
                let other = self.program.functions[*id].span;
                self.duplicate(&global.name, "a variable and a function", other);
            }
            None => {}
        }
        let mut head = Global { init: GlobalInit::Extern, ..global.clone() };
        self.names.rename_global(unit, &mut head.name);
        let name = head.name.clone();
        let id = self.program.globals.push(head);
        self.new_globals.insert(id);
        if shared {
            self.symbols.insert(name, Symbol::Global(id));
        }
        id
    }

    /// Joins a unit's declaration of a function with the earlier ones.
    fn merge_function(&mut self, id: FuncId, mut function: Function) {
        if self.new_functions.remove(&id) {
            function.name.clone_from(&self.program.functions[id].name);
            self.program.functions[id] = function;
            return;
        }
        let known = &self.program.functions[id];
        let noreturn = known.noreturn || function.noreturn;
        if !same_signature(&self.program, known.ty, function.ty) {
            let (here, there) = (function.span, known.span);
            self.conflict(&function.name, "has other parameters or another result", here, there);
        }
        let known = &self.program.functions[id];
        let takes_over = match (&known.body, &function.body) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(_), Some(_)) if function.library || function.weak => false,
            (Some(_), Some(_)) if known.weak => true,
            (Some(_), Some(_)) => {
                let other = known.span;
                self.duplicate_at(&function.name, function.span, other);
                false
            }
        };
        if takes_over {
            self.program.functions[id] = function;
        }
        self.program.functions[id].noreturn = noreturn;
    }

    fn merge_global(&mut self, id: GlobalId, mut global: Global, library: bool) {
        if self.new_globals.remove(&id) {
            global.name.clone_from(&self.program.globals[id].name);
            self.program.globals[id] = global;
            return;
        }
        let known = &self.program.globals[id];
        if known.size != global.size && known.size != 0 && global.size != 0 {
            let what = format!("has {} bytes, elsewhere {}", global.size, known.size);
            let (here, there) = (global.span, known.span);
            self.conflict(&global.name, &what, here, there);
        }
        let known = &self.program.globals[id];
        let align = known.align.max(global.align);
        let takes_over = match (&known.init, &global.init) {
            // The declaration that knows the size says more.
            (GlobalInit::Extern, GlobalInit::Extern) => known.size == 0,
            (_, GlobalInit::Extern) => false,
            (GlobalInit::Extern, _) => true,
            _ if library || global.weak => false,
            _ if known.weak => true,
            (GlobalInit::Zero, GlobalInit::Zero) => known.size < global.size,
            (GlobalInit::Zero, GlobalInit::Data { .. }) => true,
            (GlobalInit::Data { .. }, GlobalInit::Zero) => false,
            (GlobalInit::Data { .. }, GlobalInit::Data { .. }) => {
                let other = known.span;
                self.duplicate_at(&global.name, global.span, other);
                false
            }
        };
        if takes_over {
            self.program.globals[id] = global;
        }
        self.program.globals[id].align = align;
    }

    fn conflict(&mut self, name: &str, what: &str, here: Span, there: Span) {
        let message = format!("`{name}` {what}");
        let other = self.source.place(there.start);
        self.diagnostics.push(
            Diagnostic::warning("link-conflict", message)
                .at(self.source.place(here.start))
                .note(format!("the other declaration is at {other}")),
        );
    }

    fn duplicate_at(&mut self, name: &str, here: Span, there: Span) {
        let other = self.source.place(there.start);
        self.duplicates.push(
            Diagnostic::error("link-duplicate", format!("`{name}` is defined more than once"))
                .at(self.source.place(here.start))
                .note(format!("the other definition is at {other}")),
        );
    }

    fn duplicate(&mut self, name: &str, what: &str, there: Span) {
        let message = format!("`{name}` is {what} in different units");
        let diagnostic = Diagnostic::error("link-duplicate", message);
        self.duplicates.push(diagnostic.at(self.source.place(there.start)));
    }
}

/// Whether two declarations of a function agree on what is passed and returned. One that says
/// nothing of its parameters agrees with all.
fn same_signature(program: &Program, a: CTypeId, b: CTypeId) -> bool {
    let types = &program.types;
    let same = |a: CTypeId, b: CTypeId| a == b || types.scalar(a) == types.scalar(b);
    match (types.get(a), types.get(b)) {
        _ if a == b => true,
        (
            CType::Function { result: a, params: a_params, variadic: false },
            CType::Function { result: b, params: b_params, variadic: false },
        ) => {
            let count = a_params.len() == b_params.len();
            same(*a, *b) && count && a_params.iter().zip(b_params).all(|(a, b)| same(*a, *b))
        }
        _ => true,
    }
}

/// Which functions and globals of a unit are taken.
struct UnitSelection {
    functions: Vec<bool>,
    globals: Vec<bool>,
}

impl UnitSelection {
    fn all(program: &Program) -> Self {
        let (functions, globals) = (program.functions.len(), program.globals.len());
        Self { functions: vec![true; functions], globals: vec![true; globals] }
    }
}

#[cfg(test)]
mod tests;
