//! Names that one unit leaves undefined and another gives as aliases of its own.

use rustc_hash::FxHashMap;

use crate::program::expr::Expr;
use crate::program::stmt::{Callee, Stmt};
use crate::program::{FuncId, GlobalId, GlobalInit, Linkage, Program, RelocationTarget};

/// The replacement of each function and global that is an alias.
#[derive(Default)]
struct Replacements {
    functions: FxHashMap<FuncId, FuncId>,
    globals: FxHashMap<GlobalId, GlobalId>,
}

/// Makes every use of what is undefined but an alias a use of what that stands for. A definition of
/// the name in another unit is stronger.
pub(super) fn resolve(program: &mut Program) {
    let found = find(program);
    if found.functions.is_empty() && found.globals.is_empty() {
        return;
    }
    for (_, function) in program.functions.iter_mut() {
        let Some(body) = &mut function.body else { continue };
        for (_, expr) in body.exprs.iter_mut() {
            match expr {
                Expr::AddrFunc(id) => *id = *found.functions.get(id).unwrap_or(id),
                Expr::AddrGlobal(id) => *id = *found.globals.get(id).unwrap_or(id),
                _ => {}
            }
        }
        for (_, stmt) in body.stmts.iter_mut() {
            if let Stmt::Call { callee: Callee::Direct(id), .. } = stmt {
                *id = *found.functions.get(id).unwrap_or(id);
            }
        }
    }
    for (_, global) in program.globals.iter_mut() {
        let GlobalInit::Data { relocations, .. } = &mut global.init else { continue };
        for relocation in relocations {
            match &mut relocation.target {
                RelocationTarget::Function(id) => *id = *found.functions.get(id).unwrap_or(id),
                RelocationTarget::Global(id) => *id = *found.globals.get(id).unwrap_or(id),
            }
        }
    }
}

fn find(program: &Program) -> Replacements {
    let mut found = Replacements::default();
    for alias in &program.aliases {
        match alias.target {
            RelocationTarget::Function(target) => {
                let user = program.function_named(&alias.name);
                let user = user.filter(|id| program.functions[*id].body.is_none());
                // A call passes what its own declaration says: both must take the same.
                let same = |id: &FuncId| program.functions[*id].ty == program.functions[target].ty;
                found.functions.extend(user.filter(same).map(|user| (user, target)));
            }
            RelocationTarget::Global(target) => {
                let user = program.global_named(&alias.name);
                let user = user.filter(|id| {
                    let global = &program.globals[*id];
                    global.init == GlobalInit::Extern && global.linkage == Linkage::External
                });
                found.globals.extend(user.map(|user| (user, target)));
            }
        }
    }
    found
}
