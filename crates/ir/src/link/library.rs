//! Takes definitions from a library: of all that the program leaves undefined, and of all that these need.

use lydian_base::EntityId;
use rustc_hash::FxHashMap;

use super::UnitSelection;
use crate::program::expr::Expr;
use crate::program::stmt::{Callee, Stmt};
use crate::program::{FuncId, Global, GlobalId, GlobalInit, Linkage, Program, RelocationTarget};

/// The functions and globals of `library` that `program` is to have.
pub(super) fn wanted(program: &Program, library: &Program) -> UnitSelection {
    let mut search = Search {
        library,
        defined: names_defined(program),
        chosen: UnitSelection {
            functions: vec![false; library.functions.len()],
            globals: vec![false; library.globals.len()],
        },
        functions: Vec::new(),
        globals: Vec::new(),
    };
    for (id, function) in library.functions.iter() {
        let gives = function.body.is_some() && function.linkage == Linkage::External;
        if gives && search.defined.get(function.name.as_str()) == Some(&false) {
            search.function(id);
        }
    }
    for (id, global) in library.globals.iter() {
        let gives = is_defined(global) && global.linkage == Linkage::External;
        if gives && search.defined.get(global.name.as_str()) == Some(&false) {
            search.global(id);
        }
    }
    search.close()
}

fn is_defined(global: &Global) -> bool {
    global.init != GlobalInit::Extern
}

/// The names that a program knows, each with whether it defines them.
fn names_defined(program: &Program) -> FxHashMap<&str, bool> {
    let functions = program.functions.values();
    let functions = functions.filter(|f| super::symbols::is_shared(f));
    let globals = program.globals.values();
    let globals = globals.filter(|global| global.linkage == Linkage::External);
    functions
        .map(|function| (function.name.as_str(), function.body.is_some()))
        .chain(globals.map(|global| (global.name.as_str(), is_defined(global))))
        .collect()
}

struct Search<'p> {
    library: &'p Program,
    defined: FxHashMap<&'p str, bool>,
    chosen: UnitSelection,
    functions: Vec<FuncId>,
    globals: Vec<GlobalId>,
}

impl Search<'_> {
    fn function(&mut self, id: FuncId) {
        if std::mem::replace(&mut self.chosen.functions[id.index()], true) {
            return;
        }
        let function = &self.library.functions[id];
        let given = function.linkage == Linkage::External
            && self.defined.get(function.name.as_str()) == Some(&true);
        if !given {
            self.functions.push(id);
        }
    }

    fn global(&mut self, id: GlobalId) {
        if std::mem::replace(&mut self.chosen.globals[id.index()], true) {
            return;
        }
        let global = &self.library.globals[id];
        let given = global.linkage == Linkage::External
            && self.defined.get(global.name.as_str()) == Some(&true);
        if !given {
            self.globals.push(id);
        }
    }

    /// Adds everything that a chosen definition names.
    fn close(mut self) -> UnitSelection {
        loop {
            if let Some(id) = self.functions.pop() {
                self.follow_function(id);
            } else if let Some(id) = self.globals.pop() {
                self.follow_global(id);
            } else {
                return self.chosen;
            }
        }
    }

    fn follow_function(&mut self, id: FuncId) {
        let library = self.library;
        let Some(body) = &library.functions[id].body else { return };
        for expr in body.exprs.values() {
            match expr {
                Expr::AddrGlobal(global) => self.global(*global),
                Expr::AddrFunc(function) => self.function(*function),
                _ => {}
            }
        }
        for stmt in body.stmts.values() {
            if let Stmt::Call { callee: Callee::Direct(function), .. } = stmt {
                self.function(*function);
            }
        }
    }

    fn follow_global(&mut self, id: GlobalId) {
        let library = self.library;
        let GlobalInit::Data { relocations, .. } = &library.globals[id].init else { return };
        for relocation in relocations {
            match relocation.target {
                RelocationTarget::Global(global) => self.global(global),
                RelocationTarget::Function(function) => self.function(function),
            }
        }
    }
}
