//! Which names are shared between units, and what statics are called that cannot keep theirs.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{LinkUnit, Role};
use crate::program::Linkage;
use crate::program::function::Function;

/// Whether a function is the one of its name in every unit. A static function without a body is an
/// inline function of a system header, of which no unit has the text: it is the library's.
pub(super) fn is_shared(function: &Function) -> bool {
    function.linkage == Linkage::External || function.body.is_none()
}

/// A function as if it were only declared.
pub(super) fn head(function: &Function) -> Function {
    Function {
        name: function.name.clone(),
        symbol: function.symbol.clone(),
        ty: function.ty,
        linkage: function.linkage,
        param_names: function.param_names.clone(),
        noreturn: function.noreturn,
        weak: function.weak,
        library: false,
        system: function.system,
        implicit: function.implicit,
        body: None,
        span: function.span,
    }
}

/// New names, by unit and old name.
#[derive(Default)]
pub(super) struct Names {
    functions: FxHashMap<(usize, String), String>,
    globals: FxHashMap<(usize, String), String>,
}

impl Names {
    /// Gives a unit's function its name in the program.
    pub(super) fn rename_function(&self, unit: usize, name: &mut String) {
        rename(&self.functions, unit, name);
    }

    /// Gives a unit's global its name in the program.
    pub(super) fn rename_global(&self, unit: usize, name: &mut String) {
        rename(&self.globals, unit, name);
    }
}

fn rename(names: &FxHashMap<(usize, String), String>, unit: usize, name: &mut String) {
    if let Some(new) = names.get(&(unit, name.clone())) {
        name.clone_from(new);
    }
}

/// The names of all units' statics that are not free.
pub(super) fn names(units: &[LinkUnit]) -> Names {
    let mut names = Names::default();
    if units.len() < 2 {
        return names;
    }
    let functions = units.iter().flat_map(|unit| unit.program.functions.values());
    let globals = units.iter().flat_map(|unit| unit.program.globals.values());
    let mut taken_functions: FxHashSet<String> =
        functions.filter(|f| is_shared(f)).map(|f| f.name.clone()).collect();
    let mut taken_globals: FxHashSet<String> =
        globals.filter(|g| g.linkage == Linkage::External).map(|g| g.name.clone()).collect();
    for (index, unit) in units.iter().enumerate() {
        if unit.role != Role::Part {
            let functions = unit.program.functions.values().filter(|f| !is_shared(f));
            taken_functions.extend(functions.map(|function| function.name.clone()));
            taken_globals.extend(unit.program.globals.values().map(|global| global.name.clone()));
        }
        for function in unit.program.functions.values().filter(|function| !is_shared(function)) {
            let key = (index, function.name.clone());
            distinct(&mut taken_functions, &mut names.functions, key, &unit.name);
        }
        for global in unit.program.globals.values() {
            if global.linkage == Linkage::Internal {
                let key = (index, global.name.clone());
                distinct(&mut taken_globals, &mut names.globals, key, &unit.name);
            }
        }
    }
    names
}

fn distinct(
    taken: &mut FxHashSet<String>,
    names: &mut FxHashMap<(usize, String), String>,
    key: (usize, String),
    file: &str,
) {
    if taken.insert(key.1.clone()) {
        return;
    }
    let plain = format!("{}@{file}", key.1);
    let numbered = (2..).map(|number| format!("{plain}.{number}"));
    let new = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
    let new = new.expect("numbers do not end");
    taken.insert(new.clone());
    names.insert(key, new);
}
